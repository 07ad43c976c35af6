//! A plugin's code as it was when it was checked: a copy that nobody can change.
//!
//! A library is read from its file bit by bit while it runs. Written over, as `cp` does, it would end the process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// What tells one state of a file from another: where it is, how long, and when it was changed.
type State = (u64, u64, u64, i64, i64, i64, i64);

/// A copy of a file in memory, sealed; where the system has none to give, the file itself. One for each state of a file,
/// however often it is asked for, and for as long as the process lives: what is loaded is never let go.
pub(super) fn copy(file: File) -> io::Result<&'static File> {
    static COPIES: Mutex<BTreeMap<State, &'static File>> = Mutex::new(BTreeMap::new());
    let state = state(&file)?;
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(copy) = state.and_then(|state| copies.get(&state).copied()) {
        return Ok(copy);
    }
    let copy = keep(sealed(file)?);
    copies.extend(state.map(|state| (state, copy)));
    Ok(copy)
}

/// A file that stays open.
pub(super) fn keep(file: File) -> &'static File {
    Box::leak(Box::new(file))
}

fn state(file: &File) -> io::Result<Option<State>> {
    let found = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Nobody can set the last two.
        let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
        Ok(Some((found.dev(), found.ino(), found.len(), times.0, times.1, times.2, times.3)))
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        Ok(None)
    }
}

fn sealed(file: File) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{MemfdFlags, memfd_create};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Systems before 6.3 do not know the word; some later ones want it.
        let made =
            memfd_create("plugin", flags | MemfdFlags::EXEC).or_else(|_| memfd_create("plugin", flags));
        if let Ok(made) = made {
            let (mut copy, mut file) = (File::from(made), file);
            file.rewind()?;
            // Without room for a copy, the file that was checked serves itself.
            if io::copy(&mut file, &mut copy).is_err() {
                file.rewind()?;
                return Ok(file);
            }
            seal(&copy)?;
            return Ok(copy);
        }
    }
    Ok(file)
}

/// The system is busy while it holds a page of the copy itself, as it does when it looks for memory to give back: it waits
/// for a sixth of a second and gives up. Nobody else has the copy, so it can be asked again.
#[cfg(target_os = "linux")]
fn seal(copy: &File) -> io::Result<()> {
    use rustix::fs::{SealFlags, fcntl_add_seals};
    const TRIES: usize = 30;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    for _ in 1..TRIES {
        match fcntl_add_seals(copy, seals) {
            Err(rustix::io::Errno::BUSY) => std::thread::sleep(std::time::Duration::from_millis(20)),
            sealed => return Ok(sealed?),
        }
    }
    Ok(fcntl_add_seals(copy, seals)?)
}

/// The SHA-256 of a file's content.
pub(super) fn sha256(file: &File) -> io::Result<[u8; 32]> {
    let mut file = file.try_clone()?;
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            count => hash.update(&buffer[..count]),
        }
    }
}
