//! Versions that poms manage for others: their own, their ancestors', and those of imported BOMs. The nearest word counts,
//! and every own word before every import.

use std::collections::HashMap;
use std::rc::Rc;

use super::interpolate::Context;
use super::lineage::{Set, bodies};
use super::model::Declared;

/// BOMs of one pom that are told as missing.
const MAX_MISSING: usize = 50;

/// What a managed entry is about: group, artifact, type, classifier.
pub(super) type Key = (String, String, String, String);

/// What is managed.
#[derive(Debug)]
pub(super) struct Managed {
    /// Complete, or why it is not.
    pub(super) version: Result<String, String>,
    pub(super) scope: Option<String>,
    pub(super) exclusions: Vec<String>,
    /// The pom it is written in.
    pub(super) path: String,
}

/// All that is managed for one pom.
#[derive(Debug, Default)]
pub(super) struct Management {
    entries: HashMap<Rc<Key>, Rc<Managed>>,
    /// BOMs that could not be followed: name, version as written, why, and the pom that imports them.
    pub(super) missing: Vec<MissingBom>,
}

#[derive(Clone, Debug)]
pub(super) struct MissingBom {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) reason: String,
    pub(super) importer: usize,
}

impl Management {
    pub(super) fn get(&self, key: &Key) -> Option<&Managed> {
        self.entries.get(key).map(Rc::as_ref)
    }

    /// Each once and only so many: BOMs hand theirs on to whoever imports them.
    fn miss(&mut self, bom: MissingBom) {
        let is_known =
            |known: &MissingBom| known.importer == bom.importer && known.name == bom.name && known.version == bom.version;
        if self.missing.len() < MAX_MISSING && !self.missing.iter().any(is_known) {
            self.missing.push(bom);
        }
    }

    fn add(&mut self, key: Rc<Key>, managed: Rc<Managed>) {
        self.entries.entry(key).or_insert(managed);
    }
}

/// How much may still be looked at. Bounds what a small but hostile set of poms can cost.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
    pub(super) is_used_up: bool,
}

impl Work {
    pub(super) const fn new(left: u64) -> Self {
        Self { left, is_used_up: false }
    }

    /// Whether `steps` more may be made.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        match self.left.checked_sub(steps as u64) {
            Some(left) => self.left = left,
            None => self.is_used_up = true,
        }
        !self.is_used_up
    }
}

/// Works out what is managed; what an imported BOM manages is worked out once.
pub(super) struct Manager<'a> {
    set: &'a Set,
    depth: usize,
    pub(super) work: Work,
    boms: HashMap<usize, Option<Rc<Management>>>,
}

impl<'a> Manager<'a> {
    pub(super) fn new(set: &'a Set, depth: usize, work: Work) -> Self {
        Self { set, depth, work, boms: HashMap::new() }
    }

    /// What is managed for the pom at `at`.
    pub(super) fn of(&mut self, at: usize) -> Management {
        self.management(at, 0)
    }

    fn management(&mut self, at: usize, level: usize) -> Management {
        let set = self.set;
        let lineage = set.lineage(at, self.depth);
        let context = set.context(&lineage);
        let mut all = Management::default();
        let mut imports = Vec::new();
        for place in &lineage.chain {
            let Some(pom) = set.pom(*place) else { continue };
            for declared in bodies(pom).flat_map(|body| &body.managed) {
                if !self.work.take(1) {
                    return all;
                }
                if is_import(declared) {
                    imports.push((*place, declared));
                } else if let Some((key, managed)) = managed(declared, &context, set.path(*place)) {
                    all.add(Rc::new(key), Rc::new(managed));
                }
            }
        }
        for (importer, declared) in imports {
            self.import(&mut all, &context, (importer, declared), level);
        }
        all
    }

    /// What a profile manages on top.
    pub(super) fn of_profile(&mut self, at: usize, managed_there: &[Declared], context: &Context) -> Management {
        let mut all = Management::default();
        for declared in managed_there {
            if !self.work.take(1) {
                break;
            }
            if is_import(declared) {
                self.import(&mut all, context, (at, declared), 0);
            } else if let Some((key, managed)) = managed(declared, context, self.set.path(at)) {
                all.add(Rc::new(key), Rc::new(managed));
            }
        }
        all
    }

    fn import(&mut self, into: &mut Management, context: &Context, (importer, declared): (usize, &Declared), level: usize) {
        let written = declared.version.clone().unwrap_or_default();
        let complete = |text: &str| context.complete(text).map_err(|why| why.to_string());
        let named = complete(&declared.group)
            .and_then(|group| Ok((group, complete(&declared.artifact)?)))
            .and_then(|(group, artifact)| Ok((group, artifact, complete(&written)?)));
        let found = named.and_then(|(group, artifact, version)| {
            let at = self.set.named((&group, &artifact, &version), self.depth, &mut self.work);
            at.ok_or_else(|| "is not among the given poms".to_owned())
        });
        match found.and_then(|at| self.bom(at, level)) {
            Ok(bom) => {
                if self.work.take(bom.entries.len()) {
                    bom.entries.iter().for_each(|(key, managed)| into.add(Rc::clone(key), Rc::clone(managed)));
                    bom.missing.iter().for_each(|missing| into.miss(missing.clone()));
                }
            }
            Err(reason) => {
                let name = format!("{}:{}", declared.group, declared.artifact);
                into.miss(MissingBom { name, version: written, reason, importer });
            }
        }
    }

    fn bom(&mut self, at: usize, level: usize) -> Result<Rc<Management>, String> {
        match self.boms.get(&at) {
            Some(Some(known)) => return Ok(Rc::clone(known)),
            Some(None) => return Err("imports itself in the end".to_owned()),
            None => {}
        }
        if level >= self.depth {
            return Err("lies deeper in other BOMs than the limits allow".to_owned());
        }
        self.boms.insert(at, None);
        let found = Rc::new(self.management(at, level + 1));
        self.boms.insert(at, Some(Rc::clone(&found)));
        Ok(found)
    }
}

fn is_import(declared: &Declared) -> bool {
    declared.scope.as_deref() == Some("import") && declared.kind.as_deref() == Some("pom")
}

/// The key of an entry; `None` when its name cannot be completed.
pub(super) fn key(declared: &Declared, context: &Context) -> Result<Key, String> {
    let complete = |text: &str| context.complete(text).map_err(|why| why.to_string());
    let or = |text: &Option<String>, otherwise: &str| complete(text.as_deref().unwrap_or(otherwise));
    Ok((complete(&declared.group)?, complete(&declared.artifact)?, or(&declared.kind, "jar")?, or(&declared.classifier, "")?))
}

fn managed(declared: &Declared, context: &Context, path: &str) -> Option<(Key, Managed)> {
    let key = key(declared, context).ok()?;
    let version = declared.version.as_deref().ok_or_else(|| "is managed without a version".to_owned());
    let version = version.and_then(|text| context.complete(text).map_err(|why| why.to_string()));
    let exclusions = declared.exclusions.clone();
    Some((key, Managed { version, scope: declared.scope.clone(), exclusions, path: path.to_owned() }))
}
