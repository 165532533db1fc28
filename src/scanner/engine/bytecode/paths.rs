//! Follows calls from entry points, breadth first: every method that can be reached once, by a shortest path.

use std::collections::{HashMap, HashSet, VecDeque};

use super::entries::{self, Entry, EntryKind, is_task};
use super::graph::{CallEdge, Graph, MethodId};
use super::names::Name;

/// Targets of one call that are followed.
const TARGETS: usize = 8;
/// Classes looked at to find them.
const LOOKED_AT: usize = 2000;

/// What a path shall lead to.
pub(in crate::scanner::engine) enum Target<'a> {
    /// Classes, or methods as `org/example/Unsafe.load`.
    Named(&'a [String]),
    /// Any class of an archive.
    Archive(u32),
}

/// One step of a path.
#[derive(Clone, Debug)]
pub(in crate::scanner::engine) struct Step {
    pub(in crate::scanner::engine) class: String,
    pub(in crate::scanner::engine) method: String,
    pub(in crate::scanner::engine) file: String,
    pub(in crate::scanner::engine) archive: u32,
    /// Of the call to the next step; of the method's start on the last one; 0 when unknown.
    pub(in crate::scanner::engine) line: u16,
}

/// Everything that is reached.
pub(in crate::scanner::engine) struct Paths<'a> {
    graph: &'a Graph,
    entries: Vec<Entry>,
    /// Who called a method first, and at which line; itself for entries.
    from: HashMap<MethodId, (MethodId, u16)>,
    order: Vec<MethodId>,
    by_class: HashMap<Name, Vec<MethodId>>,
    by_archive: HashMap<u32, MethodId>,
    /// Whether application code that is reached loads code by name.
    pub(in crate::scanner::engine) is_dynamic: bool,
    /// Whether the search was ended by its bound.
    pub(in crate::scanner::engine) is_cut: bool,
}

impl<'a> Paths<'a> {
    /// Searches from everything that begins the application; HTTP entry points go first, so that their paths are kept.
    pub(in crate::scanner::engine) fn search(
        graph: &'a Graph,
        mains: &[String],
        mapped: &[(String, String)],
        any_main: bool,
    ) -> Self {
        let entries = entries::all(graph, mains, mapped, any_main);
        let mut paths = Self {
            graph,
            from: HashMap::new(),
            order: Vec::new(),
            by_class: HashMap::new(),
            by_archive: HashMap::new(),
            is_dynamic: false,
            is_cut: graph.is_cut,
            entries,
        };
        let (web, main): (Vec<_>, Vec<_>) = paths.entries.iter().cloned().partition(|entry| entry.kind != EntryKind::Main);
        let mut steps = graph.steps();
        for group in [web, main] {
            paths.spread(&group, &mut steps);
        }
        paths
    }

    /// Whether the application begins anywhere.
    pub(in crate::scanner::engine) fn has_entries(&self) -> bool {
        !self.entries.is_empty()
    }

    fn spread(&mut self, entries: &[Entry], steps: &mut usize) {
        let mut open = VecDeque::new();
        for entry in entries {
            self.reach(entry.method, entry.method, 0, &mut open);
        }
        let mut ready: HashSet<u32> = HashSet::new();
        let mut known: HashMap<(Name, Name, Name, bool), Vec<MethodId>> = HashMap::new();
        while let Some(id) = open.pop_front() {
            let Some(method) = self.graph.methods.get(id as usize) else { continue };
            if let Some(class) = self.graph.classes.get(method.class as usize) {
                self.is_dynamic |= method.is_dynamic && class.is_application;
                if ready.insert(method.class) {
                    let starts: Vec<MethodId> = self
                        .graph
                        .methods_of(class)
                        .filter(|(_, one)| self.graph.names.text(one.name) == "<clinit>")
                        .map(|(id, _)| id)
                        .collect();
                    for start in starts {
                        self.reach(start, id, method.line, &mut open);
                    }
                }
            }
            let calls = self.graph.calls.get(method.calls.start as usize..method.calls.end as usize).unwrap_or_default();
            for call in calls {
                if *steps == 0 {
                    self.is_cut = true;
                    return;
                }
                *steps -= 1;
                let targets = known
                    .entry((call.owner, call.name, call.descriptor, call.is_virtual))
                    .or_insert_with(|| targets(self.graph, call));
                for target in targets.clone() {
                    self.reach(target, id, call.line, &mut open);
                }
            }
        }
    }

    fn reach(&mut self, id: MethodId, by: MethodId, line: u16, open: &mut VecDeque<MethodId>) {
        if self.from.contains_key(&id) {
            return;
        }
        let Some(method) = self.graph.methods.get(id as usize) else { return };
        let Some(class) = self.graph.classes.get(method.class as usize) else { return };
        self.from.insert(id, (by, line));
        self.order.push(id);
        self.by_class.entry(class.name).or_default().push(id);
        self.by_archive.entry(class.archive).or_insert(id);
        open.push_back(id);
    }

    /// The first method of the target that is reached.
    pub(in crate::scanner::engine) fn find(&self, target: &Target<'_>) -> Option<MethodId> {
        match target {
            Target::Archive(archive) => self.by_archive.get(archive).copied(),
            Target::Named(names) => names.iter().filter_map(|name| self.named(name)).min_by_key(|id| self.length(*id)),
        }
    }

