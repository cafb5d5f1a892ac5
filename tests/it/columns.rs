//! One list of columns each for kernels and for launches: whatever shows or reads a figure follows
//! it.

use std::collections::BTreeMap;

use rooflint::analysis::{Columns, Place};
use rooflint::ingest::{self, Input};
use rooflint::model::{
    DeviceHint, Dim3, Head, Origin, OriginKind, Profile, Quantity, Shape, Source, Values,
};
use rooflint::report::{self, Report, Style};
use rooflint::session::Session;
use rooflint::table::{self, Cell, Table};
use rooflint::units::Hertz;
use serde_json::Value;

use crate::golden;

/// The names of the list that are shown in these places.
fn names(places: &[Place]) -> Vec<&'static str> {
    let all = Columns::of_kernels().all().iter();
    all.filter(|column| places.contains(&column.place)).map(|column| &*column.name).collect()
}

/// The reports of every fixture that has one, in these formats.
fn reports<const N: usize>(formats: [&str; N], mut look: impl FnMut([String; N])) {
    let mut seen = 0;
    for (path, device) in golden::fixtures() {
        let profile = ingest::read(&[Input::Named(path.clone())], &golden::reading(&path)).unwrap();
        let Ok(judged) = Session::default().on(device).judge(&profile) else { continue };
        let report = Report {
            analysis: &judged.analysis,
            findings: &judged.findings,
            top: 10,
            what_if: &[],
            command: None,
        };
        look(formats.map(|name| report::written(&report, name, &Style::default()).unwrap()));
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

/// A cell of the CSV report as JSON has it.
fn cell(text: &str, like: &Value) -> Value {
    match like {
        Value::String(_) => Value::from(text.trim_start_matches('\'')),
        _ if text.is_empty() => Value::Null,
        Value::Number(number) if number.is_f64() => Value::from(text.parse::<f64>().unwrap()),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    }
}

#[test]
fn a_figure_has_one_name_and_one_value_in_json_and_csv() {
    let (everywhere, in_csv) = (names(&[Place::Report]), names(&[Place::Report, Place::Nested]));
    reports(["json", "csv"], |[json, csv]| {
        let json: Value = serde_json::from_str(&json).unwrap();
        let mut csv = csv::Reader::from_reader(csv.as_bytes());
        let header = csv.headers().unwrap().clone();
        let mut titles = in_csv.clone();
        titles.push("findings");
        assert_eq!(header.iter().collect::<Vec<_>>(), titles);
        for (kernel, record) in json["kernels"].as_array().unwrap().iter().zip(csv.records()) {
            let record = record.unwrap();
            let row: BTreeMap<&str, &str> = header.iter().zip(record.iter()).collect();
            for (key, value) in kernel.as_object().unwrap() {
                assert_eq!(
                    everywhere.contains(&key.as_str()),
                    !value.is_array() && !value.is_object() && !is_nested(key),
                    "{key}"
                );
            }
            for name in &everywhere {
                // Text of several lines is one line in a table.
                let found = cell(row[name], &kernel[*name]);
                let told = kernel[*name].as_str().unwrap_or_default();
                assert!(found == kernel[*name] || told.contains(char::is_control), "{name}");
            }
            // What JSON has within what it belongs to.
            let launches = kernel["launches"].as_f64().unwrap();
            let needed = &kernel["algorithmic"];
            for level in ["l1", "shared", "system", "peer"] {
                let levels = kernel["levels"].as_array().unwrap();
                let time = levels.iter().find(|one| one["level"] == level);
                let time = time.map_or(&Value::Null, |one| &one["t_s"]);
                assert_eq!(&cell(row[&*format!("t_{level}_s")], time), time, "{level}");
            }
            for (name, key) in
                [("algorithmic_operations", "operations"), ("algorithmic_bytes", "bytes")]
            {
                let whole = needed[key].as_f64().map(|one| one * launches);
                assert_eq!(row[name].parse::<f64>().ok(), whole, "{name}");
            }
            for name in ["traffic_factor", "work_factor"] {
                assert_eq!(cell(row[name], &needed[name]), needed[name], "{name}");
            }
        }
    });
}

/// What of a kernel in JSON is no single figure, also where it is `null`.
fn is_nested(key: &str) -> bool {
    ["grid", "block", "algorithmic", "skipped_rules"].contains(&key)
}

#[cfg(feature = "page")]
#[test]
fn the_page_calls_figures_by_their_names() {
    let [every, of_the_page] = [
        names(&[Place::Report, Place::Nested, Place::Rules]),
        vec!["device", "shape", "time_from", "bytes_from", "uncounted", "work", "levels"],
    ];
    reports(["html", "json"], |[html, json]| {
        let (_, after) = html.split_once(r#"<script id="data" type="application/json">"#).unwrap();
        let data: Value = serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        let kernels = json["kernels"].as_array().unwrap();
        for (name, column) in data["kernels"].as_object().unwrap() {
            assert!(every.contains(&&**name) || of_the_page.contains(&&**name), "{name}");
            let column = column.as_array().unwrap();
            assert_eq!(column.len(), kernels.len(), "{name}");
            for (kernel, found) in kernels.iter().zip(column) {
                // Six digits, and what would only repeat another figure is left out.
                if let (Some(value), Some(found)) = (kernel[name].as_f64(), found.as_f64()) {
                    assert!((value - found).abs() <= 5e-6 * value.abs(), "{name}: {value} {found}");
                }
                let at = |list: &Value| list[found.as_u64().unwrap_or(u64::MAX) as usize].clone();
                if kernel[name].is_string() && found.is_u64() && name != "device" {
                    let words = data["words"].get(name).unwrap_or(&data["strings"]);
                    let told = at(words);
                    let known = kernel[name].as_str().unwrap();
                    assert!(told == known || known.contains(char::is_control), "{name}: {told}");
                }
            }
        }
    });
}

/// Two exports, and a launch for every column of the launch table to have a value.
fn full() -> Profile {
    let mut profile = Profile::default();
    for (path, format, keeps_caches) in [("a.csv", "ncu-wide", true), ("b.csv", "pyprof", false)] {
        let (path, format) = (path.to_owned(), format.to_owned());
        profile.sources.push(Source { path, format, keeps_caches, ..Source::default() });
    }
    let device = profile.hint(DeviceHint {
        name: Some("NVIDIA H100, \"80GB\"".to_owned()),
        name_from: Some("device".to_owned()),
        compute_capability: Some("9.0".to_owned()),
        gfx: Some("gfx942".to_owned()),
        sms: Some(132),
        max_sm_clock: Some(Hertz::new(1.98e9)),
        max_memory_clock: Some(Hertz::new(2.619e9)),
        memory_bus_bits: Some(5120),
        l2_bytes: Some(52_428_800),
        observed_memory_clock: Some(Hertz::new(2.6e9 + 1.0 / 3.0)),
        ordinal: Some("0".to_owned()),
        reached: None,
    });
    let (name, operator) = (profile.names.id("gemm<\"a\", b>"), profile.names.id("aten::mm"));
    let place = profile.names.id("Model > layer.3 > Linear");
    let mut values = Values::default();
    for (at, quantity) in Quantity::all().enumerate() {
        let kind = OriginKind::ALL[at % OriginKind::ALL.len()];
        let origin = Origin::new(kind, quantity.column()).within(0.5, 1.0 + 0.1 * at as f64);
        let origin = profile.origins.id(&origin);
        values.set(quantity, at as f64 + 1.0 / 3.0, origin);
    }
    let extent = |x| Some(Dim3 { x, y: x + 1, z: x + 2 });
    let shape = Shape::new(extent(7), extent(3));
    let head = Head {
        source: 0,
        process: 4711,
        id: 12,
        name,
        operator,
        place,
        shape,
        device,
        stream: Some(9),
        start: Some(1_712_195_495_519_689_047),
        count: 3,
    };
    profile.launches.push(head, &values);
    // Nothing but a name, and a value that nothing bounds.
    profile
        .launches
        .push(Head { source: 1, name, count: 1, ..Head::default() }, &Values::default());
    let mut values = Values::default();
    let origin = Origin::new(OriginKind::Modeled, "t").within(0.25, f64::INFINITY);
    values.set(Quantity::Duration, 1e-6, profile.origins.id(&origin));
    let head = Head { source: 1, process: 1, id: 1, name, count: 1, ..Head::default() };
    profile.launches.push(head, &values);
    profile
}

fn read(text: &str) -> Profile {
    let input = Input::text("launches", text);
    ingest::read(&[input], &ingest::Options { strict: true, ..ingest::Options::default() }).unwrap()
}

#[test]
fn every_column_of_the_launch_table_leads_back_to_the_same_launch() {
    let before = full();
    let written = Table::of(&before);
    let mut forms = vec![("CSV", written.csv()), ("JSON", written.json())];
    #[cfg(feature = "frames")]
    forms.push(("Parquet", {
        let parquet = table::frames::parquet(&written).unwrap();
        let mut rows = table::frames::Rows::open(parquet).unwrap();
        std::io::read_to_string(&mut rows).unwrap()
    }));
    for (form, text) in forms {
        let after = read(&text);
        assert_eq!(after.launches.len(), before.launches.len(), "{form}");
        for column in table::columns() {
            let mut is_there = false;
            for (one, two) in before.iter().zip(after.iter()) {
                let (was, is) = (column.get(&before, &one), column.get(&after, &two));
                is_there |= was.is_some();
                let was = match was {
                    // Of several exports in one table the table is named, too.
                    Some(path) if column.name == "source" => {
                        Some(Cell::Text(format!("launches ({path})").into()))
                    }
                    was => was,
                };
                assert_eq!(was, is, "{} of launch {} as {form}", column.name, one.row());
            }
            assert!(is_there, "the profile of this test lacks {}", column.name);
        }
    }
}

#[test]
fn the_columns_that_tell_a_launch_table_are_always_written() {
    let mut profile = Profile::default();
    profile.sources.push(Source { path: "run.csv".to_owned(), ..Source::default() });
    profile.launches.push(Head { count: 1, ..Head::default() }, &Values::default());
    let written = Table::of(&profile).csv();
    assert_eq!(read(&written).launches.len(), 1);
}
