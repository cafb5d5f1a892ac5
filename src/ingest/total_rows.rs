//! Rows that spreadsheets add below a table: sums of the rows above, which are no kernels.

use std::collections::HashSet;

use crate::model::{NameId, Profile, Quantity};

/// A sum differs from that of its rows by less than this share: both are rounded.
const AGREES: f64 = 1e-4;

/// Of fewer rows with a time one may take as long as the rest by chance.
const FEWEST: usize = 2;

/// Names of rows that sum up the others.
const SUMS: [&str; 5] = ["total", "totals", "sum", "overall", "grand total"];

/// Whether a row of this name is rather a sum or a mean of others than a kernel.
pub(super) fn is_of_sum(name: &[u8]) -> bool {
    const MEANS: [&str; 3] = ["average", "avg", "mean"];
    let name = name.trim_ascii();
    is_one_of(&MEANS, name)
        || is_one_of(&SUMS, name)
        || (!name.is_empty() && name.iter().all(|byte| matches!(byte, b'-' | b'=' | b'_')))
}

fn is_one_of(names: &[&str], name: &[u8]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()))
}

/// Leaves out rows named as sums that take as long as all others of their file, and says so. Of a mapping the reader says
/// what it took for a kernel, and a filter leaves it out.
pub(super) fn leave_out(profile: &mut Profile) {
    let candidates: HashSet<NameId> =
        profile.names.ids(|name| is_one_of(&SUMS, name.trim().as_bytes())).collect();
    if candidates.is_empty() {
        return;
    }
    let mut gone = vec![false; profile.launches.len()];
    let mut notes = Vec::new();
    let rows = profile.rows_by_source();
    // Of a trace the copies are among the rows above.
    let mut copies = vec![0.0; profile.sources.len()];
    for one in &profile.activities {
        copies[usize::from(one.source)] += one.duration as f64 * 1e-9;
    }
    for (at, rows) in rows.into_iter().enumerate() {
        let source = &mut profile.sources[at];
        if source.format == "mapped" {
            continue;
        }
        let time = |row: usize| {
            let time = profile.launches.value(row, Quantity::Duration).unwrap_or_default();
            time * f64::from(profile.launches.head(row).count)
        };
        let (named, others): (Vec<usize>, Vec<usize>) = rows
            .into_iter()
            .partition(|row| candidates.contains(&profile.launches.head(*row).name));
        if named.is_empty() {
            continue;
        }
        let all: f64 = others.iter().map(|row| time(*row)).sum();
        let timed = others.iter().filter(|row| time(**row) > 0.0).count();
        let is_all = |time: f64| {
            [all, all + copies[at]].iter().any(|all| (time - all).abs() <= AGREES * all)
        };
        for row in named {
            if timed >= FEWEST && is_all(time(row)) {
                gone[row] = true;
                source.launches =
                    source.launches.saturating_sub(u64::from(profile.launches.count(row).max(1)));
                source.other_lines += 1;
                let name = profile.names.get(profile.launches.head(row).name);
                notes.push(format!(
                    "{}: the row {name:?} is the sum of the others; left out",
                    source.path
                ));
            }
        }
    }
    for note in notes {
        profile.check(note);
    }
    profile.leave_out(&gone);
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::{Profile, Quantity};

    fn of(text: &str) -> Profile {
        read(&[Input::text("table.csv", text)], &Options::default()).unwrap()
    }

    fn times(profile: &Profile) -> Vec<f64> {
        let times = profile.iter().map(|launch| launch.value(Quantity::Duration).unwrap() * 1e9);
        times.map(f64::round).collect()
    }

    /// A table of launches and one of sums, each with the row of a spreadsheet below it.
    #[test]
    fn a_row_that_sums_up_the_others_is_no_kernel() {
        let trace = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n\
            100,1500,1,1,1,1,32,1,1,8,0,0,,,,,GPU (0),1,7,a\n\
            5000,2500,2,1,1,1,32,1,1,8,0,0,,,,,GPU (0),1,7,b\n\
            5100,LAST,3,2,2,2,64,2,2,16,0,0,,,,,GPU (0),2,14,NAME\n";
        let sums = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n\
            60,6000,2,3000,3000,3000,3000,0,a\n40,4000,4,1000,1000,1000,1000,0,b\n100,10000,6,4000,4000,4000,4000,0,Total\n";
        for name in ["Total", "sum"] {
            let found = of(&trace.replace("LAST", "4000").replace("NAME", name));
            assert_eq!(times(&found), [1500.0, 2500.0]);
            assert_eq!(found.sources[0].launches, 2);
            assert_eq!(
                found.notes,
                [format!("table.csv: the row {name:?} is the sum of the others; left out")]
            );
        }
        let found = of(sums);
        assert_eq!(times(&found), [3000.0, 1000.0]);
        // The copies of a trace are above it, too.
        let copy = trace.replace(
            "5100,",
            "4100,500,9,,,,,,,,,,1.5,3000,Pageable,Device,GPU (0),1,7,[CUDA memcpy HtoD]\n5100,",
        );
        assert_eq!(
            times(&of(&copy.replace("LAST", "4500").replace("NAME", "Total"))),
            [1500.0, 2500.0]
        );
        // What takes another time, or as long as the only other, is a kernel of that name.
        let two = trace.replace("LAST", "1500").replace("NAME", "sum");
        assert_eq!(
            times(&of(&two.replace("5000,2500,2,1,1,1,32,1,1,8,0,0,,,,,GPU (0),1,7,b\n", ""))),
            [1500.0; 2]
        );
        assert_eq!(times(&of(&trace.replace("LAST", "4100").replace("NAME", "sum"))).len(), 3);
        assert_eq!(times(&of(&trace.replace("LAST", "4000").replace("NAME", "c"))).len(), 3);
    }
}
