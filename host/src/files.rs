//! Files that a crash, a kill or a full disk leaves whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Writes a file that others see either as it was or as it will be, and that is on disk before this returns.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// [`replace`] for what is written bit by bit.
pub(crate) fn replace_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&new)?;
        write(&mut file)?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        path.parent().map_or(Ok(()), sync_folder)
    })();
    if written.is_err() {
        // Half a file helps nobody, and on a full disk it is in the way.
        let _ = std::fs::remove_file(&new);
    }
    written
}

/// Puts the names in a folder on disk: a new file's content alone does not survive a crash.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    // A relative path of one part has an empty parent. On other systems than Unix, folders cannot be opened.
    match folder {
        _ if !cfg!(unix) => Ok(()),
        folder if folder.as_os_str().is_empty() => File::open(".")?.sync_all(),
        folder => File::open(folder)?.sync_all(),
    }
}

/// The last whole line of a file without its end; `None` where there is none, or it is longer than `most`.
pub(crate) fn last_line(path: &Path, most: u64) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') else { return Ok(None) };
    let before = bytes[..end].iter().rposition(|&byte| byte == b'\n');
    let begin = match before {
        Some(before) => before + 1,
        None if start == 0 => 0,
        None => return Ok(None),
    };
    Ok(String::from_utf8(bytes[begin..end].to_vec()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        replace(&path, b"one").unwrap();
        let failed = replace_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    }

    #[test]
    fn the_last_whole_line_is_found_from_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let last = |text: &str| {
            std::fs::write(&path, text).unwrap();
            last_line(&path, 8).unwrap()
        };
        assert_eq!(last(""), None);
        assert_eq!(last("torn"), None);
        assert_eq!(last("one\n").as_deref(), Some("one"));
        assert_eq!(last("a long one\ntwo\n").as_deref(), Some("two"));
        assert_eq!(last("a long one\ntwo\nto").as_deref(), Some("two"));
        assert_eq!(last("longer than that\n"), None);
    }
}
