//! The files of waves, looked at before anything takes time.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};

use hw::{DeviceError, Slr};

use super::{BACKEND, options::of_slr};

/// Whether the file of each SLR can be written, without leaving one.
///
/// # Errors
/// [`DeviceError::Backend`] for the first that cannot.
pub(super) fn check(waves: &Path) -> Result<(), DeviceError> {
    for path in Slr::ALL.map(|slr| of_slr(waves, slr)) {
        check_file(&path).map_err(|error| refusal(&path, &format!("{error}; name another file")))?;
    }
    Ok(())
}

/// What is said when waves cannot be written to `path`.
pub(super) fn refusal(path: &Path, why: &str) -> DeviceError {
    let message = format!("waves cannot be written to {}: {why}", path.display());
    DeviceError::Backend { backend: BACKEND, message }
}

fn check_file(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // Opening a pipe would wait for its reader, and what is no file cannot be written from its begin again.
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a regular file")),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_written_and_none_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let waves = folder.path().join("w.fst");
        let names = || fs::read_dir(folder.path()).unwrap().count();
        check(&waves).unwrap();
        assert_eq!(names(), 0);

        let last = of_slr(&waves, Slr::ALL[2]);
        fs::write(&last, "of before").unwrap();
        check(&waves).unwrap();
        assert_eq!((names(), fs::read_to_string(&last).unwrap().as_str()), (1, "of before"));

        fs::remove_file(&last).unwrap();
        fs::create_dir(&last).unwrap();
        let error = check(&waves).unwrap_err().to_string();
        assert!(error.contains("w.slr2.fst: it is not a regular file"), "{error}");
        assert_eq!(names(), 1);
        let error = check(&last.join("no/w.fst")).unwrap_err().to_string();
        assert!(error.contains("no/w.slr0.fst: No such file"), "{error}");
    }
}
