//! Pictures of predictions: those of the documentation, and what every picture keeps to.

use std::path::{Path, PathBuf};

use rooflint::report::{Canvas, Encoding};

use super::program::program;
use crate::golden::check;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the program writes to a file with this ending.
fn written(arguments: &[&str], ending: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(format!("picture.{ending}"));
    let run = program(&[&["predict"], arguments, &["-o", path.to_str().unwrap()]].concat());
    assert_eq!((run.code, run.stderr.as_str(), run.stdout.as_str()), (0, "", ""), "{arguments:?}");
    std::fs::read(path).unwrap()
}

const LAYER: [&str; 7] = [
    "linear",
    "batch=1..4Ki:x2",
    "in=4096",
    "out=4096",
    "dtype=bf16",
    "--device",
    "H100 SXM5 80GB,A100 SXM4 80GB,L4",
];
const FORMATS: [&str; 7] =
    ["gemm", "m=4096", "n=4096", "k=4096", "dtype=bf16,fp8,fp32", "--device", "H100 SXM5 80GB"];

#[test]
fn the_pictures_of_the_documentation_are_made_by_the_program() {
    for (name, arguments) in [("linear-sweep", &LAYER), ("gemm-formats", &FORMATS)] {
        let picture = String::from_utf8(written(arguments, "svg")).unwrap();
        check(&root().join(format!("docs/pictures/{name}.svg")), &picture);
    }
}

#[test]
fn a_sweep_shows_where_each_device_crosses_its_ridge_point() {
    let picture = String::from_utf8(written(&LAYER, "svg")).unwrap();
    // The crossings that the text states, and the ridge points peak over bandwidth.
    for label in [
        "batch 345",
        "batch 166",
        "batch 503",
        "ridge point 295",
        "ridge point 153",
        "ridge point 403",
    ] {
        assert!(picture.contains(label), "{label}");
    }
    let text = program(&[&["predict"], &LAYER[..]].concat()).stdout;
    for size in ["345", "166", "503"] {
        assert!(text.contains(size), "{size}");
    }
}

#[test]
fn a_png_has_the_size_asked_for_and_both_grounds_differ() {
    for (theme, ground) in [("light", [255, 255, 255]), ("dark", [22, 27, 34])] {
        let more = ["--size", "600x400", "--theme", theme];
        let bytes = written(&[&FORMATS[..], &more].concat(), "png");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((frame.width, frame.height), (600, 400));
        assert_eq!(pixels[..3], ground);
        let inked = pixels.chunks(3).filter(|pixel| *pixel != ground).count();
        assert!(inked > 5_000, "{inked}");
    }
}

#[test]
fn what_has_nothing_to_draw_says_so_and_no_size_fails() {
    let still = written(&["copy", "n=1k", "--device", "L4"], "svg");
    assert!(String::from_utf8(still).unwrap().contains("nothing to draw"));
    for size in ["240x240", "240x8192", "8192x240"] {
        written(&["axpy", "n=1..1M", "--device", "L4", "--size", size], "svg");
        written(&["gemm", "m=1", "n=1", "k=1", "--device", "L4", "--size", size], "svg");
    }
    for size in ["239x400", "axb", "600", "600x9000"] {
        let run = program(&["predict", "axpy", "n=1k", "--device", "L4", "--size", size]);
        assert_eq!(run.code, 2, "{size}: {}", run.stderr);
    }
    let run = program(&["predict", "axpy", "n=1k", "--device", "L4", "-o", "picture.pdf"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("use one of .txt (text), .md (markdown)")
            && run.stderr.contains(".svg, .png; or name the format"),
        "{}",
        run.stderr
    );
}

#[test]
fn hostile_text_is_harmless_in_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own.toml");
    let device = "[[device]]\nname = \"<script>alert(1)</script>&\"\nmemory = { bandwidth_gbs = 900 }\npeaks_tflops = { fp32_vector = 15 }\n";
    std::fs::write(&own, device).unwrap();
    let more = ["--devices", own.to_str().unwrap(), "--device", "<script>alert(1)</script>&"];
    let picture = written(&[&["axpy", "n=1k..1M"][..], &more].concat(), "svg");
    let picture = String::from_utf8(picture).unwrap();
    assert!(!picture.contains("<script") && picture.contains("&lt;script"));
}

#[test]
fn every_kernel_can_be_drawn() {
    for form in rooflint::predict::FORMS {
        let arguments: Vec<&str> = form.example.split_whitespace().collect();
        let sweep = rooflint::predict::Sweep::parse(form, &arguments).unwrap();
        let device = super::device("H100 SXM5 80GB");
        let options = rooflint::predict::Options::default();
        let table = sweep.table(&[device], &options).unwrap();
        let predicted = rooflint::report::Predicted::Kernel {
            form,
            call: form.name,
            table: &table,
            crossings: &[],
        };
        let picture = predicted.picture(&Canvas::default(), Encoding::Svg).unwrap();
        let again = predicted.picture(&Canvas::default(), Encoding::Svg).unwrap();
        assert!(picture == again && picture.starts_with(b"<svg"), "{}", form.name);
    }
}
