//! Tables that hold the sum over the launches of a kernel: rows that are there twice, and tables that sum up launches
//! that were read too.
//!
//! A table has one row for a kernel, or for a kernel and its grid. The same row again is a copy: tables were joined, and
//! the run counts once. A row of a kernel with other values is of another run or process, and counts. A table whose
//! kernels have as many launches and the same time in another input says again what that has.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::name_forms::Form;
use crate::model::{Head, HintId, NameId, Profile, Profiler, Quantity, Shape, Source};

/// The format of Nsight Compute's `--print-summary per-kernel`.
const SUMMARY: &str = "ncu-summary";

/// Formats whose rows are sums over launches; a mapping says so itself.
const FORMATS: [&str; 7] = [
    SUMMARY,
    "nsys-sum",
    "nvprof-summary",
    "pytorch-averages",
    "rocprof-compute-top",
    "rocprof-stats",
    "xprof",
];

/// A sum differs from that of its launches by less than this share: both are rounded.
const AGREES: f64 = 1e-3;

/// An average of Nsight Compute's summary differs by less than this share from that of its launches: it has two decimals, in
/// a unit in which it is at least 1.
const PRINTED: f64 = 5e-3;

/// Two prints of one sum in one format differ by less than this share; sums of two ranks are nearly equal too.
const SAME: f64 = 1e-6;

/// Of so many kernels a table may leave out the rest of its run.
const FEWEST: usize = 4;

/// What a table has one row for: process, kernel, operator, shape, device, and the registers and shared memory.
type Key = (u32, NameId, NameId, Shape, HintId, [Option<u64>; 2]);

/// Launches of a kernel, and their time in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    launches: u64,
    time: f64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.launches += other.launches;
        self.time += other.time;
    }

    fn agrees(self, other: Self, within: f64) -> bool {
        self.launches == other.launches
            && (self.time - other.time).abs() <= within * self.time.max(other.time)
    }
}

/// Whether the rows of this format are sums over launches.
pub(super) fn is_format(name: &str) -> bool {
    FORMATS.contains(&name)
}

/// Leaves out rows that say again what was read before, and says so.
pub(super) fn leave_out(profile: &mut Profile) {
    tell_mapped(profile);
    if !profile.sources.iter().any(|source| source.sums) {
        return;
    }
    let mut gone = vec![false; profile.launches.len()];
    let rows = profile.rows_by_source();
    for (source, rows) in rows.iter().enumerate() {
        // The reader of these knows hosts and ranges, which tell rows apart.
        let is_told_apart = profile.sources[source].format == SUMMARY;
        if profile.sources[source].sums
            && !is_told_apart
            && let Some(note) = copies(profile, rows, &mut gone)
        {
            profile.check(format!("{}: {note}", profile.sources[source].path));
        }
        if profile.sources[source].sums
            && !is_told_apart
            && let Some(note) = without_grids(profile, rows, &mut gone)
        {
            profile.check(format!("{}: {note}", profile.sources[source].path));
        }
    }
    let sums: Vec<Sums> = rows.iter().map(|rows| Sums::new(profile, rows, &gone)).collect();
    for source in 0..rows.len() {
        if !profile.sources[source].sums || sums[source].of.is_empty() {
            continue;
        }
        // Of two that say the same launches say more than sums, then more rows; of equals the first stays.
        let rank = |at: usize| (!profile.sources[at].sums, rows[at].len(), Reverse(at));
        let is_ncu = |at: usize| profile.sources[at].profiler == Profiler::NsightCompute;
        let says_more = |other: usize| {
            let format = |at: usize| (profile.sources[at].sums, &profile.sources[at].format);
            let within = match format(source) {
                same if same == format(other) => SAME,
                (_, form) if form == SUMMARY => PRINTED,
                _ => AGREES,
            };
            other != source
                && rank(other) > rank(source)
                // Times under Nsight Compute are not those that a trace summed up.
                && (is_ncu(source) || !is_ncu(other))
                && sums[source].lie_in(&sums[other], within, profile)
        };
        let Some(other) = (0..rows.len()).find(|other| says_more(*other)) else { continue };
        let path = |at: usize| profile.sources[at].path.clone();
        let note = format!(
            "{} sums up {}: the same kernels, launches and times; counted once",
            path(source),
            path(other)
        );
        profile.check(note);
        for row in &rows[source] {
            if !std::mem::replace(&mut gone[*row], true) {
                profile.count_repeated(*row);
            }
        }
    }
    profile.leave_out(&gone);
}

