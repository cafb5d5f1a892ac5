//! Which kernels deserve a profile with counters, and which of their launches to collect.

use std::collections::{HashMap, HashSet};

use super::{Analysis, Kernel, State, Totals};
use crate::model::{HintId, KernelName, LaunchCall, Profile};
use crate::plain;
use crate::units::Seconds;

/// A few kernels of which counters would tell most.
#[derive(Debug, Clone)]
pub struct NextNcu<'a> {
    /// The kernels, the one with most to learn first.
    pub kernels: Vec<&'a Kernel>,
    /// Their names as Nsight Compute filters by them, each once.
    pub names: Vec<String>,
    /// Which launches of these names to collect.
    pub launches: Collected,
    /// Time that the kernels could save, or that could not be judged.
    pub at_stake: Seconds,
    /// The same of all kernels.
    pub all: Seconds,
    /// Totals of the run.
    pub totals: &'a Totals,
    /// The input that takes the counters and keeps its times, as a command names it: one of the real run. `None` if the
    /// counters are to be read alone.
    pub beside: Option<String>,
}

/// Launches to collect, of those whose names match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collected {
    /// Consecutive ones that include a launch of each kernel.
    Range {
        /// Matching launches before them.
        skip: usize,
        /// Their number.
        count: usize,
    },
    /// One of each grid and block: in sequence they lie far apart.
    EachShape {
        /// Number of shapes; `None` where the export does not tell them apart.
        shapes: Option<usize>,
    },
}

/// More kernels than this are another profile.
const MOST: usize = 5;

/// The share of the time at stake that is enough.
const ENOUGH: f64 = 0.8;

/// Nsight Compute replays each launch dozens of times: more than this take long.
const LONG: usize = 50;

/// The name by which Nsight Compute filters a kernel: without templates, namespaces and parameters. None where it has
/// other characters than names have.
#[must_use]
pub fn filter_name(full_name: &str) -> Option<String> {
    let head = KernelName::parse(full_name).head;
    let base = head.split(['<', '(']).next().unwrap_or_default();
    let base = base.rsplit([':', ' ']).next().unwrap_or_default();
    let is_name = !base.is_empty() && base.chars().all(|one| one.is_alphanumeric() || one == '_');
    is_name.then(|| base.to_owned())
}

impl Analysis {
    /// Returns the kernels of which counters would tell most: those that could save time, and those that
    /// cannot be judged. `None` if there are none.
    #[must_use]
    pub fn next_ncu(&self, profile: &Profile) -> Option<NextNcu<'_>> {
        let mut wanted: Vec<(&Kernel, String, Seconds)> = self
            .kernels
            .iter()
            .map(|kernel| (kernel, at_stake(kernel)))
            .filter(|(_, stake)| *stake > Seconds::ZERO)
            .filter_map(|(kernel, stake)| Some((kernel, filter_name(&kernel.full_name)?, stake)))
            .collect();
        wanted.sort_by(|one, two| two.2.total_cmp(&one.2));
        let all: Seconds = wanted.iter().map(|one| one.2).sum();
        let mut stake = Seconds::ZERO;
        let mut kernels: Vec<&Kernel> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (kernel, name, of) in wanted {
            if kernels.len() == MOST || stake >= all * ENOUGH {
                break;
            }
            stake += of;
            kernels.push(kernel);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if kernels.is_empty() {
            return None;
        }
        let launches = collected(profile, &kernels, &names);
        let totals = &self.totals;
        let beside = of_real_run(profile);
        Some(NextNcu { kernels, names, launches, at_stake: stake, all, totals, beside })
    }
}

/// The inputs whose times are those of the real run, as a command names them. Counters go to launches of the same grid and
/// block, so these must be known.
fn of_real_run(profile: &Profile) -> Option<String> {
    let is_shaped = |row: usize| {
        let head = profile.launches.head(row);
        let source = profile.sources.get(usize::from(head.source));
        source.is_some_and(|source| source.profiler.times_real_run())
            && head.shape.grid.is_some()
            && head.shape.block.is_some()
    };
    if !(0..profile.launches.len()).any(is_shaped) {
        return None;
    }
    let real = profile.sources.iter().filter(|source| source.profiler.times_real_run());
    match real.collect::<Vec<_>>().as_slice() {
        [one] => Some(plain::file(&one.path)),
        _ => Some("FILE...".to_owned()),
    }
}

