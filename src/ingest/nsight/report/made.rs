//! Reports made of raw pages, for tests: the same launches in the container of a report.

use std::fs;
use std::path::{Path, PathBuf};

use prost::Message;

use super::wire::{
    BlockHeader, Extent, FileHeader, LaunchResult, Metric, MetricValue, NvtxDomain, NvtxStack,
    NvtxState, NvtxThread, Process, PushPop, RuleBody, RuleItem, RuleMessage, RuleResult,
    RuleSpeedup, Session, Strings, Version,
};
use crate::ingest::{Input, Options, read};
use crate::model::{AdviceKind, Profile, Quantity};

/// The sample that the program carries: a raw page in base units.
const PAGE: &str = "fixtures/demo/h100-training-step.csv";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Launches of a raw page in base units, with the names of their metrics.
fn launches() -> (Vec<LaunchResult>, Vec<Vec<u8>>) {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_path(root().join(PAGE)).unwrap();
    let mut records = reader.records().map(Result::unwrap);
    let header = records.next().unwrap();
    let metrics: Vec<usize> = (0..header.len()).filter(|at| header[*at].contains("__")).collect();
    let names = metrics.iter().map(|at| header[*at].as_bytes().to_vec()).collect();
    let column = |name: &str| header.iter().position(|cell| cell == name).unwrap();
    let [kernel, stream, block, grid] =
        ["Kernel Name", "Stream", "Block Size", "Grid Size"].map(column);
    let extent = |text: &str| {
        let mut parts = text.trim_matches(['(', ')']).split(", ").map(|part| part.parse().unwrap());
        Some(Extent { x: parts.next()?, y: parts.next()?, z: parts.next()? })
    };
    // The first record holds the units.
    let launches = records.skip(1).map(|record| {
        let metrics = metrics.iter().zip(0_u32..).map(|(at, name)| {
            let cell = &record[*at];
            let number = cell.replace(',', "").parse().ok();
            let value = match number {
                Some(double) => MetricValue { double: Some(double), ..MetricValue::default() },
                None => MetricValue { text: Some(cell.into()), ..MetricValue::default() },
            };
            Metric { name, value: (!cell.is_empty()).then_some(value), ..Metric::default() }
        });
        LaunchResult {
            thread: 7,
            demangled: record[kernel].into(),
            function: b"k".to_vec(),
            mangled: b"_Z1kv".to_vec(),
            grid: extent(&record[grid]),
            block: extent(&record[block]),
            metrics: metrics.collect(),
            stream: record[stream].parse().ok(),
            ..LaunchResult::default()
        }
    });
    (launches.collect(), names)
}

fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut all = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
    all.extend_from_slice(bytes);
    all
}

/// What else NVIDIA's reader wants of a launch: call, program, kernel, dimensions, offset, source.
const REQUIRED: &[u8] =
    b"\x10\x01\x18\x01\x20\x01\x40\x03\x4a\x06\x08\0\x10\0\x18\0\x7a\x02\x08\x01";

/// A block: header, then a source that is to be skipped, then launches.
fn block(mut header: BlockHeader, launches: &[LaunchResult]) -> Vec<u8> {
    // A reference and the machine code.
    let mut payload = sized(b"\x08\x01\x22\x11\x7fELF machine code");
    for launch in launches {
        payload.extend(sized(&[&launch.encode_to_vec(), REQUIRED].concat()));
    }
    if launches.is_empty() {
        payload.clear();
    } else {
        header.sources = 1;
    }
    header.results = u32::try_from(launches.len()).unwrap();
    header.payload = u32::try_from(payload.len()).unwrap();
    [sized(&header.encode_to_vec()), payload].concat()
}

/// What stands before the blocks.
fn head() -> Vec<u8> {
    [b"NVR\0", sized(&FileHeader { version: Some(7) }.encode_to_vec()).as_slice()].concat()
}

