//! Predictions as text, CSV and JSON: a kernel at a point or along a sweep, or a whole step.

mod kernel;
#[cfg(feature = "plot")]
mod picture;
mod step;

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use super::text;
use super::view::{Style, printable};
use crate::predict::{
    Axis, COLUMNS, Cell, Crossing, Form, ModelPrediction, Prediction, SweepRow, SweepTable,
};

/// What is predicted.
#[derive(Debug, Clone, Copy)]
pub enum Predicted<'a> {
    /// One closed form, at one point or along a sweep.
    Kernel {
        /// The closed form.
        form: &'static Form,
        /// The call as given: `gemm m=4096 n=4096 k=4096`.
        call: &'a str,
        /// Point by point, and within a point device by device.
        table: &'a SweepTable,
        /// Where the sweep crosses ridge points; empty without a sweep of sizes.
        crossings: &'a [Crossing],
    },
    /// A model file.
    Step {
        /// The sizes it names, with their values.
        sizes: &'a BTreeMap<String, u64>,
        /// What is predicted, device by device.
        steps: &'a [ModelPrediction],
    },
}

/// A closed form predicted on devices, at one point or along a sweep.
#[derive(Serialize, JsonSchema)]
struct KernelDocument<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// The closed form.
    form: &'static str,
    summary: &'static str,
    /// How it is counted, with sources.
    derivation: &'static str,
    /// The swept keys; empty for a single point.
    axes: &'a [Axis],
    /// Point by point, and within a point device by device.
    rows: &'a [SweepRow],
    /// Where the sweep crosses ridge points; empty without a sweep of sizes.
    crossings: &'a [Crossing],
}

/// The kernels of a model file predicted on devices.
#[derive(Serialize, JsonSchema)]
struct StepDocument<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// The sizes the file names, with their values.
    sizes: &'a BTreeMap<String, u64>,
    /// Device by device.
    steps: &'a [ModelPrediction],
}

