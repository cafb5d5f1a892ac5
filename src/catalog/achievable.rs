//! The achievable roof: rates measured on a device, or the usual share of its peak.

use super::device::{Device, Provenance};
use super::figure::{Achieved, Figure};
use crate::model::{Engine, Pipe, Reached};
use crate::roofline::achievable;
use crate::units::{BytesPerSecond, FlopsPerSecond, si};

impl Device {
    /// Returns the memory bandwidth that well-written kernels reach: the best published simple
    /// kernel, else the usual share of the peak for this kind of memory, or more if a real program
    /// reached more.
    #[must_use]
    pub fn achievable_bandwidth(&self) -> Option<Figure<BytesPerSecond>> {
        if let Some(dram) = &self.achievable.dram {
            return Some(dram.figure());
        }
        let program = self.achievable.lattice_boltzmann.as_ref();
        let usual = self.memory.bandwidth.as_ref().map(|peak| self.usual_bandwidth(peak));
        match (program, usual) {
            (Some(program), Some(usual)) if program.value < usual.value => Some(usual),
            (Some(program), _) => Some(program.figure()),
            (None, usual) => usual,
        }
    }

    /// Returns the rate that well-written kernels reach on a pipe: the best published one, else the
    /// usual share of the peak. FP16 and BF16 matrix rates substitute for each other if their peaks
    /// are equal.
    #[must_use]
    pub fn achievable_peak(&self, pipe: Pipe) -> Option<Figure<FlopsPerSecond>> {
        if let Some(measured) = self.achievable.peaks.get(&pipe) {
            return Some(measured.figure());
        }
        let peak = self.peak(pipe)?;
        if let Some(twin) = twin(pipe).filter(|twin| self.has_peak(*twin, peak.value))
            && let Some(measured) = self.achievable.peaks.get(&twin)
        {
            let mut figure = measured.figure();
            figure.source = format!("{} of the same peak, {}", twin.label(), figure.source);
            return Some(figure);
        }
        let share = match pipe.engine() {
            Engine::Vector => achievable::VECTOR,
            Engine::Matrix => achievable::MATRIX,
        };
        Some(usual(peak.value * share, share))
    }

    /// Replaces what published benchmarks reached by what was reached on this very machine. Rates above
    /// the theoretical ones are left out and returned, as phrases.
    pub fn take_reached(&mut self, reached: &Reached) -> Vec<String> {
        let mut faults = Vec::new();
        // Who writes a file of devices knows the device.
        if matches!(self.provenance, Provenance::UserFile(_)) {
            return faults;
        }
        let mut is_possible = |of: &str, rate: f64, peak: Option<f64>, unit: &str| {
            let is_above = peak.filter(|peak| rate > peak * (1.0 + ROUNDING));
            faults.extend(is_above.map(|peak| {
                format!("{of} {}, above the peak of {}", si(rate, unit), si(peak, unit))
            }));
            is_above.is_none()
        };
        let peak = self.memory.bandwidth.as_ref().map(|peak| peak.value.get());
        let dram = reached.dram.filter(|rate| is_possible("DRAM", rate.get(), peak, "B/s"));
        let peak = self.l2_bandwidth.as_ref().map(|peak| peak.value.get());
        let l2 = reached.l2.filter(|rate| is_possible("L2", rate.get(), peak, "B/s"));
        let unit = |pipe: Pipe| format!("{}/s", pipe.operation());
        let peaks = reached.peaks.iter().filter(|(pipe, rate)| {
            // A pipe without a roof needs no achievable one.
            self.peaks.get(pipe).is_some_and(|peak| {
                is_possible(pipe.label(), rate.get(), Some(peak.value.get()), &unit(**pipe))
            })
        });
        let peaks: Vec<_> = peaks.map(|(pipe, rate)| (*pipe, achieved(*rate, reached))).collect();
        self.achievable.l1 = reached.l1.map(|rate| achieved(rate, reached));
        self.achievable.shared = reached.shared.map(|rate| achieved(rate, reached));
        self.achievable.peaks.extend(peaks);
        self.achievable.dram =
            dram.map(|rate| achieved(rate, reached)).or(self.achievable.dram.take());
        self.achievable.l2 = l2.map(|rate| achieved(rate, reached)).or(self.achievable.l2.take());
        faults
    }

    fn has_peak(&self, pipe: Pipe, value: FlopsPerSecond) -> bool {
        self.peak(pipe).is_some_and(|peak| peak.value == value)
    }

    fn usual_bandwidth(&self, peak: &Figure<BytesPerSecond>) -> Figure<BytesPerSecond> {
        let share = match (self.is_hbm(), self.vendor.as_deref()) {
            (true, Some("NVIDIA") | None) => achievable::HBM,
            (true, Some(_)) => achievable::HBM_AMD,
            (false, _) => achievable::GDDR,
        };
        usual(peak.value * share, share)
    }
}

/// Beyond this, a measured rate above a theoretical one is more than rounding.
const ROUNDING: f64 = 0.02;

fn achieved<T>(value: T, reached: &Reached) -> Achieved<T> {
    let method = Some(format!("by {}", reached.by));
    let source = reached.from.clone();
    Achieved { value, kernel: None, method, conditions: None, source }
}

fn twin(pipe: Pipe) -> Option<Pipe> {
    match pipe {
        Pipe::Fp16Matrix => Some(Pipe::Bf16Matrix),
        Pipe::Bf16Matrix => Some(Pipe::Fp16Matrix),
        _ => None,
    }
}

fn usual<T>(value: T, share: f64) -> Figure<T> {
    let source =
        format!("{:.0}% of the peak, the usual share (no published benchmark)", share * 100.0);
    Figure { value, source, derived: true }
}

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::*;
    use crate::model::DeviceHint;

    fn device(name: &str) -> Device {
        Catalog::builtin().find(name, &DeviceHint::default()).unwrap()
    }

    #[test]
    fn a_published_measurement_comes_before_the_usual_share() {
        let a100 = device("A100 SXM4 80GB");
        let bandwidth = a100.achievable_bandwidth().unwrap();
        assert_eq!(bandwidth.value, BytesPerSecond::new(1908e9));
        assert!(
            bandwidth.source.starts_with("measured: write; gpu-stream"),
            "{}",
            bandwidth.source
        );
        assert!(!bandwidth.derived);
        let bf16 = a100.achievable_peak(Pipe::Bf16Matrix).unwrap();
        assert_eq!(bf16.value, FlopsPerSecond::new(271.2e12));
        let fp16 = a100.achievable_peak(Pipe::Fp16Matrix).unwrap();
        assert_eq!(fp16.value, bf16.value);
        assert!(fp16.source.starts_with("bf16 tensor of the same peak, measured"));
        let fp64 = a100.achievable_peak(Pipe::Fp64Vector).unwrap();
        assert_eq!(fp64.value, FlopsPerSecond::new(9.7e12) * achievable::VECTOR);
        assert!(fp64.derived);
    }

    #[test]
    fn a_real_program_raises_the_usual_share_but_never_lowers_it() {
        let share = |name| {
            let device = device(name);
            device.achievable_bandwidth().unwrap().value / device.need_bandwidth().unwrap()
        };
        assert!(share("RTX 4000 Ada Generation") > 0.90);
        assert_eq!(share("L4"), achievable::GDDR);
    }
}