/// The launch table of a mapped file does not say whether its rows were sums: they were where one stands for several
/// launches.
fn tell_mapped(profile: &mut Profile) {
    let is_mapped = |source: &Source| source.format == "mapped" && !source.sums;
    if !profile.sources.iter().any(is_mapped) {
        return;
    }
    for row in 0..profile.launches.len() {
        let source = &mut profile.sources[usize::from(profile.launches.source(row))];
        if is_mapped(source) && profile.launches.count(row) > 1 {
            source.sums = true;
        }
    }
}

fn sum(profile: &Profile, row: usize) -> Sum {
    let launches = u64::from(profile.launches.head(row).count);
    let time = profile.launches.get(row, Quantity::Duration).map_or(0.0, |(time, _)| time);
    Sum { launches, time: time * launches as f64 }
}

/// The sums of the kernels of an input by their names in a form, each kernel apart.
type ByName = BTreeMap<String, Vec<Sum>>;

/// The sums of the kernels of an input, and how their names are written.
struct Sums {
    of: BTreeMap<NameId, Sum>,
    rows: Vec<(NameId, Sum)>,
    form: Form,
    /// By names in shorter forms, once they were asked for: many inputs are compared with each other.
    shortened: RefCell<BTreeMap<Form, Rc<ByName>>>,
}

impl Sums {
    fn new(profile: &Profile, rows: &[usize], gone: &[bool]) -> Self {
        let rows = rows.iter().filter(|row| !gone[**row]);
        let rows: Vec<(NameId, Sum)> =
            rows.map(|row| (profile.launches.head(*row).name, sum(profile, *row))).collect();
        let mut of: BTreeMap<NameId, Sum> = BTreeMap::new();
        for (name, sum) in &rows {
            of.entry(*name).or_default().add(*sum);
        }
        let form = Form::of(of.keys().map(|name| profile.names.get(*name)));
        Self { of, rows, form, shortened: RefCell::default() }
    }

    /// The sums of kernels by names in a form.
    fn by_name(&self, profile: &Profile, form: Form) -> Rc<ByName> {
        let make = || {
            let mut sums = ByName::new();
            for (name, sum) in &self.of {
                sums.entry(form.shortened(profile.names.get(*name))).or_default().push(*sum);
            }
            Rc::new(sums)
        };
        self.shortened.borrow_mut().entry(form).or_insert_with(make).clone()
    }

    /// Whether each row is that of another kernel of an input: names that are cut may be alike.
    fn rows_lie_in(&self, other: &Self, within: f64, profile: &Profile) -> bool {
        let kernels = other.by_name(profile, self.form);
        let mut taken: HashSet<(&str, usize)> = HashSet::new();
        self.rows.iter().all(|(name, sum)| {
            let name = profile.names.get(*name);
            let mut kernels = kernels.get(name).into_iter().flatten().enumerate();
            kernels.any(|(at, one)| one.agrees(*sum, within) && taken.insert((name, at)))
        })
    }

    /// Whether another input has the same kernels with the same sums, and perhaps more: a table may show only the longest.
    fn lie_in(&self, other: &Self, within: f64, profile: &Profile) -> bool {
        if self.of.values().any(|sum| sum.time <= 0.0) {
            return false;
        }
        let form = self.form.min(other.form);
        if form == Form::Whole || self.form == other.form {
            return (self.of.len() == other.of.len() || self.of.len() >= FEWEST)
                && self.of.iter().all(|(name, sum)| {
                    other.of.get(name).is_some_and(|one| one.agrees(*sum, within))
                });
        }
        if matches!(self.form, Form::Cut(_)) && form == self.form {
            return (self.rows.len() == other.of.len() || self.rows.len() >= FEWEST)
                && self.rows_lie_in(other, within, profile);
        }
        let [own, others] = [self, other].map(|sums| sums.by_name(profile, form));
        let all = |sums: &[Sum]| {
            sums.iter().fold(Sum::default(), |mut all, one| {
                all.add(*one);
                all
            })
        };
        (own.len() == others.len() || own.len() >= FEWEST)
            && own.iter().all(|(name, sums)| {
                others.get(name).is_some_and(|others| all(others).agrees(all(sums), within))
            })
    }
}

