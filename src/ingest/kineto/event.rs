//! One event of a trace: what it is, when it was, where it ran.

use crate::ingest::scan::{bare, items, members};
use crate::model::Dim3;

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    /// A kernel on the GPU.
    Kernel,
    /// A copy on the GPU.
    Copy,
    /// A fill on the GPU.
    Fill,
    /// An operator on the CPU.
    Operator,
    /// A call of the CUDA, HIP or Level Zero runtime or driver.
    Call,
    /// A range that the program named.
    Range,
    /// A function or module of the program.
    Python,
    /// A range whose times are those of a counter run, which replays kernels.
    Replay,
}

impl Category {
    fn of(text: &[u8]) -> Option<Self> {
        /// Categories as written since 2020.
        const NAMES: [(&str, Category); 13] = [
            ("kernel", Category::Kernel),
            ("cpu_op", Category::Operator),
            ("operator", Category::Operator),
            ("cuda_runtime", Category::Call),
            ("cuda_driver", Category::Call),
            ("xpu_runtime", Category::Call),
            ("runtime", Category::Call),
            ("gpu_memcpy", Category::Copy),
            ("memcpy", Category::Copy),
            ("gpu_memset", Category::Fill),
            ("memset", Category::Fill),
            ("user_annotation", Category::Range),
            ("python_function", Category::Python),
        ];
        if text == b"cuda_profiler_range" {
            return Some(Self::Replay);
        }
        let is = |name: &str| text.eq_ignore_ascii_case(name.as_bytes());
        NAMES.iter().find(|(name, _)| is(name)).map(|(_, category)| *category)
    }
}

/// An event with a beginning and an end, its parts as they are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event<'a> {
    pub(super) category: Category,
    /// The name, in quotes.
    pub(super) name: &'a [u8],
    pub(super) process: &'a [u8],
    pub(super) thread: &'a [u8],
    /// Microseconds, as text.
    pub(super) start: &'a [u8],
    /// Microseconds, as text.
    pub(super) duration: &'a [u8],
    /// An object, or nothing.
    pub(super) args: &'a [u8],
}

