//! What a function promises.

use std::sync::Arc;

use ndarray::Array2;

use super::findings::Findings;
use crate::{Acquisition, BitMatrix, Bits, Function, Layout, rng};

/// Checks what [`Function`] promises, at random points that keep the groups of `layout`: single values and gains, and
/// those of many points at once, agree.
///
/// # Panics
/// Where they do not.
pub fn check_function(f: Arc<dyn Function>, layout: &Layout) {
    if let Err(why) = examine(&Acquisition::General(f), layout) {
        panic!("{why}");
    }
}

/// The same for an acquisition that was drawn.
pub(super) fn examine_acquisition(
    f: &Acquisition,
    layout: &Layout,
    findings: &mut Findings<'_>,
) -> Option<()> {
    let examined = findings.call("a function that was drawn", || Ok(examine(f, layout)))?;
    match examined {
        Ok(()) => Some(()),
        Err(why) => {
            findings.note("function", || why);
            None
        }
    }
}

fn examine(f: &Acquisition, layout: &Layout) -> Result<(), String> {
    let n = layout.dimension();
    if f.dimension() != n {
        return Err("the acquisition function has another dimension than the layout".to_owned());
    }
    let (mut rng, mut points) = (rng(5), BitMatrix::new(n));
    (0..8).for_each(|_| points.push(&layout.random(&mut rng)));
    let mut values = vec![f64::NAN; points.len()];
    f.values(points.view(), &mut values);
    let mut gains = Array2::from_elem((points.len(), n), f64::NAN);
    f.move_gains(points.view(), layout.groups(), gains.view_mut());
    for (row, bits) in points.rows().enumerate() {
        let value = f.value(bits);
        if !value.is_finite() {
            return Err(format!("the function is {value} at {}", Bits::from(bits)));
        }
        // Sums of the same numbers in another order differ by less.
        let close = |one: f64, two: f64| (one - two).abs() <= 1e-6 * (1.0 + value.abs() + one.abs());
        if !close(values[row], value) {
            return Err(format!("values() has {} where value() is {value}", values[row]));
        }
        for i in 0..n {
            let mut there = bits.to_vec();
            there[i] = !there[i];
            let (gain, change) = (f.flip_gain(bits, i), f.value(&there) - value);
            if !close(gain, change) {
                return Err(format!("flip_gain() of bit {i} is {gain}, and the value changes by {change}"));
            }
            if let Some(group) = layout.groups().iter().find(|group| group.contains(&i)) {
                there[group.clone()].fill(false);
                there[i] = true;
            }
            let (gain, change) = (gains[(row, i)], f.value(&there) - value);
            if !close(gain, change) {
                return Err(format!(
                    "move_gains() has {gain} for bit {i}, and the value changes by {change}"
                ));
            }
        }
    }
    Ok(())
}
