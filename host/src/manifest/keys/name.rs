//! `name`: the experiment's, and its results folder's.

use plugin_api::Kind;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};

pub struct Name;

impl Key for Name {
    type Value = String;
    const NAMES: &'static [&'static str] = &["name"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<String> {
        let root = KeyPath::root();
        let name =
            reader.required(keys, &root, "name", "a name for the experiment and its results folder")?;
        reader.name(name, &root.join("name"))
    }

    fn stand_in() -> String {
        String::new()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }),
            "The experiment's name, and its results folder's.",
        )
    }
}
