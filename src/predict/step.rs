//! Predicts a whole step on a device: every kernel of a model file, and their sums.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::PredictError;
use super::judge::predict;
use super::model_file::ModelFile;
use super::options::Options;
use super::prediction::{PredictedLimiter, Prediction};
use crate::catalog::Device;
use crate::roofline::LAUNCH_COST_TIMELINE;
use crate::units::{Bytes, Flops, FlopsPerByte, Seconds};

/// A step on a device.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelPrediction {
    /// The name of the step.
    pub name: Option<String>,
    /// The device's unique name.
    pub device: String,
    /// Its kernels in the order of the file.
    pub rows: Vec<OpRow>,
    /// Sums over its kernels.
    pub totals: Totals,
}

/// One kernel of a step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OpRow {
    /// Name of the kernel in the step.
    pub name: String,
    /// Number of launches.
    pub launches: u64,
    /// Roofline time of all its launches.
    #[serde(rename = "total_s")]
    pub total: Seconds,
    /// Share of the step's roofline time.
    pub share: f64,
    /// Prediction of one launch.
    #[serde(flatten)]
    pub prediction: Prediction,
}

/// Sums over all launches of a step, one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Totals {
    /// Number of launches.
    pub launches: u64,
    /// Operations of all launches.
    #[serde(rename = "flop")]
    pub operations: Flops,
    /// Compulsory traffic of all launches, in bytes.
    pub bytes: Bytes,
    /// All operations over all bytes; `None` if no byte moves.
    #[serde(rename = "intensity_flop_per_byte")]
    pub intensity: Option<FlopsPerByte>,
    /// Sum of the roofline times.
    #[serde(rename = "roofline_s")]
    pub roofline_time: Seconds,
    /// Sum of the times with the rates that well-written kernels reach; `None` if one is unknown.
    #[serde(rename = "achievable_expected_s")]
    pub achievable: Option<Seconds>,
    /// Sum of the roofline times, each at least the cost of a launch.
    #[serde(rename = "roofline_with_launch_cost_s")]
    pub with_launch_cost: Seconds,
    /// Part of the roofline time that the memory roof limits.
    #[serde(rename = "memory_limited_s")]
    pub memory_limited: Seconds,
    /// Part of the roofline time that the compute roof limits.
    #[serde(rename = "math_limited_s")]
    pub math_limited: Seconds,
    /// Part of the roofline time that links to the host or to peers limit.
    #[serde(rename = "link_limited_s")]
    pub link_limited: Seconds,
}

impl ModelFile {
    /// Predicts every kernel of the step on a device, and their sums.
    ///
    /// # Errors
    /// As [`predict`], with the failing kernel.
    pub fn predict(
        &self,
        device: &Device,
        options: &Options,
    ) -> Result<ModelPrediction, PredictError> {
        let mut totals = Totals { achievable: Some(Seconds::ZERO), ..Totals::default() };
        let mut rows = Vec::with_capacity(self.ops().len());
        for op in self.ops() {
            let options = Options { pipe: op.pipe.or(options.pipe), ..*options };
            let prediction = predict(&op.arguments, device, &options).map_err(|cause| {
                PredictError::Point { point: op.name.clone(), cause: Box::new(cause) }
            })?;
            let total = totals.add(&prediction, op.count);
            rows.push(OpRow {
                name: op.name.clone(),
                launches: op.count,
                total,
                share: 0.0,
                prediction,
            });
        }
        for row in rows.iter_mut().filter(|_| totals.roofline_time > Seconds::ZERO) {
            row.share = row.total / totals.roofline_time;
        }
        totals.intensity = (totals.bytes > Bytes::ZERO).then(|| totals.operations / totals.bytes);
        let name = self.name().map(str::to_owned);
        Ok(ModelPrediction { name, device: device.name.clone(), rows, totals })
    }
}

