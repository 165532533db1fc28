//! Files: heads, sizes, names, no orphans, rooms as in the table, the top of the checkout, no vendor's name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::source::{Module, declared, modules, room_of};
use super::table::{DOTFILES, EMPTY_NAMES, FILE_LINES, HALLS, HANDLER_LINES, HANDLERS, LITTER, ROOMS, TOP};
use super::{files_below, none, read, root};

#[test]
fn every_file_says_at_its_head_what_it_is_for() {
    let files = files_below("src").into_iter().chain(files_below("tests/it"));
    let rust = files.filter(|file| file.extension().is_some_and(|end| end == "rs") && file != Path::new("src/lib.rs"));
    let broken: Vec<String> =
        rust.filter(|file| !read(file).starts_with("//! ")).map(|file| file.display().to_string()).collect();
    none("Files without a `//!` head:", &broken);
}

#[test]
fn no_file_is_longer_than_400_lines_without_its_tests() {
    let count = |module: &Module| (lines_without_tests(&module.text), module.file.display().to_string());
    let counted = modules().iter().filter(|module| !module.is_test).map(count).collect::<Vec<_>>();
    let long = counted.iter().filter(|(lines, _)| *lines > FILE_LINES);
    none("Files that are too long:", &long.map(|(lines, file)| format!("{file}: {lines} lines")).collect::<Vec<_>>());
}

/// Lines outside `#[cfg(test)] mod … { … }`. Formatted source: a module at the margin ends with a brace at the margin.
fn lines_without_tests(text: &str) -> usize {
    let mut counted = 0;
    let mut in_tests = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let begins = line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
        in_tests |= begins;
        counted += usize::from(!in_tests);
        in_tests &= line != "}";
    }
    counted
}

#[test]
fn no_handler_is_longer_than_40_lines() {
    let mut broken = Vec::new();
    for file in HANDLERS.iter().flat_map(|folder| files_below(folder)) {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (start, line) in lines.iter().enumerate().filter(|(_, line)| line.contains("async fn ")) {
            let indent = line.len() - line.trim_start().len();
            let end = lines[start..].iter().position(|line| *line == format!("{}}}", " ".repeat(indent))).unwrap_or_default();
            if end + 1 > HANDLER_LINES {
                broken.push(format!("{}:{}: {} lines", file.display(), start + 1, end + 1));
            }
        }
    }
    none("Handlers that are too long:", &broken);
}

#[test]
fn no_name_is_empty_of_meaning() {
    let files = files_below("src").into_iter().chain(files_below("tests/it"));
    let says_nothing = |part: &str| EMPTY_NAMES.contains(&part.trim_end_matches(".rs"));
    let broken = files.filter(|file| file.iter().any(|part| says_nothing(&part.to_string_lossy())));
    none("Names that say nothing:", &broken.map(|file| file.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn every_file_is_declared_as_a_module() {
    let all = modules();
    let declared: BTreeSet<Vec<String>> = all.iter().flat_map(|module| declared(module, false)).collect();
    let is_root = |module: &Module| module.path == ["main"] || module.path == ["lib"];
    let orphans = all.iter().filter(|module| !is_root(module) && !declared.contains(&module.path));
    none("Files that no `mod` declares:", &orphans.map(|module| module.file.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn every_folder_has_a_mod_file() {
    let files: BTreeSet<_> = files_below("src").into_iter().collect();
    let folders: BTreeSet<_> =
        files.iter().filter_map(|file| file.parent()).filter(|folder| *folder != Path::new("src")).collect();
    let rust = |folder: &&Path| {
        files.iter().any(|file| file.parent() == Some(folder) && file.extension().is_some_and(|end| end == "rs"))
    };
    let broken = folders.into_iter().filter(rust).filter(|folder| !files.contains(&folder.join("mod.rs")));
    none(
        "Folders without mod.rs, which states a folder's rule:",
        &broken.map(|folder| folder.display().to_string()).collect::<Vec<_>>(),
    );
}

#[test]
fn every_folder_is_a_room_of_the_table() {
    let mut broken = Vec::new();
    for hall in HALLS.iter().map(|hall| root().join(hall)).filter(|hall| hall.is_dir()) {
        for folder in
            fs::read_dir(&hall).expect("a folder").map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir())
        {
            let inside = folder.strip_prefix(root().join("src")).expect("below src");
            let path: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            // Tests of a room are no room: they may reach into what they test.
            let tests = path.last().is_some_and(|last| last == "tests");
            if !tests && room_of(&path) != path.join("::") {
                broken.push(inside.display().to_string());
            }
        }
    }
    none("Folders without a row in ROOMS:", &broken);
}

#[test]
fn every_room_of_the_table_exists() {
    let exists = |name: &str| {
        let path = root().join("src").join(name.replace("::", "/"));
        path.join("mod.rs").is_file() || path.with_extension("rs").is_file()
    };
    let absent = ROOMS.iter().filter(|room| !room.name.is_empty() && !exists(room.name));
    none("Rows of ROOMS without a room:", &absent.map(|room| room.name.to_owned()).collect::<Vec<_>>());
}

#[test]
fn the_top_of_the_checkout_holds_what_it_should_and_no_more() {
    let mut there: Vec<String> = fs::read_dir(root())
        .expect("the checkout")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| !LITTER.contains(&name.as_str()))
        .collect();
    there.sort();
    let (dotted, plain): (Vec<String>, Vec<String>) = there.into_iter().partition(|name| name.starts_with('.'));
    assert_eq!(plain, TOP, "the top of the checkout");
    let unknown: Vec<String> = dotted.into_iter().filter(|name| !DOTFILES.contains(&name.as_str())).collect();
    none("Dotfiles without a place in DOTFILES:", &unknown);
}

#[test]
fn no_vendor_is_named() {
    // Put together here, so that this file does not name them either.
    let names = [["z", "ast"].concat()];
    let lock = |file: &Path| file.ends_with("Cargo.lock") || file.ends_with("package-lock.json");
    let folders = ["src", "templates", "static", "config", "tests/it", "tests/browser", ".ci", ".github", ".cargo", ".config"];
    let tops = TOP.iter().chain(DOTFILES).map(|name| Path::new(name).to_owned()).filter(|path| root().join(path).is_file());
    let mut broken = Vec::new();
    for file in folders.iter().flat_map(|folder| files_below(folder)).chain(tops).filter(|file| !lock(file)) {
        let text = fs::read(root().join(&file)).map(|bytes| String::from_utf8_lossy(&bytes).to_lowercase()).unwrap_or_default();
        // One file name of the wire holds it; it stands in the contract and nowhere else.
        let wire = format!("\"{}.txt\"", names[0]);
        let text = if file == Path::new("src/contract/domains.rs") { text.replacen(&wire, "", 1) } else { text };
        let searched = file.to_string_lossy().to_lowercase() + "\n" + &text;
        broken.extend(names.iter().filter(|name| searched.contains(*name)).map(|name| format!("{}: {name}", file.display())));
    }
    none("Vendor names:", &broken);
}
