//! Pictures of reports: those of the documentation, and what every picture keeps to.

use std::fmt::Write as _;
use std::path::Path;

use rooflint::analysis::{self, Analysis, Options};
use rooflint::catalog::Catalog;
use rooflint::ingest;
use rooflint::model::Profile;
use rooflint::report::{Canvas, Encoding, Report, Subject, picture};
use rooflint::rules::{self, Settings};

use super::golden::{check, fixtures, reading};
use super::predict::program::program;

fn drawn(analysis: &Analysis, subject: Subject, top: usize) -> String {
    let findings = rules::check(&Profile::default(), analysis, &Settings::default());
    let report = Report { analysis, findings: &findings, top, what_if: &[], command: None };
    let draw = || picture(&report, None, subject, &Canvas::default(), Encoding::Svg).unwrap();
    let bytes = draw();
    assert_eq!(bytes, draw(), "the same report gives the same bytes");
    String::from_utf8(bytes).unwrap()
}

/// A table of kernels whose intensities and rates spread over decades.
fn analyzed(kernels: usize, name: &str) -> Analysis {
    let mut text = String::from("Kernel,Time (us),FP32,DRAM,Grid\n");
    for kernel in 0..kernels {
        let spread = (kernel * 7919 % 1000) as f64 / 1000.0;
        let bytes = 1e6 * 10f64.powf(3.0 * spread);
        let operations = bytes * 10f64.powf(4.0 * ((kernel * 104_729 % 997) as f64 / 997.0) - 2.0);
        let time = (bytes / 3.35e12).max(operations / 66.9e12) * (1.2 + (kernel % 9) as f64) * 1e6;
        writeln!(text, "{name}{kernel},{time},{operations},{bytes},{}", kernel + 1).unwrap();
    }
    let map = "[columns]\nkernel = \"Kernel\"\ntime = { column = \"Time (us)\", unit = \"us\" }\n\
               bytes = { column = \"DRAM\", unit = \"B\" }\ngrid = \"Grid\"\n\
               flops = [{ column = \"FP32\", unit = \"FLOP\", precision = \"fp32_vector\" }]\n";
    let map = ingest::Mapping::from_toml(map, "map.toml").unwrap();
    let options = ingest::Options { map: Some(map), ..ingest::Options::default() };
    let profile = ingest::read_text("made.csv", text.leak(), &options).unwrap();
    let options = Options { device: Some("H100 SXM5 80GB".to_owned()), ..Options::default() };
    analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap()
}

/// Corner and text of every label of a picture, with its size.
fn labels(picture: &str) -> Vec<&str> {
    let inside = picture.split("<text ").skip(1);
    inside
        .filter_map(|part| Some(part.split_once('>')?.1.split_once("</text>")?.0.trim()))
        .collect()
}

#[test]
fn the_pictures_of_the_documentation_are_made_by_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for subject in Subject::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.svg");
        let run = program(&["demo", "-o", path.to_str().unwrap(), "--figure", subject.name()]);
        assert_eq!((run.code, run.stderr.as_str(), run.stdout.as_str()), (0, "", ""));
        let picture = std::fs::read_to_string(path).unwrap();
        check(&root.join(format!("docs/pictures/demo-{}.svg", subject.name())), &picture);
    }
}

#[test]
fn every_fixture_can_be_drawn_or_says_why_not() {
    for (path, device) in fixtures() {
        let inputs = [ingest::Input::Named(path.clone())];
        let profile = ingest::read(&inputs, &reading(&path)).unwrap();
        let options = Options { device, ..Options::default() };
        let Ok(analysis) = analysis::analyze(&profile, &Catalog::builtin(), &options) else {
            continue;
        };
        for subject in Subject::ALL {
            let picture = drawn(&analysis, subject, 10);
            assert!(labels(&picture).len() > 1, "{}: {}", path.display(), subject.name());
        }
    }
}

#[test]
fn roofs_ridge_points_and_kernels_stand_at_their_figures() {
    let picture = drawn(&analyzed(1, "only"), Subject::Roofline, 10);
    // H100: 3.35 TB/s and 66.9 TFLOP/s meet at 66.9 / 3.35 = 20.0 FLOP/B.
    for label in ["DRAM 3.35 TB/s", "fp32 66.9 TFLOP/s", "ridge point 20.0", "1 only0"] {
        assert!(labels(&picture).contains(&label), "{label}: {:?}", labels(&picture));
    }
}

