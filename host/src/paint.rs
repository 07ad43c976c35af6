//! Colours on a terminal and none elsewhere, unless `--color` insists.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// When there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless the variable `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Never => "never",
        })
    }
}

impl From<Color> for clap::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

impl Color {
    /// What these arguments say, before they are parsed: a mistake in them is told with or without colours too.
    pub fn of_arguments(arguments: impl Iterator<Item = String>) -> Self {
        let mut chosen = Self::default();
        let mut arguments = arguments.skip(1).take_while(|argument| argument != "--");
        while let Some(argument) = arguments.next() {
            let value = match argument.split_once('=') {
                Some(("--color", value)) => Some(value.to_owned()),
                None if argument == "--color" => arguments.next(),
                _ => None,
            };
            let value = value.and_then(|value| clap::ValueEnum::from_str(&value, false).ok());
            chosen = value.unwrap_or(chosen);
        }
        chosen
    }

    /// From now on, what is said on the error output has colours or has none.
    pub fn choose(self) {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let on = match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => std::io::stderr().is_terminal() && !set("NO_COLOR") && !dumb(),
        };
        ON.store(on, Ordering::Relaxed);
    }
}

static ON: AtomicBool = AtomicBool::new(false);

/// What begins the lines of a message, each with the codes of its colour: bold red, bold yellow, blue, bold, green.
const WORDS: [(&str, &str); 5] =
    [("error:", "1;31"), ("warning:", "1;33"), ("-->", "34"), ("cause:", "1"), ("hint:", "32")];

/// A message as it goes to the error output. It has no control characters of its own.
pub(crate) fn painted(message: Cow<'_, str>) -> Cow<'_, str> {
    if ON.load(Ordering::Relaxed) {
        message.split_inclusive('\n').map(line).collect::<String>().into()
    } else {
        message
    }
}

fn line(line: &str) -> String {
    let words = line.trim_start();
    let indent = &line[..line.len() - words.len()];
    let found = WORDS.iter().find_map(|(word, code)| Some((word, code, words.strip_prefix(word)?)));
    match found {
        Some((word, code, rest)) => format!("{indent}\u{1b}[{code}m{word}\u{1b}[0m{rest}"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_arguments_say_of_colours_is_known_before_they_are_parsed() {
        let of = |words: &str| Color::of_arguments(words.split(' ').map(str::to_owned));
        assert_eq!(of("host run x.yaml"), Color::Auto);
        assert_eq!(of("host --color never run"), Color::Never);
        assert_eq!(of("host run --color=always"), Color::Always);
        assert_eq!(of("host run --color=blue --color"), Color::Auto);
        assert_eq!(of("host run -- --color=always"), Color::Auto);
    }

    #[test]
    fn the_words_that_begin_a_line_are_painted_and_nothing_else() {
        assert_eq!(line("  cause: error: x\n"), "  \u{1b}[1mcause:\u{1b}[0m error: x\n");
        assert_eq!(line("no error: x"), "no error: x");
    }
}
