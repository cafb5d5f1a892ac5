//! A mapping made from the titles of a table that no format knows, for its user to check.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::column::Column;
use super::roles::Roles;
use super::titles::{plain, quoted};
use crate::ingest::rows::fields;
use crate::ingest::{IngestError, Input, Options, Reading, Sniff, detect, foreign};
use crate::model::Profile;

/// Characters that separate the fields of a line, the likeliest first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Lines in which the titles are looked for.
const LINES: usize = 200;

/// Rows of which values are shown.
const ROWS: usize = 20;

/// How deep keys of a record may be nested.
const DEEPEST: usize = 8;

/// The columns of a table, and where they are.
struct Found {
    columns: Vec<Column>,
    /// Where the titles are, for the first line.
    place: String,
    /// Keys that come before the columns.
    keys: Vec<String>,
}

/// Writes a mapping (TOML) for a table of which no format knows the columns, from their titles: a line for each
/// column that is recognized, with the first values, and a commented line for what is missing.
///
/// It can be read as it is if the kernel and the time were found; all of it is to be checked.
///
/// # Errors
/// When the input cannot be opened, is not text, has no table, or has a format that is read without a mapping.
pub fn suggest_map(input: &Input, options: &Options) -> Result<String, IngestError> {
    let mut profile = Profile::default();
    let reading = Reading::open(input, options, &mut profile)?;
    let shown = crate::plain::file(&reading.source.path);
    let answers = detect::ask(&reading.sample).answers;
    if let Some((name, _)) = answers.iter().find(|(_, sniff)| matches!(sniff, Sniff::Yes(_))) {
        let error = reading.error(format!("no mapping is needed: the format is {name}"));
        return Err(error.help(format!("rooflint {shown}")));
    }
    let text = reading.sample.text();
    let found = if reading.sample.binary {
        None
    } else if super::is_json(&reading.sample) {
        records(text)
    } else {
        table(text)
    };
    let Some(found) = found else {
        let none = || {
            let error = reading.error("no table found: no line and no record has titles");
            error.help("see docs/formats.md for a mapping to start from")
        };
        return Err(foreign::named(&reading).unwrap_or_else(none));
    };
    Ok(written(&found, &shown))
}

fn written(found: &Found, shown: &str) -> String {
    let roles = Roles::new(&found.columns);
    let mut text = format!(
        "#:schema {}/raw/main/docs/schema/mapping.schema.json\n\
         # A suggestion by `rooflint inspect --suggest-map`, from {}: check every line, units above all.\n\
         # Then: rooflint {} --map THIS_FILE\n",
        env!("CARGO_PKG_REPOSITORY"),
        found.place,
        plain(shown),
    );
    for key in &found.keys {
        text.push_str(&format!("{key}\n"));
    }
    roles.write(&mut text);
    text
}

/// The columns of the line whose titles say most, or of the first that is followed by a line of as many fields.
fn table(text: &str) -> Option<Found> {
    let mut best: Option<(usize, Found)> = None;
    for delimiter in DELIMITERS {
        let lines: Vec<Vec<String>> =
            text.lines().take(LINES + ROWS).map(|line| fields(line, delimiter)).collect();
        for (at, titles) in lines.iter().enumerate().take(LINES) {
            let is_number = |title: &String| title.starts_with(|c: char| c.is_ascii_digit());
            let rows = lines[at + 1..].iter().take(ROWS);
            let rows: Vec<_> = rows.filter(|row| row.len() == titles.len()).collect();
            // A line of a comment has commas too, and is followed by another number of fields.
            if titles.len() < 2 || titles.iter().any(is_number) || rows.is_empty() {
                continue;
            }
            let columns = titles.iter().enumerate().map(|(column, title)| {
                let values = rows.iter().filter_map(|row| row.get(column));
                let is_twice =
                    titles.iter().filter(|other| super::is_titled(other, title)).count() > 1;
                Column::new(title, title, values.map(String::as_str), is_twice)
            });
            let columns: Vec<Column> = columns.collect();
            let score = 1 + Roles::new(&columns).score();
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                let delimiter = char::from(delimiter);
                let keys = match delimiter {
                    ',' => Vec::new(),
                    '\t' => vec!["delimiter = \"\\t\"".to_owned()],
                    other => vec![format!("delimiter = {:?}", other.to_string())],
                };
                let place = format!("the titles in line {}", at + 1);
                best = Some((score, Found { columns, place, keys }));
            }
        }
    }
    best.map(|(_, found)| found)
}

