//! The numbers of the page, held against those of the other outputs.

use rooflint::ingest::{self, Input};
use rooflint::units::{digits, factor, percent, si};
use serde_json::{Value, json};

use super::chrome::Browser;
use super::page_of;
use crate::golden::fixtures;

const TEXT: &str = include_str!("../../../src/report/html/text.js");

#[test]
fn the_page_writes_numbers_as_the_other_outputs_do() {
    let Some(mut browser) = Browser::start() else { return };
    // Halves of the last digit shown, as decimal and as binary fractions, and values on both sides of where the
    // number of digits or the prefix changes.
    let halves = (0..2000).map(|step| f64::from(step) / 1000.0 + 0.005);
    let binary = (0..2000).map(|step| f64::from(step) / 16.0);
    let edges = [0.0995, 0.9995, 9.995, 99.95, 999.5, 9999.5];
    let edges = edges.into_iter().flat_map(|edge| [edge * (1.0 - 1e-9), edge, edge * (1.0 + 1e-9)]);
    let plain: Vec<f64> = halves.chain(binary).chain(edges).collect();
    // Beyond, a share of 0.1% is less than what a number of 64 bits tells apart.
    let scales = [1.0, 1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9];
    let values: Vec<f64> =
        scales.iter().flat_map(|scale| plain.iter().map(move |value| value * scale)).collect();
    let act = "(value) => [digits(value), percent(value), factor(value), si(value, 's'), si(value, 'B/s')]";
    let cases = json!(values);
    let answer = browser.evaluate(&format!("(() => {{ {TEXT}\nreturn {cases}.map({act}); }})()"));
    let expected: Vec<Value> = values
        .iter()
        .map(|value| {
            let value = *value;
            json!([digits(value), percent(value), factor(value), si(value, "s"), si(value, "B/s")])
        })
        .collect();
    let answers = answer.as_array().unwrap();
    assert_eq!(answers.len(), expected.len());
    for ((answer, expected), value) in answers.iter().zip(&expected).zip(&values) {
        assert_eq!(answer, expected, "{value:?}");
    }
}

#[test]
fn the_page_gives_the_range_of_a_ratio_as_the_other_outputs_do() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    // Each is in the golden report of its export, too.
    for (export, kernel, ratio) in [
        // 20.3 ÷ 10.5 µs at most; with what was not counted the roofline time may be as long as the measured one.
        ("v100-nvidia-transformer-16col.csv", "cuApplyLayerNorm", "1.00–1.93×"),
        ("h200-tensor-counter-tree.csv", "nvjet", "1.00–1.31×"),
        // Faster than the roofline of what was counted, whatever else there was.
        ("t4-nvidia-resnet-default-8col.csv", "max_pool2d", "0.12–0.95×"),
        ("v100-apex-transformer-12col.csv", "cunn_SoftMaxForward", "≤1.42×"),
        // Busy multiprocessors alone: at least so much, and no traffic says how much at most.
        ("advice/decode-on-cuda-cores.csv", "BatchDecodeWithPagedKVCacheKernel", "≥1.00×"),
        // All was counted.
        ("v100-apex-transformer-12col.csv", "volta_scudnn", "1.27×"),
    ] {
        let (path, device) =
            fixtures().into_iter().find(|(path, _)| path.ends_with(export)).unwrap();
        let written = std::fs::read_to_string(path.with_extension("report.txt")).unwrap();
        let says = |text: &str| text.contains(kernel) && text.contains(&format!(" {ratio} "));
        assert!(written.lines().any(says), "{export}: {kernel} {ratio}");
        let profile = ingest::read(&[Input::Named(path)], &ingest::Options::default()).unwrap();
        browser.show(&page_of(&profile, device));
        let rows = "[...document.querySelectorAll('#rows tr')].map((row) => \
                    [...row.cells].map((cell) => cell.textContent.trim()))";
        let rows = browser.evaluate(rows);
        let row = rows.as_array().unwrap().iter().find(|row| row.to_string().contains(kernel));
        let cells = row.and_then(Value::as_array).unwrap();
        assert!(cells.contains(&json!(ratio)), "{export}: {kernel} {ratio}, {cells:?}");
    }
}
