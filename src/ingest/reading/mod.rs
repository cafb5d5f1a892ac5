//! A file while it is read: the bytes, the place, and what has been found so far.

mod shared;
mod skipped;
mod tail;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
#[cfg(feature = "sqlite")]
use std::path::{Path, PathBuf};

use self::tail::Tail;
use super::complete::complete;
use super::decimal::{CONTRADICTED, DecimalSign, Evidence, UNDECIDED};
use super::error::Fault;
use super::input;
use super::lines::{Lines, append_line};
use super::observed::Observed;
use super::passes::Pass;
use super::split::{BUFFER, LONGEST_ROW, Place, Records, fields};
use super::{IngestError, Input, Numerals, Options, Sample};
use crate::model::{
    Activity, DeviceHint, Head, HintId, HostWait, Ids, LaunchCall, NameId, Origin, OriginId,
    Profile, Source, Step, ToolAdvice, Values,
};
use crate::units::Hertz;

/// How much of the beginning is looked at to recognize format and locale.
const SAMPLE: u64 = 512 * 1024;

/// A table begins within this many bytes, after whatever a program printed.
const LONGEST_PREAMBLE: u64 = 64 << 20;

/// So many lines in a row without a launch are no profiler's output.
const MOST_IDLE: u64 = 1_000_000;

/// The bytes of a file.
enum Bytes {
    Alone(BufReader<Box<dyn Read + Send>>),
    Shared(Box<Lines>),
}

/// A file being read into a profile.
pub struct Reading<'a> {
    /// What is known of the file so far.
    pub source: Source,
    /// Its decoded beginning.
    pub sample: Sample,
    profile: &'a mut Profile,
    bytes: Option<Bytes>,
    /// The file itself, if its bytes are on a disk as they are read.
    #[cfg(feature = "sqlite")]
    file: Option<PathBuf>,
    /// What a launch table in Parquet says of itself.
    metadata: BTreeMap<String, String>,
    lines: u64,
    /// Bytes read as lines.
    read: u64,
    /// Lines and cells in a row that led to no launch.
    idle: u64,
    /// Those before the first launch.
    led: Option<u64>,
    /// The titles of the table.
    titles: Vec<String>,
    /// Where the launches of further tables begin, and whether they have numbers of their own.
    tables: Vec<(usize, bool)>,
    position: u16,
    strict: bool,
    /// How many threads may read.
    threads: usize,
    /// The ids of what other threads have read, by thread.
    beside: Vec<Ids>,
    observed: Observed,
    /// The description of launches without one, while the file describes no device.
    undescribed: Option<HintId>,
    decimal: Option<DecimalSign>,
    /// Further exports whose launches are in this file.
    parts: Vec<Source>,
    /// Which export launches belong to: 0 is the file itself, then the parts.
    part: usize,
    /// How the file ends.
    tail: Tail,
    /// Whether a note says that it ends within a row.
    breaks_off: bool,
}

