//! Which column of an unknown table is probably what, by its title and its first values.

use super::column::Column;
use super::titles::{Title, Unit, quoted};

const KERNEL: &[&str] = &[
    "kernel name",
    "kernel",
    "kernelname",
    "kernel function",
    "demangled name",
    "name",
    "function name",
    "function",
    "func",
    "symbol",
];
const START: &[&str] = &[
    "start",
    "begin",
    "start time",
    "begin time",
    "start timestamp",
    "begin timestamp",
    "gpu start",
    "gpu start time",
    "kernel start",
    "ts",
    "timestamp",
];
const END: &[&str] = &[
    "end",
    "stop",
    "finish",
    "end time",
    "stop time",
    "end timestamp",
    "gpu end",
    "gpu end time",
    "kernel end",
];
const LAUNCHES: &[&str] = &[
    "launches",
    "calls",
    "instances",
    "invocations",
    "occurrences",
    "executions",
    "count",
    "call count",
    "launch count",
    "num calls",
    "num launches",
    "number of calls",
    "number of launches",
    "of calls",
    "ncalls",
];
const GRID: &[&str] = &[
    "grid",
    "grid size",
    "grid dim",
    "grid dims",
    "griddim",
    "gridsize",
    "launch grid",
    "grd",
    "blocks",
    "num blocks",
    "number of blocks",
    "global size",
    "global work size",
];
const BLOCK: &[&str] = &[
    "block",
    "block size",
    "block dim",
    "block dims",
    "blockdim",
    "blocksize",
    "blk",
    "threads per block",
    "workgroup size",
    "workgroup",
    "work group size",
    "local size",
    "local work size",
];
const OPERATOR: &[&str] = &[
    "operator",
    "operator name",
    "op name",
    "op",
    "layer",
    "layer name",
    "module",
    "operation",
    "nvtx range",
    "nvtx",
    "annotation",
    "range",
    "scope",
    "phase",
];
const DEVICE: &[&str] = &[
    "device name",
    "gpu name",
    "gpu model",
    "device",
    "gpu",
    "device id",
    "gpu id",
    "device index",
    "gpu index",
];
const STREAM: &[&str] = &["stream", "stream id", "cuda stream", "queue", "queue id"];
const ID: &[&str] =
    &["launch id", "launch index", "dispatch id", "kernel index", "id", "index", "idx"];

/// Words of bytes that do not move between the device and its memory, or are a bound.
const NO_TRAFFIC: &[&str] = &[
    "smem",
    "shared",
    "lds",
    "l1",
    "l2",
    "tex",
    "cache",
    "local",
    "register",
    "registers",
    "peak",
    "alloc",
    "allocated",
    "used",
    "usage",
    "footprint",
    "param",
    "params",
    "parameters",
    "model",
    "static",
    "dynamic",
    "stack",
    "private",
    "group",
    "segment",
    "h2d",
    "d2h",
    "pcie",
    "nvlink",
    "host",
    "size",
    "min",
    "max",
    "workspace",
    "reserved",
    "theoretical",
    "ideal",
    "capacity",
    "network",
    "roof",
    "roofline",
    "expected",
    "predicted",
    "estimated",
    "saved",
    "limit",
    "std",
    "stdev",
    "stddev",
];
/// Words that say in how many of its unit a number is, in ways that no unit is written.
const SCALE: &[&str] = &[
    "k",
    "m",
    "g",
    "t",
    "bn",
    "mn",
    "mb",
    "gb",
    "mbit",
    "gbit",
    "bit",
    "bits",
    "thousand",
    "thousands",
    "million",
    "millions",
    "billion",
    "billions",
    "1e3",
    "1e6",
    "1e9",
    "1e12",
];
const READ: &[&str] = &["read", "reads", "load", "loads", "loaded", "rd", "in", "input"];
const WRITE: &[&str] =
    &["write", "writes", "written", "store", "stores", "stored", "wr", "out", "output"];
/// Words of rates and work that a device could do.
const NO_WORK: &[&str] = &[
    "peak",
    "max",
    "min",
    "theoretical",
    "roof",
    "roofline",
    "ideal",
    "efficiency",
    "expected",
    "predicted",
    "estimated",
    "saved",
    "std",
    "stdev",
    "stddev",
];

/// The lines of a mapping for the columns of a table.
pub(super) struct Roles<'a> {
    columns: &'a [Column],
    used: Vec<bool>,
    /// Why a column is not used, where there is more to say.
    reasons: Vec<(usize, &'static str)>,
    /// The lines, each with its comment.
    lines: Vec<String>,
    score: usize,
    names_device: bool,
}

