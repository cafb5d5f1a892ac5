//! Which kernels deserve a profile with counters, and which of their launches to collect.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::{Analysis, Kernel, State, Totals};
use crate::model::{
    HintId, KernelName, LaunchCall, NameId, OriginKind, Profile, Profiler, Quantity, Source,
};
use crate::plain;
use crate::units::Seconds;

/// A few kernels of which counters would tell most.
#[derive(Debug, Clone)]
pub struct NextNcu<'a> {
    /// The kernels, the one with most to learn first.
    pub kernels: Vec<&'a Kernel>,
    /// Their names as Nsight Compute filters by them, each once.
    pub names: Vec<NameFilter>,
    /// Which launches of these names to collect.
    pub launches: Collected,
    /// Time that the kernels could save, or that could not be judged.
    pub at_stake: Seconds,
    /// The same of all kernels.
    pub all: Seconds,
    /// Totals of the run.
    pub totals: &'a Totals,
    /// The input that takes the counters and keeps its times, one of the real run, as a command names it, with the options
    /// by which its device is known. `None` if the counters are to be read alone.
    pub beside: Option<String>,
    /// The report that the command writes, without its ending: none of the inputs is called so.
    pub report: String,
}

/// Why nothing is worth collecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NothingToCollect {
    /// Counters would tell nothing of any kernel.
    Explained,
    /// The kernels that they would explain have no names to filter by.
    Nameless,
}

/// The options of `ncu` that collect the first launch of each kernel, grid, block and shared memory: the number of an invocation
/// counts those that are alike in all of these.
pub(crate) const ALL_ONCE: &str = "--kernel-name-base demangled --kernel-id :::1";

/// A name by which Nsight Compute filters kernels: without templates, namespaces and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NameFilter {
    name: String,
    /// Whether only the beginning is known: of names that were cut, and of those with tags of a compiler behind them.
    is_prefix: bool,
}

impl NameFilter {
    /// Returns the filter of a kernel by its name as the profiler wrote it; `None` where that has none.
    #[must_use]
    pub fn of(full_name: &str) -> Option<Self> {
        let head = KernelName::parse(full_name).head;
        let base = head.split(['<', '(']).next().unwrap_or_default();
        // Numba's names have tags, as in `add[abi:v1]`.
        let (base, is_tagged) =
            base.split_once('[').map_or((base, false), |(before, _)| (before, true));
        let whole = base.trim_end_matches(['.', '…']);
        let name = whole.rsplit([':', ' ']).next().unwrap_or_default();
        let is_prefix = is_tagged || whole.len() < base.len();
        (!name.is_empty()).then(|| Self { name: name.to_owned(), is_prefix })
    }

    /// The same of a kernel with an operator: PyProf names a kernel that has no name by its operator alone, which no kernel
    /// that `ncu` sees is called by.
    #[must_use]
    pub fn of_kernel(full_name: &str, operator: Option<&str>) -> Option<Self> {
        let first = operator.and_then(|operator| operator.split(' ').next());
        if first == Some(full_name) { None } else { Self::of(full_name) }
    }

    /// Whether a kernel of this filter passes.
    fn takes(&self, other: &Self) -> bool {
        if self.is_prefix { other.name.starts_with(&self.name) } else { *self == *other }
    }

    /// Returns the option of `ncu` that leaves only kernels of these names; empty without any.
    #[must_use]
    pub fn option(filters: &[Self]) -> String {
        match filters {
            [] => String::new(),
            [Self { name, is_prefix: false }] => format!("-k {}", plain::quoted(name)),
            several => {
                let is_open = several.iter().any(|one| one.is_prefix);
                let names: Vec<String> =
                    several.iter().map(|one| one.expression(is_open)).collect();
                let end = if is_open { "" } else { "$" };
                let names = match names.as_slice() {
                    [one] => one.clone(),
                    several => format!("({})", several.join("|")),
                };
                format!("-k {}", plain::quoted(&format!("regex:^{names}{end}")))
            }
        }
    }

    /// Returns the options of `ncu` that collect the first launch of each kernel, grid, block and shared memory under these
    /// names; of all kernels without any. `--filter-mode per-launch-config` does not tell kernels apart, and by the name of
    /// the function alone instances of a template are one kernel.
    #[must_use]
    pub fn first_of_each(filters: &[Self]) -> String {
        let (open, whole): (Vec<&Self>, Vec<&Self>) = filters.iter().partition(|one| one.is_prefix);
        let names = |of: &[&Self]| of.iter().map(|one| one.escaped()).collect::<Vec<_>>().join("|");
        let end = "([^A-Za-z0-9_]|$)";
        let names = match (whole.as_slice(), open.as_slice()) {
            ([], []) => return ALL_ONCE.to_owned(),
            (whole, []) => format!("({}){end}", names(whole)),
            ([], open) => format!("({})", names(open)),
            (whole, open) => format!("(({}){end}|{})", names(whole), names(open)),
        };
        let id = plain::quoted(&format!("::regex:(^|[^A-Za-z0-9_]){names}:1"));
        format!("--kernel-name-base demangled --kernel-id {id}")
    }

