//! All classes of an artifact with their calls, in little memory. Which of several classes of one name counts: the first, as
//! a class loader would have it.

use std::collections::HashMap;
use std::ops::Range;

use super::entries::{self, Entry};
use super::names::{Name, Names};
use super::reader::{self, Call};
use crate::config::scanner::CallGraph as Bounds;
use crate::scanner::engine::budget::Pace;

/// What loads code by name.
const LOADERS: [(&str, &str); 5] = [
    ("java/lang/Class", "forName"),
    ("java/lang/ClassLoader", "loadClass"),
    ("java/lang/reflect/Method", "invoke"),
    ("java/util/ServiceLoader", "load"),
    ("javax/naming/Context", "lookup"),
];
/// Calls of these lead nowhere inside the artifact.
const PLATFORM: [&str; 4] = ["java/", "jdk/", "sun/", "["];

/// A method's place.
pub(super) type MethodId = u32;

#[derive(Debug)]
pub(super) struct ClassNode {
    pub(super) name: Name,
    pub(super) file: Name,
    pub(super) parents: Vec<Name>,
    /// Place of its archive in the list the caller keeps.
    pub(super) archive: u32,
    pub(super) methods: Range<u32>,
    pub(super) is_application: bool,
}

#[derive(Debug)]
pub(super) struct MethodNode {
    pub(super) class: u32,
    pub(super) name: Name,
    pub(super) descriptor: Name,
    pub(super) line: u16,
    pub(super) has_body: bool,
    /// Whether it loads code by name.
    pub(super) is_dynamic: bool,
    pub(super) calls: Range<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CallEdge {
    pub(super) owner: Name,
    pub(super) name: Name,
    pub(super) descriptor: Name,
    pub(super) line: u16,
    pub(super) is_virtual: bool,
}

/// The graph.
#[derive(Debug)]
pub(in crate::scanner::engine) struct Graph {
    pub(super) bounds: Bounds,
    pub(super) names: Names,
    pub(super) classes: Vec<ClassNode>,
    pub(super) methods: Vec<MethodNode>,
    pub(super) calls: Vec<CallEdge>,
    pub(super) by_name: HashMap<Name, u32>,
    pub(super) children: HashMap<Name, Vec<u32>>,
    pub(super) entries: Vec<Entry>,
    /// Application classes that could not be read.
    pub(in crate::scanner::engine) damaged: u64,
    /// Whether a bound was hit.
    pub(in crate::scanner::engine) is_cut: bool,
}

impl Graph {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            names: Names::default(),
            classes: Vec::new(),
            methods: Vec::new(),
            calls: Vec::new(),
            by_name: HashMap::new(),
            children: HashMap::new(),
            entries: Vec::new(),
            damaged: 0,
            is_cut: false,
        }
    }

    /// Bytes of the largest class that is read.
    pub(in crate::scanner::engine) fn most_bytes(&self) -> u64 {
        self.bounds.class_bytes
    }

    /// Notes a class that could not be read.
    pub(in crate::scanner::engine) fn miss(&mut self) {
        self.damaged += 1;
    }

    /// Takes a class in; `bytes` are changed on the way.
    pub(in crate::scanner::engine) fn add(&mut self, bytes: &mut [u8], archive: u32, is_application: bool) {
        if self.is_full() {
            self.is_cut = true;
            return;
        }
        let Some(class) = reader::read(bytes, is_application) else {
            self.damaged += 1;
            return;
        };
        self.is_cut |= class.is_cut;
        let name = self.names.name(&class.name);
        if self.by_name.contains_key(&name) {
            return;
        }
        let place = count(self.classes.len());
        self.by_name.insert(name, place);
        let parents: Vec<Name> = class.parents.iter().map(|parent| self.names.name(parent)).collect();
        for parent in &parents {
            self.children.entry(*parent).or_default().push(place);
        }
        let first = count(self.methods.len());
        for method in &class.methods {
            if self.is_full() {
                self.is_cut = true;
                break;
            }
            let start = count(self.calls.len());
            let is_dynamic = method.calls.iter().any(|call| LOADERS.contains(&(call.owner.as_str(), call.name.as_str())));
            for call in &method.calls {
                self.call(call);
            }
            let entry = entries::of(&class, method, is_application);
            let id = count(self.methods.len());
            self.entries.extend(entry.into_iter().map(|entry| Entry { method: id, ..entry }));
            let node = MethodNode {
                class: place,
                name: self.names.name(&method.name),
                descriptor: self.names.name(&method.descriptor),
                line: method.line,
                has_body: method.has_body,
                is_dynamic,
                calls: start..count(self.calls.len()),
            };
            self.methods.push(node);
        }
        let file = self.names.name(&class.file);
        let methods = first..count(self.methods.len());
        self.classes.push(ClassNode { name, file, parents, archive, methods, is_application });
    }

    fn is_full(&self) -> bool {
        let bounds = &self.bounds;
        self.classes.len() >= bounds.classes
            || self.methods.len() >= bounds.methods
            || self.calls.len() >= bounds.calls
            || self.names.bytes() >= bounds.name_bytes
    }

    fn call(&mut self, call: &Call) {
        if PLATFORM.iter().any(|prefix| call.owner.starts_with(prefix)) && !entries::is_task(&call.owner) {
            return;
        }
        let edge = CallEdge {
            owner: self.names.name(&call.owner),
            name: self.names.name(&call.name),
            descriptor: self.names.name(&call.descriptor),
            line: call.line,
            is_virtual: call.is_virtual,
        };
        self.calls.push(edge);
    }

    /// The class of that name, `org/example/Unsafe`.
    pub(super) fn class(&self, name: Name) -> Option<(u32, &ClassNode)> {
        let at = *self.by_name.get(&name)?;
        Some((at, self.classes.get(at as usize)?))
    }

    pub(super) fn methods_of(&self, class: &ClassNode) -> impl Iterator<Item = (MethodId, &MethodNode)> {
        class.methods.clone().filter_map(|id| Some((id, self.methods.get(id as usize)?)))
    }

    /// Whether the class `name` is one of `wanted` or below one, as far as the artifact and the time tell.
    pub(super) fn is_below(&self, name: Name, wanted: &[&str], pace: &mut Pace<'_>) -> bool {
        let mut open = vec![name];
        let mut seen = std::collections::HashSet::new();
        while let Some(one) = open.pop().filter(|_| pace.spend(1)) {
            if wanted.contains(&self.names.text(one)) {
                return true;
            }
            if seen.insert(one)
                && let Some((_, class)) = self.class(one)
            {
                open.extend(&class.parents);
            }
        }
        false
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