#[test]
fn many_kernels_stay_few_labels_and_a_moderate_file() {
    for (kernels, most) in [(10, 60_000), (300, 200_000), (20_000, 6_000_000)] {
        let analysis = analyzed(kernels, "k");
        for subject in Subject::ALL {
            let picture = drawn(&analysis, subject, 10);
            assert!(picture.len() < most, "{} with {kernels}: {}", subject.name(), picture.len());
            let named = labels(&picture).iter().filter(|one| one.contains(" k")).count();
            assert!((1..=12).contains(&named), "{} with {kernels}: {named}", subject.name());
        }
    }
}

#[test]
fn names_of_kernels_are_harmless_in_a_picture() {
    let long = "x".repeat(2_000);
    for name in ["<img src=x onerror=alert(1)>", "</svg><script>alert(1)</script>", &long] {
        for subject in Subject::ALL {
            let picture = drawn(&analyzed(3, name), subject, 10);
            assert!(
                !picture.contains("<img") && !picture.contains("<script"),
                "{}",
                subject.name()
            );
            assert!(picture.ends_with("</svg>\n"), "{}", subject.name());
            assert!(picture.len() < 60_000, "{}", subject.name());
        }
    }
}

#[test]
fn nothing_to_draw_is_said() {
    let text = "Kernel,Time (us)\nk,5\n";
    let map = "[columns]\nkernel = \"Kernel\"\ntime = { column = \"Time (us)\", unit = \"us\" }\n";
    let map = ingest::Mapping::from_toml(map, "map.toml").unwrap();
    let options = ingest::Options { map: Some(map), ..ingest::Options::default() };
    let profile = ingest::read_text("made.csv", text, &options).unwrap();
    let options = Options { device: Some("H100 SXM5 80GB".to_owned()), ..Options::default() };
    let analysis = analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap();
    for (subject, said) in [
        (Subject::Roofline, "nothing to draw: no operations, or no bytes"),
        (Subject::Opportunities, "nothing to draw: no kernel is an opportunity"),
        (Subject::Kernels, "5.00 µs, not enough data"),
    ] {
        let picture = drawn(&analysis, subject, 10);
        assert!(picture.contains(said), "{picture}");
    }
}

#[test]
fn sizes_and_grounds_are_as_asked_for() {
    for (theme, ground) in [("light", [255, 255, 255]), ("dark", [16, 20, 26])] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.png");
        let path = path.to_str().unwrap();
        let run = program(&["demo", "-o", path, "--size", "600x400", "--theme", theme]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let decoder =
            png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (600, 400));
        assert_eq!(pixels[..3], ground);
    }
    let refused = program(&["demo", "-o", "picture.jpg"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains(".svg, .png"), "{}", refused.stderr);
}

#[test]
fn before_and_after_stand_in_one_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before.csv"), folder.path().join("after.svg"));
    // The softmax took twice as long: 1.62 ms instead of 0.81 ms.
    assert!(rooflint::SAMPLE.contains("\"812416\""));
    let slower = rooflint::SAMPLE.replace("\"812416\"", "\"1624832\"");
    std::fs::write(&before, slower).unwrap();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo/h100-training-step.csv");
    let paths = [demo.to_str().unwrap(), before.to_str().unwrap(), after.to_str().unwrap()];
    let draw = |subject: &str| {
        let run = program(&[paths[0], "--baseline", paths[1], "-o", paths[2], "--figure", subject]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        std::fs::read_to_string(&after).unwrap()
    };
    assert!(draw("kernels").contains("was 1.62 ms"));
    let picture = draw("roofline");
    assert!(picture.contains("gray marks: before, for 13 kernels; not shown: 0 new, 0 vanished"));
    let unused = program(&[paths[0], "--baseline", paths[1], "--format", "json"]);
    assert_eq!(unused.code, 2);
    assert!(unused.stderr.contains("--baseline has no effect"), "{}", unused.stderr);
}
