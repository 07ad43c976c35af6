//! Files that a crash, a kill or a full disk leaves whole, in folders that may come from anybody: no link in them is
//! followed, and nothing but plain files is opened.

pub(crate) mod csv;
pub(crate) mod json;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder, opened once: what is made in it is made there, whatever its path leads to by then.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    #[cfg(unix)]
    folder: File,
}

/// What the names of files that are not whole yet end with.
const UNFINISHED: &str = ".new";

impl Folder {
    /// Opens a folder that somebody named: links on the way to it are theirs.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        // A relative path of one part has an empty parent.
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self {
            path: path.to_owned(),
            #[cfg(unix)]
            folder: File::open(path).and_then(|folder| match folder.metadata()?.is_dir() {
                true => Ok(folder),
                false => Err(io::ErrorKind::NotADirectory.into()),
            })?,
        })
    }

    /// Makes a folder that somebody named, where it is not there yet.
    pub(crate) fn make(path: &Path) -> io::Result<Self> {
        if !path.as_os_str().is_empty() {
            std::fs::create_dir_all(path)?;
        }
        Self::open(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes or opens a folder in this one; a link in its place is refused.
    pub(crate) fn below(&self, name: &str) -> io::Result<Self> {
        let path = self.path.join(name);
        #[cfg(unix)]
        {
            use rustix::fs::{Mode, OFlags, mkdirat, openat};
            match mkdirat(&self.folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = openat(&self.folder, name, flags, Mode::empty()).map_err(|error| match error {
                rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR => in_the_way(&path),
                error => error.into(),
            })?;
            Ok(Self { path, folder: folder.into() })
        }
        #[cfg(not(unix))]
        {
            refuse_links(&path)?;
            Self::make(&path)
        }
    }

    /// Writes a file that others see either as it was or as it will be, and that is on disk before this returns. A link or
    /// a folder of this name is refused.
    pub(crate) fn replace_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.check(name)?;
        let (mut file, new) = self.fresh(name)?;
        let written = write(&mut file).and_then(|()| file.sync_all()).and_then(|()| self.rename(&new, name));
        if written.is_err() {
            // Half a file helps nobody, and on a full disk it is in the way.
            let _ = self.remove(&new);
        }
        written.and_then(|()| self.sync())
    }

    /// [`replace_with`](Self::replace_with) for what is there already.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.replace_with(name, |file| file.write_all(bytes))
    }

    /// Whether there is something of this name; a link or a folder is refused.
    pub(crate) fn check(&self, name: &str) -> io::Result<bool> {
        // What stands here may change until it is written, but a rename follows no link.
        match self.kind(name) {
            Ok(true) => Ok(true),
            Ok(false) => Err(in_the_way(&self.path.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a file; of a link, the link.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        #[cfg(unix)]
        {
            Ok(rustix::fs::unlinkat(&self.folder, name, rustix::fs::AtFlags::empty())?)
        }
        #[cfg(not(unix))]
        {
            std::fs::remove_file(self.path.join(name))
        }
    }

    /// Keeps others who ask for it out of this folder until the value is dropped. Where that cannot be had, or somebody
    /// has it for longer than `patience`, it goes without: every file is whole all the same.
    #[must_use]
    pub(crate) fn hold(&self, patience: std::time::Duration) -> Option<Held> {
        #[cfg(unix)]
        {
            use rustix::fs::{FlockOperation, flock};
            let own = rustix::fs::openat(
                &self.folder,
                ".",
                rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
                rustix::fs::Mode::empty(),
            );
            let own = own.ok()?;
            let begun = std::time::Instant::now();
            while begun.elapsed() < patience {
                match flock(&own, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => return Some(Held { _folder: own.into() }),
                    Err(rustix::io::Errno::WOULDBLOCK) => {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                    }
                    Err(_) => return None,
                }
            }
        }
        let _ = patience;
        None
    }

    /// Removes what writers that were killed have left unfinished here.
    pub(crate) fn clear(&self) {
        for entry in std::fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| name.starts_with('.') && name.ends_with(UNFINISHED))
            else {
                continue;
            };
            // Who is at it holds it.
            if let Ok(file) = open(&self.path.join(name), Access::Read)
                && file.try_lock().is_ok()
            {
                let _ = self.remove(name);
            }
        }
    }

    /// A file of a name that nobody has.
    fn fresh(&self, name: &str) -> io::Result<(File, String)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let new = format!(".{name}.{}-{number}{UNFINISHED}", std::process::id());
            match self.create_new(&new) {
                Ok(file) => {
                    // So that nobody clears it away; without locks, nobody does either.
                    let _ = file.try_lock();
                    return Ok((file, new));
                }
                // Of a process that had this number before.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100_000 => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn create_new(&self, name: &str) -> io::Result<File> {
        #[cfg(unix)]
        {
            use rustix::fs::{Mode, OFlags, openat};
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(openat(&self.folder, name, flags, Mode::from_raw_mode(0o666))?.into())
        }
        #[cfg(not(unix))]
        {
            File::create_new(self.path.join(name))
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        #[cfg(unix)]
        {
            Ok(rustix::fs::renameat(&self.folder, from, &self.folder, to)?)
        }
        #[cfg(not(unix))]
        {
            std::fs::rename(self.path.join(from), self.path.join(to))
        }
    }

    /// Whether what has this name is a plain file.
    fn kind(&self, name: &str) -> io::Result<bool> {
        #[cfg(unix)]
        {
            use rustix::fs::{AtFlags, FileType, statat};
            let found = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
        }
        #[cfg(not(unix))]
        {
            std::fs::symlink_metadata(self.path.join(name)).map(|found| found.is_file())
        }
    }

    /// Puts the names in the folder on disk: a new file's content alone does not survive a crash.
    fn sync(&self) -> io::Result<()> {
        #[cfg(unix)]
        self.folder.sync_all()?;
        Ok(())
    }
}

/// A folder that others wait for.
pub(crate) struct Held {
    _folder: File,
}

/// [`Folder::replace`] by a path.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = parted(path)?;
    folder.replace(name, bytes)
}

fn parted(path: &Path) -> io::Result<(Folder, &str)> {
    let name = path.file_name().and_then(OsStr::to_str).ok_or(io::ErrorKind::InvalidFilename)?;
    Ok((Folder::open(path.parent().unwrap_or(Path::new("")))?, name))
}

/// From now on a write beyond the limit of file sizes (`ulimit -f`) is an error like any other; by itself the system would
/// end the process. What this process starts is not concerned.
pub(crate) fn survive_size_limits() {
    #[cfg(unix)]
    {
        let heard = std::sync::Arc::default();
        if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard) {
            tracing::debug!("a limit of file sizes would end this process: {error}");
        }
    }
}

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Made where it is not there.
    ReadAndWrite,
    /// Made where it is not there.
    Append,
    /// The same, and what is there can be read.
    ReadAndAppend,
}

