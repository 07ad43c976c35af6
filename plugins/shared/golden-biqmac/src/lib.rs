//! Instances of the Biq Mac library (Wiegele 2007) with their best known values, for the tests of solvers.
//!
//! `data/NAME.sparse` has a line `n m` and then `i j w`, 1-based: minimize Σ wᵢᵢ xᵢ + 2 Σ_{i<j} wᵢⱼ xᵢ xⱼ.

use plugin_api::Quadratic;

/// A function to minimize.
pub struct Instance {
    pub name: &'static str,
    pub function: Quadratic,
    /// The lowest value anybody found; up to 250 bits, proven to be the minimum.
    pub best_known: f64,
}

const INSTANCES: [(&str, i32, &str); 11] = [
    ("gka1b", -133, include_str!("../data/gka1b.sparse")),
    ("gka3b", -118, include_str!("../data/gka3b.sparse")),
    ("bqp50-1", -2098, include_str!("../data/bqp50-1.sparse")),
    ("gka1a", -3414, include_str!("../data/gka1a.sparse")),
    ("gka5c", -7362, include_str!("../data/gka5c.sparse")),
    ("bqp100-1", -7970, include_str!("../data/bqp100-1.sparse")),
    ("gka5d", -11626, include_str!("../data/gka5d.sparse")),
    ("be120.3.1", -13067, include_str!("../data/be120.3.1.sparse")),
    ("be250.5", -21057, include_str!("../data/be250.5.sparse")),
    ("bqp250-5", -47961, include_str!("../data/bqp250-5.sparse")),
    ("bqp500-1", -116586, include_str!("../data/bqp500-1.sparse")),
];

/// All instances of at most `n` bits, smallest first.
///
/// # Panics
/// Where the data is damaged.
pub fn instances_up_to(n: usize) -> Vec<Instance> {
    let parse = |(name, best, text): (&'static str, i32, &str)| Instance {
        name,
        function: function(text),
        best_known: f64::from(best),
    };
    INSTANCES.into_iter().map(parse).take_while(|instance| instance.function.dimension() <= n).collect()
}

fn function(text: &str) -> Quadratic {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instance_is_whole() {
        let instances = instances_up_to(usize::MAX);
        assert_eq!(instances.len(), INSTANCES.len());
        assert!(instances.is_sorted_by_key(|instance| instance.function.dimension()));
    }

    #[test]
    fn an_entry_off_the_diagonal_counts_twice() {
        let f = function("3 3\n1 1 5\n2 3 -4\n1 3 7\n");
        assert_eq!((f.linear(), f.pairs()), (&[5.0, 0.0, 0.0][..], &[0.0, 14.0, -8.0][..]));
    }
}
