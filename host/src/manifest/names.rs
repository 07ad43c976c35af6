//! What can be a name.

use serde_yaml::Value;

/// Whether a text can be a folder's name on every system, and a name in every table.
pub fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    (1..=64).contains(&name.len())
        && name.starts_with(letter)
        && name.chars().all(|c| letter(c) || matches!(c, '-' | '_' | '.'))
}

/// Whether a name ends as the names of trials do, `-seed1` or `-sweep2`: a method's may not, so that a trial's name
/// can be taken apart again.
pub(super) fn ends_like_a_trial(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    ["-seed", "-sweep"].iter().any(|word| name.rsplit_once(word).is_some_and(|(_, rest)| number(rest)))
}

pub(super) fn text_of(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folders_on_every_system() {
        for good in ["a", "psr-10", "x_1.b", "9lives"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", ".", "-a", "a/b", "é", "a b", &"x".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_method_is_not_named_like_a_trial() {
        assert!(["a-seed1", "a-sweep12", "-sweep0"].iter().all(|name| ends_like_a_trial(name)));
        assert!(["seed1", "a-seed", "a-seed1-b", "sweep"].iter().all(|name| !ends_like_a_trial(name)));
    }
}
