//! The saved state of a trial's surrogates and solvers: what a resume need not compute again.
//!
//! A header of one line, then their bytes. The header says how much of which journal they had seen, and has a hash of
//! the bytes: a state that is torn, foreign, of another version or of another journal is passed over, and the trial
//! replayed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files;
use crate::plan::hex;

/// The file in a trial's folder.
const STATE: &str = "state";

/// 1 had the surrogates alone.
const VERSION: u32 = 2;

/// The state of a trial's plugins, and how far they had come.
#[derive(Debug, PartialEq, Eq)]
pub struct State {
    /// How many evaluations the surrogates had observed or passed over.
    pub evaluations: usize,
    /// The hash of the journal up to there.
    pub journal: String,
    /// The bytes of all that have a state.
    pub bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    version: u32,
    evaluations: usize,
    journal: String,
    sha256: String,
}

impl State {
    /// Replaces the state in a trial's folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        files::replace(&folder.join(STATE), &self.encode())
    }

    /// Whether there is one in a trial's folder, whole or not.
    pub fn is_there(folder: &Path) -> bool {
        folder.join(STATE).exists()
    }

    /// The state in a trial's folder, where it is whole.
    pub fn read(folder: &Path) -> Option<Self> {
        Self::decode(&files::read(&folder.join(STATE)).ok()?)
    }

    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let sha256 = hex(&Sha256::digest(&self.bytes));
        let (evaluations, journal) = (self.evaluations, self.journal.clone());
        let header = Header { version: VERSION, evaluations, journal, sha256 };
        let mut file = serde_json::to_vec(&header).expect("a header is plain data");
        file.push(b'\n');
        file.extend(&self.bytes);
        file
    }

    /// Reads what [`encode`](Self::encode) wrote; `None` for anything else.
    pub fn decode(file: &[u8]) -> Option<Self> {
        let end = file.iter().position(|&byte| byte == b'\n')?;
        let header: Header = serde_json::from_slice(&file[..end]).ok()?;
        let bytes = file[end + 1..].to_vec();
        let whole = header.version == VERSION && header.sha256 == hex(&Sha256::digest(&bytes));
        whole.then_some(Self { evaluations: header.evaluations, journal: header.journal, bytes })
    }
}

/// Where the state of a trial is kept on the node that runs it: a folder of this user's in `scratch`, that nobody else can write
/// to, named for the trial's own. It is made where it is not there.
pub fn on_scratch(scratch: &Path, trial: &Path) -> io::Result<PathBuf> {
    let name = hex(&Sha256::digest(trial.as_os_str().as_encoded_bytes()));
    let folder = scratch.join(format!("host-{}", &name[..16]));
    std::fs::create_dir_all(scratch)?;
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::symlink_metadata(&folder)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0
        {
            return Err(io::Error::other(format!("others may write to {}", folder.display())));
        }
    }
    Ok(folder)
}

/// Says when to save: so seldom that it takes a twentieth of the time at most.
pub struct Pace {
    last: Instant,
    cost: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self::new()
    }
}

impl Pace {
    const SHARE: u32 = 20;

    /// The first save is due at once.
    pub fn new() -> Self {
        Self { last: Instant::now(), cost: Duration::ZERO }
    }

    /// Whether it is time to save.
    pub fn due(&self) -> bool {
        self.last.elapsed() >= self.cost * Self::SHARE
    }

    /// A save has been made that began then.
    pub fn saved(&mut self, begun: Instant) {
        self.cost = begun.elapsed();
        self.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> State {
        State { evaluations: 7, journal: "abc".to_owned(), bytes: (0..=255).collect() }
    }

    #[cfg(unix)]
    #[test]
    fn scratch_is_this_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::tempdir().unwrap();
        let of = |trial: &str| on_scratch(&scratch.path().join("deep"), Path::new(trial));
        let folder = of("/data/x/trials/a-seed1").unwrap();
        assert_eq!(of("/data/x/trials/a-seed1").unwrap(), folder);
        assert_ne!(of("/data/y/trials/a-seed1").unwrap(), folder, "another run's");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(of("/data/x/trials/a-seed1").is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(State::read(folder.path()), None);
        state().write(folder.path()).unwrap();
        assert_eq!(State::read(folder.path()), Some(state()));
    }

    #[test]
    fn the_state_of_an_older_version_is_none() {
        let older = r#"{"version":1,"evaluations":7,"journal":"abc","sha256":""#;
        let file = format!("{older}{}\"}}\nbytes", hex(&Sha256::digest(b"bytes")));
        assert_eq!(State::decode(file.as_bytes()), None);
        let current = file.replace("\"version\":1", &format!("\"version\":{VERSION}"));
        assert_eq!(State::decode(current.as_bytes()).map(|state| state.bytes), Some(b"bytes".to_vec()));
    }

    proptest! {
        #[test]
        fn a_state_with_a_wrong_byte_or_a_missing_end_is_none(at in 0_usize..600, bit in 0_u32..8, cut in any::<bool>()) {
            let mut file = state().encode();
            let at = at % file.len();
            if cut {
                file.truncate(at);
            } else {
                file[at] ^= 1 << bit;
            }
            // A changed digit of the count or of the journal's hash is found when it is held against the journal.
            if let Some(read) = State::decode(&file) {
                prop_assert_eq!(read.bytes, state().bytes);
                prop_assert!(read.evaluations != 7 || read.journal != "abc");
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(file in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = State::decode(&file);
        }
    }
}
