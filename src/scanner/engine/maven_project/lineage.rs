//! The set of poms and who is whose parent in it. Paths are compared as text and never leave the set.

use std::collections::HashMap;

use super::interpolate::Context;
use super::managed::Work;
use super::model::{Body, Parent, Pom};

/// Poms of one name that are looked at; a set with more of them is no workspace.
const SAME_NAME: usize = 64;

/// All poms that could be read.
#[derive(Debug, Default)]
pub(super) struct Set {
    poms: Vec<(String, Pom)>,
    by_path: HashMap<String, usize>,
    by_name: HashMap<(String, String), Vec<usize>>,
}

/// A pom and its ancestors.
#[derive(Debug)]
pub(super) struct Lineage {
    /// The pom itself first.
    pub(super) chain: Vec<usize>,
    pub(super) missing: Option<Missing>,
}

/// The first ancestor that is not there.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) parent: Parent,
    pub(super) reason: &'static str,
    /// The pom that names it; none when ancestors go round in a circle, which concerns all of them.
    pub(super) child: Option<usize>,
}

impl Set {
    pub(super) fn new(poms: Vec<(String, Pom)>) -> Self {
        let mut set = Self::default();
        for (at, (path, pom)) in poms.iter().enumerate() {
            set.by_path.insert(path.clone(), at);
            set.by_name.entry((group(pom).to_owned(), pom.artifact.clone())).or_default().push(at);
        }
        set.poms = poms;
        set
    }

    pub(super) fn len(&self) -> usize {
        self.poms.len()
    }

    pub(super) fn path(&self, at: usize) -> &str {
        self.poms.get(at).map_or("", |(path, _)| path)
    }

    pub(super) fn pom(&self, at: usize) -> Option<&Pom> {
        self.poms.get(at).map(|(_, pom)| pom)
    }

    /// The pom and its ancestors, at most `depth` of them.
    pub(super) fn lineage(&self, at: usize, depth: usize) -> Lineage {
        let mut chain = vec![at];
        let mut here = at;
        while let Some(parent) = self.pom(here).and_then(|pom| pom.parent.as_ref()) {
            let missing = |reason, child| Some(Missing { parent: parent.clone(), reason, child });
            let Some(next) = self.parent(here, parent) else {
                return Lineage { chain, missing: missing("it is not among the given poms", Some(here)) };
            };
            if chain.contains(&next) {
                return Lineage { chain, missing: missing("it is its own ancestor", None) };
            }
            if chain.len() >= depth {
                return Lineage { chain, missing: missing("there are more ancestors than the limits allow", None) };
            }
            chain.push(next);
            here = next;
        }
        Lineage { chain, missing: None }
    }

    /// By relative path when the pom there has the right name, otherwise by name.
    fn parent(&self, of: usize, parent: &Parent) -> Option<usize> {
        let fits = |at: &usize| {
            self.pom(*at).is_some_and(|pom| {
                let own = version(pom);
                let same_version = own == parent.version || own.contains("${") || parent.version.contains("${");
                group(pom) == parent.group && pom.artifact == parent.artifact && same_version
            })
        };
        let relative = parent.relative_path.as_deref().unwrap_or("../pom.xml");
        let by_path = (!relative.is_empty()).then(|| self.beside(self.path(of), relative)).flatten();
        by_path.filter(fits).or_else(|| {
            let same_name = self.by_name.get(&(parent.group.clone(), parent.artifact.clone()))?;
            same_name.iter().copied().take(SAME_NAME).find(fits)
        })
    }

    /// What `relative` means as seen from the pom at `path`: a pom, or the folder that has one.
    fn beside(&self, path: &str, relative: &str) -> Option<usize> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let target = normalise(&format!("{folder}/{relative}"))?;
        let inside = if target.is_empty() { "pom.xml".to_owned() } else { format!("{target}/pom.xml") };
        self.by_path.get(&target).or_else(|| self.by_path.get(&inside)).copied()
    }

    /// The path that the module `name` of the pom at `path` has.
    pub(super) fn module(&self, path: &str, name: &str) -> bool {
        self.beside(path, name).is_some()
    }

    /// The pom of these coordinates.
    pub(super) fn named(&self, (group, artifact, version): (&str, &str, &str), depth: usize, work: &mut Work) -> Option<usize> {
        let same_name = self.by_name.get(&(group.to_owned(), artifact.to_owned()))?;
        same_name.iter().copied().take(SAME_NAME).find(|at| {
            let context = self.context(&self.lineage(*at, depth));
            work.take(context.properties.len()) && context.complete(&context.version).is_ok_and(|own| own == version)
        })
    }

    /// What `${…}` stands for in the first of the lineage.
    pub(super) fn context(&self, lineage: &Lineage) -> Context {
        let mut context = Context::default();
        for pom in lineage.chain.iter().rev().filter_map(|at| self.pom(*at)) {
            for body in bodies(pom) {
                context.properties.extend(body.properties.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
        }
        if let Some(pom) = lineage.chain.first().and_then(|at| self.pom(*at)) {
            group(pom).clone_into(&mut context.group);
            pom.artifact.clone_into(&mut context.artifact);
            version(pom).clone_into(&mut context.version);
            let parent = pom.parent.as_ref();
            context.parent = parent.map(|one| (one.group.clone(), one.artifact.clone(), one.version.clone()));
        }
        context
    }
}

/// The pom's own part and those of its profiles that are active unless somebody chooses others.
pub(super) fn bodies(pom: &Pom) -> impl Iterator<Item = &Body> {
    let active = pom.profiles.iter().filter(|profile| profile.is_active_by_default).map(|profile| &profile.body);
    std::iter::once(&pom.body).chain(active)
}

fn group(pom: &Pom) -> &str {
    pom.group.as_deref().or_else(|| pom.parent.as_ref().map(|parent| parent.group.as_str())).unwrap_or_default()
}

fn version(pom: &Pom) -> &str {
    pom.version.as_deref().or_else(|| pom.parent.as_ref().map(|parent| parent.version.as_str())).unwrap_or_default()
}

/// A path without `.`, `..`, backslashes and repeated separators; `None` when it leaves its root or is absurdly long.
pub(super) fn normalise(path: &str) -> Option<String> {
    if path.len() > 1024 || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