/// The JSON schema of predictions of one kernel, as pretty-printed JSON.
#[must_use]
pub fn prediction_schema() -> String {
    // Schemas of derived types always serialize.
    serde_json::to_string_pretty(&schema_for!(KernelDocument<'_>)).unwrap_or_default() + "\n"
}

/// The JSON schema of predictions of a whole step, as pretty-printed JSON.
#[must_use]
pub fn step_prediction_schema() -> String {
    serde_json::to_string_pretty(&schema_for!(StepDocument<'_>)).unwrap_or_default() + "\n"
}

impl Predicted<'_> {
    /// For a person at a terminal, with the arithmetic.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let text = match self {
            Self::Kernel { form, call, table, crossings } => {
                kernel::text(form, call, table, crossings, style)
            }
            Self::Step { sizes, steps } => step::text(sizes, steps, style),
        };
        style.adapted(spelled(text, style))
    }

    /// One row per point and device, or per kernel of a step and device; units in the headers.
    #[must_use]
    pub fn csv(&self) -> String {
        let columns = COLUMNS.iter().map(|column| column.key.to_owned());
        let rows: Vec<Vec<String>> = match self {
            Self::Kernel { table, .. } => {
                let swept = table.axes.iter().map(|axis| format!("at_{}", axis.key));
                let head = swept.chain(columns).collect();
                let rows = table.rows.iter().map(|row| {
                    row.at.iter().cloned().chain(cells(&row.prediction)).collect::<Vec<_>>()
                });
                std::iter::once(head).chain(rows).collect()
            }
            Self::Step { steps, .. } => {
                let own = ["op", "launches", "total_s", "share"].map(str::to_owned);
                let head = own.into_iter().chain(columns).collect();
                let rows = steps.iter().flat_map(|step| &step.rows).map(|row| {
                    let (total, share) = (row.total.get(), row.share);
                    let own = [
                        row.name.clone(),
                        row.launches.to_string(),
                        total.to_string(),
                        share.to_string(),
                    ];
                    own.into_iter().chain(cells(&row.prediction)).collect::<Vec<_>>()
                });
                std::iter::once(head).chain(rows).collect()
            }
        };
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in rows {
            // Writing to memory cannot fail.
            let _ = writer.write_record(row.iter().map(|cell| printable(cell)));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// Everything, with a version: `rooflint/prediction/1` or `rooflint/step-prediction/1`.
    #[must_use]
    pub fn json(&self) -> String {
        let text = match self {
            Self::Kernel { form, table, crossings, .. } => {
                serde_json::to_string_pretty(&KernelDocument {
                    schema: "rooflint/prediction/1",
                    form: form.name,
                    summary: form.summary,
                    derivation: form.derivation,
                    axes: &table.axes,
                    rows: &table.rows,
                    crossings,
                })
            }
            Self::Step { sizes, steps } => serde_json::to_string_pretty(&StepDocument {
                schema: "rooflint/step-prediction/1",
                sizes,
                steps,
            }),
        };
        // These types have string keys only, so they always serialize.
        text.unwrap_or_default() + "\n"
    }
}

fn cells(prediction: &Prediction) -> impl Iterator<Item = String> {
    prediction.cells().map(|cell| match cell {
        Cell::Text(text) => text,
        Cell::Number(value) => value.to_string(),
        Cell::Missing => String::new(),
    })
}

/// The documentation of a closed form: how to call it, its parameters, how it is counted.
#[must_use]
pub fn kernel_page(form: &Form, style: &Style) -> String {
    page(kernel::page(form, style), style)
}

/// Every closed form with what it needs, in one line each where the terminal is wide enough.
#[must_use]
pub fn kernel_list(forms: &[&Form], style: &Style) -> String {
    /// Summaries in fewer columns than this are hard to read beside the calls.
    const NARROW: usize = 30;
    let column = forms.iter().map(|form| form.usage().chars().count()).max().unwrap_or(0) + 2;
    let is_beside = style.width.is_none_or(|width| width >= column + NARROW);
    let mut text = String::new();
    for form in forms {
        let usage = form.usage();
        if is_beside {
            let lead = format!("{usage}{}", " ".repeat(column - usage.chars().count()));
            wrap(&mut text, &lead, column, form.summary, style);
        } else {
            wrap(&mut text, "", 4, &usage, style);
            wrap(&mut text, "    ", 4, form.summary, style);
        }
    }
    text.push('\n');
    let last = "`rooflint predict --list KERNEL` shows all parameters and the derivation.";
    wrap(&mut text, "", 0, last, style);
    style.adapted(spelled(text, style))
}

/// A page of text with formulas, in ASCII where only that may be used.
#[must_use]
pub fn page(text: String, style: &Style) -> String {
    style.adapted(spelled(text, style))
}

/// Writes a sentence as wide as it is once its symbols are spelled out.
fn wrap(text: &mut String, lead: &str, indent: usize, sentence: &str, style: &Style) {
    let sentence = style.adapted(spelled(sentence.to_owned(), style));
    text::wrap(text, lead, indent, &sentence, style);
}

/// Spells out the symbols of formulas where only ASCII may be used.
fn spelled(text: String, style: &Style) -> String {
    if !style.ascii {
        return text;
    }
    let symbols = [
        ("α", "alpha"),
        ("β", "beta"),
        ("η", "eta"),
        ("λ", "lambda"),
        ("′", "'"),
        ("→", "->"),
        ("ε", "epsilon"),
        ("Σ", "sum "),
        ("√", "sqrt "),
        ("²", "^2"),
        ("¹", "^1"),
        ("⁻", "^-"),
        ("₂", "2"),
        ("ᵀ", "^T"),
        ("≠", "!="),
        ("é", "e"),
        ("⌈", "ceil("),
        ("⌉", ")"),
        ("⌊", "floor("),
        ("⌋", ")"),
    ];
    symbols.iter().fold(text, |text, (symbol, word)| text.replace(symbol, word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::FORMS;

    #[test]
    fn every_page_can_be_shown_in_ascii() {
        let style = Style { ascii: true, ..Style::default() };
        for form in FORMS {
            let page = kernel_page(form, &style);
            assert!(page.is_ascii() && !page.contains('?'), "{}: {page}", form.name);
        }
    }
}