/// What counters could show of a kernel's time.
fn at_stake(kernel: &Kernel) -> Seconds {
    match kernel.state {
        State::NotEnoughData | State::FasterThanRoofline => kernel.measured,
        State::Flagged | State::Possible | State::Fair | State::LowImpact => kernel.savings_high,
        _ => Seconds::ZERO,
    }
}

/// The shortest range of matching launches that has one of each kernel. Of several the first, which one step reaches, where the
/// profile begins in the midst of a run; else the last, since the first launches of a program are those that warm up.
fn collected(profile: &Profile, kernels: &[&Kernel], names: &[String]) -> Collected {
    let launches = &profile.launches;
    let source = kernels.first().map(|kernel| launches.head(kernel.longest).source);
    let keys: Vec<_> = kernels.iter().map(|kernel| launches.kernel_key(kernel.longest)).collect();
    let mut matches = HashMap::new();
    let mut rows: Vec<usize> = (0..launches.len()).collect();
    rows.sort_by_key(|row| launches.head(*row).start);
    let all = rows.len();
    leave_out_earlier(profile, source, &mut rows);
    let is_amidst =
        rows.len() < all || profile.steps.iter().any(|step| Some(step.source) == source);
    let rows: Vec<usize> = rows
        .into_iter()
        .filter(|row| {
            let head = launches.head(*row);
            let is_match = *matches.entry(head.name).or_insert_with(|| {
                filter_name(profile.names.get(head.name)).is_some_and(|name| names.contains(&name))
            });
            is_match && Some(head.source) == source
        })
        .collect();
    let mut shapes: Vec<_> =
        rows.iter().map(|row| (launches.head(*row).name, launches.head(*row).shape)).collect();
    shapes.sort_unstable();
    shapes.dedup();
    let is_told = shapes.iter().all(|(_, shape)| shape.blocks.is_some());
    let each = Collected::EachShape { shapes: is_told.then_some(shapes.len()) };
    // Averages have no order.
    if rows.iter().any(|row| launches.head(*row).count > 1) {
        return each;
    }
    let of: Vec<Option<usize>> = rows
        .iter()
        .map(|row| keys.iter().position(|key| *key == launches.kernel_key(*row)))
        .collect();
    let mut last = vec![None; keys.len()];
    let mut shortest: Option<(usize, usize)> = None;
    for (at, kernel) in of.iter().enumerate() {
        let Some(kernel) = kernel else { continue };
        last[*kernel] = Some(at);
        let first = last.iter().copied().min().flatten();
        let Some(first) = first.filter(|_| last.iter().all(Option::is_some)) else { continue };
        let count = at + 1 - first;
        if shortest.is_none_or(|(_, known)| count < known || count == known && !is_amidst) {
            shortest = Some((first, count));
        }
    }
    match shortest {
        Some((skip, count)) if count <= LONG => Collected::Range { skip, count },
        _ => each,
    }
}

