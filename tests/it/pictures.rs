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
    for subject in [Subject::Roofline, Subject::Kernels] {
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
    for label in ["DRAM 3.35 TB/s", "fp32 66.9 TFLOP/s", "ridge point 20.0", "#1 only0"] {
        assert!(labels(&picture).contains(&label), "{label}: {:?}", labels(&picture));
    }
}

/// A rectangle, in pixels of the grid: left, top, right, bottom.
type Place = [f64; 4];

const fn meet(one: &Place, two: &Place) -> bool {
    one[0] < two[2] && two[0] < one[2] && one[1] < two[3] && two[1] < one[3]
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    element.split_once(&format!(" {name}=\""))?.1.split_once('"').map(|(value, _)| value)
}

/// The bounds of numbers such as `1,2 3,4`.
fn bounds(points: &str) -> Place {
    let mut bounds = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    for point in points.split([' ', 'M']).filter(|point| !point.is_empty()) {
        let (x, y) = point.split_once(',').unwrap();
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        bounds = [bounds[0].min(x), bounds[1].min(y), bounds[2].max(x), bounds[3].max(y)];
    }
    bounds
}

/// The frame of the axes, the marks within, and every text with its place.
struct Layout<'a> {
    frame: Place,
    marks: Vec<Place>,
    texts: Vec<(&'a str, Place)>,
}

