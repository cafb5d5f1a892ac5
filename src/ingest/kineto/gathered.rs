//! What a trace says, kept until its end: what explains a kernel may come after it.

use super::event::{Args, Category, Event, Launch, nanoseconds};
use super::nested::{Span, Spanned};
use crate::ingest::distinct::Distinct;
use crate::ingest::scan::{bare, members, text};
use crate::ingest::timeline::Annotated;
use crate::model::{HostMemory, NameId};

/// A kernel on the GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub(super) name: NameId,
    /// Position among the settings.
    pub(super) setting: u32,
    /// Nanoseconds, on the clock of the file.
    pub(super) start: i64,
    /// Nanoseconds.
    pub(super) duration: i64,
    pub(super) external: u64,
    pub(super) correlation: u64,
    /// The node of a graph that it is, by its last digits; 0 is none.
    pub(super) node: u32,
}

/// What many launches of a trace have in common: kept once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Setting {
    /// Position among the launch configurations.
    pub(super) launch: u32,
    pub(super) device: Option<i64>,
    pub(super) stream: Option<u32>,
    /// Bytes that a compiler states, in units of 1e9: the bits of a float.
    stated: Option<u64>,
}

impl Setting {
    /// Bytes that a compiler states, in units of 1e9.
    pub(super) fn gigabytes(&self) -> Option<f64> {
        self.stated.map(f64::from_bits)
    }
}

/// An operator on the CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Position among the distinct operators with their operands.
    pub(super) operator: u32,
    pub(super) external: u64,
    pub(super) span: Span,
    /// Position among the places in the program; the first one is none.
    pub(super) place: u32,
}

/// A module or function of the program while it is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) span: Span,
    /// Position among the places in the program.
    pub(super) name: u32,
}

impl Spanned for Call {
    fn span(&self) -> Span {
        self.span
    }
}

impl Spanned for Frame {
    fn span(&self) -> Span {
        self.span
    }
}

/// A call of the runtime that launches kernels, copies or fills.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launching {
    pub(super) correlation: u64,
    pub(super) thread: u32,
    pub(super) start: i64,
    /// Position among the launch configurations; AMD writes grids here.
    pub(super) launch: u32,
}

impl Call {
    /// Whether two calls of one number may be one that is there twice, or one within the other.
    pub(super) fn may_be_one(&self, other: &Self) -> bool {
        let is_other = self.span == other.span && self.operator != other.operator;
        self.span.may_nest(other.span) && !is_other
    }
}

impl Launching {
    /// Whether two calls may be one that the runtime and the driver recorded, which begin with each other.
    pub(super) fn may_be_one(&self, other: &Self) -> bool {
        /// Nanoseconds.
        const LATEST: u64 = 1_000_000;
        self.thread == other.thread && self.start.abs_diff(other.start) <= LATEST
    }
}

/// A copy or fill on the GPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moved {
    pub(super) name: NameId,
    /// Nanoseconds, on the clock of the file.
    pub(super) start: i64,
    /// Nanoseconds.
    pub(super) duration: i64,
    pub(super) device: Option<i64>,
    pub(super) stream: Option<i64>,
    pub(super) correlation: u64,
    pub(super) bytes: Option<u64>,
    pub(super) host_memory: Option<HostMemory>,
    pub(super) is_fill: bool,
}

/// All that is kept of a trace.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) kernels: Vec<Kernel>,
    pub(super) calls: Vec<Call>,
    /// Calls that launch kernels.
    pub(super) launching: Vec<Launching>,
    /// Calls that copy or fill.
    pub(super) moving: Vec<Launching>,
    /// Calls that synchronize or copy, during which their thread waits for the GPU.
    pub(super) waits: Vec<Span>,
    pub(super) launches: Distinct<Launch>,
    pub(super) settings: Distinct<Setting>,
    /// Name, shapes, types and values of operators, as they are written.
    pub(super) operators: Distinct<Vec<u8>>,
    threads: Distinct<Vec<u8>>,
    /// Stacks, modules and functions, as they are written.
    pub(super) places: Distinct<Vec<u8>>,
    pub(super) modules: Vec<Frame>,
    /// Functions of the program itself.
    pub(super) functions: Vec<Frame>,
    /// The profiler's steps, as they are written.
    pub(super) steps: Vec<Annotated>,
    /// Copies and fills.
    pub(super) moved: Vec<Moved>,
    /// The process of the kernels of each GPU, by its number, as it is written.
    processes: Vec<(i64, Vec<u8>)>,
    /// A GPU whose kernels are of several processes, and two of them.
    pub(super) of_processes: Option<(i64, [String; 2])>,
    /// Ranges that were replayed to count events.
    pub(super) replays: u64,
    /// Whether a time of a kernel has a fraction of a microsecond.
    pub(super) is_fine: bool,
    key: Vec<u8>,
}

