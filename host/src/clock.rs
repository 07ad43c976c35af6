//! The time of day, for names of folders and for people. Nothing that is compared depends on it.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time in UTC as `2026-01-31T23-59-59Z`: sorts by time, and every file system takes it.
pub(crate) fn stamp() -> String {
    moment().replace(':', "-")
}

/// The time in UTC as `2026-01-31T23:59:59Z`.
pub(crate) fn moment() -> String {
    moment_of(seconds())
}

/// The time in UTC as `2026-01-31 23:59:59 UTC`, and in seconds since 1970.
pub(crate) fn now() -> (String, u64) {
    let seconds = seconds();
    (words(&moment_of(seconds)), seconds)
}

/// A moment as [`moment`] writes it, for people.
pub(crate) fn words(moment: &str) -> String {
    moment.replace('T', " ").replace('Z', " UTC")
}

#[expect(clippy::disallowed_methods, reason = "the one place that asks for the time of day")]
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn moment_of(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_named_right() {
        // From `date -u -d @N`.
        assert_eq!(moment_of(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment_of(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(moment_of(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(moment_of(1_798_761_599), "2026-12-31T23:59:59Z");
    }
}
