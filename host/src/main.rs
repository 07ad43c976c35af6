//! Parses arguments, calls the library, prints an error, chooses the exit code.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use host::cli::{Arguments, Command, LogFormat, PluginsCommand};
use host::diagnostic::Diagnostic;
use tracing_subscriber::EnvFilter;

/// The request was wrong.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr(arguments.verbose, arguments.log_format);
    let format = arguments.log_format;
    match arguments.command {
        Command::Run(arguments) => match host::run(&arguments, format) {
            Ok((text, true)) => print(&text),
            Ok((text, false)) => {
                print(&text);
                ExitCode::FAILURE
            }
            Err(diagnostics) => refuse(&diagnostics),
        },
        Command::Plan { manifest, json } => printed(host::plan(&manifest, json)),
        Command::Report(arguments) => printed(host::report(&arguments)),
        Command::Export(arguments) => printed(host::export(&arguments)),
        Command::Solve(arguments) => match host::solve(&arguments, &mut std::io::stdout()) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(diagnostics) => refuse(&diagnostics),
        },
        Command::Plugins(PluginsCommand::List { plugins, json }) => {
            printed(host::plugins_list(&plugins, json))
        }
        Command::Plugins(PluginsCommand::Describe { name, plugins, json }) => {
            printed(host::plugins_describe(&name, &plugins, json))
        }
        Command::Schema { plugins } => printed(host::manifest_schema(&plugins)),
        Command::Trial { folder, id, plugins, attached: true, allow_changed_plugins } => {
            host::run::child::child(&folder, &id, &plugins, allow_changed_plugins)
        }
        Command::Trial { folder, id, plugins, attached: false, allow_changed_plugins } => {
            match host::trial(&folder, &id, &plugins, allow_changed_plugins, arguments.log_format) {
                Ok(true) => ExitCode::SUCCESS,
                Ok(false) => ExitCode::FAILURE,
                Err(diagnostics) => refuse(&diagnostics),
            }
        }
    }
}

fn log_to_stderr(verbose: u8, format: LogFormat) {
    let level = ["warn", "info", "debug", "trace"][usize::from(verbose.min(3))];
    let filter = EnvFilter::try_from_env("HOST_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).without_time();
    match format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().init(),
    }
}

fn printed(printed: host::Printed) -> ExitCode {
    match printed {
        Ok(text) => print(&text),
        Err(diagnostics) => refuse(&diagnostics),
    }
}

/// Prints what was asked for. A reader that has seen enough (`host … | head`) is no error.
fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

fn refuse(diagnostics: &[Diagnostic]) -> ExitCode {
    let blocks: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    eprintln!("{}", blocks.join("\n\n"));
    WRONG.into()
}