impl<'a> Layout<'a> {
    /// Of a roofline on light ground.
    fn of(picture: &'a str) -> Self {
        // The grid is drawn in its own color; the lines of a chart reach from end to end.
        let elements = || picture.split('<').skip(1);
        let grid = elements().filter(|one| one.starts_with("line ") || one.starts_with("path "));
        let grid = grid.filter(|one| attribute(one, "stroke") == Some("#E6EAEE"));
        let lines = grid.map(|one| match attribute(one, "d") {
            Some(points) => bounds(points),
            None => {
                ["x1", "y1", "x2", "y2"].map(|key| attribute(one, key).unwrap().parse().unwrap())
            }
        });
        let frame = lines.fold(
            [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
            |all, one| {
                let [left, top, right, bottom] = one;
                let (low, high) = (top.min(bottom), top.max(bottom));
                [all[0].min(left.min(right)), all[1].min(low), all[2].max(right), all[3].max(high)]
            },
        );
        let mut marks = Vec::new();
        for one in elements() {
            if one.starts_with("circle ") {
                let [x, y, r] = ["cx", "cy", "r"]
                    .map(|key| attribute(one, key).unwrap().parse::<f64>().unwrap());
                marks.push([x - r, y - r, x + r, y + r]);
            } else if one.starts_with("polygon ") {
                marks.push(bounds(attribute(one, "points").unwrap()));
            }
        }
        marks.retain(|mark| meet(mark, &frame));
        // Names and labels begin where they stand; only those of ticks do not.
        let texts = elements().filter(|one| {
            one.starts_with("text ") && attribute(one, "text-anchor") == Some("start")
        });
        let texts = texts.map(|one| {
            let [x, y, size] = ["x", "y", "font-size"]
                .map(|key| attribute(one, key).unwrap().parse::<f64>().unwrap());
            let text = one.split_once('>').unwrap().1.trim();
            // No letter is narrower than a quarter of its height, on average half.
            let wide = text.chars().count() as f64 * size * 0.5;
            (text, [x, y - size * 0.5, x + wide, y + size * 0.5])
        });
        Self { frame, marks, texts: texts.collect() }
    }
}

#[test]
fn marks_stay_in_the_frame_and_no_label_lies_on_one() {
    for kernels in [1, 2, 5, 10, 40, 300] {
        let picture = drawn(&analyzed(kernels, "k"), Subject::Roofline, 10);
        let layout = Layout::of(&picture);
        let [left, top, right, bottom] = layout.frame;
        assert!(!layout.marks.is_empty(), "{kernels}");
        for mark in &layout.marks {
            assert!(mark[0] >= left && mark[2] <= right, "{kernels}: {mark:?} {:?}", layout.frame);
            assert!(mark[1] >= top && mark[3] <= bottom, "{kernels}: {mark:?} {:?}", layout.frame);
        }
        let inside: Vec<_> =
            layout.texts.iter().filter(|(_, place)| meet(place, &layout.frame)).collect();
        assert!(inside.len() > 2, "{kernels}");
        for (position, (text, place)) in inside.iter().enumerate() {
            for mark in &layout.marks {
                assert!(!meet(place, mark), "{kernels}: {text} {place:?} lies on {mark:?}");
            }
            for (other, another) in &inside[..position] {
                assert!(!meet(place, another), "{kernels}: {text} lies on {other}");
            }
        }
        // What is drawn fills the frame: ridge point and kernels reach over half of it.
        let ridges = layout.texts.iter().filter(|(text, _)| text.starts_with("ridge point"));
        let places = layout.marks.iter().copied().chain(ridges.map(|(_, place)| *place));
        let all = places.fold([f64::INFINITY, f64::NEG_INFINITY], |all, one| {
            [all[0].min(one[0]), all[1].max(one[2])]
        });
        assert!(all[1] - all[0] > (right - left) / 3.0, "{kernels}: {all:?} of {:?}", layout.frame);
    }
}

#[test]
fn an_axis_has_one_unit() {
    for subject in Subject::ALL {
        let picture = drawn(&analyzed(40, "k"), subject, 10);
        // On the fine grid, letters of axes are as large as all others, and faint.
        let ticks = picture.split("<text ").skip(1).filter_map(|one| {
            let text = one.split_once('>')?.1.split_once('<')?.0.trim();
            let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
            let is_tick = number.parse::<f64>().is_ok() && !unit.contains(' ');
            (is_tick && number != "0").then(|| unit.to_owned())
        });
        let units: std::collections::BTreeSet<String> = ticks.collect();
        assert_eq!(units.len(), 1, "{}: {units:?}", subject.name());
    }
}

#[test]
fn slanted_dashes_are_smooth() {
    let report = analyzed(5, "k");
    let findings = rules::check(&Profile::default(), &report, &Settings::default());
    let report =
        Report { analysis: &report, findings: &findings, top: 0, what_if: &[], command: None };
    let bytes =
        picture(&report, None, Subject::Roofline, &Canvas::default(), Encoding::Png).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    // The roof of DRAM, solid and dashed, is blue (#005aa0) on white: shades between are its smoothed
    // edges. Without smoothing there would be two colors.
    let shade = |pixel: &[u8]| {
        let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(i32::from);
        let share = f64::from(255 - red) / 255.0;
        let is_mix = (f64::from(255 - green) - share * 165.0).abs() < 3.0
            && (f64::from(255 - blue) - share * 95.0).abs() < 3.0;
        (is_mix && red < 255).then_some(red / 16)
    };
    let shades: std::collections::BTreeSet<i32> = pixels.chunks(3).filter_map(shade).collect();
    assert!(shades.len() > 8, "{shades:?}");
}

#[test]
fn many_kernels_stay_few_labels_and_a_moderate_file() {
    for (kernels, most) in [(10, 60_000), (300, 200_000), (20_000, 6_000_000)] {
        let analysis = analyzed(kernels, "k");
        for subject in Subject::ALL {
            let picture = drawn(&analysis, subject, 10);
            assert!(picture.len() < most, "{} with {kernels}: {}", subject.name(), picture.len());
            let named = labels(&picture)
                .iter()
                .filter(|one| one.starts_with('#') && one.contains(" k"))
                .count();
            let least = usize::from(matches!(subject, Subject::Roofline | Subject::Kernels));
            assert!((least..=12).contains(&named), "{} with {kernels}: {named}", subject.name());
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
        (Subject::Roofline, "GPU time of kernels without FLOPs and bytes"),
        (Subject::Opportunities, "nothing to draw: no kernel has potential savings"),
        (Subject::Kernels, "5.00 µs, not enough data"),
    ] {
        let picture = drawn(&analysis, subject, 10);
        assert!(picture.contains(said), "{picture}");
    }
}

#[test]
fn a_ratio_that_has_a_range_has_it_in_every_output() {
    let folder = tempfile::tempdir().unwrap();
    // 190 µs measured; 145 µs are certain, up to all of it is possible.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = root.join("fixtures/ncu_wide/h200-tensor-counter-tree.csv");
    for (name, said) in [
        ("report.txt", "100.0%    1.00–1.31×"),
        ("times.svg", "190 µs, 1.00–1.31× roofline time"),
        ("page.html", "1.00–1.31× the roofline time"),
    ] {
        let path = folder.path().join(name);
        let mut arguments = vec![run.to_str().unwrap(), "-o", path.to_str().unwrap()];
        if name.ends_with("svg") {
            arguments.extend(["--figure", "kernels"]);
        }
        let done = program(&arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written.contains(said), "{name}: {written}");
    }
}

#[test]
fn sizes_and_grounds_are_as_asked_for() {
    for (theme, ground) in [("light", [255, 255, 255]), ("dark", [22, 27, 34])] {
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
    assert!(picture.contains("baseline shown for 13 kernels; not shown: 0 new, 0 gone"));
    let unused = program(&[paths[0], "--baseline", paths[1], "--format", "json"]);
    assert_eq!(unused.code, 2);
    assert!(unused.stderr.contains("--baseline has no effect"), "{}", unused.stderr);
    // Categories have no before.
    let unused =
        program(&[paths[0], "--baseline", paths[1], "-o", paths[2], "--figure", "categories"]);
    assert!(unused.stderr.contains("--baseline has no effect"), "{}", unused.stderr);
    let markdown = program(&[paths[0], "--baseline", paths[1], "--format", "markdown"]).stdout;
    assert!(markdown.contains("Compared with the baseline"), "{markdown}");
}

#[test]
fn options_of_pictures_need_one() {
    for arguments in [
        &["demo", "--figure", "kernels"][..],
        &["demo", "--size", "600x400", "-o", "text=-"],
        &["predict", "axpy", "n=1M", "--device", "L4", "--theme", "dark"],
    ] {
        let run = program(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.stderr.contains("has no effect: no picture is written"), "{}", run.stderr);
    }
}
