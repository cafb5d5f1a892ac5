//! Kernels for the tests of rules, written as a table with its mapping; compiled for `#[cfg(test)]`.

use crate::analysis::{Analysis, Options, analyze};
use crate::catalog::Catalog;
use crate::ingest::{self, Mapping};
use crate::model::{Pipe, Quantity};
use crate::rules::{Finding, Judgment, Rule, Settings, Subject};
use crate::units::Seconds;

/// A profile of one kernel.
pub(in crate::rules) struct Bench {
    device: &'static str,
    kernel: &'static str,
    time_us: f64,
    plain: Vec<(&'static str, String)>,
    work: Vec<(Pipe, f64)>,
    bytes: Option<f64>,
    quantities: Vec<(Quantity, f64)>,
    beside_us: f64,
    uncounted: usize,
}

/// The device unless a test names another.
const H100: &str = "NVIDIA H100 80GB HBM3";

/// One launch of a kernel on an H100.
pub(in crate::rules) fn kernel(name: &'static str, time_us: f64) -> Bench {
    Bench {
        device: H100,
        kernel: name,
        time_us,
        plain: Vec::new(),
        work: Vec::new(),
        bytes: None,
        quantities: Vec::new(),
        beside_us: 0.0,
        uncounted: 0,
    }
}

impl Bench {
    pub(in crate::rules) fn on(mut self, device: &'static str) -> Self {
        self.device = device;
        self
    }

    pub(in crate::rules) fn grid(mut self, blocks: u64, threads: u64) -> Self {
        self.plain.push(("grid", format!("{blocks}x1x1")));
        self.plain.push(("block", format!("{threads}x1x1")));
        self
    }

    /// Sets how long other kernels ran beside it.
    pub(in crate::rules) fn beside(mut self, beside_us: f64) -> Self {
        self.beside_us = beside_us;
        self
    }

    pub(in crate::rules) fn operator(mut self, operator: &str) -> Self {
        self.plain.push(("operator", operator.to_owned()));
        self
    }

    pub(in crate::rules) fn work(mut self, pipe: Pipe, operations: f64) -> Self {
        self.work.push((pipe, operations));
        self
    }

    /// Adds so many launches of which no operations were counted.
    pub(in crate::rules) fn uncounted(mut self, launches: usize) -> Self {
        self.uncounted = launches;
        self
    }

    pub(in crate::rules) fn bytes(mut self, bytes: f64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    pub(in crate::rules) fn set(mut self, quantity: Quantity, value: f64) -> Self {
        self.quantities.push((quantity, value));
        self
    }

    fn analysis(&self) -> Analysis {
        let mut map = format!(
            "device = \"{}\"\n[columns]\nkernel = \"kernel\"\ntime = {{ column = \"time\", unit = \
             \"us\" }}\n",
            self.device
        );
        let mut header = vec!["kernel".to_owned(), "time".to_owned()];
        let mut row = vec![format!("\"{}\"", self.kernel), self.time_us.to_string()];
        for (name, value) in &self.plain {
            map.push_str(&format!("{name} = \"{name}\"\n"));
            header.push((*name).to_owned());
            row.push(value.clone());
        }
        if let Some(bytes) = self.bytes {
            map.push_str("bytes = { column = \"bytes\", unit = \"B\" }\n");
            header.push("bytes".to_owned());
            row.push(bytes.to_string());
        }
        let mut uncounted = row.clone();
        let mut work = Vec::new();
        for (pipe, operations) in &self.work {
            let (key, unit) = (pipe.key(), pipe.operation());
            work.push(format!(
                "{{ column = \"{key}\", unit = \"{unit}\", precision = \"{key}\" }}"
            ));
            header.push(key.to_owned());
            row.push(operations.to_string());
            uncounted.push(String::new());
        }
        if !work.is_empty() {
            map.push_str(&format!("flops = [{}]\n", work.join(", ")));
        }
        map.push_str("[quantities]\n");
        for (quantity, value) in &self.quantities {
            let (column, unit) = (quantity.column(), quantity.unit());
            map.push_str(&format!("{column} = {{ column = \"{column}\", unit = \"{unit}\" }}\n"));
            header.push(column);
            row.push(value.to_string());
            uncounted.push(value.to_string());
        }
        let rows = format!("{}\n{}\n", header.join(","), row.join(","));
        let csv = rows + &format!("{}\n", uncounted.join(",")).repeat(self.uncounted);
        let map = Some(Mapping::from_toml(&map, "map.toml").unwrap());
        let options = ingest::Options { map, ..ingest::Options::default() };
        let profile = ingest::read_text("table.csv", csv.leak(), &options).unwrap();
        let mut analysis = analyze(&profile, &Catalog::builtin(), &Options::default()).unwrap();
        let beside = Seconds::new(self.beside_us * 1e-6);
        analysis.kernels[0].extras.get_or_insert_default().beside = beside;
        analysis
    }

    /// Hands the kernel to something that looks at it, as this rule does.
    pub(in crate::rules) fn seen<T>(
        &self,
        rule: &'static Rule,
        look: impl Fn(&Subject<'_>) -> T,
    ) -> T {
        let (analysis, settings) = (self.analysis(), Settings::default());
        let kernel = &analysis.kernels[0];
        look(&Subject { rule: rule.id, kernel, analysis: &analysis, settings: &settings })
    }

    /// What the rule says of it.
    pub(in crate::rules) fn judged(&self, rule: &'static Rule) -> Judgment {
        let (crate::rules::Check::Kernel(check) | crate::rules::Check::KernelAlso(_, check)) =
            rule.check
        else {
            panic!("{} is about runs", rule.id)
        };
        self.seen(rule, check)
    }

    /// The finding, which there must be.
    pub(in crate::rules) fn found(&self, rule: &'static Rule) -> Finding {
        self.judged(rule).unwrap().unwrap()
    }

    /// Whether the rule could judge and found nothing.
    pub(in crate::rules) fn is_fine(&self, rule: &'static Rule) -> bool {
        self.judged(rule).unwrap().is_none()
    }

    /// The metric that the rule lacks.
    pub(in crate::rules) fn lacks(&self, rule: &'static Rule) -> &'static str {
        self.judged(rule).unwrap_err().0
    }
}
