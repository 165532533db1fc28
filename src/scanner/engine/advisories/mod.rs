//! What is known about vulnerable versions: the model in memory, where it is kept, how it is imported. Reads no artifacts.

mod classes;
pub(in crate::scanner::engine) mod cvss;
mod import;
mod merge;
pub(in crate::scanner::engine) mod model;
mod osv;
pub(in crate::scanner::engine) mod range;
mod snapshot;
mod starter;
mod table;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

pub(in crate::scanner) use import::import;
pub use import::{ImportError, ImportReport, Skipped};
use merge::Collection;
use model::{Advisory, Affected, Source};
use snapshot::{Mark, Snapshot};

use super::ecosystem::Ecosystem;

/// Everything known about vulnerable versions at one moment.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Advisories {
    list: Vec<Advisory>,
    /// Packages of each world to places in `list`, ascending.
    by_package: HashMap<Ecosystem, HashMap<String, Vec<usize>>>,
    /// Artifact to the Maven groups that have one of that name.
    groups: HashMap<String, Vec<String>>,
    /// Classes that some advisory names.
    classes: HashSet<String>,
    /// Package and name at the end of these, `lookup/JndiLookup`: how a class is known that was moved to another package.
    tails: HashSet<String>,
    sources: Vec<String>,
    newest: String,
}

impl Advisories {
    fn new(list: Vec<Advisory>, sources: Vec<String>) -> Self {
        let newest = list.iter().map(|advisory| advisory.published.as_str()).max().unwrap_or_default().to_owned();
        let mut all = Self { sources, newest, ..Self::default() };
        for (at, advisory) in list.iter().enumerate() {
            all.classes.extend(advisory.classes.iter().cloned());
            all.tails.extend(advisory.classes.iter().map(|class| tail(class).to_owned()));
            for affected in &advisory.affected {
                let places = all.by_package.entry(affected.ecosystem).or_default().entry(affected.package.clone()).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
        for package in all.by_package.get(&Ecosystem::Maven).into_iter().flat_map(HashMap::keys) {
            if let Some((group, artifact)) = package.split_once(':') {
                all.groups.entry(artifact.to_owned()).or_default().push(group.to_owned());
            }
        }
        all.groups.values_mut().for_each(|groups| groups.sort_unstable());
        all.list = list;
        all
    }

    /// How many advisories there are.
    pub(in crate::scanner) fn count(&self) -> u64 {
        self.list.len() as u64
    }

    /// When the newest was published, `YYYY-MM-DD`.
    pub(in crate::scanner) fn newest(&self) -> &str {
        &self.newest
    }

    /// Whether nothing but the starter pack is here.
    pub(in crate::scanner) fn is_starter_only(&self) -> bool {
        self.sources.is_empty()
    }

    /// Counts and sources, for people.
    pub(in crate::scanner) fn status(&self) -> Status {
        let starter = self.list.iter().filter(|one| one.source == Source::Starter).count();
        let mut sources = vec![format!("starter pack ({starter} advisories that no import brought)")];
        sources.extend(self.sources.iter().cloned());
        let packages = self.by_package.values().map(|packages| packages.len() as u64).sum();
        Status { sources, advisories: self.count(), packages, newest: self.newest.clone() }
    }

    /// Groups that have an artifact of this name and at least one advisory.
    pub(in crate::scanner::engine) fn groups_of(&self, artifact: &str) -> &[String] {
        self.groups.get(artifact).map_or(&[], Vec::as_slice)
    }

    /// Whether some advisory names this class, `org/example/Unsafe`, or it may be one of them in another package.
    pub(in crate::scanner::engine) fn names_class(&self, class: &str) -> bool {
        self.tails.contains(tail(class))
    }

    /// What is called by whoever uses the vulnerable part of the flaw with one of `ids`, and whether it is loaded by configuration.
    pub(in crate::scanner::engine) fn reach_of(&self, package: &str, ids: &[String]) -> Option<(&[String], bool)> {
        let places = self.by_package.get(&Ecosystem::Maven)?.get(package)?;
        let mut about = places.iter().filter_map(|at| self.list.get(*at));
        let advisory = about.find(|one| !one.reach.is_empty() && one.ids.iter().any(|id| ids.contains(id)))?;
        Some((&advisory.reach, advisory.is_configured))
    }

    /// Every advisory about `package` of a world, with what it says about it.
    pub(in crate::scanner::engine) fn about<'a>(
        &'a self,
        ecosystem: Ecosystem,
        package: &'a str,
    ) -> impl Iterator<Item = (&'a Advisory, Vec<&'a Affected>)> + 'a {
        let places = self.by_package.get(&ecosystem).and_then(|packages| packages.get(package));
        places.into_iter().flatten().filter_map(move |at| {
            let advisory = self.list.get(*at)?;
            Some((
                advisory,
                advisory.affected.iter().filter(|one| one.ecosystem == ecosystem && one.package == package).collect(),
            ))
        })
    }
}