impl<'a> Reading<'a> {
    /// Opens an input and looks at its beginning.
    ///
    /// # Errors
    /// When it cannot be opened or decompressed, or is empty.
    pub(super) fn open(
        input: &Input,
        options: &Options,
        profile: &'a mut Profile,
    ) -> Result<Self, IngestError> {
        let path = input.path().display().to_string();
        let failed = |fault: Fault| match input {
            Input::Named(file) | Input::Found(file) if fault.is_missing => {
                IngestError::missing(file)
            }
            _ => {
                let error = IngestError::new(&path, fault.message).help(fault.help);
                if fault.is_foreign { error.foreign() } else { error }
            }
        };
        let mut opened = input::open(input, options).map_err(failed)?;
        let mut head = Vec::new();
        opened
            .bytes
            .by_ref()
            .take(SAMPLE)
            .read_to_end(&mut head)
            .map_err(|error| failed(error.into()))?;
        if head.iter().all(u8::is_ascii_whitespace) {
            let what =
                if head.is_empty() { "the file is empty" } else { "the file has only blanks" };
            return Err(IngestError::new(path, what)
                .help("did the profiler run to its end? `--log-file` and `>` truncate a file before it does"));
        }
        let position = u16::try_from(profile.sources.len()).map_err(|_| {
            IngestError::new(&path, "more than 65,535 files in one report")
                .help("analyze them in parts")
        })?;
        let mut sample = Sample::new(&head);
        // A whole file may end without a line end.
        sample.truncated &= head.len() as u64 >= SAMPLE;
        let tail = Tail::default();
        let whole = io::Cursor::new(head).chain(opened.bytes);
        let whole: Box<dyn Read + Send> = Box::new(tail.follow(whole));
        Ok(Self {
            source: Source { path, encoding: opened.encoding, ..Source::default() },
            sample,
            profile,
            bytes: Some(Bytes::Alone(BufReader::with_capacity(BUFFER, whole))),
            #[cfg(feature = "sqlite")]
            file: match input {
                Input::Named(path) | Input::Found(path) if opened.is_plain && path.is_file() => {
                    Some(path.clone())
                }
                _ => None,
            },
            metadata: opened.metadata,
            lines: 0,
            read: 0,
            idle: 0,
            led: None,
            titles: Vec::new(),
            tables: Vec::new(),
            position,
            strict: options.strict,
            threads: (options.threads() + 1).saturating_sub(opened.threads),
            beside: Vec::new(),
            observed: Observed::default(),
            undescribed: None,
            decimal: options.map.as_ref().and_then(|map| map.decimal).or(options.decimal),
            parts: Vec::new(),
            part: 0,
            tail,
            breaks_off: false,
        })
    }

    /// How the numbers of the file are written, as cells of its sample show; `never` says of its writer that
    /// it prints no three decimals.
    ///
    /// # Errors
    /// When its numbers can be read in two ways.
    pub(super) fn numerals(
        &mut self,
        evidence: &Evidence,
        never: bool,
    ) -> Result<Numerals, IngestError> {
        let settled = evidence.settle(self.decimal, never).map_err(|(message, place)| {
            let (line, column) = place.unzip();
            let error = self.error(message).column(column);
            let error = error.help(if self.decimal.is_some() { CONTRADICTED } else { UNDECIDED });
            line.into_iter().fold(error, IngestError::line)
        })?;
        if let Some(note) = settled.note {
            self.profile.check(format!("{}: {note}", self.source.path));
        }
        let numerals = Numerals::new(settled.sign, settled.is_certain, evidence.grouped);
        self.source.numerals = numerals.to_string();
        Ok(numerals)
    }

    /// The decimal sign that was asked for.
    pub(super) fn decimal_sign(&self) -> Option<DecimalSign> {
        self.decimal
    }

    /// Number of this file among the sources of the profile.
    #[must_use]
    pub fn position(&self) -> u16 {
        self.position
    }

