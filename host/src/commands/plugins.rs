//! `host plugins list` and `host plugins describe`.

use serde_json::Value as Json;

use super::Printed;
use crate::diagnostic::{Diagnostic, nearest};
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
                    "`cargo build --release` builds them beside the host; --plugin-dir names another folder",
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
