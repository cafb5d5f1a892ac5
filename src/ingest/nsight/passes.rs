//! Runs of Nsight Compute that collected only some of the counters of a sum or quotient: those of other files complete them.
//!
//! `--metrics` with one group of counters a run is common, as profiling in one run takes as many replays of each kernel.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{COUNTERS, Counter, FP16_TERMS, FP32_TERMS, FP64_TERMS, PACKED_TERMS, Terms, of_some};
use crate::ingest::Reading;
use crate::ingest::passes::{Formula, Pass};
use crate::model::{DeviceHint, Origin, Pipe, Quantity};

/// The counters of launches that have only some of those of a sum or quotient, by row.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<usize, Vec<(Counter, f64)>>);

impl Parts {
    /// Keeps the counters of a launch in the place of those that it had.
    pub(super) fn set(&mut self, row: usize, counters: Vec<(Counter, f64)>) {
        if counters.is_empty() {
            self.0.remove(&row);
        } else {
            self.0.insert(row, counters);
        }
    }

    /// Adds those of launches that come after these, the first of them in this row.
    pub(super) fn join(&mut self, other: &Self, first: usize) {
        let others = other.0.iter().map(|(row, counters)| (first + row, counters.clone()));
        self.0.extend(others);
    }

    /// Notes them for other files: a pass for each process.
    pub(super) fn may_be_completed(&self, reading: &mut Reading<'_>) {
        // Averages over launches have no launch number to be joined by.
        if reading.source.sums {
            return;
        }
        // Each row of these formats is one launch.
        let first = reading.launches() - reading.source.launches as usize;
        let mut passes: BTreeMap<u32, (bool, Pass)> = BTreeMap::new();
        for (row, counters) in &self.0 {
            let head = reading.head(*row);
            let capability = reading.device(head.device).compute_capability.as_deref();
            let (is_packed, pass) = passes.entry(head.process).or_default();
            *is_packed |= capability.is_some_and(DeviceHint::counts_packed_fp32);
            let mut known = Vec::with_capacity(counters.len());
            for (counter, value) in counters {
                let name = &COUNTERS[usize::from(*counter)];
                let place = pass.counters.iter().position(|one| one == name);
                let place = place.unwrap_or_else(|| {
                    pass.counters.push(name.clone());
                    pass.counters.len() - 1
                });
                known.push((place, *value));
            }
            pass.launches.push((row - first, known));
        }
        for (is_packed, pass) in passes.into_values() {
            let formulas = if is_packed { &SETS.1 } else { &SETS.0 };
            reading.may_be_completed(Pass { formulas: Arc::clone(formulas), ..pass });
        }
    }
}

/// Sets of formulas: of devices that may have packed FP32 operations, and of those that have.
type Sets = (Arc<Vec<Vec<Formula>>>, Arc<Vec<Vec<Formula>>>);

static SETS: LazyLock<Sets> = LazyLock::new(|| {
    let with = |fp32| {
        let formula = "2 lanes × (hadd + hmul + 2 × hfma); half of it if one lane is idle";
        let half = Origin::derived(formula).within(0.5, 1.0);
        vec![
            sum(
                Pipe::Fp64Vector,
                FP64_TERMS,
                Origin::derived("dadd + dmul + 2 × dfma (…_pred_on.sum)"),
                |known| of_some(FP64_TERMS, known),
            ),
            fp32,
            sum(Pipe::Fp16Vector, FP16_TERMS, half, |known| of_some(FP16_TERMS, known)),
            quotient(Quantity::LoadSectorsPerRequest, "ld"),
            quotient(Quantity::StoreSectorsPerRequest, "st"),
        ]
    };
    let plain = Origin::derived("fadd + fmul + 2 × ffma (…_pred_on.sum)");
    let plain = sum(Pipe::Fp32Vector, FP32_TERMS, plain, |known| of_some(FP32_TERMS, known));
    let packed = Origin::derived("fadd + fmul + 2 × ffma + 2 × (fadd2 + fmul2 + 2 × ffma2)");
    let packed = sum(Pipe::Fp32Vector, PACKED_TERMS, packed, |known| of_some(PACKED_TERMS, known));
    let packed = with(packed);
    (Arc::new(vec![with(plain), packed.clone()]), Arc::new(vec![packed]))
});

/// Operations of a pipe by the counts of its instructions.
fn sum(pipe: Pipe, terms: &Terms, origin: Origin, of_some: fn(&[bool]) -> &'static str) -> Formula {
    let terms = terms.iter().map(|(factor, operation)| (*factor, COUNTERS[*operation].clone()));
    Formula {
        quantity: Quantity::Work(pipe),
        terms: terms.collect(),
        over: None,
        scale: 1.0,
        origin,
        of_some: Some(of_some),
    }
}

/// Sectors over requests of global memory.
fn quotient(quantity: Quantity, access: &str) -> Formula {
    let sectors = format!("l1tex__t_sectors_pipe_lsu_mem_global_op_{access}.sum");
    Formula {
        quantity,
        origin: Origin::derived(format!("{sectors} ÷ …requests…")),
        terms: vec![(1.0, sectors)],
        over: Some(format!("l1tex__t_requests_pipe_lsu_mem_global_op_{access}.sum")),
        scale: 1.0,
        of_some: None,
    }
}
