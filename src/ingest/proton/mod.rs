//! Triton's profiler Proton: a tree of scopes with kernels as leaves (`.hatchet`), and a table of devices.
//!
//! `proton python train.py`, or `proton.start()` and `proton.finalize()`. It has times, operations and bytes as the
//! kernel's metadata function states them, and the attributes of the devices: all that a roofline needs.

mod tree;

use std::collections::{BTreeMap, HashMap};

use tree::{Device, Metric, Node, Tree};

use super::document::Document;
use super::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::{
    DeviceHint, Head, HintId, Origin, OriginKind, Pipe, Profiler, Quantity, Values,
};
use crate::plain::counted;
use crate::units::Hertz;

pub(super) const FORMAT: Format = Format {
    name: "proton",
    profiler: Profiler::Proton,
    summary: "tree of scopes (.hatchet): totals of each kernel, FLOPs and bytes from its metadata",
    command: "proton -n run python TRAIN.py   # run.hatchet",
    sniff,
    read,
};

/// Kernels that Proton itself launches to read metadata from the device.
const OWN: &str = "__proton_launch_metadata";

fn sniff(sample: &Sample) -> Sniff {
    let text = sample.text();
    let missing = ["\"frame\"", "\"metrics\"", "\"children\""]
        .into_iter()
        .find(|key| !text.trim_start().starts_with('[') || !text.contains(key));
    match missing {
        None => {
            Sniff::Yes("an array of nodes with \"frame\", \"metrics\" and \"children\"".to_owned())
        }
        Some(key) => Sniff::No(format!("no array of nodes with {key}")),
    }
}

/// What the document is, and what to do where it is not whole.
const PROFILE: [&str; 2] =
    ["Proton profile", "end the session with proton.finalize(), or write the profile again"];

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    "proton".clone_into(&mut reading.source.format);
    "tree of scopes".clone_into(&mut reading.source.dialect);
    reading.source.numerals = Numerals::default().to_string();
    let mut document = Document::new(reading);
    let tree = Tree::read(&mut document);
    let Tree { nodes, devices } = tree.map_err(|fault| document.error(reading, fault, PROFILE))?;
    let mut kernels = Kernels { devices, hints: HashMap::new(), own: 0, of_several: 0 };
    kernels.all(reading, &nodes)?;
    if kernels.of_several > 0 {
        reading.source.clues.push(format!(
            "FLOPs and bytes of {} with several kernels are left out: the file does not say whose they are",
            counted(kernels.of_several, "scope", "scopes")
        ));
    }
    if kernels.own > 0 {
        let clue = match kernels.own {
            1 => "1 kernel that Proton launched itself is left out".to_owned(),
            own => format!("{own} kernels that Proton launched itself are left out"),
        };
        reading.source.clues.push(clue);
    }
    Ok(())
}

struct Kernels {
    devices: BTreeMap<String, BTreeMap<String, Device>>,
    hints: HashMap<(String, String), HintId>,
    own: u64,
    /// Scopes that state work and have several kernels.
    of_several: u64,
}

