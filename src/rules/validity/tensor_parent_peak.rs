//! Tells that a tensor counter states the sparse peak, twice what dense work can reach.

use crate::analysis::{CeilingSet, State, Work};
use crate::model::{Engine, OriginKind, Quantity};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};
use crate::units::{Flops, Seconds};

pub(super) const RULE: Rule = Rule {
    id: "tensor-parent-peak",
    summary: "a tensor counter's peak is the sparse one, twice the dense peak",
    documentation: "\
## What it finds
Tensor-core kernels whose export has one peak for dense and sparse work together, and that peak is
twice what dense work can reach.

## Why it costs time
No time is lost, but every percentage of such a peak is half of the truth: Nsight Compute prints
33% of peak for a kernel that keeps the tensor pipe busy 67% of the time. Used as a roof, it would
double the expected speed.

## Detection
A ratio is within `near` of two. If it is the peak of a counter that mixes dense and sparse work
over the dense peak of the same format in the same export, the finding is informational, because
the dense one is used. If it is the roof used, taken from the export, over the catalog's dense
peak at the same clock, it is a warning: the roofline time is then half of what it should be.

## Remedy
Read the share of the roof here, or `sm__pipe_tensor_cycles_active` in Nsight Compute. Take
percentages from counters ending in `_sparsity_off`. Where the roof itself is doubled, use the
datasheet's (`--ceilings spec`).

## False positives
GeForce halves the rate of some formats with FP32 accumulation; a device file without that looks
like a doubled peak.

## Sources
*Nsight Compute Profiling Guide*, \"Metrics Structure\" (`.peak_sustained`) and \"Roofline Charts\"; NVIDIA,
*H100 Tensor Core GPU Architecture* (white paper), whose table states dense and sparse peaks.
",
    thresholds: &[NEAR],
    silences: &[],
    check: Check::KernelAlso(State::FasterThanRoofline, check),
};

const NEAR: Threshold = Threshold::new(
    "near",
    0.1,
    "1",
    "the ratio is two by construction; clocks from two passes differ slightly",
);

/// The roof used for dense tensor work over the catalog's at the clock of the kernel; none where
/// the roof is the catalog's own.
fn over_catalog(subject: &Subject<'_>) -> Result<Option<f64>, Missing> {
    let is_dense = |work: &&Work| {
        work.pipe.engine() == Engine::Matrix && !work.pipe.is_sparse() && work.time > Seconds::ZERO
    };
    let work = subject.kernel.work.iter().filter(is_dense);
    let main = work.max_by(|one, two| one.time.get().total_cmp(&two.time.get()));
    let Some((main, peak)) = main.and_then(|main| Some((main, main.peak()?))) else {
        return Ok(None);
    };
    if subject.analysis.ceilings != CeilingSet::MeasuredClock {
        return Ok(None);
    }
    let device = subject.device()?;
    let rated = device.peak(main.pipe).zip(device.clock_of(main.pipe));
    let clock = subject.get(Quantity::SmClock);
    let known = rated.zip(clock).map(|((rated, at), clock)| rated.value * (clock / at.get()));
    Ok(known.map(|known| peak / known))
}

fn check(subject: &Subject<'_>) -> Judgment {
    let work = subject.operations(|pipe| pipe.engine() == Engine::Matrix);
    if work <= Flops::ZERO || subject.kernel.provenance == Some(OriginKind::Algorithmic) {
        return Ok(None);
    }
    let near = subject.threshold(&NEAR);
    let is_double = |quotient: &f64| (quotient - 2.0).abs() <= near;
    let stated = subject.get(Quantity::TensorParentPeak);
    let roof = match over_catalog(subject) {
        // The other quotient judges where the device is not known.
        Err(_) if stated.is_some() => None,
        known => known?,
    };
    let active = subject.get(Quantity::TensorActive);
    let finding = if let Some(roof) = roof.filter(is_double) {
        let message = format!(
            "the export's tensor peak is {roof:.2}× the catalog's dense peak: it is the sparse \
             peak, so roofline time is half of what it should be"
        );
        let finding = subject.info(message).severity(Severity::Medium);
        finding
            .evidence("roof used over the catalog's dense peak", roof, "1")
            .next("use the datasheet's peaks: --ceilings spec")
    } else if let Some(stated) = stated.filter(is_double) {
        let message = format!(
            "the export's tensor peak is {stated:.2}× the dense peak: percentages in Nsight \
             Compute are half of those here"
        );
        let finding = subject.info(message);
        finding.evidence("export's peak over the dense peak", stated, "1")
    } else {
        return Ok(None);
    };
    Ok(Some(finding.confidence(Confidence::High).evidence_if("tensor pipe active", active, "1")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DeviceHint, Pipe};
    use crate::rules::engine::bench_launches::{Bench, h100};

    const ID: &str = "tensor-parent-peak";

    fn product(peak: f64, more: &[(Quantity, f64)]) -> Bench {
        let mut values = vec![
            (Quantity::DramBytes, 1e9),
            (Quantity::SmClock, 1.83e9),
            (Quantity::Peak(Pipe::Bf16Matrix), peak),
            (Quantity::Work(Pipe::Bf16Matrix), 30e12),
        ];
        values.extend_from_slice(more);
        h100().bare("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", (132, 384), (1, 1e5), &values)
    }

    #[test]
    fn a_peak_twice_the_dense_one_beside_it_is_told() {
        let found = product(989e12, &[(Quantity::TensorParentPeak, 2.0)]).found(ID);
        assert_eq!(found.severity, Severity::Info);
        assert!(found.message.contains("2.00× the dense peak"), "{}", found.message);
    }

    #[test]
    fn a_roof_twice_the_catalogs_is_a_warning() {
        // 132 SMs × 8192 FLOP per cycle at 1.83 GHz, twice what the catalog's 989.4 TFLOP/s say there.
        let found = product(132.0 * 8192.0 * 1.83e9, &[]).found(ID);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.contains("half of what it should be"), "{}", found.message);
    }

    #[test]
    fn dense_peaks_and_other_work_are_left_alone() {
        assert!(product(989e12, &[(Quantity::TensorParentPeak, 1.0)]).is_content(ID));
        assert!(product(989e12, &[]).is_content(ID));
        assert!(h100().launch("k", (1000, 256), (1, 1000.0), &[]).is_content(ID));
    }

    #[test]
    fn without_a_device_and_a_dense_counter_it_cannot_judge() {
        let values = [
            (Quantity::DramBytes, 1e9),
            (Quantity::DramBandwidth, 3e12),
            (Quantity::SmClock, 1.83e9),
            (Quantity::Peak(Pipe::Bf16Matrix), 989e12),
            (Quantity::Work(Pipe::Bf16Matrix), 30e12),
        ];
        let bench = h100()
            .launch("k", (1000, 256), (1, 10.0), &[(Quantity::SmClock, 1.83e9)])
            .then_on(DeviceHint::default())
            .bare("k", (132, 384), (1, 1e5), &values);
        assert_eq!(bench.lacks(ID), ["--device"]);
    }
}
