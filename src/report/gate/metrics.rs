//! The figures as one flat JSON object of names and numbers: the input of `mlflow.log_metrics` and
//! `wandb.log`.
//!
//! Names fit both: letters, digits and `_` (W&B), at most 250 characters (`MLflow`).

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::tracked::{Figure, figures, of_runs, slug};
use super::{GateOutput, GateReport};
use crate::compare::Run;
use crate::report::view::Style;

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "metrics",
    endings: &["metrics.json"],
    summary: "flat JSON of names and numbers, for MLflow and W&B",
    render,
};

/// Maximum characters of a name in `MLflow`.
const LONGEST: usize = 250;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    style.adapted(json(figures(report)))
}

/// Returns the same of runs without a gate: time, savings and launches, and the top kernels by time.
#[must_use]
pub fn metrics(runs: &[Run]) -> String {
    json(of_runs(runs))
}

fn json(figures: Vec<Figure>) -> String {
    let named = figures.into_iter().map(|figure| {
        let text = match &figure.kernel {
            Some(kernel) => format!("{} {kernel}", figure.name()),
            None => figure.name(),
        };
        (slug(&text, LONGEST), text, figure.value)
    });
    let named: Vec<(String, String, f64)> = named.collect();
    let mut count: HashMap<&str, usize> = HashMap::new();
    for (name, ..) in &named {
        *count.entry(name).or_default() += 1;
    }
    let mut all = Map::new();
    for (name, text, value) in &named {
        // Of names that differ in signs only each has a hash, whichever comes first: a tracker follows a name from run to run.
        let name = if count[name.as_str()] > 1 {
            let hash: String = crate::compare::fingerprint(text).chars().take(8).collect();
            slug(&format!("{name} {hash}"), LONGEST)
        } else {
            name.clone()
        };
        all.insert(name, Value::from(*value));
    }
    serde_json::to_string_pretty(&Value::Object(all)).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever of them takes longer.
    #[test]
    fn kernels_of_like_names_keep_their_keys() {
        let figure = |kernel: &str, value: f64| Figure {
            kernel: Some(kernel.to_owned()),
            metric: "launch_time",
            unit: "seconds",
            value,
            range: None,
        };
        let value = |text: &str, kernel: &str| {
            let all: Map<String, Value> = serde_json::from_str(text).unwrap();
            assert_eq!(all.len(), 3);
            let hash: String =
                crate::compare::fingerprint(&format!("launch_time_seconds {kernel}"));
            let mut found = all.iter().filter(|(key, _)| key.ends_with(&hash[..8]));
            found.next().and_then(|(_, value)| value.as_f64())
        };
        let one = json(vec![figure("Foo", 2.0), figure("foo", 1.0), figure("other", 1.0)]);
        let two = json(vec![figure("foo", 3.0), figure("Foo", 2.0), figure("other", 1.0)]);
        assert_eq!([value(&one, "Foo"), value(&one, "foo")], [Some(2.0), Some(1.0)]);
        assert_eq!([value(&two, "Foo"), value(&two, "foo")], [Some(2.0), Some(3.0)]);
        assert!(one.contains("\"launch_time_seconds_other\""), "{one}");
    }
}
