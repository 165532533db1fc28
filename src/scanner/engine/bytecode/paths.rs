//! Follows calls from entry points, breadth first: every method that can be reached once, by a shortest path.

use std::collections::{HashMap, HashSet, VecDeque};

use super::entries::{self, Entry, EntryKind, is_task};
use super::graph::{CallEdge, ClassNode, Graph, MethodId, MethodNode};
use super::names::Name;
use crate::scanner::engine::budget::{Budget, Pace};

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

/// From an entry point to a method.
pub(in crate::scanner::engine) struct Path<'a> {
    pub(in crate::scanner::engine) entry: Option<&'a Entry>,
    /// The first ones, as many as are shown.
    pub(in crate::scanner::engine) steps: Vec<Step>,
    /// How many there are.
    pub(in crate::scanner::engine) length: usize,
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
    pub(in crate::scanner::engine) missed: Missed,
}

/// What a search did not look at.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scanner::engine) struct Missed {
    /// Whether a bound of the graph or of the search was hit.
    pub(in crate::scanner::engine) is_cut: bool,
    /// Whether there was no time for the rest.
    pub(in crate::scanner::engine) is_late: bool,
    /// Whether a call had more targets than were followed.
    pub(in crate::scanner::engine) is_narrowed: bool,
}

/// What a search may still spend.
struct Effort<'a> {
    /// Calls to follow.
    steps: usize,
    pace: Pace<'a>,
}

/// The methods a call may run.
#[derive(Clone, Default)]
struct Targets {
    found: Vec<MethodId>,
    is_narrowed: bool,
}

impl<'a> Paths<'a> {
    /// Searches from everything that begins the application, within the graph's bounds and the `budget`; HTTP entry points go
    /// first, so that their paths are kept.
    pub(in crate::scanner::engine) fn search(
        graph: &'a Graph,
        mains: (&[String], bool),
        mapped: &[(String, String)],
        budget: &Budget<'_>,
    ) -> Self {
        let mut effort = Effort { steps: graph.bounds.steps, pace: Pace::new(budget) };
        let entries = entries::all(graph, mains, mapped, &mut effort.pace);
        let mut paths = Self {
            graph,
            from: HashMap::new(),
            order: Vec::new(),
            by_class: HashMap::new(),
            by_archive: HashMap::new(),
            is_dynamic: false,
            missed: Missed { is_cut: graph.is_cut, ..Missed::default() },
            entries,
        };
        let (web, main): (Vec<_>, Vec<_>) = paths.entries.iter().cloned().partition(|entry| entry.kind != EntryKind::Main);
        for group in [web, main] {
            paths.spread(&group, &mut effort);
        }
        paths.missed.is_late = effort.pace.is_spent;
        paths
    }

    /// Whether the application begins anywhere.
    pub(in crate::scanner::engine) fn has_entries(&self) -> bool {
        !self.entries.is_empty()
    }

    fn spread(&mut self, entries: &[Entry], effort: &mut Effort<'_>) {
        let mut open = VecDeque::new();
        for entry in entries {
            self.reach(entry.method, entry.method, 0, &mut open);
        }
        let graph = self.graph;
        let mut ready: HashSet<u32> = HashSet::new();
        let mut known: HashMap<(Name, Name, Name, bool), Targets> = HashMap::new();
        while let Some(id) = open.pop_front() {
            let Some(method) = graph.methods.get(id as usize) else { continue };
            if let Some(class) = graph.classes.get(method.class as usize) {
                self.is_dynamic |= method.is_dynamic && class.is_application;
                if ready.insert(method.class) {
                    let is_start = |one: &MethodNode| graph.names.text(one.name) == "<clinit>";
                    for (start, _) in graph.methods_of(class).filter(|(_, one)| is_start(one)) {
                        self.reach(start, id, method.line, &mut open);
                    }
                    effort.pace.spend(class.methods.len());
                }
            }
            let calls = graph.calls.get(method.calls.start as usize..method.calls.end as usize).unwrap_or_default();
            for call in calls {
                if !effort.pace.spend(1) {
                    return;
                }
                if effort.steps == 0 {
                    self.missed.is_cut = true;
                    return;
                }
                effort.steps -= 1;
                let targets = known
                    .entry((call.owner, call.name, call.descriptor, call.is_virtual))
                    .or_insert_with(|| targets(graph, call, &mut effort.pace));
                self.missed.is_narrowed |= targets.is_narrowed;
                for target in &targets.found {
                    self.reach(*target, id, call.line, &mut open);
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

    /// The path to a method that is reached, with the entry point it begins at: its first steps up to the bound, and how many
    /// it has.
    pub(in crate::scanner::engine) fn path(&self, id: MethodId) -> Path<'_> {
        let chain = self.chain(id);
        let entry = chain.first().and_then(|first| self.entries.iter().find(|entry| entry.method == *first));
        let next = chain.iter().skip(1).map(Some).chain([None]);
        let shown = chain.iter().zip(next).take(self.graph.bounds.chain_steps);
        Path { entry, steps: shown.filter_map(|(id, next)| self.step(*id, next.copied())).collect(), length: chain.len() }
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

/// Looks for them upwards from the class that the call names, then, for a virtual call, in the classes below it.
fn targets(graph: &Graph, call: &CallEdge, pace: &mut Pace<'_>) -> Targets {
    let mut to = Targets::default();
    let own =
        |class: &ClassNode| graph.methods_of(class).find(|(_, one)| one.name == call.name && one.descriptor == call.descriptor);
    let mut open = VecDeque::from([call.owner]);
    let mut seen = HashSet::from([call.owner]);
    while let Some(name) = open.pop_front() {
        let Some((_, class)) = graph.class(name) else { continue };
        if !pace.spend(class.methods.len()) {
            return to;
        }
        if let Some((id, _)) = own(class) {
            to.found.push(id);
            break;
        }
        open.extend(class.parents.iter().filter(|parent| seen.insert(**parent)));
    }
    if graph.names.text(call.name) == "<init>" {
        to.found.extend(run_later(graph, call.owner));
    }
    if call.is_virtual {
        below(graph, call, own, &mut to, pace);
    }
    to
}

fn below<'a>(
    graph: &'a Graph,
    call: &CallEdge,
    own: impl Fn(&'a ClassNode) -> Option<(MethodId, &'a MethodNode)>,
    to: &mut Targets,
    pace: &mut Pace<'_>,
) {
    let mut open = VecDeque::from([call.owner]);
    let mut seen = HashSet::from([call.owner]);
    while let Some(class) = open.pop_front() {
        for child in graph.children.get(&class).into_iter().flatten() {
            let Some(child) = graph.classes.get(*child as usize) else { continue };
            if !pace.spend(child.methods.len()) {
                return;
            }
            if !seen.insert(child.name) {
                continue;
            }
            let found = own(child).filter(|(_, one)| one.has_body).map(|(id, _)| id);
            if seen.len() > graph.bounds.subclasses.saturating_add(1)
                || (found.is_some() && to.found.len() >= graph.bounds.targets)
            {
                to.is_narrowed = true;
                return;
            }
            to.found.extend(found);
            open.push_back(child.name);
        }
    }
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