/// A record: its values by path, as text.
type Record = BTreeMap<String, String>;

/// The columns of records in JSON: an array of them, one after the other, or an array under a key.
fn records(text: &str) -> Option<Found> {
    let text = text.trim_start();
    if let Some(array) = text.strip_prefix('[') {
        return found(elements(array), None);
    }
    let mut lines = Vec::new();
    for value in Deserializer::from_str(text).into_iter::<Box<RawValue>>().take(ROWS) {
        let Ok(value) = value else { break };
        lines.extend(record(&value));
    }
    if lines.len() > 1 {
        return found(lines, None);
    }
    // The array whose records say most.
    let mut best: Option<(usize, Found)> = None;
    for (key, records) in arrays(text) {
        let Some(found) = found(records, Some(&key)) else { continue };
        let score = 1 + Roles::new(&found.columns).score();
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, found));
        }
    }
    best.map(|(_, found)| found).or_else(|| found(lines, None))
}

fn found(records: Vec<Record>, key: Option<&str>) -> Option<Found> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, value) in records.into_iter().flatten() {
        values.entry(path).or_default().push(value);
    }
    if values.is_empty() {
        return None;
    }
    let columns = values.iter().map(|(path, values)| {
        let title = path.rsplit('.').next().unwrap_or(path);
        Column::new(path, title, values.iter().map(String::as_str), false)
    });
    let columns = columns.collect();
    let keys = key.map(|key| format!("records = {}", quoted(key))).into_iter().collect();
    Some(Found { columns, place: "the keys of its records".to_owned(), keys })
}

/// The next value of a text in JSON, and what follows it.
fn next<'t, T: serde::Deserialize<'t>>(text: &'t str) -> Option<(T, &'t str)> {
    let mut values = Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    let end = values.byte_offset();
    Some((value, text.get(end..)?.trim_start()))
}

/// The records of an array, after its bracket.
fn elements(mut text: &str) -> Vec<Record> {
    let mut records = Vec::new();
    while records.len() < ROWS
        && let Some((value, rest)) = next::<Box<RawValue>>(text)
    {
        records.extend(record(&value));
        let Some(rest) = rest.strip_prefix(',') else { break };
        text = rest;
    }
    records
}

/// The arrays of records under the keys of an object that may be cut.
fn arrays(text: &str) -> Vec<(String, Vec<Record>)> {
    let mut arrays = Vec::new();
    let mut rest = text.strip_prefix('{');
    while let Some((key, after)) = rest.and_then(next::<String>) {
        let Some(value) = after.strip_prefix(':').map(str::trim_start) else { break };
        if let Some(array) = value.strip_prefix('[') {
            arrays.push((key, elements(array)));
        }
        rest = next::<IgnoredAny>(value).and_then(|(_, rest)| rest.strip_prefix(','));
    }
    arrays
}

/// The values of a record, if it is one.
fn record(value: &RawValue) -> Option<Record> {
    let mut record = Record::new();
    add(&mut record, "", value, 0);
    (!record.is_empty()).then_some(record)
}

