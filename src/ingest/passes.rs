//! Counters that rocprofv3 took in several passes of a program, each in a file of its own.
//!
//! A device counts only so much at a time: on MI300, `FETCH_SIZE` and `WRITE_SIZE` need more counters of L2 than it has. A sum over
//! counters of two passes is in neither file. The passes of a run are joined launch by launch on number, kernel and grid,
//! and such sums computed from the counters of all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::alike::Alike;
use super::products::{is_product, lacks_products};
use super::runs::{describe, key};
use crate::model::{Origin, Profile, Quantity, Values};
use crate::plain::counted;

/// A quantity as a sum over counters.
#[derive(Debug, Clone)]
pub(super) struct Formula {
    pub(super) quantity: Quantity,
    /// The counters, each times a factor.
    pub(super) terms: Vec<(f64, String)>,
    /// SI units in one unit of the counters.
    pub(super) scale: f64,
    pub(super) origin: Origin,
}

/// The counters of launches of one process in a file.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// Sets of formulas: the one holds of whose counters most are there.
    pub(super) formulas: Arc<Vec<Vec<Formula>>>,
    /// The names of the counters that formulas have, in order.
    pub(super) counters: Vec<String>,
    /// Those of the others.
    pub(super) unused: Vec<String>,
    /// The launches: where each is among those of the file, and the values of its counters, missing ones left out.
    pub(super) launches: Vec<(usize, Vec<(usize, f64)>)>,
}

impl Pass {
    /// The pass with places in a profile instead of a file whose first launch is in this row.
    pub(super) fn placed(mut self, first: usize) -> Self {
        self.launches.iter_mut().for_each(|(row, _)| *row += first);
        self
    }

    fn rows(&self) -> impl Iterator<Item = usize> {
        self.launches.iter().map(|(row, _)| *row)
    }

    fn has_all_of(&self, other: &Self) -> bool {
        let mut others = other.names();
        others.all(|name| self.counters.contains(name) || self.unused.contains(name))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.counters.iter().chain(&self.unused)
    }

    /// Adds the counters of another pass to launches that are the same, given as places here and there.
    fn take(&mut self, other: &Self, pairs: &[(usize, usize)]) {
        let mut place = |name: &String| {
            self.counters.iter().position(|known| known == name).unwrap_or_else(|| {
                self.counters.push(name.clone());
                self.counters.len() - 1
            })
        };
        let places: Vec<usize> = other.counters.iter().map(&mut place).collect();
        self.unused.extend(other.unused.iter().cloned());
        for (here, there) in pairs {
            let own = &mut self.launches[*here].1;
            for (counter, value) in &other.launches[*there].1 {
                let place = places[*counter];
                if own.iter().all(|(known, _)| *known != place) {
                    own.push((place, *value));
                }
            }
        }
    }

    /// The formulas of whose counters most are there, with the places of their counters; those that lack one are not among them.
    fn complete(&self) -> Vec<(&Formula, Vec<(f64, usize)>)> {
        let place = |name: &String| self.counters.iter().position(|known| known == name);
        let known = |set: &&Vec<Formula>| {
            let terms = set.iter().flat_map(|formula| &formula.terms);
            terms.filter(|(_, name)| place(name).is_some()).count()
        };
        // Of several the first.
        let fullest = self.formulas.iter().rev().max_by_key(known);
        let of = |formula: &Formula| -> Option<Vec<(f64, usize)>> {
            formula.terms.iter().map(|(factor, name)| Some((*factor, place(name)?))).collect()
        };
        let formulas = fullest.into_iter().flatten();
        formulas.filter_map(|formula| Some((formula, of(formula)?))).collect()
    }
}

/// How many passes that were joined, and that fit several runs, are named.
const NAMED: usize = 3;

