//! An error → the lines a person reads: what is wrong, where, why, and what to do.

use std::fmt;
use std::path::Path;

/// How logs and progress are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people: bars on a terminal, a line now and then where there is none.
    #[default]
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// One mistake, ready to be read. It reads well without colour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Where: `experiments/ising.yaml:15:20`, or `--set penalty.l2=1`.
    pub place: Option<Place>,
    /// What is wrong: a lowercase fragment.
    pub message: String,
    /// Why.
    pub cause: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

/// Where a mistake stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a file, at a line and column, both from 1.
    File(String, usize, usize),
    /// In an argument of the command line.
    Argument(String),
}

impl Diagnostic {
    /// A mistake with a message alone.
    pub fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into(), cause: None, hint: None }
    }

    /// With its reason.
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// With what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Json => "json",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file, line, column) => write!(f, "{file}:{line}:{column}"),
            Self::Argument(argument) => f.write_str(argument),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(place) = &self.place {
            write!(f, "\n  --> {place}")?;
        }
        if let Some(cause) = &self.cause {
            write!(f, "\n  cause: {cause}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// The name among `known` that somebody who wrote `word` probably meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let distance = |name: &&str| strsim::damerau_levenshtein(word, name);
    let best = known.into_iter().min_by_key(|name| (distance(name), *name))?;
    let letters = best.chars().count();
    // A single letter is not another one misspelt.
    (distance(&best) <= (letters / 3).max(1) && distance(&best) < letters).then(|| best.to_owned())
}

/// The language of a program, and how a manifest uses one; `None` where the file is none by its name.
pub fn program(path: &Path) -> Option<(&'static str, String)> {
    const LANGUAGES: [(&str, &str, &str); 5] = [
        ("py", "Python", "python3, "),
        ("sh", "the shell's language", "sh, "),
        ("R", "R", "Rscript, "),
        ("jl", "Julia", "julia, "),
        ("js", "JavaScript", "node, "),
    ];
    let (extension, name) = (path.extension()?.to_str()?, path.file_name()?.to_str()?);
    let (_, language, interpreter) = LANGUAGES.iter().find(|(known, ..)| *known == extension)?;
    let way = format!(
        "a program is an objective by `benchmark: {{ use: command, options: {{ run: [{interpreter}{name}] }} }}` in a manifest"
    );
    Some((language, way))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name() {
        let (language, way) = program(Path::new("in/filters.py")).unwrap();
        assert!(language == "Python" && way.contains("run: [python3, filters.py]"), "{way}");
        assert!(program(Path::new("filters.yaml")).is_none() && program(Path::new("py")).is_none());
    }

    #[test]
    fn the_nearest_name_is_a_near_one() {
        let known = ["psr", "sdp", "annealing"];
        assert_eq!(nearest("prs", known).as_deref(), Some("psr"));
        assert_eq!(nearest("anealing", known).as_deref(), Some("annealing"));
        assert_eq!(nearest("tabu", known), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!((nearest("3", ["1", "2"]), nearest("s9", ["s1"]).as_deref()), (None, Some("s1")));
    }
}
