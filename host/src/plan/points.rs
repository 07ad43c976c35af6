//! Tables of points in the objective's own names, with or without what their evaluations gave.
//!
//! A column for each variable, named as it is or as tables of a run name it (`x.solvent`), with names of levels. `value`,
//! `status` (`ok`, `infeasible`, `failed`, `timed-out`) and `reason` say how an evaluation ended; `infeasible` and `failed` may be
//! columns of their own, with a reason or `true` in them.

use std::collections::BTreeMap;

use plugin_api::{Point, Space, Variable};
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Place, nearest};
use crate::files::csv::{self, Cell, Table};

/// How an evaluation ended that somebody else made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// In the objective's own terms; finite.
    Value(f64),
    /// Why the point is not allowed.
    Infeasible(String),
    /// Why there is no value.
    Failed(String),
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Where it begins.
    pub place: Place,
    /// The number of the evaluation, where the table has them.
    pub evaluation: Option<usize>,
    /// Absent only where the table has no variables.
    pub point: Option<Point>,
    pub known: Option<Known>,
}

/// A table that was read.
pub struct Rows {
    pub rows: Vec<Row>,
    /// Whether it is that of a run, which may have a point several times.
    pub of_run: bool,
}

/// Mistakes that are told; a wrong column has one in every line.
const MOST: usize = 20;

/// Reads a table; where something is wrong with it, everything that is.
///
/// Each line has a point, or, where `by_number`, at least the number of an evaluation.
pub fn read(label: &str, text: &str, space: &Space, by_number: bool) -> Result<Rows, Vec<Diagnostic>> {
    let mut reader = Reader { label, space, mistakes: Vec::new() };
    let mut mistakes = Vec::new();
    let table = csv::read(text, &mut mistakes);
    for mistake in mistakes {
        reader.wrong(mistake.place, Diagnostic::new(mistake.what));
    }
    let of_run = table.header.iter().any(|cell| cell.text.starts_with(PREFIX));
    let before = reader.mistakes.len();
    let columns = reader.columns(&table, of_run, by_number);
    let mut rows = Vec::new();
    // With a wrong header, every line would be wrong.
    if reader.mistakes.len() == before {
        rows = table.rows.iter().filter_map(|cells| reader.row(cells, &columns, table.separator)).collect();
    }
    reader.answer(Rows { rows, of_run })
}

/// What stands before a variable's name in the tables of a run.
const PREFIX: &str = "x.";

/// What the column of a variable is called: its name, unless that says how an evaluation ended.
pub fn column_name(variable: &str) -> String {
    let taken = NAMES.iter().any(|(name, _)| *name == variable) || variable.starts_with(['#', '"']);
    if taken { format!("{PREFIX}{variable}") } else { variable.to_owned() }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Variable(usize),
    Evaluation,
    Value,
    Status,
    Reason,
    Infeasible,
    Failed,
    /// Something that is not looked at.
    Other,
}

const NAMES: &[(&str, Column)] = &[
    ("evaluation", Column::Evaluation),
    ("value", Column::Value),
    ("status", Column::Status),
    ("reason", Column::Reason),
    ("infeasible", Column::Infeasible),
    ("failed", Column::Failed),
];

