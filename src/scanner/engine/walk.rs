//! Walks an artifact and the archives inside it, within the limits, and collects what may tell where each came from.
//! Draws no conclusions.

use std::borrow::Cow;

use super::archive::{Entry, EntryError, Source, ZipFile};
use super::budget::{Budget, Spent};
use super::bytecode::Code;
use super::entry_names::Names;
use super::finding::Watch;
use super::metadata::{self, Manifest};
use super::notes::{Notes, short};
use super::seen::{Pom, PomKind, Seen};
use super::sources::{self, Role, Sources};
use crate::config::scanner::Archive as Limits;

/// Poms and manifests larger than this are none.
const MAX_METADATA: u64 = 1 << 20;
/// Packages of classes that are remembered for one archive.
const MAX_PACKAGES: usize = 4096;
/// Longer entry names are cut in paths.
const MAX_NAME: usize = 1024;
/// Room made ready for a nested archive; more is made when the bytes really come.
const MAX_RESERVED: u64 = 16 << 20;
/// The part of the progress that walking is.
const WALK_PERCENT: u64 = 90;

/// Why the walk ends before its end.
#[derive(Debug)]
pub(super) enum Halt {
    Stopped,
    /// A limit of the whole walk; what was seen until then counts.
    Limit,
    /// Entries of this archive lie over each other: one of several million would be read as often.
    Overlap,
}

