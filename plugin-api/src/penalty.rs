//! What an experiment adds to the objective's values.

use serde::{Deserialize, Serialize};

use crate::Bits;

/// λ for each bit that costs something: λ‖x‖₁, or λ times the bits in which x differs from a point that costs nothing.
///
/// The second form is what λ‖x‖₁ becomes where bits are turned over before a plugin sees them.
///
/// ```
/// use plugin_api::{Bits, Penalty};
///
/// let penalty = Penalty::l1(0.5);
/// assert_eq!(penalty.of(&[true, false, true]), 1.0);
/// let turned = penalty.from_point("100".parse::<Bits>()?);
/// assert_eq!((turned.of(&[true, false, true]), turned.weight(0)), (0.5, -0.5));
/// # Ok::<(), plugin_api::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Penalty {
    l1: f64,
    /// The point that costs nothing; that without a bit set where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Bits>,
}

impl Penalty {
    /// λ for each bit that is set: finite, and not negative.
    pub fn l1(l1: f64) -> Self {
        Self { l1, origin: None }
    }

    /// λ for each bit in which a point differs from `origin`.
    pub fn from_point(mut self, origin: Bits) -> Self {
        self.origin = Some(origin);
        self
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.l1
    }

    /// The point that costs nothing, where it has bits set.
    pub fn origin(&self) -> Option<&Bits> {
        self.origin.as_ref()
    }

    /// Whether nothing costs anything.
    pub fn is_zero(&self) -> bool {
        self.l1 == 0.0
    }

    /// What `bits` cost.
    ///
    /// # Panics
    /// Where `bits` has another length than the point that costs nothing.
    pub fn of(&self, bits: &[bool]) -> f64 {
        self.of_count(self.count(bits))
    }

    /// How many of `bits` cost λ.
    pub fn count(&self, bits: &[bool]) -> usize {
        match &self.origin {
            None => bits.iter().filter(|&&bit| bit).count(),
            Some(origin) => {
                assert_eq!(bits.len(), origin.len(), "bits of another length than the penalty's");
                bits.iter().zip(origin.iter()).filter(|(bit, free)| bit != free).count()
            }
        }
    }

    /// What a point costs of which this many bits cost λ.
    pub fn of_count(&self, count: usize) -> f64 {
        self.l1 * count as f64
    }

    /// What setting bit `i` adds: λ, or −λ where it is cleared that costs.
    pub fn weight(&self, i: usize) -> f64 {
        if self.costs(i, true) { self.l1 } else { -self.l1 }
    }

    /// Whether bit `i` costs λ when it has this value.
    pub fn costs(&self, i: usize, bit: bool) -> bool {
        bit != self.origin.as_ref().is_some_and(|origin| origin[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_is_the_sum_of_its_weights_from_its_value_without_bits() {
        for origin in ["00000", "10110", "11111"] {
            let penalty = Penalty::l1(0.25).from_point(origin.parse().unwrap());
            for mask in 0..32u32 {
                let bits: Bits = (0..5).map(|i| mask >> i & 1 == 1).collect();
                let sum: f64 = (0..5).filter(|&i| bits[i]).map(|i| penalty.weight(i)).sum();
                assert_eq!(penalty.of(&bits), penalty.of(&[false; 5]) + sum);
                let counted = (0..5).filter(|&i| penalty.costs(i, bits[i])).count();
                assert_eq!(penalty.count(&bits), counted);
            }
        }
    }

    #[test]
    fn turning_bits_over_changes_no_digit() {
        let (bits, turned): (Bits, Bits) = ("10110".parse().unwrap(), "00011".parse().unwrap());
        let seen: Bits = bits.iter().zip(turned.iter()).map(|(a, b)| a != b).collect();
        assert_eq!(Penalty::l1(0.1).of(&bits), Penalty::l1(0.1).from_point(turned).of(&seen));
    }
}
