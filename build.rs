//! Turns the rules of kernel names into constants, so that no start of the program reads the table and takes its
//! patterns apart. `src/taxonomy/kernel-names.toml` stays what is edited; a test says that both are the same.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

#[path = "src/taxonomy/literals.rs"]
mod literals;

use literals::{Alternative, alternatives};

const TABLE: &str = "src/taxonomy/kernel-names.toml";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed=src/taxonomy/literals.rs");
    println!("cargo::rerun-if-changed=build.rs");
    let table: Table = fs::read_to_string(TABLE)?.parse()?;
    let mut text = String::new();
    for (name, key) in [("CLASSES", "class"), ("BY_OPERATOR", "operator")] {
        let rules = entries(&table, key)?.iter().map(class).collect::<Outcome<String>>()?;
        writeln!(text, "pub(super) static {name}: &[ClassRule] = &[{rules}];")?;
    }
    let rules = entries(&table, "attr")?.iter().map(attribute).collect::<Outcome<String>>()?;
    writeln!(text, "pub(super) static ATTRIBUTES: &[AttributeRule] = &[{rules}];")?;
    let mut types = String::new();
    for (word, name) in table["data-types"].as_table().ok_or("no data types")? {
        write!(types, "({word:?}, {}),", kind("DataType", string(name)?))?;
    }
    writeln!(text, "pub(super) static DATA_TYPES: &[(&str, DataType)] = &[{types}];")?;
    let operators = table["fused"]["operators"].as_array().ok_or("no operators")?;
    let operators = operators.iter().map(string).collect::<Outcome<Vec<&str>>>()?;
    writeln!(text, "pub(super) static FUSED: &[&str] = &{operators:?};")?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("kernel_names.rs"), text)?;
    Ok(())
}

fn entries<'t>(table: &'t Table, key: &str) -> Outcome<&'t [Value]> {
    Ok(table[key].as_array().ok_or("no list of tables")?)
}

fn string(value: &Value) -> Outcome<&str> {
    Ok(value.as_str().ok_or_else(|| format!("{value:?} is no text"))?)
}

fn class(entry: &Value) -> Outcome<String> {
    let library = entry.get("library").map(string).transpose()?.map(borrowed);
    let tensor = entry.get("tensor").map(string).transpose()?.map(|word| match word {
        "yes" => "Answer(Some(true))",
        "no" => "Answer(Some(false))",
        _ => "Answer(None)",
    });
    Ok(format!(
        "ClassRule {{ id: {}, kind: {}, library: {}, tensor: {}, pattern: {} }},\n",
        borrowed(string(&entry["id"])?),
        kind("Kind", string(&entry["kind"])?),
        optional(library.as_deref()),
        optional(tensor),
        source(string(&entry["pattern"])?)
    ))
}

fn attribute(entry: &Value) -> Outcome<String> {
    let mut set = String::new();
    for (field, value) in entry.get("set").and_then(Value::as_table).into_iter().flatten() {
        let field = kind("Field", field);
        write!(set, "({field}, {}),", borrowed(string(value)?))?;
    }
    let pattern = source(string(&entry["pattern"])?);
    Ok(format!("AttributeRule {{ pattern: {pattern}, set: Cow::Borrowed(&[{set}]) }},\n"))
}

/// A pattern, taken apart.
fn source(pattern: &str) -> String {
    let alternatives: String = alternatives(pattern).iter().map(alternative).collect();
    format!(
        "Source {{ text: {}, alternatives: Cow::Borrowed(&[{alternatives}]) }}",
        borrowed(pattern)
    )
}

fn alternative(one: &Alternative) -> String {
    let Alternative { pattern, needs, ignores_case, whole, has_groups } = one;
    let pattern = borrowed(pattern);
    let needs: String = needs.iter().map(|word| borrowed(word) + ",").collect();
    format!(
        "Alternative {{ pattern: {pattern}, needs: Cow::Borrowed(&[{needs}]), \
         ignores_case: {ignores_case}, whole: {whole:?}, has_groups: {has_groups} }},"
    )
}

fn borrowed(text: &str) -> String {
    format!("Cow::Borrowed({text:?})")
}

fn optional(text: Option<&str>) -> String {
    text.map_or("None".to_owned(), |text| format!("Some({text})"))
}

/// A variant by its key: `conv-dgrad` is `ConvDgrad`.
fn kind(of: &str, key: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    format!("{of}::{}", key.split(['-', '_']).map(capital).collect::<String>())
}
