//! What `src/ARCHITECTURE.md` says is proved by a test has that test.

use super::{files_below, none, read, root};

/// The tests that the table of standards names.
fn named() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("src/ARCHITECTURE.md")).unwrap();
    let section = text.split("## What the standards ask").nth(1).unwrap().split("\n## ").next().unwrap();
    let cells = section.lines().filter_map(|line| line.trim_end_matches('|').rsplit('|').next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn every_test_that_is_named_as_a_proof_is_there() {
    let names = named();
    assert!(names.len() > 20, "{names:?}");
    let sources: String = files_below("src").iter().chain(&files_below("tests/it")).map(|path| read(path)).collect();
    let lost: Vec<String> = names.into_iter().filter(|name| !sources.contains(&format!("fn {name}("))).collect();
    none("tests named in the table of standards that are not there:", &lost);
}
