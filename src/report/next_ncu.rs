//! Report of the `ncu` command that collects counters for the kernels of which they would tell most.

use super::document::{Block, Cell, Column, Document, Form, Table};
use super::numbers::{count, printable, si};
use super::view::shape;
use super::{Reported, Style};
use crate::analysis::{Analysis, Collected, DeviceUse, NameFilter, NextNcu, free_name};
use crate::model::Profiler;

/// What collects counters on AMD's devices, for all kernels: it filters by numbers and not by names.
pub(super) const AMD_WHY: &str = "rocprof-compute profile --name why -- APP";

/// Why `ncu` cannot collect the counters of these kernels, and the command that can.
#[must_use]
pub fn other_than_ncu(analysis: &Analysis) -> Option<(&'static str, String)> {
    if analysis.is_of_amd() {
        return Some(("Nsight Compute profiles NVIDIA's devices only", AMD_WHY.to_owned()));
    }
    let devices = &analysis.devices;
    // nvprof has the metrics of the devices before Volta, and no others.
    let is_nameless = |used: &DeviceUse| used.device.is_none() && used.hint.name.is_none();
    let is_nvprof = analysis.sources.iter().all(|source| source.profiler == Profiler::Nvprof)
        && devices.iter().all(is_nameless);
    if !is_nvprof && (devices.is_empty() || !devices.iter().all(DeviceUse::is_before_counters)) {
        return None;
    }
    let command = analysis.supply(0.0).map(|supply| supply.command);
    let command = command.filter(|command| command.starts_with("nvprof"));
    Some((
        "Nsight Compute profiles devices of compute capability 7.0 and above; nvprof has the metrics of older ones",
        command.unwrap_or_else(|| {
            let metrics = free_name(&analysis.sources, "metrics");
            format!("nvprof --csv --metrics all --log-file {metrics}.csv APP")
        }),
    ))
}

/// The option of `ncu` that leaves only kernels of these names, with a blank after it.
pub(super) fn filter(names: &[NameFilter]) -> String {
    match NameFilter::option(names) {
        none if none.is_empty() => none,
        option => option + " ",
    }
}

impl NextNcu<'_> {
    /// The command. `APP` stands for the program.
    #[must_use]
    pub fn command(&self) -> String {
        let launches = match self.launches {
            Collected::Range { skip, count } => {
                let names = filter(&self.names);
                format!("{names}--launch-skip {skip} --launch-count {count}")
            }
            Collected::EachShape { .. } => NameFilter::first_of_each(&self.names),
        };
        format!("ncu --set full --import-source yes {launches} -o {} APP", self.report)
    }
}

impl NextNcu<'_> {
    /// The kernels. Several of one name differ by what launched them, or by their grid and block.
    fn table(&self, style: &Style) -> Table {
        let has_operators = self.kernels.iter().any(|kernel| kernel.operator.is_some());
        let mut columns = vec![
            Column::number("rank", "#", Form::Count),
            Column::name("name", "kernel"),
            Column::number("shape", "grid / block", Form::Count).spare(3),
            Column::number("launches", "launches in all", Form::Count),
            Column::number("measured_s", "time", Form::Time),
            Column::number("share", "share", Form::Share).spare(1),
        ];
        if has_operators {
            columns.insert(2, Column::text("operator", "operator").spare(2));
        }
        let mut table = Table::new("collected", columns);
        for kernel in &self.kernels {
            let name = if style.full_names { &kernel.full_name } else { &kernel.name };
            let mut cells = vec![
                Cell::count(kernel.rank as u64),
                Cell::text(printable(name)),
                Cell::text(shape(kernel)),
                Cell::count(kernel.launches),
                Cell::time(kernel.measured),
                Cell::Number(self.totals.share(kernel.measured)),
            ];
            if has_operators {
                let operator = kernel.operator.as_deref().map(printable);
                cells.insert(2, Cell::maybe_text(operator));
            }
            table.push(cells);
        }
        table
    }
}

impl Reported for NextNcu<'_> {
    fn document(&self, style: &Style) -> Document {
        let mut document = Document::new("Counters to collect next");
        document.push(Block::Code(self.command()));
        document.section("Collects", vec![Block::Table(self.table(style))]);
        let most = if self.at_stake < self.all {
            let all = si(self.all, "s");
            format!(
                "these kernels account for {} of the {all} that may be saved or could not be judged",
                si(self.at_stake, "s")
            )
        } else {
            let all = si(self.all, "s");
            format!("these kernels account for all {all} that may be saved or could not be judged")
        };
        let which = match self.launches {
            Collected::Range { skip, count: number } => {
                let after = match skip {
                    0 => ", from the first of these names on".to_owned(),
                    _ => format!(
                        " after skipping {skip} of these names, as many as the profile has before them"
                    ),
                };
                format!(
                    "profiles {} with {}{after}. If the profile begins later than the program, begin with \
                     it: --profile-from-start off, and torch.cuda.profiler.start() or \
                     cudaProfilerStart() where it begins",
                    count(number as u64, "launch", "launches"),
                    count(self.kernels.len() as u64, "kernel", "kernels"),
                )
            }
            Collected::EachShape { shapes } => {
                let which = match shapes {
                    Some(1) => "the first launch of these names, which have one shape".to_owned(),
                    Some(shapes) => format!(
                        "the first launch of each of {} of these names",
                        count(shapes as u64, "shape", "shapes")
                    ),
                    None => "the first launch of each shape of these names".to_owned(),
                };
                format!("{which}; for the third ones, after the warm-up, write :3 instead of :1")
            }
        };
        let report = &self.report;
        let then = match &self.beside {
            Some(trace) => format!(
                "then, for the times of the real run with these counters: rooflint {trace} {report}.ncu-rep"
            ),
            None => format!("then: rooflint {report}.ncu-rep"),
        };
        document.push(Block::lines(vec![most, which, then]));
        document
    }
}
