//! One host at a time for a run's folder.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::diagnostic::Diagnostic;
use crate::{clock, files};

/// The file that is locked; it says by whom.
const LOCK: &str = "lock";

/// A run's folder, held for this process until it ends or the value is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes a folder, waiting this long for the process that has it, or says which that is.
    pub fn take_within(folder: &Path, patience: Duration) -> Result<Self, Diagnostic> {
        let begun = Instant::now();
        loop {
            match Self::take(folder) {
                Err(_) if begun.elapsed() < patience => std::thread::sleep(Duration::from_millis(20)),
                taken => return taken,
            }
        }
    }

    /// Takes a folder, or says who has it.
    pub(super) fn take(folder: &Path) -> Result<Self, Diagnostic> {
        let path = folder.join(LOCK);
        let cannot = |what: &str, error: std::io::Error| {
            Diagnostic::new(format!("cannot {what} {}", path.display())).because(error)
        };
        let file = files::open(&path, files::Access::ReadAndWrite);
        let mut file = file.map_err(|error| cannot("open", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(held(file, folder, "wait for it or stop it; another --run-id begins a new run"));
            }
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                tracing::warn!("this file system has no locks: no other host may run {}", folder.display());
            }
            Err(TryLockError::Error(error)) => return Err(cannot("lock", error)),
        }
        let holder = format!("process {} on {}, since {}\n", std::process::id(), machine(), clock::stamp());
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(holder.as_bytes()));
        written.map_err(|error| cannot("write", error))?;
        Ok(Self { _file: file })
    }
}

/// A run's folder that nobody runs as long as the value lives, and many may read: nothing in it is changed.
#[derive(Debug)]
pub(super) struct Reading {
    _file: Option<File>,
}

impl Reading {
    /// Refuses a folder that is being run.
    pub(super) fn begin(folder: &Path) -> Result<Self, Diagnostic> {
        let path = folder.join(LOCK);
        let file = match files::open(&path, files::Access::Read) {
            Ok(file) => file,
            // What is no run is found out by who reads it.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self { _file: None }),
            Err(error) => {
                return Err(Diagnostic::new(format!("cannot open {}", path.display())).because(error));
            }
        };
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Err(held(file, folder, "wait for it or stop it")),
            // A file system without locks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { _file: Some(file) }),
        }
    }
}

/// Who has a folder.
fn held(file: File, folder: &Path, hint: &str) -> Diagnostic {
    let mut holder = String::new();
    // Only a few words are ever written there.
    let _ = file.take(1024).read_to_string(&mut holder);
    let holder = holder.trim();
    let holder = if holder.is_empty() { "another process" } else { holder };
    Diagnostic::new(format!("{} is being run already", folder.display()))
        .because(format!("{holder} holds it"))
        .hint(hint)
}

/// Does what a run does with its folder, in one of its own that is gone when this returns: it is made below `parent`,
/// locked and written to. Answers whether the file system has locks.
pub fn try_folder(parent: &Path) -> Result<bool, Diagnostic> {
    let folder = parent.join(format!(".host-doctor-{}", std::process::id()));
    let cannot = |what: &str, error: std::io::Error| {
        Diagnostic::new(format!("cannot {what} {}", parent.display())).because(error)
    };
    std::fs::create_dir(&folder).map_err(|error| cannot("write to", error))?;
    let path = folder.join(LOCK);
    let tried = files::replace(&path, b"whole\n").map_err(|error| cannot("write to", error)).and_then(|()| {
        let file = files::open(&path, files::Access::ReadAndWrite);
        match file.map(|file| file.try_lock()).map_err(|error| cannot("write to", error))? {
            Ok(()) => Ok(true),
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(false),
            Err(TryLockError::Error(error)) => Err(cannot("lock files in", error)),
            Err(TryLockError::WouldBlock) => Err(Diagnostic::new("a file of our own is locked by others")),
        }
    });
    let removed = std::fs::remove_file(&path).and_then(|()| std::fs::remove_dir(&folder));
    let tried = tried?;
    removed.map_err(|error| cannot("remove files from", error))?;
    Ok(tried)
}

#[cfg(unix)]
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn machine() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this machine".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_tried_and_nothing_is_left_of_it() {
        let folder = tempfile::tempdir().unwrap();
        try_folder(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let nowhere = try_folder(&folder.path().join("nowhere")).unwrap_err();
        assert!(nowhere.message.starts_with("cannot write to"), "{nowhere}");
    }

    #[test]
    fn the_second_is_told_who_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        let refused = Lock::take(folder.path()).unwrap_err();
        let cause = refused.cause.unwrap();
        assert!(cause.starts_with(&format!("process {} on ", std::process::id())), "{cause}");
        drop(lock);
        Lock::take(folder.path()).unwrap();
    }
}
