//! Tables that are in a file twice, without numbers of launches that would show it: files were joined.
//!
//! A table is a copy if it equals an earlier one row for row, in everything that a row says. One row alone proves
//! nothing, unless it has a start: kernels of one time are common where times are rounded.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::model::{Head, Profile, Quantity};
use crate::plain::counted;

/// Leaves out copies among the tables of the file that was read last, whose launches start at row `before`. `tables` has
/// the first row of each further table, and whether its launches are numbered. A note says how many launches they had.
pub(super) fn leave_out(
    profile: &mut Profile,
    path: &str,
    before: usize,
    tables: &[(usize, bool)],
) {
    if tables.is_empty() {
        return;
    }
    let ends = tables.iter().skip(1).map(|(start, _)| *start).chain([profile.launches.len()]);
    let further = tables.iter().zip(ends);
    let mut known: HashMap<u64, Vec<Range<usize>>> = HashMap::new();
    let first = before..tables[0].0;
    known.entry(digest(profile, first.clone())).or_default().push(first);
    let mut gone = vec![false; profile.launches.len()];
    let (mut copies, mut launches) = (0_u64, 0_u64);
    for ((start, is_numbered), end) in further {
        let table = *start..end;
        if *is_numbered || table.is_empty() {
            continue;
        }
        let alike = known.entry(digest(profile, table.clone())).or_default();
        let is_proof = table.len() > 1 || profile.launches.start(table.start).is_some();
        if is_proof && alike.iter().any(|one| are_equal(profile, one, &table)) {
            copies += 1;
            for row in table {
                gone[row] = true;
                launches += u64::from(profile.launches.count(row).max(1));
                profile.count_repeated(row);
            }
        } else {
            alike.push(table);
        }
    }
    if copies > 0 {
        let tables = if copies == 1 { "1 table repeats" } else { "tables repeat" };
        let number = if copies == 1 { String::new() } else { format!("{copies} ") };
        profile.check(format!(
            "{path}: {number}{tables} an earlier one row for row ({}; counted once)",
            counted(launches, "launch", "launches")
        ));
        profile.leave_out(&gone);
    }
}

/// What tables that are equal share.
fn digest(profile: &Profile, table: Range<usize>) -> u64 {
    let mut all = DefaultHasher::new();
    table.len().hash(&mut all);
    for row in table {
        let Head { name, operator, stream, start, .. } = profile.launches.head(row);
        let time = profile.launches.value(row, Quantity::Duration).map(f64::to_bits);
        (name, operator, stream, start, time).hash(&mut all);
    }
    all.finish()
}

fn are_equal(profile: &Profile, one: &Range<usize>, two: &Range<usize>) -> bool {
    let launches = &profile.launches;
    let is_same = |(one, two): (usize, usize)| {
        let head = |row| Head { id: 0, ..launches.head(row) };
        head(one) == head(two)
            && launches.quantities().all(|of| launches.value(one, of) == launches.value(two, of))
    };
    one.len() == two.len() && one.clone().zip(two.clone()).all(is_same)
}
