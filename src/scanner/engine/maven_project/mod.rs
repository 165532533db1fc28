//! Resolves Maven projects from their poms alone: properties, parents, managed versions, BOMs, profiles. Offline and
//! deterministic: what is not in the given set is listed as unresolved, never guessed. Knows no advisories.
//!
//! Decisions: a version range is no version, so a dependency with one is listed as unresolved together with its lowest
//! version (a build takes the highest one that exists on its day). Of profiles, dependencies are always read and marked;
//! properties and managed versions count for the profile itself and, when it is active by default, for the whole pom.
//! `${env.…}` and `${settings.…}` depend on a machine and are never resolved.

mod coordinates;
mod interpolate;
mod lineage;
mod managed;
mod model;
mod project;
mod read;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_hostile;

pub(in crate::scanner) use project::resolve;
#[cfg(test)]
pub(in crate::scanner::engine) use read::pom as read_pom;

use super::metadata::Coordinates;

/// A pom and where it lies in its workspace, `web/pom.xml`.
#[derive(Clone, Debug)]
pub(in crate::scanner) struct PomFile {
    pub(in crate::scanner) path: String,
    pub(in crate::scanner) content: Vec<u8>,
}

/// What a set of poms gave.
#[derive(Clone, Debug, Default)]
pub(in crate::scanner) struct Resolution {
    /// By path.
    pub(in crate::scanner) projects: Vec<Project>,
    pub(in crate::scanner) unresolved: Vec<Unresolved>,
    /// Files that could not be read, limits that were hit: one sentence each.
    pub(in crate::scanner) notes: Vec<String>,
}

/// One pom of the set.
#[derive(Clone, Debug)]
pub(in crate::scanner) struct Project {
    pub(in crate::scanner) path: String,
    /// `group:artifact@version`, as far as the set tells.
    pub(in crate::scanner) name: String,
    pub(in crate::scanner) dependencies: Vec<Dependency>,
}

/// A dependency with a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scanner) struct Dependency {
    pub(in crate::scanner::engine) coordinates: Coordinates,
    /// `compile`, `runtime`, `provided`, `test`, `system`.
    pub(in crate::scanner) scope: String,
    pub(in crate::scanner) is_optional: bool,
    /// The profile that brings it.
    pub(in crate::scanner) profile: Option<String>,
    /// `group:artifact` of what is kept out of its own dependencies.
    pub(in crate::scanner) exclusions: Vec<String>,
    /// The pom it is written in, when that is a parent.
    pub(in crate::scanner) inherited_from: Option<String>,
    /// The pom that manages its version, when it is written without one.
    pub(in crate::scanner) managed_by: Option<String>,
}

/// What the set does not tell.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::scanner) struct Unresolved {
    /// The pom that needs it.
    pub(in crate::scanner) path: String,
    /// `group:artifact`, as written.
    pub(in crate::scanner) name: String,
    /// The version as written; empty when there is none.
    pub(in crate::scanner) version: String,
    /// `dependency`, `parent`, `bom` or `module`.
    pub(in crate::scanner) kind: &'static str,
    /// One sentence.
    pub(in crate::scanner) reason: String,
}
