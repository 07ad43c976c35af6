//! A noisy objective at one point, several times: `evaluation.repeat` values and their mean.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Sense, Space};

use crate::plan::repetition;
use crate::record::Repeats;

/// Single values, on disk as they come, and how many of them an evaluation has.
#[derive(Clone)]
pub(super) struct Singles {
    repeats: Arc<Mutex<Repeats>>,
    count: Arc<AtomicUsize>,
}

impl Singles {
    pub(super) fn new(repeats: Repeats, count: usize) -> Self {
        Self { repeats: Arc::new(Mutex::new(repeats)), count: Arc::new(AtomicUsize::new(count)) }
    }

    /// From now on an evaluation has this many.
    pub(super) fn average(&self, count: usize) {
        self.count.store(count, Ordering::Relaxed);
    }

    /// The value with this seed, where it is kept.
    pub(super) fn get(&self, seed: u64) -> Result<Option<f64>> {
        self.with(|repeats| repeats.get(seed))
    }

    /// Keeps a value; it is on disk when this returns.
    pub(super) fn keep(&self, seed: u64, value: f64) -> Result<()> {
        self.with(|repeats| repeats.add(seed, value))
    }

    /// The values that an evaluation with this seed is the mean of; nobody will ask for them again.
    pub(super) fn take(&self, seed: u64, count: usize) -> Vec<f64> {
        let seeds = || (0..count).map(|i| repetition(seed, i));
        let values = seeds().map_while(|seed| self.get(seed).ok().flatten()).collect();
        let _ = self.with(|repeats| {
            repeats.forget(seeds());
            Ok(())
        });
        values
    }

    fn with<T>(&self, work: impl FnOnce(&mut Repeats) -> std::io::Result<T>) -> Result<T> {
        let done = work(&mut self.repeats.lock().unwrap_or_else(PoisonError::into_inner));
        done.map_err(|error| Error::new(format!("single values cannot be kept: {error}")))
    }
}

/// An objective whose values are means of several.
pub(super) struct Averaged {
    pub(super) objective: Box<dyn Benchmark>,
    pub(super) singles: Singles,
}

impl Benchmark for Averaged {
    fn space(&self) -> Result<Space> {
        self.objective.space()
    }

    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        let count = self.singles.count.load(Ordering::Relaxed);
        if count == 1 {
            return self.objective.evaluate(point, seed);
        }
        let mut sum = 0.0;
        for i in 0..count {
            let seed = repetition(seed, i);
            if let Some(value) = self.singles.get(seed)? {
                sum += value;
                continue;
            }
            match self.objective.evaluate(point, seed)? {
                Evaluation::Value(value) if value.is_finite() => {
                    self.singles.keep(seed, value)?;
                    sum += value;
                }
                // One that is no value is the answer: the point is not allowed, or there is none.
                other => return Ok(other),
            }
        }
        Ok((sum / count as f64).into())
    }

    fn sense(&self) -> Sense {
        self.objective.sense()
    }

    fn deterministic(&self) -> bool {
        self.objective.deterministic()
    }

    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        self.objective.optimum(l1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers its seeds' remainders, fails at the third, and counts.
    struct Dice {
        rolls: usize,
        fails: bool,
    }

    impl Benchmark for Dice {
        fn space(&self) -> Result<Space> {
            Ok(Space::binary(1))
        }
        fn evaluate(&mut self, _: &Point, seed: u64) -> Result<Evaluation> {
            self.rolls += 1;
            if self.fails && self.rolls == 3 { Err("lost".into()) } else { Ok(((seed % 6) as f64).into()) }
        }
        fn deterministic(&self) -> bool {
            false
        }
    }

    #[test]
    fn the_value_is_the_mean_of_values_with_seeds_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let singles = Singles::new(Repeats::open(folder.path()).unwrap(), 5);
        let objective = Box::new(Dice { rolls: 0, fails: true });
        let mut averaged = Averaged { objective, singles: singles.clone() };
        let point: Point = vec![0].into();
        assert!(averaged.evaluate(&point, 11).is_err(), "the third fails");
        let kept = |i| singles.get(repetition(11, i)).unwrap().is_some();
        assert!(kept(0) && kept(1) && !kept(2));
        // Another process goes on: what is kept is not asked for again.
        let singles = Singles::new(Repeats::open(folder.path()).unwrap(), 5);
        let objective = Box::new(Dice { rolls: 10, fails: false });
        let mut averaged = Averaged { objective, singles: singles.clone() };
        let mean = averaged.evaluate(&point, 11).unwrap().value().unwrap();
        let values: Vec<f64> = (0..5).map(|i| (repetition(11, i) % 6) as f64).collect();
        assert_eq!(mean, values.iter().sum::<f64>() / 5.0);
        assert_eq!(singles.take(11, 5), values);
        assert_eq!(repetition(11, 0), 11, "the first is what a single evaluation would be");
    }
}
