//! Everything that is on disk about a run, with one schema: all that write or read a run's folder use these types.

pub mod asked;
mod chain;
pub mod cluster;
pub mod event;
mod extend;
mod folder;
pub mod health;
mod identity;
pub mod incident;
mod journal;
mod lock;
pub mod merge;
mod repeats;
mod round;
mod run_folder;
pub mod session;
mod shard_file;
mod spaces;
pub mod state;
mod step;
pub mod tables;
mod timing;
mod trial_file;
mod trial_files;

pub use self::chain::{Broken, Chain};
pub use self::folder::{Place, Prepared, Programs, prepare};
pub use self::identity::{Identity, PluginFile, ProgramFile};
pub use self::journal::{Journal, finished, has_begun, is_finished, reached, under_way};
pub use self::lock::{Lock, try_folder};
pub use self::repeats::Repeats;
pub use self::round::RoundFile;
pub use self::run_folder::RunFolder;
pub use self::shard_file::read_shard;
pub use self::spaces::Spaces;
pub use self::step::Step;
pub use self::timing::{Timed, TimingFile, seconds};
pub use self::trial_file::{read_trial, write_trials};
pub use self::trial_files::{Evaluation, TrialFiles};

/// The version of all that is written here. A folder of another version is refused.
pub const FORMAT: u32 = 2;

/// The plan of a run, as a manifest.
pub const PLAN: &str = "plan.yaml";
/// The folder of the trials.
pub const TRIALS: &str = "trials";

/// Why something cannot be recorded, or what is recorded cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RecordError(String);

impl RecordError {
    pub(crate) fn cannot(what: &'static str, path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self(format!("cannot {what} {}: {error}", path.display()))
    }
}

/// Every line that can be read. A torn one is passed over, and so is one of a kind that is not known here.
pub fn parse_lines<T: for<'de> serde::Deserialize<'de>>(bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}
