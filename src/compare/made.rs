//! Runs for tests; compiled for `#[cfg(test)]`.

use std::collections::BTreeMap;

use super::run::{Run, RunDevice, RunKernel, RunOrigin, SCHEMA, label, share, total};
use crate::units::Seconds;

/// A kernel with a launch for each of these times, in seconds, of one operation a launch.
pub(crate) fn kernel(name: &str, times: &[f64]) -> RunKernel {
    let measured: f64 = times.iter().sum();
    let value = serde_json::json!({
        "name": name, "full_name": name, "operator": null, "grid": [8, 1, 1],
        "block": [256, 1, 1], "blocks": 8, "threads_per_block": 256, "device": 0,
        "category": "other", "launches": times.len(), "timed": times.len(),
        "measured_s": measured, "share": 0.5, "samples_s": times, "clock_hz": null,
        "bytes": null, "flops": times.len(), "fp64_flops": null, "judged_s": measured,
        "roofline_s": measured / 2.0, "roofline_high_s": measured / 1.5,
        "savings_s": 0.0, "findings": [], "rows": [0, 1]
    });
    serde_json::from_value(value).unwrap()
}

/// The same kernel without durations.
pub(crate) fn untimed(kernel: RunKernel) -> RunKernel {
    RunKernel { timed: 0, measured_s: Seconds::ZERO, samples_s: Vec::new(), ..kernel }
}

/// A run of kernels on one device.
pub(crate) fn run(kernels: Vec<RunKernel>) -> Run {
    let measured = total(kernels.iter().map(|kernel| kernel.measured_s));
    let kernels: Vec<RunKernel> = kernels
        .into_iter()
        .map(|kernel| RunKernel { share: share(kernel.measured_s, measured), ..kernel })
        .collect();
    Run {
        schema: SCHEMA.to_owned(),
        rooflint: "0.1.0".to_owned(),
        label: label(["run.csv"].into_iter()),
        origin: RunOrigin::default(),
        files: Vec::new(),
        ranks: BTreeMap::new(),
        unread: Vec::new(),
        devices: vec![RunDevice {
            name: "L4".to_owned(),
            known: true,
            dram_bytes_per_s: None,
            fp32_per_clock: None,
        }],
        ceilings: "spec".to_owned(),
        launches: kernels.iter().map(|kernel| kernel.launches).sum(),
        timed_launches: 0,
        measured_s: measured,
        warmup: 0,
        quantities: Vec::new(),
        rules: None,
        skipped_rules: Vec::new(),
        kernels,
        fingerprint: String::new(),
    }
    .ordered()
}
