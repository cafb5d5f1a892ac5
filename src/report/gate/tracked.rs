//! Figures of the current side for performance trackers: of the run, and of its top kernels by
//! time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::GateReport;
use crate::compare::{self, Lone, Measured, Run};
use crate::gate::Outcome;
use crate::report::view::printable;
use crate::units::{Factor, Seconds};

/// Number of kernels to track; trackers charge by the series and slow down with it.
const KERNELS: usize = 50;

/// Maximum characters of a kernel's name; Bencher takes 1024 and `MLflow` 250 with the metric.
const NAME: usize = 160;

/// One figure of the current side.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    /// The kernel with its grid and block; `None` for the whole run.
    pub(super) kernel: Option<String>,
    /// Name of the metric, such as `gpu_time`.
    pub(super) metric: &'static str,
    /// Its base unit: `seconds`, `ratio`, or nothing for a count.
    pub(super) unit: &'static str,
    /// The value: the median over the runs of the side; time and launches of a run that was compared are those of the gate.
    pub(super) value: f64,
    /// Smallest and largest value of single runs, if there are several.
    pub(super) range: Option<[f64; 2]>,
}

impl Figure {
    /// Returns the metric with its unit: `gpu_time_seconds`.
    pub(super) fn name(&self) -> String {
        if self.unit.is_empty() {
            self.metric.to_owned()
        } else {
            format!("{}_{}", self.metric, self.unit)
        }
    }
}

/// Returns the figures of the current side; smaller is better for all except counts.
pub(super) fn figures(report: &GateReport<'_>) -> Vec<Figure> {
    let failed = !matches!(report.decision.outcome, Outcome::Passed);
    let failed = figure(None, "gate_not_passed", "", f64::from(u8::from(failed)));
    let comparison = report.decision.comparison.as_ref();
    let judged = comparison.map(|comparison| comparison.current.labels.as_slice());
    let mut figures = of_runs(&kept(report.current, judged.unwrap_or_default()));
    // As the gate has it: without runs that stand apart.
    if let Some(comparison) = comparison {
        let of_run = figures.iter_mut().filter(|figure| figure.kernel.is_none());
        for figure in of_run {
            match figure.metric {
                "gpu_time" => figure.value = comparison.current.time_s.get(),
                "launches" => figure.value = comparison.current.launches,
                _ => {}
            }
        }
    }
    std::iter::once(failed).chain(figures).collect()
}

/// Returns the runs that the gate judged: a damaged one, which it left out, is no figure of the others.
fn kept<'a>(runs: &'a [Run], labels: &[String]) -> Cow<'a, [Run]> {
    let is_kept = |run: &&Run| labels.contains(&run.label);
    match runs.iter().filter(is_kept).count() {
        0 => Cow::Borrowed(runs),
        kept if kept == runs.len() => Cow::Borrowed(runs),
        _ => runs.iter().filter(is_kept).cloned().collect(),
    }
}

/// Returns the figures of runs, without those of a gate.
pub(super) fn of_runs(runs: &[Run]) -> Vec<Figure> {
    if runs.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let times: Vec<f64> = runs.iter().map(|run| run.whole_s().get()).collect();
    if times.iter().all(|time| *time > 0.0) {
        all.push(over_runs("gpu_time", &times));
    }
    // Where the model covers no kernel there are no savings, which is not to say that there is nothing to save.
    if let Some(savings) = runs.iter().map(savings).collect::<Option<Vec<f64>>>() {
        all.push(over_runs("savings", &savings));
    }
    let launches: Vec<f64> = runs.iter().map(|run| run.launches as f64).collect();
    all.extend(
        crate::units::median(&launches).map(|launches| figure(None, "launches", "", launches)),
    );
    let (kernels, by_run): (Vec<Lone>, Vec<_>) = compare::kernels_by_run(runs).into_iter().unzip();
    let names = names(&kernels);
    for ((kernel, by_run), name) in kernels.iter().zip(by_run).zip(names).take(KERNELS) {
        let measured = &kernel.measured;
        let times = by_run.iter().filter_map(|run: &Measured| run.time_s.map(Seconds::get));
        let time = crate::units::median(&times.collect::<Vec<f64>>());
        let of = |metric, unit, value| figure(Some(name.clone()), metric, unit, value);
        all.extend(time.map(|time| of("kernel_time", "seconds", time)));
        let launch = measured.launch_s.map(Seconds::get);
        all.extend(launch.map(|launch| of("launch_time", "seconds", launch)));
        all.extend(measured.headroom.map(Factor::get).map(|value| of("headroom", "ratio", value)));
    }
    all.retain(|figure| figure.value.is_finite());
    all
}

/// Returns the savings of the kernels of a run that the model covers, in seconds; `None` if it covers none.
fn savings(run: &Run) -> Option<f64> {
    let known = run.kernels.iter().filter_map(|kernel| kernel.savings_s);
    known.reduce(|one, two| one + two).map(Seconds::get)
}

fn figure(kernel: Option<String>, metric: &'static str, unit: &'static str, value: f64) -> Figure {
    Figure { kernel, metric, unit, value, range: None }
}