/// A walk over one artifact.
pub(super) struct Walk<'a> {
    limits: &'a Limits,
    pub(super) budget: Budget<'a>,
    watch: &'a Watch,
    names_class: &'a dyn Fn(&str) -> bool,
    entries: u64,
    inflated: u64,
    /// Bytes of nested archives in memory now.
    held: u64,
    pub(super) notes: Notes,
    pub(super) seen: Vec<Seen>,
    /// Lock files and poms of source archives.
    pub(super) sources: Sources,
    /// Everything else is passed over: the archive lies beside the artifact and is no part of it.
    pub(super) only_sources: bool,
    pub(super) code: Code,
    /// Whether an archive inside could not be read.
    pub(super) has_unread: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(limits: &'a Limits, budget: Budget<'a>, watch: &'a Watch, names_class: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            limits,
            budget,
            watch,
            names_class,
            entries: 0,
            inflated: 0,
            held: 0,
            notes: Notes::default(),
            seen: Vec::new(),
            sources: Sources::default(),
            only_sources: false,
            code: Code::new(limits.call_graph),
            has_unread: false,
        }
    }

    /// Walks `zip`, which is called `path`, and all archives in it.
    pub(super) fn archive(&mut self, zip: &ZipFile, path: String, depth: u32) -> Result<(), Halt> {
        let place = self.code.archive(&path);
        let mut seen = Seen { path, place, ..Seen::default() };
        let outcome = self.entries(zip, &mut seen, depth);
        if !self.only_sources {
            self.seen.push(seen);
        }
        outcome
    }

    fn entries(&mut self, zip: &ZipFile, seen: &mut Seen, depth: u32) -> Result<(), Halt> {
        let mut buffer = ZipFile::buffer();
        let mut entries = zip.entries(&mut buffer);
        let mut names = Names::default();
        let mut count = 0_u64;
        loop {
            match entries.next() {
                Ok(Some(entry)) => {
                    count += 1;
                    self.check(&seen.path)?;
                    names.look_at(&entry.name);
                    match self.entry(zip, &entry, seen, depth) {
                        Err(Halt::Overlap) => {
                            seen.is_damaged = true;
                            self.notes.add(overlaps(&seen.path, &entry.name));
                            break;
                        }
                        outcome => outcome?,
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    seen.is_damaged = true;
                    self.notes.add(format!(
                        "The directory of {} is damaged after {count} entries ({error}); what follows was not read.",
                        short(&seen.path)
                    ));
                    break;
                }
            }
            if depth == 0 && !self.only_sources {
                let percent = count.saturating_mul(WALK_PERCENT) / zip.declared_entries().max(count);
                self.watch.set_progress(u8::try_from(percent).unwrap_or(100));
            }
        }
        names.report(&seen.path, &mut self.notes);
        Ok(())
    }

    /// The limits of the whole walk, at every entry and every chunk.
    fn check(&mut self, path: &str) -> Result<(), Halt> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return self.limit(format!(
                "More than {} entries: the rest, from {} on, was not read.",
                self.limits.entries,
                short(path)
            ));
        }
        self.check_time(path)
    }

    fn check_time(&mut self, path: &str) -> Result<(), Halt> {
        match self.budget.check() {
            Ok(()) => Ok(()),
            Err(Spent::Stopped) => Err(Halt::Stopped),
            Err(Spent::Time) => self.limit(format!(
                "Reading took more than {} seconds: the rest, from {} on, was not read.",
                self.limits.seconds,
                short(path)
            )),
        }
    }

    fn limit(&mut self, note: String) -> Result<(), Halt> {
        self.notes.add(note);
        Err(Halt::Limit)
    }

    fn entry(&mut self, zip: &ZipFile, entry: &Entry, seen: &mut Seen, depth: u32) -> Result<(), Halt> {
        if entry.is_folder {
            return Ok(());
        }
        let name = entry.name.as_str();
        if let Some(role) = sources::role(&seen.path, name) {
            self.source(zip, entry, seen, role)?;
        } else if self.only_sources {
            return Ok(());
        } else if let Some(class) = name.strip_suffix(".class") {
            self.class(class, seen);
            self.code(zip, entry, seen, depth)?;
        } else if name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") {
            if let Some(content) = self.metadata(zip, entry, seen)? {
                seen.manifest = Some(Manifest::read(&content));
                if depth == 0 {
                    self.code.manifest(&content);
                }
            }
        } else if is_wiring(name) {
            if let Some(content) = self.metadata(zip, entry, seen)? {
                self.code.xml(name, &content);
            }
        } else if let Some(kind) = pom_kind(name) {
            if let Some(content) = self.metadata(zip, entry, seen)? {
                self.pom(name, kind, &content, seen);
            }
        } else if is_archive_name(name) {
            seen.nested += 1;
            self.code.carries();
            self.nested(zip, entry, &seen.path, depth + 1)?;
        }
        Ok(())
    }

    fn source(&mut self, zip: &ZipFile, entry: &Entry, seen: &Seen, role: Role) -> Result<(), Halt> {
        let most = if role == Role::Pom { self.limits.sources.pom_bytes } else { self.limits.sources.lock_bytes };
        let content = if role == Role::Unread { Some(Vec::new()) } else { self.inflate(zip, entry, &seen.path, most)? };
        if let Some(content) = content {
            self.sources.take(&seen.path, &entry.name, (role, content), &self.limits.sources, &mut self.notes);
        }
        Ok(())
    }

    /// Reads a class or leaves it out; the walk goes on.
    fn code(&mut self, zip: &ZipFile, entry: &Entry, seen: &mut Seen, depth: u32) -> Result<(), Halt> {
        let own = application_class(&entry.name).is_some();
        if entry.name.starts_with("META-INF/") || entry.name.ends_with("module-info.class") {
            return Ok(());
        }
        match self.inflate(zip, entry, &seen.path, self.code.graph.most_bytes())? {
            Some(mut content) => self.code.graph.add(&mut content, seen.place, own || depth == 0),
            None => self.code.graph.miss(),
        }
        Ok(())
    }

    fn class(&self, name: &str, seen: &mut Seen) {
        let name = application_class(name).unwrap_or(name);
        if (self.names_class)(name) {
            seen.classes.insert(name.to_owned());
        }
        let package = name.rsplit_once('/').map_or("", |(package, _)| package);
        if !package.starts_with("META-INF")
            && package.len() <= 300
            && seen.packages.len() < MAX_PACKAGES
            && !seen.packages.contains(package)
        {
            seen.packages.insert(package.to_owned());
        }
    }

    fn pom(&mut self, name: &str, kind: PomKind, content: &[u8], seen: &mut Seen) {
        let read = match kind {
            PomKind::Properties => metadata::pom_properties(content),
            PomKind::Xml => metadata::pom_xml(content),
        };
        match read {
            Some(coordinates) => seen.poms.push(Pom { entry: bounded(name).into_owned(), kind, coordinates }),
            None if kind == PomKind::Properties => {
                self.notes.add(format!("{}!/{} names no usable component and was passed over.", short(&seen.path), short(name)));
            }
            // Most poms come with properties beside them; a pom that needs its parent says nothing alone.
            None => {
                if let Some(fault) = metadata::pom_xml_fault(content) {
                    self.notes.add(format!("{}!/{} could not be read: it {fault}.", short(&seen.path), short(name)));
                }
            }
        }
    }

    fn metadata(&mut self, zip: &ZipFile, entry: &Entry, seen: &Seen) -> Result<Option<Vec<u8>>, Halt> {
        self.inflate(zip, entry, &seen.path, MAX_METADATA)
    }

    fn nested(&mut self, zip: &ZipFile, entry: &Entry, outer: &str, depth: u32) -> Result<(), Halt> {
        let path = format!("{outer}!/{}", bounded(entry.name.trim_start_matches('/')));
        if depth > self.limits.depth {
            self.unread(format!(
                "{} lies deeper than {} archives in each other and was not read.",
                short(&path),
                self.limits.depth
            ));
            return Ok(());
        }
        if entry.is_stored() {
            match zip.stored(entry) {
                Ok(source) => return self.inner(source, path, depth),
                Err(EntryError::Overlaps) => return Err(Halt::Overlap),
                Err(error) => self.unread(format!("{} was not read: {error}.", short(&path))),
            }
            return Ok(());
        }
        let room = self.limits.nested_bytes.saturating_sub(self.held);
        let Some(content) = self.inflate(zip, entry, outer, room)? else {
            self.has_unread = true;
            return Ok(());
        };
        let size = content.len() as u64;
        self.held += size;
        let outcome = self.inner(Source::memory(content), path, depth);
        self.held -= size;
        outcome
    }

    fn inner(&mut self, source: Source, path: String, depth: u32) -> Result<(), Halt> {
        if let Ok(zip) = ZipFile::open(source) {
            return self.archive(&zip, path, depth);
        }
        self.unread(format!("{} is named like an archive but cannot be read as one.", short(&path)));
        Ok(())
    }

    fn unread(&mut self, note: String) {
        self.has_unread = true;
        self.notes.add(note);
    }

    /// The content of an entry, or a note why there is none.
    fn inflate(&mut self, zip: &ZipFile, entry: &Entry, outer: &str, most: u64) -> Result<Option<Vec<u8>>, Halt> {
        let path = format!("{outer}!/{}", entry.name);
        let mut content = Vec::with_capacity(usize::try_from(entry.declared.min(most).min(MAX_RESERVED)).unwrap_or(0));
        let mut halt = None;
        let outcome =
            zip.inflate(
                entry,
                &mut |chunk| match self.chunk(chunk.len() as u64, content.len() as u64, entry.packed, most, &path) {
                    Ok(()) => {
                        content.extend_from_slice(chunk);
                        Ok(())
                    }
                    Err(Refusal::Entry(error)) => Err(error),
                    Err(Refusal::Walk(why)) => {
                        halt = Some(why);
                        Err(EntryError::Halted)
                    }
                },
            );
        match (outcome, halt) {
            (_, Some(halt)) => Err(halt),
            (Ok(()), None) => Ok(Some(content)),
            (Err(EntryError::Overlaps), None) => Err(Halt::Overlap),
            (Err(error), None) => {
                self.notes.add(format!("{} was not read: {error}.", short(&path)));
                Ok(None)
            }
        }
    }

    /// Whether the next `chunk` bytes of an entry of which `before` are there may be taken.
    fn chunk(&mut self, chunk: u64, before: u64, packed: u64, most: u64, path: &str) -> Result<(), Refusal> {
        self.check_time(path).map_err(Refusal::Walk)?;
        self.inflated = self.inflated.saturating_add(chunk);
        if self.inflated > self.limits.inflated_bytes {
            let note = format!(
                "More than {} inflated bytes: the rest, from {} on, was not read.",
                self.limits.inflated_bytes,
                short(path)
            );
            return self.limit(note).map_err(Refusal::Walk);
        }
        let after = before.saturating_add(chunk);
        if after > most {
            return Err(Refusal::Entry(EntryError::Refused("larger than the limit for one entry")));
        }
        if after > self.limits.ratio_from_bytes && after > packed.saturating_mul(self.limits.ratio) {
            return Err(Refusal::Entry(EntryError::Refused("packed so tightly that it looks like a zip bomb")));
        }
        Ok(())
    }
}