/// Opens a plain file, and nothing that a link, a device or a pipe of its name would lead to.
pub(crate) fn open(path: &Path, access: Access) -> io::Result<File> {
    let mut options = File::options();
    match access {
        Access::Read => options.read(true),
        Access::ReadAndWrite => options.read(true).write(true).create(true).truncate(false),
        Access::Append => options.append(true).create(true),
        Access::ReadAndAppend => options.read(true).append(true).create(true),
    };
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe without a writer would be waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(flags.bits().try_into().map_err(io::Error::other)?);
    }
    #[cfg(not(unix))]
    refuse_links(path)?;
    let file = options.open(path).map_err(|error| match is_link(path) {
        true => in_the_way(path),
        false => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(in_the_way(path)) }
}

/// The content of a plain file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, Access::Read)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuses a path where one of these parts below `root` is a link.
pub(crate) fn refuse_links_below(root: &Path, parts: &[&str]) -> io::Result<()> {
    let mut path = root.to_owned();
    parts.iter().try_for_each(|part| {
        path.push(part);
        refuse_links(&path)
    })
}

fn refuse_links(path: &Path) -> io::Result<()> {
    if is_link(path) { Err(in_the_way(path)) } else { Ok(()) }
}

fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

fn in_the_way(path: &Path) -> io::Error {
    let what = if is_link(path) { "a link" } else { "something that is no plain file" };
    io::Error::other(format!("{what} is in the way at {}", path.display()))
}

/// Puts the names in a folder on disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    Folder::open(folder)?.sync()
}

/// The last whole line of a file without its end; `None` where there is none. No more than that is read of it.
pub(crate) fn last_line(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = open(path, Access::Read)?;
    let length = file.metadata()?.len();
    let mut most = 1 << 12;
    loop {
        let start = length.saturating_sub(most);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(length - start).read_to_end(&mut bytes)?;
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        let before = end.and_then(|end| bytes[..end].iter().rposition(|&byte| byte == b'\n'));
        match (end, before) {
            (Some(end), Some(before)) => return Ok(Some(bytes[before + 1..end].to_vec())),
            (Some(end), None) if start == 0 => return Ok(Some(bytes[..end].to_vec())),
            (None, _) if start == 0 => return Ok(None),
            _ => most *= 4,
        }
    }
}

/// The last bytes of a file, this many at most.
pub(crate) fn end(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path, Access::Read)?;
    let start = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    // A file that somebody writes to may have grown since.
    Read::by_ref(&mut file).take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
