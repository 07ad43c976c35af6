//! An instance: from a file or generated, with its weights as the options want them.

use std::fs;

use plugin_api::rand::RngExt;
use plugin_api::{Error, Result, rng};

use crate::options::{Options, Weights};
use crate::wcnf::{Clause, Literal, Wcnf, parse};

/// Far above every collection of instances; it keeps a path like `/dev/zero` from filling the memory.
const LARGEST_FILE: u64 = 1 << 28;

/// The instance that the options ask for.
pub(crate) fn instance(options: &Options, seed: u64) -> Result<Wcnf> {
    let mut wcnf = match &options.file {
        Some(path) => read(path)?,
        None => generate(options, options.seed.unwrap_or(seed))?,
    };
    if options.weights == Weights::Standardised {
        standardise(&mut wcnf)?;
    }
    let sum: f64 = wcnf.clauses.iter().filter_map(|clause| clause.weight).sum();
    if !sum.is_finite() {
        return Err(Error::option("file", "the weights add up to more than a number can hold"));
    }
    Ok(wcnf)
}

fn read(path: &str) -> Result<Wcnf> {
    let refuse = |why: String| Error::option("file", format!("`{path}`: {why}"));
    let cannot = |error: std::io::Error| {
        let from = std::env::current_dir().map(|folder| format!(" from {}", folder.display()));
        refuse(format!("cannot be read{}: {error}", from.unwrap_or_default()))
    };
    let about = fs::metadata(path).map_err(cannot)?;
    if !about.is_file() {
        return Err(refuse("is not a file".to_owned()));
    }
    if about.len() > LARGEST_FILE {
        return Err(refuse(format!("has {} bytes, more than {LARGEST_FILE}", about.len())));
    }
    let bytes = fs::read(path).map_err(cannot)?;
    parse(&bytes).map_err(|mistake| refuse(mistake.to_string()))
}

/// Clauses of equal length with different variables, each negated with probability ½.
fn generate(options: &Options, seed: u64) -> Result<Wcnf> {
    let &Options { variables, clauses, length, largest_weight, .. } = options;
    if length > variables {
        return Err(Error::option(
            "length",
            format!("must be at most `variables`, {variables}, not {length}"),
        ));
    }
    let rng = &mut rng(seed);
    let mut clause = || {
        let mut literals: Vec<Literal> = Vec::with_capacity(length);
        while literals.len() < length {
            let variable = rng.random_range(0..variables as u32) as usize;
            if literals.iter().all(|literal| literal.variable != variable) {
                literals.push(Literal { variable, positive: rng.random() });
            }
        }
        Clause { weight: Some(f64::from(rng.random_range(1..=largest_weight))), literals }
    };
    Ok(Wcnf { variables, clauses: (0..clauses).map(|_| clause()).collect() })
}

/// (w − mean)/deviation of all weights; hard clauses have none.
fn standardise(wcnf: &mut Wcnf) -> Result<()> {
    let weights: Vec<f64> = wcnf.clauses.iter().filter_map(|clause| clause.weight).collect();
    let count = weights.len() as f64;
    let mean = weights.iter().sum::<f64>() / count;
    let variance = weights.iter().map(|w| (w - mean) * (w - mean)).sum::<f64>() / count;
    // Without clauses it is no number.
    if !(variance > 0.0 && variance.is_finite()) {
        return Err(Error::option(
            "weights",
            "cannot be standardised, because they are all the same or too large: `weights: plain` leaves them as they are",
        ));
    }
    for weight in wcnf.clauses.iter_mut().filter_map(|clause| clause.weight.as_mut()) {
        *weight = (*weight - mean) / variance.sqrt();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_weights_have_mean_0_and_deviation_1() {
        let wcnf = instance(&Options::default(), 3).unwrap();
        let weights: Vec<f64> = wcnf.clauses.iter().map(|clause| clause.weight.unwrap()).collect();
        let mean = weights.iter().sum::<f64>() / 100.0;
        let variance = weights.iter().map(|w| w * w).sum::<f64>() / 100.0;
        assert!(mean.abs() < 1e-12 && (variance - 1.0).abs() < 1e-12, "{mean} {variance}");
    }

    #[test]
    fn generated_clauses_are_as_the_options_say() {
        let options = Options { weights: Weights::Plain, length: 4, ..Options::default() };
        let wcnf = instance(&options, 5).unwrap();
        assert_eq!((wcnf.variables, wcnf.clauses.len()), (20, 100));
        for clause in &wcnf.clauses {
            let mut variables: Vec<usize> = clause.literals.iter().map(|l| l.variable).collect();
            variables.sort_unstable();
            variables.dedup();
            assert_eq!(variables.len(), 4);
            assert!((1.0..=10.0).contains(&clause.weight.unwrap()));
        }
        assert_ne!(instance(&options, 6).unwrap(), wcnf);
        assert_eq!(instance(&Options { seed: Some(5), ..options }, 6).unwrap(), wcnf);
    }
}
