//! Instances of the Biq Mac library (Wiegele 2007), and its text format.
//!
//! `NAME.sparse` has a line `n m` and then m lines `i j w`, from 1: minimize Σ wᵢᵢ xᵢ + 2 Σ_{i<j} wᵢⱼ xᵢ xⱼ.

use std::fmt::Write as _;
use std::path::Path;

use plugin_api::serde::Deserialize;
use plugin_api::{Quadratic, serde_json};

use crate::Instance;

/// The files are not ours to redistribute, so they are read from a folder beside the workspace, if there is one; its
/// `best-known.json` lists them.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/golden/biqmac");

#[derive(Deserialize)]
#[serde(crate = "plugin_api::serde")]
struct Known {
    name: String,
    n: usize,
    best: f64,
    proven_optimal: bool,
}

/// The instances of at most `n` bits, smallest first. Where there is no folder of them: none, and a line that says so.
///
/// # Panics
/// Where the folder is damaged.
pub fn biq_mac_up_to(n: usize) -> Vec<Instance> {
    let folder = Path::new(FOLDER);
    if !folder.exists() {
        eprintln!("skipped: the instances of the Biq Mac library, because there is no folder {FOLDER}");
        return Vec::new();
    }
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let known: Vec<Known> = serde_json::from_str(&read("best-known.json")).expect("a list of instances");
    let mut known: Vec<Known> = known.into_iter().filter(|known| known.n <= n).collect();
    known.sort_by(|a, b| (a.n, &a.name).cmp(&(b.n, &b.name)));
    let instance = |Known { name, n, best, proven_optimal }| {
        let function = from_sparse(&read(&format!("{name}.sparse")));
        assert_eq!(function.dimension(), n, "{name}");
        Instance { name, function, best_known: best, proven: proven_optimal }
    };
    known.into_iter().map(instance).collect()
}

fn from_sparse(text: &str) -> Quadratic {
    let mut numbers = text.split_ascii_whitespace().map(|word| word.parse::<i32>().expect("an integer"));
    let mut next = || numbers.next();
    let (n, entries) = next().zip(next()).expect("a size and a number of entries");
    let mut f = Quadratic::zero(n as usize);
    for _ in 0..entries {
        let (i, (j, weight)) = next().zip(next().zip(next())).expect("an entry");
        let (i, j) = (i as usize - 1, j as usize - 1);
        if i == j {
            f.add_linear(i, weight.into());
        } else {
            f.add_pair(i, j, 2.0 * f64::from(weight));
        }
    }
    assert!(next().is_none(), "more entries than said");
    f
}

/// The text of a function without a constant.
pub fn to_sparse(f: &Quadratic) -> String {
    let n = f.dimension();
    let single = (0..n).map(|i| (i, i, f.linear()[i]));
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j, f.pair(i, j) / 2.0)));
    let mut entries: Vec<_> = single.chain(pairs).filter(|(.., weight)| *weight != 0.0).collect();
    entries.sort_by_key(|&(i, j, _)| (i, j));
    let mut text = format!("{n} {}\n", entries.len());
    for (i, j, weight) in entries {
        writeln!(text, "{} {} {weight}", i + 1, j + 1).expect("a string takes all text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances_up_to;

    #[test]
    fn an_entry_off_the_diagonal_counts_twice() {
        let f = from_sparse("3 3\n1 1 5\n2 3 -4\n1 3 7\n");
        assert_eq!((f.linear(), f.pairs()), (&[5.0, 0.0, 0.0][..], &[0.0, 14.0, -8.0][..]));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for instance in instances_up_to(50) {
            assert_eq!(from_sparse(&to_sparse(&instance.function)), instance.function, "{}", instance.name);
        }
    }

    #[test]
    fn the_instances_of_the_library_are_whole_and_small_ones_first() {
        let instances = biq_mac_up_to(usize::MAX);
        assert!(instances.is_empty() || instances.len() == 54);
        assert!(instances.is_sorted_by_key(|instance| instance.function.dimension()));
    }
}
