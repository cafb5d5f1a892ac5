//! The law of the bench in a browser, held against the program's own: counts of kernels, times, waves, and
//! what bounds a kernel, for many sizes and machines.

use rooflint::catalog::Catalog;
use rooflint::model::DeviceHint;
use rooflint::predict::{Arguments, Options, form, predict};
use rooflint::roofline::{self, Limiter};
use rooflint::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Hertz, Seconds};
use serde_json::{Value, json};

use super::chrome::Browser;

const LAW: &str = include_str!("../../../src/report/html/bench-law.js");

/// Knuth's MMIX generator: the same numbers on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly on a scale of decades.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.next())
    }

    fn whole(&mut self, low: f64, high: f64) -> f64 {
        self.between(low, high + 1.0).floor()
    }
}

/// What the page's functions say about each of the cases.
fn asked(browser: &mut Browser, cases: &[Value], act: &str) -> Vec<Value> {
    let cases = serde_json::to_string(cases).unwrap();
    let answer = browser.evaluate(&format!("(() => {{ {LAW}\nreturn {cases}.map({act}); }})()"));
    answer.as_array().unwrap().clone()
}

fn close(one: f64, other: f64) -> bool {
    one == other || (one / other - 1.0).abs() < 1e-12
}

#[test]
fn closed_forms_count_as_the_program_does() {
    const FORMS: [(&str, &[(&str, f64)]); 14] = [
        ("transpose", &[("n", 1e9)]),
        ("embedding", &[("n", 1e6), ("d", 1e4), ("unique", 1e6)]),
        ("add", &[("n", 1e9)]),
        ("axpy", &[("n", 1e9)]),
        ("dot", &[("n", 1e9)]),
        ("reduction", &[("n", 1e9), ("m", 1e6)]),
        ("spmv-csr", &[("n", 1e7), ("columns", 1e7), ("beta", 1e3)]),
        ("gemv", &[("m", 1e5), ("n", 1e5)]),
        ("softmax", &[("rows", 1e5), ("columns", 1e5)]),
        ("layernorm", &[("rows", 1e5), ("columns", 1e5)]),
        (
            "conv2d",
            &[
                ("n", 256.0),
                ("c", 512.0),
                ("h", 256.0),
                ("k", 512.0),
                ("r", 11.0),
                ("stride", 4.0),
                ("pad", 4.0),
                ("groups", 4.0),
            ],
        ),
        (
            "attention",
            &[("b", 64.0), ("h", 64.0), ("g", 64.0), ("nq", 1e4), ("nk", 1e4), ("d", 256.0)],
        ),
        ("linear", &[("batch", 1e5), ("in", 1e5), ("out", 1e5)]),
        ("gemm", &[("m", 2e4), ("n", 2e4), ("k", 2e4), ("batch", 64.0)]),
    ];
    let Some(mut browser) = Browser::start() else { return };
    let device = Catalog::builtin().find("H100 SXM5 80GB", &DeviceHint::default()).unwrap();
    let mut random = Random(7);
    let (mut cases, mut calls) = (Vec::new(), Vec::new());
    for (name, sizes) in FORMS {
        for _ in 0..60 {
            let sizes: Vec<(&str, f64)> =
                sizes.iter().map(|(key, most)| (*key, random.whole(1.0, *most))).collect();
            for (data_type, bytes) in [("fp64", 8.0), ("fp32", 4.0), ("bf16", 2.0), ("int8", 1.0)] {
                let given: serde_json::Map<String, Value> =
                    sizes.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
                cases.push(json!([name, given, bytes]));
                let pairs = sizes.iter().map(|(key, value)| format!("{key}={value}"));
                let pairs: Vec<String> = pairs.chain([format!("dtype={data_type}")]).collect();
                calls.push((name, pairs));
            }
        }
    }
    let answers = asked(&mut browser, &cases, "([form, sizes, e]) => countOf(form, sizes, e)");
    let (mut fitting, mut refused) = (0, 0);
    for ((name, pairs), answer) in calls.iter().zip(&answers) {
        let arguments = Arguments::parse(form(name).unwrap(), pairs).unwrap();
        let misfit = answer["misfit"].is_string();
        let Ok(count) = arguments.count() else {
            assert!(misfit, "{name} {pairs:?}: {answer}");
            refused += 1;
            continue;
        };
        assert!(!misfit, "{name} {pairs:?}: {answer}");
        fitting += 1;
        let number = |key: &str| answer[key].as_f64().unwrap();
        assert!(
            close(number("operations"), count.operations().get()),
            "{name} {pairs:?}: {answer}"
        );
        assert!(close(number("bytes"), count.bytes().get()), "{name} {pairs:?}: {answer}");
        let is_product = count.work.first().is_some_and(|work| work.is_product);
        assert_eq!(answer["isProduct"], json!(is_product), "{name}");
        if let Some(items) = count.work_items {
            assert_eq!(number("blocks"), (items / 256.0).ceil(), "{name} {pairs:?}");
        }
        let prediction = predict(&arguments, &device, &Options::default()).unwrap();
        if let Some(tiling) = prediction.tiling {
            assert_eq!(number("blocks"), tiling.blocks as f64, "{name} {pairs:?}");
        }
    }
    assert!(fitting > 2000 && refused > 100, "{fitting} fitting, {refused} refused");
}

/// A machine and a kernel.
struct Setting {
    rates: [f64; 4],
    sms: u32,
    resident: u32,
    blocks: u64,
    work: [f64; 3],
    clock: Option<f64>,
}

