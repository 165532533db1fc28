//! The source as modules: which file is which module, which of them are tests, and every path a file names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

use super::table::ROOMS;
use super::{files_below, read};

/// A file of `src`.
pub(super) struct Module {
    pub(super) file: PathBuf,
    /// Module path in segments, e.g. `["gateway", "web", "urls"]`.
    pub(super) path: Vec<String>,
    pub(super) text: String,
    pub(super) syntax: syn::File,
    /// Whether it is compiled for tests only.
    pub(super) is_test: bool,
}

/// All modules of `src`.
pub(super) fn modules() -> Vec<Module> {
    let rust = files_below("src").into_iter().filter(|file| file.extension().is_some_and(|end| end == "rs"));
    let mut all: Vec<Module> = rust
        .map(|file| {
            let text = read(&file);
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            Module { path: module_path(&file), file, text, syntax, is_test: false }
        })
        .collect();
    let tests: BTreeSet<Vec<String>> = all.iter().flat_map(|module| declared(module, true)).collect();
    for module in &mut all {
        module.is_test = (1..=module.path.len()).any(|upto| tests.contains(&module.path[..upto]));
    }
    all
}

/// The modules a file declares with `mod name;`: those for tests only, or all.
pub(super) fn declared(module: &Module, tests_only: bool) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for item in &module.syntax.items {
        if let Item::Mod(inner) = item
            && inner.content.is_none()
            && (!tests_only || for_tests(&inner.attrs))
        {
            let base = if module.path == ["main"] || module.path == ["lib"] { &[][..] } else { &module.path[..] };
            // A file under another name than its module's own is in the same folder.
            let (base, name) = match other_file(&inner.attrs) {
                Some(file) => (folder_of(module), file),
                None => (base, inner.ident.to_string()),
            };
            found.push(base.iter().cloned().chain([name]).collect());
        }
    }
    found
}

/// The stem in `#[path = "stem.rs"]`.
fn other_file(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("path")).find_map(|attribute| {
        let syn::Expr::Lit(literal) = &attribute.meta.require_name_value().ok()?.value else { return None };
        let syn::Lit::Str(name) = &literal.lit else { return None };
        Some(name.value().trim_end_matches(".rs").to_owned())
    })
}

/// The module path of the folder a file is in.
fn folder_of(module: &Module) -> &[String] {
    if module.file.ends_with("mod.rs") { &module.path } else { &module.path[..module.path.len() - 1] }
}

fn module_path(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix("src").expect("a file of src").with_extension("");
    let mut path: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    path.pop_if(|last| last == "mod");
    path
}

/// The room a module path is in: the longest that fits.
pub(super) fn room_of(path: &[String]) -> &'static str {
    let name = path.join("::");
    let fits = |room: &&str| room.is_empty() || name == **room || name.starts_with(&format!("{room}::"));
    ROOMS.iter().map(|room| room.name).filter(fits).max_by_key(|room| room.len()).unwrap_or("")
}

fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// Every path a file names outside its tests: own modules as `crate::…`, others by the name of their library.
pub(super) fn paths(module: &Module) -> BTreeSet<Vec<String>> {
    let base = if module.path == ["main"] || module.path == ["lib"] { Vec::new() } else { module.path.clone() };
    let mut collector = Collector { base, found: BTreeSet::new() };
    collector.visit_file(&module.syntax);
    collector.found
}

struct Collector {
    base: Vec<String>,
    found: BTreeSet<Vec<String>>,
}

impl Collector {
    /// Notes a path as written, with `self` and `super` resolved.
    fn note(&mut self, written: &[String]) {
        let mut written = written.iter().map(String::as_str).peekable();
        let mut full: Vec<String> = match written.peek().copied() {
            Some("crate" | "cardea") => {
                written.next();
                vec!["crate".to_owned()]
            }
            Some("self" | "super") => {
                let mut here = self.base.clone();
                while let Some(step) = written.next_if(|step| matches!(*step, "self" | "super")) {
                    if step == "super" {
                        here.pop();
                    }
                }
                ["crate".to_owned()].into_iter().chain(here).collect()
            }
            _ => Vec::new(),
        };
        full.extend(written.map(str::to_owned));
        self.found.insert(full);
    }

    fn note_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => self.note_tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.note(&with(&name.ident)),
            UseTree::Rename(name) => self.note(&with(&name.ident)),
            UseTree::Glob(_) => self.note(before),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_tree(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if for_tests(&item.attrs) {
            return;
        }
        if item.content.is_some() {
            self.base.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.base.pop();
        }
    }

    /// `pub(in crate::scanner)` says who may look, not what is looked at.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let written: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(&written);
        }
        visit::visit_path(self, path);
    }

    /// Inside macros there are only tokens: take what looks like a path.
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let text = item.tokens.to_string();
        let mut path: Vec<String> = Vec::new();
        let mut joined = true;
        let is_word = |token: &str| token.chars().all(|character| character.is_alphanumeric() || character == '_');
        for token in text.replace("::", " :: ").split_whitespace().chain([";"]) {
            if token == "::" {
                joined = true;
            } else {
                let word = is_word(token);
                if !(word && joined && !path.is_empty()) && path.len() > 1 {
                    self.note(&path);
                }
                if !joined || !word {
                    path.clear();
                }
                if word {
                    path.push(token.to_owned());
                }
                joined = false;
            }
        }
        visit::visit_macro(self, item);
    }
}
