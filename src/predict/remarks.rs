//! Remarks on a prediction: too little work, caches, balanced roofs.

use super::count::Link;
use super::prediction::{PredictedLimiter, Prediction};
use crate::catalog::Device;
use crate::roofline::{self, BLOCKS_PER_SM, BUSY, LAUNCH_COST_TIMELINE, THREADS_PER_BLOCK};
use crate::units::{Bytes, Seconds};

/// Returns the remarks on a prediction, most important first.
pub(super) fn of(prediction: &Prediction, device: &Device) -> Vec<String> {
    let all = [
        device.unknown_share().map(str::to_owned),
        launch_cost(prediction),
        parallelism(prediction, device),
        second_pipe(prediction),
        balanced(prediction),
        link(prediction),
        ring(prediction),
        boost(prediction),
        cache(prediction, device),
    ];
    all.into_iter().flatten().collect()
}

fn launch_cost(prediction: &Prediction) -> Option<String> {
    let floor = LAUNCH_COST_TIMELINE;
    (prediction.roofline_time < floor).then(|| {
        format!(
            "launch-bound: a launch costs at least {}, the roofline time is {}",
            time(floor),
            time(prediction.roofline_time)
        )
    })
}

/// Checks parallelism, which comes before intensity (NVIDIA, *GPU Performance Background*): blocks
/// of a few hundred threads, at least four per SM; a tiled product is judged by the SMs it keeps
/// busy.
fn parallelism(prediction: &Prediction, device: &Device) -> Option<String> {
    let (sms, units) = (device.sms?, device.units_label());
    if let Some(tiling) = &prediction.tiling {
        let busy = tiling.sm_efficiency.filter(|share| *share < BUSY)?;
        let (blocks, m, n) = (tiling.blocks, tiling.tile_m, tiling.tile_n);
        return Some(format!(
            "may be latency-bound: a grid of {blocks} (tiles of {m}×{n}) keeps {:.0}% of {sms} {units} busy; \
             try smaller tiles or split_k",
            busy * 100.0
        ));
    }
    let needed = (BLOCKS_PER_SM * u64::from(sms) * THREADS_PER_BLOCK) as f64;
    let items = prediction.count.work_items.filter(|items| *items < needed)?;
    Some(format!(
        "may be latency-bound: the simple kernel has {items:.0} threads, {sms} {units} need {needed:.0} \
         ({BLOCKS_PER_SM} blocks of {THREADS_PER_BLOCK} each)"
    ))
}

fn second_pipe(prediction: &Prediction) -> Option<String> {
    let [main, others @ ..] = prediction.pipes.as_slice() else { return None };
    let other = others.iter().find(|other| other.time > main.time)?;
    let what = prediction.count.work.iter().rev().find(|work| !work.is_product)?.what;
    Some(format!(
        "{what} takes {} on the {} roof, longer than the products with {}",
        time(other.time),
        other.pipe.label(),
        time(main.time)
    ))
}

fn balanced(prediction: &Prediction) -> Option<String> {
    roofline::is_balanced(prediction.t_mem, prediction.t_math)
        .then(|| "balanced: memory and math times are within 10%".to_owned())
}

fn link(prediction: &Prediction) -> Option<String> {
    let link = prediction.link.as_ref().filter(|_| prediction.limiter == PredictedLimiter::Link)?;
    let bandwidth = size(Bytes::new(link.bandwidth.get()));
    Some(format!(
        "limited by the link: {bandwidth}/s in one direction, of which 80–90% is achievable"
    ))
}

fn ring(prediction: &Prediction) -> Option<String> {
    let link = prediction.link.as_ref()?;
    (link.over == Link::Peers && link.bytes > Bytes::ZERO).then(|| {
        "assumes that NVLink connects all ranks; a bridge connects two cards, and others talk over PCIe"
            .to_owned()
    })
}

fn boost(prediction: &Prediction) -> Option<String> {
    let real = prediction.achievable.as_ref()?;
    (real.roofline_time < prediction.roofline_time).then(|| {
        "the achievable rate was measured above the rated one: the clock was above the rated clock"
            .to_owned()
    })
}

fn cache(prediction: &Prediction, device: &Device) -> Option<String> {
    let elements: f64 =
        prediction.count.traffic.iter().map(|one| one.elements * one.data_type.bytes()).sum();
    let (operands, l2) = (Bytes::new(elements), Bytes::new(device.l2_bytes? as f64));
    (operands > Bytes::ZERO && operands <= l2).then(|| {
        format!(
            "all operands ({}) fit in L2 ({}): with a warm cache the kernel can be faster than \
             the memory roof",
            size(operands),
            size(l2)
        )
    })
}

fn time(value: Seconds) -> String {
    let seconds = value.get();
    let (scaled, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{} {unit}", short(scaled))
}

fn size(value: Bytes) -> String {
    let (scaled, unit) = match value.get() {
        b if b < 1e3 => (b, "B"),
        b if b < 1e6 => (b / 1e3, "kB"),
        b if b < 1e9 => (b / 1e6, "MB"),
        b => (b / 1e9, "GB"),
    };
    format!("{} {unit}", short(scaled))
}

/// Formats three significant digits, without trailing zeros.
fn short(value: f64) -> String {
    let digits = match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, Options, form, predict};
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    fn remarks(call: &str, device: &str) -> Vec<String> {
        let device = Catalog::builtin().find(device, &DeviceHint::default()).unwrap();
        let (name, pairs) = call.split_once(' ').unwrap();
        let given = Arguments::parse(form(name).unwrap(), pairs.split(' ')).unwrap();
        predict(&given, &device, &Options::default()).unwrap().remarks
    }

    #[test]
    fn small_work_is_told_from_large() {
        let [launch, latency, cache] = &*remarks("axpy n=1k", "A100 SXM4 80GB") else { panic!() };
        assert_eq!(
            launch,
            "launch-bound: a launch costs at least 1.5 µs, the roofline time is 5.89 ns"
        );
        let few = "may be latency-bound: the simple kernel has 1000 threads, 108 SMs need 55296";
        assert!(latency.starts_with(few), "{latency}");
        assert!(cache.contains("(8 kB) fit in L2 (41.9 MB)"), "{cache}");
        assert!(remarks("axpy n=1G", "A100 SXM4 80GB").is_empty());
    }

    #[test]
    fn idle_sms_second_pipes_links_and_balance_are_told() {
        let has = |call: &str, device: &str, words: &str| {
            let found = remarks(call, device);
            assert!(found.iter().any(|one| one.contains(words)), "{call}: {found:?}");
        };
        has(
            "gemm m=512 n=512 k=8192",
            "H100 SXM5 80GB",
            "may be latency-bound: a grid of 16 (tiles of 128×128) keeps 12%",
        );
        has(
            "attention h=32 nq=2k d=64 softmax=yes dtype=fp8",
            "B200 (HGX/DGX) 180GB",
            "softmax takes",
        );
        has("memcpy-host bytes=1Gi", "A100 SXM4 80GB", "31.5 GB/s in one direction");
        has("gemm m=4096 n=165 k=4096", "A100 SXM4 80GB", "balanced");
        has("relu n=1G dtype=bf16", "V100 SXM2 32GB", "bf16 is converted");
    }
}