    /// The name as a regular expression has it.
    fn escaped(&self) -> String {
        let mut text = String::new();
        for one in self.name.chars() {
            if one.is_ascii_punctuation() && one != '_' {
                text.push('\\');
            }
            text.push(one);
        }
        text
    }

    /// The same with its end where others are open.
    fn expression(&self, is_open: bool) -> String {
        let end = if is_open && !self.is_prefix { "$" } else { "" };
        self.escaped() + end
    }
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

/// As many files are named in a command.
const FEW: usize = 4;

/// More kernels than this are another profile.
const MOST: usize = 5;

/// The share of the time at stake that is enough.
const ENOUGH: f64 = 0.8;

/// Nsight Compute replays each launch dozens of times: more than this take long.
const LONG: usize = 50;

impl Analysis {
    /// Returns the kernels of which counters would tell most: those that could save time, and those that
    /// cannot be judged.
    ///
    /// # Errors
    /// When there are none, or none that `ncu` can filter by name.
    pub fn next_ncu(&self, profile: &Profile) -> Result<NextNcu<'_>, NothingToCollect> {
        let stakes: Vec<(&Kernel, Seconds)> = self
            .kernels
            .iter()
            .map(|kernel| (kernel, at_stake(kernel)))
            .filter(|(_, stake)| *stake > Seconds::ZERO)
            .collect();
        let all: Seconds = stakes.iter().map(|one| one.1).sum();
        let filtered = |(kernel, stake): (_, _)| {
            let kernel: &Kernel = kernel;
            let name = NameFilter::of_kernel(&kernel.full_name, kernel.operator.as_deref())?;
            Some((kernel, name, stake))
        };
        let is_any = !stakes.is_empty();
        let mut wanted: Vec<(&Kernel, NameFilter, Seconds)> =
            stakes.into_iter().filter_map(filtered).collect();
        wanted.sort_by(|one, two| two.2.total_cmp(&one.2));
        let mut stake = Seconds::ZERO;
        let mut kernels: Vec<&Kernel> = Vec::new();
        let mut names: Vec<NameFilter> = Vec::new();
        // One command profiles one program: of several ranks or runs that of the first kernel.
        let together = wanted.first().map(|(kernel, ..)| launched_with(profile, kernel.longest));
        let together = together.unwrap_or_default();
        for (kernel, name, of) in wanted {
            if kernels.len() == MOST || stake >= all * ENOUGH {
                break;
            }
            if !together.contains(&work(profile, kernel.longest)) {
                continue;
            }
            stake += of;
            kernels.push(kernel);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if kernels.is_empty() {
            return Err(if is_any {
                NothingToCollect::Nameless
            } else {
                NothingToCollect::Explained
            });
        }
        let launches = collected(profile, &kernels, &names);
        let totals = &self.totals;
        let options = self.device_options();
        let beside = of_real_run(profile).map(|files| files + &options);
        let report = free_name(&profile.sources, "next");
        Ok(NextNcu { kernels, names, launches, at_stake: stake, all, totals, beside, report })
    }
}

/// A name for a file to come that no input has, in whatever folder and case: what collects more is read with them.
pub(crate) fn free_name(sources: &[Source], name: &str) -> String {
    let is_taken = |name: &str| {
        sources.iter().any(|source| {
            Path::new(&source.path).file_name().is_some_and(|file| {
                file.to_string_lossy()
                    .split('.')
                    .next()
                    .is_some_and(|stem| stem.eq_ignore_ascii_case(name))
            })
        })
    };
    let names = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(names);
    names.find(|name| !is_taken(name)).unwrap_or_default()
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
    let (real, others): (Vec<_>, Vec<_>) =
        profile.sources.iter().partition(|source| source.profiler.times_real_run());
    let counting = others.iter().filter(|source| source.profiler == Profiler::NsightCompute);
    let files: Vec<String> =
        real.iter().chain(counting).map(|source| plain::file(&source.path)).collect();
    // More are a folder or a pattern.
    Some(if real.len() == 1 && files.len() <= FEW { files.join(" ") } else { "FILE...".to_owned() })
}

/// Returns whether its counters are there: more of them would tell nothing new.
fn is_counted(kernel: &Kernel) -> bool {
    let is_from_counters =
        matches!(kernel.provenance, Some(OriginKind::Measured | OriginKind::Derived));
    is_from_counters
        && !kernel.is_algorithmic
        && kernel.average(Quantity::AchievedOccupancy).is_some()
        && kernel.average(Quantity::L2HitRate).is_some()
}

/// What counters could show of a kernel's time.
fn at_stake(kernel: &Kernel) -> Seconds {
    if is_counted(kernel) {
        return Seconds::ZERO;
    }
    match kernel.state {
        State::NotEnoughData | State::FasterThanRoofline => kernel.measured,
        State::Flagged | State::Possible | State::Fair | State::LowImpact => kernel.savings_high,
        _ => Seconds::ZERO,
    }
}

/// By what kernels differ, on whatever GPU of its kind they ran: name, operator, shape.
fn work(profile: &Profile, row: usize) -> (NameId, NameId, u32) {
    let (name, operator, shape, _) = profile.launches.kernel_key(row);
    (name, operator, shape)
}

/// All kernels of the file and the process that a launch is in.
fn launched_with(profile: &Profile, row: usize) -> HashSet<(NameId, NameId, u32)> {
    let place = |row: usize| (profile.launches.source(row), profile.launches.numbers(row).0);
    let is_beside = |other: &usize| place(*other) == place(row);
    (0..profile.launches.len()).filter(is_beside).map(|row| work(profile, row)).collect()
}

/// The shortest range of matching launches that has one of each kernel. Of several the first, which one step reaches, where the
/// profile begins in the midst of a run; else the last, since the first launches of a program are those that warm up.
fn collected(profile: &Profile, kernels: &[&Kernel], names: &[NameFilter]) -> Collected {
    let launches = &profile.launches;
    let first = kernels.first().map(|kernel| launches.head(kernel.longest));
    let source = first.map(|head| head.source);
    // `ncu` counts the launches of each process.
    let process = first.map(|head| head.process);
    let keys: Vec<_> = kernels.iter().map(|kernel| work(profile, kernel.longest)).collect();
    let mut matches = HashMap::new();
    let mut rows: Vec<usize> = (0..launches.len()).collect();
    rows.sort_by_key(|row| launches.head(*row).start);
    let all = rows.len();
    leave_out_earlier(profile, source, &mut rows);
    // That is how `ncu` counts them.
    profile.sort_by_call(&mut rows);
    let is_amidst =
        rows.len() < all || profile.steps.iter().any(|step| Some(step.source) == source);
    let rows: Vec<usize> = rows
        .into_iter()
        .filter(|row| {
            let head = launches.head(*row);
            let is_match = *matches.entry((head.name, head.operator)).or_insert_with(|| {
                let [name, operator] = [head.name, head.operator].map(|id| profile.names.get(id));
                let of = NameFilter::of_kernel(name, Some(operator));
                of.is_some_and(|of| names.iter().any(|name| name.takes(&of)))
            });
            is_match && Some(head.source) == source && Some(head.process) == process
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
    let of: Vec<Option<usize>> =
        rows.iter().map(|row| keys.iter().position(|key| *key == work(profile, *row))).collect();
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
    use regex_automata::nfa::thompson::pikevm::PikeVM;

    use super::*;
    use crate::analysis::{Options, analyze};
    use crate::catalog::Catalog;
    use crate::ingest::{Input, read, read_text};

    #[test]
    fn names_are_those_that_nsight_compute_filters_by() {
        for (name, filter) in [
            ("void at::native::reduce_kernel<512, 1, at::native::Op<float> >(Op)", "reduce_kernel"),
            ("volta_sgemm_128x64_tn", "volta_sgemm_128x64_tn"),
            ("void cutlass::Kernel<cutlass_80_tensorop>(Params)", "Kernel"),
            ("fusion.12", "fusion.12"),
            ("k#5_1", "k#5_1"),
            ("add_kernel$241(Array<float, 1, C, mutable, aligned>)", "'add_kernel$241'"),
            ("__main__::add_kernel[abi:v1][abi:cw51c](Array<float>)", "'regex:^add_kernel'"),
            ("cut_name...", "'regex:^cut_name'"),
        ] {
            let found = NameFilter::of(name).unwrap();
            assert_eq!(NameFilter::option(&[found]), format!("-k {filter}"), "{name}");
        }
        assert_eq!(NameFilter::of(""), None);
        let of = |operator| NameFilter::of_kernel("max_pool2d", operator);
        assert_eq!(of(Some("max_pool2d T=[32x64],[float16] #0")), None);
        assert!(of(Some("relu T=[32x64],[float16] #0")).is_some() && of(None).is_some());
        let all = |names: &[&str]| {
            let filters: Vec<_> = names.iter().map(|name| NameFilter::of(name).unwrap()).collect();
            NameFilter::option(&filters)
        };
        assert_eq!(all(&["a", "fusion.1"]), r"-k 'regex:^(a|fusion\.1)$'");
        assert_eq!(all(&["a", "b[abi:v1]"]), "-k 'regex:^(a$|b)'");
        let once = |names: &[&str]| {
            let filters: Vec<_> = names.iter().map(|name| NameFilter::of(name).unwrap()).collect();
            let option = NameFilter::first_of_each(&filters);
            option.strip_prefix("--kernel-name-base demangled --kernel-id ").unwrap().to_owned()
        };
        assert_eq!(once(&[]), ":::1");
        let start = "'::regex:(^|[^A-Za-z0-9_])";
        for (names, expression) in [
            (&["f<1>"][..], "(f)([^A-Za-z0-9_]|$)"),
            (&["f", "fusion.1"], r"(f|fusion\.1)([^A-Za-z0-9_]|$)"),
            (&["f", "g", "b[abi:v1]"], "((f|g)([^A-Za-z0-9_]|$)|b)"),
            (&["cut...", "b[abi:v1]"], "(cut|b)"),
        ] {
            assert_eq!(once(names), format!("{start}{expression}:1'"));
            let found = PikeVM::new(&format!("(^|[^A-Za-z0-9_]){expression}")).unwrap();
            let mut cache = found.create_cache();
            for name in names {
                let name = format!("void ns::{name}<float>(int)");
                assert!(found.is_match(&mut cache, &name), "{name}");
            }
            assert!(!found.is_match(&mut cache, "void ns::other_f<float>(int)"));
        }
        let tagged = NameFilter::of("add[abi:v1](int)").unwrap();
        assert!(tagged.takes(&tagged) && tagged.takes(&NameFilter::of("add_more").unwrap()));
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
        (next.names.into_iter().map(|one| one.name).collect(), next.launches)
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

    /// Ranks on a GPU each: `a` has most time and its longest launch on the first, where `c` does not run.
    #[test]
    fn kernels_of_one_process_are_collected_together() {
        let rank = |gpu: u32, launches: &[(&str, u32)]| {
            let event = |(at, (name, time)): (usize, &(&str, u32))| {
                format!(
                    r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "ts": {}.5, "dur": {time}.5,
                    "args": {{"stream": 7, "device": {gpu}, "grid": [1, 1, 1], "block": [32, 1, 1]}}}}"#,
                    at * 10_000
                )
            };
            let events: Vec<String> = launches.iter().enumerate().map(event).collect();
            format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(","))
        };
        let inputs = [
            Input::text("rank0.json", &rank(0, &[("a", 800), ("b", 700)])),
            Input::text("rank1.json", &rank(1, &[("a", 300), ("c", 900)])),
        ];
        let profile = read(&inputs, &crate::ingest::Options::default()).unwrap();
        let options = Options { device: Some("A100 SXM4 80GB".to_owned()), ..Options::default() };
        let analysis = analyze(&profile, &Catalog::builtin(), &options).unwrap();
        let next = analysis.next_ncu(&profile).unwrap();
        let names: Vec<&str> = next.kernels.iter().map(|kernel| &*kernel.name).collect();
        assert_eq!(
            (names, next.launches),
            (vec!["a", "b"], Collected::Range { skip: 0, count: 2 })
        );
        assert!(next.at_stake < next.all);
    }

    /// `slow` is called first on one stream, and runs when two launches of another shape have ended on the other.
    #[test]
    fn launches_are_counted_as_they_were_called() {
        let event = |call: u32, start: u32, stream: u32, blocks: u32, time: u32| {
            format!(
                r#"{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": {call}.5, "dur": 1.0,
                "args": {{"correlation": {call}}}}},{{"ph": "X", "cat": "kernel", "name": "slow", "ts": {start}.5, "dur": {time}.5,
                "args": {{"stream": {stream}, "correlation": {call}, "grid": [{blocks}, 1, 1], "block": [32, 1, 1]}}}}"#
            )
        };
        let events = [
            event(10, 9_000, 8, 111, 4000),
            event(20, 1_000, 7, 222, 50),
            event(30, 2_000, 7, 222, 50),
        ];
        let text = format!("{{\"schemaVersion\": 1, \"traceEvents\": [{}]}}", events.join(","));
        assert_eq!(chosen(text).1, Collected::Range { skip: 0, count: 1 });
    }

    #[test]
    fn kernels_that_lie_far_apart_are_collected_once_for_each_shape() {
        let mut launches = vec![("a", 900)];
        launches.extend([("ax", 1); 60]);
        launches.push(("b", 800));
        assert_eq!(next(&launches).1, Collected::EachShape { shapes: Some(3) });
    }
}