/// Why an event that may be one of the GPU is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread<'a> {
    /// This stands where an object, a category or a key is expected.
    Stray(&'a [u8]),
    /// It is the beginning of the kernel, copy or fill of this name; its end is another event.
    Half(&'a [u8]),
    /// It is a trace of its own.
    Trace,
}

/// The event in an object; `None` if it is of no kind that is read.
///
/// # Errors
/// Why not, if it may be one of the GPU.
pub(super) fn event(object: &[u8]) -> Result<Option<Event<'_>>, Unread<'_>> {
    // A number or a word in its place hides no event, text before its brace does.
    if !object.starts_with(b"{") && object.contains(&b'{') {
        return Err(Unread::Stray(object));
    }
    let mut category = None;
    let mut is_half = false;
    let mut found = Event {
        category: Category::Range,
        name: b"",
        process: b"",
        thread: b"",
        start: b"",
        duration: b"",
        args: b"",
    };
    let mut members = members(object);
    for (key, value) in members.by_ref() {
        match key {
            b"ph" if bare(value) == b"B" => is_half = true,
            b"ph" if bare(value) != b"X" => return Ok(None),
            b"cat" if !value.starts_with(b"\"") => return Err(Unread::Stray(value)),
            b"cat" => match Category::of(bare(value)) {
                None => return Ok(None),
                of => category = of,
            },
            b"name" => found.name = value,
            b"pid" => found.process = bare(value),
            b"tid" => found.thread = bare(value),
            b"ts" => found.start = bare(value),
            b"dur" => found.duration = bare(value),
            b"args" => found.args = value,
            b"traceEvents" => return Err(Unread::Trace),
            _ => {}
        }
    }
    let is_of_cpu = matches!(
        category,
        Some(Category::Operator | Category::Call | Category::Range | Category::Python)
    );
    if let (Some(stray), false) = (members.stray, is_of_cpu) {
        return Err(Unread::Stray(stray));
    }
    if is_half {
        let is_on_gpu =
            matches!(category, Some(Category::Kernel | Category::Copy | Category::Fill));
        return if is_on_gpu { Err(Unread::Half(bare(found.name))) } else { Ok(None) };
    }
    Ok(category.map(|category| Event { category, ..found }))
}

/// Microseconds as text in nanoseconds, and whether they are whole microseconds.
///
/// Absolute times have more digits than a float keeps.
pub(super) fn nanoseconds(text: &[u8]) -> Option<(i64, bool)> {
    if let Some(at) = text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        let exponent = std::str::from_utf8(&text[at + 1..]).ok()?.parse().ok()?;
        return nanoseconds(&shifted(&text[..at], exponent)?);
    }
    let (is_negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let dot = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(dot);
    let fraction = fraction.get(1..).unwrap_or_default();
    if whole.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for byte in whole {
        value = value.checked_mul(10)?.checked_add(i64::from(digit(*byte)?))?;
    }
    let mut is_whole = true;
    let mut parts = 0;
    for (place, byte) in fraction.iter().enumerate() {
        let digit = digit(*byte)?;
        is_whole &= digit == 0;
        match place {
            0..3 => parts = parts * 10 + i64::from(digit),
            // What a float adds to three decimals is rounding.
            3 => parts += i64::from(digit >= 5),
            _ => {}
        }
    }
    for _ in fraction.len()..3 {
        parts *= 10;
    }
    let value = value.checked_mul(1000)?.checked_add(parts)?;
    Some((if is_negative { -value } else { value }, is_whole))
}

/// A number without its exponent: the decimal point is moved by so many places.
fn shifted(number: &[u8], exponent: i32) -> Option<Vec<u8>> {
    /// No time in microseconds has more.
    const PLACES: i32 = 32;
    if !(-PLACES..=PLACES).contains(&exponent) {
        return None;
    }
    let (sign, digits) = number.split_at(usize::from(number.first() == Some(&b'-')));
    let dot = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    if dot == 0 {
        return None;
    }
    let mut all = [&digits[..dot], digits.get(dot + 1..).unwrap_or_default()].concat();
    let mut point = i32::try_from(dot).ok()? + exponent;
    while point < 1 {
        all.insert(0, b'0');
        point += 1;
    }
    let point = point as usize;
    all.resize(all.len().max(point), b'0');
    all.insert(point, b'.');
    Some([sign, &all].concat())
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

/// A whole number; streams may be written as text, and a number without a value as -1.
pub(super) fn integer(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(bare(value)).ok()?.parse().ok()
}

/// A count that is not negative.
pub(super) fn count(value: &[u8]) -> Option<u64> {
    integer(value).and_then(|number| u64::try_from(number).ok())
}

/// A number that is finite.
pub(super) fn number(value: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(bare(value)).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// The extent of a grid or block.
pub(super) fn extent(value: &[u8]) -> Option<Dim3> {
    let mut parts = items(value).map(|one| u32::try_from(count(one)?).ok());
    let dim = Dim3 { x: parts.next()??, y: parts.next()??, z: parts.next()?? };
    parts.next().is_none().then_some(dim)
}

/// What the arguments of a launch say of its shape and of what each thread uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Launch {
    pub(super) grid: Option<Dim3>,
    pub(super) block: Option<Dim3>,
    pub(super) registers: Option<u32>,
    /// Bytes per block.
    pub(super) shared: Option<u32>,
    /// Percent of the warps that an SM can hold, where blocks limit it and not the grid.
    pub(super) occupancy: Option<u32>,
}

impl Launch {
    /// The grid in blocks, where it is written in work-items.
    pub(super) fn blocks_of_items(&self) -> Option<Dim3> {
        let (items, block) = (self.grid?, self.block?);
        let blocks = |items: u32, threads: u32| items.div_ceil(threads.max(1));
        Some(Dim3 {
            x: blocks(items.x, block.x),
            y: blocks(items.y, block.y),
            z: blocks(items.z, block.z),
        })
    }
}

/// What the arguments of an event say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Args {
    pub(super) launch: Launch,
    /// The operator that an event belongs to; 0 is none.
    pub(super) external: u64,
    /// The call that an event of the GPU belongs to; 0 is none.
    pub(super) correlation: u64,
    /// The node of a graph that a kernel is; 0 is none.
    pub(super) node: u64,
    pub(super) device: Option<i64>,
    pub(super) stream: Option<i64>,
    /// Bytes of a copy or fill.
    pub(super) bytes: Option<u64>,
    /// Bytes that a compiler states for its kernel, in units of 1e9.
    pub(super) gigabytes: Option<f64>,
    /// An argument whose value cannot be read.
    pub(super) unreadable: Option<&'static str>,
}

impl Args {
    /// Reads the arguments of an event of the GPU or of a call.
    pub(super) fn of(object: &[u8]) -> Self {
        /// Most warps that any SM can hold.
        const WARPS: f64 = 64.0;
        let mut args = Self::default();
        let mut waiting = 0.0;
        let small = |value: &[u8]| u32::try_from(count(value)?).ok();
        let mut unreadable = None;
        // A number that is not known may be written as -1.
        let mut check = |key, value: &[u8], is_read: bool| {
            if !is_read && value != b"null" && integer(value).is_none_or(|number| number >= 0) {
                unreadable = Some(key);
            }
        };
        for (key, value) in members(object) {
            match key {
                b"External id" | b"external id" => args.external = count(value).unwrap_or(0),
                b"correlation" => args.correlation = count(value).unwrap_or(0),
                b"graph node id" => args.node = count(value).unwrap_or(0),
                b"device" => {
                    args.device = integer(value);
                    check("device", value, args.device.is_some());
                }
                b"stream" => {
                    args.stream = integer(value);
                    check("stream", value, args.stream.is_some());
                }
                b"bytes" => {
                    args.bytes = count(value);
                    check("bytes", value, args.bytes.is_some());
                }
                b"grid" => {
                    let grid = extent(value);
                    check("grid", value, grid.is_some());
                    args.launch.grid = grid.filter(|of| of.volume() > 0);
                }
                b"block" => {
                    let block = extent(value);
                    check("block", value, block.is_some());
                    args.launch.block = block.filter(|of| of.volume() > 0);
                }
                b"registers per thread" => {
                    let registers = small(value);
                    args.launch.registers = registers.filter(|registers| *registers > 0);
                    check("registers per thread", value, registers.is_some());
                }
                b"shared memory" => {
                    args.launch.shared = small(value);
                    check("shared memory", value, args.launch.shared.is_some());
                }
                b"est. achieved occupancy %" => args.launch.occupancy = small(value),
                b"warps per SM" => waiting = number(value).unwrap_or(0.0),
                b"kernel_num_gb" => args.gigabytes = number(value).filter(|size| *size > 0.0),
                _ => {}
            }
        }
        // A small grid lowers the estimate below what the blocks allow.
        let is_full =
            |percent: &u32| *percent == 100 || f64::from(*percent) < 100.0 * waiting / WARPS - 1.0;
        args.launch.occupancy = args.launch.occupancy.filter(is_full);
        args.unreadable = unreadable;
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_every_nanosecond() {
        for (text, time, is_whole) in [
            ("1712195495519689.047", 1_712_195_495_519_689_047, false),
            ("1712195495519689", 1_712_195_495_519_689_000, true),
            ("4458676983543.183", 4_458_676_983_543_183, false),
            ("10.0", 10_000, true),
            ("1.76", 1_760, false),
            ("0", 0, true),
            ("47.76800000000001", 47_768, false),
            ("0.0015", 2, false),
            ("-3.5", -3_500, false),
            ("1.5e2", 150_000, true),
            ("1.712195495519689047e+15", 1_712_195_495_519_689_047, false),
            ("-35E-1", -3_500, false),
            ("1e-4", 0, false),
            ("1e5", 100_000_000, true),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), Some((time, is_whole)), "{text}");
        }
        for text in [
            "",
            ".5",
            "NaN",
            "1.2.3",
            "1,5",
            "null",
            "99999999999999999999",
            "1e",
            "1e99",
            "e5",
            ".5e1",
            "1.2.3e1",
            "1e1.5",
            "1e1e1",
            "1e-2147483648",
            "1e2147483647",
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn an_event_is_read_in_any_order_of_its_keys() {
        let text = br#"{"args": {"External id": 7, "grid": [2, 3, 1], "stream": 4294967295},
            "tid": "stream 7", "dur": 5, "cat": "Kernel", "ts": 9.5, "name": "k", "ph": "X"}"#;
        let event = event(text).unwrap().unwrap();
        assert_eq!((event.category, event.name), (Category::Kernel, &b"\"k\""[..]));
        assert_eq!((event.thread, event.start), (&b"stream 7"[..], &b"9.5"[..]));
        let args = Args::of(event.args);
        assert_eq!((args.external, args.stream), (7, Some(4_294_967_295)));
        assert_eq!(args.launch.grid, Some(Dim3 { x: 2, y: 3, z: 1 }));
        assert_eq!(args.launch.block, None);
        let call = br#"{"ph": "X", "cat": "xpu_runtime", "name": "urEnqueueKernelLaunch", "ts": 1, "dur": 2}"#;
        assert_eq!(super::event(call).unwrap().unwrap().category, Category::Call);
    }

    #[test]
    fn marks_and_waits_are_no_events_to_read() {
        for text in [
            r#"{"ph": "i", "cat": "kernel"}"#,
            r#"{"ph": "X", "cat": "cuda_sync"}"#,
            r#"{"ph": "X", "cat": "gpu_user_annotation"}"#,
            r#"{"ph": "X", "name": "x"}"#,
            r#"{"ph": "B", "cat": "cpu_op"}"#,
            r#"{"ph": "E", "cat": "kernel"}"#,
            "7",
        ] {
            assert!(super::event(text.as_bytes()).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn what_may_be_a_kernel_and_is_not_read_says_why() {
        for (text, why) in [
            (r#"{"name": "k", "cat": "kernel", "ph": "B"}"#, Unread::Half(b"k")),
            (r#"{"ph": "B", "cat": "gpu_memcpy"}"#, Unread::Half(b"")),
            (r#"{"schemaVersion": 1, "traceEvents": []}"#, Unread::Trace),
            (r#"{"ph": "X", "cat": kernel}"#, Unread::Stray(b"kernel")),
        ] {
            assert_eq!(super::event(text.as_bytes()).unwrap_err(), why, "{text}");
        }
    }
}