/// What separates the parts of an operator's key; it cannot be in a text of JSON.
pub(super) const APART: u8 = 0;

impl Gathered {
    /// Takes an event; `name` gives the id of a kernel's name. Gives the argument of an event of the GPU that cannot
    /// be read.
    ///
    /// # Errors
    /// The time of an event of the GPU that cannot be read.
    pub(super) fn take(
        &mut self,
        event: &Event<'_>,
        name: impl FnOnce(&[u8]) -> NameId,
    ) -> Result<Option<&'static str>, (&'static str, String)> {
        let mut unreadable = None;
        let time = |key, value: &[u8]| {
            nanoseconds(value).ok_or_else(|| (key, String::from_utf8_lossy(value).into_owned()))
        };
        let interval = || {
            let (start, end) = (time("ts", event.start)?, time("dur", event.duration)?);
            if end.0 < 0 {
                return Err(("dur", String::from_utf8_lossy(event.duration).into_owned()));
            }
            Ok((start.0, end.0, start.1 && end.1))
        };
        match event.category {
            Category::Kernel => {
                let (start, duration, is_whole) = interval()?;
                let text = text(event.name);
                let copies = copied(&text);
                if let Some(shown) = copies.or_else(|| is_fill(&text).then_some(&*text)) {
                    let moved = (start, duration, copies.is_none());
                    unreadable = self.moved(event, moved, name(shown));
                } else {
                    self.is_fine |= !is_whole;
                    let args = Args::of(event.args);
                    unreadable = args.unreadable;
                    let stream = args.stream.and_then(|stream| u32::try_from(stream).ok());
                    let stated = args.gigabytes.filter(|_| text.starts_with(b"triton_"));
                    let setting = Setting {
                        launch: self.launches.position(&args.launch),
                        device: args
                            .device
                            .inspect(|device| self.processes(*device, event.process))
                            .or_else(|| super::event::integer(event.process)),
                        stream: stream.filter(|stream| *stream != u32::MAX),
                        stated: stated.map(f64::to_bits),
                    };
                    self.kernels.push(Kernel {
                        name: name(&text),
                        setting: self.settings.position(&setting),
                        start,
                        duration,
                        external: args.external,
                        correlation: args.correlation,
                        node: args.node as u32,
                    });
                }
            }
            Category::Copy | Category::Fill => {
                let (start, duration, _) = interval()?;
                let moved = (start, duration, event.category == Category::Fill);
                unreadable = self.moved(event, moved, name(&text(event.name)));
            }
            Category::Replay => self.replays += 1,
            Category::Operator | Category::Range if is_step(event.name) => {
                if let Ok((start, duration, _)) = interval() {
                    self.step(event.name, start, start.saturating_add(duration));
                }
            }
            Category::Range => {}
            Category::Python => {
                let module = module(event.name);
                // Traces have millions of functions, nearly all of libraries.
                let function = bare(event.name);
                if let (true, Ok((start, duration, _))) =
                    (module.is_some() || !is_library(function), interval())
                {
                    let span = self.span(event, start, duration);
                    let name = self.place(module.unwrap_or(function));
                    let frames =
                        if module.is_some() { &mut self.modules } else { &mut self.functions };
                    frames.push(Frame { span, name });
                }
            }
            // What the CPU did explains kernels, and is passed over where it cannot be read.
            Category::Operator => {
                if let Ok((start, duration, _)) = interval() {
                    self.operator(event, start, duration);
                }
            }
            Category::Call => {
                if let Ok((start, duration, _)) = interval() {
                    self.call(event, start, duration);
                }
            }
        }
        Ok(unreadable)
    }

    /// A call of the runtime or the driver.
    fn call(&mut self, event: &Event<'_>, start: i64, duration: i64) {
        let has = |word: &[u8]| bare(event.name).windows(5).any(|part| part == word);
        let copies = has(b"emcpy");
        let moves = copies || has(b"emset");
        if copies || has(b"chron") {
            let span = self.span(event, start, duration);
            self.waits.push(span);
        }
        if !moves && !has(b"aunch") {
            return;
        }
        let mut args = Args::of(event.args);
        if bare(event.name) == b"hipExtModuleLaunchKernel" {
            args.launch.grid = args.launch.blocks_of_items();
        }
        let launching = Launching {
            correlation: args.correlation,
            thread: self.thread(event),
            start,
            launch: self.launches.position(&args.launch),
        };
        if moves { self.moving.push(launching) } else { self.launching.push(launching) }
    }

    fn operator(&mut self, event: &Event<'_>, start: i64, duration: i64) {
        let [mut external, mut dims, mut types, mut values, mut strides, mut stack, mut module] =
            [&b""[..]; 7];
        for (key, value) in members(event.args) {
            match key {
                b"External id" | b"external id" => external = value,
                b"Input Dims" | b"Input dims" => dims = value,
                b"Input type" => types = value,
                b"Concrete Inputs" => values = value,
                b"Input Strides" => strides = value,
                b"Call stack" => stack = bare(value),
                b"Module Hierarchy" => module = bare(value),
                _ => {}
            }
        }
        let name = text(event.name);
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        // Values differ from call to call, so they are kept where they are sizes.
        let values = if has_sizes(&name) { values } else { b"" };
        // A step of zero repeats what is stored; all others say nothing of sizes.
        let strides = if has_zero(strides) { strides } else { b"" };
        for part in [name.as_ref(), dims, types, values, strides] {
            key.extend_from_slice(part);
            key.push(APART);
        }
        let call = Call {
            operator: self.operators.position(key.as_slice()),
            external: super::event::count(external).unwrap_or(0),
            span: self.span(event, start, duration),
            place: self.place(if module.is_empty() { stack } else { module }),
        };
        self.key = key;
        self.calls.push(call);
    }

    /// The process of each thread of its events, by its position; the threads are gone then.
    pub(super) fn take_processes(&mut self) -> Vec<u32> {
        let mut processes: Distinct<Vec<u8>> = Distinct::default();
        let threads = std::mem::take(&mut self.threads).into_list();
        let process = |thread: Vec<u8>| {
            let process = thread.split(|byte| *byte == APART).next().unwrap_or_default();
            processes.position(process)
        };
        threads.into_iter().map(process).collect()
    }

    /// Notes that a kernel of this process ran on a GPU: the profiler writes the number of the GPU there, a script that
    /// merges the traces of ranks often something of its own.
    fn processes(&mut self, device: i64, process: &[u8]) {
        match self.processes.iter().find(|(known, _)| *known == device) {
            Some((_, known)) if known == process || self.of_processes.is_some() => {}
            Some((_, known)) => {
                let two = [known.as_slice(), process];
                let two = two.map(|one| String::from_utf8_lossy(bare(one)).into_owned());
                self.of_processes = Some((device, two));
            }
            None => self.processes.push((device, process.to_vec())),
        }
    }

    /// Position of a place in the program; the first one is none.
    fn place(&mut self, place: &[u8]) -> u32 {
        self.places.position(&b""[..]);
        self.places.position(place)
    }

    fn span(&mut self, event: &Event<'_>, start: i64, duration: i64) -> Span {
        Span { thread: self.thread(event), start, end: start.saturating_add(duration) }
    }

    fn thread(&mut self, event: &Event<'_>) -> u32 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for part in [event.process, event.thread] {
            key.extend_from_slice(part);
            key.push(APART);
        }
        let at = self.threads.position(key.as_slice());
        self.key = key;
        at
    }

    /// A copy or fill by its start and duration, and whether it is a fill.
    fn moved(
        &mut self,
        event: &Event<'_>,
        (start, duration, is_fill): (i64, i64, bool),
        name: NameId,
    ) -> Option<&'static str> {
        let Args { device, stream, correlation, bytes, unreadable, .. } = Args::of(event.args);
        let device = device.or_else(|| super::event::integer(event.process));
        self.moved.push(Moved {
            name,
            start,
            duration,
            device,
            stream,
            correlation,
            bytes,
            host_memory: HostMemory::named(event.name),
            is_fill,
        });
        unreadable
    }

    fn step(&mut self, name: &[u8], start: i64, end: i64) {
        let number = bare(name).strip_prefix(STEP).and_then(super::event::count);
        self.steps.extend(number.map(|number| Annotated { number, start, end }));
    }
}