impl Kernels {
    /// Takes all kernels, each with the names of the scopes around it.
    fn all(&mut self, reading: &mut Reading<'_>, nodes: &[Node]) -> Result<(), IngestError> {
        // How many kernels come before each node.
        let mut before = vec![0_usize];
        for node in nodes {
            before.push(before[before.len() - 1] + usize::from(node.is_kernel()));
        }
        let kernels = |at: usize, end: usize| before[end] - before[at];
        let mut scopes: Vec<(&str, Option<&Node>)> = Vec::new();
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            // The root of a tree is not a scope.
            scopes.truncate(node.depth.saturating_sub(1));
            if node.depth > 0 && node.name == OWN {
                let below = nodes[at..node.end].iter();
                self.own += below.filter(|node| node.is_kernel()).count() as u64;
                at = node.end;
                continue;
            }
            let names = || scopes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            if node.is_kernel() {
                let scope = scopes.iter().rev().find_map(|(_, scope)| *scope);
                self.kernel(reading, (node, scope), &path(&names()))?;
            }
            if node.depth > 0 {
                let states = !node.is_kernel() && node.states_work();
                let below = if states { kernels(at, node.end) } else { 0 };
                self.of_several += u64::from(below > 1);
                scopes.push((&node.name, (below == 1).then_some(node)));
            }
            at += 1;
        }
        Ok(())
    }

    fn kernel(
        &mut self,
        reading: &mut Reading<'_>,
        (node, scope): (&Node, Option<&Node>),
        scopes: &str,
    ) -> Result<(), IngestError> {
        reading.source.rows += 1;
        let row = reading.source.rows;
        for name in STATED.iter().map(|(name, _)| *name).chain(["count", TIME, "flops"]) {
            if let Some(Metric::Text(text)) = node.metrics.get(name) {
                reading.skip(row, Some(name), text, "not a number")?;
                if name == "count" {
                    return Ok(());
                }
            }
        }
        let number = |name: &str| match node.metrics.get(name) {
            Some(Metric::Number(number)) => Some(*number),
            _ => None,
        };
        let text = |name: &str| match node.metrics.get(name) {
            Some(Metric::Text(text)) => text.clone(),
            Some(Metric::Number(number)) => number.to_string(),
            None => String::new(),
        };
        let count = number("count").unwrap_or(1.0);
        if count.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&count) {
            let found = count.to_string();
            return reading.skip(row, Some("count"), &found, "not a number of launches");
        }
        let mut values = Values::default();
        let time = Origin::derived(format!("{TIME} / count"));
        if let Some(time_ns) = number(TIME).filter(|time| *time > 0.0) {
            values.set(Quantity::Duration, time_ns * 1e-9 / count, reading.origin(&time));
        }
        // What a scope states is of its only kernel, unless that states its own.
        let stated = scope.filter(|_| !node.states_work()).unwrap_or(node);
        let number = |name: &str| match stated.metrics.get(name) {
            Some(Metric::Number(number)) => Some(*number),
            _ => None,
        };
        // Beside operations by width, the plain figure is their total.
        let has_widths = STATED.iter().any(|(name, quantity)| {
            matches!(quantity, Quantity::Work(_)) && number(name).is_some()
        });
        let plain = (!has_widths).then_some(("flops", Quantity::Work(Pipe::Unstated)));
        for (name, quantity) in STATED.into_iter().chain(plain) {
            let Some(amount) = number(name) else { continue };
            if amount < 0.0 {
                reading.skip(row, Some(name), &amount.to_string(), "negative")?;
                continue;
            }
            let origin = Origin::new(OriginKind::Algorithmic, format!("{name} / count"));
            values.set(quantity, amount / count, reading.origin(&origin));
        }
        let filled = node.metrics.keys().cloned();
        for column in filled {
            *reading.source.columns.entry(column).or_default() += count as u64;
        }
        let name = reading.name(node.name.as_bytes());
        let operator = reading.name(scopes.as_bytes());
        let device = self.hint(reading, text("device_type"), text("device_id"));
        let id = u32::try_from(row).unwrap_or(u32::MAX);
        reading.push(
            Head { id, name, operator, device, count: count as u32, ..Head::default() },
            &values,
        );
        Ok(())
    }

    fn hint(&mut self, reading: &mut Reading<'_>, kind: String, number: String) -> HintId {
        let key = (kind, number);
        if let Some(hint) = self.hints.get(&key) {
            return *hint;
        }
        let device = self.devices.get(&key.0).and_then(|devices| devices.get(&key.1));
        let kilohertz = |clock: Option<f64>| clock.map(|clock| Hertz::new(clock * 1e3));
        let mut hint = DeviceHint {
            sms: device.and_then(|device| device.num_sms),
            max_sm_clock: kilohertz(device.and_then(|device| device.clock_rate)),
            max_memory_clock: kilohertz(device.and_then(|device| device.memory_clock_rate)),
            memory_bus_bits: device.and_then(|device| device.bus_width),
            ordinal: Some(key.1.clone()).filter(|number| !number.is_empty()),
            ..DeviceHint::default()
        };
        // `90` is compute capability 9.0; AMD's are names such as `gfx942`, with features behind a colon.
        let arch = device.and_then(|device| device.arch.as_deref());
        hint.gfx = arch
            .filter(|arch| arch.starts_with("gfx"))
            .and_then(|arch| arch.split(':').next())
            .map(str::to_owned);
        let digits = arch.filter(|arch| arch.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some((major, minor)) =
            digits.and_then(|arch| arch.split_at_checked(arch.len().max(1) - 1))
        {
            hint.compute_capability = Some(format!("{major}.{minor}"));
        }
        let id = reading.hint(hint);
        self.hints.insert(key, id);
        id
    }
}