    fn named(&self, name: &str) -> Option<MethodId> {
        let (class, method) = name.rsplit_once('.').map_or((name, None), |(class, method)| (class, Some(method)));
        let reached = self.by_class.get(&self.graph.names.find(class)?)?;
        let right = |id: &&MethodId| {
            let own = self.graph.methods.get(**id as usize).map(|one| self.graph.names.text(one.name));
            method.is_none() || own == method
        };
        reached.iter().find(right).copied()
    }

    /// Whether the graph holds anything of the target.
    pub(in crate::scanner::engine) fn knows(&self, target: &Target<'_>) -> bool {
        match target {
            Target::Archive(archive) => self.graph.classes.iter().any(|class| class.archive == *archive),
            Target::Named(names) => names.iter().any(|name| {
                let class = name.rsplit_once('.').map_or(name.as_str(), |(class, _)| class);
                self.graph.names.find(class).is_some_and(|name| self.graph.by_name.contains_key(&name))
            }),
        }
    }

    fn length(&self, id: MethodId) -> usize {
        self.chain(id).len()
    }

    fn chain(&self, id: MethodId) -> Vec<MethodId> {
        let mut all = vec![id];
        let mut at = id;
        while let Some((by, _)) = self.from.get(&at).filter(|(by, _)| *by != at) {
            all.push(*by);
            at = *by;
        }
        all.reverse();
        all
    }

    /// The path to a method that is reached, with the entry point it begins at.
    pub(in crate::scanner::engine) fn path(&self, id: MethodId) -> (Option<&Entry>, Vec<Step>) {
        let chain = self.chain(id);
        let entry = chain.first().and_then(|first| self.entries.iter().find(|entry| entry.method == *first));
        let next = chain.iter().skip(1).map(Some).chain([None]);
        (entry, chain.iter().zip(next).filter_map(|(id, next)| self.step(*id, next.copied())).collect())
    }

    fn step(&self, id: MethodId, next: Option<MethodId>) -> Option<Step> {
        let method = self.graph.methods.get(id as usize)?;
        let class = self.graph.classes.get(method.class as usize)?;
        let names = &self.graph.names;
        let called_at = next.and_then(|next| self.from.get(&next)).map(|(_, line)| *line);
        Some(Step {
            class: names.text(class.name).replace('/', "."),
            method: format!("{}({})", names.text(method.name), parameters(names.text(method.descriptor))),
            file: names.text(class.file).to_owned(),
            archive: class.archive,
            line: called_at.unwrap_or(method.line),
        })
    }
}

/// The methods a call may run.
fn targets(graph: &Graph, call: &CallEdge) -> Vec<MethodId> {
    let mut found = Vec::new();
    let own = |class: Name| {
        let (_, class) = graph.class(class)?;
        graph.methods_of(class).find(|(_, one)| one.name == call.name && one.descriptor == call.descriptor)
    };
    let mut open = VecDeque::from([call.owner]);
    let mut seen = HashSet::from([call.owner]);
    while let Some(class) = open.pop_front() {
        if let Some((id, _)) = own(class) {
            found.push(id);
            break;
        }
        let parents = graph.class(class).map(|(_, class)| class.parents.as_slice()).unwrap_or_default();
        open.extend(parents.iter().filter(|parent| seen.insert(**parent)));
    }
    let is_new = graph.names.text(call.name) == "<init>";
    if is_new {
        found.extend(run_later(graph, call.owner));
    }
    if call.is_virtual {
        let mut open = VecDeque::from([call.owner]);
        let mut seen = HashSet::from([call.owner]);
        while let Some(class) = open.pop_front() {
            for child in graph.children.get(&class).into_iter().flatten() {
                let Some(child) = graph.classes.get(*child as usize) else { continue };
                if found.len() >= TARGETS || seen.len() >= LOOKED_AT {
                    break;
                }
                if seen.insert(child.name) {
                    found.extend(own(child.name).filter(|(_, one)| one.has_body).map(|(id, _)| id));
                    open.push_back(child.name);
                }
            }
        }
    }
    found
}

/// Methods of a new object that the platform runs: tasks and functions.
fn run_later(graph: &Graph, class: Name) -> Vec<MethodId> {
    let Some((_, class)) = graph.class(class) else { return Vec::new() };
    if !class.parents.iter().any(|parent| is_task(graph.names.text(*parent)) || graph.names.text(*parent) == "java/lang/Thread") {
        return Vec::new();
    }
    let run = ["run", "call", "apply", "accept", "get", "test"];
    graph.methods_of(class).filter(|(_, one)| run.contains(&graph.names.text(one.name))).map(|(id, _)| id).collect()
}

/// `(Ljava/lang/String;I)V` as `String, int`.
fn parameters(descriptor: &str) -> String {
    let inside = descriptor.split_once(')').map_or("", |(inside, _)| inside.trim_start_matches('('));
    let mut all: Vec<String> = Vec::new();
    let (mut rest, mut arrays) = (inside, 0);
    while let Some(first) = rest.chars().next() {
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
        let name = match first {
            '[' => {
                arrays += 1;
                continue;
            }
            'L' => {
                let (class, after) = rest.split_once(';').unwrap_or((rest, ""));
                rest = after;
                class.rsplit(['/', '$']).next().unwrap_or(class)
            }
            'B' => "byte",
            'C' => "char",
            'D' => "double",
            'F' => "float",
            'I' => "int",
            'J' => "long",
            'S' => "short",
            _ => "boolean",
        };
        all.push(format!("{name}{}", "[]".repeat(arrays)));
        arrays = 0;
    }
    all.join(", ")
}
