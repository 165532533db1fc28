//! Names of entries that are worth a note: those that are there twice, and those that point out of their archive.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use super::notes::{Notes, short};

/// Names of one archive that are worth a note.
#[derive(Default)]
pub(super) struct Names {
    state: RandomState,
    hashes: HashSet<u64>,
    twice: u64,
    climbing: u64,
    example: String,
}

impl Names {
    pub(super) fn look_at(&mut self, name: &str) {
        if !self.hashes.insert(self.state.hash_one(name)) {
            self.twice += 1;
        }
        if name.starts_with(['/', '\\']) || name.contains(':') || name.split(['/', '\\']).any(|part| part == "..") {
            self.climbing += 1;
            if self.example.is_empty() {
                name.clone_into(&mut self.example);
            }
        }
    }

    pub(super) fn report(&self, path: &str, notes: &mut Notes) {
        let Self { twice, climbing, example, .. } = self;
        if *twice > 0 {
            notes.add(format!("{} has {twice} entries whose name it also gives to another; all of them were read.", short(path)));
        }
        if *climbing > 0 {
            notes.add(format!(
                "{} has {climbing} entries whose names point outside of it (for example {}); nothing was written anywhere.",
                short(path),
                short(example)
            ));
        }
    }
}
