//! Reports of predictions: a kernel at a point or along a sweep, a whole step, and the list of
//! kernels.

mod forms;
mod kernel;
#[cfg(feature = "plot")]
mod picture;
mod step;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::Document;
use super::view::{Style, printable};
use super::{Reported, pretty};
use crate::json;
use crate::predict::{
    Axis, COLUMNS, Cell, Crossing, Form, ModelPrediction, Prediction, SweepRow, SweepTable,
};

pub use forms::{FormList, FormPages, form_list_schema};

/// A prediction to report.
#[derive(Debug, Clone, Copy)]
pub enum Predicted<'a> {
    /// One closed form, at one point or along a sweep.
    Kernel {
        /// The closed form.
        form: &'static Form,
        /// The call as given: `gemm m=4096 n=4096 k=4096`.
        call: &'a str,
        /// Rows point by point, and within a point device by device.
        table: &'a SweepTable,
        /// Where the sweep crosses ridge points; empty without a sweep of sizes.
        crossings: &'a [Crossing],
    },
    /// A model file.
    Step {
        /// Sizes that the model file defines, with their values.
        sizes: &'a BTreeMap<String, u64>,
        /// Predictions, device by device.
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
    /// What the kernel computes.
    summary: &'static str,
    /// Derivation of the counts, with sources.
    derivation: &'static str,
    /// The swept keys; empty for a single point.
    axes: &'a [Axis],
    /// Rows point by point, and within a point device by device.
    rows: &'a [SweepRow],
    /// Where the sweep crosses ridge points; empty without a sweep of sizes.
    crossings: &'a [Crossing],
}

/// The kernels of a model file predicted on devices.
#[derive(Serialize, JsonSchema)]
struct StepDocument<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Sizes that the file defines, with their values.
    sizes: &'a BTreeMap<String, u64>,
    /// Predictions, device by device.
    steps: &'a [ModelPrediction],
}

/// Returns the JSON schema of predictions of one kernel, as pretty-printed JSON.
#[must_use]
pub fn prediction_schema() -> String {
    json::schema::<KernelDocument<'_>>("prediction-2", "Prediction of a kernel by rooflint")
}

/// Returns the JSON schema of predictions of a whole step, as pretty-printed JSON.
#[must_use]
pub fn step_prediction_schema() -> String {
    json::schema::<StepDocument<'_>>("step-prediction-2", "Prediction of a step by rooflint")
}

impl Reported for Predicted<'_> {
    fn document(&self, _: &Style) -> Document {
        match self {
            Self::Kernel { form, call, table, crossings } => {
                kernel::document(form, call, table, crossings)
            }
            Self::Step { sizes, steps } => step::document(sizes, steps),
        }
    }

    fn verdict(&self, _: &Style) -> Document {
        match self {
            Self::Kernel { call, table, crossings, .. } => kernel::verdict(call, table, crossings),
            Self::Step { steps, .. } => step::verdict(steps),
        }
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        match format {
            "csv" => Some(self.csv()),
            "json" => Some(self.json()),
            _ => None,
        }
    }
}

impl Predicted<'_> {
    /// Formats one row per point and device, or per kernel of a step and device; units in the
    /// headers.
    fn csv(&self) -> String {
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

    /// Formats everything as versioned JSON: `rooflint/prediction/2` or
    /// `rooflint/step-prediction/2`.
    fn json(&self) -> String {
        match self {
            Self::Kernel { form, table, crossings, .. } => pretty(&KernelDocument {
                schema: "rooflint/prediction/2",
                form: form.name,
                summary: form.summary,
                derivation: form.derivation,
                axes: &table.axes,
                rows: &table.rows,
                crossings,
            }),
            Self::Step { sizes, steps } => {
                pretty(&StepDocument { schema: "rooflint/step-prediction/2", sizes, steps })
            }
        }
    }
}

fn cells(prediction: &Prediction) -> impl Iterator<Item = String> {
    prediction.cells().map(|cell| match cell {
        Cell::Text(text) => text,
        Cell::Number(value) => value.to_string(),
        Cell::Missing => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::FORMS;
    use crate::report::written;

    #[test]
    fn every_page_can_be_shown_in_ascii() {
        let style = Style { ascii: true, ..Style::default() };
        for form in FORMS {
            let page = written(&FormPages(&[form]), "text", &style).unwrap();
            assert!(page.is_ascii() && !page.contains('?'), "{}: {page}", form.name);
        }
    }
}
