//! A Chrome trace of `PyTorch`'s profiler, as `export_chrome_trace` writes it (vLLM and `SGLang` too).
//!
//! The document is read once and event by event; what is kept of it is put together at its end,
//! because an operator may come after its kernels and the device after both.

use std::io::{ErrorKind, Read};

use super::about::About;
use super::devices;
use super::event::{Unread, count, event};
use super::missing::without_kernels;
use super::ranks::Ranks;
use crate::ingest::scan::{Scanner, Stop, bare, members};
use crate::ingest::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::Profiler;
use crate::plain::counted;

pub(super) const FORMAT: Format = Format {
    name: "pytorch-trace",
    profiler: Profiler::PyTorch,
    summary: "Chrome trace of the PyTorch profiler, .json or .json.gz",
    command: "with torch.profiler.profile(record_shapes=True) as prof: …; prof.export_chrome_trace(\"trace.json.gz\")",
    sniff,
    read,
};

/// What only the `PyTorch` profiler writes into a trace.
const TELLING: [&str; 9] = [
    "\"External id\"",
    "\"external id\"",
    "\"deviceProperties\"",
    "\"cpu_op\"",
    "\"cuda_runtime\"",
    "\"Operator\"",
    "\"cat\": \"Kernel\"",
    "\"cat\": \"kernel\"",
    "\"schemaVersion\"",
];

/// How a trace shows that it is one.
const EVENTS: [&str; 3] = ["\"traceEvents\"", "\"ph\": \"", "\"ph\":\""];

