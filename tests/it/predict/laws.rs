//! Laws that hold for all sizes, on random ones.

use proptest::prelude::*;
use rooflint::predict::{FORMS, Kind, Options, PredictedLimiter, Sweep, predict};
use rooflint::units::{Bytes, Seconds};

use super::{arguments, count, device, predicted};

const DEVICES: &[&str] =
    &["Tesla P100 SXM2", "V100 SXM2 32GB", "A100 SXM4 80GB", "H100 SXM5 80GB", "Instinct MI300X"];

fn close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-12
}

fn operations(call: &str) -> f64 {
    count(call).operations().get()
}

fn bytes(call: &str) -> f64 {
    count(call).bytes().get()
}

fn intensity(call: &str) -> f64 {
    count(call).intensity().unwrap().get()
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![1..=64_u64, 1..=100_000_u64]
}

proptest! {
    #[test]
    fn a_product_is_symmetric_in_rows_and_columns(m in size(), n in size(), k in size()) {
        let (one, other) = (format!("gemm m={m} n={n} k={k}"), format!("gemm m={n} n={m} k={k}"));
        prop_assert_eq!(operations(&one), operations(&other));
        prop_assert_eq!(bytes(&one), bytes(&other));
    }

    #[test]
    fn twice_the_size_is_eight_times_the_work_and_four_times_the_traffic(
        m in size(), n in size(), k in size(),
    ) {
        let (one, two) =
            (format!("gemm m={m} n={n} k={k}"), format!("gemm m={} n={} k={}", 2 * m, 2 * n, 2 * k));
        prop_assert_eq!(operations(&two), 8.0 * operations(&one));
        prop_assert_eq!(bytes(&two), 4.0 * bytes(&one));
    }

    #[test]
    fn a_batch_multiplies_all_but_what_it_shares(
        m in size(), n in size(), k in size(), batch in 1..500_u64,
    ) {
        let one = format!("gemm m={m} n={n} k={k}");
        let (all, shared) = (format!("{one} batch={batch}"), format!("{one} batch={batch} shared_b=yes"));
        prop_assert!(close(operations(&all), batch as f64 * operations(&one)));
        prop_assert!(close(bytes(&all), batch as f64 * bytes(&one)));
        let saved = 2.0 * (batch - 1) as f64 * (k * n) as f64;
        prop_assert!(close(bytes(&shared), bytes(&all) - saved));
    }

    #[test]
    fn forms_of_one_kernel_agree(b in size(), i in size(), o in size()) {
        let linear = format!("linear batch={b} in={i} out={o}");
        for other in [
            format!("gemm m={b} n={o} k={i}"),
            format!("linear-dgrad batch={b} in={i} out={o}"),
            format!("linear-wgrad batch={b} in={i} out={o}"),
            format!("conv2d n={b} c={i} h=1 k={o} r=1"),
            format!("moe rows={b} experts=1 n={o} k={i}"),
        ] {
            prop_assert_eq!(operations(&linear), operations(&other));
            prop_assert!(close(bytes(&linear), bytes(&other)), "{}", other);
        }
    }

    #[test]
    fn gradients_of_a_convolution_cost_what_it_costs(
        n in 1..64_u64, c in 1..64_u64, h in 8..256_u64, k in 1..64_u64, r in 1..8_u64,
        stride in 1..4_u64, pad in 0..3_u64, groups in 1..4_u64,
    ) {
        let (c, k) = (c * groups, k * groups);
        let shape = format!("n={n} c={c} h={h} k={k} r={r} stride={stride} pad={pad} groups={groups}");
        let forward = format!("conv2d {shape}");
        for gradient in ["conv2d-dgrad", "conv2d-wgrad"] {
            let gradient = format!("{gradient} {shape}");
            prop_assert_eq!(operations(&forward), operations(&gradient));
            // Wide steps leave rows and columns of the input out, whose gradient is written.
            let is_as_much = stride == 1 || gradient.starts_with("conv2d-wgrad");
            prop_assert!(bytes(&forward) <= bytes(&gradient) * (1.0 + 1e-12));
            prop_assert!(!is_as_much || close(bytes(&forward), bytes(&gradient)));
        }
    }

    #[test]
    fn attention_in_three_kernels_is_the_sum_of_their_forms(
        b in 1..16_u64, h in 1..64_u64, nq in 1..4096_u64, nk in 1..4096_u64, d in 1..256_u64,
    ) {
        let whole = format!("attention-unfused b={b} h={h} nq={nq} nk={nk} d={d} softmax=yes");
        let batch = b * h;
        let parts = [
            format!("gemm m={nq} n={nk} k={d} batch={batch}"),
            format!("softmax rows={} columns={nk}", batch * nq),
            format!("gemm m={nq} n={d} k={nk} batch={batch}"),
        ];
        prop_assert!(close(operations(&whole), parts.iter().map(|part| operations(part)).sum()));
        prop_assert!(close(bytes(&whole), parts.iter().map(|part| bytes(part)).sum()));
        let fused = format!("attention b={b} h={h} nq={nq} nk={nk} d={d} softmax=yes");
        prop_assert_eq!(operations(&fused), operations(&whole));
        prop_assert!(bytes(&fused) <= bytes(&whole) + 4.0 * (batch * nq) as f64);
    }

    #[test]
    fn narrower_formats_halve_the_bytes_and_keep_the_work(n in size(), m in size(), k in size()) {
        for call in [
            format!("axpy n={n}"),
            format!("gemv m={m} n={n} beta=1"),
            format!("gemm m={m} n={n} k={k} beta=1"),
            format!("linear batch={m} in={n} out={k} bias=yes"),
            format!("layernorm rows={m} columns={n}"),
            format!("attention-decode h=8 nk={n}"),
            format!("sgd n={n}"),
            format!("rfft n={n} passes=2"),
        ] {
            let [wide, middle, narrow] = ["fp64", "fp32", "fp16"].map(|name| format!("{call} dtype={name}"));
            prop_assert_eq!(bytes(&wide), 2.0 * bytes(&middle));
            prop_assert_eq!(bytes(&middle), 2.0 * bytes(&narrow));
            prop_assert_eq!(operations(&wide), operations(&narrow));
            let tf32 = format!("{call} dtype=tf32");
            prop_assert_eq!(bytes(&tf32), bytes(&middle));
        }
    }

    #[test]
    fn a_layer_at_batch_one_does_about_one_operation_per_byte(i in 64..100_000_u64, o in 64..100_000_u64) {
        let one = intensity(&format!("linear batch=1 in={i} out={o} dtype=fp16"));
        let exact = 1.0 / (1.0 + 1.0 / i as f64 + 1.0 / o as f64);
        prop_assert!(close(one, exact));
        prop_assert!(one < 1.0 && one > 0.96);
    }

    #[test]
    fn scales_of_narrow_formats_cost_their_share(n in 1..1_000_000_u64) {
        let read = |name: &str| bytes(&format!("cast n={n} dtype={name} to=fp16")) - 2.0 * n as f64;
        prop_assert_eq!(read("fp4"), n as f64 / 2.0);
        prop_assert_eq!(read("mxfp4") - read("fp4"), n as f64 / 32.0);
        prop_assert_eq!(read("nvfp4") - read("fp4"), n as f64 / 16.0);
        prop_assert_eq!(read("mxfp8") - read("fp8"), n as f64 / 32.0);
    }

    #[test]
    fn a_prediction_keeps_the_law(
        m in size(), n in size(), k in size(), device_at in 0..DEVICES.len(), split in 1..9_u64,
    ) {
        let device = device(DEVICES[device_at]);
        for call in [
            format!("gemm m={m} n={n} k={k} split_k={}", split.min(k)),
            format!("axpy n={n}"),
            format!("attention h=8 nq={m} nk={} softmax=yes causal=yes", m + n),
            format!("copy n={n}"),
        ] {
            let one = predicted(&call, &device);
            prop_assert_eq!(one.roofline_time, one.t_mem.max(one.t_math));
            prop_assert_eq!(one.bytes, one.read_bytes + one.written_bytes);
            prop_assert_eq!(one.intensity.unwrap(), one.operations / one.bytes);
            prop_assert_eq!(one.t_mem, one.bytes / one.bandwidth);
            let math = one.limiter == PredictedLimiter::Math;
            prop_assert_eq!(math, one.t_math > one.t_mem);
            if let (Some(peak), Some(ridge)) = (one.peak, one.ridge_point) {
                let attainable = one.attainable.unwrap();
                prop_assert!(attainable <= peak * (1.0 + 1e-12));
                prop_assert!(attainable <= one.intensity.unwrap() * one.bandwidth * (1.0 + 1e-12));
                let ratio = one.intensity.unwrap() / ridge;
                prop_assert!((ratio - 1.0).abs() < 1e-12 || math == (ratio > 1.0));
            }
            if let Some(tiling) = one.tiling {
                prop_assert!(tiling.executed >= one.operations);
                prop_assert!((0.0..1.0).contains(&tiling.waste));
                prop_assert!(tiling.least_time >= one.roofline_time);
                prop_assert!(tiling.most_time >= tiling.least_time);
                prop_assert!(tiling.sm_efficiency.is_none_or(|share| share > 0.0 && share <= 1.0));
                prop_assert!(tiling.l2_bytes >= one.count.traffic[0].read_bytes());
            }
        }
    }

    #[test]
    fn whole_numbers_of_any_spelling_are_the_same(n in 1..1_000_000_u64) {
        let plain = bytes(&format!("copy n={n}"));
        prop_assert_eq!(plain * 1000.0, bytes(&format!("copy n={n}k")));
        prop_assert_eq!(plain * 1024.0, bytes(&format!("copy n={n}Ki")));
        prop_assert_eq!(plain * 3.0, bytes(&format!("copy n=3*{n}")));
    }

    #[test]
    fn no_text_makes_a_panic(text in "\\PC{0,24}", key in "[a-z_]{0,6}") {
        for form in FORMS {
            let _ = arguments(&format!("{} {key}={text}", form.name));
            let _ = Sweep::parse(form, [format!("{key}={text}")]);
        }
    }
}

