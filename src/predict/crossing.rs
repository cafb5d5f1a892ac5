//! Finds where a sweep crosses the ridge point: the size from which the other roof limits.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::PredictError;
use super::judge::predict;
use super::number;
use super::options::Options;
use super::prediction::{PredictedLimiter, Prediction};
use super::sweep::Sweep;
use crate::catalog::Device;
use crate::model::Pipe;
use crate::units::{FlopsPerByte, Seconds};

/// Probes between the ends of the range, beside the swept values themselves.
const PROBES: u32 = 64;

/// The crossing of the ridge point of one device along one swept key, and of the size from which a link limits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Crossing {
    /// The device's unique name.
    pub device: String,
    /// Pipe of the ridge point.
    pub pipe: Option<Pipe>,
    /// The swept key.
    pub along: &'static str,
    /// The value of the other swept key, such as `dtype=fp16`.
    pub at: Option<String>,
    /// Smallest value of the range.
    pub from: u64,
    /// Largest value of the range.
    pub to: u64,
    /// Limiter at the smallest value.
    pub first: PredictedLimiter,
    /// Limiter at the largest value.
    pub last: PredictedLimiter,
    /// Intensity at the smallest value.
    #[serde(rename = "first_intensity_flop_per_byte")]
    pub first_intensity: Option<FlopsPerByte>,
    /// Intensity at the largest value.
    #[serde(rename = "last_intensity_flop_per_byte")]
    pub last_intensity: Option<FlopsPerByte>,
    /// The ridge point at the largest value.
    #[serde(rename = "ridge_point_flop_per_byte")]
    pub ridge_point: Option<FlopsPerByte>,
    /// True if the intensity is monotone over all probed values, so that the turns are complete;
    /// otherwise turns between two probes may be missing.
    pub monotone: bool,
    /// Changes of the limiter, in order; empty if it does not cross.
    pub turns: Vec<Turn>,
}

/// A change of the limiter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Turn {
    /// The last value of the old side.
    pub before: u64,
    /// The first value of the new side; `before + 1`, unless values between do not fit the form.
    pub after: u64,
    /// Limiter from `after` on.
    pub becomes: PredictedLimiter,
    /// Intensity at `after`.
    #[serde(rename = "intensity_flop_per_byte")]
    pub intensity: Option<FlopsPerByte>,
    /// Ridge point at `after`.
    #[serde(rename = "ridge_point_flop_per_byte")]
    pub ridge_point: Option<FlopsPerByte>,
    /// Roofline time at `after`.
    #[serde(rename = "roofline_s")]
    pub roofline_time: Seconds,
}

/// The side of one value.
#[derive(Clone, Copy)]
struct Probe {
    value: u64,
    limiter: PredictedLimiter,
    intensity: Option<FlopsPerByte>,
    ridge_point: Option<FlopsPerByte>,
    roofline_time: Seconds,
}

impl Sweep {
    /// Where the first swept key of whole numbers crosses the ridge point of a device, or a link begins to limit, exactly, by
    /// bisection; once for each value of the other swept key. Empty if no such key is swept.
    ///
    /// # Errors
    /// As [`predict`] at the ends of the range.
    pub fn crossings(
        &self,
        device: &Device,
        options: &Options,
    ) -> Result<Vec<Crossing>, PredictError> {
        let Some(axis) = self.axes().iter().position(|axis| axis.sizes().is_some()) else {
            return Ok(Vec::new());
        };
        let others = self.axes().iter().enumerate().find(|(other, _)| *other != axis);
        let Some((_, other)) = others else {
            return Ok(vec![self.crossing(axis, None, device, options)?]);
        };
        let lines = other.values.iter().map(|value| {
            let mut crossing = self.crossing(axis, Some(value), device, options)?;
            crossing.at = Some(format!("{}={value}", other.key));
            Ok(crossing)
        });
        lines.collect()
    }

    fn crossing(
        &self,
        axis: usize,
        other: Option<&str>,
        device: &Device,
        options: &Options,
    ) -> Result<Crossing, PredictError> {
        let predicted = |value: u64| -> Result<Prediction, PredictError> {
            let value = value.to_string();
            let at: Vec<&str> = match (other, axis) {
                (None, _) => vec![&value],
                (Some(other), 0) => vec![&value, other],
                (Some(other), _) => vec![other, &value],
            };
            predict(&self.arguments(&at)?, device, options)
        };
        let probe = |value: u64| {
            let prediction = predicted(value).ok()?;
            let limiter = side(&prediction);
            let Prediction { intensity, ridge_point, roofline_time, .. } = prediction;
            Some(Probe { value, limiter, intensity, ridge_point, roofline_time })
        };
        let key = self.axes()[axis].key;
        let mut values = Vec::new();
        for text in &self.axes()[axis].values {
            let value = number::whole(text, &|_| None);
            values.push(value.map_err(|message| PredictError::value(key, text, message))?);
        }
        values.sort_unstable();
        let (from, to) = (values[0], values[values.len() - 1]);
        let (first, last) = (predicted(from)?, predicted(to)?);
        values
            .extend((1..PROBES).map(|step| between(from, to, f64::from(step) / f64::from(PROBES))));
        values.sort_unstable();
        values.dedup();
        let probes: Vec<Probe> = values.into_iter().filter_map(probe).collect();
        let turns = probes
            .windows(2)
            .filter(|pair| pair[0].limiter != pair[1].limiter)
            .map(|pair| bisect(pair[0], pair[1], &probe))
            .collect();
        Ok(Crossing {
            device: device.name.clone(),
            pipe: last.pipes.first().map(|pipe| pipe.pipe),
            along: key,
            at: None,
            from,
            to,
            first: side(&first),
            last: side(&last),
            first_intensity: first.intensity,
            last_intensity: last.intensity,
            ridge_point: last.ridge_point,
            monotone: is_monotone(&probes),
            turns,
        })
    }
}