/// Joins the passes of a run.
pub(super) fn join(profile: &mut Profile, mut passes: Vec<Pass>) {
    if passes.len() < 2 {
        return;
    }
    let places: Vec<Place> = passes.iter().map(|pass| Place::of(&path(profile, pass))).collect();
    let sets: Vec<Vec<String>> = passes.iter().map(sorted).collect();
    let mut by_set: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (at, set) in sets.iter().enumerate() {
        by_set.entry(set).or_default().push(at);
    }
    // Ranks that counted the same complete nothing.
    if by_set.len() < 2 {
        return;
    }
    let mut alike: Vec<Vec<usize>> = by_set.into_values().collect();
    alike.sort();
    let mut group_of = vec![0; passes.len()];
    for (group, members) in alike.iter().enumerate() {
        members.iter().for_each(|at| group_of[*at] = group);
    }
    let nearness = |one: usize, two: usize| places[one].nearness(&places[two]);
    let mut is_joined = vec![false; passes.len()];
    let mut is_gone = vec![false; profile.launches.len()];
    let mut told = 0;
    let mut unclear: BTreeSet<usize> = BTreeSet::new();
    for host in 0..passes.len() {
        if is_joined[host] {
            continue;
        }
        let mut joined = Vec::new();
        for same in &alike {
            let later: Vec<usize> =
                same.iter().copied().filter(|at| *at > host && !is_joined[*at]).collect();
            let others = nearest(profile, &passes, host, &later, nearness);
            let Some((donor, pairs)) = others.first() else { continue };
            // Ranks have the same counters: whose pass it is shows where only one of them is near.
            let is_left = |at: &usize| *at != host && !is_joined[*at];
            let rivals: Vec<usize> =
                alike[group_of[host]].iter().copied().filter(is_left).collect();
            let is_rival = |(rival, _): &(usize, _)| {
                nearness(*rival, *donor) >= nearness(host, *donor)
                    && !is_copy(profile, &passes[host], &passes[*rival])
            };
            let is_clear = others.len() == 1
                && !nearest(profile, &passes, *donor, &rivals, nearness).iter().any(is_rival);
            if !is_clear {
                unclear.extend(later);
                continue;
            }
            let (donor, pairs) = (*donor, pairs.clone());
            for (here, there) in &pairs {
                let (row, from) =
                    (passes[host].launches[*here].0, passes[donor].launches[*there].0);
                let values = profile.launches.values(from);
                profile.launches.fill(row, &values);
                describe(profile, row, from);
                is_gone[from] = true;
            }
            // Hosts come first.
            let (before, after) = passes.split_at_mut(donor);
            before[host].take(&after[0], &pairs);
            is_joined[donor] = true;
            told += 1;
            if told <= NAMED {
                profile.notes.push(words(profile, &passes[host], &passes[donor], pairs.len()));
            }
            joined.push(donor);
        }
        if !joined.is_empty() {
            let all: Vec<usize> = std::iter::once(host).chain(joined).collect();
            compute(profile, &passes, &all);
        }
    }
    if told > NAMED {
        let more = counted((told - NAMED) as u64, "more pass", "more passes");
        profile.notes.push(format!("joined {more} in the same way"));
    }
    let apart: Vec<String> = unclear
        .into_iter()
        .filter(|at| !is_joined[*at])
        .map(|at| path(profile, &passes[at]))
        .collect();
    for path in apart.iter().take(NAMED) {
        profile.check(format!(
            "{path}: not joined with another pass: its launches match several runs equally; give the passes of one run at a time"
        ));
    }
    if apart.len() > NAMED {
        let more = counted((apart.len() - NAMED) as u64, "more pass was", "more passes were");
        profile.check(format!("{more} not joined, for the same reason"));
    }
    if is_gone.contains(&true) {
        profile.launches.retain(|row| !is_gone[row]);
        profile.forget_devices();
    }
}

