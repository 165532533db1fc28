//! The composition analysis: an artifact goes in, findings with evidence come out. No HTTP, no task states.

mod advisories;
mod archive;
mod budget;
mod bytecode;
mod components;
pub(in crate::scanner) mod composition;
mod ecosystem;
mod entry_names;
mod file_name;
pub(in crate::scanner) mod finding;
pub mod fuzzing;
mod identity;
mod lock_files;
mod matching;
mod maven_project;
mod maven_version;
mod metadata;
mod notes;
mod presence;
mod reach;
mod seen;
mod sources;
mod upgrade;
mod version_order;
mod walk;
mod wording;
mod xml_text;

#[cfg(test)]
#[path = "../../../tests/it/support/class_file.rs"]
mod class_file;
#[cfg(test)]
mod test_data;
#[cfg(test)]
mod tests_artifacts;
#[cfg(test)]
mod tests_database;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_identity;
#[cfg(test)]
mod tests_reach;
#[cfg(test)]
mod tests_sources;

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

pub(in crate::scanner) use advisories::{Advisories, AdvisoryDatabase, import, status};
pub use advisories::{DatabaseError, ImportError, ImportReport, Skipped, Status};
use archive::{Source, ZipFile};
use budget::{Budget, Spent};
use finding::{Analysis, Finding, Watch};
use identity::{Identified, Identity};
use presence::Presence;
use seen::Seen;
use walk::{Halt, Walk};

use serde::{Deserialize, Serialize};

use crate::config::scanner::Archive;
use crate::contract::results::Reachability;
use crate::contract::tasks::{ScanSummary, Unidentified};
use crate::platform::clock::Clock;

/// Why an analysis gave nothing. Each is one plain sentence for the person who uploaded the artifact.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub(in crate::scanner) enum AnalyzeError {
    /// Somebody asked it to stop.
    #[error("The analysis was stopped before it was done.")]
    Stopped,
    /// The bytes are no zip file.
    #[error("{0} is not a zip file. Upload a .jar, .war, .ear or .zip.")]
    NotAnArchive(String),
    /// It begins like an archive but cannot be read, or the file is gone.
    #[error("{0}")]
    Unreadable(String),
}

/// What to analyse.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct Job {
    pub(in crate::scanner) artifact: NamedFile,
    /// Source archives beside it.
    pub(in crate::scanner) sources: Vec<NamedFile>,
}

/// A file and what its owner calls it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct NamedFile {
    pub(in crate::scanner) path: PathBuf,
    pub(in crate::scanner) name: String,
}

/// Analyses an artifact. Blocks: call it where blocking is fine.
///
/// # Errors
/// See [`AnalyzeError`]. What goes wrong inside the archive is no error but a note of the summary.
pub(in crate::scanner) fn analyze(
    job: &Job,
    advisories: &Advisories,
    limits: &Archive,
    clock: &Clock,
    watch: &Watch,
) -> Result<Analysis, AnalyzeError> {
    let NamedFile { path: artifact, name } = &job.artifact;
    let name = if name.trim().is_empty() { "artifact" } else { name.trim() };
    let zip = open(artifact, name)?;
    let names_class = |class: &str| advisories.names_class(class);
    let budget = Budget::new(clock, watch, limits.seconds);
    let mut walk = Walk::new(limits, budget, watch, &names_class);
    let walked = walk.archive(&zip, name.to_owned(), 0);
    if matches!(walked, Err(Halt::Stopped)) {
        return Err(AnalyzeError::Stopped);
    }
    beside(job, &mut walk)?;
    let Walk { mut notes, mut seen, sources, code, has_unread, .. } = walk;
    seen.sort_by(|left, right| left.path.cmp(&right.path));
    let identities: Vec<Identity> = seen.iter().map(|seen| identity::identify(seen, advisories)).collect();
    let (declared, unresolved) = sources.identify(&limits.sources, &mut notes);
    let is_whole = walked.is_ok() && !has_unread && seen.iter().all(|one| !one.is_damaged);
    let presence = Presence::new(&seen, is_whole);
    let mut findings = findings(&seen, &identities, &declared, advisories, &presence);
    let chains = reach::annotate(&mut findings, (&code, is_whole), advisories, &budget, &mut notes);
    if matches!(budget.check(), Err(Spent::Stopped)) {
        return Err(AnalyzeError::Stopped);
    }
    let mut summary = summary(&seen, &identities, &declared, advisories);
    summary.unidentified.extend(unresolved);
    summary.notes = notes.into_lines();
    if zip.declared_entries() == 0 {
        summary.notes.push(format!("{name} is an empty archive."));
    }
    if advisories.is_starter_only() {
        summary.notes.push(format!("Only the starter pack of {} advisories was used; nothing was imported.", advisories.count()));
    }
    if findings.is_empty() {
        summary.notes.push(why_nothing(&summary));
    }
    let everything = identities.iter().flat_map(|one| &one.components).chain(&declared);
    let components = components::rows(everything, &findings, advisories);
    watch.set_progress(100);
    Ok(Analysis { findings, components, chains, summary })
}