/// Whether two rows say the same of a kernel.
fn is_same(profile: &Profile, one: usize, two: usize) -> bool {
    let launches = &profile.launches;
    let [first, second] = [one, two].map(|row| launches.head(row));
    // Rows of a mapping that differ in any column have other numbers.
    let number = |head: &Head| {
        (profile.sources[usize::from(head.source)].format == "mapped").then_some(head.id)
    };
    let row =
        |head: &Head| (head.name, head.operator, head.shape, head.device, head.count, number(head));
    row(&first) == row(&second)
        && launches.quantities().all(|quantity| {
            let value = |row| launches.get(row, quantity).map(|(value, _)| value);
            value(one) == value(two)
        })
}

/// Marks the sums of kernels, if the file also has those of all of them by grid: two reports of one run were joined.
fn without_grids(profile: &mut Profile, rows: &[usize], gone: &mut [bool]) -> Option<String> {
    let has_grid = |row: &&usize| profile.launches.head(**row).shape.blocks.is_some();
    let (by_grid, whole): (Vec<usize>, Vec<usize>) =
        rows.iter().filter(|row| !gone[**row]).partition(has_grid);
    let [by_grid, sums] = [&by_grid, &whole].map(|rows| Sums::new(profile, rows, gone).of);
    let is_same = !sums.is_empty()
        && sums.len() == by_grid.len()
        && sums
            .iter()
            .all(|(name, sum)| by_grid.get(name).is_some_and(|one| one.agrees(*sum, AGREES)));
    if !is_same {
        return None;
    }
    for row in whole {
        gone[row] = true;
        profile.count_repeated(row);
    }
    Some("the sums of kernels are also there by grid; counted once".to_owned())
}

