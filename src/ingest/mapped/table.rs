//! Rows of a mapped table turned into launches.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::filtered::{Filters, LeftOut};
use super::is_titled;
use super::mapping::{Instant, Mapping, Time, Value};
use super::shape::ShapeAt;
use super::units::{Units, exactly, is_share, with_unit};
use crate::ingest::numbered::{UNNUMBERED, are_numbered};
use crate::ingest::numerals::is_missing;
use crate::ingest::products::{is_product, lacks_products};
use crate::ingest::rows::{Row, fields, unquoted};
use crate::ingest::total_rows::is_of_sum;
use crate::ingest::{IngestError, Numerals, Reading};
use crate::model::{DeviceHint, Head, HintId, Origin, OriginId, OriginKind, Quantity, Values};
use crate::plain::counted;
use crate::units::si;

/// Kernels take less time, in seconds: a longer one is what a mistaken unit makes.
const LONGEST: f64 = 100.0;

/// No share is larger: rates over peaks that are rounded are a little above 1.
const MOST_OF_ALL: f64 = 1.05;

/// A table being turned into launches.
pub(super) struct Table<'a> {
    mapping: &'a Mapping,
    numerals: Numerals,
    kernel: usize,
    time: TimeAt<'a>,
    time_origin: OriginId,
    start: Option<InstantAt>,
    /// The other quantities with their positions.
    values: Vec<(&'a Value, Terms, OriginId)>,
    /// Where DRAM bytes are the sum of those read and written.
    both_sides: OriginId,
    launches: Option<usize>,
    /// Whether values are sums over the launches of a row.
    totals: bool,
    shape: ShapeAt,
    device: Option<usize>,
    operator: Option<usize>,
    stream: Option<usize>,
    id: Option<usize>,
    /// Whether launches have numbers, as the sample or an earlier one shows.
    has_numbers: bool,
    filters: Filters<'a>,
    /// Rows whose names are those of sums over other rows, and the first of these names.
    sums: Option<(u64, String)>,
    /// Rows whose start and end leave no time, and the first such start.
    lengthless: Option<(u64, String)>,
    /// Rows whose launches take longer than any kernel should, and the time of the first.
    long: Option<(u64, f64)>,
    /// The number of the first row of each text, of rows that stand for several launches.
    pub(super) alike: HashMap<u64, u32>,
    /// Picoseconds of one in the last place of its starts and ends, where that is known.
    finest: Option<u128>,
    hints: Vec<(Vec<u8>, HintId)>,
    is_unnamed_said: bool,
    /// Columns in use, where they are, and how many launches have a value there.
    filled: Vec<(&'a str, usize, u64)>,
    read: Values,
    /// Whether products of some half format are not counted: none of the other formats does not mean none at all.
    lacks_products: bool,
}

/// How DRAM bytes follow from those read and written: as uncertain as either.
fn both_sides(reading: &mut Reading<'_>, values: &[(&Value, Terms, OriginId)]) -> OriginId {
    let side = |quantity: Quantity| values.iter().find(|(value, ..)| value.quantity == quantity);
    let sides = [Quantity::DramReadBytes, Quantity::DramWriteBytes].map(side);
    let [Some((read, ..)), Some((write, ..))] = sides else { return OriginId::default() };
    let formula = format!("{} + {}", read.formula(), write.formula());
    let kind = read.kind.max(write.kind).max(OriginKind::Derived);
    let ((low, high), (other_low, other_high)) = (read.within, write.within);
    reading.origin(&Origin::new(kind, formula).within(low.min(other_low), high.max(other_high)))
}

/// The columns that add up to a quantity, each with its factor.
type Terms = Vec<(f64, usize)>;

/// Where the time of a row is.
enum TimeAt<'a> {
    Column(&'a Value, usize),
    Span(InstantAt, InstantAt),
}

/// A column of instants, and the decimal places from its unit to picoseconds.
#[derive(Clone, Copy)]
struct InstantAt {
    at: usize,
    digits: u32,
}

impl<'a> Table<'a> {
    /// A table with these titles; it has all columns that are not optional.
    pub(super) fn new(
        reading: &mut Reading<'_>,
        mapping: &'a Mapping,
        titles: &[String],
        numerals: Numerals,
    ) -> Self {
        let found = |column: &str| titles.iter().position(|title| is_titled(title, column));
        // What is not optional is there: the caller has seen to it.
        let at = |column: &str| found(column).unwrap_or(usize::MAX);
        let optional = |column: &Option<String>| column.as_deref().and_then(found);
        let launches = mapping.launches.as_ref();
        let totals = launches.is_some_and(|launches| launches.totals);
        let (kind, time) = mapping.time.formula();
        let mut origin = |value: Option<&Value>, kind: OriginKind, formula: String| {
            let adds = value.is_none_or(|value| value.quantity.is_additive());
            let (low, high) = value.map_or((1.0, 1.0), |value| value.within);
            let (kind, formula) = match launches.filter(|_| totals && adds) {
                Some(launches) => {
                    (kind.max(OriginKind::Derived), format!("{formula} / {}", launches.column))
                }
                None => (kind, formula),
            };
            reading.origin(&Origin::new(kind, formula).within(low, high))
        };
        let time_origin = origin(None, kind, time.clone());
        let mut partial = Vec::new();
        let values = mapping.values.iter().filter_map(|value| {
            let mut formula = value.formula();
            if value.terms.len() > 1 && (value.rate || totals) {
                formula = format!("({formula})");
            }
            if value.rate {
                formula = format!("{formula} × {time}");
            }
            let mut terms = Vec::new();
            let mut lacking = Vec::new();
            for (factor, column) in &value.terms {
                match mapping.places(column, titles) {
                    Some(places) => terms.extend(places.into_iter().map(|at| (*factor, at))),
                    None => lacking.push(column.as_str()),
                }
            }
            // A sum that lacks a column is missing, not smaller.
            if lacking.is_empty() {
                return Some((value, terms, origin(Some(value), value.kind, formula)));
            }
            if !terms.is_empty() {
                let (what, lacking) = (value.quantity.column(), lacking.join(", "));
                partial.push(format!("{what} is not counted: the table lacks {lacking}"));
            }
            None
        });
        let values: Vec<(&Value, Terms, OriginId)> = values.collect();
        let both_sides = both_sides(reading, &values);
        let all = mapping.values.iter().map(|value| value.quantity);
        let lacks_products = lacks_products(all, values.iter().map(|(value, ..)| value.quantity));
        let instant =
            |instant: &Instant| InstantAt { at: at(&instant.column), digits: instant.digits };
        for clue in partial {
            if !reading.source.clues.contains(&clue) {
                reading.source.clues.push(clue);
            }
        }
        let known = mapping.columns().into_iter();
        Self {
            values,
            both_sides,
            time: match &mapping.time {
                Time::Column(value) => {
                    TimeAt::Column(value, at(value.column().unwrap_or_default()))
                }
                Time::Span { start, end } => TimeAt::Span(instant(start), instant(end)),
            },
            time_origin,
            start: mapping
                .start
                .as_ref()
                .filter(|start| found(&start.column).is_some())
                .map(instant),
            mapping,
            numerals,
            kernel: at(&mapping.kernel),
            launches: launches.and_then(|launches| found(&launches.column)),
            totals,
            shape: ShapeAt::new(mapping, found),
            device: optional(&mapping.plain.device),
            operator: optional(&mapping.plain.operator),
            stream: optional(&mapping.plain.stream),
            id: optional(&mapping.plain.id),
            has_numbers: optional(&mapping.plain.id)
                .is_some_and(|at| are_numbered(reading, titles, at, mapping.delimiter)),
            filters: Filters::new(mapping, found),
            sums: None,
            lengthless: None,
            long: None,
            alike: HashMap::new(),
            finest: None,
            hints: Vec::new(),
            is_unnamed_said: false,
            filled: known.filter_map(|column| Some((column, found(column)?, 0))).collect(),
            read: Values::default(),
            lacks_products,
        }
    }

    /// Whether launches have numbers of their own.
    pub(super) fn is_numbered(&self) -> bool {
        self.id.is_some()
    }

    /// The fields of a row that is a header: concatenated tables have several.
    pub(super) fn header(&self, row: &Row) -> Option<Vec<String>> {
        // All rows pass here: one byte decides most of them.
        let time = match &self.time {
            TimeAt::Column(_, at) => *at,
            TimeAt::Span(start, _) => start.at,
        };
        if row.cell(time).first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let fields = fields(&row.whole(), self.mapping.delimiter);
        let names = |column: &&str| {
            let count = fields.iter().filter(|field| is_titled(field, column)).count();
            count == 1 || count == 0 && self.mapping.is_optional(column)
        };
        self.mapping.columns().iter().all(names).then_some(fields)
    }

    /// Leaves how many rows have a value in which column; gives the rows left out here and before.
    pub(super) fn end(self, reading: &mut Reading<'_>, before: LeftOut) -> LeftOut {
        for (column, _, filled) in &self.filled {
            *reading.source.columns.entry((*column).to_owned()).or_default() += filled;
        }
        if let Some((rows, start)) = &self.lengthless {
            let rows = counted(*rows, "row has", "rows have");
            reading.check(&format!(
                "{rows} no time: start and end are equal, or rounded as a spreadsheet leaves them ({start}); use the file as the profiler wrote it"
            ));
        }
        if let Some((rows, seconds)) = self.long.filter(|_| !self.mapping.is_built_in) {
            let (rows, most) = (counted(rows, "row has", "rows have"), si(LONGEST, "s"));
            let (first, path) = (si(seconds, "s"), &self.mapping.path);
            reading.check(&format!(
                "{rows} launches longer than {most}, the first of {first}: check the unit of the time in {path}"
            ));
        }
        if let Some((rows, name)) = &self.sums {
            let many = counted(
                *rows,
                "row is named as a sum over others and counts as a kernel",
                "rows are named as sums over others and count as kernels",
            );
            reading.check(&format!("{many} ({name:?}); a filter of the mapping leaves them out"));
        }
        self.filters.end(before)
    }

    /// Adds the launch of a row.
    ///
    /// # Errors
    /// When something cannot be read and reading is strict.
    pub(super) fn launch(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
    ) -> Result<(), IngestError> {
        reading.source.rows += 1;
        if self.filters.leave_out(row) {
            return Ok(());
        }
        let name = unquoted(row.cell(self.kernel));
        if name.is_empty() {
            // Rows of sums have no name.
            return reading.skip(
                row.line(),
                Some(&self.mapping.kernel),
                &row.whole(),
                "no kernel name",
            );
        }
        if is_of_sum(&name) {
            let shown = || (0, String::from_utf8_lossy(&name).into_owned());
            self.sums.get_or_insert_with(shown).0 += 1;
        }
        let count = match self.launches {
            None => 1,
            Some(at) => {
                match self.numerals.whole(row.cell(at)).ok().flatten().filter(|count| *count > 0) {
                    Some(count) => count,
                    None => return self.skip(reading, row, at, "not a number of launches"),
                }
            }
        };
        self.read.clear();
        if !self.read_time(reading, row, count)? {
            return Ok(());
        }
        self.read_values(reading, row, count)?;
        for (_, at, filled) in &mut self.filled {
            *filled += u64::from(!is_missing(row.cell(*at)));
        }
        let text = |at: Option<usize>| at.map_or(&b""[..], |at| row.cell(at));
        let skip = |at: usize, reason: &str| self.skip(reading, row, at, reason);
        let shape = self.shape.read(row, self.numerals, skip)?;
        let head = Head {
            // A number of another kind names the launch in its own table; here the row does.
            id: self.number_of(reading, row),
            name: reading.name(&name),
            operator: reading.name(&unquoted(text(self.operator))),
            shape,
            stream: self.number(reading, row, self.stream)?,
            start: self.instant(reading, row)?,
            device: self.hint(reading, text(self.device)),
            count,
            ..Head::default()
        };
        reading.push(head, &self.read);
        Ok(())
    }

    /// The number of a launch: its own, or that of its row. Where launches have numbers, one without is beyond all of theirs.
    fn number_of(&mut self, reading: &Reading<'_>, row: &Row) -> u32 {
        let own = self.id.and_then(|at| self.numerals.whole(row.cell(at)).ok().flatten());
        self.has_numbers |= own.is_some();
        own.unwrap_or_else(|| {
            let number = self.row_number(reading, row);
            if self.has_numbers { number | UNNUMBERED } else { number }
        })
    }

    /// The number of a row. Where rows stand for several launches, the same rows are copies, and have that of the first;
    /// others differ at least in a column that is not mapped.
    fn row_number(&mut self, reading: &Reading<'_>, row: &Row) -> u32 {
        let number = u32::try_from(reading.source.rows).unwrap_or(u32::MAX);
        if self.launches.is_none() {
            return number;
        }
        let mut text = DefaultHasher::new();
        row.whole().hash(&mut text);
        *self.alike.entry(text.finish()).or_insert(number)
    }

    /// Reads the time of a row; false if it was skipped because its time cannot be read.
    fn read_time(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        count: u32,
    ) -> Result<bool, IngestError> {
        let (at, time) = match &self.time {
            TimeAt::Column(value, at) => {
                let time = self.amount(row.cell(*at), value);
                (*at, time.map(|time| time.map(|number| number * value.scale)))
            }
            TimeAt::Span(start, end) => {
                let (start, end) = (*start, *end);
                let time = self.span(row.cell(start.at), row.cell(end.at), end);
                if time == Ok(Some(0.0)) {
                    let cell = || String::from_utf8_lossy(row.cell(start.at)).into_owned();
                    self.lengthless.get_or_insert_with(|| (0, cell())).0 += 1;
                }
                (end.at, time)
            }
        };
        match time {
            Ok(Some(seconds)) => {
                let seconds = if self.totals { seconds / f64::from(count) } else { seconds };
                // A launch takes time: 0 is what a lost measurement looks like.
                if seconds > 0.0 {
                    if seconds > LONGEST {
                        self.long.get_or_insert((0, seconds)).0 += 1;
                    }
                    self.read.set(Quantity::Duration, seconds, self.time_origin);
                }
                Ok(true)
            }
            Ok(None) => Ok(true),
            Err(reason) => {
                self.skip(reading, row, at, reason)?;
                Ok(false)
            }
        }
    }

    fn seconds(&self, cell: &[u8], scale: f64) -> Result<Option<f64>, &'static str> {
        match self.numerals.parse(cell) {
            Ok(number) => not_negative(number.map(|number| number * scale)),
            Err(_) => Err("not a number"),
        }
    }

    /// The number of a cell in the unit of its value. A cell that has its own unit says it better than the mapping.
    fn amount(&self, cell: &[u8], value: &Value) -> Result<Option<f64>, &'static str> {
        if let Ok(number) = self.numerals.parse(cell) {
            return not_negative(number);
        }
        let number = with_unit(cell)
            .and_then(|(number, unit)| Some((self.numerals.parse(number.as_bytes()).ok()??, unit)));
        let (number, unit) = number.ok_or("not a number")?;
        let unit =
            Units::of(value.quantity).find(unit).filter(|(_, is_rate)| *is_rate == value.rate);
        let (scale, _) =
            unit.ok_or("the unit behind the number is unknown, or not one of the column")?;
        not_negative(Some(number * scale / value.scale))
    }

    /// The time from a start to an end; 0 where they are equal, or rounded so that their difference says nothing.
    fn span(
        &mut self,
        start: &[u8],
        end: &[u8],
        InstantAt { digits, .. }: InstantAt,
    ) -> Result<Option<f64>, &'static str> {
        const REVERSED: &str = "ends before it starts";
        /// A time of fewer of the last place that was written is off by more than 5%.
        const STEPS: u128 = 20;
        let exact = |cell| exactly(cell, digits, self.numerals);
        if let (Some(start), Some(end)) = (exact(start), exact(end)) {
            let span = end.picoseconds.abs_diff(start.picoseconds);
            // A number that ends with zeros is written with fewer digits: the finest of the column counts.
            self.finest = self.finest.into_iter().chain(start.step).chain(end.step).min();
            if self.finest.is_some_and(|step| step > 1 && span < step.saturating_mul(STEPS)) {
                return Ok(Some(0.0));
            }
            let is_reversed = end.picoseconds < start.picoseconds;
            return if is_reversed { Err(REVERSED) } else { Ok(Some(span as f64 * 1e-12)) };
        }
        let scale = 1e-12 * 10_f64.powi(i32::try_from(digits).unwrap_or_default());
        match (self.seconds(start, scale)?, self.seconds(end, scale)?) {
            (Some(start), Some(end)) if end < start => Err(REVERSED),
            (Some(start), Some(end)) => Ok(Some(end - start)),
            _ => Ok(None),
        }
    }

    /// Reads the other quantities of a row, of which the time is known.
    fn read_values(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        count: u32,
    ) -> Result<(), IngestError> {
        let mut read = std::mem::take(&mut self.read);
        for (value, terms, origin) in &self.values {
            let number = match self.sum(row, value, terms) {
                Ok(Some(number)) => number * value.scale,
                Ok(None) => continue,
                Err((at, reason)) => {
                    self.skip(reading, row, at, reason)?;
                    continue;
                }
            };
            let number = match (value.rate, read.get(Quantity::Duration)) {
                // The time is that of one launch already.
                (true, time) => time.map(|time| number * time),
                (false, _) if self.totals && value.quantity.is_additive() => {
                    Some(number / f64::from(count))
                }
                (false, _) => Some(number),
            };
            let says_nothing =
                number == Some(0.0) && self.lacks_products && is_product(value.quantity);
            if let Some(number) = number.filter(|_| !says_nothing) {
                read.set(value.quantity, number, *origin);
            }
        }
        if let (None, Some(one), Some(other)) = (
            read.get(Quantity::DramBytes),
            read.get(Quantity::DramReadBytes),
            read.get(Quantity::DramWriteBytes),
        ) {
            read.set(Quantity::DramBytes, one + other, self.both_sides);
        }
        self.read = read;
        Ok(())
    }

    /// The sum of cells, each times its factor; nothing if one of them is missing.
    fn sum(
        &self,
        row: &Row,
        value: &Value,
        terms: &[(f64, usize)],
    ) -> Result<Option<f64>, (usize, &'static str)> {
        let mut sum = 0.0;
        for (factor, at) in terms {
            match self.amount(row.cell(*at), value).map_err(|reason| (*at, reason))? {
                Some(number) => sum += factor * number,
                None => return Ok(None),
            }
        }
        match terms {
            [(_, at), ..] if sum < 0.0 => Err((*at, "the sum that it is part of is negative")),
            [(_, at), ..] if sum * value.scale > MOST_OF_ALL && is_share(value.quantity) => {
                Err((*at, "more than 100%"))
            }
            _ => Ok(Some(sum)),
        }
    }

    fn skip(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        at: usize,
        reason: &str,
    ) -> Result<(), IngestError> {
        let column =
            self.filled.iter().find(|(_, known, _)| *known == at).map(|(column, _, _)| *column);
        reading.skip(row.line(), column, &row.text(at), reason)
    }

    /// A whole number of a column that may be lacking; a cell that cannot be read is counted.
    fn number(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        at: Option<usize>,
    ) -> Result<Option<u32>, IngestError> {
        let Some(at) = at else { return Ok(None) };
        self.numerals
            .whole(row.cell(at))
            .or_else(|reason| self.skip(reading, row, at, reason).map(|()| None))
    }

    /// When a launch began, in nanoseconds.
    fn instant(&self, reading: &mut Reading<'_>, row: &Row) -> Result<Option<u64>, IngestError> {
        let Some(InstantAt { at, digits }) = self.start else { return Ok(None) };
        let cell = row.cell(at);
        if let Some(start) = exactly(cell, digits, self.numerals) {
            return Ok(u64::try_from(start.picoseconds / 1000).ok());
        }
        // Grouped digits, or an exponent.
        match self.numerals.parse(cell) {
            Ok(Some(start)) if start >= 0.0 => {
                let power = i32::try_from(digits).unwrap_or_default() - 3;
                Ok(Some((start * 10_f64.powi(power)).round() as u64))
            }
            Ok(None) => Ok(None),
            _ => self.skip(reading, row, at, "not a time").map(|()| None),
        }
    }

    /// The device: the mapping's name, and what the column says.
    fn hint(&mut self, reading: &mut Reading<'_>, text: &[u8]) -> HintId {
        if let Some((_, hint)) = self.hints.iter().find(|(known, _)| known == text) {
            return *hint;
        }
        // pandas writes whole numbers of a column that lacks some as fractions.
        let whole = text.strip_suffix(b".0").filter(|whole| whole.iter().all(u8::is_ascii_digit));
        let written = String::from_utf8_lossy(text).into_owned();
        let is_key = self.mapping.devices.contains_key(&written);
        let said = match whole.filter(|_| !is_key) {
            Some(whole) => String::from_utf8_lossy(whole).into_owned(),
            None => written,
        };
        let number = number_of_device(&said);
        let mut hint = DeviceHint::default();
        let named = self.mapping.devices.get(&said).or_else(|| self.mapping.devices.get(number));
        if let Some(name) = named.or(self.mapping.device.as_ref()) {
            hint.name = Some(name.clone());
            hint.name_from = Some(self.mapping.path.clone());
        }
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            hint.ordinal = Some(number.to_owned()).filter(|ordinal| !ordinal.is_empty());
        } else if hint.name.is_none() || !self.mapping.devices.contains_key(&said) {
            hint.name = Some(said);
            hint.name_from.clone_from(&self.mapping.plain.device);
        }
        if let (Some(ordinal), None) = (&hint.ordinal, &hint.name)
            && !std::mem::replace(&mut self.is_unnamed_said, true)
        {
            self.say_unnamed(reading, ordinal);
        }
        let id = reading.hint(hint);
        self.hints.push((text.to_vec(), id));
        id
    }

    /// Says that the mapping names devices, and not this one.
    fn say_unnamed(&self, reading: &mut Reading<'_>, ordinal: &str) {
        let known: Vec<String> =
            self.mapping.devices.keys().map(|key| format!("{key:?}")).collect();
        if let (Some(column), false) = (&self.mapping.plain.device, known.is_empty()) {
            let (path, known) = (&self.mapping.path, known.join(", "));
            reading.check(&format!(
                "the column {column:?} has {ordinal:?}, and `devices` of {path} names only {known}: this GPU has no name"
            ));
        }
    }
}

fn not_negative(number: Option<f64>) -> Result<Option<f64>, &'static str> {
    if number.is_some_and(|number| number < 0.0) { Err("negative") } else { Ok(number) }
}

/// The number of a device without the word before it, which rocprofv3 and frameworks write: `Agent 4`, `GPU 0`, `cuda:1`.
fn number_of_device(text: &str) -> &str {
    const BEFORE: [&str; 5] = ["Agent ", "GPU ", "Device ", "cuda:", "hip:"];
    let number = BEFORE.iter().find_map(|before| text.strip_prefix(before));
    number.filter(|number| number.parse::<u32>().is_ok()).unwrap_or(text)
}