impl<'a> Roles<'a> {
    pub(super) fn new(columns: &'a [Column]) -> Self {
        let mut roles = Self {
            columns,
            used: columns.iter().map(|column| column.is_twice).collect(),
            reasons: Vec::new(),
            lines: Vec::new(),
            score: 0,
            names_device: false,
        };
        let kernel = roles.find(KERNEL, Column::is_text);
        roles.plain("kernel", kernel, "needed");
        roles.score *= 2;
        let launches = roles.find(LAUNCHES, Column::is_number);
        let time = roles.time(launches.is_some());
        roles.start();
        roles.bytes();
        roles.flops();
        roles.launches(launches, time);
        roles.shape();
        let operator = roles.find(OPERATOR, Column::is_text);
        roles.plain("operator", operator, "separates launches of one kernel");
        let device = roles.find(DEVICE, |column| column.is_text() || column.is_number());
        roles.names_device = device.is_some_and(|at| !columns[at].is_numeric);
        roles.plain("device", device, "the name or number of the GPU");
        let stream = roles.find(STREAM, Column::is_number);
        roles.plain("stream", stream, "");
        let id = roles.find(ID, Column::is_number);
        roles.plain("id", id, "the number of the launch");
        for (at, column) in columns.iter().enumerate().filter(|(_, column)| column.is_twice) {
            roles.used[at] = false;
            if !roles.lines.iter().any(|line| line.contains(&quoted(&column.name))) {
                roles.reasons.push((at, "several columns have this title: rename them"));
            }
        }
        roles
    }

    /// How much of the table is known.
    pub(super) fn score(&self) -> usize {
        self.score
    }

    /// Appends the lines.
    pub(super) fn write(&self, text: &mut String) {
        if !self.names_device {
            text.push_str(
                "# device = \"NVIDIA H100 80GB HBM3\" # the GPU, if all launches ran on one\n",
            );
        }
        text.push_str("\n[columns]\n");
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        let unused = || self.columns.iter().enumerate().filter(|(at, _)| !self.used[*at]);
        if unused().next().is_some() {
            text.push_str("\n# Not used:\n");
        }
        for (at, column) in unused() {
            let reason = self.reasons.iter().find(|(about, _)| *about == at);
            let reason = reason.map_or_else(String::new, |(_, reason)| format!("; {reason}"));
            text.push_str(&format!("#   {}{reason}\n", column.shown()));
        }
    }

    /// The first column with one of these titles, the likeliest title first.
    fn find(&self, names: &[&str], accepts: impl Fn(&Column) -> bool) -> Option<usize> {
        names.iter().find_map(|name| {
            let is_it = |at: &usize| {
                let column = &self.columns[*at];
                !self.used[*at] && column.title.name() == *name && accepts(column)
            };
            (0..self.columns.len()).find(is_it)
        })
    }

    /// Columns that are not used yet, with their places.
    fn free(&self) -> impl Iterator<Item = (usize, &'a Column)> + use<'a, '_> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(at, _)| !self.used[*at])
    }

    /// Adds a line that uses these columns.
    fn used(&mut self, line: String, columns: &[usize], doubt: &str) {
        for at in columns {
            self.used[*at] = true;
            self.lines.push(format!("# from {}", self.columns[*at].shown()));
        }
        if !doubt.is_empty() {
            self.lines.push(format!("# {doubt}"));
        }
        self.lines.push(line);
        self.score += 1;
    }

    /// Adds a line to be filled in.
    fn missing(&mut self, line: &str, what: &str) {
        let what = if what.is_empty() { String::new() } else { format!(": {what}") };
        self.lines.push(format!("# {line} # not found{what}"));
    }

    /// A line with the name of a column.
    fn plain(&mut self, key: &str, column: Option<usize>, what: &str) {
        match column {
            Some(at) => self.used(format!("{key} = {}", self.name(at)), &[at], ""),
            None => self.missing(&format!("{key} = \"COLUMN\""), what),
        }
    }

    fn name(&self, at: usize) -> String {
        quoted(&self.columns[at].name)
    }