/// The last package and the name of a class, `lookup/JndiLookup`.
pub(in crate::scanner::engine) fn tail(class: &str) -> &str {
    class.rmatch_indices('/').nth(1).and_then(|(at, _)| class.get(at + 1..)).unwrap_or(class)
}

/// The advisories in use, and the folder new ones appear in. Share it in an `Arc`.
#[derive(Debug)]
pub(in crate::scanner) struct AdvisoryDatabase {
    folder: PathBuf,
    current: RwLock<(Mark, Arc<Advisories>)>,
}

impl AdvisoryDatabase {
    /// Opens the database in `folder` (`<data>/advisories`); the starter pack serves when nothing was imported.
    ///
    /// # Errors
    /// When there is a snapshot that cannot be read.
    pub(in crate::scanner) fn open(folder: &Path) -> Result<Self, DatabaseError> {
        let mark = snapshot::mark(folder)?;
        let current = Arc::new(load(folder)?);
        Ok(Self { folder: folder.to_owned(), current: RwLock::new((mark, current)) })
    }

    /// What to match against now.
    pub(in crate::scanner) fn current(&self) -> Arc<Advisories> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Tells the advisories in use from any other; the same over restarts.
    pub(in crate::scanner) fn identity(&self) -> String {
        let mark = self.current.read().unwrap_or_else(PoisonError::into_inner).0;
        mark.map_or_else(String::new, |(modified, length)| {
            let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            format!("{}.{:09}/{length}", since.as_secs(), since.subsec_nanos())
        })
    }

    /// Takes a newer snapshot in; `true` when there was one. Costs one look at the file when there is none: call it every second
    /// or two, where blocking is fine.
    ///
    /// # Errors
    /// When the new snapshot cannot be read; what was in use stays, and the next call tries again.
    pub(in crate::scanner) fn refresh(&self) -> Result<bool, DatabaseError> {
        let mark = snapshot::mark(&self.folder)?;
        if self.current.read().unwrap_or_else(PoisonError::into_inner).0 == mark {
            return Ok(false);
        }
        let new = Arc::new(load(&self.folder)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = (mark, new);
        Ok(true)
    }
}

/// What the database in `folder` holds.
///
/// # Errors
/// When there is a snapshot that cannot be read.
pub(in crate::scanner) fn status(folder: &Path) -> Result<Status, DatabaseError> {
    Ok(load(folder)?.status())
}

fn load(folder: &Path) -> Result<Advisories, DatabaseError> {
    starter_and(&snapshot::read(folder)?)
}

/// The starter pack below what was imported.
fn starter_and(snapshot: &Snapshot) -> Result<Advisories, DatabaseError> {
    let mut all = Collection::default();
    starter::read().map_err(DatabaseError::Starter)?.into_iter().for_each(|advisory| all.add(advisory));
    snapshot.advisories.iter().cloned().for_each(|advisory| all.add(advisory));
    let mut list = all.into_list();
    classes::apply(&mut list).map_err(DatabaseError::Starter)?;
    Ok(Advisories::new(list, snapshot.header.sources.clone()))
}

/// What the database holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What it was made of, one line each; the starter pack first.
    pub sources: Vec<String>,
    pub advisories: u64,
    /// Different packages of all worlds.
    pub packages: u64,
    /// When the newest advisory was published, `YYYY-MM-DD`.
    pub newest: String,
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { advisories, packages, newest, .. } = self;
        write!(out, "{advisories} advisories about {packages} packages, the newest of {newest}")?;
        self.sources.iter().try_for_each(|source| write!(out, "\n  from {source}"))
    }
}

/// The database of advisories could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("{0} could not be read: {1}.")]
    Read(PathBuf, io::Error),
    #[error("{0} could not be written: {1}.")]
    Write(PathBuf, io::Error),
    #[error("{0} is damaged. Remove it and import the advisories again; until then the starter pack serves.")]
    Damaged(PathBuf),
    #[error(
        "{0} was written by another version of this program. Import the advisories again with this one, into a folder without it."
    )]
    Format(PathBuf),
    #[error("The starter pack is damaged: {0}.")]
    Starter(String),
}
