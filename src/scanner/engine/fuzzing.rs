//! What random bytes are thrown at: poms and lock files, as pure functions of the bytes. Only built for that.

use super::lock_files::{self, Kind};
use super::maven_project::{PomFile, resolve};
use crate::config::scanner::Sources;

/// Small bounds, so that a run is short.
const LIMITS: Sources = Sources {
    upload_bytes: 1 << 20,
    analyses: 1,
    wait_seconds: 1,
    pom_bytes: 1 << 20,
    lock_bytes: 1 << 20,
    poms: 10,
    xml_depth: 32,
    parents: 8,
    dependencies: 10_000,
    packages: 10_000,
};

/// Resolves the bytes as poms that lie in each other; a zero byte begins the next one.
pub(in crate::scanner) fn poms(bytes: &[u8]) {
    let file = |(at, content): (usize, &[u8])| PomFile { path: format!("{}pom.xml", "m/".repeat(at)), content: content.to_vec() };
    let _ = resolve(bytes.split(|byte| *byte == 0).enumerate().map(file).collect(), &LIMITS);
}

/// Reads the bytes behind the first one as the kind of lock file that the first one chooses.
pub(in crate::scanner) fn lock_file(bytes: &[u8]) {
    if let Some((kind, content)) = bytes.split_first()
        && let Some(kind) = Kind::ALL.get(usize::from(*kind) % Kind::ALL.len())
    {
        let _ = lock_files::read(*kind, content);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_targets_take_any_bytes() {
        for bytes in [&b""[..], b"\x00", b"\x00<project/>\x00<project><artifactId>a</artifactId></project>", b"\x04[[package]]"] {
            super::poms(bytes);
            super::lock_file(bytes);
        }
    }
}