/// Which of these passes fit one and are nearest to it by their folders, with the launches that are the same; a copy of
/// another of them is left out.
fn nearest(
    profile: &Profile,
    passes: &[Pass],
    host: usize,
    others: &[usize],
    nearness: impl Fn(usize, usize) -> (usize, bool),
) -> Vec<(usize, Vec<(usize, usize)>)> {
    let mut others: Vec<usize> = others.to_vec();
    others.sort_by_cached_key(|other| Reverse(nearness(host, *other)));
    let mut found: Vec<(usize, Vec<(usize, usize)>)> = Vec::new();
    for other in others {
        let one = &passes[other];
        // Two are enough to see that the choice is not clear.
        if found.len() > 1 {
            break;
        }
        if let Some((first, _)) = found.first()
            && (nearness(host, *first) > nearness(host, other)
                || is_copy(profile, &passes[*first], one))
        {
            continue;
        }
        let is_new = !passes[host].has_all_of(one) && !one.has_all_of(&passes[host]);
        let pairs = if is_new { pairs(profile, &passes[host], one) } else { Vec::new() };
        if !pairs.is_empty() && pairs.len() * 2 >= one.launches.len() {
            found.push((other, pairs));
        }
    }
    found
}

/// Whether two passes have the same launches and counters, to the last digit.
fn is_copy(profile: &Profile, one: &Pass, two: &Pass) -> bool {
    let launch = |row: usize| {
        let head = profile.launches.head(row);
        (
            key(&head),
            head.start,
            profile.launches.get(row, Quantity::Duration).map(|(time, _)| time),
        )
    };
    one.counters == two.counters
        && one.unused == two.unused
        && one.launches.len() == two.launches.len()
        && one.launches.iter().zip(&two.launches).all(|((row, values), (other, others))| {
            values == others && launch(*row) == launch(*other)
        })
}

/// Launches that are the same in two passes: where they are there.
fn pairs(profile: &Profile, host: &Pass, donor: &Pass) -> Vec<(usize, usize)> {
    let mut alike = Alike::default();
    let mut by_key = HashMap::new();
    for (at, row) in host.rows().enumerate() {
        by_key.insert(key(&profile.launches.head(row)), (at, row));
    }
    let ordinal = |id: usize| profile.devices.get(id).and_then(|device| device.ordinal.as_deref());
    let mut pairs = Vec::new();
    for (there, row) in donor.rows().enumerate() {
        let head = profile.launches.head(row);
        let Some((here, host)) = by_key.get(&key(&head)).copied() else { continue };
        let of_host = profile.launches.head(host);
        let [own, others] = [of_host.device, head.device].map(|id| ordinal(usize::from(id.0)));
        let is_one_gpu = own.zip(others).is_none_or(|(own, others)| own == others);
        if is_one_gpu
            && of_host.shape.threads_per_block == head.shape.threads_per_block
            && alike.are(&profile.devices, of_host.device, head.device)
        {
            by_key.remove(&key(&head));
            pairs.push((here, there));
        }
    }
    pairs
}

/// Computes what follows from the counters of the first of these passes, which has those of all.
fn compute(profile: &mut Profile, passes: &[Pass], all: &[usize]) {
    let Some(pass) = all.first().map(|host| &passes[*host]) else { return };
    let sources: Vec<usize> = all.iter().filter_map(|at| source(profile, &passes[*at])).collect();
    let known = pass.complete();
    let formulas = pass.formulas.iter().flatten().map(|formula| formula.quantity);
    let there = known.iter().map(|(formula, _)| formula.quantity);
    let lacks_products = lacks_products(formulas, there);
    for (formula, terms) in known {
        let quantity = formula.quantity;
        let mut negative = 0;
        let mut is_new = false;
        for (row, counters) in &pass.launches {
            if profile.launches.get(*row, quantity).is_some() {
                continue;
            }
            let value = |place: &usize| {
                counters.iter().find(|(known, _)| known == place).map(|(_, value)| *value)
            };
            let parts = terms.iter().map(|(factor, place)| Some(factor * value(place)?));
            let Some(sum) = parts.sum::<Option<f64>>().filter(|sum| sum.is_finite()) else {
                continue;
            };
            if sum < 0.0 {
                negative += 1;
                continue;
            }
            if sum == 0.0 && lacks_products && is_product(quantity) {
                continue;
            }
            let mut values = Values::default();
            values.set(quantity, sum * formula.scale, profile.origins.id(&formula.origin));
            profile.launches.fill(*row, &values);
            is_new = true;
        }
        if negative > 0 {
            let launches = counted(negative, "launch has", "launches have");
            let sum = &formula.origin.formula;
            profile.check(format!("{launches} no {}: {sum} is negative", quantity.column()));
        }
        if is_new {
            let lacking = format!("{} is not counted: ", quantity.column());
            for source in &sources {
                profile.sources[*source].clues.retain(|clue| !clue.starts_with(&lacking));
            }
        }
    }
}

