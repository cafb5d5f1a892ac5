//! Model files of the repository against counts made by hand.

use std::path::Path;

use rooflint::predict::{ModelFile, Options};
use rooflint::units::Seconds;

use super::device;

fn model(name: &str) -> ModelFile {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/predict");
    ModelFile::read(&folder.join(name)).unwrap()
}

#[test]
fn a_transformer_block_does_two_operations_per_weight_and_token() {
    let device = device("H100 SXM5 80GB");
    let step = model("transformer-block.toml").predict(&device, &Options::default()).unwrap();
    let weights = 4096.0 * (4096.0 + 2.0 * 1024.0) + 4096.0 * 4096.0 + 3.0 * 4096.0 * 14_336.0;
    assert_eq!(weights, 218_103_808.0);
    let linear = step.rows.iter().filter(|row| row.prediction.form == "linear");
    let linear: f64 = linear.map(|row| row.prediction.operations.get()).sum();
    assert_eq!(linear, 2.0 * weights * 8.0 * 2048.0);
    let attention = step.rows.iter().find(|row| row.name == "attention").unwrap();
    let pairs = 2048.0 * 2049.0 / 2.0;
    assert_eq!(attention.prediction.operations.get(), 4.0 * 8.0 * 32.0 * pairs * 128.0);
    assert_eq!(step.totals.launches, 11);
    let limited = step.totals.math_limited + step.totals.memory_limited;
    assert!((limited / step.totals.roofline_time - 1.0).abs() < 1e-12);
    assert!(step.totals.math_limited > step.totals.roofline_time * 0.8);
}

#[test]
fn one_token_at_a_time_turns_the_block_memory_limited() {
    let device = device("H100 SXM5 80GB");
    let model = model("transformer-block.toml").with_sizes(["sequence=1", "batch=1", "blocks=32"]);
    let step = model.unwrap().predict(&device, &Options::default()).unwrap();
    assert_eq!(step.totals.math_limited, Seconds::ZERO);
    assert_eq!(step.totals.launches, 11 * 32);
    // The weights of all blocks, read once, are nearly all of the traffic.
    let weights = 2.0 * 32.0 * 218_103_808.0;
    assert!((step.totals.bytes.get() / weights - 1.0).abs() < 2e-3);
    assert!(step.totals.with_launch_cost > step.totals.roofline_time);
}

#[test]
fn a_stage_of_a_network_has_the_multiplications_that_are_published_for_it() {
    let device = device("A100 SXM4 80GB");
    let step = model("cnn-stage.toml").predict(&device, &Options::default()).unwrap();
    let convolutions = step.rows.iter().filter(|row| row.prediction.form == "conv2d");
    let products = convolutions.map(|row| row.prediction.operations.get() * row.launches as f64);
    let positions = 56.0 * 56.0;
    let first = 64.0 * 64.0 + 9.0 * 64.0 * 64.0 + 64.0 * 256.0 + 64.0 * 256.0;
    let other = 256.0 * 64.0 + 9.0 * 64.0 * 64.0 + 64.0 * 256.0;
    assert_eq!(products.sum::<f64>(), 2.0 * 64.0 * positions * (first + 2.0 * other));
    assert_eq!(step.rows.iter().map(|row| row.launches).sum::<u64>(), 19);
    let shares: f64 = step.rows.iter().map(|row| row.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
}
