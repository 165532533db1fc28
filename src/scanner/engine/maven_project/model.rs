//! A pom as it is written: nothing is inherited, managed or interpolated yet.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(in crate::scanner::engine) struct Pom {
    pub(super) group: Option<String>,
    pub(super) artifact: String,
    pub(super) version: Option<String>,
    pub(super) parent: Option<Parent>,
    /// What stands outside of profiles.
    pub(super) body: Body,
    pub(super) profiles: Vec<Profile>,
    /// Whether it uses entities that XML itself does not have; they are left as they are written.
    pub(super) has_entities: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Parent {
    pub(super) group: String,
    pub(super) artifact: String,
    pub(super) version: String,
    /// None means `../pom.xml`; empty means that the parent is in a repository.
    pub(super) relative_path: Option<String>,
}

/// The parts that a pom and a profile both have.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) properties: BTreeMap<String, String>,
    pub(super) dependencies: Vec<Declared>,
    pub(super) managed: Vec<Declared>,
    pub(super) modules: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    pub(super) id: String,
    pub(super) is_active_by_default: bool,
    pub(super) body: Body,
}

/// A `<dependency>`, wherever it stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared {
    pub(super) group: String,
    pub(super) artifact: String,
    pub(super) version: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) classifier: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) optional: Option<String>,
    pub(super) exclusions: Vec<String>,
}
