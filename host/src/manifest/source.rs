//! The text of a manifest: where it comes from, and the tree in it.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::yaml;
use crate::diagnostic::{Diagnostic, Place, program};

/// The text of a manifest, and where it comes from.
pub struct Source {
    /// The file as people call it.
    pub label: String,
    /// What it says.
    pub text: String,
    /// What paths in it start from; absolute.
    pub base: PathBuf,
}

/// What the standard input is called.
const STDIN: &str = "<stdin>";

/// No manifest has more bytes than this.
const LONGEST: u64 = 2_000_000;

impl Source {
    /// Reads a file, or the standard input for `-`.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let label = path.display().to_string();
        if let Some((language, way)) = program(path) {
            return Err(Diagnostic::new(format!("{label} is no manifest"))
                .because(format!("a manifest is YAML, and this is a file in {language}"))
                .hint(way));
        }
        let (label, opened): (_, std::io::Result<Box<dyn Read>>) = if label == "-" {
            (STDIN.to_owned(), Ok(Box::new(std::io::stdin())))
        } else {
            (label, std::fs::File::open(path).map(|file| Box::new(file) as Box<dyn Read>))
        };
        let mut text = String::new();
        let read = opened.and_then(|input| input.take(LONGEST + 1).read_to_string(&mut text));
        read.map_err(|error| Diagnostic::new(format!("cannot read {label}")).because(error))?;
        if text.len() as u64 > LONGEST {
            return Err(Diagnostic::new(format!("{label} is too long for a manifest"))
                .because(format!("it has more than {} MB", LONGEST / 1_000_000)));
        }
        // Some editors put a mark before the text that says how it is encoded.
        if let Some(rest) = text.strip_prefix('\u{feff}') {
            text = rest.to_owned();
        }
        let base = path.parent().unwrap_or(Path::new("")).to_owned();
        let base = std::path::absolute(&base).or_else(|_| std::env::current_dir());
        let base = base.map_err(|error| Diagnostic::new("the current folder is gone").because(error))?;
        Ok(Self { label, text, base })
    }

    /// Whether it came from the standard input, which can be read once.
    pub fn is_stdin(&self) -> bool {
        self.label == STDIN
    }

    /// The YAML in it.
    pub fn parse(&self) -> Result<Value, Diagnostic> {
        if let Some(place) = yaml::too_deep(&self.text) {
            return Err(self
                .at(place, Diagnostic::new("too many brackets are open here"))
                .hint("no manifest needs more than a few; is one not closed?"));
        }
        serde_yaml::from_str(&self.text).map_err(|error: serde_yaml::Error| {
            if let Some((key, place)) = yaml::duplicate(&self.text) {
                let hint = "keep one of them; several values go into a list or under names of their own";
                return self
                    .at(place, Diagnostic::new(format!("the key `{key}` stands here twice")))
                    .hint(hint);
            }
            let place = error.location().map_or((1, 1), |place| (place.line(), place.column()));
            let text = error.to_string();
            // The parser repeats the place in its words.
            let cause = text.split(" at line ").next().unwrap_or(&text).to_owned();
            let line = self.text.lines().nth(place.0.saturating_sub(1)).unwrap_or_default();
            let tab = line.trim_start_matches(' ').starts_with('\t');
            let diagnostic = self.at(place, Diagnostic::new("this is not valid YAML").because(cause));
            if tab {
                diagnostic.hint("there is a tab at the beginning of the line: indent with spaces")
            } else {
                diagnostic
            }
        })
    }

    fn at(&self, (line, column): yaml::LineColumn, diagnostic: Diagnostic) -> Diagnostic {
        Diagnostic { place: Some(Place::File(self.label.clone(), line, column)), ..diagnostic }
    }
}