impl Setting {
    fn any(random: &mut Random) -> Self {
        let sms = random.whole(1.0, 300.0) as u32;
        let resident = random.whole(1.0, 32.0) as u32;
        let wave = f64::from(sms * resident);
        // Whole waves, and one block more, are where counts go wrong.
        let blocks = match random.whole(1.0, 4.0) as u32 {
            1 => wave * random.whole(1.0, 20.0),
            2 => wave * random.whole(1.0, 20.0) + 1.0,
            3 => random.whole(1.0, wave),
            _ => random.whole(1.0, 1e6),
        };
        let rates = [
            random.between(1e10, 1e13),
            random.between(1e11, 1e16),
            random.between(1e11, 1e14),
            random.between(1e-7, 1e-5),
        ];
        let computes = random.next() > 0.1;
        let operations = if computes { random.whole(1e3, 1e15) } else { 0.0 };
        let work = [operations, random.whole(1e3, 1e12), random.between(1.0, 100.0)];
        let clock = (random.next() > 0.2).then(|| random.between(5e8, 3e9));
        Self { rates, sms, resident, blocks: blocks as u64, work, clock }
    }

    fn json(&self) -> Value {
        let ([bandwidth, peak, on_chip, fixed], [operations, bytes, reuse]) =
            (self.rates, self.work);
        json!({
            "bandwidth": bandwidth, "peak": peak, "onChip": on_chip, "fixed": fixed, "sms": self.sms,
            "resident": self.resident, "blocks": self.blocks, "operations": operations, "bytes": bytes,
            "reuse": reuse, "clock": self.clock,
        })
    }

    /// Holds what the page says against the program's functions.
    fn check(&self, answer: &Value) {
        let ([bandwidth, peak, on_chip, fixed], [operations, bytes, reuse]) =
            (self.rates, self.work);
        let (bandwidth, peak) = (BytesPerSecond::new(bandwidth), FlopsPerSecond::new(peak));
        let (operations, moved) = (Flops::new(operations), Bytes::new(bytes));
        let fixed = Seconds::new(fixed);
        let (blocks, sms, resident) = (self.blocks, self.sms, self.resident);
        let law = &answer[0];
        let same = |key: &str, value: f64| {
            let shown = law[key].as_f64().unwrap_or_else(|| panic!("{key} of {answer}"));
            assert!(close(shown, value), "{key}: {shown}, not {value}, for {}", self.json());
        };
        let memory = roofline::memory_time(moved, bandwidth);
        let math = roofline::math_time(operations, peak);
        let expected = roofline::roofline_time(memory, math);
        same("memory", memory.get());
        same("math", math.get());
        same("expected", expected.get());
        same("ridge", roofline::ridge_point(peak, bandwidth).get());
        same("intensity", (operations / moved).get());
        same("attainable", peak.min((operations / moved) * bandwidth).get());
        same("waves", roofline::waves(blocks, sms, resident));
        same("waveEfficiency", roofline::wave_efficiency(blocks, sms, resident));
        let efficiency = roofline::sm_efficiency(blocks, sms, resident);
        same("smEfficiency", efficiency);
        let asked = Bytes::new(bytes * reuse);
        let chip = roofline::memory_time(asked, BytesPerSecond::new(on_chip)) / efficiency;
        let ports = self.clock.map(|clock| {
            roofline::memory_time(asked, roofline::port_bandwidth(blocks, sms, Hertz::new(clock)))
        });
        assert_eq!(law["ports"].is_null(), ports.is_none());
        let data = memory.max(ports.unwrap_or(Seconds::ZERO));
        let work = data.max(chip).max(math / efficiency);
        same("work", work.get());
        let total = fixed + work;
        same("total", total.get());
        let used = expected / work;
        let bound = match roofline::limiter(memory, math, Some(blocks), None, Some(sms), used) {
            _ if roofline::is_launch_floored(total, expected, fixed) => "launch",
            Limiter::Latency => "parallelism",
            _ if chip > data.max(math / efficiency) => "chip",
            _ if roofline::is_balanced(memory, math) => "balanced",
            Limiter::Math => "math",
            Limiter::Memory | Limiter::Unknown => "memory",
        };
        assert_eq!(answer[1], json!(bound), "{}", self.json());
    }
}

#[test]
fn times_and_waves_follow_as_the_program_computes_them() {
    let Some(mut browser) = Browser::start() else { return };
    let mut random = Random(11);
    let settings: Vec<Setting> = (0..3000).map(|_| Setting::any(&mut random)).collect();
    let cases: Vec<Value> = settings.iter().map(Setting::json).collect();
    let (port, few, busy) =
        (roofline::L2_BYTES_PER_CLOCK_PER_SM, roofline::BLOCKS_PER_SM, roofline::BUSY);
    let act = format!(
        "(s) => {{ const law = lawOf(s, {port}); return [law, boundOf(s, law, {{ few: {few}, busy: {busy} }})]; }}"
    );
    let answers = asked(&mut browser, &cases, &act);
    for (setting, answer) in settings.iter().zip(&answers) {
        setting.check(answer);
    }
    for bound in ["launch", "parallelism", "chip", "balanced", "math", "memory"] {
        let many = answers.iter().filter(|answer| answer[1] == json!(bound)).count();
        assert!(many >= 5, "{bound}: {many} settings are not enough to tell");
    }
}