/// Sizes whose growth does not add work or traffic.
const SHAPES: &[&str] = &["r", "s", "stride", "pad", "dilation"];

#[test]
fn larger_sizes_never_need_less() {
    for form in FORMS {
        let pairs: Vec<_> =
            form.example.split(' ').map(|pair| pair.split_once('=').unwrap()).collect();
        let before = count(&format!("{} {}", form.name, form.example));
        for parameter in form.parameters().filter(|one| one.kind == Kind::Size) {
            let Some((key, text)) = pairs.iter().find(|(key, _)| *key == parameter.name) else {
                continue;
            };
            if SHAPES.contains(key) {
                continue;
            }
            let others = pairs.iter().filter(|(other, _)| other != key);
            let others: String = others.map(|(key, text)| format!(" {key}={text}")).collect();
            let after = count(&format!("{} {key}=2*{text}{others}", form.name));
            assert!(after.operations() >= before.operations(), "{} {key}", form.name);
            assert!(after.bytes() >= before.bytes(), "{} {key}", form.name);
        }
    }
}

#[test]
fn one_bound_holds_for_every_form_and_device() {
    for name in DEVICES {
        let device = device(name);
        for form in FORMS {
            let call = format!("{} {}", form.name, form.example);
            let one = match predict(&arguments(&call).unwrap(), &device, &Options::default()) {
                Ok(one) => one,
                Err(error) => {
                    let missing = "the catalog does not have nvlink_gbs for Instinct MI300X";
                    assert_eq!(error.to_string(), missing, "{call} on {name}");
                    continue;
                }
            };
            let link = one.link.as_ref().map_or(Seconds::ZERO, |link| link.time);
            assert_eq!(one.roofline_time, one.t_mem.max(one.t_math).max(link), "{call} on {name}");
            assert!(one.roofline_time > Seconds::ZERO && one.bytes > Bytes::ZERO);
        }
    }
}
