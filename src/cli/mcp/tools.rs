//! The tools: what each is for, its arguments, and the command that it runs.
//!
//! A tool is a command of the program with its text and its JSON, so that an assistant reads what people read.

use std::ffi::OsString;

use serde_json::{Map, Value, json};

use super::arguments::Words;
use crate::cli::call::{self, Held, Problem, Wording};

/// Kernels or checks that an answer has at most, if the call does not say how many.
const ROWS: usize = 10;

/// A tool.
pub(super) struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// The schema of its arguments: properties, and which are needed.
    schema: fn() -> (Value, &'static [&'static str]),
    /// The words of its command.
    command: fn(Words<'_>) -> Result<Command, String>,
}

/// The command of a call.
struct Command {
    words: Vec<OsString>,
    /// The kernels of a run that are explained, instead of reporting on it.
    explained: Option<Vec<String>>,
    /// How much of its JSON is passed on.
    kept: Kept,
}

/// How much of the JSON of a command is passed on: an assistant reads all of it.
enum Kept {
    All,
    /// So many kernels of a report.
    Kernels(usize),
    /// So many checks of a comparison.
    Checks(usize),
    /// Names and main figures of devices.
    Devices,
}

/// What a tool answers.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) data: Option<Value>,
    pub(super) is_error: bool,
}

