//! `.json`: our own format, or a binary quadratic model as D-Wave's dimod writes it.
//!
//! Our own has `linear`, a number for each bit, and `pairs`, the upper triangle by rows; and may have `constant`,
//! which is 0 where it is left out, and `n`, the number of bits. A model of dimod is known by its `type`.

use std::fmt;
use std::io::BufRead;
use std::marker::PhantomData;

use plugin_api::Quadratic;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::Input;
use super::bqm::Model;
use super::error::{MOST_BITS, ProblemError, Result};

/// How the format looks.
pub(super) const FORM: &str = "a problem of 3 bits is `{\"n\": 3, \"constant\": 0, \"linear\": [1, 2, 3], \
                               \"pairs\": [12, 13, 23]}`, pairs being the upper triangle by rows";

/// Reads a problem.
pub(super) fn read(input: &mut Input) -> Result<Quadratic> {
    let begun = input.fill_buf().map_err(|error| ProblemError::Read(error).at((1, 1)))?;
    if begun.is_empty() {
        return Err(ProblemError::Empty.at((1, 1)));
    }
    let mut size = Ok(());
    let mut deserializer = serde_json::Deserializer::from_reader(input);
    let read = serde::Deserializer::deserialize_map(&mut deserializer, Problem { size: &mut size });
    read.and_then(|f| deserializer.end().map(|()| f)).map_err(|error| {
        let place = (error.line().max(1), error.column().max(1));
        size.err().unwrap_or_else(|| refusal(error)).at(place)
    })
}

/// The parser's error as one of ours.
fn refusal(error: serde_json::Error) -> ProblemError {
    let text = error.to_string();
    // The parser repeats the place in its words, and calls types by their names in the code.
    let mut cause = text.rsplit_once(" at line ").map_or(text.as_str(), |(cause, _)| cause).to_owned();
    for (name, words) in [("f64", "a number"), ("usize", "a whole number"), ("u32", "a whole number")] {
        cause = cause.replace(&format!("expected {name}"), &format!("expected {words}"));
    }
    match error.classify() {
        Category::Io => ProblemError::Read(error.into()),
        Category::Data => ProblemError::Content { cause },
        Category::Syntax if cause == "number out of range" => ProblemError::JsonOverflow,
        Category::Syntax | Category::Eof => ProblemError::Syntax { cause },
    }
}

struct Problem<'a> {
    /// What is wrong with the number of bits, which the parser's error cannot carry.
    size: &'a mut Result<(), ProblemError>,
}

impl Problem<'_> {
    fn check_size<E: serde::de::Error>(&mut self, bits: usize) -> Result<(), E> {
        *self.size = match bits {
            0 => Err(ProblemError::NoBits),
            1..=MOST_BITS => Ok(()),
            _ => Err(ProblemError::TooLarge { bits: bits.to_string() }),
        };
        self.size.as_ref().map_err(E::custom).copied()
    }
}

impl<'de> Visitor<'de> for Problem<'_> {
    type Value = Quadratic;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a problem")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Quadratic, A::Error> {
        let mut model = Model::default();
        let (mut n, mut constant, mut linear, mut pairs) = (None, None, None, None);
        let mut kind: Option<String> = None;
        while let Some(key) = map.next_key::<String>()? {
            let value = Value { key: &key, map: &mut map };
            match key.as_str() {
                "n" => {
                    value.put(&mut n, PhantomData)?;
                    n.map_or(Ok(()), |n| self.check_size(n))?;
                }
                "constant" => value.put(&mut constant, PhantomData)?,
                "linear" => value.put(&mut linear, Numbers { key: "linear", bits: n, count: n })?,
                "pairs" => {
                    value.put(&mut pairs, Numbers { key: "pairs", bits: n, count: n.map(pair_count) })?
                }
                "type" => value.put(&mut kind, PhantomData)?,
                "variable_type" => value.put(&mut model.vartype, PhantomData)?,
                "offset" => value.put(&mut model.offset, PhantomData)?,
                "num_variables" => {
                    value.put(&mut model.bits, PhantomData)?;
                    model.bits.map_or(Ok(()), |n| self.check_size(n))?;
                }
                "num_interactions" => value.put(&mut model.interactions, PhantomData)?,
                "linear_biases" => value.put(&mut model.linear, PhantomData)?,
                "quadratic_biases" => value.put(&mut model.biases, PhantomData)?,
                "quadratic_head" => value.put(&mut model.heads, PhantomData)?,
                "quadratic_tail" => value.put(&mut model.tails, PhantomData)?,
                "use_bytes" => {
                    if map.next_value()? {
                        return Err(A::Error::custom(
                            "`use_bytes` is true, and biases in bytes are not read; write them as numbers",
                        ));
                    }
                }
                "basetype" | "version" | "index_type" | "bias_type" | "variable_labels" | "info" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => {
                    let known = ["n", "constant", "linear", "pairs"];
                    let nearest = crate::diagnostic::nearest(&key, known);
                    let nearest = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                    let key = super::lines::quoted(&key);
                    return Err(A::Error::custom(format!("unknown key `{key}`{nearest}")));
                }
            }
        }
        match kind.as_deref() {
            Some("BinaryQuadraticModel") => model.function().map_err(A::Error::custom),
            Some(other) => {
                let other = super::lines::quoted(other);
                Err(A::Error::custom(format!("`type` is `{other}`, not `BinaryQuadraticModel`")))
            }
            None => {
                let linear: Vec<f64> = linear.ok_or_else(|| A::Error::custom("missing key `linear`"))?;
                let pairs: Vec<f64> = pairs.ok_or_else(|| A::Error::custom("missing key `pairs`"))?;
                let bits = n.unwrap_or(linear.len());
                self.check_size(bits)?;
                check_count("linear", linear.len(), bits, bits)?;
                check_count("pairs", pairs.len(), bits, pair_count(bits))?;
                Quadratic::new(constant.unwrap_or(0.0), linear, pairs).map_err(A::Error::custom)
            }
        }
    }
}