fn open(artifact: &Path, name: &str) -> Result<ZipFile, AnalyzeError> {
    let unreadable = |error: std::io::Error| AnalyzeError::Unreadable(format!("{name} could not be read: {error}."));
    let source = File::open(artifact).and_then(Source::file).map_err(unreadable)?;
    let begins_like_zip = source.begins_like_zip();
    let cut = || {
        AnalyzeError::Unreadable(format!(
            "{name} begins like a zip file, but its directory is missing or damaged. Was it cut off on the way? Upload it again."
        ))
    };
    let zip =
        ZipFile::open(source).map_err(|_| if begins_like_zip { cut() } else { AnalyzeError::NotAnArchive(name.to_owned()) })?;
    let mut buffer = ZipFile::buffer();
    let first = zip.entries(&mut buffer).next();
    match first {
        Ok(None) if zip.declared_entries() > 0 => Err(cut()),
        Err(_) => Err(cut()),
        Ok(_) => Ok(zip),
    }
}

/// Reads the source archives that lie beside the artifact. One that cannot be read is a note.
fn beside(job: &Job, walk: &mut Walk<'_>) -> Result<(), AnalyzeError> {
    walk.only_sources = true;
    for source in &job.sources {
        match open(&source.path, &source.name) {
            Ok(zip) if matches!(walk.archive(&zip, source.name.clone(), 0), Err(Halt::Stopped)) => {
                return Err(AnalyzeError::Stopped);
            }
            Ok(_) => {}
            Err(error) => walk.notes.add(error.to_string()),
        }
    }
    Ok(())
}

/// All flaws of all components, each once, the most severe first and what is cleared last. `declared` are those that sources
/// name.
fn findings(
    seen: &[Seen],
    identities: &[Identity],
    declared: &[Identified],
    advisories: &Advisories,
    presence: &Presence<'_>,
) -> Vec<Finding> {
    let mut known = HashSet::new();
    let mut all: Vec<Finding> = Vec::new();
    let built = seen.iter().zip(identities);
    let built = built.flat_map(|(seen, identity)| identity.components.iter().map(move |found| (Some(seen), found)));
    for (seen, found) in built.chain(declared.iter().map(|found| (None, found))) {
        let package = found.coordinates.package();
        for hit in matching::matches(advisories, &package, &found.coordinates) {
            let lacks = seen.is_some_and(|seen| presence.lacks(seen, found, &hit));
            let finding = wording::finding(found, &hit, lacks);
            if known.insert(finding.fingerprint.clone()) {
                all.push(finding);
            }
        }
    }
    all.sort_by(|left, right| order(left).cmp(&order(right)));
    all
}

fn order(finding: &Finding) -> impl Ord + '_ {
    let id = finding.cve_ids.first().or_else(|| finding.aliases.first());
    let is_cleared = finding.reachability == Some(Reachability::NotPresent);
    (is_cleared, finding.severity, &finding.component.name, &finding.component.version, id, &finding.component.path)
}

fn summary(seen: &[Seen], identities: &[Identity], declared: &[Identified], advisories: &Advisories) -> ScanSummary {
    let components: HashSet<_> = identities
        .iter()
        .flat_map(|one| &one.components)
        .chain(declared)
        .map(|one: &Identified| (&one.coordinates, &one.path))
        .collect();
    let unidentified = seen
        .iter()
        .zip(identities)
        .filter_map(|(seen, identity)| identity.unknown.clone().map(|reason| Unidentified { path: seen.path.clone(), reason }));
    ScanSummary {
        component_count: components.len() as u64,
        unidentified: unidentified.collect(),
        notes: Vec::new(),
        advisory_date: advisories.newest().to_owned(),
        advisory_count: advisories.count(),
    }
}

fn why_nothing(summary: &ScanSummary) -> String {
    let unknown = match summary.unidentified.len() {
        0 => String::new(),
        1 => " One archive could not be identified and was not looked up.".to_owned(),
        more => format!(" {more} archives could not be identified and were not looked up."),
    };
    match summary.component_count {
        0 => format!("Nothing was found because no component could be identified.{unknown}"),
        count => format!(
            "None of the {count} identified components has a known vulnerability in {} advisories, the newest of {}.{unknown}",
            summary.advisory_count, summary.advisory_date
        ),
    }
}