/// Marks rows of a table that repeat others if all that repeat a kernel are copies; gives what is to be said.
fn copies(profile: &mut Profile, rows: &[usize], gone: &mut [bool]) -> Option<String> {
    let mut first: HashMap<Key, usize> = HashMap::new();
    let (mut same, mut others) = (Vec::new(), 0_u64);
    // Of names that are cut several may be alike: they are copies only if all rows come again.
    let is_cut = |row: usize| profile.names.get(profile.launches.head(row).name).ends_with("...");
    let (before, again) = rows.split_at(rows.len() / 2);
    if again.len() > 1
        && before.len() == again.len()
        && before.iter().zip(again).all(|(one, two)| is_same(profile, *one, *two))
    {
        same = again.to_vec();
    }
    let rest = if same.is_empty() { rows } else { &[] };
    for row in rest.iter().filter(|row| !is_cut(**row)) {
        let head = profile.launches.head(*row);
        let resources = [Quantity::RegistersPerThread, Quantity::SharedMemoryPerBlock]
            .map(|of| profile.launches.get(*row, of).map(|(value, _)| value.to_bits()));
        let key = (head.process, head.name, head.operator, head.shape, head.device, resources);
        let known = *first.entry(key).or_insert(*row);
        if known == *row {
            continue;
        }
        if is_same(profile, known, *row) { same.push(*row) } else { others += 1 }
    }
    match (same.len(), others) {
        (0, 0) => None,
        (copies, 0) => {
            for row in &same {
                gone[*row] = true;
                profile.count_repeated(*row);
            }
            let are = if copies == 1 { "row of sums is" } else { "rows of sums are" };
            Some(format!(
                "{copies} {are} repeated in this table (same kernel, launches and values; counted once)"
            ))
        }
        (copies, others) => {
            let all = copies as u64 + others;
            let have = if all == 1 { "row of sums has" } else { "rows of sums have" };
            Some(format!(
                "{all} {have} the kernel of an earlier row, with other values; counted as another run or process"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::Profile;

    const HEADER: &str = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n";
    const ROWS: &str = "\"add\",3,6000,2000,75\n\"mul\",1,2000,2000,25\n";

    fn read_all(texts: &[&str]) -> Profile {
        let inputs: Vec<Input> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Input::text(&format!("{at}.csv"), text))
            .collect();
        read(&inputs, &Options::default()).unwrap()
    }

    fn launches(profile: &Profile) -> u32 {
        profile.iter().map(|launch| launch.head.count).sum()
    }

    /// 2374 ns are printed as 2.37 us, 0.17% less; 2390 are of another run.
    #[test]
    fn a_summary_is_rounded() {
        let page = |time: u32| {
            format!(
                "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\
                 \"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\"\n\
                 \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n\
                 \"0\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"{time}\"\n"
            )
        };
        let summary = "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\
                       \"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n\
                       \"7\",\"app\",\"host\",\"k\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"1\",\"Command line profiler metrics\",\
                       \"gpu__time_duration.sum\",\"us\",\"2.37\",\"2.37\",\"2.37\"\n";
        assert_eq!(launches(&read_all(&[&page(2374), summary])), 1);
        assert_eq!(launches(&read_all(&[&page(2390), summary])), 2);
    }

    #[test]
    fn a_table_that_is_in_its_file_twice_counts_once() {
        for twice in [format!("{HEADER}{ROWS}{HEADER}{ROWS}"), format!("{HEADER}{ROWS}{ROWS}")] {
            let profile = read_all(&[&twice]);
            assert_eq!((launches(&profile), profile.sources[0].repeated), (4, 4));
            let check = "0.csv: 2 rows of sums are repeated in this table (same kernel, launches and values; counted once)";
            assert_eq!(profile.checks, [check]);
        }
        let profile = read_all(&[&format!("{HEADER}{ROWS}\"mul\",1,2000,2000,25\n")]);
        assert_eq!(launches(&profile), 4);
        assert!(
            profile.checks[0].starts_with("0.csv: 1 row of sums is repeated"),
            "{:?}",
            profile.checks
        );
    }

    #[test]
    fn another_run_counts_and_is_named() {
        // One kernel took exactly as long, the other did not.
        let more = "\"add\",3,6000,2000,75\n\"mul\",1,2001,2001,25\n";
        let profile = read_all(&[&format!("{HEADER}{ROWS}{HEADER}{more}")]);
        assert_eq!(launches(&profile), 8);
        let check = "0.csv: 2 rows of sums have the kernel of an earlier row, with other values; counted as another run or process";
        assert_eq!(profile.checks, [check]);
        assert!(read_all(&[&format!("{HEADER}{ROWS}")]).checks.is_empty());
    }

    #[test]
    fn names_that_are_cut_alike_are_several_kernels() {
        let rows = "\"vectorized_elementwise_kernel<4, at...\",2,6000,3000,50\n";
        let profile = read_all(&[&format!("{HEADER}{rows}{rows}{ROWS}")]);
        assert_eq!((launches(&profile), profile.checks.len()), (8, 0));
        let profile = read_all(&[&format!("{HEADER}{rows}{rows}")]);
        assert_eq!((launches(&profile), profile.checks.len()), (4, 0));
        let all = format!("{rows}{rows}{ROWS}");
        let profile = read_all(&[&format!("{HEADER}{all}{HEADER}{all}")]);
        assert_eq!((launches(&profile), profile.sources[0].repeated), (8, 8));
    }

    #[test]
    fn sums_of_two_ranks_are_nearly_equal_and_both_count() {
        let other = ROWS.replace("6000,2000", "6002,2000.67");
        let profile = read_all(&[&format!("{HEADER}{ROWS}"), &format!("{HEADER}{other}")]);
        assert_eq!((launches(&profile), profile.checks.len()), (8, 0));
        let profile = read_all(&[&format!("{HEADER}{ROWS}"), &format!("{HEADER}{ROWS}")]);
        assert_eq!((launches(&profile), profile.checks.len()), (4, 1));
    }

    /// `nsys stats` with two reports in one file.
    #[test]
    fn sums_of_kernels_beside_sums_by_grid_count_once() {
        let header =
            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)";
        let sums = format!(
            "{header},Name\n75.0,6000,3,2000.0,1,1,1,0.0,add\n25.0,2000,1,2000.0,1,1,1,0.0,mul\n"
        );
        let row = |part: &str| format!("{part},1,1,1,0.0,  64    1    1, 128    1    1");
        let by_grid = format!(
            "{header},GridXYZ,BlockXYZ,Name\n{},add\n50.0,4000,2,2000.0,1,1,1,0.0,  32    1    1, 128    1    1,add\n{},mul\n",
            row("25.0,2000,1,2000.0"),
            row("25.0,2000,1,2000.0")
        );
        for text in [format!("{sums}\n{by_grid}"), format!("{by_grid}\n{sums}")] {
            let profile = read_all(&[&text]);
            assert_eq!((launches(&profile), profile.sources[0].repeated), (4, 4), "{text}");
            assert_eq!(
                profile.checks,
                ["0.csv: the sums of kernels are also there by grid; counted once"]
            );
            assert!(profile.iter().all(|launch| launch.head.shape.blocks.is_some()));
        }
        // Sums of another run.
        let other = sums.replace("6000,3,2000.0", "6600,3,2200.0");
        assert_eq!(launches(&read_all(&[&format!("{other}\n{by_grid}")])), 8);
    }

    const TRACE: &str = "Index,KernelName,gpu-id,queue-id,grd,wgr,DispatchNs,BeginNs,EndNs,CompleteNs\n\
        0,\"add\",1,0,64,64,1,1000,3000,5\n1,\"mul\",1,0,64,64,1,4000,6000,5\n\
        2,\"add\",1,0,64,64,1,7000,9000,5\n3,\"add\",1,0,64,64,1,10000,12000,5\n";

    /// A mapping says of its file that rows are sums; the launch table made of it does not.
    #[test]
    fn the_launch_table_of_mapped_sums_counts_once_beside_the_launches() {
        let header = "source,source_format,kernel,device_ordinal,launches,grid_x,threads_per_block,duration_s,duration_s_origin\n";
        let sums = format!(
            "{header}s.csv,mapped,add,,3,,,0.000002,derived\ns.csv,mapped,mul,,1,,,0.000002,derived\n"
        );
        for texts in [[TRACE, &sums], [&sums, TRACE]] {
            let profile = read_all(&texts);
            assert_eq!((launches(&profile), profile.checks.len()), (4, 1), "{:?}", profile.checks);
        }
        // Each row is a launch here.
        let each = sums.replace(",add,,3,", ",add,,1,");
        assert_eq!(launches(&read_all(&[TRACE, &each])), 6);
    }

    #[test]
    fn a_table_of_sums_beside_its_launches_counts_once() {
        let sums = format!("{HEADER}{ROWS}");
        for texts in [[TRACE, &sums], [&sums, TRACE]] {
            let profile = read_all(&texts);
            assert_eq!((profile.launches.len(), launches(&profile)), (4, 4));
            let check = &profile.checks[0];
            assert!(check.contains(".csv sums up ") && check.ends_with("counted once"), "{check}");
        }
        // Where each kernel was launched once, both have as many rows.
        let (once, of_once) = (
            TRACE.split_once("2,\"add\"").unwrap().0,
            format!("{HEADER}\"add\",1,2000,2000,50\n\"mul\",1,2000,2000,50\n"),
        );
        for texts in [[once, &of_once], [&of_once, once]] {
            let profile = read_all(&texts);
            assert_eq!((launches(&profile), profile.checks.len()), (2, 1));
            assert!(profile.iter().all(|launch| launch.head.start.is_some()));
        }
        // A launch table made of it is still a table of sums.
        let options = Options::default();
        let alone = crate::ingest::read_text("sums.csv", &sums, &options).unwrap();
        let table = crate::table::Table::of(&alone).csv();
        for texts in [[TRACE, &table], [&table, TRACE]] {
            assert_eq!(launches(&read_all(&texts)), 4);
        }
        // That of another run is not it.
        let other = sums.replace("6000,2000", "6100,2033");
        let profile = read_all(&[TRACE, &other]);
        assert_eq!((launches(&profile), profile.checks.len()), (8, 0));
        let other = sums.replace("\"mul\"", "\"sub\"");
        assert_eq!(launches(&read_all(&[TRACE, &other])), 8);
    }

    /// Three launches of one report of Nsight Compute, and its summary of them.
    #[test]
    fn a_summary_of_a_report_beside_its_page_counts_once() {
        let mut page = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n".to_owned();
        for (id, name, time) in [(0, "a", "100"), (1, "a", "300"), (2, "b", "50")] {
            page += &format!(
                "\"{id}\",\"1\",\"app\",\"127.0.0.1\",\"{name}\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"ns\",\"{time}\"\n"
            );
        }
        let mut summary = "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n".to_owned();
        for (name, count, [least, most, mean]) in
            [("a", 2, [100, 300, 200]), ("b", 1, [50, 50, 50])]
        {
            summary += &format!(
                "\"1\",\"app\",\"127.0.0.1\",\"{name}\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"{count}\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"ns\",\"{least}\",\"{most}\",\"{mean}\"\n"
            );
        }
        assert_eq!(launches(&read_all(&[&summary])), 3);
        for texts in [[&page, &summary], [&summary, &page]] {
            let profile = read_all(&texts.map(String::as_str));
            assert_eq!((launches(&profile), profile.checks.len()), (3, 1));
            assert!(profile.checks[0].ends_with("counted once"), "{:?}", profile.checks);
        }
        // Of another run.
        let other = summary.replace("\"200\"", "\"210\"");
        assert_eq!(launches(&read_all(&[&page, &other])), 6);
    }

    /// `key_averages().table()` cuts names, and shows the kernels that took longest.
    #[test]
    fn sums_of_names_that_are_cut_or_bare_lie_in_a_trace() {
        let kernel =
            |at: u32| format!("void at::native::elementwise_kernel<128, 4, Functor{at}>(int)");
        let header =
            "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Ctx,Strm,Name\n";
        let launch = |at: u32| {
            format!(
                "{at}000,{}000,{at},64,1,1,128,1,1,A100 (0),1,7,\"{}\"\n",
                10 + at % 6,
                kernel(at % 6)
            )
        };
        let trace = header.to_owned() + &(0..12).map(launch).collect::<String>();
        let averages = |kernels: std::ops::Range<u32>, longer: u32| {
            let row = |at: u32| {
                let name: String = kernel(at).chars().take(52).collect();
                format!(
                    "{name}...  0.00%  0.000us  0.00%  0.000us  0.000us  {}.000us  9.00%  1us  1us  2\n",
                    2 * (10 + at) + longer
                )
            };
            "Name  Self CPU %  Self CPU  CPU total %  CPU total  CPU time avg  Self CUDA  Self CUDA %  CUDA total  CUDA time avg  # of Calls\n"
                .to_owned()
                + &kernels.map(row).collect::<String>()
        };
        for (table, all) in [
            (averages(0..6, 0), 12),
            (averages(2..6, 0), 12),
            // Three kernels are not enough, and other sums are of another run.
            (averages(3..6, 0), 18),
            (averages(0..6, 1), 24),
        ] {
            for texts in [[&trace, &table], [&table, &trace]] {
                let profile = read_all(&texts.map(String::as_str));
                let is_named = profile.checks.iter().any(|check| check.contains(" sums up "));
                assert_eq!((launches(&profile), is_named), (all, all == 12), "{table}");
            }
        }
        // Only the names of functions: all six are one.
        let time: u32 = (0..6).map(|at| 2000 * (10 + at)).sum();
        let base = format!(
            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n100.0,{time},12,{}.0,1.0,1,1,0.0,elementwise_kernel\n",
            time / 12
        );
        let profile = read_all(&[&trace, &base]);
        assert_eq!((launches(&profile), profile.checks.len()), (12, 1));
    }
}
