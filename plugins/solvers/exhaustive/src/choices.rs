//! The points of a problem as a product of choices: one for each free bit, one for each group.

use std::ops::Range;

use plugin_api::Bits;

/// Bits of which at most one is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) bits: Range<usize>,
    /// Whether none may be set: true for a free bit, false for a group.
    pub(crate) optional: bool,
}

impl Choice {
    /// The ways to choose: the bit to set, or none.
    pub(crate) fn ways(&self) -> impl Iterator<Item = Option<usize>> + use<> {
        self.optional.then_some(None).into_iter().chain(self.bits.clone().map(Some))
    }

    pub(crate) fn count(&self) -> usize {
        self.bits.len() + usize::from(self.optional)
    }
}

/// The choices that make up `n` bits with these groups, in the order of the bits.
pub(crate) fn choices(n: usize, groups: &[Range<usize>]) -> Vec<Choice> {
    let mut choices = Vec::new();
    let mut next = 0;
    for group in groups {
        choices.extend((next..group.start).map(free));
        choices.push(Choice { bits: group.clone(), optional: false });
        next = group.end;
    }
    choices.extend((next..n).map(free));
    choices
}

fn free(bit: usize) -> Choice {
    Choice { bits: bit..bit + 1, optional: true }
}

/// The point where each choice takes its first way.
pub(crate) fn first_point(n: usize, choices: &[Choice]) -> Bits {
    let mut bits = Bits::zeros(n);
    for bit in choices.iter().filter_map(|choice| choice.ways().next().flatten()) {
        bits[bit] = true;
    }
    bits
}

/// How many points there are, where a number can hold it.
pub(crate) fn point_count(choices: &[Choice]) -> Option<u64> {
    choices.iter().try_fold(1u64, |count, choice| count.checked_mul(choice.count() as u64))
}

/// How many points there are, in words.
pub(crate) fn describe_point_count(choices: &[Choice]) -> String {
    match point_count(choices) {
        Some(count) if count < 1 << 40 => count.to_string(),
        _ => {
            let digits: f64 = choices.iter().map(|choice| libm::log10(choice.count() as f64)).sum();
            format!("about 10^{digits:.0}")
        }
    }
}

/// Layouts with and without groups, small and large ones, for the tests of this crate.
#[cfg(test)]
pub(crate) fn layouts() -> Vec<plugin_api::Layout> {
    use plugin_api::Layout;
    let grouped = |n, groups| Layout::with_groups(n, groups).expect("valid groups");
    vec![
        Layout::free(0),
        Layout::free(1),
        Layout::free(2),
        Layout::free(11),
        grouped(3, vec![0..1, 1..3]),
        grouped(9, vec![0..3, 4..9]),
        grouped(10, vec![1..3, 3..4, 6..10]),
        grouped(16, vec![0..2, 3..7, 8..16]),
        // Its first group alone has too many points for a block.
        grouped(75, vec![0..70, 70..73]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_bits_and_groups_stand_in_order() {
        let found = choices(7, &[1..3, 3..6]);
        let bits: Vec<(Range<usize>, bool)> = found.iter().map(|c| (c.bits.clone(), c.optional)).collect();
        assert_eq!(bits, [(0..1, true), (1..3, false), (3..6, false), (6..7, true)]);
        assert_eq!(point_count(&found), Some(2 * 2 * 3 * 2));
        assert_eq!(first_point(7, &found).to_string(), "0101000");
        assert_eq!(found[0].ways().collect::<Vec<_>>(), [None, Some(0)]);
        assert_eq!(found[2].ways().collect::<Vec<_>>(), [Some(3), Some(4), Some(5)]);
    }

    #[test]
    fn no_bits_are_one_point() {
        assert_eq!(point_count(&choices(0, &[])), Some(1));
        assert_eq!(first_point(0, &[]), Bits::zeros(0));
    }

    #[test]
    fn a_count_is_told_however_large() {
        assert_eq!(describe_point_count(&choices(30, &[])), "1073741824");
        assert_eq!(describe_point_count(&choices(50, &[])), "about 10^15");
        assert_eq!(describe_point_count(&choices(2000, &[])), "about 10^602");
    }
}
