//! The devices of a report, with their datasheet figures and the sources of these.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::DeviceUse;
use crate::model::Pipe;
use crate::report::Report;
use crate::units::FlopsPerByte;

#[derive(Serialize, JsonSchema)]
pub(super) struct DeviceDocument<'a> {
    /// Name of the device.
    name: &'a str,
    /// How the device was found.
    source: &'a str,
    /// Why the device is unknown; `null` if it is known.
    unknown: Option<UnknownDocument<'a>>,
    /// Compute capability, such as `9.0`; NVIDIA only.
    compute_capability: Option<&'a str>,
    /// Number of SMs (AMD: compute units).
    multiprocessors: Option<u32>,
    /// Its roofs.
    ceilings: CeilingsDocument,
    /// Disagreements between export and catalog.
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct UnknownDocument<'a> {
    /// What the export says, and why it is not enough.
    reason: &'a str,
    /// The next step, with the option that resolves it.
    help: &'a str,
    /// Matching devices, most likely first.
    candidates: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct CeilingsDocument {
    /// `spec`, `measured-clock` or `achievable`.
    set: &'static str,
    /// Datasheet bandwidth of device memory; for an unknown device, the one derived from the
    /// export.
    dram_bytes_per_s: Option<f64>,
    /// Source of the figure.
    dram_source: Option<String>,
    /// Theoretical bandwidth of L2.
    l2_bytes_per_s: Option<f64>,
    /// Source of the figure.
    l2_source: Option<String>,
    /// Datasheet peaks.
    peaks: Vec<PeakDocument>,
}

#[derive(Serialize, JsonSchema)]
struct PeakDocument {
    /// The pipe, such as `bf16_matrix`.
    pipe: &'static str,
    /// Dense peak; OP/s for integer pipes.
    flop_per_s: f64,
    /// Clock at which the peak is quoted.
    clock_hz: Option<f64>,
    /// Intensity at which the peak and the bandwidth of device memory meet.
    ridge_point_flop_per_byte: Option<f64>,
    /// Source of the figure.
    source: String,
}

pub(super) fn device<'a>(one: &'a DeviceUse, report: &Report<'_>) -> DeviceDocument<'a> {
    let known = one.device.as_ref();
    let peaks = Pipe::ALL
        .iter()
        .filter_map(|pipe| {
            let device = known?;
            let peak = device.peak(*pipe)?;
            Some(PeakDocument {
                pipe: pipe.key(),
                flop_per_s: peak.value.get(),
                clock_hz: device.clock_of(*pipe).map(crate::units::Hertz::get),
                ridge_point_flop_per_byte: device.ridge_point(*pipe).map(FlopsPerByte::get),
                source: peak.source.clone(),
            })
        })
        .collect();
    let listed = known.and_then(|device| device.memory.bandwidth.as_ref());
    let derived = one.observed.dram.filter(|_| known.is_none());
    let derived = derived.map(|peak| (peak.value.get(), peak.how.to_owned()));
    let dram = listed.map(|figure| (figure.value.get(), figure.source.clone())).or(derived);
    let l2 = known.and_then(|device| device.l2_bandwidth.as_ref());
    DeviceDocument {
        name: one.name(),
        source: &one.how,
        unknown: one.unknown.as_ref().map(|unknown| UnknownDocument {
            reason: &unknown.reason,
            help: &unknown.help,
            candidates: &unknown.candidates,
        }),
        compute_capability: known
            .and_then(|device| device.compute_capability.as_deref())
            .or(one.hint.compute_capability.as_deref()),
        multiprocessors: known.and_then(|device| device.sms).or(one.hint.sms),
        ceilings: CeilingsDocument {
            set: report.analysis.ceilings.label(),
            dram_bytes_per_s: dram.as_ref().map(|(rate, _)| *rate),
            dram_source: dram.map(|(_, source)| source),
            l2_bytes_per_s: l2.map(|figure| figure.value.get()),
            l2_source: l2.map(|figure| figure.source.clone()),
            peaks,
        },
        notes: &one.notes,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::analysis::State;
    use crate::model::Pipe;
    use crate::report::bench::run;

    /// An H100 SXM5: 5,120 bits twice a cycle of 2,619 MHz, and 989.4 TFLOP/s of dense FP16.
    #[test]
    fn a_device_has_its_datasheet_figures_with_sources() {
        let bench = run(&[("a", State::Fair, 1.0)]);
        let report = bench.report();
        let document = super::device(&report.analysis.devices[0], &report);
        let found: Value = serde_json::to_value(document).unwrap();
        let ceilings = &found["ceilings"];
        let bandwidth = ceilings["dram_bytes_per_s"].as_f64().unwrap();
        assert!((bandwidth / (5120.0 / 8.0 * 2.0 * 2.619e9) - 1.0).abs() < 1e-3, "{ceilings}");
        let peaks = ceilings["peaks"].as_array().unwrap();
        let half = peaks.iter().find(|peak| peak["pipe"] == Pipe::Fp16Matrix.key()).unwrap();
        let rate = half["flop_per_s"].as_f64().unwrap();
        assert!((rate / 989.4e12 - 1.0).abs() < 1e-3, "{half}");
        assert!(peaks.iter().all(|peak| !peak["source"].as_str().unwrap().is_empty()));
    }
}
