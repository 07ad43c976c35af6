//! When a run was run, on which machine and from which commit: a session for each time that the host worked on it.
//!
//! It stands in a file of its own, because nothing of it follows from the plan.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::{clock, files};

const SESSIONS: &str = "sessions.json";

/// One time that the host worked on a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// In UTC: `2026-01-31T23:59:59Z`.
    pub began: String,
    /// How long it went on; of one that was killed, or still goes on, as far as is known.
    pub seconds: f64,
    /// Whether its trials ended, or were stopped on request.
    pub ended: bool,
    /// The version of this program, with the commit that it was built from where that is known.
    pub host: String,
    /// The commit of the repository that the host was started in, where that is one.
    pub commit: Option<String>,
    pub machine: Machine,
}

/// What a session ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub name: Option<String>,
    pub system: String,
    pub processor: Option<String>,
    pub cores: Option<usize>,
}

#[derive(Default, Serialize, Deserialize)]
struct Sessions {
    sessions: Vec<Session>,
}

/// The session under way. What of it cannot be written is no reason to end a run.
pub struct OpenSession {
    path: PathBuf,
    sessions: Sessions,
    begun: Instant,
}

impl OpenSession {
    /// Begins one in a run's folder.
    pub fn begin(folder: &Path) -> Self {
        let session = Session {
            began: clock::moment(),
            seconds: 0.0,
            ended: false,
            host: env!("HOST_VERSION").to_owned(),
            commit: std::env::current_dir().ok().and_then(|folder| commit(&folder)),
            machine: Machine::this(),
        };
        let mut sessions = Sessions { sessions: read(folder) };
        sessions.sessions.push(session);
        let mut open = Self { path: folder.join(SESSIONS), sessions, begun: Instant::now() };
        open.keep(false);
        open
    }

    /// Writes how long it has gone on, and whether that was all.
    pub fn keep(&mut self, ended: bool) {
        if let Some(session) = self.sessions.sessions.last_mut() {
            session.seconds = (self.begun.elapsed().as_secs_f64() * 10.0).round() / 10.0;
            session.ended = ended;
        }
        self.sessions.write(&self.path);
    }
}

impl Sessions {
    /// They are worth having, and no reason to end anything.
    fn write(&self, path: &Path) {
        let bytes = serde_json::to_vec_pretty(self).expect("sessions are plain data");
        if let Err(error) = files::replace(path, &bytes) {
            tracing::debug!("cannot write {}: {error}", path.display());
        }
    }
}

/// Writes the sessions of a run that was put together from others.
pub(super) fn write(folder: &Path, sessions: Vec<Session>) {
    Sessions { sessions }.write(&folder.join(SESSIONS));
}

/// The sessions of a run, the first one first; none where the file cannot be read.
pub fn read(folder: &Path) -> Vec<Session> {
    let bytes = files::read(&folder.join(SESSIONS)).unwrap_or_default();
    serde_json::from_slice(&bytes).map(|sessions: Sessions| sessions.sessions).unwrap_or_default()
}

impl Machine {
    fn this() -> Self {
        #[cfg(unix)]
        let (name, system) = {
            let names = rustix::system::uname();
            let word = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
            let system = [names.sysname(), names.release(), names.machine()].map(word).join(" ");
            (Some(word(names.nodename())), system)
        };
        #[cfg(not(unix))]
        let (name, system) = (None, format!("{} {}", std::env::consts::OS, std::env::consts::ARCH));
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Self {
            name,
            system,
            processor: model.map(|(_, model)| model.trim().to_owned()),
            cores: std::thread::available_parallelism().ok().map(Into::into),
        }
    }
}

/// The commit that a folder's repository is at. Its files are read and no program is run, which could do anything there.
fn commit(folder: &Path) -> Option<String> {
    let found = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let read = |path: PathBuf| std::fs::read_to_string(path).ok();
    // In a work tree of its own, the repository is where this file says.
    let git = match read(found.clone()) {
        Some(text) => found.parent()?.join(text.strip_prefix("gitdir:")?.trim()),
        None => found,
    };
    let shared = read(git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common.trim()));
    let head = read(git.join("HEAD"))?;
    let hash = match head.trim().strip_prefix("ref: ") {
        None => head,
        Some(name) if name.split('/').any(|part| part == "..") => return None,
        Some(name) => read(git.join(name)).or_else(|| read(shared.join(name))).or_else(|| {
            let packed = read(shared.join("packed-refs"))?;
            packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
        })?,
    };
    let hash = hash.trim();
    let is_hash = [40, 64].contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_follow_each_other_and_one_that_was_killed_has_not_ended() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_empty());
        drop(OpenSession::begin(folder.path()));
        OpenSession::begin(folder.path()).keep(true);
        let sessions = read(folder.path());
        assert_eq!(sessions.iter().map(|session| session.ended).collect::<Vec<_>>(), [false, true]);
        assert_eq!(sessions[0].machine, sessions[1].machine);
    }

    #[test]
    fn the_commit_is_read_wherever_git_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(commit(&below), None);
        write(".git/HEAD", "ref: refs/heads/main\n");
        write(".git/packed-refs", &format!("# pack-refs\n{two} refs/heads/other\n{one} refs/heads/main\n"));
        assert_eq!(commit(&below), Some(one.clone()));
        write(".git/refs/heads/main", &format!("{two}\n"));
        assert_eq!(commit(&below), Some(two.clone()));
        write(".git/HEAD", &format!("{one}\n"));
        assert_eq!(commit(&below), Some(one));
        // A work tree beside it.
        write("tree/.git", "gitdir: ../.git/worktrees/tree\n");
        write(".git/worktrees/tree/HEAD", "ref: refs/heads/main\n");
        write(".git/worktrees/tree/commondir", "../..\n");
        assert_eq!(commit(&folder.path().join("tree")), Some(two));
        write(".git/HEAD", "ref: ../../secret\n");
        assert_eq!(commit(&below), None);
    }
}
