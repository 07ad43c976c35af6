//! `host completions`: scripts for shells, made from the declaration of the arguments.

use clap::CommandFactory;
use clap_complete::{Generator, generate, shells};

use crate::cli::{Arguments, Shell};

pub(super) fn script(shell: Shell) -> String {
    match shell {
        Shell::Bash => of(shells::Bash),
        Shell::Zsh => of(shells::Zsh),
        Shell::Fish => of(shells::Fish),
    }
}

fn of(generator: impl Generator) -> String {
    let mut script = Vec::new();
    generate(generator, &mut Arguments::command(), "host", &mut script);
    String::from_utf8_lossy(&script).trim_end().to_owned()
}