/// A report in several blocks; half of the names come after all launches, and a block in between holds nothing.
fn report(launches: &[LaunchResult], names: &[Vec<u8>]) -> Vec<u8> {
    let (early, late) = names.split_at(names.len() / 2);
    let strings = |all: &[Vec<u8>]| Some(Strings { all: all.to_vec() });
    let version = Version {
        provider: b"Nsight Compute Target".to_vec(),
        text: b"2026.2.1.0 (build 1)".to_vec(),
    };
    let session = Session { versions: vec![version], command: b"ncu --set full app".to_vec() };
    let process = Some(Process { id: page().launch(0).head.process });
    let (first, rest) = launches.split_at(launches.len() / 2);
    let mut all = head();
    all.extend(block(BlockHeader { session: Some(session), ..BlockHeader::default() }, &[]));
    let header =
        BlockHeader { strings: strings(early), process: process.clone(), ..BlockHeader::default() };
    all.extend(block(header, first));
    all.extend(sized(&[]));
    all.extend(block(BlockHeader { process, ..BlockHeader::default() }, rest));
    all.extend(block(BlockHeader { strings: strings(late), ..BlockHeader::default() }, &[]));
    all
}

fn page() -> Profile {
    read(&[Input::Named(root().join(PAGE))], &Options::default()).unwrap()
}

fn read_bytes(bytes: &[u8], strict: bool) -> Result<Profile, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.ncu-rep");
    fs::write(&path, bytes).unwrap();
    let options = Options { strict, ..Options::default() };
    read(&[Input::Named(path)], &options).map_err(|error| error.to_string())
}

#[test]
fn a_report_is_read_as_its_raw_page() {
    let (launches, names) = launches();
    let (page, made) = (page(), read_bytes(&report(&launches, &names), true).unwrap());
    assert_eq!(made.launches.len(), page.launches.len());
    // The page has a column for the number of the device, the report a metric that was not asked for.
    let hint = crate::model::DeviceHint { ordinal: None, ..page.devices[0].clone() };
    assert_eq!(made.devices, [hint]);
    for row in 0..page.launches.len() {
        let (one, two) = (page.launch(row), made.launch(row));
        let head = |launch: crate::model::Launch<'_>| {
            let head = launch.head;
            (launch.kernel().to_owned(), head.process, head.id, head.shape, head.stream)
        };
        for quantity in Quantity::all() {
            let (wanted, found) = (one.value(quantity), two.value(quantity));
            assert_eq!(wanted, found, "{quantity:?} of launch {row}");
        }
        assert_eq!(head(one), head(two));
    }
    let source = &made.sources[0];
    assert_eq!(source.columns, page.sources[0].columns);
    assert_eq!(source.dialect, "report of Nsight Compute 2026.2.1.0, base units");
}

#[test]
fn the_fixture_is_what_is_made() {
    let (mut launches, names) = launches();
    launches.truncate(12);
    let made = report(&launches, &names);
    let path: PathBuf = root().join("fixtures/ncu_rep/h100-training-step.ncu-rep");
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    assert!(fs::read(&path).unwrap() == made, "run with BLESS=1 to write it");
}

#[test]
fn a_report_that_breaks_off_keeps_what_is_whole_and_says_so() {
    let (mut launches, names) = launches();
    launches.truncate(4);
    let whole = report(&launches, &names);
    for length in (0..whole.len()).step_by(3) {
        let Ok(found) = read_bytes(&whole[..length], false) else { continue };
        assert!(found.launches.len() <= 4);
        let source = &found.sources[0];
        // Between two blocks nothing tells that more should come; names that are missing do.
        let told = source.skips.count > 0 || !source.clues.is_empty();
        assert!(told || found.launches.len() == 4 || found.launches.len() == 2, "{length}");
    }
    let cut = read_bytes(&whole[..whole.len() * 2 / 3], true).unwrap_err();
    assert!(cut.contains("breaks off after launch"), "{cut}");
}

/// A report that ends 10 bytes before it should, in its only block.
#[test]
fn a_report_that_breaks_off_in_a_payload_names_the_block() {
    let (mut launches, names) = launches();
    launches.truncate(1);
    // Magic, size and header: 4 + 4 + 2 bytes.
    let begin = 10;
    let strings = Some(Strings { all: names });
    let block = block(BlockHeader { strings, ..BlockHeader::default() }, &launches);
    let whole = [head(), block].concat();
    let found = read_bytes(&whole, true).unwrap();
    assert_eq!(found.launches.len(), 1);
    let error = read_bytes(&whole[..whole.len() - 10], false).unwrap_err();
    let expected = format!(": the report breaks off at byte {begin}, before its first launch");
    assert!(error.ends_with(&expected) && !error.contains("line 0"), "{error}");
}

