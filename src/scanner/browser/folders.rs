//! The folders of a browser: its profile below the data folder, and a short one for its sockets, whose addresses the system
//! limits to about a hundred bytes. The profile holds a link to the short one, so that whoever removes one finds the other.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::platform::digest::hex;
use crate::platform::{private, random};

/// Where short folders are, and how their names begin.
const SHORT: &str = "/tmp";
const PREFIX: &str = "cardea-";
/// Name of the link in a profile.
const LINK: &str = "short";

/// A profile and its short folder.
pub(super) struct Folders {
    pub(super) profile: PathBuf,
    pub(super) short: PathBuf,
}

/// Makes both for a browser below `folder`.
pub(super) fn make(folder: &Path) -> io::Result<Folders> {
    let name = |bytes: Result<[u8; 8], random::Unavailable>| bytes.map(|bytes| hex(&bytes)).map_err(io::Error::other);
    let profile = folder.join(name(random::bytes())?);
    let short = Path::new(SHORT).join(format!("{PREFIX}{}", name(random::bytes())?));
    private::folder(&profile)?;
    // The link first: a short folder that nobody finds would stay for ever.
    symlink(&short, profile.join(LINK))?;
    private::folder(&short)?;
    Ok(Folders { profile, short })
}

/// Removes a profile with its short folder. Blocks.
pub(super) fn remove(profile: &Path) -> io::Result<()> {
    // A page that broke out may have bent the link: only what can be ours is followed.
    let own = |short: &PathBuf| {
        let named = short.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
        named && short.parent() == Some(Path::new(SHORT))
    };
    if let Some(short) = std::fs::read_link(profile.join(LINK)).ok().filter(own) {
        gone(std::fs::remove_dir_all(short))?;
    }
    gone(std::fs::remove_dir_all(profile))
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