impl Totals {
    /// Adds the launches of one kernel; returns their roofline time.
    fn add(&mut self, prediction: &Prediction, launches: u64) -> Seconds {
        let times = launches as f64;
        let total = prediction.roofline_time * times;
        self.launches += launches;
        self.operations += prediction.operations * times;
        self.bytes += prediction.bytes * times;
        self.roofline_time += total;
        self.with_launch_cost += prediction.roofline_time.max(LAUNCH_COST_TIMELINE) * times;
        let real = prediction.achievable.as_ref().map(|real| real.roofline_time * times);
        self.achievable = self.achievable.zip(real).map(|(sum, real)| sum + real);
        match prediction.limiter {
            PredictedLimiter::Memory => self.memory_limited += total,
            PredictedLimiter::Math => self.math_limited += total,
            PredictedLimiter::Link => self.link_limited += total,
            // A model file has no grids.
            PredictedLimiter::Latency => {}
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    const MLP: &str = r#"
name = "mlp"
dtype = "bf16"

[sizes]
tokens = "2*sequence"
sequence = 1024
hidden = 4096

[[op]]
name = "up"
form = "linear"
args = { batch = "tokens", in = "hidden", out = "4*hidden" }
count = 2

[[op]]
form = "relu"
args = { n = "tokens*4*hidden", dtype = "fp16" }
"#;

    fn device() -> Device {
        Catalog::builtin().find("A100 SXM4 80GB", &DeviceHint::default()).unwrap()
    }

    fn error(text: &str) -> String {
        ModelFile::parse("m.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn kernels_add_up_to_the_step() {
        let model = ModelFile::parse("m.toml", MLP).unwrap();
        let step = model.predict(&device(), &Options::default()).unwrap();
        let [up, relu] = &*step.rows else { panic!("two rows") };
        assert_eq!((up.launches, relu.launches, step.totals.launches), (2, 1, 3));
        assert_eq!(up.prediction.operations, Flops::new(2.0 * 2048.0 * 4096.0 * 16_384.0));
        assert_eq!(step.totals.roofline_time, up.total + relu.total);
        assert!((up.share + relu.share - 1.0).abs() < 1e-12);
        let bytes = up.prediction.bytes * 2.0 + relu.prediction.bytes;
        let work = up.prediction.operations * 2.0 + relu.prediction.operations;
        assert_eq!(step.totals.intensity, Some(work / bytes));
        assert_eq!(step.totals.memory_limited, relu.total);
        assert_eq!(step.totals.math_limited, up.total);
    }

    #[test]
    fn sizes_can_be_changed_and_carry_on() {
        let model = ModelFile::parse("m.toml", MLP).unwrap().with_sizes(["sequence=1"]).unwrap();
        assert_eq!(model.sizes()["tokens"], 2);
        let model = model.with_sizes(["tokens=64Ki"]).unwrap();
        assert_eq!((model.sizes()["tokens"], model.sizes()["sequence"]), (65_536, 1));
        let unknown = model.with_sizes(["hiden=1"]).unwrap_err();
        assert_eq!(unknown.to_string(), "the model file does not define the size \"hiden\"");
        assert!(unknown.help().unwrap().contains("hidden, sequence, tokens"));
    }

    #[test]
    fn faults_are_named_by_line_and_column() {
        assert!(error("name = 1").starts_with("m.toml:1:8: "));
        assert!(error("[[op]]\nfrm = \"gemm\"").starts_with("m.toml:2:1: unknown key \"frm\""));
        assert_eq!(
            error("[[op]]\nform = \"gem\"\n"),
            "m.toml:2:8: unknown kernel \"gem\"; closest: \"gemm\", \"gemv\", \"grouped-gemm\""
        );
        assert_eq!(
            error("[[op]]\nform = \"axpy\"\nargs = { n = 4, m = 1 }\n"),
            "m.toml:3:17: axpy has no parameter \"m\""
        );
        assert_eq!(
            error("[[op]]\nform = \"axpy\"\nargs = { n = 0 }\n"),
            "m.toml:3:14: n=0: must be at least 1"
        );
        assert_eq!(error("[[op]]\nform = \"axpy\"\n"), "m.toml:2:8: axpy needs \"n\"");
        assert!(
            error("[sizes]\na = \"b\"\nb = \"a\"\n[[op]]\nform = \"axpy\"\nargs = { n = 1 }")
                .contains("m.toml:2:1: sizes that refer to each other in a circle: a, b")
        );
        assert!(
            error("[[op]]\nform = \"conv2d\"\nargs = { n = 1, c = 3, h = 4, k = 8, r = 7 }\n")
                .starts_with("m.toml:2:8: conv2d: a window of 7×7 does not fit into 4×4")
        );
        assert!(error("[[op]]\nform = \"axpy\"\nargs = { n = 1 }\npipe = \"x\"").contains(":4:8:"));
        assert!(error("[[op]]\nform = \"axpy\"\nargs = { n = 1 }\ncount = 1.5").contains(":4:9:"));
    }
}
