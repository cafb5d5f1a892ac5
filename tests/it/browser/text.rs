//! The numbers of the page, held against those of the other outputs.

use rooflint::units::{digits, factor, percent, si};
use serde_json::{Value, json};

use super::chrome::Browser;

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
