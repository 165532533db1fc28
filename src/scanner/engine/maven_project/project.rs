//! From poms to projects with their dependencies: the way through reading, parents, managed versions and profiles.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::coordinates::{Wanted, wanted};
use super::interpolate::Context;
use super::lineage::{Lineage, Missing, Set, bodies, normalise};
use super::managed::{self, Key, Management, Manager, Work};
use super::model::{Declared, Pom};
use super::{Coordinates, Dependency, PomFile, Project, Resolution, Unresolved, read};
use crate::config::scanner::Sources as Limits;
use crate::scanner::engine::metadata::OWN_ENTITIES;
use crate::scanner::engine::notes::{Notes, short};

/// Resolves a set of poms.
pub(in crate::scanner) fn resolve(files: Vec<PomFile>, limits: &Limits) -> Resolution {
    let mut notes = Notes::default();
    let set = Set::new(readable(files, limits, &mut notes));
    let depth = usize::try_from(limits.parents).unwrap_or(usize::MAX).max(1);
    let mut resolving = Resolving {
        set: &set,
        depth,
        manager: Manager::new(&set, depth, Work::new(limits.dependencies)),
        projects: Vec::new(),
        unresolved: Vec::new(),
    };
    for at in 0..set.len() {
        resolving.project(at);
    }
    let Resolving { manager, mut projects, mut unresolved, .. } = resolving;
    if manager.work.is_used_up {
        notes.add(format!(
            "The poms have more than {} dependencies and managed versions; the rest was not read.",
            limits.dependencies
        ));
    }
    drop_repeated(&mut projects);
    projects.sort_by(|left, right| left.path.cmp(&right.path));
    unresolved.sort_by(|left, right| (&left.path, left.kind, &left.name).cmp(&(&right.path, right.kind, &right.name)));
    unresolved.dedup();
    Resolution { projects, unresolved, notes: notes.into_lines() }
}

fn readable(files: Vec<PomFile>, limits: &Limits, notes: &mut Notes) -> Vec<(String, Pom)> {
    let depth = usize::try_from(limits.xml_depth).unwrap_or(usize::MAX);
    let mut found = BTreeMap::new();
    let most = usize::try_from(limits.poms).unwrap_or(usize::MAX);
    if files.len() > most {
        notes.add(format!("Of {} poms the first {most} were read.", files.len()));
    }
    for file in files.into_iter().take(most) {
        let Some(path) = normalise(&file.path) else {
            notes.add(format!("{} was not read: its path leads out of the archive.", short(&file.path)));
            continue;
        };
        if file.content.len() as u64 > limits.pom_bytes {
            notes.add(format!("{} was not read: it has more than the {} bytes a pom may have.", short(&path), limits.pom_bytes));
            continue;
        }
        match read::pom(&file.content, depth) {
            Ok(pom) => {
                if pom.has_entities {
                    notes.add(format!("{} could not be read whole: it {OWN_ENTITIES}.", short(&path)));
                }
                found.entry(path).or_insert(pom);
            }
            Err(error) => notes.add(format!("{} was not read: it {error}.", short(&path))),
        }
    }
    found.into_iter().collect()
}

/// An inherited dependency that the parent itself has with the same version is said once, there.
fn drop_repeated(projects: &mut [Project]) {
    let own: HashSet<(String, Coordinates)> = projects
        .iter()
        .flat_map(|project| {
            let own = project.dependencies.iter().filter(|one| one.inherited_from.is_none());
            own.map(|one| (project.path.clone(), one.coordinates.clone()))
        })
        .collect();
    for project in projects {
        project.dependencies.retain(|one| {
            one.inherited_from.as_ref().is_none_or(|parent| !own.contains(&(parent.clone(), one.coordinates.clone())))
        });
    }
}

struct Resolving<'a> {
    set: &'a Set,
    depth: usize,
    manager: Manager<'a>,
    projects: Vec<Project>,
    unresolved: Vec<Unresolved>,
}

