//! What may be concluded from a comparison, and what not, as sentences.

use super::analysis::compare::{Comparison, LEVEL};
use crate::text::number;

/// What one comparison says, where `count` of them were made.
pub(super) fn conclusion(comparison: &Comparison, count: usize) -> String {
    let Comparison { first, second, seeds, better, equal, worse, .. } = comparison;
    let (Some(difference), Some(p)) = (comparison.mean_difference, comparison.p_corrected) else {
        return format!(
            "{first} and {second} cannot be compared: no seed was finished by both from the same initial design."
        );
    };
    let seeds = *seeds;
    if *equal == seeds {
        let end = if seeds == 1 { "the only seed".to_owned() } else { format!("all {seeds} seeds") };
        return format!("{first} and {second} ended at the same value on {end}.");
    }
    let direction = if difference < 0.0 { "lower" } else { "higher" };
    let good = (difference > 0.0) == comparison.maximize;
    let size = number(Some(difference.abs()));
    let interval = comparison.interval.map(|interval| {
        let (low, high) = (number(Some(interval.low)), number(Some(interval.high)));
        format!("95 % interval of the difference {low} to {high}; ")
    });
    let interval = interval.unwrap_or_default();
    let tally = format!("{interval}better on {better}, equal on {equal}, worse on {worse} of {seeds} seeds");
    let corrected =
        if count > 1 { format!(" after correction for {count} comparisons") } else { String::new() };
    let chance = format!("p = {}{corrected}", probability(p));
    if p <= LEVEL {
        let word = if good { "better" } else { "worse" };
        return format!(
            "{first} found {word} values than {second}: {size} {direction} on average ({tally}). That is unlikely to \
             be chance: {chance}."
        );
    }
    let begin = format!("{first} ended {size} {direction} than {second} on average ({tally}).");
    let needed = seeds_needed(count);
    if seeds < needed {
        let few = if seeds == 1 { "one seed".to_owned() } else { format!("{seeds} seeds") };
        // Among several, that is said once, below them.
        let why = match count {
            1 => format!(
                ": even if one method won on every seed, the test would need {needed} of them to say so"
            ),
            _ => String::new(),
        };
        return format!("{begin} That may be chance, and {few} cannot tell{why}.");
    }
    format!(
        "{begin} No difference is shown: this may be chance ({chance}). Nor is it shown that there is none: \
         differences within the interval remain plausible."
    )
}

/// How many seeds it takes until a win on every one of them counts among this many comparisons: n of a kind have
/// p = 2 / 2ⁿ.
pub(super) fn seeds_needed(comparisons: usize) -> usize {
    let counts = |seeds: usize| comparisons.max(1) as f64 * libm::exp2(1.0 - seeds as f64) <= LEVEL;
    (1..).find(|&seeds| counts(seeds)).expect("halves fall below any level")
}

/// A probability for people.
pub(super) fn probability(p: f64) -> String {
    if p < 1e-4 {
        "below 0.0001".to_owned()
    } else if p < 0.01 {
        format!("{p:.4}")
    } else {
        format!("{p:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::analysis::statistics::Interval;

    fn comparison() -> Comparison {
        Comparison {
            experiment: "e".to_owned(),
            sweep: serde_json::Map::new(),
            first: "psr".to_owned(),
            second: "sdp".to_owned(),
            maximize: false,
            seeds: 10,
            better: 9,
            equal: 0,
            worse: 1,
            mean_difference: Some(-0.5),
            interval: Some(Interval { low: -0.8, high: -0.2 }),
            p: Some(0.004),
            p_corrected: Some(0.012),
            rank_biserial: Some(0.9),
        }
    }

    #[test]
    fn sentences_say_what_may_be_concluded() {
        let _snapshots = snapshots::in_folder("reports");
        let shown = comparison();
        let few = Comparison { seeds: 5, better: 4, p_corrected: Some(0.125), ..shown.clone() };
        let open = Comparison { p_corrected: Some(0.4), better: 6, worse: 4, ..shown.clone() };
        let worse = Comparison { maximize: true, better: 1, worse: 9, ..shown.clone() };
        let same = Comparison { equal: 10, better: 0, worse: 0, mean_difference: Some(0.0), ..shown.clone() };
        let none =
            Comparison { seeds: 0, mean_difference: None, p: None, p_corrected: None, ..shown.clone() };
        let sentences: Vec<String> =
            [(shown, 3), (few.clone(), 3), (few, 1), (open, 1), (worse, 1), (same, 1), (none, 1)]
                .iter()
                .map(|(comparison, count)| conclusion(comparison, *count))
                .collect();
        insta::assert_snapshot!("what may be concluded", sentences.join("\n"));
    }

    #[test]
    fn six_seeds_are_needed_and_more_for_more_comparisons() {
        assert_eq!([1, 2, 3, 10].map(seeds_needed), [6, 7, 7, 9]);
    }
}