/// Whether any number in a list is zero.
fn has_zero(list: &[u8]) -> bool {
    list.split(|byte| !byte.is_ascii_digit()).any(|number| number == b"0")
}

/// How the annotation of a step is called, before its number.
const STEP: &[u8] = b"ProfilerStep#";

/// What the names of functions of libraries, and lines of stacks, have in them.
pub(super) const LIBRARIES: [&str; 3] = ["site-packages", "dist-packages", "<built-in"];

/// Whether a function belongs to a library and not to the program.
fn is_library(name: &[u8]) -> bool {
    // Folders of packages are left out in the names of functions.
    const FOLDERS: [&str; 6] =
        ["torch/", "<", "nn.Module", "threading.py(", "contextlib.py(", "runpy.py("];
    let has = |part: &&str| name.windows(part.len()).any(|found| found == part.as_bytes());
    FOLDERS.iter().any(|start| name.starts_with(start.as_bytes())) || LIBRARIES.iter().any(has)
}

/// The name of a module in `nn.Module: Linear_0`.
fn module(name: &[u8]) -> Option<&[u8]> {
    bare(name).strip_prefix(b"nn.Module: ")
}

fn is_step(name: &[u8]) -> bool {
    bare(name).starts_with(STEP)
}

/// A copy that AMD's runtime writes as a kernel, as other profilers call it.
fn copied(name: &[u8]) -> Option<&[u8]> {
    match name.strip_prefix(b"MEMORY_COPY_") {
        Some(b"HOST_TO_DEVICE") => Some(b"Memcpy HtoD"),
        Some(b"DEVICE_TO_HOST") => Some(b"Memcpy DtoH"),
        Some(b"DEVICE_TO_DEVICE") => Some(b"Memcpy DtoD"),
        Some(_) => Some(b"Memcpy"),
        None => name.starts_with(b"__amd_rocclr_copy").then_some(name),
    }
}