fn sniff(sample: &Sample) -> Sniff {
    let text = sample.text();
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    // Most files are tables: their texts are not searched.
    if !start.starts_with(['{', '[']) {
        return Sniff::No("no JSON".to_owned());
    }
    match TELLING.iter().find(|word| text.contains(**word)) {
        Some(word) if EVENTS.iter().any(|word| text.contains(word)) => {
            Sniff::Yes(format!("a Chrome trace with {word}"))
        }
        _ => Sniff::No("JSON without events of the PyTorch profiler".to_owned()),
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut scanner = Scanner::new(reading.bytes());
    let mut ranks = Ranks::default();
    let mut about = About::default();
    let ended = document(&mut scanner, reading, &mut ranks, &mut about)?;
    // What follows a document would be dropped in silence.
    let ended = ended.and_then(|()| match scanner.peek()? {
        None => Ok(()),
        Some(_) => Err(Stop::Damaged("unexpected data after the end of the document")),
    });
    let place = scanner.place();
    let lost = match ended {
        Ok(()) => None,
        Err(Stop::Cut) => Some(format!("the trace breaks off at byte {place}")),
        Err(Stop::Failed(error)) if error.kind() == ErrorKind::UnexpectedEof => {
            Some(format!("the file breaks off at byte {place} of the trace"))
        }
        Err(Stop::Damaged(what)) => Some(format!("the trace is damaged at byte {place} ({what})")),
        Err(Stop::Failed(error)) => return Err(reading.failed(error)),
    };
    let launches = ranks.kernels();
    if let Some(lost) = lost {
        if launches == 0 {
            return Err(reading
                .error(format!("{lost}, before its first kernel"))
                .help("write the trace again: let export_chrome_trace end before the program does, and copy all of the file"));
        }
        reading.skip(0, None, "", format!("{lost}: what follows is lost"))?;
        let first = counted(launches, "launch", "launches");
        reading.check(&format!("{lost}, after {first}: later launches are missing"));
    }
    if launches == 0 {
        return Err(without_kernels(reading, &ranks));
    }
    ranks.write(reading, &about);
    Ok(())
}

/// Reads the whole document; the outer error stops reading, the inner one ends the document.
fn document(
    scanner: &mut Scanner<Box<dyn Read + Send>>,
    reading: &mut Reading<'_>,
    ranks: &mut Ranks,
    about: &mut About,
) -> Result<Result<(), Stop>, IngestError> {
    /// Ends the document where a part of it cannot be read.
    macro_rules! or_end {
        ($part:expr) => {
            match $part {
                Ok(part) => part,
                Err(stop) => return Ok(Err(stop)),
            }
        };
    }
    if or_end!(scanner.mark(b'[')) {
        return events(scanner, reading, ranks);
    }
    if !or_end!(scanner.mark(b'{')) {
        return Ok(Err(Stop::Damaged("it begins with neither { nor [")));
    }
    if or_end!(scanner.mark(b'}')) {
        return Ok(Ok(()));
    }
    loop {
        let key = or_end!(scanner.value()).to_vec();
        if !or_end!(scanner.mark(b':')) {
            return Ok(Err(Stop::Damaged("no colon after a key")));
        }
        match bare(&key) {
            b"traceEvents" if or_end!(scanner.mark(b'[')) => {
                or_end!(events(scanner, reading, ranks)?);
            }
            b"deviceProperties" => about.devices = devices::properties(or_end!(scanner.value())),
            b"baseTimeNanoseconds" => about.base = count(or_end!(scanner.value())).unwrap_or(0),
            b"distributedInfo" => about.rank = rank(or_end!(scanner.value())),
            _ => {
                or_end!(scanner.value());
            }
        }
        if !or_end!(scanner.more(b'}')) {
            return Ok(Ok(()));
        }
    }
}

fn events(
    scanner: &mut Scanner<Box<dyn Read + Send>>,
    reading: &mut Reading<'_>,
    ranks: &mut Ranks,
) -> Result<Result<(), Stop>, IngestError> {
    match scanner.mark(b']') {
        Ok(true) => return Ok(Ok(())),
        Ok(false) => {}
        Err(stop) => return Ok(Err(stop)),
    }
    loop {
        let place = scanner.place();
        let object = match scanner.value() {
            Ok(object) => object,
            Err(stop) => return Ok(Err(stop)),
        };
        match event(object) {
            Ok(None) => {}
            Ok(Some(event)) => {
                let taken = ranks.take(&event, |name| reading.name(name));
                match taken {
                    Ok(None) => {}
                    Ok(Some(key)) => {
                        let reason = format!("cannot be read in the event at byte {place}");
                        let mut arguments = members(event.args);
                        let value = arguments.find(|(of, _)| *of == key.as_bytes());
                        let value = value.map_or(&b""[..], |(_, value)| value);
                        reading.skip(0, Some(key), &String::from_utf8_lossy(value), reason)?;
                    }
                    Err((key, text)) => {
                        reading.source.rows += 1;
                        let reason = format!("the event at byte {place} has no time");
                        reading.skip(0, Some(key), &text, reason)?;
                    }
                }
            }
            Err(unread) => {
                reading.source.rows += 1;
                let (what, text) = match unread {
                    Unread::Stray(text) => ("is not JSON: a brace or a quote is missing", text),
                    Unread::Half(name) => ("is only a beginning (ph B): its end is not read", name),
                    Unread::Trace => {
                        ("is a whole trace: write each to a file of its own", &b"traceEvents"[..])
                    }
                };
                let reason = format!("the event at byte {place} {what}");
                reading.skip(0, None, &String::from_utf8_lossy(text), reason)?;
            }
        }
        match scanner.more(b']') {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(())),
            Err(stop) => return Ok(Err(stop)),
        }
    }
}