struct Reader<'a> {
    label: &'a str,
    space: &'a Space,
    mistakes: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn place(&self, (line, column): (usize, usize)) -> Place {
        Place::File(self.label.to_owned(), line, column)
    }

    fn wrong(&mut self, place: (usize, usize), what: Diagnostic) {
        self.mistakes.push(Diagnostic { place: Some(self.place(place)), ..what });
    }

    fn answer<T>(mut self, read: T) -> Result<T, Vec<Diagnostic>> {
        if self.mistakes.is_empty() {
            return Ok(read);
        }
        self.mistakes.sort();
        if let Some(more) = self.mistakes.len().checked_sub(MOST).filter(|&more| more > 0) {
            self.mistakes.truncate(MOST);
            self.mistakes.push(Diagnostic::new(format!("{more} more mistakes in {}", self.label)));
        }
        Err(self.mistakes)
    }

    fn columns(&mut self, table: &Table, of_run: bool, by_number: bool) -> Vec<Column> {
        let before = self.mistakes.len();
        let mut seen: BTreeMap<Column, &Cell> = BTreeMap::new();
        let mut columns = Vec::new();
        for cell in &table.header {
            let column = self.column(cell, of_run).unwrap_or(Column::Other);
            if column != Column::Other && seen.insert(column, cell).is_some() {
                self.wrong(cell.place, Diagnostic::new(format!("a second column `{}`", cell.text)));
            }
            columns.push(column);
        }
        let missing = |i: &usize| !seen.contains_key(&Column::Variable(*i));
        let missing: Vec<usize> = (0..self.space.dimension()).filter(missing).collect();
        let numbered = by_number && seen.contains_key(&Column::Evaluation);
        if numbered && missing.len() == self.space.dimension() {
            return columns;
        }
        // A misspelt name has been told already.
        if self.mistakes.len() == before {
            for i in missing {
                let name = self.space.variables()[i].name();
                let hint = match NAMES.iter().any(|(other, _)| *other == name) {
                    true => format!(
                        "`{name}` says how an evaluation ended; the variable's column is `{PREFIX}{name}`"
                    ),
                    false => "the first line has a name for each column".to_owned(),
                };
                let what = Diagnostic::new(format!("no column for the variable `{name}`"));
                self.wrong((1, 1), what.hint(hint));
            }
        }
        columns
    }

    fn column(&mut self, cell: &Cell, of_run: bool) -> Option<Column> {
        let variables = self.space.variables();
        let find = |name: &str| variables.iter().position(|variable| variable.name() == name);
        if let Some(name) = cell.text.strip_prefix(PREFIX)
            && let Some(i) = find(name)
        {
            return Some(Column::Variable(i));
        }
        if let Some((_, column)) = NAMES.iter().find(|(name, _)| *name == cell.text) {
            return Some(*column);
        }
        if let Some(i) = find(&cell.text) {
            return Some(Column::Variable(i));
        }
        let foreign = cell.text.starts_with(PREFIX);
        if cell.text.starts_with('#') || of_run && !foreign {
            return Some(Column::Other);
        }
        let prefix = if foreign { PREFIX } else { "" };
        let mut known: Vec<String> =
            variables.iter().map(|variable| format!("{prefix}{}", variable.name())).collect();
        known.extend(NAMES.iter().map(|(name, _)| (*name).to_owned()));
        let meant = nearest(&cell.text, known.iter().map(String::as_str));
        let hint = match meant {
            Some(name) => format!("did you mean `{name}`?"),
            None => "columns are named for variables, `value`, `status` and `reason`; one whose name begins with # is passed over"
                .to_owned(),
        };
        let what = Diagnostic::new(format!("`{}` is no variable of this objective", cell.text));
        self.wrong(cell.place, what.hint(hint));
        None
    }

    fn row(&mut self, cells: &[Cell], columns: &[Column], separator: char) -> Option<Row> {
        let before = self.mistakes.len();
        let get = |wanted: Column| {
            let at = columns.iter().position(|&column| column == wanted)?;
            Some(&cells[at]).filter(|cell| !cell.text.is_empty())
        };
        let evaluation = get(Column::Evaluation).and_then(|cell| {
            let number = cell.text.parse().ok().filter(|&number| number > 0);
            if number.is_none() {
                let what = Diagnostic::new(format!("`{}` is no number of an evaluation", cell.text));
                self.wrong(cell.place, what);
            }
            number
        });
        let known = self.known(&get, separator);
        let mut levels = Vec::new();
        for i in 0..self.space.dimension() {
            let Some(at) = columns.iter().position(|&column| column == Column::Variable(i)) else { break };
            levels.extend(self.level(&cells[at], i));
        }
        let point = (levels.len() == self.space.dimension()).then(|| Point::from(levels));
        if let Some(point) = point.as_ref().filter(|point| !self.space.admits(point)) {
            let holds = |rule: &&plugin_api::Constraint| !rule.holds(|index| point[index]);
            let broken = self.space.constraints().iter().find(holds);
            let rule = broken.map(|rule| self.space.describe_constraint(rule)).unwrap_or_default();
            let what = Diagnostic::new("this point breaks a constraint of the objective").because(rule);
            self.wrong(
                cells[0].place,
                what.hint("leave it out: no such point is proposed, and no model is told of it"),
            );
        }
        let place = self.place(cells[0].place);
        (self.mistakes.len() == before).then_some(Row { place, evaluation, point, known })
    }

    fn level(&mut self, cell: &Cell, variable: usize) -> Option<u32> {
        let variable = &self.space.variables()[variable];
        let found = level(variable, &cell.text);
        if found.is_none() {
            let name = variable.name();
            let what = match &cell.text[..] {
                "" => Diagnostic::new(format!("no level of `{name}`")),
                text => Diagnostic::new(format!("`{text}` is no level of `{name}`")),
            };
            let levels: Vec<&str> = variable.levels().iter().map(String::as_str).collect();
            let hint = match nearest(&cell.text, levels.iter().copied()) {
                Some(meant) if !cell.text.is_empty() => format!("did you mean `{meant}`?"),
                _ => format!("its levels are {}", short(&levels)),
            };
            self.wrong(cell.place, what.hint(hint));
        }
        found
    }

    /// How the evaluation ended; `None` where nobody knows, or where something is wrong.
    fn known<'c>(&mut self, get: &dyn Fn(Column) -> Option<&'c Cell>, separator: char) -> Option<Known> {
        let value = get(Column::Value).and_then(|cell| {
            let value = number(&cell.text, separator);
            if value.is_none() {
                let what = Diagnostic::new(format!("`{}` is no finite number", cell.text));
                self.wrong(cell.place, what.hint("an empty cell is a value that nobody knows"));
            }
            value.map(|value| (Known::Value(value), cell))
        });
        let reason = || get(Column::Reason).map(|cell| cell.text.clone()).unwrap_or_default();
        let status = get(Column::Status).and_then(|cell| match &cell.text.to_ascii_lowercase()[..] {
            "ok" if get(Column::Value).is_none() => {
                self.wrong(cell.place, Diagnostic::new("the status is `ok`, and there is no value"));
                None
            }
            "ok" => None,
            "infeasible" => Some((Known::Infeasible(reason()), cell)),
            "failed" => Some((Known::Failed(reason()), cell)),
            "timed-out" => Some((
                Known::Failed(
                    Some(reason())
                        .filter(|words| !words.is_empty())
                        .unwrap_or_else(|| "timed out".to_owned()),
                ),
                cell,
            )),
            other => {
                let what = Diagnostic::new(format!("`{other}` is no status"));
                self.wrong(cell.place, what.hint("`ok`, `infeasible`, `failed` or `timed-out`"));
                None
            }
        });
        let flagged = |column: Column, known: fn(String) -> Known| {
            let cell = get(column)?;
            match &cell.text.to_ascii_lowercase()[..] {
                "0" | "false" | "no" => None,
                "1" | "true" | "yes" => Some((known(reason()), cell)),
                _ => Some((known(cell.text.clone()), cell)),
            }
        };
        let infeasible = flagged(Column::Infeasible, Known::Infeasible);
        let failed = flagged(Column::Failed, Known::Failed);
        let mut all = [value, status, infeasible, failed].into_iter().flatten();
        let (first, _) = all.next()?;
        // A status and a column of its own may say the same.
        for (other, cell) in all {
            if std::mem::discriminant(&other) != std::mem::discriminant(&first) {
                let what = Diagnostic::new(format!("`{}` contradicts what else this line says", cell.text));
                self.wrong(cell.place, what.hint("an evaluation has a value, or is infeasible, or failed"));
            }
        }
        Some(first)
    }
}

