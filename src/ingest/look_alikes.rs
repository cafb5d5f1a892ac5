//! Inputs that look like one run given twice, and were not recognized as such: as many launches and the same time.
//!
//! They count, for nothing proves that they are one. But a run that is counted twice in silence is worse than a note too
//! many.

use std::cell::LazyCell;

use crate::model::{Profile, Quantity};
use crate::plain::counted;

/// Two prints of one sum differ by less than this share; those of two runs do not agree so well.
const SAME: f64 = 1e-6;

/// With fewer launches two runs may take the same time.
const FEWEST: u64 = 8;

/// How many inputs of the same time one is compared with.
const COMPARED: usize = 8;

/// How many pairs of inputs are named.
const NAMED: usize = 3;

/// Says which inputs have as many launches and the same time as another.
pub(super) fn tell(profile: &mut Profile) {
    if profile.sources.len() < 2 {
        return;
    }
    let mut sums: Vec<Option<(u64, f64)>> = vec![Some((0, 0.0)); profile.sources.len()];
    for row in 0..profile.launches.len() {
        let of_source = &mut sums[usize::from(profile.launches.source(row))];
        let time = profile.launches.get(row, Quantity::Duration);
        let count = profile.launches.count(row);
        *of_source = of_source.zip(time).map(|((launches, sum), (time, _))| {
            (launches + u64::from(count), sum + time * f64::from(count))
        });
    }
    let mut known: Vec<(u64, f64, usize)> = sums
        .into_iter()
        .enumerate()
        .filter_map(|(source, sum)| sum.map(|(launches, time)| (launches, time, source)))
        .filter(|(launches, time, _)| *launches >= FEWEST && *time > 0.0)
        .collect();
    known.sort_by(|one, two| {
        (one.0.cmp(&two.0)).then(one.1.total_cmp(&two.1)).then(one.2.cmp(&two.2))
    });
    let rows = LazyCell::new(|| profile.rows_by_source());
    let mut pairs: Vec<(usize, usize, u64)> = Vec::new();
    for (at, (launches, time, source)) in known.iter().enumerate() {
        // Those of the same time that stand before it, of which some may be of other runs.
        let alike = known[..at].iter().rev().take(COMPARED);
        let mut alike = alike.take_while(|one| one.0 == *launches && time - one.1 <= SAME * time);
        let found = alike.find(|one| may_be_one_run(profile, &rows[one.2], &rows[*source]));
        pairs.extend(found.map(|one| (one.2.min(*source), one.2.max(*source), *launches)));
    }
    drop(rows);
    for (one, two, launches) in pairs.iter().take(NAMED) {
        let path = |at: usize| profile.sources[at].path.clone();
        let note = format!(
            "{} and {} have {} each and the same time: both count; if they are of one run, give one of them",
            path(*one),
            path(*two),
            counted(*launches, "launch", "launches")
        );
        profile.check(note);
    }
    if pairs.len() > NAMED {
        let more = (pairs.len() - NAMED) as u64;
        profile.check(format!(
            "{} also; all count",
            counted(more, "more pair of inputs does", "more pairs of inputs do")
        ));
    }
}

/// Whether most of the time of these rows is in launches that take as long as one of the other rows: ranks of a job may
/// take the same time in all, and do not in every launch. Sums show no launches.
fn may_be_one_run(profile: &Profile, one: &[usize], two: &[usize]) -> bool {
    /// Two prints of a time differ by less, in seconds.
    const ROUNDED: f64 = 10e-9;
    let times = |rows: &[usize]| -> Option<Vec<f64>> {
        let time = |row: &usize| {
            let time = profile.launches.value(*row, Quantity::Duration);
            time.filter(|_| profile.launches.count(*row) == 1)
        };
        let mut times: Vec<f64> = rows.iter().map(time).collect::<Option<_>>()?;
        times.sort_unstable_by(f64::total_cmp);
        Some(times)
    };
    let (Some(one), Some(two)) = (times(one), times(two)) else { return true };
    let same = one
        .iter()
        .zip(&two)
        .filter(|(one, two)| (**one - **two).abs() <= ROUNDED.max(SAME * **two));
    let same: f64 = same.map(|(_, time)| time).sum();
    same >= 0.5 * two.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::Profile;

    fn both(one: &str, two: &str) -> Profile {
        let inputs = [Input::text("one.csv", one), Input::text("two.csv", two)];
        read(&inputs, &Options::default()).unwrap()
    }

    /// PyProf has neither starts nor more than bare names, so that nothing shows whose launches these are.
    #[test]
    fn a_trace_beside_its_pyprof_table_is_named() {
        let header = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Device,Ctx,Strm,Name\n";
        let traced = |id: u32| {
            format!(
                "{id}0000,{},{id},64,1,1,128,1,1,32,A100 SXM4 40GB (0),1,7,ns::gemm<float>\n",
                900 + id
            )
        };
        let trace: String = (1..10).map(traced).collect();
        let rows = |more: u32| -> String {
            let row = |id: u32| {
                format!(
                    "{id},fprop,0,mine,custom,gemm,na,{},-,0,7,\"64,1,1\",\"128,1,1\"\n",
                    900 + id + more
                )
            };
            (1..10).map(row).collect()
        };
        let pyprof =
            "Idx,Direction,Sub,Module,Op,Kernel,Params,Sil(ns),TC,Device,Stream,Grid,Block\n";
        let found = both(&format!("{header}{trace}"), &format!("{pyprof}{}", rows(0)));
        let note = "one.csv and two.csv have 9 launches each and the same time: both count; if they are of one run, give one of them";
        assert_eq!((found.launches.len(), found.checks), (18, vec![note.to_owned()]));
        let found = both(&format!("{header}{trace}"), &format!("{pyprof}{}", rows(1)));
        assert_eq!((found.launches.len(), found.checks.len()), (18, 0));
    }

    /// Two ranks whose launches take as long in all: 100 µs and 300 µs, 150 µs and 250 µs.
    #[test]
    fn ranks_that_take_as_long_in_all_are_no_copies() {
        let export = |short: u32, long: u32| {
            let row = |id: u32| {
                let time = if id.is_multiple_of(2) { short + id } else { long - id };
                format!("{id}0000000,{time},{id},64,1,1,128,1,1,32,A100 SXM4 40GB (0),1,7,k\n")
            };
            let header = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Device,Ctx,Strm,Name\n";
            format!("{header}{}", (1..11).map(row).collect::<String>())
        };
        let (one, two) = (export(100_000, 300_000), export(150_000, 250_000));
        let found = both(&one, &two);
        assert_eq!((found.launches.len(), found.checks), (20, Vec::<String>::new()));
        // The first one again, with another kernel's name, is named whatever lies between.
        let again = one.replace(",k\n", ",other\n");
        let inputs = [("one.csv", &one), ("two.csv", &two), ("again.csv", &again)];
        let inputs = inputs.map(|(name, text)| Input::text(name, text));
        let found = read(&inputs, &Options::default()).unwrap();
        assert_eq!(found.checks.len(), 1, "{:?}", found.checks);
        assert!(found.checks[0].starts_with("one.csv and again.csv have 10 launches"));
    }
}