fn is_fill(name: &[u8]) -> bool {
    [&b"__amd_rocclr_fill"[..], b"__amd_rocclr_init"].iter().any(|fill| name.starts_with(fill))
}

/// Whether the values of an operator's arguments decide how much it does.
fn has_sizes(name: &[u8]) -> bool {
    const PARTS: [&[u8]; 13] = [
        b"conv",
        b"index_select",
        b"embedding",
        b"attention",
        b"addmm",
        b"addbmm",
        b"scaled_mm",
        b"topk",
        b"triton_",
        b"aten::sum",
        b"aten::mean",
        b"aten::norm",
        b"vector_norm",
    ];
    PARTS.iter().any(|part| name.windows(part.len()).any(|found| found == *part))
}

#[cfg(test)]
mod tests {
    use super::is_library;

    #[test]
    fn functions_of_libraries_are_none_of_the_program() {
        for (name, expected) in [
            ("torch/nn/modules/module.py(1951): __getattr__", true),
            ("<built-in method run_backward of torch._C._EngineBase object at 0x7f>", true),
            ("/opt/conda/lib/python3.11/site-packages/apex/fused_adam.py(90): step", true),
            ("train.py(7): step", false),
            ("projects/torchtrain/run.py(7): main", false),
        ] {
            assert_eq!(is_library(name.as_bytes()), expected, "{name}");
        }
    }
}