/// The level with this name, or with this number: a table may have 1.0 for 1.
pub fn level(variable: &Variable, text: &str) -> Option<u32> {
    let levels = variable.levels();
    let named = |text: &str| levels.iter().position(|level| level == text);
    // Our own tables put a mark before what a spreadsheet would take for a formula.
    let marked = || text.strip_prefix('\'').and_then(named);
    let numbered = || {
        let number: f64 = text.parse().ok()?;
        let same = |level: &String| level.parse() == Ok(number);
        let at = levels.iter().position(same)?;
        (levels.iter().filter(|level| same(level)).count() == 1).then_some(at)
    };
    named(text).or_else(marked).or_else(numbered).map(|level| level as u32)
}

/// A finite number; with a decimal comma where semicolons stand between cells.
fn number(text: &str, separator: char) -> Option<f64> {
    let point = (separator == ';' && !text.contains('.')).then(|| text.replacen(',', ".", 1));
    point.as_deref().unwrap_or(text).parse().ok().filter(|value: &f64| value.is_finite())
}

fn short(names: &[&str]) -> String {
    const MOST: usize = 12;
    let listed = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{listed} and {} more", names.len() - MOST) } else { listed }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Constraint, Literal};

    use super::*;

    fn space() -> Space {
        let space = Space::new(vec![
            Variable::categorical("solvent", ["water", "ethanol", "-"]),
            Variable::ordered("dose", ["1", "2.5"]),
        ]);
        let rule = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(1, 1)]);
        space.unwrap().with_constraints(vec![rule]).unwrap()
    }

    fn read(text: &str) -> Result<Vec<Row>, Vec<String>> {
        let words = |diagnostic: &Diagnostic| {
            format!("{} {}", diagnostic.place.as_ref().unwrap(), diagnostic.message)
        };
        let read = super::read("t.csv", text, &space(), true);
        read.map(|read| read.rows).map_err(|mistakes| mistakes.iter().map(words).collect())
    }

    fn points(text: &str) -> Vec<(Vec<u32>, Option<Known>)> {
        let row = |row: Row| (row.point.map_or_else(Vec::new, |point| point.to_vec()), row.known);
        read(text).unwrap().into_iter().map(row).collect()
    }

    #[test]
    fn points_are_read_with_and_without_values() {
        let expected = [(vec![0, 1], Some(Known::Value(-0.5))), (vec![1, 0], None)];
        assert_eq!(points("dose,solvent,value\n2.5,water,-0.5\n1,ethanol,\n"), expected);
        // As spreadsheets of other countries have it.
        assert_eq!(points("dose;solvent;value\r\n2.50;water;-0,5\r\n1.0;ethanol;\r\n"), expected);
        assert_eq!(points("solvent,dose,# who\n-,1,me\n"), [(vec![2, 0], None)]);
    }

    #[test]
    fn the_tables_of_a_run_are_taken_as_they_are() {
        let text = "trial,method,penalty.l1,seed,evaluation,phase,status,value,penalty,total,best,regret,reason,x.solvent,x.dose\n\
            a,psr,1,1,1,initial,ok,3,0,3,3,,,'-,1\n\
            a,psr,1,1,2,search,infeasible,,0,,3,,too hot,water,2.5\n\
            a,psr,1,1,3,search,timed-out,,0,,3,,,water,1\n";
        let expected = [
            (vec![2, 0], Some(Known::Value(3.0))),
            (vec![0, 1], Some(Known::Infeasible("too hot".to_owned()))),
            (vec![0, 0], Some(Known::Failed("timed out".to_owned()))),
        ];
        assert_eq!(points(text), expected);
    }

    #[test]
    fn what_is_not_allowed_and_what_went_wrong_may_have_columns_of_their_own() {
        let text = "solvent,dose,value,infeasible,failed\nwater,1,,too hot,\nwater,1,,,yes\nwater,1,2,no,0\n";
        let known: Vec<Known> = points(text).into_iter().filter_map(|(_, known)| known).collect();
        let expected =
            [Known::Infeasible("too hot".to_owned()), Known::Failed(String::new()), Known::Value(2.0)];
        assert_eq!(known, expected);
    }

    #[test]
    fn evaluations_may_be_named_by_number_alone() {
        let rows = read("evaluation,value\n4,1.5\n5,\n").unwrap();
        assert_eq!((rows[0].evaluation, rows[0].point.clone()), (Some(4), None));
        assert_eq!(rows[1].known, None);
    }

    #[test]
    fn every_mistake_is_told_at_once_with_line_and_column() {
        let text = "solvent,dose,value,status\n\
            water,3,1,\n\
            wate,1,,\n\
            ethanol,2.5,1,\n\
            water,1,much,\n\
            water,1,,ok\n\
            water,1,1,failed\n\
            water,1,,broken\n\
            water,1\n";
        assert_eq!(
            read(text).unwrap_err(),
            [
                "t.csv:2:7 `3` is no level of `dose`",
                "t.csv:3:1 `wate` is no level of `solvent`",
                "t.csv:4:1 this point breaks a constraint of the objective",
                "t.csv:5:9 `much` is no finite number",
                "t.csv:6:10 the status is `ok`, and there is no value",
                "t.csv:7:11 `failed` contradicts what else this line says",
                "t.csv:8:10 `broken` is no status",
                "t.csv:9:1 2 cells, and the first line has 4",
            ][..]
        );
    }

    #[test]
    fn wrong_columns_are_named() {
        assert_eq!(
            read("solvnt,dose\nx,y\n").unwrap_err(),
            ["t.csv:1:1 `solvnt` is no variable of this objective"]
        );
        assert_eq!(
            read("solvent,vlaue\nx,y\n").unwrap_err(),
            ["t.csv:1:9 `vlaue` is no variable of this objective"]
        );
        assert_eq!(read("solvent,solvent,dose\n").unwrap_err(), ["t.csv:1:9 a second column `solvent`"]);
        assert_eq!(read("solvent\nwater\n").unwrap_err(), ["t.csv:1:1 no column for the variable `dose`"]);
        assert_eq!(read("x.solvent,x.doses,x.dose\n").unwrap_err().len(), 1);
        assert_eq!(read("").unwrap_err().len(), 2);
    }

    #[test]
    fn a_wrong_column_does_not_fill_the_screen() {
        let text = format!("solvent,dose\n{}", "water,9\n".repeat(100));
        let mistakes = super::read("t.csv", &text, &space(), false).map(|_| ()).unwrap_err();
        assert_eq!((mistakes.len(), &mistakes[20].message[..]), (21, "80 more mistakes in t.csv"));
    }
}