    /// Reads lines until `is_header` accepts one and returns that line's fields.
    ///
    /// Lines before it go to `preamble`.
    ///
    /// # Errors
    /// When no line is accepted, or one is longer than any profiler's.
    pub fn header(
        &mut self,
        mut is_header: impl FnMut(&str) -> bool,
        mut preamble: impl FnMut(&str),
    ) -> Result<Vec<String>, IngestError> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.read_line(&mut line)?;
            if read == 0 {
                return Err(self.error("no table found: no line is the header of this format"));
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim_end_matches(['\r', '\n']);
            if is_header(text) {
                self.titles = fields(text);
                return Ok(self.titles.clone());
            }
            preamble(text);
            self.before_table()?;
        }
    }

    /// Counts a line before the table.
    ///
    /// # Errors
    /// When there are more of them than any program prints.
    pub(super) fn before_table(&mut self) -> Result<(), IngestError> {
        self.source.other_lines += 1;
        if self.read <= LONGEST_PREAMBLE {
            return Ok(());
        }
        let bound = LONGEST_PREAMBLE >> 20;
        Err(self
            .error(format!("no table found in the first {bound} MiB"))
            .line(self.lines)
            .help("give the profiler's output alone (`--log-file`), without that of the program"))
    }

    /// Counts a line inside the table that is none of its rows.
    ///
    /// # Errors
    /// When a million lines and cells in a row led to no launch.
    pub(super) fn other_line(&mut self) -> Result<(), IngestError> {
        self.source.other_lines += 1;
        self.idled(1)
    }

    fn idled(&mut self, lines: u64) -> Result<(), IngestError> {
        self.idle += lines;
        if self.idle < MOST_IDLE {
            return Ok(());
        }
        Err(self
            .error("1,000,000 lines or cells in a row cannot be used")
            .help("what follows the table is not a profiler's output; cut the file there"))
    }

    /// Reads one raw line; 0 at the end of the file.
    pub(super) fn read_line(&mut self, line: &mut Vec<u8>) -> Result<usize, IngestError> {
        let read = match self.bytes.as_mut() {
            Some(Bytes::Alone(bytes)) => append_line(bytes, LONGEST_ROW, line),
            Some(Bytes::Shared(lines)) => append_line(lines.as_mut(), LONGEST_ROW, line),
            None => return Ok(0),
        };
        self.lines += 1;
        match read {
            Ok(LONGEST_ROW) => Err(self
                .error(format!(
                    "line exceeds {} MiB; profilers do not write lines this long",
                    LONGEST_ROW >> 20
                ))
                .line(self.lines)
                .help("is this a profiler's CSV? `rooflint formats` lists what can be read")),
            Ok(read) => {
                self.read += read as u64;
                Ok(read)
            }
            Err(error) => Err(self.failed(error).line(self.lines)),
        }
    }

    /// The error about this file where its bytes cannot be read.
    pub(super) fn failed(&self, error: io::Error) -> IngestError {
        let fault = Fault::from(error);
        self.error(fault.message).help(fault.help)
    }

    /// Lines read so far.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.lines
    }

    /// The file itself, for formats that go back and forth in it; `None` if it is compressed or no file.
    #[cfg(feature = "sqlite")]
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Takes what a launch table in Parquet says of itself, beside the CSV that it is read as.
    pub(super) fn take_metadata(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.metadata)
    }

    /// What is left of the file, for formats that are no text.
    pub(super) fn bytes(&mut self) -> Box<dyn Read + Send> {
        match self.bytes.take() {
            // Who takes the rest has a buffer of its own.
            Some(Bytes::Alone(bytes)) => {
                let ready = io::Cursor::new(bytes.buffer().to_vec());
                Box::new(ready.chain(bytes.into_inner()))
            }
            Some(Bytes::Shared(lines)) => lines,
            None => Box::new(io::empty()),
        }
    }

    /// Adds an export whose launches are in this file, for tables that were made from several; gives the
    /// number for [`Reading::turn_to`].
    ///
    /// # Errors
    /// When a profile cannot hold so many.
    pub(super) fn add_part(&mut self, part: Source) -> Result<usize, IngestError> {
        if usize::from(self.position) + self.parts.len() + 1 > usize::from(u16::MAX) {
            return Err(self
                .error("more than 65,535 files in one report")
                .help("analyze them in parts"));
        }
        self.parts.push(part);
        Ok(self.parts.len())
    }

    /// Lets the launches that follow belong to an export of this file; 0 is the first.
    pub(super) fn turn_to(&mut self, part: usize) {
        self.part = part.min(self.parts.len());
    }

    /// The export that launches belong to.
    pub(super) fn current(&mut self) -> &mut Source {
        match self.part.checked_sub(1).and_then(|part| self.parts.get_mut(part)) {
            Some(part) => part,
            None => &mut self.source,
        }
    }

    /// Begins a further table of the file, below its header; its launches may have numbers of their own.
    pub(super) fn begin_table(&mut self, is_numbered: bool) {
        self.source.other_lines += 1;
        self.tables.push((self.profile.launches.len(), is_numbered));
    }

    /// Where the launches of further tables begin, and whether they have numbers of their own.
    pub(super) fn tables(&mut self) -> Vec<(usize, bool)> {
        // Of sums each row is compared with the others.
        if self.source.sums { Vec::new() } else { std::mem::take(&mut self.tables) }
    }

    /// The records after the header, with the line numbers of the whole file.
    pub fn records(&mut self) -> Records {
        let bytes = self.bytes();
        let place = Place {
            before: self.lines,
            path: self.source.path.clone(),
            titles: self.titles.clone(),
        };
        Records::new(bytes, place, self.threads)
    }

    /// Adds a note that reports show at their beginning.
    pub(super) fn check(&mut self, note: &str) {
        self.profile.check(format!("{}: {note}", self.source.path));
    }

    /// Counts rows that were left out because they are there before, and says so.
    #[cfg(feature = "sqlite")]
    pub(super) fn leave_out_repeats(&mut self, rows: u64) {
        if rows > 0 {
            self.source.repeated += rows;
            self.source.clues.push(crate::plain::counted(
                rows,
                "row repeats an earlier one and is left out",
                "rows repeat earlier ones and are left out",
            ));
        }
    }

    /// An error about this file.
    pub fn error(&self, message: impl Into<String>) -> IngestError {
        IngestError::new(&self.source.path, message)
    }

    /// Interns a text; blanks alone are none.
    pub fn name(&mut self, text: &[u8]) -> NameId {
        let text = if text.trim_ascii().is_empty() { b"" } else { text };
        match std::str::from_utf8(text) {
            Ok(text) => self.profile.names.id(text),
            Err(_) => self.profile.names.id(&String::from_utf8_lossy(text)),
        }
    }

    /// The text of a name.
    #[must_use]
    pub fn text(&self, name: NameId) -> &str {
        self.profile.names.get(name)
    }

    /// The id of a derivation.
    pub fn origin(&mut self, origin: &Origin) -> OriginId {
        self.profile.origins.id(origin)
    }

    /// The id of a device description.
    pub fn hint(&mut self, hint: DeviceHint) -> HintId {
        let id = self.profile.hint(hint);
        self.observed.see(id);
        id
    }

    /// Notes the highest memory clock seen in this file: it tells memory variants of a device apart.
    pub fn observed_memory_clock(&mut self, clock: Hertz) {
        self.observed.memory_clock = Some(clock);
    }

    /// Notes counters of launches of this file that those of another may complete.
    pub(super) fn may_be_completed(&mut self, pass: Pass) {
        self.observed.passes.push(pass);
    }

    /// Leaves the descriptions of devices as this file states them.
    pub(super) fn keep_devices(&mut self) {
        self.observed.are_told = true;
    }

    /// Notes the size of L2 that follows from figures of this file, where it does not state it.
    pub fn computed_l2(&mut self, bytes: u64) {
        self.observed.l2_bytes.get_or_insert(bytes);
    }

    /// Appends a launch and returns its row.
    pub fn push(&mut self, mut head: Head, values: &Values) -> usize {
        if self.undescribed.is_some() || self.observed.devices.is_empty() {
            // The first description of the profile may be that of another file.
            let unknown = self.undescribed.unwrap_or_else(|| self.hint(DeviceHint::default()));
            self.undescribed = Some(unknown).filter(|_| self.observed.devices.len() == 1);
            if self.undescribed.is_some() {
                head.device = unknown;
            }
        }
        // `add_part` has seen to it that this fits.
        head.source = self.position.saturating_add(u16::try_from(self.part).unwrap_or(u16::MAX));
        self.led = self.led.or(Some(self.idle));
        self.idle = 0;
        self.current().launches += u64::from(head.count.max(1));
        self.profile.launches.push(head, values)
    }

    /// Appends a copy, a fill, or a graph that was traced as a whole.
    pub(super) fn add_activity(&mut self, activity: Activity) {
        self.profile.activities.push(Activity { source: self.position, ..activity });
    }

    /// Appends the call that launched work of a GPU.
    pub(super) fn add_call(&mut self, call: LaunchCall) {
        self.profile.calls.push(LaunchCall { source: self.position, ..call });
    }

    /// Appends a call of the host that waits for a GPU.
    pub(super) fn add_wait(&mut self, wait: HostWait) {
        self.profile.waits.push(HostWait { source: self.position, ..wait });
    }

    /// Appends a step of the loop that was profiled.
    pub(super) fn add_step(&mut self, step: Step) {
        self.profile.steps.push(Step { source: self.position, ..step });
    }

    /// Launches read so far, of all files.
    pub(super) fn launches(&self) -> usize {
        self.profile.launches.len()
    }

    /// What identifies a launch that was read before.
    #[must_use]
    pub fn head(&self, row: usize) -> Head {
        self.profile.launches.head(row)
    }

    /// Whether a launch already has another value for one of these quantities.
    #[must_use]
    pub fn contradicts(&self, row: usize, values: &Values) -> bool {
        values.iter().any(|(quantity, value)| {
            self.profile.launches.get(row, quantity).is_some_and(|(known, _)| known != value)
        })
    }

    /// What is known of a device.
    #[must_use]
    pub fn device(&self, id: HintId) -> &DeviceHint {
        &self.profile.devices[id.position()]
    }

    /// Adds values to a launch of this file that was read before.
    pub fn fill(&mut self, row: usize, values: &Values) {
        complete(self.profile, row, values);
    }

    /// Gives a launch of this file what follows from all of its rows, where it was read in parts.
    pub(super) fn revise(&mut self, row: usize, head: &Head, values: &Values) {
        let launches = &mut self.profile.launches;
        launches.describe(row, head);
        launches.rewrite(row, values);
    }

    /// Adds what a rule of the profiler says of a launch of this file; whether there was room for it.
    pub fn advise(&mut self, row: usize, advice: ToolAdvice) -> bool {
        self.profile.launches.advise(row, advice)
    }

    /// Puts what was learnt of the file into the profile, but for what was seen of its devices.
    pub(super) fn finish(mut self) -> Observed {
        // Formats without a header close their records.
        if !self.titles.is_empty() && !self.breaks_off {
            if let Some(line) = self.tail.open_line() {
                self.check(&format!(
                    "the file breaks off in line {line}, between two cells: what follows is missing"
                ));
            } else if self.tail.is_in_number() {
                self.check(
                    "no line end after the last number: if the file was cut off there, digits are missing",
                );
            }
        }
        self.profile.sources.push(self.source);
        self.profile.sources.extend(self.parts);
        self.observed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &'static str, look: impl FnOnce(&mut Reading<'_>)) {
        let mut profile = Profile::default();
        let input = Input::text("file.csv", text);
        look(&mut Reading::open(&input, &Options::default(), &mut profile).unwrap());
    }

    #[test]
    fn lines_are_counted_through_preamble_and_header() {
        reading("==PROF== hello\nID,time\n1,2\n\"3\n4\",5\n6,7\n", |reading| {
            let mut preamble = Vec::new();
            let found = reading
                .header(|line| line.starts_with("ID"), |line| preamble.push(line.to_owned()));
            assert_eq!((found.unwrap().len(), preamble.len()), (2, 1));
            assert_eq!((reading.line(), reading.source.other_lines), (2, 1));
            let mut records = reading.records();
            let mut lines = Vec::new();
            while let Some(record) = records.next().unwrap() {
                lines.push(record.line());
            }
            assert_eq!(lines, [3, 4, 6]);
        });
        reading("a\nb\n", |reading| {
            let error = reading.header(|_| false, |_| {}).unwrap_err();
            assert!(error.to_string().contains("no table found"), "{error}");
        });
    }

    #[test]
    fn a_launch_without_a_description_of_its_device_takes_none_of_another_file() {
        let mut profile = Profile::default();
        profile.hint(DeviceHint { name: Some("H100".to_owned()), ..DeviceHint::default() });
        let input = Input::text("file.csv", "a\n1\n");
        let mut reading = Reading::open(&input, &Options::default(), &mut profile).unwrap();
        for _ in 0..2 {
            let row = reading.push(Head::default(), &Values::default());
            let device = reading.device(reading.head(row).device);
            assert_eq!(device, &DeviceHint::default());
        }
        let known =
            reading.hint(DeviceHint { name: Some("H100".to_owned()), ..DeviceHint::default() });
        let row = reading.push(Head { device: known, ..Head::default() }, &Values::default());
        assert_eq!(reading.head(row).device, known);
    }
}
