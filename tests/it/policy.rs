//! The schema and the page of `rooflint.toml`: what is written there is what is read.

use std::fs;
use std::path::Path;

use rooflint::config::Config;
use rooflint::gate::{Limit, Policy};
use serde_json::Value;

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(&rooflint::config::schema()).unwrap()
}

/// A text as editors see it: dates are text.
fn json(value: &toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(all) => all.iter().map(json).collect(),
        toml::Value::Table(keys) => {
            Value::Object(keys.iter().map(|(key, value)| (key.clone(), json(value))).collect())
        }
        plain => serde_json::to_value(plain).unwrap(),
    }
}

fn errors(text: &str) -> Vec<String> {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let document = json(&toml::from_str::<toml::Value>(text).unwrap());
    validator.iter_errors(&document).map(|error| error.to_string()).collect()
}

/// Every key of the schema that is no name of the user's own, as a path.
fn keys(schema: &Value, at: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(name) = at.get("$ref").and_then(Value::as_str) {
        let place = name.strip_prefix('#').unwrap();
        return keys(schema, schema.pointer(place).unwrap(), path, found);
    }
    if let Some(all) = at.get("allOf").and_then(Value::as_array) {
        return all.iter().for_each(|one| keys(schema, one, path, found));
    }
    if let Some(items) = at.get("items") {
        return keys(schema, items, path, found);
    }
    for (key, value) in at.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{path}/{key}");
        keys(schema, value, &path, found);
        found.push(path);
    }
}

fn all_keys() -> Vec<String> {
    let (schema, mut found) = (schema(), Vec::new());
    keys(&schema, &schema, "", &mut found);
    found
}

/// The value at a path, through the first entry of each list.
fn has(document: &Value, path: &str) -> bool {
    let mut at = document;
    for key in path.split('/').skip(1) {
        at = if let Value::Array(all) = at { &all[0] } else { at };
        match at.get(key) {
            Some(next) => at = next,
            None => return false,
        }
    }
    true
}

#[test]
fn the_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/config.schema.json");
    crate::golden::check(&path, &rooflint::config::schema());
}

#[test]
fn a_file_with_every_key_is_read_and_fits_the_schema() {
    let text = file("tests/it/policy/every-key.toml");
    Config::parse("every-key.toml", &text).unwrap();
    assert_eq!(errors(&text), Vec::<String>::new());
    let document = json(&toml::from_str::<toml::Value>(&text).unwrap());
    let all = all_keys();
    assert!(all.len() > 80, "{}", all.len());
    for key in all {
        assert!(has(&document, &key), "every-key.toml lacks {key}");
    }
}

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    for text in [
        "[gates]\n",
        "[gate]\nvanish = \"fail\"\n",
        "[gate]\nnew = \"off\"\n",
        "[gate]\nrequired = \"a\"\n",
        "[gate]\nmax-age = true\n",
        "[gate.noise]\nkernels = 0.1\n",
        "[[gate.limit]]\nworse = 0.1\n",
        "[[gate.limit]]\nmetric = \"tiem\"\nworse = 0.1\n",
        "[[gate.bound]]\nmetric = \"roof\"\nmin = 0.7\n",
        "[[gate.bound]]\nname = \"b\"\nmetric = \"roof\"\nmin = [0.7]\n",
        "[[gate.waiver]]\nkernel = \"a\"\n",
        "[[gate.code]]\nkernel = \"a\"\nfile = 3\n",
        "[[group]]\nname = \"a\"\ncategory = \"reductoin\"\n",
        "[[waiver]]\nkernel = \"a\"\n",
    ] {
        assert!(!errors(text).is_empty(), "the schema allows {text}");
        assert!(Config::parse("rooflint.toml", text).is_err(), "the parser allows {text}");
    }
}

/// The blocks of a page in this language.
fn blocks(page: &str) -> Vec<&str> {
    let parts = page.split("```toml\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap()).collect()
}

#[test]
fn every_example_of_the_page_is_read_and_fits_the_schema() {
    let page = file("docs/gate-policy.md");
    let blocks = blocks(&page);
    assert!(blocks.len() >= 5);
    for block in blocks {
        if let Err(error) = Config::parse("gate-policy.md", block) {
            panic!("{error}; {}\n{block}", error.help());
        }
        assert_eq!(errors(block), Vec::<String>::new(), "{block}");
    }
}

#[test]
fn the_page_has_every_key_and_the_defaults() {
    let page = file("docs/gate-policy.md");
    for key in all_keys().iter().filter_map(|key| key.strip_prefix("/gate/")) {
        let name = key.rsplit('/').next().unwrap();
        let table = key.split('/').next().filter(|table| *table != key);
        let told = match table {
            Some(table) => page
                .split("\n## ")
                .find(|part| part.lines().next().unwrap().contains(&format!("gate.{table}]"))),
            None => Some(page.as_str()),
        };
        let told = told.unwrap_or_else(|| panic!("no section for {key}"));
        assert!(
            told.contains(&format!("`{name}`")) || told.contains(&format!("gate.{name}]")),
            "{key}"
        );
    }
    let written = blocks(&page).into_iter().find(|block| block.contains("warn-only")).unwrap();
    let read = Config::parse("gate-policy.md", written).unwrap().gate;
    let default = Policy::default();
    assert_eq!(read.limits[..default.limits.len()], default.limits);
    let own = &read.limits[default.limits.len()..];
    for (own, default) in own.iter().zip(&default.limits) {
        // Units are multiplied: the last digit may differ.
        let least = |limit: &Limit| limit.at_least.map_or(1.0, |least| least.value);
        assert!((least(own) / least(default) - 1.0).abs() < 1e-12);
        let own = Limit { at_least: default.at_least, ..own.clone() };
        assert_eq!(own, *default);
    }
    assert_eq!(own.len(), default.limits.len());
    let mut noise = read.noise;
    assert!((noise.timer_s / default.noise.timer_s - 1.0).abs() < 1e-12);
    noise.timer_s = default.noise.timer_s;
    // Whoever writes the noise down declares it.
    assert!(read.noise_is_declared && !default.noise_is_declared);
    let limits = default.limits.clone();
    assert_eq!(Policy { limits, noise, noise_is_declared: false, ..read }, default);
}
