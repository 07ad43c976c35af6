//! Comma-separated text, cell by cell with its place. Own code, because a mistake is to be told by line and column.
//!
//! What spreadsheets write is taken: a mark before the text, ends of lines of every system, quotes, and semicolons or tabs
//! between cells where the first line has them. What could be read in two ways is refused.

/// A table: the first line, and the others.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) header: Vec<Cell>,
    /// Each has as many cells as the header.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// What stands between two cells.
    pub(crate) separator: char,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) place: (usize, usize),
}

/// What is wrong, at a line and a column, both from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) place: (usize, usize),
    pub(crate) what: String,
}

/// Reads a table; what is wrong goes to `mistakes`, and the rest is read all the same.
pub(crate) fn read(text: &str, mistakes: &mut Vec<Mistake>) -> Table {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let separator = separator(text);
    let mut letters = Letters { rest: text.chars().peekable(), line: 1, column: 1 };
    let mut table = Table { separator, ..Table::default() };
    let mut header = None;
    while letters.rest.peek().is_some() {
        let Some(row) = row(&mut letters, separator, mistakes) else { continue };
        let width = *header.get_or_insert(row.len());
        if table.header.is_empty() {
            table.header = row;
        } else if row.len() == width {
            table.rows.push(row);
        } else {
            let what = format!("{} cells, and the first line has {width}", row.len());
            mistakes.push(Mistake { place: row[0].place, what });
        }
    }
    table
}

/// What stands between the cells of the first line: the first separator outside of quotes.
fn separator(text: &str) -> char {
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' | ';' | '\t' if !quoted => return letter,
            '\n' | '\r' if !quoted => break,
            _ => {}
        }
    }
    ','
}

struct Letters<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    line: usize,
    column: usize,
}

impl Letters<'_> {
    /// The next one; the end of a line is `\n`, whatever the system.
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        let ends = match letter {
            '\r' => {
                let _ = self.rest.next_if_eq(&'\n');
                true
            }
            letter => letter == '\n',
        };
        if ends {
            (self.line, self.column) = (self.line + 1, 1);
            return Some('\n');
        }
        self.column += 1;
        Some(letter)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|&letter| if letter == '\r' { '\n' } else { letter })
    }
}

/// The cells of a line; `None` where there is nothing in it.
fn row(letters: &mut Letters<'_>, separator: char, mistakes: &mut Vec<Mistake>) -> Option<Vec<Cell>> {
    let mut cells = Vec::new();
    loop {
        let (cell, quoted) = cell(letters, separator, mistakes);
        let empty = cell.text.is_empty() && !quoted;
        cells.push(cell);
        match letters.next() {
            Some(letter) if letter == separator => {}
            _ => return (cells.len() > 1 || !empty).then_some(cells),
        }
    }
}

/// One cell, up to what ends it; and whether it stands in quotes.
fn cell(letters: &mut Letters<'_>, separator: char, mistakes: &mut Vec<Mistake>) -> (Cell, bool) {
    let ends = |letter: Option<char>| letter.is_none_or(|letter| letter == '\n' || letter == separator);
    while letters.peek() == Some(' ') {
        letters.next();
    }
    let place = (letters.line, letters.column);
    let mut text = String::new();
    if letters.peek() != Some('"') {
        while !ends(letters.peek()) {
            text.extend(letters.next());
        }
        if text.contains('"') {
            let what =
                "a quote in the middle of a cell: put all of the cell in quotes, and double those in it";
            mistakes.push(Mistake { place, what: what.to_owned() });
        }
        return (Cell { text: text.trim_end().to_owned(), place }, false);
    }
    letters.next();
    loop {
        match letters.next() {
            Some('"') if letters.peek() == Some('"') => text.extend(letters.next()),
            Some('"') => break,
            Some(letter) => text.push(letter),
            None => {
                mistakes.push(Mistake { place, what: "this quote is not closed".to_owned() });
                return (Cell { text, place }, true);
            }
        }
    }
    let behind = (letters.line, letters.column);
    let mut rest = String::new();
    while !ends(letters.peek()) {
        rest.extend(letters.next());
    }
    if !rest.trim().is_empty() {
        let what = "words behind a closed quote: double the quotes that belong to a cell".to_owned();
        mistakes.push(Mistake { place: behind, what });
    }
    (Cell { text, place }, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<Vec<String>> {
        let mut mistakes = Vec::new();
        let table = read(text, &mut mistakes);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let rows = std::iter::once(&table.header).chain(&table.rows);
        rows.map(|row| row.iter().map(|cell| cell.text.clone()).collect()).collect()
    }

    #[test]
    fn what_spreadsheets_write_is_taken() {
        let expected = [vec!["a", "b, c"], vec!["1", "say \"hi\""], vec!["", "two\nlines"]];
        let text = "a,\"b, c\"\n1,\"say \"\"hi\"\"\"\n,\"two\nlines\"\n";
        assert_eq!(texts(text), expected);
        assert_eq!(texts(&format!("\u{feff}{}", text.replace('\n', "\r\n"))), expected);
        assert_eq!(texts(text.trim_end()), expected);
        assert_eq!(texts("a ; b\n\n 1;2,5 \n;\n"), [["a", "b"], ["1", "2,5"], ["", ""]]);
        assert_eq!(texts("a\tb\r1\t2"), [["a", "b"], ["1", "2"]]);
        assert_eq!(texts(""), [Vec::<String>::new()]);
    }

    #[test]
    fn every_mistake_has_its_place() {
        let mut mistakes = Vec::new();
        let table = read("a,b\n1\n1,x\"y\"\n1,\"x\" y\n1,2,3\n1, \"x\n", &mut mistakes);
        let places: Vec<(usize, usize)> = mistakes.iter().map(|mistake| mistake.place).collect();
        assert_eq!(places, [(2, 1), (3, 3), (4, 6), (5, 1), (6, 4)], "{mistakes:?}");
        assert_eq!(table.rows[0][1].place, (3, 3));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_told(text in "[a,;\t\"\r\n ]{0,40}") {
            let mut mistakes = Vec::new();
            let table = read(&text, &mut mistakes);
            prop_assert!(table.rows.iter().all(|row| row.len() == table.header.len()));
        }

        #[test]
        fn quoted_cells_are_read_as_they_were(cells in proptest::collection::vec("[a,\"\n ]{0,6}", 2..5)) {
            let quoted: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
            prop_assert_eq!(&texts(&quoted.join(","))[0], &cells);
        }
    }
}