/// Two blocks that count 4,294,967,295 launches each without a byte of them, between two launches.
#[test]
fn launches_that_no_payload_can_hold_are_not_counted() {
    let (mut launches, names) = launches();
    launches.truncate(2);
    let strings = Some(Strings { all: names });
    let empty = |payload| {
        let header = BlockHeader { results: u32::MAX, payload, ..BlockHeader::default() };
        sized(&header.encode_to_vec())
    };
    let first = block(BlockHeader { strings, ..BlockHeader::default() }, &launches[..1]);
    let last = block(BlockHeader::default(), &launches[1..]);
    let impossible = [head(), first.clone(), empty(0), empty(0), last.clone()].concat();
    let found = read_bytes(&impossible, false).unwrap();
    let ids = |found: &Profile| found.iter().map(|launch| launch.head.id).collect::<Vec<_>>();
    assert_eq!((ids(&found), found.sources[0].skips.count), (vec![0, 1], 2));
    // 22 bytes have room for five entries: two empty ones are launches without anything, the third is longer than what is
    // left, so three are lost.
    let entries = [0, 0, 99_u32].map(u32::to_le_bytes).concat();
    let damaged = [empty(22), entries, vec![0; 10]].concat();
    let found = read_bytes(&[head(), first, damaged, last].concat(), false).unwrap();
    assert_eq!((ids(&found), found.sources[0].skips.count), (vec![0, 1, 2, 6], 3));
    let seed = [head(), empty(0), empty(0)].concat();
    let path = root().join("fuzz/corpus/ncu-rep/found-counts-without-launches");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &seed).unwrap();
    }
    assert!(fs::read(&path).unwrap() == seed, "run with BLESS=1 to write it");
}

/// A compressed report whose checksum is wrong, beyond what is looked at when it is opened.
#[cfg(feature = "encodings")]
#[test]
fn bytes_that_cannot_be_read_come_with_a_next_step() {
    use std::io::Write;

    let payload = sized(&vec![0; 600_000]);
    let size = u32::try_from(payload.len()).unwrap();
    let header = BlockHeader { sources: 1, payload: size, ..BlockHeader::default() };
    let whole = [head(), sized(&header.encode_to_vec()), payload].concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&whole).unwrap();
    let mut bytes = gzip.finish().unwrap();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let input = Input::Memory("made.ncu-rep.gz".to_owned(), bytes.as_slice().into());
    let error = read(&[input], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("cannot read: the gzip data is damaged"), "{error}");
    assert_eq!(error.next_step(), Some("the file is damaged; copy or export it again"));
}

#[test]
fn changed_bytes_are_survived() {
    let (mut launches, names) = launches();
    launches.truncate(3);
    let whole = report(&launches, &names);
    let mut state = 88_172_645_463_325_252_u64;
    for _ in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..4 {
            // xorshift (Marsaglia 2003)
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = usize::try_from(state % bytes.len() as u64).unwrap();
            bytes[at] = (state >> 40) as u8;
        }
        // Read or refused, and nothing else.
        let _ = read_bytes(&bytes, false);
    }
}

#[test]
fn a_damaged_launch_is_lost_alone_and_counted() {
    let (mut launches, names) = launches();
    launches.truncate(4);
    let whole = report(&launches, &names);
    let last = launches[3].encode_to_vec();
    let at = whole.windows(last.len()).position(|window| window == last).unwrap();
    let mut damaged = whole.clone();
    // A wire type that does not exist.
    damaged[at] = 0x0f;
    let found = read_bytes(&damaged, false).unwrap();
    assert_eq!((found.launches.len(), found.sources[0].skips.count), (3, 1));
    let error = read_bytes(&damaged, true).unwrap_err();
    assert!(error.contains("is damaged"), "{error}");
}

