//! A plugin's code as it was when it was checked: a copy that nobody can change.
//!
//! A library is read from its file bit by bit while it runs. Written over, as `cp` does, it would end the process.

use std::fs::File;
use std::io::{self, Read, Seek};

use sha2::{Digest, Sha256};

/// A copy of a file in memory, sealed; where the system has none to give, the file itself.
pub(super) fn copy(file: File) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Systems before 6.3 do not know the word; some later ones want it.
        let made =
            memfd_create("plugin", flags | MemfdFlags::EXEC).or_else(|_| memfd_create("plugin", flags));
        if let Ok(made) = made {
            let (mut copy, mut file) = (File::from(made), file);
            file.rewind()?;
            io::copy(&mut file, &mut copy)?;
            let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
            fcntl_add_seals(&copy, seals)?;
            return Ok(copy);
        }
    }
    Ok(file)
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