/// Every tool.
static TOOLS: [Tool; 5] = [
    Tool {
        name: "analyze",
        title: "Analyze a GPU profile",
        description: "Compare the kernels of a GPU profiler export with the roofline of their GPU and rank them by \
            potential savings. Use this first for any profile (.csv, .ncu-rep, .sqlite, .json, .txt, .gz). The text is \
            a brief: run time, savings, top kernels with cause and next step, what is missing. The data has totals and \
            kernels with state, limiter, roofline time, headroom, savings and findings.",
        schema: || {
            let more = json!({
                "kernels": texts("Only these kernels: a name or a part of it, a pattern with *, or #1 for the first"),
                "what_if": texts("Estimate times on other GPUs (their names), or with tensor-cores, bf16 or fused"),
                "top": { "type": "integer", "minimum": 1, "description": "Kernels in the data; 10 if left out" },
            });
            (with_reading(more), &["files"])
        },
        command: |mut words| {
            let top = words.count("top", ROWS)?;
            reading(&mut words)?;
            words.option("kernels", "kernel")?;
            words.option("what_if", "what-if")?;
            Ok(Command::of(words, "analyze", Kept::Kernels(top)))
        },
    },
    Tool {
        name: "explain",
        title: "Explain a kernel or a rule",
        description: "Show the arithmetic behind the verdict on one kernel line by line, with where each number comes \
            from and every finding with its evidence; or the documentation of a rule. Use it to justify or check \
            what analyze reports. Give files with a kernel, or a rule.",
        schema: || {
            let more = json!({
                "kernel": text("A name or a part of it, or #2 for the second of the ranking; #1 if left out"),
                "rule": text("Id of a rule instead of files, such as uncoalesced-access"),
            });
            (with_reading(more), &[])
        },
        command: |mut words| {
            if let Some(rule) = words.texts("rule")?.pop() {
                if let Some(other) = ["files", "kernel"].into_iter().find(|key| words.has(key)) {
                    return Err(format!("a rule is documented without {other}: give one of them"));
                }
                words.name(rule);
                return Ok(Command::of(words, "rules", Kept::All));
            }
            reading(&mut words)?;
            let explained = Some(words.texts("kernel")?);
            Ok(Command { explained, ..Command::of(words, "analyze", Kept::All) })
        },
    },
    Tool {
        name: "compare",
        title: "Compare two runs",
        description: "Compare a run with an earlier one, kernel by kernel: what became slower or faster beyond the \
            noise, what is new or gone, and what is not certain. Each side is an export, a folder of ranks, a quoted \
            pattern of repeated runs, or a saved run. It informs and enforces nothing.",
        schema: || {
            let properties = json!({
                "baseline": text("Path of the earlier run"),
                "current": text("Path of the run to look at"),
                "device": text("GPU, if the exports do not name it or name it wrong"),
                "baseline_device": text("GPU of the baseline, if it differs"),
                "across_devices": { "type": "boolean", "description": "Compare runs on different GPUs, by headroom" },
                "top": { "type": "integer", "minimum": 1, "description": "Checks in the data, the gravest first; 10 if left out" },
            });
            (properties, &["baseline", "current"])
        },
        command: |mut words| {
            let top = words.count("top", ROWS)?;
            words.option("device", "device")?;
            words.option("baseline_device", "baseline-device")?;
            if words.is("across_devices")? {
                words.add("--across-devices");
            }
            for side in ["baseline", "current"] {
                words.needed(side)?;
                words.files(side)?;
            }
            Ok(Command::of(words, "diff", Kept::Checks(top)))
        },
    },
    Tool {
        name: "predict",
        title: "Predict a kernel's time",
        description: "Estimate the roofline time of a kernel on GPUs from its sizes, without a profile. Without \
            arguments it lists the kernels that can be predicted; with a kernel and no device, that kernel's \
            parameters and how it is counted. A prediction is a lower bound of the time, not a measurement.",
        schema: || {
            let properties = json!({
                "kernel": text("Name of the kernel, such as gemm, axpy, attention"),
                "sizes": {
                    "type": "object",
                    "description": "Its sizes, such as {\"m\": 4096, \"n\": 4096, \"k\": 4096, \"dtype\": \"bf16\"}",
                    "additionalProperties": { "type": ["string", "number"] },
                },
                "device": texts("GPUs"),
            });
            (properties, &[])
        },
        command: |mut words| {
            let devices = words.texts("device")?;
            let kernel = words.texts("kernel")?.pop();
            for name in kernel.iter().cloned() {
                words.name(name);
            }
            if devices.is_empty() || kernel.is_none() {
                let needed = if kernel.is_none() { "kernel" } else { "device" };
                let unused = ["sizes", "device"].into_iter().find(|key| words.has(key));
                if let Some(unused) = unused {
                    return Err(format!("{unused} is of no use without {needed}: give both"));
                }
                words.add("--list");
                return Ok(Command::of(words, "predict", Kept::All));
            }
            words.option("device", "device")?;
            for (key, size) in words.pairs("sizes")? {
                words.name(format!("{key}={size}"));
            }
            Ok(Command::of(words, "predict", Kept::All))
        },
    },
    Tool {
        name: "devices",
        title: "List or show GPUs",
        description: "List the GPUs that rooflint knows, or show one with every figure and its source: bandwidth, \
            peaks per pipe, clocks, caches, achievable rates. Use it to find the name for `device`.",
        schema: || {
            (json!({ "name": text("A GPU by any of its names; all are listed if left out") }), &[])
        },
        command: |mut words| {
            let name = words.texts("name")?.pop();
            let kept = if name.is_some() { Kept::All } else { Kept::Devices };
            if let Some(name) = name {
                words.name(name);
            }
            Ok(Command::of(words, "devices", kept))
        },
    },
];

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

/// Properties of a tool that reads exports.
fn with_reading(more: Value) -> Value {
    let mut all = json!({
        "files": texts("Paths of exports: files, folders of ranks, or patterns"),
        "device": text("GPU, if the export does not name it or names it wrong"),
        "from": text("Input format, if it is not recognized; see `rooflint formats`"),
        "map": text("Path of a mapping for a table that no format knows"),
        "ceilings": {
            "type": "string",
            "enum": ["auto", "spec", "measured-clock", "achievable"],
            "description": "Roofs to compare with; auto: at measured clocks if available",
        },
    });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    all
}

/// Passes on how exports are read.
fn reading(words: &mut Words<'_>) -> Result<(), String> {
    for key in ["device", "from", "map", "ceilings"] {
        words.option(key, key)?;
    }
    words.files("files")
}

