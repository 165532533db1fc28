//! Files and folders that only the user who runs the program can read. Where the system has no such modes, the user's own
//! folder is the protection.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Makes a folder with everything above it, readable for its owner only (0700). An existing folder stays as it is.
///
/// # Errors
/// When the system refuses.
pub fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file for writing, made for its owner only (0600) when it is not there. What it holds stays.
///
/// # Errors
/// When the system refuses.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes a whole file for its owner only (0600): all of it or nothing, also when the power goes.
///
/// # Errors
/// When the system refuses; the file is then as it was.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    // One that was left behind may have other rights.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = open(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}
