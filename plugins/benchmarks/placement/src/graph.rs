//! The communication graph: generated, given, or read from a file.

use std::collections::BTreeMap;
use std::fs;

use plugin_api::rand::RngExt;
use plugin_api::{Error, Result, rng};

use crate::options::{Options, Traffic};

/// Far above every graph that could be placed; it keeps a path like `/dev/zero` from filling the memory.
const LARGEST_FILE: u64 = 1 << 26;

/// Elements, and what they send each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Graph {
    pub(crate) names: Vec<String>,
    /// Pairs of elements, the later one first, with their traffic in both directions.
    pub(crate) edges: Vec<(usize, usize, f64)>,
}

impl Graph {
    /// The graph that the options ask for.
    pub(crate) fn new(options: &Options, seed: u64) -> Result<Self> {
        match (&options.traffic, &options.file) {
            (None, None) => Ok(Self::random(options, options.seed.unwrap_or(seed))),
            (Some(traffic), None) => {
                Self::given(traffic).map_err(|(i, why)| Error::option(format!("traffic[{i}]"), why))
            }
            (None, Some(path)) => {
                Self::read(path).map_err(|why| Error::option("file", format!("`{path}`: {why}")))
            }
            (Some(_), Some(_)) => Err(Error::option("file", "stands beside `traffic`: one of them says it")),
        }
    }

    fn random(options: &Options, seed: u64) -> Self {
        let &Options { elements, density, largest_traffic, .. } = options;
        let rng = &mut rng(seed);
        let mut edges = Vec::new();
        for i in 0..elements {
            for j in 0..i {
                if rng.random::<f64>() < density {
                    edges.push((i, j, f64::from(rng.random_range(1..=largest_traffic))));
                }
            }
        }
        Self { names: (1..=elements).map(|i| format!("e{i}")).collect(), edges }
    }

    /// Elements in the order in which they are named first. A mistake comes with the number of its pair.
    fn given(traffic: &[Traffic]) -> Result<Self, (usize, String)> {
        let mut graph = Self { names: Vec::new(), edges: Vec::new() };
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (i, Traffic { from, to, amount }) in traffic.iter().enumerate() {
            let mut element = |name: &String| {
                if name.is_empty() || name.contains(char::is_whitespace) {
                    return Err((i, format!("`{name}` cannot be the name of an element")));
                }
                Ok(*known.entry(name.clone()).or_insert_with(|| {
                    graph.names.push(name.clone());
                    graph.names.len() - 1
                }))
            };
            let (from, to) = (element(from)?, element(to)?);
            if !amount.is_finite() || *amount < 0.0 {
                return Err((i, format!("traffic is finite and at least 0, not {amount}")));
            }
            // What an element sends itself has no way to go.
            if from != to {
                *sums.entry((from.max(to), from.min(to))).or_default() += amount;
            }
        }
        if graph.names.is_empty() {
            return Err((0, "no element is named".to_owned()));
        }
        graph.edges = sums.into_iter().map(|((i, j), amount)| (i, j, amount)).collect();
        Ok(graph)
    }

    fn read(path: &str) -> Result<Self, String> {
        let cannot = |error: std::io::Error| {
            let from = std::env::current_dir().map(|folder| format!(" from {}", folder.display()));
            format!("cannot be read{}: {error}", from.unwrap_or_default())
        };
        let about = fs::metadata(path).map_err(cannot)?;
        if !about.is_file() {
            return Err("is not a file".to_owned());
        }
        if about.len() > LARGEST_FILE {
            return Err(format!("has {} bytes, more than {LARGEST_FILE}", about.len()));
        }
        Self::parse(&fs::read_to_string(path).map_err(cannot)?)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let (mut traffic, mut lines) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            match words[..] {
                [] => continue,
                [from, to, amount] => {
                    let amount =
                        amount.parse().map_err(|_| format!("line {number}: `{amount}` is no number"))?;
                    traffic.push(Traffic { from: from.to_owned(), to: to.to_owned(), amount });
                    lines.push(number);
                }
                _ => return Err(format!("line {number}: not two names and a number")),
            }
        }
        Self::given(&traffic).map_err(|(i, why)| match lines.get(i) {
            Some(number) => format!("line {number}: {why}"),
            None => why,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_in_both_directions_is_one_edge() {
        let graph =
            Graph::parse("# who whom how much\ncpu dram 5\ndram cpu 2.5 # back\n\ncpu cpu 9\nio cpu 1\n")
                .unwrap();
        assert_eq!(graph.names, ["cpu", "dram", "io"]);
        assert_eq!(graph.edges, [(1, 0, 7.5), (2, 0, 1.0)]);
    }

    #[test]
    fn mistakes_in_a_file_are_told_with_their_line() {
        let mistake = |text: &str| Graph::parse(text).unwrap_err();
        assert_eq!(mistake("a b 1\n\na b\n"), "line 3: not two names and a number");
        assert_eq!(mistake("a b much"), "line 1: `much` is no number");
        assert_eq!(mistake("# nothing\na b -1"), "line 2: traffic is finite and at least 0, not -1");
        assert_eq!(mistake("a b NaN"), "line 1: traffic is finite and at least 0, not NaN");
        assert_eq!(mistake(""), "no element is named");
    }
}