/// A value of an object that is still to be read, and its key.
struct Value<'a, A> {
    key: &'a str,
    map: &'a mut A,
}

impl<A> Value<'_, A> {
    /// Reads it into a place that is empty, unless the key stands twice.
    fn put<'de, S: DeserializeSeed<'de>>(self, place: &mut Option<S::Value>, seed: S) -> Result<(), A::Error>
    where
        A: MapAccess<'de>,
    {
        if place.is_some() {
            return Err(A::Error::custom(format!("the key `{}` stands here twice", self.key)));
        }
        *place = Some(self.map.next_value_seed(seed)?);
        Ok(())
    }
}

/// Reads numbers, as many as there should be where that is known: a mistake is then found where it stands.
struct Numbers {
    key: &'static str,
    bits: Option<usize>,
    count: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Numbers {
    type Value = Vec<f64>;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Vec<f64>, D::Error> {
        let Some((bits, count)) = self.bits.zip(self.count) else { return Vec::deserialize(deserializer) };
        deserializer.deserialize_seq(Counted { key: self.key, bits, count })
    }
}

struct Counted {
    key: &'static str,
    bits: usize,
    count: usize,
}

impl<'de> Visitor<'de> for Counted {
    type Value = Vec<f64>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<f64>, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = entries.next_element()? {
            if numbers.len() == self.count {
                let (key, bits, count) = (self.key, self.bits, self.count);
                return Err(A::Error::custom(format!(
                    "`{key}` has more than {count} numbers for {bits} bits"
                )));
            }
            numbers.push(number);
        }
        check_count(self.key, numbers.len(), self.bits, self.count)?;
        Ok(numbers)
    }
}

fn check_count<E: serde::de::Error>(key: &str, found: usize, bits: usize, expected: usize) -> Result<(), E> {
    if found == expected {
        return Ok(());
    }
    Err(E::custom(format!("`{key}` has {found} numbers, and {bits} bits need {expected}")))
}

fn pair_count(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::formats::input;

    fn cause(text: &str) -> String {
        match read(&mut input(text)).unwrap_err().error {
            ProblemError::Content { cause } | ProblemError::Syntax { cause } => cause,
            other => other.to_string(),
        }
    }

    #[test]
    fn keys_come_in_any_order_and_some_may_be_left_out() {
        let expected = Quadratic::new(0.0, vec![1.0, 2.0, 3.0], vec![12.0, 13.0, 23.0]).unwrap();
        for text in [
            r#"{"n": 3, "constant": 0, "linear": [1, 2, 3], "pairs": [12, 13, 23]}"#,
            r#" {"pairs": [12, 13, 23.0], "linear": [1e0, 2, 3], "n": 3} "#,
            r#"{"linear": [1, 2, 3], "pairs": [12, 13, 23]}"#,
        ] {
            assert_eq!(read(&mut input(text)).unwrap(), expected);
        }
    }

    #[test]
    fn a_wrong_count_is_found_where_it_stands() {
        let place = |text: &str| read(&mut input(text)).unwrap_err().place;
        assert_eq!(place("{\"n\": 2,\n\"linear\": [1, 2, 3],\n\"pairs\": [1]}"), (2, 19), "after the third");
        assert_eq!(place("{\"n\": 2,\n\"linear\": [1],\n\"pairs\": [1]}"), (2, 13), "at the end of the list");
        assert_eq!(place("{\"linear\": [1, 2],\n\"pairs\": [1],\n\"n\": 3\n}"), (4, 1), "at the end of all");
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            cause(r#"{"linear": [1, 2], "pairs": [1, 2]}"#),
            "`pairs` has 2 numbers, and 2 bits need 1"
        );
        assert_eq!(cause(r#"{"linear": [1, 2]}"#), "missing key `pairs`");
        assert_eq!(cause(r#"{"n": 2, "n": 2}"#), "the key `n` stands here twice");
        assert_eq!(cause(r#"{"constnat": 2}"#), "unknown key `constnat`; did you mean `constant`?");
        assert_eq!(cause(r#"{"n": 10001}"#), "10001 bits are more than the 10000 that a problem may have");
        assert_eq!(cause(r#"{"linear": [], "pairs": []}"#), "a problem has at least one bit");
        assert_eq!(
            cause(r#"{"n": 1, "linear": [1e999]}"#),
            "a number ends here that is larger than a number can be"
        );
        assert_eq!(cause(r#"{"n": 1, "linear": [NaN]}"#), "expected value");
        assert_eq!(cause(r#"{"linear": [1], "pairs": []} {}"#), "trailing characters");
        assert_eq!(cause(r#"{"type": "SampleSet"}"#), "`type` is `SampleSet`, not `BinaryQuadraticModel`");
    }
}