    /// The time; gives its column, if it is one.
    fn time(&mut self, several: bool) -> Option<usize> {
        let ranks = self.free().filter_map(|(at, column)| Some((column.time_rank(several)?, at)));
        let best = ranks.min().map(|(_, at)| at);
        if let Some((at, unit)) = best.and_then(|at| Some((at, self.columns[at].time_unit()?))) {
            let line = format!("time = {{ column = {}, unit = \"{unit}\" }}", self.name(at));
            self.used(line, &[at], "");
            self.score += 1;
            return Some(at);
        }
        let instant = |names| self.find(names, |column| column.time_unit().is_some());
        if let (Some(start), Some(end)) = (instant(START), instant(END))
            && let Some(unit) = self.columns[start].time_unit()
            && self.columns[end].time_unit() == Some(unit)
        {
            let (from, to) = (self.name(start), self.name(end));
            let line = format!("time = {{ start = {from}, end = {to}, unit = \"{unit}\" }}");
            self.used(line, &[start, end], "");
            self.score += 1;
            return None;
        }
        match best {
            Some(at) => {
                self.used[at] = true;
                self.lines.push(format!("# from {}", self.columns[at].shown()));
                let line = format!("# time = {{ column = {}, unit = \"UNIT\" }}", self.name(at));
                self.lines.push(line + " # its title names no unit: s, ms, us or ns");
                self.score += 1;
            }
            None => self.missing("time = { column = \"COLUMN\", unit = \"us\" }", "needed"),
        }
        best
    }

    fn start(&mut self) {
        let is_instant = |column: &Column| column.is_number() || column.time_unit().is_some();
        match self.find(START, is_instant) {
            Some(at) => match self.columns[at].time_unit() {
                Some(unit) => {
                    let name = self.name(at);
                    self.used(
                        format!("start = {{ column = {name}, unit = \"{unit}\" }}"),
                        &[at],
                        "",
                    );
                }
                None => self.reasons.push((at, "the start? its title names no unit")),
            },
            // The start of a span is the start.
            None if self.lines.iter().any(|line| line.starts_with("time = { start")) => {}
            None => self
                .missing("start = { column = \"COLUMN\", unit = \"us\" }", "the start on the GPU"),
        }
    }

    fn bytes(&mut self) {
        let is_bytes = |column: &Column| {
            let title = &column.title;
            matches!(title.unit, Some(Unit::Bytes(_)))
                && column.is_numeric
                && !title.is_relative
                && !title.has(NO_TRAFFIC)
        };
        self.leave_scaled(is_bytes);
        let is_bytes = |column: &Column| is_bytes(column) && !column.title.has(SCALE);
        let columns: Vec<_> = self.free().filter(|(_, column)| is_bytes(column)).collect();
        let of = |reads: bool, writes: bool| {
            let fits = |title: &Title| title.has(READ) == reads && title.has(WRITE) == writes;
            let both = columns.iter().filter(move |(_, column)| fits(&column.title));
            both.min_by_key(|(at, column)| {
                let is_memory = column.title.has(&["dram", "hbm", "device", "memory", "mem"]);
                (column.title.is_rate, !is_memory, *at)
            })
        };
        let doubt = "of device memory, to and from? MB are 10^6 bytes, MiB 2^20";
        if let Some((at, column)) = of(true, true).or_else(|| of(false, false)) {
            let unit = column.unit().unwrap_or_default();
            let line = format!("bytes = {{ column = {}, unit = \"{unit}\" }}", self.name(*at));
            self.used(line, &[*at], doubt);
        } else if let (Some((read, one)), Some((written, two))) = (of(true, false), of(false, true))
            && one.unit() == two.unit()
        {
            let unit = one.unit().unwrap_or_default();
            let (from, to) = (self.name(*read), self.name(*written));
            let line = format!("bytes = {{ sum = {{ {from} = 1, {to} = 1 }}, unit = \"{unit}\" }}");
            self.used(line, &[*read, *written], doubt);
        } else {
            self.missing(
                "bytes = { column = \"COLUMN\", unit = \"MB\" }",
                "bytes of device memory",
            );
        }
    }

    /// Says why columns that would do are not used: their titles have a scale beside the unit.
    fn leave_scaled(&mut self, is_it: impl Fn(&Column) -> bool) {
        let scaled = |column: &Column| is_it(column) && column.title.has(SCALE);
        let places: Vec<usize> =
            self.free().filter(|(_, column)| scaled(column)).map(|(at, _)| at).collect();
        let reason = "in which unit? its title has a scale of its own";
        self.reasons.extend(places.into_iter().map(|at| (at, reason)));
    }