fn words(profile: &Profile, host: &Pass, donor: &Pass, pairs: usize) -> String {
    let left = donor.launches.len() - pairs;
    let rest = if left > 0 { format!("; {left} matched none") } else { String::new() };
    format!(
        "joined {} of {} with those of {}, counters of another pass, by launch number, kernel and grid{rest}",
        counted(pairs as u64, "launch", "launches"),
        path(profile, donor),
        path(profile, host),
    )
}

fn source(profile: &Profile, pass: &Pass) -> Option<usize> {
    let row = pass.rows().next()?;
    Some(usize::from(profile.launches.run(row).0))
}

fn path(profile: &Profile, pass: &Pass) -> String {
    source(profile, pass).map(|source| profile.sources[source].path.clone()).unwrap_or_default()
}

/// Where a file is.
struct Place {
    folders: Vec<String>,
    name: String,
}

impl Place {
    fn of(path: &str) -> Self {
        let mut folders: Vec<String> = path.split(['/', '\\']).map(str::to_owned).collect();
        let name = folders.pop().unwrap_or_default();
        Self { folders, name }
    }

    /// How many folders two files have in common, then whether they have one name, as passes of a rank in a folder for each
    /// pass.
    fn nearness(&self, other: &Self) -> (usize, bool) {
        let folders = self.folders.iter().zip(&other.folders);
        (folders.take_while(|(one, two)| one == two).count(), self.name == other.name)
    }
}