/// Leaves out launches that were called before the profiler began and ran when it had begun: `ncu`, which begins there too,
/// does not see them. `rows` are in the order of their starts.
fn leave_out_earlier(profile: &Profile, source: Option<u16>, rows: &mut Vec<usize>) {
    let of_source = |call: &&LaunchCall| Some(call.source) == source;
    let called: HashSet<(HintId, u64)> =
        profile.calls.iter().filter(of_source).map(|call| (call.device, call.work)).collect();
    let mut begun = HashSet::new();
    if called.is_empty() {
        return;
    }
    rows.retain(|row| {
        let head = profile.launches.head(*row);
        let stream = (head.source, head.device, head.stream);
        if head.start.is_some_and(|start| called.contains(&(head.device, start))) {
            begun.insert(stream);
        }
        Some(head.source) != source || begun.contains(&stream)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Options, analyze};
    use crate::catalog::Catalog;
    use crate::ingest::read_text;

    #[test]
    fn names_are_those_that_nsight_compute_filters_by() {
        for (name, filter) in [
            ("void at::native::reduce_kernel<512, 1, at::native::Op<float> >(Op)", "reduce_kernel"),
            ("volta_sgemm_128x64_tn", "volta_sgemm_128x64_tn"),
            ("void cutlass::Kernel<cutlass_80_tensorop>(Params)", "Kernel"),
        ] {
            assert_eq!(filter_name(name).as_deref(), Some(filter), "{name}");
        }
        assert_eq!(filter_name("cut_name..."), None);
        assert_eq!(filter_name(""), None);
    }

    /// The choice for a trace of kernels with these names and times in microseconds, in this order; names with an
    /// `x` behind them have a grid of another size.
    fn next(launches: &[(&str, u32)]) -> (Vec<String>, Collected) {
        let event = |(at, (name, time)): (usize, &(&str, u32))| {
            let (name, blocks) = name.strip_suffix('x').map_or((*name, 1), |name| (name, 9));
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "ts": {}.5, "dur": {time}.5,
                "args": {{"stream": 7, "grid": [{blocks}, 1, 1], "block": [32, 1, 1]}}}}"#,
                at * 10_000
            )
        };
        let events: Vec<String> = launches.iter().enumerate().map(event).collect();
        chosen(format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(",")))
    }

    fn chosen(text: String) -> (Vec<String>, Collected) {
        let profile = read_text("t.json", text.leak(), &crate::ingest::Options::default()).unwrap();
        let options = Options { device: Some("A100 SXM4 80GB".to_owned()), ..Options::default() };
        let analysis = analyze(&profile, &Catalog::builtin(), &options).unwrap();
        let next = analysis.next_ncu(&profile).unwrap();
        (next.names, next.launches)
    }

    /// `a` and `b` have most of the time; the last range with both has `bx` between them, which matches by name.
    #[test]
    fn the_shortest_range_that_has_each_kernel_is_collected() {
        let long = [
            ("a", 900),
            ("c", 5),
            ("bx", 5),
            ("bx", 5),
            ("b", 800),
            ("c", 5),
            ("a", 900),
            ("c", 5),
            ("b", 800),
            ("bx", 5),
        ];
        let (names, launches) = next(&long);
        assert_eq!(names, ["a", "b"]);
        // Matching launches: a, bx, bx, b, a, b, bx; of the ranges a b the last is from the fifth on.
        assert_eq!(launches, Collected::Range { skip: 4, count: 2 });
    }

    /// Two launches from before the trace, which have no call in it; `ncu` does not see them if it begins with the trace.
    #[test]
    fn launches_from_before_the_trace_are_not_skipped() {
        let event = |at: u32, name: &str, called: bool| {
            let call = format!(
                r#",{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": {at}.5, "dur": 1.0,
                "args": {{"correlation": {}}}}}"#,
                at + 1
            );
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "ts": {}000.5, "dur": 900.5,
                "args": {{"stream": 7, "correlation": {}, "grid": [1, 1, 1], "block": [32, 1, 1]}}}}{}"#,
                at + 1,
                at + 1,
                if called { call.as_str() } else { "" }
            )
        };
        let launches = |calls: [bool; 4]| {
            let names = ["a", "b", "a", "b"];
            let events: Vec<String> =
                (0..4).map(|at| event(at, names[at as usize], calls[at as usize])).collect();
            let text = format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(","));
            chosen(text).1
        };
        assert_eq!(launches([false, false, true, true]), Collected::Range { skip: 0, count: 2 });
        // Of b a and a b the first: the trace begins in the midst of a run.
        assert_eq!(launches([false, true, true, true]), Collected::Range { skip: 0, count: 2 });
        // Without any call in the trace nothing says when it began.
        assert_eq!(launches([false; 4]), Collected::Range { skip: 2, count: 2 });
    }

    #[test]
    fn kernels_that_lie_far_apart_are_collected_once_for_each_shape() {
        let mut launches = vec![("a", 900)];
        launches.extend([("ax", 1); 60]);
        launches.push(("b", 800));
        assert_eq!(next(&launches).1, Collected::EachShape { shapes: Some(3) });
    }
}