/// The metric of time, a total over the launches.
const TIME: &str = "time (ns)";

/// What the metadata of kernels states. Operations are by the width of the operands: those of 8 and 16 bits run on matrix
/// units; those of 32 bits may run on either.
const STATED: [(&str, Quantity); 5] = [
    ("bytes", Quantity::DramBytes),
    ("flops8", Quantity::Work(Pipe::Fp8Matrix)),
    ("flops16", Quantity::Work(Pipe::Fp16Matrix)),
    ("flops32", Quantity::Work(Pipe::Unstated)),
    ("flops64", Quantity::Work(Pipe::Fp64Vector)),
];

/// Bytes of a kernel's path of scopes, at most: with thousands of nested scopes around thousands of kernels, whole paths
/// would grow with the square of the file.
const LONGEST_PATH: usize = 4096;

/// Names of scopes, of many the innermost ones.
fn path(scopes: &[&str]) -> String {
    let mut bytes = 0;
    let fits = |scope: &&&str| {
        bytes += scope.len() + 1;
        bytes <= LONGEST_PATH
    };
    let inner = scopes.iter().rev().take_while(fits).count().max(1).min(scopes.len());
    let shown = scopes[scopes.len() - inner..].join("/");
    if inner < scopes.len() { format!("…/{shown}") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};
    use crate::model::Profile;

    #[test]
    fn totals_become_averages_and_scopes_operators() {
        let text = r#"[{"children": [{"children": [
            {"children": [{"children": [], "frame": {"name": "k"}, "metrics": {"time (ns)": 9, "count": 1}}],
             "frame": {"name": "__proton_launch_metadata"}, "metrics": {}},
            {"children": [], "frame": {"name": "matmul"}, "metrics":
                {"time (ns)": 2000, "count": 4, "flops16": 8e6, "bytes": 400, "device_type": "CUDA", "device_id": "0"}},
            {"children": [], "frame": {"name": "odd"}, "metrics": {"time (ns)": 5, "count": 0.5}},
            {"children": [], "frame": {"name": "less"}, "metrics": {"time (ns)": 5, "flops16": -2, "bytes": 3}}],
            "frame": {"name": "layer"}, "metrics": {}}],
            "frame": {"name": "ROOT"}, "metrics": {"time (ns)": 0, "count": 0}},
            {"CUDA": {"0": {"arch": "90", "bus_width": 5120, "clock_rate": 1980000, "memory_clock_rate": 2619000, "num_sms": 132}}}]"#;
        let profile = read_text("run.hatchet", text, &Options::default()).unwrap();
        assert_eq!(profile.launches.len(), 2);
        let launch = profile.launch(0);
        assert_eq!((launch.kernel(), profile.names.get(launch.head.operator)), ("matmul", "layer"));
        assert_eq!(launch.value(Quantity::Duration), Some(2000.0 * 1e-9 / 4.0));
        assert_eq!(launch.value(Quantity::Work(Pipe::Fp16Matrix)), Some(2e6));
        let (bytes, origin) = launch.get(Quantity::DramBytes).unwrap();
        assert_eq!((bytes, origin.kind, launch.head.count), (100.0, OriginKind::Algorithmic, 4));
        let device = &profile.devices[launch.head.device.position()];
        assert_eq!(device.compute_capability.as_deref(), Some("9.0"));
        assert_eq!((device.sms, device.memory_bus_bits), (Some(132), Some(5120)));
        let source = &profile.sources[0];
        assert_eq!(source.clues, ["1 kernel that Proton launched itself is left out"]);
        assert_eq!(source.skips.first[0].reason, "not a number of launches");
        let less = profile.launch(1);
        assert_eq!(less.value(Quantity::Work(Pipe::Fp16Matrix)), None);
        assert_eq!(less.value(Quantity::DramBytes), Some(3.0));
        let skip = &source.skips.first[1];
        assert_eq!((source.skips.count, skip.column.as_deref()), (2, Some("flops16")));
        assert_eq!((&*skip.text, &*skip.reason), ("-2", "negative"));
        let cut = read_text("run.hatchet", &text[..300], &Options::default()).unwrap_err();
        assert!(cut.to_string().contains("damaged Proton profile"), "{cut}");
    }

    #[test]
    fn operations_without_a_width_are_of_unstated_precision_and_beside_others_their_total() {
        let text = r#"[{"children": [
            {"children": [], "frame": {"name": "plain"}, "metrics": {"time (ns)": 2000, "count": 2, "flops": 8e6}},
            {"children": [], "frame": {"name": "both"}, "metrics":
                {"time (ns)": 2000, "count": 1, "flops": 9e6, "flops8": 1e6, "flops16": 8e6}}],
            "frame": {"name": "ROOT"}, "metrics": {"time (ns)": 0, "count": 0}},
            {"CUDA": {"0": {"arch": "90"}}}]"#;
        let profile = read_text("run.hatchet", text, &Options::default()).unwrap();
        let work = |at, pipe| profile.launch(at).value(Quantity::Work(pipe));
        assert_eq!(work(0, Pipe::Unstated), Some(4e6));
        assert_eq!(work(1, Pipe::Unstated), None);
        assert_eq!((work(1, Pipe::Fp8Matrix), work(1, Pipe::Fp16Matrix)), (Some(1e6), Some(8e6)));
    }

    /// A kernel below so many scopes.
    fn nested(scopes: usize) -> String {
        let kernel = r#"{"children": [], "frame": {"name": "k"}, "metrics": {"time (ns)": 9}}"#;
        let open = r#"{"children": ["#.repeat(scopes);
        let close = |at| format!(r#"], "frame": {{"name": "s{at}"}}, "metrics": {{}}}}"#);
        let close: Vec<String> = (0..scopes).rev().map(close).collect();
        let close = close.concat();
        format!(r#"[{{"children": [{open}{kernel}{close}], "frame": {{"name": "ROOT"}}}}]"#)
    }

    #[test]
    fn scopes_may_be_as_deep_as_they_are() {
        let operator = |scopes: usize| {
            let profile =
                read_text("run.hatchet", nested(scopes).leak(), &Options::default()).unwrap();
            assert_eq!(profile.launches.len(), 1);
            profile.names.get(profile.launch(0).head.operator).to_owned()
        };
        assert_eq!(operator(0), "");
        assert_eq!(operator(3), "s0/s1/s2");
        // Names of five bytes, each but the first behind a slash: 682 fit in 4096 bytes.
        let deep = operator(2_000);
        assert!(deep.starts_with("…/s1318/") && deep.ends_with("/s1998/s1999"), "{deep}");
        assert_eq!(deep.len(), "…/".len() + 682 * 6 - 1);
    }

    #[test]
    fn what_is_no_tree_is_refused_at_its_place() {
        let node = r#"{"children": [], "frame": {"name": "k"}, "metrics": {"time (ns)": 9}}"#;
        for (text, told) in [
            (format!("[{node},\n 7]"), "line 2, column 2: a node is not an object"),
            (format!("[{{\"children\": [{node}]}}]"), "column 2: a node has no \"frame\""),
            (
                format!("[{node}, {{\"CUDA\": {{\"0\": {{\"num_sms\": \"x\"}}}}}}]"),
                "column 102: expected a whole number of 0 or more, found the text \"x\"",
            ),
            (node.replace("9}", "9, \"time (ns)\": 8}"), "key \"time (ns)\" is given twice"),
            (
                format!("[{}]", node.replace("9}", "null}")),
                "the value has none of the forms that are allowed here",
            ),
            (format!("[{node}]]"), "unexpected data after the end of the document"),
            (
                format!("[{node}, {{\"CUDA\": {{}}, \"CUDA\": {{}}}}]"),
                "key \"CUDA\" is given twice",
            ),
        ] {
            let text = if text.starts_with('[') { text } else { format!("[{text}]") };
            let error = read_text("run.hatchet", text.leak(), &Options::default()).unwrap_err();
            let error = error.to_string();
            assert!(
                error.contains("damaged Proton profile: line ") && error.contains(told),
                "{error}"
            );
        }
    }

    /// As `proton.scope("cublas", {"flops16": 2 * M * N * K, "bytes": ...})` writes it, each time it is entered.
    #[test]
    fn what_a_scope_states_is_of_its_only_kernel() {
        let kernel = |name: &str, metrics: &str| {
            format!(
                r#"{{"children": [], "frame": {{"name": "{name}"}}, "metrics": {{"time (ns)": 1000, "count": 10{metrics}}}}}"#
            )
        };
        let scope = |name: &str, metrics: &str, inside: &[String]| {
            format!(
                r#"{{"children": [{}], "frame": {{"name": "{name}"}}, "metrics": {{{metrics}}}}}"#,
                inside.join(", ")
            )
        };
        let work = r#""flops16": 8e9, "bytes": 4e6"#;
        let read = |inside: &[String]| {
            let text = format!("[{}]", scope("ROOT", "", inside));
            read_text("run.hatchet", text.leak(), &Options::default()).unwrap()
        };
        let of = |profile: &Profile, row: usize| {
            let launch = profile.launch(row);
            (launch.value(Quantity::Work(Pipe::Fp16Matrix)), launch.value(Quantity::DramBytes))
        };
        // Around one kernel, also with a scope between, and the innermost of two.
        let inner = scope("inner", "", &[kernel("gemm", "")]);
        let profile = read(&[scope("cublas", work, std::slice::from_ref(&inner))]);
        assert_eq!(of(&profile, 0), (Some(8e8), Some(4e5)));
        let outer = scope("outer", r#""bytes": 7e6"#, &[scope("cublas", work, &[inner])]);
        assert_eq!(of(&read(&[outer]), 0), (Some(8e8), Some(4e5)));
        // A kernel that states its work, and one beside the scope.
        let own = [scope("s", work, &[kernel("own", r#", "bytes": 1e6"#)]), kernel("other", "")];
        let profile = read(&own);
        assert_eq!([of(&profile, 0), of(&profile, 1)], [(None, Some(1e5)), (None, None)]);
        assert_eq!(profile.sources[0].clues, Vec::<String>::new());
        // With two kernels the file does not say which did the work.
        let profile = read(&[scope("split", work, &[kernel("gemm", ""), kernel("reduce", "")])]);
        assert_eq!([of(&profile, 0), of(&profile, 1)], [(None, None); 2]);
        assert_eq!(
            profile.sources[0].clues,
            [
                "FLOPs and bytes of 1 scope with several kernels are left out: the file does not say whose they are"
            ]
        );
    }
}
