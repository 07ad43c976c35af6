//! Parses arguments, calls the library, chooses the exit code.

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use host::cli::Arguments;
use host::diagnostic::LogFormat;
use host::paint::Color;
use host::text::PlainErrors;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

fn main() -> ExitCode {
    let color = Color::of_arguments(std::env::args_os().map(|word| word.to_string_lossy().into_owned()));
    let matches = Arguments::command().color(color.into()).try_get_matches();
    let matches = matches.unwrap_or_else(|error| {
        // Seeds are a key of the manifest, and clap would suggest `--set` without a word of how.
        let seed = error.get(ContextKind::InvalidArg).is_some_and(
            |word| matches!(word, ContextValue::String(word) if word == "--seed" || word == "--seeds"),
        );
        if seed {
            let _ = error.print();
            eprintln!("\n  hint: --set 'seeds=[3]' runs seed 3 alone, --set seeds=3 the seeds 1, 2 and 3");
            std::process::exit(error.exit_code());
        }
        error.exit()
    });
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    arguments.color.choose();
    log_to_stderr(arguments.verbose, arguments.log_format);
    host::commands::run(arguments)
}

fn log_to_stderr(verbose: u8, format: LogFormat) {
    let levels = [LevelFilter::WARN, LevelFilter::INFO, LevelFilter::DEBUG, LevelFilter::TRACE];
    let level = levels[usize::from(verbose.min(3))];
    let named: Option<Targets> = std::env::var("HOST_LOG").ok().and_then(|text| text.parse().ok());
    let filter = named.unwrap_or_else(|| Targets::new().with_default(level));
    let logs = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(|| PlainErrors)
        .with_ansi(false)
        .log_internal_errors(false)
        .without_time();
    match format {
        LogFormat::Text => logs.finish().with(filter).init(),
        LogFormat::Json => logs.json().finish().with(filter).init(),
    }
}
