//! The tree in `src/ARCHITECTURE.md` equals the tree on disk. It is made from the disk and the files' own heads: a failure
//! prints the block to put there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{files_below, read, root};

const DRAWN: [&str; 4] = ["src", "templates", "static", "config"];
const WIDTH: usize = 110;

#[test]
fn the_tree_in_the_architecture_is_the_tree_on_disk() {
    let drawn = drawing();
    let text = read(Path::new("src/ARCHITECTURE.md"));
    let there = text.split("```text tree\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    if there != drawn {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tree.txt");
        std::fs::write(&copy, &drawn).expect("the test's own folder can be written");
        panic!("put this between ```text tree and ``` in src/ARCHITECTURE.md (also in {}):\n{drawn}", copy.display());
    }
}

fn drawing() -> String {
    let mut folders: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for file in DRAWN.iter().filter(|folder| root().join(folder).is_dir()).flat_map(|folder| files_below(folder)) {
        let folder = file.parent().expect("a folder").to_owned();
        // Folders above, which may hold folders only.
        for above in folder.ancestors().filter(|above| *above != Path::new("")) {
            folders.entry(above.to_owned()).or_default();
        }
        folders.entry(folder).or_default().push(file.file_name().expect("a name").to_string_lossy().into_owned());
    }
    let mut drawn = String::new();
    for (folder, files) in &folders {
        let indent = "  ".repeat(folder.iter().count() - 1);
        let name = folder.file_name().expect("a name").to_string_lossy();
        let purpose = purpose(&folder.join("mod.rs"));
        let _ = writeln!(drawn, "{}", format!("{indent}{name}/  {purpose}").trim_end());
        let inner = format!("{indent}    ");
        let mut line = inner.clone();
        for file in files {
            if line.len() + file.len() > WIDTH && line != inner {
                let _ = writeln!(drawn, "{}", line.trim_end());
                line.clone_from(&inner);
            }
            line.push_str(file);
            line.push(' ');
        }
        if line != inner {
            let _ = writeln!(drawn, "{}", line.trim_end());
        }
    }
    drawn
}

/// The first sentence at the head of a folder's `mod.rs`, up to where it goes into detail.
fn purpose(file: &Path) -> String {
    let text = read(file);
    let head: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let head = head.join(" ");
    let first = head.split(". ").next().unwrap_or_default();
    first.split(": ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}
