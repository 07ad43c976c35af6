//! Single values of a point that is evaluated several times: on disk until all of them stand in the journal, so that none
//! is asked for twice.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files;
use crate::plan::hex;

pub(super) const REPEATS: &str = "repeats.jsonl";

/// The file in a trial's folder. Several processes may add to it.
pub struct Repeats {
    file: File,
    /// What was read so far, by the seed of the value.
    values: BTreeMap<u64, f64>,
    read: u64,
}

/// One value.
#[derive(Serialize, Deserialize)]
struct Line {
    seed: u64,
    value: f64,
    /// A hash of both: a line that was changed is no value.
    check: String,
}

impl Line {
    fn new(seed: u64, value: f64) -> Self {
        let hash = Sha256::digest(format!("{seed} {:x}", value.to_bits()));
        Self { seed, value, check: hex(&hash[..8]) }
    }
}

impl Repeats {
    /// Opens the file in a trial's folder, or begins one.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut file = files::open(&folder.join(REPEATS), files::Access::ReadAndAppend)?;
        let length = file.seek(SeekFrom::End(0))?;
        if length > 0 {
            let mut last = [0];
            file.seek(SeekFrom::Start(length - 1))?;
            file.read_exact(&mut last)?;
            // What follows a torn line stands on one of its own.
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(Self { file, values: BTreeMap::new(), read: 0 })
    }

    /// The value with this seed, where it is known.
    pub fn get(&mut self, seed: u64) -> io::Result<Option<f64>> {
        if !self.values.contains_key(&seed) {
            self.read_on()?;
        }
        Ok(self.values.get(&seed).copied())
    }

    /// Keeps a value; it is on disk when this returns.
    pub fn add(&mut self, seed: u64, value: f64) -> io::Result<()> {
        let line = serde_json::to_string(&Line::new(seed, value)).expect("a value is plain data");
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_data()?;
        self.values.insert(seed, value);
        Ok(())
    }

    /// These stand in the journal now.
    pub fn forget(&mut self, seeds: impl Iterator<Item = u64>) {
        for seed in seeds {
            self.values.remove(&seed);
        }
    }

    /// Reads the lines that were added since.
    fn read_on(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        for line in super::parse_lines::<Line>(&bytes[..whole]) {
            if Line::new(line.seed, line.value).check == line.check {
                self.values.insert(line.seed, line.value);
            }
        }
        self.read += whole as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_again_also_by_others_and_torn_or_changed_lines_are_none() {
        let folder = tempfile::tempdir().unwrap();
        let (mut one, mut other) =
            (Repeats::open(folder.path()).unwrap(), Repeats::open(folder.path()).unwrap());
        one.add(1, 0.1 + 0.2).unwrap();
        other.add(u64::MAX, -0.0).unwrap();
        assert_eq!((other.get(1).unwrap(), one.get(2).unwrap()), (Some(0.1 + 0.2), None));
        assert_eq!(one.get(u64::MAX).unwrap().map(f64::to_bits), Some((-0.0_f64).to_bits()));
        let path = folder.path().join(REPEATS);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"value\":0.3", "\"value\":0.4", 1) + "{\"seed\":7,\"va")
            .unwrap();
        let mut again = Repeats::open(folder.path()).unwrap();
        again.add(9, 5.0).unwrap();
        let mut again = Repeats::open(folder.path()).unwrap();
        let found = [1, u64::MAX, 7, 9].map(|seed| again.get(seed).unwrap());
        assert_eq!(found, [None, Some(-0.0), None, Some(5.0)]);
    }
}
