//! The JSON schema of `rooflint.toml`, from the structures that read it: editors complete and check by it.

use serde_json::{Map, Value};

/// The JSON schema of the configuration, as pretty-printed JSON.
#[must_use]
pub fn schema() -> String {
    let mut schema = schemars::schema_for!(super::Wire).to_value();
    without_null(&mut schema);
    // Schemas of derived types always serialize.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// TOML has no null: what may be left out is left out.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(without_null),
        Value::Object(keys) => {
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|one| one != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    keys.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(words)) = keys.get_mut("enum") {
                words.retain(|one| !one.is_null());
            }
            if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
                choices.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
                if let [Value::Object(one)] = choices.as_slice() {
                    let one: Map<String, Value> = one.clone();
                    keys.remove("anyOf");
                    keys.extend(one);
                }
            }
            keys.values_mut().for_each(without_null);
        }
        _ => {}
    }
}
