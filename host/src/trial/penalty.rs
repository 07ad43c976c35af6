//! The experiment's own part of the problem.

use plugin_api::{Acquisition, Function};

/// f + λ‖x‖₁.
pub(super) fn with_l1(f: Acquisition, l1: f64) -> Acquisition {
    match f {
        f if l1 == 0.0 => f,
        Acquisition::Quadratic(mut f) => {
            (0..f.dimension()).for_each(|i| f.add_linear(i, l1));
            Acquisition::Quadratic(f)
        }
        Acquisition::General(f) => {
            struct Penalised(std::sync::Arc<dyn Function>, f64);
            impl Function for Penalised {
                fn dimension(&self) -> usize {
                    self.0.dimension()
                }
                fn value(&self, bits: &[bool]) -> f64 {
                    self.0.value(bits) + self.1 * bits.iter().filter(|&&bit| bit).count() as f64
                }
                fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
                    self.0.flip_gain(bits, i) + if bits[i] { -self.1 } else { self.1 }
                }
            }
            Acquisition::General(std::sync::Arc::new(Penalised(f, l1)))
        }
    }
}
