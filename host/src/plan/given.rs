//! The points that an experiment begins with, from the table that `initial.points` names.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use plugin_api::{Point, Space};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::hash::hex;
use super::points::{self, Known, Row, Rows};
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::Source;

/// A point that comes first, and how its evaluation ended, where somebody knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenPoint {
    pub point: Point,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Known>,
}

/// The table as it is kept in the run's folder, where its name says what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointsFile {
    pub name: String,
    pub text: String,
}

/// The points of a table, those with known results first.
#[derive(Debug, PartialEq)]
pub(super) struct Given {
    pub(super) file: PointsFile,
    pub(super) points: Rc<Vec<GivenPoint>>,
}

/// No table has more bytes than this.
const LARGEST: u64 = 64_000_000;

/// Tables that were read at other points of a sweep.
#[derive(Default)]
pub(super) struct Tables(BTreeMap<(String, String, bool), Rc<Given>>);

impl Tables {
    /// The points of the table at `path`, which the manifest names from its folder.
    pub(super) fn read(
        &mut self,
        source: &Source,
        path: &str,
        space: &Space,
        deterministic: bool,
    ) -> Result<Rc<Given>, Vec<Diagnostic>> {
        let key =
            (path.to_owned(), serde_json::to_string(space).expect("a space is plain data"), deterministic);
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let given = Rc::new(given(source, path, space, deterministic)?);
        self.0.insert(key, given.clone());
        Ok(given)
    }
}

fn given(source: &Source, path: &str, space: &Space, deterministic: bool) -> Result<Given, Vec<Diagnostic>> {
    let beside = Path::new(&source.label).parent().unwrap_or(Path::new("")).join(path);
    let label = beside.display().to_string();
    let text = text(&source.base.join(path), &label).map_err(|diagnostic| vec![diagnostic])?;
    let name = format!("points-{}.csv", &hex(&Sha256::digest(&text))[..16]);
    // A copy in a run's folder has to be what it was.
    let is_copy = path.strip_prefix("points-").and_then(|rest| rest.strip_suffix(".csv"));
    if path != name
        && is_copy.is_some_and(|hash| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Err(vec![
            Diagnostic::new(format!("{label} was changed after the run was begun"))
                .because("its name has a hash of what was in it")
                .hint("put it back from a copy; or give a changed table another name, for a new run"),
        ]);
    }
    let Rows { rows, of_run } = points::read(&label, &text, space, false)?;
    if rows.is_empty() {
        return Err(vec![Diagnostic::new(format!("there is no point in {label}"))]);
    }
    let rows = without_repeats(rows, of_run, deterministic)?;
    let (known, open): (Vec<GivenPoint>, Vec<GivenPoint>) =
        rows.into_iter().partition(|given| given.known.is_some());
    Ok(Given { file: PointsFile { name, text }, points: Rc::new([known, open].concat()) })
}

fn text(path: &Path, label: &str) -> Result<String, Diagnostic> {
    use std::io::Read;
    let cannot = |error: std::io::Error| {
        Diagnostic::new(format!("cannot read {label}"))
            .because(error)
            .hint("`initial.points` is a CSV file, from the manifest's folder")
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Diagnostic::new(format!("{label} is too long"))
            .because(format!("it has more than {} MB", LARGEST / 1_000_000)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
        let what = Diagnostic::new("this is not text in UTF-8").hint("save the table as CSV in UTF-8");
        Diagnostic { place: Some(Place::File(label.to_owned(), line, column)), ..what }
    })
}