fn sorted(pass: &Pass) -> Vec<String> {
    let mut sorted: Vec<String> = pass.names().cloned().collect();
    sorted.sort();
    sorted
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::{Pipe, Profile, Quantity};

    const HEADER: &str = "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,\
        Workgroup_Size,Counter_Name,Counter_Value";
    const TIMES: &str = ",Start_Timestamp,End_Timestamp";

    /// A pass of two dispatches: each counter with its values, and when both began. No two processes take equally long.
    fn pass(process: u32, starts: [u64; 2], counters: &[(&str, [u64; 2])]) -> String {
        let mut text = format!("{HEADER}{TIMES}\n");
        for (at, (kernel, took)) in [("add", 2000), ("mul", 4000)].into_iter().enumerate() {
            let (id, end) = (at + 1, starts[at] + took * u64::from(process) / 7);
            for (counter, values) in counters {
                text += &format!(
                    "{id},{id},1,1,{process},{process},1024,16,{kernel},64,{counter},{},{},{end}\n",
                    values[at], starts[at]
                );
            }
        }
        text
    }

    /// The same without times, as before ROCm 6.3.
    fn untimed(text: &str) -> String {
        let rows = text.lines().map(|line| line.rsplitn(3, ',').last().unwrap_or_default());
        rows.collect::<Vec<_>>().join("\n") + "\n"
    }

    fn of(files: &[(&str, &str)]) -> Profile {
        let inputs: Vec<Input> = files.iter().map(|(name, text)| Input::text(name, text)).collect();
        read(&inputs, &Options::default()).unwrap()
    }

    fn all(profile: &Profile, quantity: Quantity) -> Vec<Option<f64>> {
        profile.iter().map(|launch| launch.value(quantity)).collect()
    }

    fn fetch(process: u32) -> String {
        pass(process, [1000, 9000], &[("FETCH_SIZE", [3, 30]), ("SQ_WAVES", [16, 16])])
    }

    fn write(process: u32) -> String {
        pass(process, [5000, 20000], &[("WRITE_SIZE", [1, 10])])
    }

    /// 3 + 1 and 30 + 10 KiB; the times are those of the first pass.
    #[test]
    fn a_sum_over_counters_of_two_passes_is_there() {
        let (fetch, write) = (fetch(7), write(8));
        for files in [
            [("pmc_1/c.csv", &*fetch), ("pmc_2/c.csv", &*write)],
            [("c2.csv", &write), ("c1.csv", &fetch)],
            [("a/c.csv", &fetch), ("b/c.csv", &write.replace(",8,", ",7,"))],
        ] {
            let found = of(&files);
            let bytes = [Some(4096.0), Some(40960.0)];
            assert_eq!(all(&found, Quantity::DramBytes), bytes, "{:?}", found.notes);
            let of_first = all(&of(&files[..1]), Quantity::Duration);
            assert_eq!(all(&found, Quantity::Duration), of_first);
            let clues: Vec<&String> = found.sources.iter().flat_map(|one| &one.clues).collect();
            assert!(clues.is_empty(), "{clues:?}");
            let note = format!(
                "joined 2 launches of {} with those of {}, counters of another pass, by launch number, kernel and grid",
                files[1].0, files[0].0
            );
            assert_eq!(found.notes, [note]);
            assert!(found.checks.is_empty(), "{:?}", found.checks);
        }
    }

    /// Both passes in one table, one behind the other; and at the same times, which say nothing of copies.
    #[test]
    fn passes_are_told_apart_by_process_and_counters() {
        let write = write(8);
        let body = write.split_once('\n').unwrap().1;
        let bytes = [Some(4096.0), Some(40960.0)];
        let one = of(&[("c.csv", &(fetch(7) + body))]);
        assert_eq!(all(&one, Quantity::DramBytes), bytes, "{:?}", one.notes);
        let at_once = pass(7, [1000, 9000], &[("WRITE_SIZE", [1, 10])]);
        let two = of(&[("1.csv", &fetch(7)), ("2.csv", &at_once)]);
        assert_eq!(all(&two, Quantity::DramBytes), bytes, "{:?}", two.notes);
        assert!(two.checks.is_empty(), "{:?}", two.checks);
    }

    /// 64 lanes: 100 + 20 + 2 × 50 + 0 of each dispatch, and 2 × 4 and 2 × 1 KiB in a pass that is whole.
    #[test]
    fn any_number_of_passes_is_joined() {
        let sizes = pass(7, [1000, 9000], &[("FETCH_SIZE", [4, 1]), ("WRITE_SIZE", [4, 1])]);
        let other = |names: [&str; 2], values: [u64; 2], start: u64| {
            let counters = [0, 1].map(|at| (names[at], [values[at]; 2]));
            pass(7, [start, start + 9000], &counters)
        };
        let one = other(["SQ_INSTS_VALU_ADD_F32", "SQ_INSTS_VALU_FMA_F32"], [100, 50], 100);
        let two = other(["SQ_INSTS_VALU_MUL_F32", "SQ_INSTS_VALU_TRANS_F32"], [20, 0], 200);
        let waves = other(["SQ_WAVES", "GRBM_COUNT"], [16, 5], 300);
        let mut files = [("a.csv", &*sizes), ("b.csv", &one), ("c.csv", &two), ("d.csv", &waves)];
        for _ in 0..files.len() {
            files.rotate_left(1);
            let found = of(&files);
            assert_eq!(all(&found, Quantity::DramBytes), [Some(8192.0), Some(2048.0)]);
            let work = all(&found, Quantity::Work(Pipe::Fp32Vector));
            assert_eq!(work, [Some(64.0 * 220.0); 2], "{:?}", found.notes);
        }
    }

    /// No FP16 says nothing of BF16, which is counted apart; with both it is known that there is none.
    #[test]
    fn no_products_of_one_format_are_none_only_where_all_were_counted() {
        let [half, brain] = ["F16", "BF16"].map(|format| {
            pass(7, [1000, 9000], &[(&format!("SQ_INSTS_VALU_MFMA_MOPS_{format}"), [0, 0])])
        });
        let products = |files: &[(&str, &str)]| {
            let found = of(files);
            [Pipe::Fp16Matrix, Pipe::Bf16Matrix].map(|pipe| all(&found, Quantity::Work(pipe)))
        };
        assert_eq!(products(&[("1.csv", &half)]), [[None; 2], [None; 2]]);
        let both = products(&[("1.csv", &half), ("2.csv", &brain)]);
        assert_eq!(both, [[Some(0.0); 2], [Some(0.0); 2]]);
        let some = half.replace("F16,0", "F16,3");
        assert_eq!(products(&[("1.csv", &some)])[0], [Some(1536.0); 2]);
    }

    #[test]
    fn passes_without_times_complete_a_trace() {
        let trace = "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,\
            End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,\
            Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n\
            KERNEL_DISPATCH,1,1,7,1,16,add,1,1000,3000,0,0,64,1,1,1024,1,1\n\
            KERNEL_DISPATCH,1,1,7,2,17,mul,2,5000,9000,0,0,64,1,1,1024,1,1\n";
        let (one, two) = (untimed(&fetch(7)), untimed(&write(8)));
        let found = of(&[("t.csv", trace), ("1.csv", &one), ("2.csv", &two)]);
        assert_eq!(all(&found, Quantity::DramBytes), [Some(4096.0), Some(40960.0)]);
        assert_eq!(all(&found, Quantity::Duration), [Some(2e-6), Some(4e-6)]);
        assert!(found.checks.is_empty(), "{:?}", found.checks);
    }

    /// Each of two ranks has both passes: they belong to their folders, and to none where all lie in one.
    #[test]
    fn passes_of_ranks_are_not_mixed() {
        let (fetch, write) = (fetch(7), write(8));
        let fetch2 = &pass(9, [61_000, 69_000], &[("FETCH_SIZE", [5, 50]), ("SQ_WAVES", [16, 16])]);
        let write2 = &pass(10, [65_000, 80_000], &[("WRITE_SIZE", [2, 20])]);
        let apart = of(&[
            ("r0/1.csv", &fetch),
            ("r1/1.csv", fetch2),
            ("r0/2.csv", &write),
            ("r1/2.csv", write2),
        ]);
        let mut bytes = all(&apart, Quantity::DramBytes);
        bytes.sort_by(|one, two| one.partial_cmp(two).unwrap());
        // 3 + 1, 5 + 2, 30 + 10, 50 + 20 KiB.
        assert_eq!(bytes, [4096.0, 7168.0, 40960.0, 71680.0].map(Some), "{:?}", apart.notes);
        // Of each pass a folder, with a file of each rank.
        let by_pass = of(&[
            ("p1/r0.csv", &fetch),
            ("p1/r1.csv", fetch2),
            ("p2/r0.csv", &write),
            ("p2/r1.csv", write2),
        ]);
        let mut same = all(&by_pass, Quantity::DramBytes);
        same.sort_by(|one, two| one.partial_cmp(two).unwrap());
        assert_eq!(same, bytes);
        let flat =
            of(&[("1.csv", &fetch), ("2.csv", fetch2), ("3.csv", &write), ("4.csv", write2)]);
        assert_eq!(flat.launches.len(), 8);
        assert!(all(&flat, Quantity::DramBytes).iter().all(Option::is_none));
        let unclear = flat.checks.iter().filter(|check| check.contains("match several runs"));
        assert_eq!(unclear.count(), 2, "{:?}", flat.checks);
        // One pass of two ranks, and one of the other.
        let odd = of(&[("1.csv", &fetch), ("2.csv", fetch2), ("3.csv", &write)]);
        assert_eq!(odd.launches.len(), 6, "{:?}", odd.notes);
    }

    #[test]
    fn a_copy_of_a_pass_is_no_rival() {
        let (fetch, write) = (fetch(7), write(8));
        let copy = fetch.clone();
        let found = of(&[("1.csv", &fetch), ("copy.csv", &copy), ("2.csv", &write)]);
        assert_eq!(all(&found, Quantity::DramBytes), [Some(4096.0), Some(40960.0)]);
        assert!(found.checks.iter().any(|check| check.starts_with("copy.csv repeats 1.csv")));
        // Those of another program, or of another GPU, are not of this run.
        for other in
            [write.replace("mul", "sub").replace("add", "sum"), write.replace(",1,1,8,", ",2,1,8,")]
        {
            let found = of(&[("1.csv", &fetch), ("2.csv", &other)]);
            assert_eq!(found.launches.len(), 4, "{:?}", found.notes);
        }
    }
}