fn overlaps(archive: &str, entry: &str) -> String {
    format!(
        "Entries of {} lie over each other, as in a zip bomb: the rest of it, from {} on, was not read.",
        short(archive),
        short(entry)
    )
}

enum Refusal {
    Entry(EntryError),
    Walk(Halt),
}

/// The name of a class of the application itself, when it lies where web and boot archives have theirs.
pub(super) fn application_class(name: &str) -> Option<&str> {
    ["BOOT-INF/classes/", "WEB-INF/classes/"].iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// A name as part of a path: whole, unless it is absurdly long.
fn bounded(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_NAME { Cow::Borrowed(name) } else { Cow::Owned(short(name)) }
}

fn pom_kind(name: &str) -> Option<PomKind> {
    let parts: Vec<&str> = name.rsplit('/').take(5).collect();
    match parts[..] {
        ["pom.properties", _, _, "maven", "META-INF"] => Some(PomKind::Properties),
        ["pom.xml", _, _, "maven", "META-INF"] => Some(PomKind::Xml),
        _ => None,
    }
}

/// Whether a file may say which classes a web application starts.
fn is_wiring(name: &str) -> bool {
    let inside = |folder| {
        name.strip_prefix(folder).is_some_and(|rest: &str| rest.rsplit_once('.').is_some_and(|(_, ending)| ending == "xml"))
    };
    inside("WEB-INF/") || inside("BOOT-INF/classes/")
}

/// Whether a file of this name is an archive that may hold components.
pub(super) fn is_archive_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    matches!(ending.as_deref(), Some("jar" | "war" | "ear" | "zip" | "rar" | "sar" | "har" | "par" | "aar"))
}