/// Each point once; where the objective is noisy, each value. A run's table has a point once for each of its trials, any other
/// table has one twice by mistake.
fn without_repeats(
    rows: Vec<Row>,
    of_run: bool,
    deterministic: bool,
) -> Result<Vec<GivenPoint>, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let mut seen: BTreeMap<Point, (Place, Option<Known>)> = BTreeMap::new();
    let mut points = Vec::new();
    for Row { place, point, known, .. } in rows {
        let point = point.expect("a table without numbers has points");
        let measured = !deterministic && matches!(known, Some(Known::Value(_)));
        match seen.get(&point) {
            Some((first, before)) if !measured => {
                let (first, same) = (first.to_string(), *before == known);
                let contradicts =
                    matches!((before, &known), (Some(Known::Value(a)), Some(Known::Value(b))) if a != b);
                if of_run && !contradicts {
                    continue;
                }
                let what = match same {
                    true => "this point stands here twice",
                    false => "this point stands here twice, with different results",
                };
                let what = Diagnostic::new(what).because(format!("it is at {first} too"));
                let hint = match of_run {
                    true => "these are trials of different instances: keep those of one seed",
                    false => {
                        "keep one of them; only an objective that says it is noisy has several values of a point"
                    }
                };
                mistakes.push(Diagnostic { place: Some(place), ..what.hint(hint) });
            }
            Some(_) => points.push(GivenPoint { point, known }),
            None => {
                seen.insert(point.clone(), (place, known.clone()));
                points.push(GivenPoint { point, known });
            }
        }
    }
    if mistakes.is_empty() { Ok(points) } else { Err(mistakes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, deterministic: bool) -> Result<Vec<String>, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("d.csv"), text).unwrap();
        let source =
            Source { label: "m.yaml".to_owned(), text: String::new(), base: folder.path().to_owned() };
        let given = Tables::default().read(&source, "d.csv", &Space::binary(2), deterministic);
        let words = |given: &GivenPoint| format!("{:?} {:?}", given.point.to_vec(), given.known);
        match given {
            Ok(given) => Ok(given.points.iter().map(words).collect()),
            Err(mistakes) => Err(mistakes.iter().map(|mistake| mistake.to_string()).collect()),
        }
    }

    #[test]
    fn known_results_come_first() {
        let read = read("x1,x2,value\n0,1,\n1,1,2\n", true).unwrap();
        assert_eq!(read, ["[1, 1] Some(Value(2.0))", "[0, 1] None"]);
    }

    #[test]
    fn a_point_twice_is_named_but_in_the_tables_of_a_run() {
        let twice = "x1,x2,value\n0,1,1\n1,1,2\n0,1,1\n";
        let mistakes = read(twice, true).unwrap_err();
        assert!(mistakes[0].contains("d.csv:4:1\n  cause: it is at d.csv:2:1 too"), "{mistakes:?}");
        assert_eq!(read(&twice.replace("x1,x2", "x.x1,x.x2"), true).unwrap().len(), 2);
        let other = twice.replace("0,1,1\n1", "0,1,7\n1");
        assert!(read(&other, true).unwrap_err()[0].contains("with different results"));
        assert!(read(&other.replace("x1,x2", "x.x1,x.x2"), true).is_err());
        // A noisy objective is measured again.
        assert_eq!(read(&other, false).unwrap().len(), 3);
    }

    #[test]
    fn a_copy_that_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let source =
            Source { label: "plan.yaml".to_owned(), text: String::new(), base: folder.path().to_owned() };
        let read = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            Tables::default().read(&source, name, &Space::binary(1), true)
        };
        let first = read("d.csv", "x1\n1\n").unwrap();
        let name = first.file.name.clone();
        assert_eq!(read(&name, "x1\n1\n").unwrap(), first);
        let refused = read(&name, "x1\n0\n").unwrap_err();
        assert!(refused[0].message.ends_with("was changed after the run was begun"), "{refused:?}");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        assert!(read("x1,x2\n", true).unwrap_err()[0].starts_with("error: there is no point in d.csv"));
        let source = Source { label: "-".to_owned(), text: String::new(), base: "/nowhere".into() };
        let missing = Tables::default().read(&source, "d.csv", &Space::binary(1), true).unwrap_err();
        assert_eq!(missing[0].message, "cannot read d.csv");
    }
}
