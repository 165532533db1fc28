//! Reads one class file into names and calls. A class that cannot be read is damaged, never a crash.

use cafebabe::attributes::AttributeData;
use cafebabe::bytecode::Opcode;
use cafebabe::constant_pool::{BootstrapArgument, MethodHandle, NameAndType};
use cafebabe::{ClassFile, MethodAccessFlags, parse_class};

use super::annotations::{self, Annotation};
use super::hidden::{self, Texts, VISIBLE};
use super::room::Room;
use super::shape;
use crate::platform::panics::caught;

/// A class as it is handed to the graph; texts are borrowed for that moment.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) parents: Vec<String>,
    pub(super) file: String,
    pub(super) annotations: Vec<Annotation>,
    pub(super) methods: Vec<Method>,
    /// Whether it has more calls and annotations than its size explains; the rest is missing.
    pub(super) is_cut: bool,
}

#[derive(Debug, Default)]
pub(super) struct Method {
    pub(super) name: String,
    pub(super) descriptor: String,
    pub(super) is_static: bool,
    pub(super) is_public: bool,
    pub(super) has_body: bool,
    pub(super) line: u16,
    pub(super) annotations: Vec<Annotation>,
    pub(super) calls: Vec<Call>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) descriptor: String,
    pub(super) line: u16,
    /// Whether the class of the object decides which method runs.
    pub(super) is_virtual: bool,
}

/// Reads `bytes`, which are changed on the way; `None` when they are no whole class.
pub(super) fn read(bytes: &mut [u8], with_annotations: bool) -> Option<Class> {
    let texts = hidden::hide(bytes)?;
    let bytes: &[u8] = bytes;
    shape::check(bytes, &texts)?;
    // The parser checks, but a panic on bytes that somebody crafted must not end the analysis.
    caught(|| {
        let class = parse_class(bytes).ok()?;
        Some(reduce(bytes, &class, with_annotations.then_some(&texts)))
    })
    .flatten()
}

fn reduce(bytes: &[u8], class: &ClassFile<'_>, texts: Option<&Texts>) -> Class {
    let mut out = Class {
        name: class.this_class.to_string(),
        parents: class.super_class.iter().chain(&class.interfaces).map(ToString::to_string).collect(),
        ..Class::default()
    };
    let mut room = Room::of(bytes.len());
    let mut bootstrap = &Vec::new();
    for attribute in &class.attributes {
        match &attribute.data {
            AttributeData::SourceFile(file) => out.file = file.to_string(),
            AttributeData::BootstrapMethods(methods) => bootstrap = methods,
            AttributeData::Other(raw) if attribute.name == VISIBLE => {
                out.annotations = texts.map(|texts| annotations::read(bytes, texts, raw, &mut room)).unwrap_or_default();
            }
            _ => {}
        }
    }
    for method in &class.methods {
        let mut one = Method {
            name: method.name.to_string(),
            descriptor: method.descriptor.to_string(),
            is_static: method.access_flags.contains(MethodAccessFlags::STATIC),
            is_public: method.access_flags.contains(MethodAccessFlags::PUBLIC),
            ..Method::default()
        };
        for attribute in &method.attributes {
            match &attribute.data {
                AttributeData::Code(code) => {
                    one.has_body = true;
                    let lines = lines(code);
                    one.line = lines.iter().map(|(_, line)| *line).min().unwrap_or(0);
                    for (offset, opcode) in code.bytecode.iter().flat_map(|code| &code.opcodes) {
                        let line = line_at(&lines, *offset);
                        if push_calls(&mut one.calls, opcode, bootstrap, line, &mut room).is_none() {
                            break;
                        }
                    }
                }
                AttributeData::Other(raw) if attribute.name == VISIBLE => {
                    one.annotations = texts.map(|texts| annotations::read(bytes, texts, raw, &mut room)).unwrap_or_default();
                }
                _ => {}
            }
        }
        out.methods.push(one);
    }
    out.is_cut = room.is_used_up;
    out
}

fn lines(code: &cafebabe::attributes::CodeData<'_>) -> Vec<(u16, u16)> {
    let mut all: Vec<(u16, u16)> = code
        .attributes
        .iter()
        .filter_map(|attribute| match &attribute.data {
            AttributeData::LineNumberTable(lines) => Some(lines),
            _ => None,
        })
        .flatten()
        .map(|entry| (entry.start_pc, entry.line_number))
        .collect();
    all.sort_unstable();
    all
}

fn line_at(lines: &[(u16, u16)], offset: usize) -> u16 {
    let after = lines.partition_point(|(start, _)| usize::from(*start) <= offset);
    after.checked_sub(1).and_then(|at| lines.get(at)).map_or(0, |(_, line)| *line)
}

/// Adds what `opcode` calls; `None` when there is no room for it.
fn push_calls(
    calls: &mut Vec<Call>,
    opcode: &Opcode<'_>,
    bootstrap: &[cafebabe::attributes::BootstrapMethodEntry<'_>],
    line: u16,
    room: &mut Room,
) -> Option<()> {
    let mut push = |owner: &str, member: &NameAndType<'_>, is_virtual| {
        let (name, descriptor) = (&*member.name, &*member.descriptor);
        room.take(&[owner, name, descriptor])?;
        let (owner, name, descriptor) = (owner.to_owned(), name.to_owned(), descriptor.to_owned());
        calls.push(Call { owner, name, descriptor, line, is_virtual });
        Some(())
    };
    match opcode {
        Opcode::Invokevirtual(member) | Opcode::Invokeinterface(member, _) => {
            push(&member.class_name, &member.name_and_type, true)
        }
        Opcode::Invokestatic(member) | Opcode::Invokespecial(member) => push(&member.class_name, &member.name_and_type, false),
        Opcode::Invokedynamic(dynamic) => {
            // Lambdas and method references: what they stand for is called sooner or later.
            let arguments = bootstrap.get(usize::from(dynamic.attr_index)).map_or(&[][..], |entry| &entry.arguments);
            arguments.iter().try_for_each(|argument| match argument {
                BootstrapArgument::MethodHandle(MethodHandle { class_name, member_ref, .. })
                    if member_ref.descriptor.starts_with('(') =>
                {
                    push(class_name, member_ref, true)
                }
                _ => Some(()),
            })
        }
        _ => Some(()),
    }
}