    fn flops(&mut self) {
        let is_work = |column: &Column| {
            let title = &column.title;
            let is_known = matches!(title.unit, Some(Unit::Work(_))) && column.is_numeric;
            is_known && !title.is_relative && !title.has(NO_WORK)
        };
        self.leave_scaled(is_work);
        let is_work = |column: &Column| is_work(column) && !column.title.has(SCALE);
        let columns = self.free().filter(|(_, column)| is_work(column));
        let mut columns: Vec<(usize, &Column)> = columns.collect();
        columns.sort_by_key(|(at, column)| (column.title.is_rate, *at));
        // Columns of one precision each add up; of all others one may contain the next.
        let mut chosen: Vec<(usize, &Column)> = Vec::new();
        for (at, column) in &columns {
            let precision = column.precision();
            if precision.is_some() && !chosen.iter().any(|(_, one)| one.precision() == precision) {
                chosen.push((*at, *column));
            }
        }
        if chosen.is_empty() {
            chosen.extend(columns.first());
        }
        for (at, _) in columns.iter().filter(|(at, _)| !chosen.iter().any(|(one, _)| one == at)) {
            self.reasons.push((*at, "more work, or the same? a precision can have one column"));
        }
        let Some((first, _)) = chosen.first().copied() else {
            let line =
                "flops = { column = \"COLUMN\", unit = \"GFLOP\", precision = \"fp16_matrix\" }";
            return self.missing(line, "operations");
        };
        let cells: Vec<String> = chosen
            .iter()
            .map(|(at, column)| {
                let unit = column.unit().unwrap_or_default();
                let precision = column
                    .precision()
                    .map_or_else(String::new, |precision| format!(", precision = \"{precision}\""));
                format!("{{ column = {}, unit = \"{unit}\"{precision} }}", self.name(*at))
            })
            .collect();
        let mut doubt = Vec::new();
        if self.columns[first].precision().is_none() {
            doubt.push(
                "add precision = \"fp16_matrix\" or another; without it the fastest 16-bit or TF32 roof is used",
            );
        }
        if chosen.iter().any(|(_, column)| column.title.is_ambiguous) {
            doubt.push("taken for a rate: without /s it is an amount");
        }
        let line = match cells.as_slice() {
            [one] => format!("flops = {one}"),
            several => format!("flops = [{}]", several.join(", ")),
        };
        let columns: Vec<usize> = chosen.iter().map(|(at, _)| *at).collect();
        self.used(line, &columns, &doubt.join("; "));
    }

    fn launches(&mut self, launches: Option<usize>, time: Option<usize>) {
        let values = "values = \"total\"";
        let Some(at) = launches else {
            let line = format!("launches = {{ column = \"COLUMN\", {values} }}");
            return self.missing(&line, "if a row stands for several");
        };
        let name = self.name(at);
        if let Some(is_total) = time.and_then(|time| self.columns[time].is_total()) {
            let values = if is_total { "total" } else { "average" };
            let line = format!("launches = {{ column = {name}, values = \"{values}\" }}");
            let doubt = format!("as the title of the time says; bytes and work: {values} too?");
            return self.used(line, &[at], &doubt);
        }
        self.used[at] = true;
        self.lines.push(format!("# from {}", self.columns[at].shown()));
        let doubt = "are times, bytes and work of a row a \"total\", or an \"average\"?";
        self.lines.push(format!("# launches = {{ column = {name}, {values} }} # {doubt}"));
    }

    /// Grid and block.
    fn shape(&mut self) {
        let (grid, block) = (self.extent(GRID), self.extent(BLOCK));
        let has = |columns: &Option<Vec<usize>>, words: &[&str]| {
            let mut titles = columns.iter().flatten().map(|at| &self.columns[*at].title);
            titles.any(|title| title.has(words))
        };
        let counts_threads =
            has(&grid, &["global"]) || has(&block, &["workgroup", "work", "local"]);
        for (key, columns) in [("grid", grid), ("block", block)] {
            let Some(columns) = columns else {
                self.missing(&format!("{key} = \"COLUMN\""), "");
                continue;
            };
            let names: Vec<String> = columns.iter().map(|at| self.name(*at)).collect();
            let names = names.join(", ");
            if key == "grid" && counts_threads {
                let line = format!("grid = {{ columns = [{names}], unit = \"threads\" }}");
                self.used(line, &columns, "counts work-items, not work-groups?");
            } else if columns.len() == 1 {
                self.used(format!("{key} = {names}"), &columns, "");
            } else {
                self.used(format!("{key} = [{names}]"), &columns, "");
            }
        }
    }

    fn extent(&self, names: &[&str]) -> Option<Vec<usize>> {
        let in_three = names.iter().find_map(|name| {
            let parts = ["x", "y", "z"]
                .map(|axis| self.find(&[&format!("{name} {axis}")], Column::is_number));
            parts.into_iter().collect::<Option<Vec<usize>>>()
        });
        let is_extent = |column: &Column| column.title.unit.is_none() && column.is_extent;
        in_three.or_else(|| Some(vec![self.find(names, is_extent)?]))
    }
}
