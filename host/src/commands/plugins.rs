//! `host plugins list`, `host plugins describe` and `host plugins check`.

use std::process::ExitCode;
use std::time::Duration;

use plugin_api::Kind;
use serde_json::Value as Json;

use super::{Printed, print, refuse};
use crate::check::{self, Checked};
use crate::cli::CheckArguments;
use crate::diagnostic::{Diagnostic, Place, nearest};
use crate::manifest::overrides::parse_plugin;
use crate::manifest::read_plugin;
use crate::plugins::locate::Folders;
use crate::plugins::{PluginArguments, describe as words};
use crate::text::say;

pub(super) fn list(plugins: &PluginArguments, as_json: bool) -> Printed {
    let folders = Folders::of(plugins, &[]);
    let (found, broken) = words::find(&folders);
    for error in &broken {
        say(format!("warning: {error}"));
    }
    if as_json {
        let list: Vec<Json> = found.iter().map(|plugin| words::json(plugin, false)).collect();
        return Ok(serde_json::to_string_pretty(&list).expect("descriptions are plain data"));
    }
    if found.is_empty() {
        return Err(vec![
            Diagnostic::new("no plugins found")
                .because(format!("searched: {}", folders.names().join(", ")))
                .hint(
                    "`host plugins install DIR` copies built ones to where this program finds them; --plugin-dir names another folder",
                ),
        ]);
    }
    Ok(words::list(&found))
}

pub(super) fn describe(name: &str, plugins: &PluginArguments, as_json: bool) -> Printed {
    let (found, _) = words::find(&Folders::of(plugins, &[]));
    let named: Vec<_> = found.iter().filter(|plugin| plugin.name == name).collect();
    if named.is_empty() {
        let nearest = nearest(name, found.iter().map(|plugin| plugin.name.as_str()));
        let diagnostic = Diagnostic::new(format!("no plugin named `{name}`"));
        let hint = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
        return Err(vec![diagnostic.hint(format!("{hint}`host plugins list` shows all"))]);
    }
    if as_json {
        let list: Vec<Json> = named.iter().map(|plugin| words::json(plugin, true)).collect();
        return Ok(serde_json::to_string_pretty(&list).expect("descriptions are plain data"));
    }
    Ok(named.iter().map(|plugin| words::describe(plugin)).collect::<Vec<_>>().join("\n\n"))
}

/// Each plugin of the name, in a process of its own.
pub(super) fn check(arguments: &CheckArguments) -> ExitCode {
    let CheckArguments { plugin, plugins, json, time_limit, kind, options, child } = arguments;
    let folders = Folders::of(plugins, &[]);
    if let (Some(kind), Some(options), Some(mark)) = (kind, options, child) {
        let kind: Kind = kind.parse().expect("the host writes the kind");
        let options: Json = serde_json::from_str(options).expect("the host writes the options");
        return check::child(kind, plugin.as_ref(), &options, &folders, mark);
    }
    match checked(plugin, &folders, plugins.allow_insecure, time_limit.0) {
        Ok(all) => {
            let kept = all.iter().all(Checked::is_kept);
            let text = match json {
                true => all.iter().map(|one| check::json(one).to_string()).collect::<Vec<_>>().join("\n"),
                false => all.iter().map(check::table).collect::<Vec<_>>().join("\n\n"),
            };
            let printed = print(&text);
            if kept { printed } else { ExitCode::FAILURE }
        }
        Err(diagnostic) => {
            let place = Some(Place::Argument(plugin.clone()));
            refuse(&[Diagnostic { place, ..diagnostic }])
        }
    }
}

fn checked(
    argument: &str,
    folders: &Folders,
    insecure: bool,
    limit: Duration,
) -> Result<Vec<Checked>, Diagnostic> {
    let (_, value) = parse_plugin("plugin", argument)?;
    let mut mistakes = Vec::new();
    let used = read_plugin(&value, Kind::Solver, &mut mistakes);
    let used = used.ok_or_else(|| mistakes.remove(0).what)?;
    let targets = check::targets(&used.name, &used.options, folders)?;
    targets.into_iter().map(|target| check::check(target, insecure, limit)).collect()
}
