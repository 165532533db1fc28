//! Keeps the architecture as it is drawn: who may import whom, which room knows which library, sizes, heads, names, and
//! the tree in `src/ARCHITECTURE.md`. The rules are data in `table`; a failure says which rule, where, and what is allowed.

mod files;
mod imports;
mod pages;
mod source;
mod standards;
mod table;
mod tree;

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// The checkout.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder of the checkout, as paths from the checkout, sorted.
fn files_below(folder: &str) -> Vec<PathBuf> {
    let all = WalkDir::new(root().join(folder)).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files = all.filter(|entry| entry.file_type().is_file());
    files.map(|entry| entry.path().strip_prefix(root()).expect("below the checkout").to_owned()).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Fails with all of them, one a line.
fn none(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}\n  {}\n", broken.join("\n  "));
}