/// `rank 3 of 8`.
fn rank(object: &[u8]) -> Option<String> {
    let [mut rank, mut ranks] = [None; 2];
    for (key, value) in members(object) {
        match key {
            b"rank" => rank = count(value),
            b"world_size" => ranks = count(value),
            _ => {}
        }
    }
    let rank = rank?;
    Some(ranks.map_or_else(|| format!("rank {rank}"), |ranks| format!("rank {rank} of {ranks}")))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::ingest::{Input, Options, read};
    use crate::model::{Dim3, OriginKind, Pipe, Profile, Quantity};

    fn fixture(name: &str) -> Profile {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("fixtures/pytorch_trace").join(name);
        let strict = Options { strict: true, ..Options::default() };
        read(&[Input::Named(path)], &strict).unwrap()
    }

    fn read_bytes(bytes: &[u8]) -> Result<Profile, String> {
        let directory = tempfile::tempdir().unwrap();
        let path: PathBuf = directory.path().join("trace.json");
        std::fs::write(&path, bytes).unwrap();
        read(&[Input::Named(path)], &Options::default()).map_err(|error| error.to_string())
    }

    /// A kernel event with these arguments after its correlation.
    fn kernel(name: &str, ts: &str, dur: &str, args: &str) -> String {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": 7, "ts": {ts}, "dur": {dur}, "args": {{"External id": 1, "device": 0, "stream": 7, "grid": [2, 1, 1], "block": [32, 1, 1]{args}}}}}"#
        )
    }

    fn trace(events: &[String]) -> String {
        format!(r#"{{"schemaVersion": 1, "traceEvents": [{}]}}"#, events.join(", "))
    }

    #[test]
    fn a_launch_has_its_start_device_stream_operator_and_configuration() {
        let profile = fixture("a100-training.json");
        assert_eq!(profile.launches.len(), 22);
        let first = profile.launch(0);
        assert!(first.kernel().starts_with("sm80_xmma_fprop"), "{}", first.kernel());
        // 1090 µs after the base of the file.
        assert_eq!(first.head.start, Some(1_712_194_000_001_090_000));
        assert_eq!((first.head.id, first.head.stream), (0, Some(7)));
        assert_eq!(first.head.shape.grid, Some(Dim3 { x: 196, y: 1, z: 1 }));
        assert_eq!(first.value(Quantity::Duration), Some(41.184e-6));
        assert_eq!(first.value(Quantity::RegistersPerThread), Some(234.0));
        assert_eq!(
            profile.names.get(first.head.operator),
            "aten::cudnn_convolution 32x64x56x56,128x64x3x3 fp16"
        );
        let device = &profile.devices[first.head.device.position()];
        assert_eq!(device.name.as_deref(), Some("NVIDIA A100-SXM4-80GB"));
        assert_eq!((device.sms, device.ordinal.as_deref()), (Some(108), Some("0")));
        // 2 · 32·128·28·28 · 64·3·3 operations; half the size of input, filter and output in bytes.
        let (pipe, flops, origin) = first.work().next().unwrap();
        assert_eq!((pipe, flops.get()), (Pipe::Fp16Matrix, 3_699_376_128.0));
        assert_eq!(origin.kind, OriginKind::Algorithmic);
        let bytes = 2.0 * (6_422_528.0 + 73_728.0 + 3_211_264.0);
        assert_eq!(first.value(Quantity::DramBytes), Some(bytes));
    }

    /// The call of the first kernel lies in a module, the operator of the second has a stack, the third has neither and
    /// lies in a function of a library, which one of the program called.
    #[test]
    fn a_launch_knows_the_module_the_lines_or_the_function_that_made_it() {
        let event = |cat: &str, name: &str, (ts, dur): (u32, u32), args: &str| {
            format!(
                r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 9, "tid": 1, "ts": {ts}.5, "dur": {dur}.0, "args": {{{args}}}}}"#
            )
        };
        let on_gpu = |name: &str, ts: u32, external: u32| {
            let args = format!(
                r#""External id": {external}, "correlation": {ts}, "device": 0, "stream": 7"#
            );
            event("kernel", name, (ts, 5), &args)
        };
        let call = |ts: u32, of: u32| {
            event("cuda_runtime", "cudaLaunchKernel", (ts, 1), &format!(r#""correlation": {of}"#))
        };
        let stack = r#""External id": 2, "Call stack": "/x/site-packages/torch/a.py(1): f;train.py(7): step""#;
        let text = trace(&[
            event("python_function", "nn.Module: Net_0", (0, 50), ""),
            event("python_function", "nn.Module: Linear_3", (10, 10), ""),
            event("python_function", "train.py(7): main", (0, 90), ""),
            event("python_function", "torch/optim/adam.py(9): step", (82, 6), ""),
            call(15, 100),
            event("cpu_op", "aten::add", (60, 10), stack),
            call(65, 110),
            call(85, 120),
            on_gpu("one", 100, 1),
            on_gpu("two", 110, 2),
            on_gpu("three", 120, 3),
        ]);
        let profile = read_bytes(text.as_bytes()).unwrap();
        let places: Vec<&str> =
            profile.iter().map(|launch| profile.names.get(launch.head.place)).collect();
        assert_eq!(places, ["Net_0 > Linear_3", "train.py(7): step", "train.py(7): main"]);
    }

    #[test]
    fn the_work_of_an_operator_is_shared_and_helpers_have_none_of_it() {
        let profile = fixture("a100-training.json");
        let find = |part: &str| {
            let mut found = profile.iter().filter(|launch| launch.kernel().contains(part));
            found.next().unwrap()
        };
        let product = find("s1688gemm");
        assert_eq!(
            product.value(Quantity::Work(Pipe::Tf32Matrix)),
            Some(2.0 * 4096.0 * 4096.0 * 1024.0)
        );
        let helper = find("splitKreduce");
        assert_eq!((helper.work().count(), helper.dram_bytes()), (0, None));
        // Both kernels over lists together do what the operator does: 12,000,000 elements, thrice 4 bytes.
        let lists = profile.iter().filter(|one| one.kernel().contains("multi_tensor")).take(2);
        let bytes: f64 = lists.filter_map(|one| one.value(Quantity::DramBytes)).sum();
        assert!((bytes - 144e6).abs() < 1.0, "{bytes}");
        assert_eq!(find("triton_poi").value(Quantity::DramBytes), Some(67_108_864.0));
        let nccl = find("nccl");
        assert_eq!((nccl.work().count(), nccl.dram_bytes(), nccl.head.stream), (0, None, Some(20)));
    }

    #[test]
    fn old_traces_get_types_from_kernels_and_sizes_from_the_operators_around() {
        let profile = fixture("v100-list-2020.json.gz");
        let work = |part: &str| {
            let launch = profile.iter().find(|launch| launch.kernel().contains(part)).unwrap();
            let flops = launch.value(Quantity::Work(Pipe::Fp32Vector));
            (flops, launch.value(Quantity::DramBytes))
        };
        // Input and output of 32·64·56·56, a filter of 64·64·3·3: forward and both gradients alike.
        let output = 6_422_528.0;
        let all = (Some(2.0 * output * 576.0), Some(4.0 * (2.0 * output + 36_864.0)));
        for part in ["volta_scudnn", "dgrad_engine", "wgrad_alg0_engine"] {
            assert_eq!(work(part), all, "{part}");
        }
        assert_eq!(work("threshold"), (Some(output), Some(8.0 * output)));
        // 0 is less than a microsecond, and 1 is up to 2.
        let short: Vec<_> =
            profile.iter().filter(|launch| launch.kernel().contains("AddFunctor")).collect();
        assert_eq!(short.len(), 6);
        assert_eq!(short.iter().filter(|launch| launch.duration().is_none()).count(), 3);
        let timed = short.iter().find_map(crate::model::Launch::duration).unwrap();
        assert_eq!((timed.0.get(), timed.1.low, timed.1.high), (1e-6, 1.0, 2.0));
    }

    #[test]
    fn grids_of_amd_come_from_the_calls() {
        let profile = fixture("mi250-step.json");
        assert_eq!(profile.launches.len(), 2);
        let [product, sum] = [profile.launch(0), profile.launch(1)];
        assert_eq!(product.head.shape.grid, Some(Dim3 { x: 16, y: 16, z: 1 }));
        assert_eq!(product.value(Quantity::Work(Pipe::Fp16Matrix)), Some(8_589_934_592.0));
        assert_eq!(sum.value(Quantity::DramBytes), Some(3.0 * 4.0 * 4096.0 * 4096.0));
        let clues = &profile.sources[0].clues;
        let has = |part: &str| clues.iter().any(|clue| clue.contains(part));
        assert!(has("1 copy (12.8 µs) and 1 fill (4.16 µs)") && has("MI250"), "{clues:?}");
    }

    /// A trace of one operator that launches these kernels.
    fn operator(name: &str, dims: &str, types: &str, kernels: &[&str]) -> Profile {
        let operator = format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 1, "ts": 1, "dur": 90, "args": {{"External id": 1, "Input Dims": {dims}, "Input type": {types}}}}}"#
        );
        let mut events = vec![operator];
        events.extend(
            (0..)
                .zip(kernels)
                .map(|(at, name)| kernel(name, &format!("{}.5", 100 + 10 * at), "2.25", "")),
        );
        read_bytes(trace(&events).as_bytes()).unwrap()
    }

    /// The operations of each launch.
    fn operations(profile: &Profile) -> Vec<Option<f64>> {
        let first =
            |launch: crate::model::Launch<'_>| launch.work().next().map(|work| work.1.get());
        profile.iter().map(first).collect()
    }

    #[test]
    fn a_product_is_counted_once() {
        const GEMM: &str = "ampere_sgemm_128x64_nn";
        const EPILOGUE: &str = "void cublasLt::epilogue::impl::globalKernel<8, 32, float>()";
        let mm = |kernels: &[&str]| {
            let types = r#"["float", "float"]"#;
            operations(&operator("aten::mm", "[[64, 32], [32, 16]]", types, kernels))
        };
        let all = Some(2.0 * 64.0 * 32.0 * 16.0);
        assert_eq!(mm(&[GEMM]), [all]);
        assert_eq!(mm(&["odd"]), [all]);
        assert_eq!(mm(&[GEMM, EPILOGUE]), [all, None]);
        assert_eq!(mm(&["odd", GEMM]), [None, all]);
        assert_eq!(mm(&[EPILOGUE]), [None]);
        assert_eq!(mm(&[GEMM, GEMM]), [None, None]);
        assert_eq!(mm(&["odd", "even"]), [None, None]);
    }

    #[test]
    fn complex_products_are_counted_in_real_operations() {
        let types = r#"["c10::complex<float>", "c10::complex<float>"]"#;
        let kernels = ["ampere_cgemm_64x64_nn"];
        let one = operator("aten::mm", "[[64, 32], [32, 16]]", types, &kernels);
        assert_eq!(operations(&one), [Some(8.0 * 64.0 * 32.0 * 16.0)]);
        let many = operator("aten::bmm", "[[3, 64, 32], [3, 32, 16]]", types, &kernels);
        assert_eq!(operations(&many), [Some(8.0 * 3.0 * 64.0 * 32.0 * 16.0)]);
    }

    /// Wherever the file ends, kernels that are whole are read, and no others.
    #[test]
    fn a_trace_that_breaks_off_gives_what_is_whole() {
        let text = trace(&[kernel("a", "1.5", "2.25", ""), kernel("b", "9.5", "3.25", "")]);
        let ends: Vec<usize> = text.match_indices("}}").map(|(at, _)| at + 2).collect();
        for length in 30..text.len() {
            let whole = ends.iter().filter(|end| **end <= length).count();
            match read_bytes(&text.as_bytes()[..length]) {
                Ok(profile) => {
                    assert_eq!(profile.launches.len(), whole, "{length}");
                    let skips = &profile.sources[0].skips;
                    assert_eq!(skips.count, 1, "{length}");
                    assert!(skips.first[0].reason.contains("breaks off at byte"), "{skips:?}");
                }
                Err(error) => assert!(whole == 0, "{length}: {error}"),
            }
        }
        assert_eq!(read_bytes(text.as_bytes()).unwrap().sources[0].skips.count, 0);
    }

    #[test]
    fn what_is_no_json_inside_of_events_does_no_harm() {
        let odd = r#", "queued": NaN, "note": "C:\dir\u00zz""#;
        let mut bytes =
            trace(&[kernel("a", "1.5", "2.25", odd), kernel("b", "9.5", "x", "")]).into_bytes();
        let at = bytes.windows(5).position(|part| part == b"queue").unwrap();
        bytes[at] = 0xff;
        let profile = read_bytes(&bytes).unwrap();
        assert_eq!(profile.launches.len(), 1);
        let skip = &profile.sources[0].skips.first[0];
        assert_eq!((skip.column.as_deref(), skip.text.as_str()), (Some("dur"), "x"));
    }

    #[test]
    fn what_is_lost_is_told_first() {
        let operator = kernel("aten::mm", "1", "2", "").replace("\"kernel\"", "\"cpu_op\"");
        let text =
            trace(&[operator, kernel("a", "1.5", "2.25", ""), kernel("b", "9.5", "3.25", "")]);
        let at = |part: &str| text.find(part).unwrap();
        let error = read_bytes(&text.as_bytes()[..at("\"a\"")]).unwrap_err();
        assert!(error.contains("breaks off at byte") && error.contains("first kernel"), "{error}");
        let profile = read_bytes(&text.as_bytes()[..at("\"b\"")]).unwrap();
        let says = "after 1 launch: later launches are missing";
        assert!(profile.checks.iter().any(|check| check.contains(says)), "{:?}", profile.checks);
        let twice = read_bytes(format!("{text}\n{text}").as_bytes()).unwrap();
        assert_eq!((twice.launches.len(), twice.sources[0].skips.count), (2, 1));
        assert!(twice.checks[0].contains("unexpected data"), "{:?}", twice.checks);
        assert_eq!(read_bytes(format!("{text}\n").as_bytes()).unwrap().checks, [""; 0]);
    }

    #[test]
    fn events_that_cannot_be_read_are_named() {
        let odd = kernel("a", "1.5", "600,5", "");
        let profile =
            read_bytes(trace(&[odd.clone(), kernel("b", "9.5", "3.25", "")]).as_bytes()).unwrap();
        assert_eq!((profile.launches.len(), profile.sources[0].skips.count), (1, 1));
        assert_eq!(profile.sources[0].skips.first[0].text, "5");
        for (event, says) in
            [(odd, "a brace or a quote is missing"), (kernel("a", "1", "x", ""), "no time")]
        {
            let error = read_bytes(trace(&[event]).as_bytes()).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        // Before its brace, and where the colon of its category is.
        let one = kernel("a", "1", "2", "");
        for odd in
            [format!("x{one}"), format!("/*x*/{one}"), one.replace("\"kernel\"", "@\"kernel\"")]
        {
            let both =
                read_bytes(trace(&[odd.clone(), kernel("b", "9", "3", "")]).as_bytes()).unwrap();
            assert_eq!((both.launches.len(), both.sources[0].skips.count), (1, 1), "{odd}");
        }
    }

    /// A table has no cell for it.
    #[test]
    fn a_name_of_blanks_is_none() {
        let of = |name| {
            let profile = operator(name, "[]", "[]", &["k"]);
            profile.names.get(profile.launch(0).head.operator).to_owned()
        };
        assert_eq!([of("aten::x"), of(" ")], ["aten::x", ""]);
    }

    #[test]
    fn an_event_that_is_written_twice_is_counted_once() {
        let one = |correlation: u32, dur: &str| {
            kernel("a", "1.5", dur, &format!(", \"correlation\": {correlation}"))
        };
        for (events, launches) in [
            ([one(4, "2.25"), one(4, "2.25")], 1),
            ([one(4, "2.25"), one(5, "2.25")], 2),
            ([one(4, "0"), one(4, "0")], 2),
            ([one(0, "2.25"), one(0, "2.25")], 2),
        ] {
            let profile = read_bytes(trace(&events).as_bytes()).unwrap();
            assert_eq!(profile.launches.len(), launches, "{events:?}");
            let is_told = profile.sources[0].clues.iter().any(|clue| clue.contains("twice"));
            assert_eq!(is_told, launches == 1);
        }
    }

    /// Branches of a graph run side by side, on one stream by the trace.
    #[test]
    fn two_nodes_of_a_graph_are_two_launches_also_at_one_time() {
        let node = |node: u32| {
            kernel("a", "1.5", "2.25", &format!(", \"correlation\": 4, \"graph node id\": {node}"))
        };
        for (events, launches) in [([node(1), node(2)], 2), ([node(2), node(2)], 1)] {
            let profile = read_bytes(trace(&events).as_bytes()).unwrap();
            assert_eq!(profile.launches.len(), launches, "{events:?}");
        }
    }

    #[test]
    fn several_devices_of_a_file_are_kept_apart() {
        let other = kernel("b", "9.5", "3.25", "").replace("\"device\": 0", "\"device\": 3");
        let text = trace(&[kernel("a", "1.5", "2.25", ""), other]);
        let profile = read_bytes(text.as_bytes()).unwrap();
        let ordinals: Vec<_> =
            profile.devices.iter().filter_map(|device| device.ordinal.as_deref()).collect();
        assert_eq!(ordinals, ["0", "3"]);
    }

    /// Averages name no device: theirs is not that of the trace that was read before them.
    #[test]
    fn several_files_keep_their_devices() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let files = ["pytorch_trace/a100-training.json", "pytorch_averages/a100-table.txt"];
        let inputs = files.map(|file| Input::Named(root.join(file)));
        let profile = read(&inputs, &Options::default()).unwrap();
        let name = |row: usize| {
            let device = profile.launch(row).head.device;
            profile.devices[device.position()].name.as_deref()
        };
        let last = profile.launches.len() - 1;
        assert_eq!((name(0), name(last)), (Some("NVIDIA A100-SXM4-80GB"), None));
    }

    #[test]
    fn a_trace_without_gpu_work_says_why() {
        let call = r#"{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 3}}"#;
        let copy = kernel("m", "1", "2", "").replace("\"kernel\"", "\"gpu_memcpy\"");
        let replay = kernel("m", "1", "2", "").replace("\"kernel\"", "\"cuda_profiler_range\"");
        let half = kernel("m", "1", "2", "").replace("\"X\"", "\"B\"");
        let whole = trace(&[kernel("m", "1", "2", "")]);
        for (events, says) in [
            (vec![], "the trace has no GPU work"),
            (vec![half], "is only a beginning (ph B): its end is not read: \"m\""),
            (vec![whole.clone(), whole], "no kernel can be read of 2 events: the event at byte"),
            (vec![call.to_owned()], "launches 1 kernel and has no GPU work"),
            (vec![copy], "has 1 copy or fill and no kernels"),
            (vec![replay], "counters of replayed ranges"),
        ] {
            let error = read_bytes(trace(&events).as_bytes()).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    /// Only the base of the file makes absolute times.
    #[test]
    fn a_start_before_the_base_of_the_file_is_one() {
        let events = [kernel("k", "-5", "2.5", ""), kernel("k", "10.5", "2.5", "")];
        let text = trace(&events).replacen('{', "{\"baseTimeNanoseconds\": 1000000, ", 1);
        let profile = read_bytes(text.as_bytes()).unwrap();
        let starts: Vec<_> = profile.iter().map(|launch| launch.head.start).collect();
        assert_eq!(starts, [Some(995_000), Some(1_010_500)]);
    }
}