fn add(record: &mut Record, path: &str, value: &RawValue, depth: usize) {
    let text = value.get();
    if text.starts_with('{') && depth < DEEPEST {
        let keys: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap_or_default();
        for (key, value) in keys {
            let path = if path.is_empty() { key } else { format!("{path}.{key}") };
            add(record, &path, &value, depth + 1);
        }
    } else if depth > 0 {
        let text = match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str(text).unwrap_or_default(),
            Some(b'[') => text.trim_matches(['[', ']']).to_owned(),
            Some(b'n' | b'{') => String::new(),
            _ => text.to_owned(),
        };
        record.insert(path.to_owned(), text);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ingest::{Mapping, read_text};
    use crate::model::Quantity;

    fn suggestion(text: &str) -> String {
        let input = Input::text("run.csv", text);
        suggest_map(&input, &Options::default()).unwrap()
    }

    fn read(text: &str, map: &str) -> Profile {
        let map = Some(Mapping::from_toml(map, "map.toml").unwrap());
        let options = Options { map, ..Options::default() };
        read_text("run.csv", text.to_owned().leak(), &options).unwrap()
    }

    /// What the launches of a table are, but for the names of devices.
    fn launches(profile: &Profile) -> Vec<String> {
        let one = |launch: crate::model::Launch<'_>| {
            let head = launch.head;
            let operator = profile.names.get(head.operator);
            let work: f64 = launch.work().map(|(_, work, _)| work.get()).sum();
            let values = [Quantity::Duration, Quantity::DramBytes].map(|one| launch.value(one));
            let place = (head.id, head.count, head.stream, head.start);
            format!("{} {operator} {values:?} {work} {:?} {place:?}", launch.kernel(), head.shape)
        };
        profile.iter().map(one).collect()
    }

    #[test]
    fn a_suggestion_reads_as_the_mapping_that_a_user_would_write() {
        for (table, own) in [
            (
                "name,duration (ns),start_ns,bytes,TFLOP/s,Grid X,Grid Y,Grid Z,block,layer,stream,index\n\
                 gemm,1000,5000,4096,1.5,8,4,1,\"(128, 1, 1)\",mlp,7,1\n\
                 gelu,500,7000,512,0.5,2,1,1,\"(64, 1, 1)\",act,7,2\n",
                "[columns]\nkernel = 'name'\ntime = { column = 'duration (ns)', unit = 'ns' }\n\
                 start = { column = 'start_ns', unit = 'ns' }\nbytes = { column = 'bytes', unit = 'B' }\n\
                 flops = { column = 'TFLOP/s', unit = 'TFLOP/s' }\ngrid = ['Grid X', 'Grid Y', 'Grid Z']\n\
                 block = 'block'\noperator = 'layer'\nstream = 'stream'\nid = 'index'\n",
            ),
            (
                "# made by hand, in May\nKernel Name|Begin (us)|End (us)|Calls|Avg Time (us)|Read (MB)|Write (MB)\n\
                 copy|10|30|4|5|1.5|0.5\n",
                "delimiter = '|'\n[columns]\nkernel = 'Kernel Name'\ntime = { column = 'Avg Time (us)', unit = 'us' }\n\
                 start = { column = 'Begin (us)', unit = 'us' }\n\
                 launches = { column = 'Calls', values = 'average' }\n\
                 bytes = { sum = { 'Read (MB)' = 1, 'Write (MB)' = 1 }, unit = 'MB' }\n",
            ),
            (
                "kernel\tbegin_ns\tend_ns\twhat\nk<\"a\">\t1000\t3000\tx\n",
                "delimiter = \"\\t\"\n[columns]\nkernel = 'kernel'\n\
                 time = { start = 'begin_ns', end = 'end_ns', unit = 'ns' }\n",
            ),
            (
                "{\"run\": 7, \"tags\": [], \"rows\": [{\"kernel\": \"a\\\"b\", \"args\": {\"dur_us\": 2.5, \"grid\": [128, 1, 1]}},\n\
                 {\"kernel\": \"c\", \"args\": {\"dur_us\": 4, \"grid\": [1, 1, 1]}}]}",
                "records = 'rows'\n[columns]\nkernel = 'kernel'\ntime = { column = 'args.dur_us', unit = 'us' }\n\
                 grid = 'args.grid'\n",
            ),
            (
                "{\"kernelName\": \"a\", \"durationMs\": 2}\n{\"kernelName\": \"b\", \"durationMs\": 3}\n",
                "[columns]\nkernel = 'kernelName'\ntime = { column = 'durationMs', unit = 'ms' }\n",
            ),
        ] {
            let map = suggestion(table);
            let (suggested, written) = (read(table, &map), read(table, own));
            assert_eq!(launches(&suggested), launches(&written), "{map}");
            let (schema, rest) = map.split_once('\n').unwrap();
            assert!(schema.starts_with("#:schema https://"), "{map}");
            assert!(rest.starts_with("# A suggestion by "), "{map}");
        }
    }

    #[test]
    fn the_suggestion_for_a_spreadsheet_reads_the_same_launches() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mapped");
        let table = std::fs::read_to_string(folder.join("h100-benchmark.csv")).unwrap();
        let own = std::fs::read_to_string(folder.join("h100-benchmark.toml")).unwrap();
        // Titles do not say which precision a column counts, so one of two columns of work is taken.
        let own = own.lines().filter(|line| !line.contains("act_tflops")).collect::<Vec<_>>();
        let map = suggestion(&table);
        let (suggested, written) = (read(&table, &map), read(&table, &own.join("\n")));
        assert_eq!(launches(&suggested), launches(&written), "{map}");
        for line in [
            "# from \"total_us\": \"2.874,6\", \"5.310,0\", \"318,6\"\n",
            "#   \"act_tflops\": \"0,0\", \"4,2\"",
            "#   \"occ_pct\": \"18,4\", \"16,7\", \"88,1\"\n",
        ] {
            assert!(map.contains(line), "{line}\n{map}");
        }
    }

    #[test]
    fn what_a_title_does_not_say_is_left_to_be_filled_in() {
        let map = suggestion("fn,Duration,calls\nk,3,4\n");
        assert!(map.contains("# kernel = \"COLUMN\""), "{map}");
        assert!(map.contains("# time = { column = \"Duration\", unit = \"UNIT\" }"), "{map}");
        // An average or a total: each reads a table differently.
        let map = suggestion("name,time_ms,calls\nk,3,4\n");
        assert!(map.contains("# launches = { column = \"calls\", values = \"total\" }"), "{map}");
        assert_eq!(read("name,time_ms,calls\nk,3,4\n", &map).launch(0).head.count, 1);
        // Of two columns of one title none can be read.
        assert!(suggestion("name,time_ms,time_ms\nk,3,4\n").contains("# time = "));
    }

    #[test]
    fn what_is_no_unknown_table_gets_no_mapping() {
        let refused = |text: &'static str| {
            let input = Input::text("run.csv", text);
            suggest_map(&input, &Options::default()).unwrap_err().to_string()
        };
        let known = refused("Kernel_Name,Count,Sum(ns)\nk,1,2\n");
        assert_eq!(known, "run.csv: no mapping is needed: the format is rocprof-compute-top");
        assert!(refused("hello\nworld\n").contains("text without a table"));
        assert!(refused("{\"a\": ").starts_with("run.csv: "));
    }

    proptest! {
        /// Whatever the titles are, a suggestion is a mapping as soon as kernel and time were found.
        #[test]
        fn a_suggestion_can_be_parsed(
            words in prop::collection::vec("(start|end|total|avg|time|dur|bytes|read|write|gflop|fp16|matrix|tflops|grid|block|x|y|calls|\"|\\\\|#|é)( |_|/|)(ns|us|s|MB|x|y|z|)", 1..12),
            cell in "[a-z0-9\"\\\\#]{0,6}",
        ) {
            let titles: Vec<String> =
                ["kernel", "dur_us"].into_iter().map(str::to_owned).chain(words).collect();
            let mut table = csv::Writer::from_writer(Vec::new());
            table.write_record(&titles).unwrap();
            let row = ["k", "1"].into_iter().chain(std::iter::repeat(&*cell)).take(titles.len());
            table.write_record(row).unwrap();
            let table = String::from_utf8(table.into_inner().unwrap()).unwrap();
            let map = suggestion(&table);
            prop_assert!(Mapping::from_toml(&map, "m").is_ok() || map.contains("# time = "), "{}", map);
        }
    }
}