impl Command {
    fn of(words: Words<'_>, command: &str, kept: Kept) -> Self {
        Self { words: words.of(command), explained: None, kept }
    }

    /// Its text and its JSON, and whether that is all of a comparison that could compare nothing.
    fn run(self) -> Result<Answer, Box<Problem>> {
        // Of two sides, the earlier comes first.
        let answer = call::call(self.words, Held { earlier: 1, ..Held::default() })?;
        let written = |format: &str| match &self.explained {
            Some(kernels) => answer.explained(kernels, format, Wording::default()),
            None => Ok(answer.written(format, Wording::default()).unwrap_or_default()),
        };
        let (text, data) = (written("text")?, written("json")?);
        let data = serde_json::from_str(&data).ok().map(|data| self.kept.of(data));
        Ok(Answer { text, data, is_error: answer.is_without_result() })
    }
}

/// The tools as clients list them.
pub(super) fn list() -> Vec<Value> {
    let described = |tool: &Tool| {
        let (properties, required) = (tool.schema)();
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            },
            "annotations": {
                "title": tool.title,
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
        })
    };
    TOOLS.iter().map(described).collect()
}

/// The tool of a name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Runs a tool's command.
pub(super) fn answer(tool: &Tool, given: &Map<String, Value>) -> Answer {
    let error = |text: String| Answer { text, data: None, is_error: true };
    let (properties, _) = (tool.schema)();
    let known: Vec<&str> =
        properties.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let command = match Words::new(given, &known).and_then(tool.command) {
        Ok(command) => command,
        Err(text) => return error(text),
    };
    command.run().unwrap_or_else(|problem| error(format!("error: {problem}")))
}

impl Kept {
    /// The part of a document that is passed on. It names the schema of the whole, which it does not follow.
    fn of(&self, mut data: Value) -> Value {
        if let (Some(data), false) = (data.as_object_mut(), matches!(self, Self::All))
            && let Some(schema) = data.remove("schema")
        {
            data.insert("part_of".to_owned(), schema);
        }
        match self {
            Self::All => {}
            Self::Kernels(most) => {
                shorten(&mut data, "kernels", *most);
                // What takes most room and says least of a kernel; `--format json` has it.
                for key in ["rules", "devices", "inputs_compared"] {
                    data.as_object_mut().map(|data| data.remove(key));
                }
                if let Some(device) = data.get_mut("device").and_then(Value::as_object_mut) {
                    device.retain(|key, _| ["name", "source", "notes"].contains(&key.as_str()));
                }
                for kernel in data["kernels"].as_array_mut().into_iter().flatten() {
                    for key in ["averages", "work", "levels", "tool_advice"] {
                        kernel.as_object_mut().map(|kernel| kernel.remove(key));
                    }
                }
                without_null(&mut data);
            }
            Self::Checks(most) => {
                shorten(&mut data, "checks", *most);
                // Each check has what was compared for it.
                data.as_object_mut().map(|data| data.remove("comparison"));
                without_null(&mut data);
            }
            Self::Devices => {
                for device in data["devices"].as_array_mut().into_iter().flatten() {
                    let figure = |path: &str| device.pointer(path).cloned().unwrap_or_default();
                    *device = json!({
                        "name": figure("/name"),
                        "id": figure("/id"),
                        "aliases": figure("/aliases"),
                        "architecture": figure("/architecture"),
                    });
                }
            }
        }
        data
    }
}

/// Leaves out what is missing: here nobody relies on its key.
fn without_null(data: &mut Value) {
    match data {
        Value::Array(all) => all.iter_mut().for_each(without_null),
        Value::Object(keys) => {
            keys.retain(|_, value| !value.is_null());
            keys.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// Leaves the first items of a list, and says how many there are.
fn shorten(data: &mut Value, key: &str, most: usize) {
    let Some(list) = data.get_mut(key).and_then(Value::as_array_mut) else { return };
    let all = list.len();
    list.truncate(most);
    if all > most {
        data[format!("{key}_in_all")] = all.into();
    }
}