/// What the dependencies of one place are completed with.
struct Place<'a> {
    at: usize,
    context: &'a Context,
    /// The nearest first.
    managements: &'a [&'a Management],
    profile: Option<&'a str>,
    inherited_from: Option<&'a str>,
    lineage: &'a Lineage,
}

impl Resolving<'_> {
    fn project(&mut self, at: usize) {
        let set = self.set;
        let Some(pom) = set.pom(at).filter(|_| !self.manager.work.is_used_up) else { return };
        let lineage = set.lineage(at, self.depth);
        let context = set.context(&lineage);
        if !self.manager.work.take(1 + context.properties.len()) {
            return;
        }
        let management = self.manager.of(at);
        self.say_missing(at, &lineage, &management);
        self.say_modules(at, pom);
        let mut dependencies = Vec::new();
        let mut seen: HashMap<Key, Option<String>> = HashMap::new();
        for (generation, place) in lineage.chain.iter().enumerate() {
            let Some(pom) = set.pom(*place) else { continue };
            let inherited_from = (generation > 0).then(|| set.path(*place));
            let managements = [&management];
            let here =
                Place { at, context: &context, managements: &managements, profile: None, inherited_from, lineage: &lineage };
            for declared in bodies(pom).flat_map(|body| &body.dependencies) {
                self.dependency(&here, declared, &mut seen, &mut dependencies);
            }
        }
        for profile in pom.profiles.iter().filter(|profile| !profile.is_active_by_default) {
            let mut context = context.clone();
            if !self.manager.work.take(1 + context.properties.len()) {
                break;
            }
            context.properties.extend(profile.body.properties.iter().map(|(name, value)| (name.clone(), value.clone())));
            let nearer = self.manager.of_profile(at, &profile.body.managed, &context);
            self.say_missing(at, &lineage, &nearer);
            let managements = [&nearer, &management];
            let profile_id = Some(profile.id.as_str());
            let here = Place {
                at,
                context: &context,
                managements: &managements,
                profile: profile_id,
                inherited_from: None,
                lineage: &lineage,
            };
            let mut seen = HashMap::new();
            for declared in &profile.body.dependencies {
                self.dependency(&here, declared, &mut seen, &mut dependencies);
            }
        }
        let word = |text: &str| context.complete(text).unwrap_or_else(|_| text.to_owned());
        let name = format!("{}:{}@{}", word(&context.group), word(&context.artifact), word(&context.version));
        self.projects.push(Project { path: set.path(at).to_owned(), name, dependencies });
    }

    fn dependency(
        &mut self,
        here: &Place<'_>,
        declared: &Declared,
        seen: &mut HashMap<Key, Option<String>>,
        into: &mut Vec<Dependency>,
    ) {
        if !self.manager.work.take(1) {
            return;
        }
        let key = match managed::key(declared, here.context) {
            Ok(key) => key,
            Err(reason) => return self.unresolved(here, declared, None, &format!("its name {reason}")),
        };
        let source = here.inherited_from.map(str::to_owned);
        match seen.get(&key) {
            // The nearer pom has the word.
            Some(nearer) if *nearer != source => return,
            _ => drop(seen.insert(key.clone(), source)),
        }
        let managed = here.managements.iter().find_map(|management| management.get(&key));
        let (version, managed_by) = match (&declared.version, managed) {
            (Some(text), _) => (here.context.complete(text).map_err(|why| why.to_string()), None),
            (None, Some(managed)) => (managed.version.clone(), Some(managed.path.clone())),
            (None, None) => (Err(nobody_manages(here)), None),
        };
        let version = match version.map(|text| wanted(&text)) {
            Ok(Wanted::Exactly(version)) => version,
            Ok(Wanted::Range(low)) => {
                let low = low.map(|low| format!("; the lowest it allows is {low}")).unwrap_or_default();
                let reason = format!("its version is a range, and a build takes the highest one that exists on its day{low}");
                return self.unresolved(here, declared, Some(&key), &reason);
            }
            Ok(Wanted::Newest) => {
                return self.unresolved(
                    here,
                    declared,
                    Some(&key),
                    "its version is whichever is the newest on the day of the build",
                );
            }
            Err(reason) => return self.unresolved(here, declared, Some(&key), &format!("its version {reason}")),
        };
        let Some(coordinates) = Coordinates::new(&key.0, &key.1, &version) else {
            return self.unresolved(here, declared, Some(&key), &format!("{} is no usable name or version", short(&version)));
        };
        let managed_scope = managed.and_then(|managed| managed.scope.clone());
        let scope = declared.scope.clone().or(managed_scope).unwrap_or_else(|| "compile".to_owned());
        let managed_exclusions = managed.into_iter().flat_map(|managed| managed.exclusions.iter().cloned());
        into.push(Dependency {
            coordinates,
            scope: here.context.complete(&scope).unwrap_or(scope),
            is_optional: declared
                .optional
                .as_deref()
                .is_some_and(|flag| here.context.complete(flag).is_ok_and(|flag| flag == "true")),
            profile: here.profile.map(str::to_owned),
            exclusions: declared.exclusions.iter().cloned().chain(managed_exclusions).collect(),
            inherited_from: here.inherited_from.map(str::to_owned),
            managed_by,
        });
    }

    /// What an ancestor leaves open is said once, at the ancestor.
    fn unresolved(&mut self, here: &Place<'_>, declared: &Declared, key: Option<&Key>, reason: &str) {
        if here.inherited_from.is_some() {
            return;
        }
        let written = format!("{}:{}", declared.group, declared.artifact);
        let name = key.map_or(written, |(group, artifact, ..)| format!("{group}:{artifact}"));
        let version = declared.version.clone().unwrap_or_default();
        let path = self.set.path(here.at).to_owned();
        self.unresolved.push(Unresolved { path, name, version, kind: "dependency", reason: format!("{reason}.") });
    }

    fn say_missing(&mut self, at: usize, lineage: &Lineage, management: &Management) {
        let path = self.set.path(at);
        // A missing grandparent is said at the pom that names it.
        if let Some(Missing { parent, reason, .. }) =
            lineage.missing.as_ref().filter(|one| one.child.is_none_or(|child| child == at))
        {
            let name = format!("{}:{}", parent.group, parent.artifact);
            let reason = format!("{reason}, so what it sets and manages is unknown.");
            let one = Unresolved { path: path.to_owned(), name, version: parent.version.clone(), kind: "parent", reason };
            self.unresolved.push(one);
        }
        for bom in management.missing.iter().filter(|bom| bom.importer == at) {
            let reason = format!("this imported BOM {}, so what it manages is unknown.", bom.reason);
            let (name, version) = (bom.name.clone(), bom.version.clone());
            self.unresolved.push(Unresolved { path: path.to_owned(), name, version, kind: "bom", reason });
        }
    }

    fn say_modules(&mut self, at: usize, pom: &Pom) {
        let path = self.set.path(at);
        let all = std::iter::once(&pom.body).chain(pom.profiles.iter().map(|profile| &profile.body));
        for module in all.flat_map(|body| &body.modules).filter(|module| !self.set.module(path, module)) {
            let reason = "this module is not among the given poms.".to_owned();
            let one = Unresolved { path: path.to_owned(), name: short(module), version: String::new(), kind: "module", reason };
            self.unresolved.push(one);
        }
    }
}

fn nobody_manages(here: &Place<'_>) -> String {
    let parent = here.lineage.missing.as_ref().map(|one| format!("the parent {}:{}", one.parent.group, one.parent.artifact));
    let boms = here.managements.iter().flat_map(|one| &one.missing).map(|bom| format!("the BOM {}", bom.name));
    let absent: Vec<String> = parent.into_iter().chain(boms).take(3).collect();
    if absent.is_empty() {
        return "is missing, and no given pom manages it".to_owned();
    }
    format!("is missing, and what may manage it is not among the given poms ({})", absent.join(", "))
}
