//! What a source archive says about its dependencies: lock files and poms, gathered during the walk, then turned into
//! components. Looks nothing up.

use std::collections::{BTreeMap, HashSet};

use super::identity::Identified;
use super::lock_files::{self, Kind, Locked};
use super::maven_project::{self, Dependency, PomFile};
use super::notes::{Notes, short};
use crate::config::scanner::Sources as Limits;
use crate::contract::results::{Confidence, Evidence};
use crate::contract::tasks::Unidentified;

/// Folders that hold what others built: their files say nothing about this build.
const FOREIGN: [&str; 7] = ["node_modules", "site-packages", ".venv", "venv", ".git", "META-INF", "target"];
/// Unresolved dependencies that are listed one by one.
const MAX_UNRESOLVED: usize = 500;

/// What a file of a source archive is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Lock(Kind),
    Pom,
    /// A lock file in a form that is not read.
    Unread,
}

/// The role of the entry `name` of the archive at `archive`; none for most.
pub(super) fn role(archive: &str, name: &str) -> Option<Role> {
    let (folders, file) = name.rsplit_once('/').unwrap_or(("", name));
    let role = match Kind::of(file) {
        Some(kind) => Role::Lock(kind),
        None if file == "pom.xml" => Role::Pom,
        None if lock_files::is_unread(file) => Role::Unread,
        None => return None,
    };
    let is_own = folders.split('/').all(|folder| !FOREIGN.contains(&folder));
    (is_own && is_source_archive(archive)).then_some(role)
}

/// Builds of Java are not sources: what lies in them describes somebody else's build.
fn is_source_archive(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    !matches!(ending.as_deref(), Some("jar" | "war" | "ear" | "rar" | "sar" | "har" | "par" | "aar"))
}

/// Everything that was gathered.
#[derive(Debug, Default)]
pub(super) struct Sources {
    locks: Vec<(String, Kind, Locked)>,
    packages: u64,
    /// Poms by archive, with their paths in it.
    poms: BTreeMap<String, Vec<PomFile>>,
    pom_count: u64,
    surplus_poms: u64,
}

impl Sources {
    /// Takes the entry `name` of `archive`. What cannot be read is a note.
    pub(super) fn take(
        &mut self,
        archive: &str,
        name: &str,
        (role, content): (Role, Vec<u8>),
        limits: &Limits,
        notes: &mut Notes,
    ) {
        let path = format!("{archive}!/{}", short(name));
        match role {
            Role::Pom if self.pom_count >= limits.poms => self.surplus_poms += 1,
            Role::Pom => {
                self.pom_count += 1;
                self.poms.entry(archive.to_owned()).or_default().push(PomFile { path: name.to_owned(), content });
            }
            Role::Lock(kind) => match lock_files::read(kind, &content) {
                Ok(mut locked) => {
                    let room = limits.packages.saturating_sub(self.packages);
                    let count = locked.packages.len() as u64;
                    if count > room {
                        notes.add(format!(
                            "More than {} locked packages: the rest, from {} on, was not looked up.",
                            limits.packages,
                            short(&path)
                        ));
                        locked.packages.truncate(usize::try_from(room).unwrap_or(usize::MAX));
                    }
                    self.packages = self.packages.saturating_add(count.min(room));
                    self.locks.push((path, kind, locked));
                }
                Err(error) => notes.add(format!("{} was not read: it {error}.", short(&path))),
            },
            Role::Unread => notes.add(format!("{} locks versions in a form that is not read here.", short(&path))),
        }
    }