fn over_runs(metric: &'static str, values: &[f64]) -> Figure {
    // As the time of several runs is everywhere else.
    let median = crate::units::median(values).unwrap_or_default();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = (values.len() > 1).then_some([low, high]);
    Figure { range, ..figure(None, metric, "seconds", median) }
}

/// Returns a name for each kernel, with its operator and shape and, where it is long or kernels of several devices have
/// it, a hash of all by which kernels differ. It depends on no other kernel's time, so that a series keeps its kernel.
fn names(kernels: &[Lone]) -> Vec<String> {
    let plain: Vec<String> = kernels
        .iter()
        .map(|kernel| {
            let Measured { operator, shape, .. } = &kernel.measured;
            let operator = operator.as_ref().map(|operator| format!(" [{operator}]"));
            let shape = if shape.is_empty() { String::new() } else { format!(" [{shape}]") };
            printable(&format!("{}{}{shape}", kernel.name, operator.unwrap_or_default()))
        })
        .collect();
    let mut sharing: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &plain {
        *sharing.entry(name).or_default() += 1;
    }
    let mut taken = BTreeSet::new();
    let named = kernels.iter().zip(&plain).map(|(kernel, name)| {
        let is_long = name.chars().count() > NAME;
        let mut unique = if is_long || sharing.get(name.as_str()).is_some_and(|many| *many > 1) {
            let measured = &kernel.measured;
            let hash = compare::fingerprint(&format!(
                "{}\0{}\0{}\0{}",
                measured.full_name,
                measured.shape,
                measured.device,
                measured.operator.as_deref().unwrap_or_default()
            ));
            let short: String = name.chars().take(NAME - 12).collect();
            format!("{short} #{}", hash.chars().take(8).collect::<String>())
        } else {
            name.clone()
        };
        let base = unique.clone();
        let mut number = 1;
        while !taken.insert(unique.clone()) {
            number += 1;
            unique = format!("{base}-{number}");
        }
        unique
    });
    named.collect()
}

/// Returns a name that every tracker accepts: letters, digits and `_`, no digit first, at most
/// `limit` characters.
pub(super) fn slug(text: &str, limit: usize) -> String {
    let mut slug = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let mut slug = slug.trim_end_matches('_').to_owned();
    if slug.chars().next().is_none_or(|first| first.is_ascii_digit()) {
        slug.insert(0, '_');
    }
    if slug.len() > limit {
        let hash: String = compare::fingerprint(text).chars().take(8).collect();
        slug.truncate(limit - 9);
        slug = format!("{slug}_{hash}");
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_names_that_trackers_take() {
        for (text, slug_of) in [
            ("gemm<float, 128> [108 / 256]", "gemm_float_128_108_256"),
            ("9x9", "_9x9"),
            ("…", "_"),
            ("a__b", "a_b"),
        ] {
            assert_eq!(slug(text, 250), slug_of);
        }
        let long = "k".repeat(400);
        let (one, two) = (slug(&long, 60), slug(&format!("{long}x"), 60));
        assert!(one.len() == 60 && two.len() == 60 && one != two, "{one} {two}");
    }

    /// Five launches of 1, 1.1 and 3 ms over roofline times of 0.5 ms: headroom 2, 2.2 and 6.
    #[test]
    fn one_odd_run_of_three_makes_no_figure() {
        use crate::compare::made::{kernel, run};
        let of = |label: &str, time: f64| {
            let mut one = Run { label: label.to_owned(), ..run(vec![kernel("a", &[time; 5])]) };
            one.kernels[0].roofline_s = Some(Seconds::new(5.0 * 5e-4));
            one
        };
        let runs = [of("one", 1e-3), of("odd", 3e-3), of("two", 1.1e-3)];
        let value = |runs: &[Run], metric: &str| {
            let all = of_runs(runs);
            let is_it = |figure: &&Figure| figure.kernel.is_some() && figure.metric == metric;
            all.iter().find(is_it).unwrap().value
        };
        for (metric, wanted) in
            [("headroom", 2.2), ("kernel_time", 5.5e-3), ("launch_time", 1.1e-3)]
        {
            let found = value(&runs, metric);
            assert!((found / wanted - 1.0).abs() < 1e-12, "{metric}: {found}");
        }
        // What the gate left out is in no figure: of the other two, the middle.
        let labels = ["one", "two"].map(str::to_owned);
        let found = value(&kept(&runs, &labels), "headroom");
        assert!((found - 2.1).abs() < 1e-12, "{found}");
        assert_eq!(kept(&runs, &[]).len(), 3, "without a comparison all are judged");
    }

    #[test]
    fn the_ends_of_several_runs_are_their_range() {
        let figure = over_runs("gpu_time", &[1.0, 3.0]);
        assert_eq!((figure.value, figure.range), (2.0, Some([1.0, 3.0])));
        assert_eq!(over_runs("gpu_time", &[1.0]).range, None);
        assert_eq!(figure.name(), "gpu_time_seconds");
    }
}