/// Returns what limits by the roofs and the link alone: a grid that is given is the same for all sizes.
fn side(prediction: &Prediction) -> PredictedLimiter {
    match prediction.limiter {
        PredictedLimiter::Link => PredictedLimiter::Link,
        _ if prediction.t_math > prediction.t_mem => PredictedLimiter::Math,
        _ => PredictedLimiter::Memory,
    }
}

/// Returns a value between two others, at this share of their ratio.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two u64")]
fn between(from: u64, to: u64, share: f64) -> u64 {
    let (low, high) = (from.max(1) as f64, to as f64);
    ((low * (high / low).powf(share)).round() as u64).clamp(from, to)
}

fn bisect(before: Probe, after: Probe, probe: &impl Fn(u64) -> Option<Probe>) -> Turn {
    let (mut before, mut after) = (before, after);
    while after.value - before.value > 1 {
        let middle = before.value + (after.value - before.value) / 2;
        let Some(found) = probe(middle) else { break };
        if found.limiter == before.limiter { before = found } else { after = found }
    }
    Turn {
        before: before.value,
        after: after.value,
        becomes: after.limiter,
        intensity: after.intensity,
        ridge_point: after.ridge_point,
        roofline_time: after.roofline_time,
    }
}

fn is_monotone(probes: &[Probe]) -> bool {
    let known = |pair: &[Probe]| Some((pair[0].intensity?, pair[1].intensity?));
    let pairs: Vec<_> = probes.windows(2).filter_map(known).collect();
    pairs.iter().all(|(one, next)| one <= next) || pairs.iter().all(|(one, next)| one >= next)
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, form};
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    fn crossings(call: &str, device: &str) -> Vec<Crossing> {
        let (name, pairs) = call.split_once(' ').unwrap();
        let device = Catalog::builtin().find(device, &DeviceHint::default()).unwrap();
        let sweep = Sweep::parse(form(name).unwrap(), pairs.split(' ')).unwrap();
        sweep.crossings(&device, &Options::default()).unwrap()
    }

    #[test]
    fn a_layer_turns_from_memory_to_math_at_an_exact_batch() {
        let [found] = &*crossings("linear batch=1..4096 in=1024 out=4096", "V100 SXM2 32GB") else {
            panic!("one line")
        };
        let [turn] = &*found.turns else { panic!("one turn: {found:?}") };
        assert_eq!((found.first, found.last), (PredictedLimiter::Memory, PredictedLimiter::Math));
        assert!(found.monotone);
        assert_eq!(turn.after, turn.before + 1);
        // 2·1024·4096·B / (2·(1024 B + 1024·4096 + 4096 B)) = 125/0.9, solved for B.
        let (ridge, weights, width): (f64, f64, f64) = (125.0 / 0.9, 1024.0 * 4096.0, 5120.0);
        let batch = ridge * weights / (weights - ridge * width);
        assert_eq!(turn.before as f64, batch.floor());
    }

    #[test]
    fn what_does_not_cross_says_on_which_side_it_stays() {
        let axpy = &crossings("axpy n=1k..1G", "V100 SXM2 32GB")[0];
        assert!(axpy.turns.is_empty());
        assert_eq!((axpy.first, axpy.last), (PredictedLimiter::Memory, PredictedLimiter::Memory));
        assert!(axpy.first_intensity < axpy.ridge_point);
        assert!(crossings("axpy n=1k dtype=fp32,fp64", "V100 SXM2 32GB").is_empty());
    }

    #[test]
    fn a_second_key_gives_one_line_for_each_of_its_values() {
        let lines = crossings("gemm m=4096 n=4096 k=8..4096 dtype=fp16,fp32", "A100 SXM4 80GB");
        let at: Vec<_> = lines.iter().map(|line| line.at.as_deref().unwrap()).collect();
        assert_eq!(at, ["dtype=fp16", "dtype=fp32"]);
        assert!(lines[0].turns[0].after > lines[1].turns[0].after);
    }

    #[test]
    fn values_that_do_not_fit_leave_an_interval() {
        // Only heads divisible by 8 fit; a step of one cannot be taken.
        let line = &crossings("attention-decode h=8..2048:x2 g=8 nk=4096", "A100 SXM4 80GB")[0];
        let [turn] = &*line.turns else { panic!("one turn: {line:?}") };
        assert_eq!(turn.becomes, PredictedLimiter::Math);
        assert!(turn.after > turn.before + 1);
        let pairs = ["h=1024", "g=8", "nk=4096"];
        let arguments = Arguments::parse(form("attention-decode").unwrap(), pairs).unwrap();
        assert_eq!(arguments.count().unwrap().intensity().unwrap().get(), 128.0);
    }
}
