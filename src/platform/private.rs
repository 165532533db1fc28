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

/// Opens a file for writing, made for its owner only (0600) when it is not there. What it holds stays; one that others could
/// read is closed to them, where the system lets us.
///
/// # Errors
/// When the system refuses.
pub fn open(path: &Path) -> io::Result<File> {
    let file = owners().create(true).truncate(false).open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            // Somebody else's file, or a file system without modes: it works as it is.
            let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
        }
    }
    Ok(file)
}

/// Makes a file that must not be there yet, for its owner only (0600).
///
/// # Errors
/// When it is there, or the system refuses.
pub fn create_new(path: &Path) -> io::Result<File> {
    owners().create_new(true).open(path)
}

fn owners() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).map_or(0, |facts| facts.permissions().mode() & 0o777)
    }

    #[test]
    fn what_is_made_is_its_owners_alone() {
        let base = tempfile::tempdir().unwrap();
        let inside = base.path().join("a/b");
        folder(&inside).unwrap();
        assert_eq!((mode(&base.path().join("a")), mode(&inside)), (0o700, 0o700));
        let paths = ["open", "new", "written"].map(|name| inside.join(name));
        open(&paths[0]).unwrap();
        create_new(&paths[1]).unwrap();
        write(&paths[2], b"x").unwrap();
        assert_eq!(paths.each_ref().map(|path| mode(path)), [0o600; 3]);
        assert_eq!(create_new(&paths[1]).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_file_of_an_earlier_run_is_closed_to_others_and_keeps_what_it_holds() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("data");
        fs::write(&path, b"kept").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        open(&path).unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap().as_slice()), (0o600, b"kept".as_slice()));
    }
}
