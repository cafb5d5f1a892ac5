//! Counters of sums and quotients of which a launch has only some: another run of the program may have the rest.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Deriver;
use crate::ingest::nsight::metrics::{Raw, SASS};

/// Number of a counter in [`COUNTERS`].
pub(in crate::ingest::nsight) type Counter = u8;

/// The counters beside the SASS operations, behind whose places theirs are.
const ACCESSES: [(Raw, &str); 4] = [
    (Raw::LoadSectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    (Raw::LoadRequests, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    (Raw::StoreSectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    (Raw::StoreRequests, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
];

/// The names of all counters that sums and quotients have: SASS operations, then accesses.
pub(in crate::ingest::nsight) static COUNTERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let operations =
        SASS.iter().map(|one| format!("smsp__sass_thread_inst_executed_op_{one}_pred_on.sum"));
    operations.chain(ACCESSES.iter().map(|(_, name)| (*name).to_owned())).collect()
});

/// Places of the counters of FP64, FP32, FP16, packed FP32, and of sectors and requests of loads and of stores.
const FORMULAS: [&[usize]; 6] =
    [&[0, 1, 2], &[6, 7, 8], &[3, 4, 5], &[3, 4, 5, 9, 10, 11], &[12, 13], &[14, 15]];

/// Places in [`FORMULAS`] of FP32 without and with packed operations.
const FP32: [usize; 2] = [2, 3];

/// Places of the SASS operations that the FLOPs of a pipe are counted by, and what each counts for.
pub(in crate::ingest::nsight) type Terms = [(f64, usize)];

/// Additions, multiplications and fused multiply-adds of FP64.
pub(in crate::ingest::nsight) const FP64_TERMS: &Terms = &[(1.0, 0), (1.0, 1), (2.0, 2)];
/// The same of FP32.
pub(in crate::ingest::nsight) const FP32_TERMS: &Terms = &[(1.0, 3), (1.0, 4), (2.0, 5)];
/// The same of FP32 with packed operations, of which each is two.
pub(in crate::ingest::nsight) const PACKED_TERMS: &Terms =
    &[(1.0, 3), (1.0, 4), (2.0, 5), (2.0, 9), (2.0, 10), (4.0, 11)];
/// The same of FP16, in two lanes.
pub(in crate::ingest::nsight) const FP16_TERMS: &Terms = &[(2.0, 6), (2.0, 7), (4.0, 8)];

/// How sums are written of which some counters were collected, by the places of their operations and by those collected.
static OF_SOME: LazyLock<HashMap<(usize, u32), String>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for terms in [FP64_TERMS, FP32_TERMS, PACKED_TERMS, FP16_TERMS] {
        for known in 1_u32..(1 << terms.len()) - 1 {
            all.insert((key(terms), known), written(terms, known));
        }
    }
    all
});

fn key(terms: &Terms) -> usize {
    terms.len() * SASS.len() + terms[0].1
}

fn written(terms: &Terms, known: u32) -> String {
    let (mut sum, mut missing) = (String::new(), Vec::new());
    for (at, (factor, operation)) in terms.iter().enumerate() {
        let name = SASS[*operation];
        if known & 1 << at == 0 {
            missing.push(name);
            continue;
        }
        let plus = if sum.is_empty() { "" } else { " + " };
        let times = if *factor == 1.0 { String::new() } else { format!("{factor} × ") };
        sum += &format!("{plus}{times}{name}");
    }
    match missing.as_slice() {
        [one] => format!("{sum}; {one} was not collected"),
        [first @ .., last] => format!("{sum}; {} and {last} were not collected", first.join(", ")),
        [] => sum,
    }
}

/// How a sum is written of which these counters were collected, at least one and not all.
pub(in crate::ingest::nsight) fn of_some(terms: &Terms, known: &[bool]) -> &'static str {
    let bits = known.iter().enumerate().map(|(at, is_known)| u32::from(*is_known) << at).sum();
    OF_SOME.get(&(key(terms), bits)).map_or("", String::as_str)
}

impl Deriver<'_, '_, '_> {
    /// The counters of sums and quotients of which some were collected and others were not.
    pub(in crate::ingest::nsight) fn parts(&self, is_packed: bool) -> Vec<(Counter, f64)> {
        let values: [Option<f64>; SASS.len() + ACCESSES.len()] =
            std::array::from_fn(|at| match at.checked_sub(SASS.len()) {
                None => self.counts[at].map(|(count, _)| count),
                Some(access) => self.raw.get(ACCESSES[access].0),
            });
        let is_packed = is_packed
            || PACKED_TERMS[3..].iter().any(|(_, operation)| values[*operation].is_some());
        let mut parts = Vec::new();
        for (at, counters) in FORMULAS.iter().enumerate() {
            if at == FP32[usize::from(!is_packed)] {
                continue;
            }
            // Launches have all or none in most files.
            let known = counters.iter().filter(|at| values[**at].is_some()).count();
            if known > 0 && known < counters.len() {
                let known = counters.iter().filter_map(|at| Some((*at as Counter, values[*at]?)));
                parts.extend(known);
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_says_which_of_its_counters_were_collected() {
        for (terms, known, wanted) in [
            (FP32_TERMS, &[true, false, true][..], "fadd + 2 × ffma; fmul was not collected"),
            (FP64_TERMS, &[true, false, false], "dadd; dmul and dfma were not collected"),
            (FP16_TERMS, &[false, false, true], "4 × hfma; hadd and hmul were not collected"),
            (
                PACKED_TERMS,
                &[true, true, true, false, false, true],
                "fadd + fmul + 2 × ffma + 4 × ffma2; fadd2 and fmul2 were not collected",
            ),
        ] {
            assert_eq!(of_some(terms, known), wanted);
        }
    }
}
