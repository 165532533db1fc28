//! What a killed service left behind: browsers that name a profile folder below ours, and the folders. Called once at the
//! start, when the data folder is locked by this process, so none of them is anybody's.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::folders;
use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

/// Ends every process that names a profile below `folder` with its group, then removes all profiles. Blocks.
pub(super) fn reap(folder: &Path) {
    let Ok(folder) = fs::canonicalize(folder) else { return };
    let ended = named(&folder).into_iter().filter(|process| end(*process)).count();
    let mut removed = 0_usize;
    for profile in fs::read_dir(&folder).into_iter().flatten().flatten() {
        // What was ended a moment ago may still hold a file open, which does not hinder its removal.
        if folders::remove(&profile.path()).or_else(|_| folders::remove(&profile.path())).is_ok() {
            removed += 1;
        }
    }
    if ended + removed > 0 {
        tracing::info!(processes = ended, folders = removed, "what an earlier run's browsers left behind is removed");
    }
}

/// Processes whose command line names something below `folder`.
fn named(folder: &Path) -> Vec<Pid> {
    let mut within = folder.as_os_str().as_bytes().to_vec();
    within.push(b'/');
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        let Some(id) = name.to_str().filter(|name| *name != own).and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
        else {
            continue;
        };
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        // `--user-data-dir=…` of the browser, `--database=…` of its crash handlers.
        let names = line.split(|byte| *byte == 0).any(|argument| {
            let value = argument.iter().position(|byte| *byte == b'=').and_then(|at| argument.get(at + 1..));
            value.is_some_and(|value| argument.starts_with(b"--") && value.starts_with(&within))
        });
        if names {
            found.push(id);
        }
    }
    found
}

/// Ends a process with its group, but never our own group.
fn end(process: Pid) -> bool {
    let group = getpgid(Some(process)).ok().filter(|group| getpgid(None).ok() != Some(*group));
    group.is_some_and(|group| kill_process_group(group, Signal::KILL).is_ok()) || kill_process(process, Signal::KILL).is_ok()
}
