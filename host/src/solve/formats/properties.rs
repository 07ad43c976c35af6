//! What holds for any file: what was written is read, and nothing that is written makes a reader panic.

use std::fmt::Write;

use plugin_api::Quadratic;
use proptest::prelude::*;
use serde_json::json;

use super::FORMATS;
use super::input;

/// A format in which problems can be written: the extension that reads it, and what writes it.
type Written = (&'static str, fn(&Quadratic) -> String);

const WRITTEN: [Written; 5] =
    [("json", own_json), ("json", bqm_json), ("sparse", sparse), ("qubo", qubo), ("coo", coo)];

fn own_json(f: &Quadratic) -> String {
    let (n, constant) = (f.dimension(), f.constant());
    json!({ "n": n, "constant": constant, "linear": f.linear(), "pairs": f.pairs() }).to_string()
}

fn bqm_json(f: &Quadratic) -> String {
    let pairs: Vec<(usize, usize, f64)> = pairs(f).collect();
    let column = |pick: fn(&(usize, usize, f64)) -> f64| pairs.iter().map(pick).collect::<Vec<_>>();
    let index = |pick: fn(&(usize, usize, f64)) -> usize| pairs.iter().map(pick).collect::<Vec<_>>();
    json!({
        "type": "BinaryQuadraticModel",
        "version": { "bqm_schema": "3.0.0" },
        "use_bytes": false,
        "index_type": "uint16",
        "bias_type": "float64",
        "num_variables": f.dimension(),
        "num_interactions": pairs.len(),
        "variable_labels": (0..f.dimension()).collect::<Vec<_>>(),
        "variable_type": "BINARY",
        "offset": f.constant(),
        "info": {},
        "linear_biases": f.linear(),
        "quadratic_biases": column(|&(_, _, a)| a),
        "quadratic_head": index(|&(i, _, _)| i),
        "quadratic_tail": index(|&(_, j, _)| j),
    })
    .to_string()
}

fn sparse(f: &Quadratic) -> String {
    let mut text = format!("{} {}\n", f.dimension(), f.dimension() + pairs(f).count());
    for (i, b) in f.linear().iter().enumerate() {
        writeln!(text, "{} {} {b}", i + 1, i + 1).unwrap();
    }
    pairs(f).for_each(|(i, j, a)| writeln!(text, "{} {} {}", i + 1, j + 1, a / 2.0).unwrap());
    text
}

fn qubo(f: &Quadratic) -> String {
    let n = f.dimension();
    format!("c written by a test\np qubo 0 {n} {n} {}\n{}", pairs(f).count(), coo(f))
}

fn coo(f: &Quadratic) -> String {
    let mut text = String::new();
    for (i, b) in f.linear().iter().enumerate() {
        writeln!(text, "{i} {i} {b}").unwrap();
    }
    pairs(f).for_each(|(i, j, a)| writeln!(text, "{i} {j} {a}").unwrap());
    text
}

fn pairs(f: &Quadratic) -> impl Iterator<Item = (usize, usize, f64)> {
    let n = f.dimension();
    let all = (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j, f.pair(i, j))));
    all.filter(|&(_, _, a)| a != 0.0)
}

/// Problems with coefficients of every size whose half and double are exact.
fn problems() -> impl Strategy<Value = Quadratic> {
    let number = || {
        prop_oneof![
            Just(0.0),
            -1000.0..1000.0,
            (-99_i32..99).prop_map(f64::from),
            -1e300..1e300,
            -1e-300..1e-300
        ]
    };
    (1_usize..9).prop_flat_map(move |n| {
        let lists = (prop::collection::vec(number(), n), prop::collection::vec(number(), n * (n - 1) / 2));
        lists.prop_map(|(linear, pairs)| Quadratic::new(0.0, linear, pairs).unwrap())
    })
}

fn read(extension: &str, text: impl Into<Vec<u8>>) -> Result<Quadratic, super::error::Misread> {
    let format = FORMATS.iter().find(|(known, ..)| *known == extension);
    format.expect("a known format").2(&mut input(text))
}

/// What goes wrong in files: a byte or a line is changed, lost or doubled, or the end is missing.
#[derive(Clone, Debug)]
enum Damage {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    CutOff(usize),
    DoubleLine(usize),
    RemoveLine(usize),
}

fn damages() -> impl Strategy<Value = Damage> {
    let byte = || prop_oneof![any::<u8>(), prop::sample::select(b"0129-+.eEinfa \n#cp[]{},:\"".to_vec())];
    prop_oneof![
        (any::<usize>(), byte()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (any::<usize>(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        any::<usize>().prop_map(Damage::Remove),
        any::<usize>().prop_map(Damage::CutOff),
        any::<usize>().prop_map(Damage::DoubleLine),
        any::<usize>().prop_map(Damage::RemoveLine),
    ]
}

fn damage(bytes: &mut Vec<u8>, damage: &Damage) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let count = lines.len();
    match *damage {
        Damage::Replace(at, byte) => bytes[at % length] = byte,
        Damage::Insert(at, byte) => bytes.insert(at % length, byte),
        Damage::Remove(at) => drop(bytes.remove(at % length)),
        Damage::CutOff(at) => bytes.truncate(at % length),
        Damage::DoubleLine(at) => {
            lines.insert(at % count, lines[at % count].clone());
            *bytes = lines.concat();
        }
        Damage::RemoveLine(at) => {
            lines.remove(at % count);
            *bytes = lines.concat();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn what_is_written_in_any_format_is_read(f in problems()) {
        for (extension, write) in WRITTEN {
            prop_assert_eq!(&read(extension, write(&f)).unwrap(), &f);
        }
    }

    #[test]
    fn a_damaged_file_is_read_or_refused_at_a_place_in_it(
        f in problems(),
        which in prop::sample::select(WRITTEN.to_vec()),
        damages in prop::collection::vec(damages(), 1..4),
    ) {
        let (extension, write) = which;
        let mut bytes = write(&f).into_bytes();
        damages.iter().for_each(|one| damage(&mut bytes, one));
        let lines = bytes.split(|&byte| byte == b'\n').count();
        if let Err(misread) = read(extension, bytes) {
            let (line, column) = misread.place;
            prop_assert!((1..=lines).contains(&line) && column >= 1, "{}:{} of {} lines", line, column, lines);
            let shown = misread.diagnostic("f", "").to_string();
            prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", shown);
        }
    }

    #[test]
    fn bytes_of_any_sort_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (extension, ..) in FORMATS {
            let _ = read(extension, bytes.clone());
        }
    }
}

#[test]
fn a_dense_problem_of_2000_bits_is_read() {
    let n = 2000;
    let pairs = (0..n * (n - 1) / 2).map(|k| f64::from(k % 17 - 8)).collect();
    let f = Quadratic::new(0.0, vec![1.0; n as usize], pairs).unwrap();
    for (extension, write) in WRITTEN {
        assert!(read(extension, write(&f)).unwrap() == f, "{extension}");
    }
}
