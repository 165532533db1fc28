//! What a walk keeps of each archive: whatever may tell where it came from. Plain data.

use std::collections::BTreeSet;

use super::metadata::{Coordinates, Manifest};

/// What was seen of one archive.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// `app.war!/WEB-INF/lib/x.jar`.
    pub(super) path: String,
    /// Its place in `Code::archives`.
    pub(super) place: u32,
    pub(super) poms: Vec<Pom>,
    pub(super) manifest: Option<Manifest>,
    /// Packages that have classes, `org/example/core`.
    pub(super) packages: BTreeSet<String>,
    /// Classes that some advisory names, `org/example/Unsafe`.
    pub(super) classes: BTreeSet<String>,
    /// Whether a part of it could not be read.
    pub(super) is_damaged: bool,
    /// Archives inside it, whether they could be read or not.
    pub(super) nested: u64,
}

/// A pom inside an archive.
#[derive(Clone, Debug)]
pub(super) struct Pom {
    /// Its place inside the archive.
    pub(super) entry: String,
    pub(super) kind: PomKind,
    pub(super) coordinates: Coordinates,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PomKind {
    Properties,
    Xml,
}
