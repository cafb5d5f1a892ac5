//! Reports as tables of typed columns, for data frames: SI units in the names, missing cells are missing.
//!
//! Names and values are those of the JSON documents; kernels have the columns of the CSV report.

use serde::Serialize;
use serde_json::Value;

#[cfg(feature = "gate")]
use super::GateReport;
use super::json::totals;
use super::{Predicted, Report};
use crate::analysis::{Columns, Place, Row};
use crate::catalog::Device;
#[cfg(feature = "gate")]
use crate::gate::{Allowed, Check};
use crate::model::{Pipe, Profile};
use crate::predict;
use crate::rules::Finding;
use crate::table::{Cell, Cells, Form, Table};
#[cfg(feature = "gate")]
use crate::units::Dimension;

/// A column of rows that are JSON: name, place in the row, form, meaning.
type Member = (&'static str, &'static str, Form, &'static str);

const SECONDS: Form = Form::Number("s");

/// Returns the kernels of a run, by savings, then by measured time, with the ids of their findings.
#[must_use]
pub fn kernels(report: &Report<'_>) -> Table<'static> {
    let all = || report.analysis.kernels.iter();
    let columns = Columns::of_kernels().all().iter().filter(|one| one.place != Place::Rules);
    let mut table = Table { height: all().count(), ..Table::default() };
    for column in columns {
        let rows: Vec<Row<'_>> = all().map(|kernel| Row::Kernel(report.analysis, kernel)).collect();
        let cells = Cells::of(column.form, rows.iter().map(|row| column.get(row)));
        push(&mut table, &column.name, column.form, &column.about, cells);
    }
    let ids = |position: usize| -> String {
        let found = report.findings.of(position).iter();
        found.map(|finding| &*finding.rule).collect::<Vec<&str>>().join(" ")
    };
    let ids = (0..table.height).map(|position| Some(Cell::Text(ids(position).into())));
    let about = "ids of the rules that fired, most severe first";
    push(&mut table, "findings", Form::Text, about, Cells::of(Form::Text, ids));
    named(table, "kernels")
}

/// Returns the findings of a run: those about kernels in their order, then those about the run.
#[must_use]
pub fn findings(report: &Report<'_>) -> Table<'static> {
    #[derive(Serialize)]
    struct Found<'a> {
        rank: Option<usize>,
        kernel: Option<&'a str>,
        full_name: Option<&'a str>,
        #[serde(flatten)]
        finding: &'a Finding,
    }
    const MEMBERS: &[Member] = &[
        ("rank", "/rank", Form::Count, "rank of the kernel; missing for the whole run"),
        ("kernel", "/kernel", Form::Text, "short name of the kernel"),
        ("full_name", "/full_name", Form::Text, "name of the kernel as written by the profiler"),
        ("rule", "/rule", Form::Text, "id of the rule"),
        ("severity", "/severity", Form::Text, "info, low, medium or high, by the share of the run"),
        ("confidence", "/confidence", Form::Text, "how directly the facts show the cause"),
        ("message", "/message", Form::Text, "the finding in one sentence"),
        ("next_step", "/next", Form::Text, "the next experiment"),
        ("at_stake_s", "/at_stake_s", SECONDS, "time that could be saved at most"),
        ("at_stake_low_s", "/at_stake_low_s", SECONDS, "cautious estimate of the same time"),
        ("estimator", "/estimator", Form::Text, "how the time at stake is estimated"),
    ];
    let of_kernels = report.analysis.kernels.iter().flat_map(|kernel| {
        report.findings_of(kernel).iter().map(|finding| Found {
            rank: Some(kernel.rank),
            kernel: Some(&kernel.name),
            full_name: Some(&kernel.full_name),
            finding,
        })
    });
    let of_run = report.findings.run.iter();
    let of_run = of_run.map(|finding| Found { rank: None, kernel: None, full_name: None, finding });
    named(of_members(MEMBERS, of_kernels.chain(of_run)), "findings")
}

/// Returns the launches of a profile, each column with its meaning.
#[must_use]
pub fn launches(profile: &Profile) -> Table<'_> {
    let mut table = Table::of(profile);
    for (name, cells) in &table.columns {
        let Cells::Launches(_, column) = cells else { continue };
        let key = format!("column:{name}");
        // What says how a quantity was derived has its unit, too.
        if !table.metadata.iter().any(|(known, _)| *known == key) {
            table.metadata.push((key, format!("[{}] {}", column.form.label(), column.about)));
        }
    }
    table
}

/// Returns the totals of a run, in one row.
#[must_use]
pub fn totals(report: &Report<'_>) -> Table<'static> {
    let row = serde_json::to_value(totals::document(&report.analysis.totals)).unwrap_or_default();
    let schema = schemars::schema_for!(totals::TotalsDocument);
    let about = |name: &str| schema.pointer(&format!("/properties/{name}/description"))?.as_str();
    let mut table = Table { height: 1, ..Table::default() };
    for (name, value) in row.as_object().into_iter().flatten() {
        let form = match value {
            Value::Object(_) | Value::Array(_) => continue,
            Value::Number(number) if number.is_u64() => Form::Count,
            _ if name.ends_with("_s") => SECONDS,
            _ => Form::Number("1"),
        };
        let cells = Cells::of(form, std::iter::once(cell(value, form)));
        let about = about(name).unwrap_or_default().replace('\n', " ");
        push(&mut table, name, form, about.trim_end_matches('.'), cells);
    }
    named(table, "totals")
}

/// Returns the checks of a gate or a comparison, the most severe first.
#[cfg(feature = "gate")]
#[must_use]
pub fn checks(report: &GateReport<'_>) -> Table<'static> {
    #[derive(Serialize)]
    struct Checked<'a> {
        unit: Option<Dimension>,
        limit_is: Option<&'static str>,
        #[serde(flatten)]
        check: &'a Check,
    }
    const MEMBERS: &[Member] = &[
        ("kernel", "/subject/name", Form::Text, "short name of the kernel; missing for the run"),
        ("full_name", "/subject/full_name", Form::Text, "name as written by the profiler"),
        ("operator", "/subject/operator", Form::Text, "framework operator and parameters"),
        ("shape", "/subject/shape", Form::Text, "grid and block"),
        ("device", "/subject/device", Form::Text, "name of the device"),
        ("rule", "/rule", Form::Text, "name of the rule of the policy"),
        ("metric", "/metric", Form::Text, "what was compared"),
        ("verdict", "/verdict", Form::Text, "result of the check"),
        ("action", "/action", Form::Text, "action that the policy takes on this verdict"),
        ("before", "/before/value", Form::Number("1"), "value in the baseline, in `unit`"),
        ("after", "/after/value", Form::Number("1"), "value in the current runs, in `unit`"),
        ("unit", "/unit", Form::Text, "unit of both values"),
        ("change", "/change", Form::Number("1"), "relative change: 0.1 is 10% more"),
        ("change_low", "/interval/0", Form::Number("1"), "lower end of the change's interval"),
        ("change_high", "/interval/1", Form::Number("1"), "upper end of the change's interval"),
        ("interval_confidence", "/confidence", Form::Share, "confidence of that interval"),
        ("limit", "/limit", Form::Number("1"), "what the policy allows"),
        ("limit_is", "/limit_is", Form::Text, "`change`, relative, or `bound`, in `unit`"),
        ("delta_s", "/delta_s", SECONDS, "change of the kernel's total time"),
        ("share", "/share", Form::Share, "share of the run's time"),
        ("matched", "/matched", Form::Text, "how the kernels of both sides were matched"),
        ("message", "/message", Form::Text, "the result in one sentence"),
        ("waived", "/waived", Form::Text, "reason of the waiver that accepts the result"),
    ];
    let rows = report.decision.checks.iter().map(|check| Checked {
        unit: check.after.or(check.before).map(|value| value.unit),
        limit_is: check.limit.map(|limit| match limit {
            Allowed::Change(_) => "change",
            Allowed::Bound(_) => "bound",
        }),
        check,
    });
    named(of_members(MEMBERS, rows), "checks")
}

/// Returns a prediction: a row per point and device, or per kernel of a step and device.
#[must_use]
pub fn predictions(predicted: &Predicted<'_>) -> Table<'static> {
    let text = |text: &String| Some(Cell::Text(text.clone().into()));
    let mut table = Table::default();
    let all: Vec<&predict::Prediction> = match predicted {
        Predicted::Kernel { table: swept, .. } => {
            for (at, axis) in swept.axes.iter().enumerate() {
                let cells = swept.rows.iter().map(|row| row.at.get(at).and_then(text));
                let about = "value of the swept key";
                let cells = Cells::of(Form::Text, cells);
                push(&mut table, &format!("at_{}", axis.key), Form::Text, about, cells);
            }
            swept.rows.iter().map(|row| &row.prediction).collect()
        }
        Predicted::Step { steps, .. } => {
            let rows = || steps.iter().flat_map(|step| &step.rows);
            let names = Cells::of(Form::Text, rows().map(|row| text(&row.name)));
            push(&mut table, "op", Form::Text, "name of the kernel in the model file", names);
            let cells = rows().map(|row| Some(Cell::Count(row.launches)));
            let cells = Cells::of(Form::Count, cells);
            push(&mut table, "launches", Form::Count, "number of launches", cells);
            let cells = Cells::of(SECONDS, rows().map(|row| Some(Cell::Number(row.total.get()))));
            push(&mut table, "total_s", SECONDS, "time of all launches", cells);
            let cells = rows().map(|row| Some(Cell::Number(row.share)));
            let cells = Cells::of(Form::Share, cells);
            push(&mut table, "share", Form::Share, "share of the step's time", cells);
            rows().map(|row| &row.prediction).collect()
        }
    };
    table.height = all.len();
    for column in predict::COLUMNS {
        let known = all.iter().map(|one| match (column.cell)(one) {
            predict::Cell::Text(text) => Some(Cell::Text(text.into())),
            predict::Cell::Number(number) => Some(Cell::Number(number)),
            predict::Cell::Missing => None,
        });
        let form = match (column.key, column.unit) {
            ("form" | "arguments" | "device" | "pipe" | "limiter", _) => Form::Text,
            (_, "") => Form::Number("1"),
            (_, unit) => Form::Number(unit),
        };
        push(&mut table, column.key, form, column.heading, Cells::of(form, known));
    }
    named(table, "predictions")
}

/// Returns devices: a row each, with the dense peak of every pipe.
#[must_use]
pub fn devices(devices: &[Device]) -> Table<'static> {
    let mut table = Table { height: devices.len(), ..Table::default() };
    let texts = |of: fn(&Device) -> Option<String>| {
        Cells::of(Form::Text, devices.iter().map(|one| Some(Cell::Text(of(one)?.into()))))
    };
    let name = texts(|device| Some(device.name.clone()));
    push(&mut table, "name", Form::Text, "name, as `device` takes it", name);
    let vendor = texts(|device| device.vendor.clone());
    push(&mut table, "vendor", Form::Text, "vendor", vendor);
    let architecture = texts(|device| device.architecture.clone());
    push(&mut table, "architecture", Form::Text, "architecture", architecture);
    let target = texts(|device| device.target().map(str::to_owned));
    push(&mut table, "target", Form::Text, "target of compilers", target);
    let sms = devices.iter().map(|device| device.sms.map(|sms| Cell::Count(sms.into())));
    let sms = Cells::of(Form::Count, sms);
    push(&mut table, "sms", Form::Count, "multiprocessors", sms);
    let bandwidth = devices.iter().map(|device| {
        device.memory.bandwidth.as_ref().map(|figure| Cell::Number(figure.value.get()))
    });
    let rate = Form::Number("B/s");
    push(&mut table, "dram_bytes_per_s", rate, "memory bandwidth", Cells::of(rate, bandwidth));
    for pipe in Pipe::ALL {
        let peaks = devices.iter().map(|device| device.peak(*pipe));
        let peaks = peaks.map(|peak| peak.map(|figure| Cell::Number(figure.value.get())));
        let (unit, per) = match pipe.operation() {
            "OP" => ("OP/s", "op_per_s"),
            _ => ("FLOP/s", "flop_per_s"),
        };
        let form = Form::Number(unit);
        let about = format!("dense peak of {}", pipe.label());
        let name = format!("{}_{per}", pipe.key());
        push(&mut table, &name, form, &about, Cells::of(form, peaks));
    }
    named(table, "devices")
}

/// Adds a column with its unit and meaning.
pub(super) fn push(
    table: &mut Table<'static>,
    name: &str,
    form: Form,
    about: &str,
    cells: Cells<'static>,
) {
    let about = format!("[{}] {about}", form.label());
    table.metadata.push((format!("column:{name}"), about));
    table.columns.push((name.to_owned(), cells));
}

/// The same with the name of its schema, which goes by the version of the program.
pub(super) fn named(mut table: Table<'static>, name: &str) -> Table<'static> {
    let head = [
        ("schema".to_owned(), format!("rooflint/{name}")),
        ("rooflint".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ];
    table.metadata.splice(0..0, head);
    table
}

/// A table of rows that are JSON.
fn of_members(members: &[Member], rows: impl Iterator<Item = impl Serialize>) -> Table<'static> {
    // What is reported has string keys and finite numbers, so it always serializes.
    let rows: Vec<Value> = rows.map(|row| serde_json::to_value(row).unwrap_or_default()).collect();
    let mut table = Table { height: rows.len(), ..Table::default() };
    for (name, place, form, about) in members {
        let cells = rows.iter().map(|row| cell(row.pointer(place)?, *form));
        let cells = Cells::of(*form, cells);
        push(&mut table, name, *form, about, cells);
    }
    table
}

fn cell(value: &Value, form: Form) -> Option<Cell<'_>> {
    match value {
        Value::String(text) => Some(Cell::word(text)),
        Value::Bool(truth) => Some(Cell::Truth(*truth)),
        Value::Number(number) if form == Form::Count => number.as_u64().map(Cell::Count),
        Value::Number(number) => number.as_f64().map(Cell::Number),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
