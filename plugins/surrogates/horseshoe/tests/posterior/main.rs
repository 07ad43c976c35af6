//! Whether the chain samples the posterior: against the authors' sampler, against integrals, and against itself.

mod authors; // long chains of the authors' sampler
mod calibration; // the ranks of true parameters among draws
mod exact; // a posterior small enough to integrate
mod joint; // parameters and data drawn in turn keep the prior
mod warm; // a chain that goes on with one more observation

use plugin_api::Layout;
use surrogate_horseshoe::by_rows::ByRows;
use surrogate_horseshoe::by_terms::{ByTerms, Moments};
use surrogate_horseshoe::coefficients::Coefficients;
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

/// The two ways to draw coefficients.
#[derive(Clone, Copy, Debug)]
enum By {
    Rows,
    Terms,
}

impl By {
    fn coefficients(self, regression: &Regression<'_>, observations: &Observations) -> Box<dyn Coefficients> {
        match self {
            By::Rows => Box::new(ByRows::new(regression, Kernel::fastest())),
            By::Terms => {
                let mut moments = Moments::default();
                moments.update(observations, regression.active());
                Box::new(ByTerms::new(regression, &moments, Kernel::fastest()))
            }
        }
    }
}

fn observe(layout: &Layout, order: usize, points: &[&str], values: &[f64]) -> Observations {
    let mut observations = Observations::new(layout, order);
    for (point, &value) in points.iter().zip(values) {
        observations.add(&point.parse().expect("bits"), value).expect("a point of the layout");
    }
    observations
}

/// Means of some functions of draws, in batches that are independent, or so long that they nearly are.
struct Means(Vec<Vec<f64>>);

impl Means {
    /// Averages what `functions` writes, over `batches` times `steps` calls.
    fn of(batches: usize, steps: usize, count: usize, mut functions: impl FnMut(&mut [f64])) -> Self {
        let mut values = vec![0.0; count];
        let mut batch = || {
            let mut sums = vec![0.0; count];
            for _ in 0..steps {
                functions(&mut values);
                sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
            }
            sums.iter().map(|sum| sum / steps as f64).collect()
        };
        Self((0..batches).map(|_| batch()).collect())
    }

    fn mean(&self, i: usize) -> f64 {
        self.0.iter().map(|batch| batch[i]).sum::<f64>() / self.0.len() as f64
    }

    /// The standard error of the mean, from the spread of the batches.
    fn error(&self, i: usize) -> f64 {
        let (mean, count) = (self.mean(i), self.0.len() as f64);
        let square: f64 = self.0.iter().map(|batch| (batch[i] - mean) * (batch[i] - mean)).sum();
        (square / (count - 1.0) / count).sqrt()
    }
}

/// Fails where some of the standardised differences, or all of them together, are beyond what chance gives.
fn assert_by_chance(scores: &[(String, f64)], most: f64) {
    let square = scores.iter().map(|(_, z)| z * z).sum::<f64>() / scores.len() as f64;
    let mut worst = scores.to_vec();
    worst.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    worst.truncate(6);
    println!("root mean square {:.2}, worst {worst:.2?}", square.sqrt());
    assert!(scores.iter().all(|(_, z)| z.abs() < most), "beyond {most} standard errors: {worst:.2?}");
    // A mean of k squares is 1 ± √(2/k) if they are independent; they are not, so thrice that and a half more.
    let limit = 1.5 + 3.0 * (2.0 / scores.len() as f64).sqrt();
    assert!(square < limit, "a mean square of {square:.2}, more than {limit:.2}; worst {worst:.2?}");
}
