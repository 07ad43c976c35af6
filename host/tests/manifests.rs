//! Every manifest in `experiments/` becomes a plan, and a plan is a manifest of the same plan.

use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{self, host, output, workspace};

/// Every `.yaml` below `experiments/`, named from there.
fn manifests() -> Vec<(String, PathBuf)> {
    let root = workspace().join("experiments");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                let name = path.strip_prefix(&root).unwrap().with_extension("");
                found.push((name.to_str().unwrap().replace(['/', '\\'], "-"), path));
            }
        }
    }
    found.sort();
    assert!(found.len() >= 4, "{found:?}");
    found
}

#[test]
fn every_manifest_becomes_a_plan() {
    let _snapshots = snapshots::in_folder("plans");
    for (name, path) in manifests() {
        assert_snapshot!(name, host(&["plan", path.to_str().unwrap()], ""));
    }
}

#[test]
fn every_manifest_asks_its_question_first() {
    for (name, path) in manifests() {
        let text = std::fs::read_to_string(path).unwrap();
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("# ") && text.contains('?'), "{name}: {first}");
    }
}

#[test]
fn a_plan_is_a_manifest_of_the_same_plan() {
    for (name, path) in manifests() {
        let first = output(&["plan", path.to_str().unwrap()], "");
        let again = output(&["plan", "-"], &plan_of(&first.stdout));
        assert_eq!(String::from_utf8_lossy(&first.stdout), String::from_utf8_lossy(&again.stdout), "{name}");
        let hash = |arguments: &[&str], stdin: &str| {
            let plan: serde_json::Value = serde_json::from_slice(&output(arguments, stdin).stdout).unwrap();
            plan["hash"].clone()
        };
        let one = hash(&["plan", "--json", path.to_str().unwrap()], "");
        assert_eq!(one, hash(&["plan", "--json", "-"], &plan_of(&first.stdout)), "{name}");
    }
}

/// The YAML part of what `host plan` prints.
fn plan_of(stdout: &[u8]) -> String {
    let text = String::from_utf8_lossy(stdout).into_owned();
    text.split("\ntrial ").next().unwrap().to_owned()
}

#[test]
fn every_manifest_fits_the_schema() {
    let schema: Json = serde_json::from_str(&host(&["schema"], "")).unwrap();
    for (name, path) in manifests() {
        let text = std::fs::read_to_string(path).unwrap();
        let manifest: Json = serde_yaml::from_str(&text).unwrap();
        assert!(fits(&manifest, &schema), "{name}");
    }
    let fits_changed = |from: &str, to: &str| {
        let manifest = support::SMALLEST.replace(from, to);
        fits(&serde_yaml::from_str::<Json>(&manifest).unwrap(), &schema)
    };
    assert!(fits_changed("", ""));
    assert!(!fits_changed("n: 6", "n: 1"), "an option beyond its limit");
    assert!(!fits_changed("n: 6", "m: 6"), "an unknown option");
    assert!(!fits_changed("annealing", "anealing"), "an unknown plugin");
    assert!(!fits_changed("budget", "bugdet"), "an unknown key");
    assert!(!fits_changed("name: smallest", "name: ../x"), "a name that is none");
}

/// Whether a value fits a schema, as far as our schemas go; an unknown keyword of weight fails the test.
fn fits(value: &Json, schema: &Json) -> bool {
    schema.as_object().unwrap().iter().all(|(keyword, rule)| {
        let number =
            |holds: fn(f64, f64) -> bool| value.as_f64().is_none_or(|x| holds(x, rule.as_f64().unwrap()));
        let length = || value.as_array().map(Vec::len);
        let limit = || rule.as_u64().unwrap() as usize;
        let rules = || rule.as_array().unwrap().iter();
        match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "format" => true,
            "type" => match rule {
                Json::String(name) => has_type(value, name),
                names => names.as_array().unwrap().iter().any(|name| has_type(value, name.as_str().unwrap())),
            },
            "const" => value == rule,
            "enum" => rules().any(|choice| value == choice),
            "anyOf" => rules().any(|choice| fits(value, choice)),
            "oneOf" => rules().filter(|choice| fits(value, choice)).count() == 1,
            "properties" => {
                rule.as_object().unwrap().iter().all(|(k, s)| value.get(k).is_none_or(|v| fits(v, s)))
            }
            "additionalProperties" => {
                let known = |k: &String| schema.get("properties").is_some_and(|p| p.get(k).is_some());
                let mut others = value.as_object().into_iter().flatten().filter(|(k, _)| !known(k));
                others.all(|(_, v)| rule.as_bool().unwrap_or_else(|| fits(v, rule)))
            }
            "required" => {
                rules().all(|k| value.as_object().is_none_or(|o| o.contains_key(k.as_str().unwrap())))
            }
            "items" => value.as_array().is_none_or(|items| items.iter().all(|item| fits(item, rule))),
            "pattern" => {
                value.as_str().is_none_or(|t| regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(t))
            }
            "minimum" => number(|x, limit| x >= limit),
            "maximum" => number(|x, limit| x <= limit),
            "exclusiveMinimum" => number(|x, limit| x > limit),
            "exclusiveMaximum" => number(|x, limit| x < limit),
            "minItems" => length().is_none_or(|n| n >= limit()),
            "maxItems" => length().is_none_or(|n| n <= limit()),
            "minProperties" => value.as_object().is_none_or(|o| o.len() >= limit()),
            "uniqueItems" => value
                .as_array()
                .is_none_or(|items| items.iter().enumerate().all(|(i, item)| !items[..i].contains(item))),
            other => panic!("the keyword `{other}` is not checked"),
        }
    })
}

fn has_type(value: &Json, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}` is not checked"),
    }
}
