//! `initial`: which points come first, before there is anything to learn from.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Initial {
    /// How the points are chosen.
    pub design: Design,
    /// A table of points, with or without their values: as the manifest names it, from its folder; in a plan, as the copy
    /// in the run's folder is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
}

/// How the first points are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Every point that the constraints admit is as likely as any other.
    #[default]
    Uniform,
    /// Each level of each variable about equally often.
    Balanced,
}

/// The keys of `initial`.
const KEYS: &[&str] = &["design", "points"];

impl Initial {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The way to `points`.
    pub fn points_path() -> KeyPath {
        KeyPath::root().join("initial").join("points")
    }
}

impl Key for Initial {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["initial"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(value) = keys.get("initial") else { return Some(Self::stand_in()) };
        let path = KeyPath::root().join("initial");
        let keys = reader.mapping(value, &path, KEYS)?;
        let design = keys.get("design").map_or(Some(Design::default()), |value| match value.as_str() {
            Some("uniform") => Some(Design::Uniform),
            Some("balanced") => Some(Design::Balanced),
            _ => {
                reader.wrong_value("design", &path.join("design"), "must be `uniform` or `balanced`");
                None
            }
        });
        let points = keys.get("points").filter(|value| !value.is_null()).map(|value| {
            let points = value.as_str().filter(|path| !path.is_empty()).map(str::to_owned);
            if points.is_none() {
                reader.wrong_type("points", &Self::points_path(), value, "the name of a CSV file");
            }
            points
        });
        // Without the key there is no table; one that cannot be read is a mistake.
        if points == Some(None) {
            return None;
        }
        Some(Self { design: design?, points: points.flatten() })
    }

    fn stand_in() -> Self {
        Self::default()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let design = described(
            json!({ "enum": ["uniform", "balanced"], "default": "uniform" }),
            "Every point that the constraints admit alike (uniform, the default), or each level about equally often.",
        );
        let points = described(
            json!({ "type": ["string", "null"] }),
            "A CSV file of points, from the manifest's folder: a column for each variable, and `value`, `status` or \
             `reason` where they are known. Known values are not evaluated again, the others come first.",
        );
        let properties = json!({ "design": design, "points": points });
        described(
            json!({ "type": "object", "properties": properties, "additionalProperties": false }),
            "Which points come first, before there is anything to learn from; `budget.initial` says how many.",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Initial, Vec<String>> {
        let mut mistakes = Vec::new();
        let keys: Mapping = serde_yaml::from_str(text).unwrap();
        let read = Initial::read(&keys, &mut Reader { mistakes: &mut mistakes, top: &[] });
        let words: Vec<String> = mistakes.iter().map(|mistake| mistake.what.message.clone()).collect();
        if words.is_empty() { Ok(read.unwrap()) } else { Err(words) }
    }

    #[test]
    fn what_a_plan_writes_is_what_it_reads() {
        assert_eq!(read("{}"), Ok(Initial::default()));
        for design in [Design::Uniform, Design::Balanced] {
            let initial = Initial { design, points: Some("data/known.csv".to_owned()) };
            let written = serde_json::to_string(&json!({ "initial": initial })).unwrap();
            assert_eq!(read(&written), Ok(initial));
        }
    }

    #[test]
    fn a_design_that_nobody_knows_is_told() {
        assert_eq!(
            read("initial: { design: sobol, seed: 1, points: [] }"),
            Err(vec![
                "unknown key `seed`".to_owned(),
                "`design` must be `uniform` or `balanced`".to_owned(),
                "`points` is a list, not the name of a CSV file".to_owned()
            ])
        );
    }
}
