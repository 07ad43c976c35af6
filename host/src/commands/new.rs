//! `host plugins new`: the folder of a plugin of one's own, ready to be built and run.

use std::path::Path;

use plugin_api::load::Description;
use serde_json::json;

use super::{Printed, schema};
use crate::cli::NewArguments;
use crate::diagnostic::Diagnostic;
use crate::plugins::describe;
use crate::plugins::locate::Folders;
use crate::skeleton::{self, File, SCHEMA, Skeleton, Wish, skeleton};

pub(super) fn new(arguments: &NewArguments) -> Printed {
    let NewArguments { kind, name, path, lang, api, plugins } = arguments;
    let wish = Wish { kind: (*kind).into(), name, language: *lang };
    let api = api.clone().or_else(skeleton::api);
    let api = api.and_then(|api| std::path::absolute(api).ok());
    let mut made = skeleton(&wish, api.as_deref()).map_err(|diagnostic| vec![diagnostic])?;
    made.files.push(File {
        path: SCHEMA.to_owned(),
        text: known(&wish, plugins),
        what: "for editors: names, options, limits",
    });
    let folder = path.as_deref().unwrap_or(Path::new("")).join(&made.folder);
    write(&folder, &made).map_err(|diagnostic| vec![diagnostic])?;
    Ok(words(&folder, &made))
}

/// The schema of manifests with the plugins found, and the new one, whose options nobody knows yet.
fn known(wish: &Wish<'_>, plugins: &crate::plugins::PluginArguments) -> String {
    let (mut found, _) = describe::find(&Folders::of(plugins, &[]));
    found.retain(|plugin| plugin.kind != wish.kind || plugin.name != wish.name);
    found.push(Description {
        kind: wish.kind,
        name: wish.name.to_owned(),
        summary: "The plugin of this folder.".to_owned(),
        version: String::new(),
        api_version: String::new(),
        schema: json!({ "type": "object" }),
        defaults: json!({}),
        path: "".into(),
    });
    schema::of(&found)
}

fn write(folder: &Path, made: &Skeleton) -> Result<(), Diagnostic> {
    let there = folder.display();
    if folder.exists() {
        return Err(Diagnostic::new(format!("{there} is there already"))
            .hint("another name, or --path for another place; nothing was written"));
    }
    for File { path, text, .. } in &made.files {
        let path = folder.join(path);
        let parent = path.parent().expect("a file in a folder");
        let written = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text));
        written
            .map_err(|error| Diagnostic::new(format!("cannot write {}", path.display())).because(error))?;
    }
    Ok(())
}

fn words(folder: &Path, made: &Skeleton) -> String {
    let width = made.files.iter().map(|file| file.path.len()).max().unwrap_or(0);
    let mut lines = vec![format!("made {}", folder.display())];
    lines.extend(made.files.iter().map(|file| format!("  {:<width$}  {}", file.path, file.what)));
    lines.push("next:".to_owned());
    lines.push(format!("  cd {}", folder.display()));
    lines.extend(made.commands.iter().map(|command| format!("  {command}")));
    lines.join("\n")
}
