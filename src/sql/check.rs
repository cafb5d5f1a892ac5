//! The view that tells whether the tables are still those that the text was printed for.

use super::engine::Engine;
use super::steps::number;
use crate::table::{Cell, Fact, Facts};

/// Returns the statement that makes the view: for each table the number of cells that differ from what the text relies
/// on. All must be zero.
pub(super) fn view(
    engine: Engine,
    facts: &Facts,
    launches: &[String],
    devices: &[String],
) -> String {
    let row = |table: &str, columns: &[String]| {
        let terms: Vec<String> =
            columns.iter().filter_map(|name| term(name, facts.of(name))).collect();
        let terms = if terms.is_empty() { "0".to_owned() } else { terms.join("\n    + ") };
        format!("SELECT '{table}' AS table_name,\n    {terms} AS cells\n  FROM {table}")
    };
    format!(
        "{} model_check AS\n  {}\n  UNION ALL\n  {};\n",
        engine.view(),
        row("launches", launches),
        row("devices", devices)
    )
}

fn term(name: &str, fact: &Fact) -> Option<String> {
    let constant = |text: String| format!("count(*) - count(CASE WHEN {name} = {text} THEN 1 END)");
    match fact {
        Fact::Missing => Some(format!("count({name})")),
        Fact::Filled => Some(format!("count(*) - count({name})")),
        Fact::Constant(Cell::Text(text)) => {
            Some(constant(format!("'{}'", text.replace('\'', "''"))))
        }
        Fact::Constant(Cell::Truth(is)) => Some(constant(is.to_string())),
        Fact::Constant(Cell::Count(count)) => Some(constant(count.to_string())),
        Fact::Constant(Cell::Number(value)) => Some(constant(number(*value))),
        Fact::Mixed => None,
    }
}