#[test]
fn ranges_and_rules_come_with_the_launch() {
    let (mut launches, names) = launches();
    launches.truncate(1);
    let range = |name: &str| PushPop { name: name.into() };
    let stack = NvtxStack { domain: 0, ranges: vec![range("step"), range("forward")] };
    let other =
        NvtxThread { id: 9, stacks: vec![NvtxStack { domain: 0, ranges: vec![range("x")] }] };
    launches[0].nvtx = Some(NvtxState {
        domains: vec![NvtxDomain { id: 0, name: b"<default domain>".to_vec() }],
        threads: vec![other, NvtxThread { id: 7, stacks: vec![stack] }],
        ..NvtxState::default()
    });
    let message = RuleMessage {
        text: b"Memory is more heavily utilized than @section:X:Compute@.".to_vec(),
        kind: 4,
    };
    let speedup = Some(RuleSpeedup { scope: 2, percent: 12.5 });
    let item = RuleItem { message: Some(message), speedup };
    let silent = RuleResult { id: b"CPIStall".to_vec(), body: None };
    let rule =
        RuleResult { id: b"SOLBottleneck".to_vec(), body: Some(RuleBody { items: vec![item] }) };
    launches[0].rules = vec![silent, rule];
    let found = read_bytes(&report(&launches, &names), true).unwrap();
    let launch = found.launch(0);
    assert_eq!(found.names.get(launch.head.operator), "step/forward");
    let [advice] = launch.advice() else { panic!("{:?}", launch.advice()) };
    assert_eq!(advice.kind, AdviceKind::Optimization);
    assert!((advice.speedup.unwrap().share - 0.125).abs() < 1e-12);
}

/// A graph that was profiled as a whole is a result of its own kind, beside launches or alone.
#[test]
fn a_whole_graph_is_left_out_and_counted() {
    let (launches, names) = launches();
    let graph = block(BlockHeader { graphs: 1, ..BlockHeader::default() }, &[]);
    let beside = [report(&launches, &names), graph.clone()].concat();
    let profile = read_bytes(&beside, false).unwrap();
    assert_eq!(profile.launches.len(), launches.len());
    assert_eq!(profile.sources[0].skips.count, 1);
    assert!(profile.sources[0].skips.first[0].reason.starts_with("a whole CUDA graph"));
    let error = read_bytes(&[report(&[], &names), graph].concat(), false).unwrap_err();
    assert!(error.contains("1 row is skipped") && error.contains("a whole CUDA graph"), "{error}");
}

/// 5000 and 9000 ns of one launch are none; of a counted value and the sum of a series of samples the counted one is used,
/// in either order.
#[test]
fn a_metric_with_two_values_is_left_out_and_named() {
    let (launches, _) = launches();
    let names = ["gpu__time_duration.sum", "dram__bytes.sum"].map(|name| name.as_bytes().to_vec());
    let (time, bytes) = (0, 1);
    let metric = |name, number, sampled| {
        let value = Some(MetricValue { double: Some(number), ..MetricValue::default() });
        Metric { name, value, sampled }
    };
    let read_with = |metrics: &[Metric]| {
        let launch = LaunchResult { metrics: metrics.to_vec(), ..launches[0].clone() };
        read_bytes(&report(&[launch], &names), false).unwrap()
    };
    let values = |found: &Profile| {
        let launch = found.launch(0);
        let time = launch.value(Quantity::Duration).map(|time| (time * 1e9).round());
        (time, launch.value(Quantity::DramBytes), found.sources[0].skips.count)
    };
    let (counted, sampled) = (metric(bytes, 700.0, 0), metric(bytes, 9.0, 1));
    let both = [metric(time, 5000.0, 0), metric(time, 9000.0, 0), counted.clone()];
    let found = read_with(&both);
    assert_eq!(values(&found), (None, Some(700.0), 1));
    let skip = &found.sources[0].skips.first[0];
    assert_eq!(
        (skip.line, skip.column.as_deref(), skip.text.as_str()),
        (1, Some("gpu__time_duration.sum"), "9000")
    );
    assert_eq!(skip.reason, crate::ingest::nsight::row::TWICE);
    assert_eq!(found.sources[0].columns.get("gpu__time_duration.sum"), None);
    let twice = metric(time, 5000.0, 0);
    for pair in [[counted.clone(), sampled.clone()], [sampled.clone(), counted.clone()]] {
        let found = read_with(&[&[twice.clone(), twice.clone()], &pair[..]].concat());
        assert_eq!(values(&found), (Some(5000.0), Some(700.0), 0));
    }
}