    /// The components that were gathered, and dependencies whose version cannot be told.
    pub(super) fn identify(self, limits: &Limits, notes: &mut Notes) -> (Vec<Identified>, Vec<Unidentified>) {
        let mut found = Vec::new();
        let mut unknown = Vec::new();
        let modules: HashSet<String> =
            self.locks.iter().filter(|(_, kind, _)| *kind == Kind::GoMod).map(|(path, ..)| folder(path).to_owned()).collect();
        for (path, kind, locked) in self.locks {
            if kind == Kind::GoSum && modules.contains(folder(&path)) {
                continue;
            }
            if locked.unversioned > 0 {
                notes.add(format!(
                    "{}: {} entries name no version of the public registry (folders, repositories, open ranges) and were not looked up.",
                    short(&path),
                    locked.unversioned
                ));
            }
            found.extend(locked.packages.into_iter().map(|package| locked_component(&path, kind, package)));
        }
        if self.surplus_poms > 0 {
            notes.add(format!("More than {} poms: {} were not read.", limits.poms, self.surplus_poms));
        }
        for (archive, poms) in self.poms {
            let resolution = maven_project::resolve(poms, limits);
            resolution.notes.into_iter().for_each(|note| notes.add(format!("{}: {note}", short(&archive))));
            for project in resolution.projects {
                let path = format!("{archive}!/{}", project.path);
                let components =
                    project.dependencies.iter().map(|dependency| declared_component(&path, &project.name, dependency));
                found.extend(components);
            }
            unknown.extend(resolution.unresolved.into_iter().map(|one| Unidentified {
                path: format!("{archive}!/{}", one.path),
                reason: format!("{} {}: {}", one.name, one.version, one.reason),
            }));
        }
        if unknown.len() > MAX_UNRESOLVED {
            notes.add(format!(
                "{} further dependencies could not be resolved; they are not listed.",
                unknown.len() - MAX_UNRESOLVED
            ));
            unknown.truncate(MAX_UNRESOLVED);
        }
        (joined(found), unknown)
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn locked_component(path: &str, kind: Kind, package: lock_files::Package) -> Identified {
    let lock_files::Package { coordinates, is_runtime } = package;
    let mut evidence = vec![Evidence {
        kind: kind.as_str().to_owned(),
        path: path.to_owned(),
        detail: format!("{} {}", coordinates.package(), coordinates.version),
    }];
    let mut note =
        |detail: &str| evidence.push(Evidence { kind: "note".to_owned(), path: path.to_owned(), detail: detail.to_owned() });
    if !is_runtime {
        note("Only the development of the application takes it, not the application itself.");
    }
    if kind == Kind::GoSum {
        note("There is no go.mod beside this file; the build may take a lower version than the highest one in it.");
    }
    let confidence = if kind == Kind::GoSum { Confidence::Medium } else { Confidence::High };
    Identified { coordinates, path: path.to_owned(), is_embedded: false, confidence, evidence }
}

fn declared_component(path: &str, project: &str, dependency: &Dependency) -> Identified {
    let detail = format!("dependency of {project}: {}", described(dependency));
    let evidence = vec![Evidence { kind: "pom.xml".to_owned(), path: path.to_owned(), detail }];
    let confidence = if dependency.profile.is_some() { Confidence::Medium } else { Confidence::High };
    Identified { coordinates: dependency.coordinates.clone(), path: path.to_owned(), is_embedded: false, confidence, evidence }
}

/// A dependency with all that is said about it, in one line.
pub(super) fn described(dependency: &Dependency) -> String {
    let mut words = vec![format!("{} {}", dependency.coordinates.package(), dependency.coordinates.version)];
    words.push(format!("scope {}", dependency.scope));
    words.extend(dependency.is_optional.then(|| "optional".to_owned()));
    words.extend(dependency.profile.as_ref().map(|profile| format!("profile {}", short(profile))));
    words.extend(dependency.managed_by.as_ref().map(|path| format!("version managed by {}", short(path))));
    words.extend(dependency.inherited_from.as_ref().map(|path| format!("inherited from {}", short(path))));
    if !dependency.exclusions.is_empty() {
        let some: Vec<String> = dependency.exclusions.iter().take(10).map(|one| short(one)).collect();
        words.push(format!("without {}", some.join(" ")));
    }
    words.join(", ")
}

/// A component that one file names several times is one, with all its evidence.
fn joined(mut found: Vec<Identified>) -> Vec<Identified> {
    found.sort_by(|left, right| (&left.path, &left.coordinates).cmp(&(&right.path, &right.coordinates)));
    found.dedup_by(|later, first| {
        let same = later.path == first.path && later.coordinates == first.coordinates;
        if same {
            first.evidence.append(&mut later.evidence);
            first.confidence = first.confidence.min(later.confidence);
        }
        same
    });
    found
}
