//! Rows of `PyProf`'s table → launches, whichever way the table is written.
//!
//! Kernel names and operators are fewer than rows: what follows from each is worked out once and looked up for every
//! further row.

use hashbrown::HashMap;

use super::columns::{Column, Columns, names_time};
use super::counts::{Printed, judge};
use super::known::Texts;
use super::operators::{Cells, Named, Operators};
use super::repeats::Repeats;
use super::tally::{NANOSECONDS, Tally};
use crate::ingest::numerals::is_missing;
use crate::ingest::operators::forms::{Basis, Count, Work};
use crate::ingest::operators::kernel::{Kernel, TensorCores, lane_pipe};
use crate::ingest::part::Part;
use crate::ingest::rows::Row;
use crate::ingest::split::fields;
use crate::ingest::{IngestError, Numerals, Reading};
use crate::model::{
    DeviceHint, Dim3, Head, HintId, NameId, Origin, OriginId, OriginKind, Quantity, Shape, Values,
};
use crate::plain::counted;
use crate::predict::operator::Need;

/// Most needs that are kept: every launch of a program may have a shape of its own.
const NEEDS: usize = 16_384;

/// A table being turned into launches.
pub(super) struct Table {
    columns: Columns,
    numerals: Numerals,
    /// Texts of kernels, and what follows from each.
    names: Texts,
    kernels: Vec<(NameId, Kernel)>,
    operators: Operators,
    /// What follows from sizes, by kernel, operator and shape.
    needs: HashMap<(NameId, usize, Shape), Option<Need>>,
    repeats: Repeats<Parsed>,
    origins: Vec<(Basis, OriginId)>,
    time_origin: OriginId,
    devices: Vec<(Vec<u8>, HintId)>,
    /// Number of values of each column, in header order.
    filled: Vec<u64>,
    /// Columns that the current row gives twice with different values.
    contradicted: Vec<Column>,
    values: Values,
    tally: Tally,
    /// Whether rows follow others that another thread reads.
    is_beside: bool,
    /// Whether a launch has its number by the row, where rows before it are not known.
    is_unnumbered: bool,
}

/// What the rows of another thread add to what is known of the whole table.
struct More {
    filled: Vec<u64>,
    tally: Tally,
}

/// A row but for its number and its time.
#[derive(Clone, Copy, Default)]
struct Parsed {
    /// Position of its operator.
    at: usize,
    printed: Printed,
    work: Work,
    /// Operations and bytes as values of the launch.
    values: [Option<(Quantity, f64, OriginId)>; 2],
    /// Without the number.
    head: Head,
}

impl Table {
    /// A table with these columns.
    pub(super) fn new(
        reading: &mut Reading<'_>,
        columns: Columns,
        numerals: Numerals,
        fixed_width: bool,
    ) -> Self {
        let time = columns.header(Column::Time).unwrap_or_default();
        let time_origin = reading.origin(&Origin::measured(time));
        Self {
            filled: vec![0; columns.headers().len()],
            repeats: Repeats::new(&columns),
            columns,
            numerals,
            names: Texts::default(),
            kernels: Vec::new(),
            operators: Operators::default(),
            needs: HashMap::new(),
            origins: Vec::new(),
            time_origin,
            devices: Vec::new(),
            contradicted: Vec::new(),
            values: Values::default(),
            tally: Tally::new(fixed_width),
            is_beside: false,
            is_unnumbered: false,
        }
    }

    /// A table whose rows come after others that another thread reads.
    pub(super) fn beside(self) -> Self {
        Self { tally: Tally::later(), is_beside: true, ..self }
    }

    /// The columns of the rows that come next.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// How numbers are written.
    pub(super) fn numerals(&self) -> Numerals {
        self.numerals
    }

    /// Takes out what is known of the rows so far, for [`Table::join`]; `None` if that takes the rows
    /// before them.
    pub(super) fn more(&mut self) -> Option<impl Send + use<>> {
        let filled = std::mem::replace(&mut self.filled, vec![0; self.columns.headers().len()]);
        let tally = std::mem::replace(&mut self.tally, Tally::later());
        (!self.is_unnumbered).then_some(More { filled, tally })
    }

    /// Appends what another thread has read.
    ///
    /// # Errors
    /// When too many rows led to no launch.
    pub(super) fn join(
        &mut self,
        reading: &mut Reading<'_>,
        part: Part,
    ) -> Result<(), IngestError> {
        let Some(More { filled, tally }) = reading.join(part)? else { return Ok(()) };
        for (count, more) in self.filled.iter_mut().zip(filled) {
            *count += more;
        }
        self.tally.join(tally);
        Ok(())
    }

    /// Reads one row.
    ///
    /// # Errors
    /// When something in it cannot be read and reading is strict.
    pub(super) fn launch(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
    ) -> Result<(), IngestError> {
        if self.is_nameless(row) {
            // Spreadsheets leave blank lines, and rows of sums.
            if (0..self.filled.len()).all(|at| row.cell(at).is_empty()) {
                reading.source.other_lines += 1;
                return Ok(());
            }
            reading.source.rows += 1;
            let column =
                if self.columns.at(Column::Kernel).is_some() { Column::Kernel } else { Column::Op };
            return self.skip(
                reading,
                row,
                column,
                "the row names neither a kernel nor an operator",
            );
        }
        reading.source.rows += 1;
        self.contradict(reading, row)?;
        let time = match self.numerals.parse(self.cell(row, Column::Time)) {
            Ok(Some(time)) if time < 0.0 => {
                return self.skip(reading, row, Column::Time, "negative time");
            }
            // A launch takes time: 0 is what a lost timestamp looks like.
            Ok(time) => time.filter(|time| *time > 0.0),
            Err(_) => return self.skip(reading, row, Column::Time, "not a number of nanoseconds"),
        };
        self.count_values(row);
        let mut fresh = Parsed::default();
        let known = self.repeats.number(row);
        let parsed = match known.and_then(|known| self.repeats.get(known)) {
            Some(parsed) => parsed,
            None => {
                let skips = reading.source.skips.count;
                self.parse(reading, row, &mut fresh)?;
                if let Some(known) = known {
                    // A cell that is skipped is counted for each row.
                    let is_whole = reading.source.skips.count == skips;
                    self.repeats.keep(known, is_whole.then_some(fresh));
                }
                &fresh
            }
        };
        let operator = &self.operators.get(parsed.at).operator;
        self.tally.launch(operator, parsed.printed, parsed.work, time.unwrap_or(0.0));
        self.values.clear();
        if let Some(time) = time {
            self.values.set(Quantity::Duration, time / NANOSECONDS, self.time_origin);
        }
        for (quantity, value, origin) in parsed.values.into_iter().flatten() {
            self.values.set(quantity, value, origin);
        }
        let mut head = parsed.head;
        let id = self.integer(reading, row, Column::Idx)?;
        self.is_unnumbered |= self.is_beside && id.is_none();
        head.id = id.unwrap_or_else(|| row_number(reading));
        self.tally.number(head.id);
        reading.push(head, &self.values);
        Ok(())
    }

    /// Whether a row has neither a kernel nor an operator, of which the table has columns.
    fn is_nameless(&self, row: &Row) -> bool {
        let at = [Column::Kernel, Column::Op].map(|column| self.columns.at(column));
        let mut named = at.into_iter().flatten().peekable();
        named.peek().is_some() && named.all(|at| row.cell(at).is_empty())
    }

    /// Reads a row but for its number and its time.
    fn parse(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        parsed: &mut Parsed,
    ) -> Result<(), IngestError> {
        let sub = self.number(reading, row, Column::Sub)?;
        let (name, kernel) = self.kernel(reading, row);
        let at = self.operator(reading, row, name == NameId::default());
        let tensor_cores = match self.cell(row, Column::Tc) {
            b"1" => TensorCores::Listed,
            b"0" | b"-" => TensorCores::NotListed,
            cell if is_missing(cell) => TensorCores::Unknown,
            _ => {
                self.skip(reading, row, Column::Tc, "neither 1 nor 0")?;
                TensorCores::Unknown
            }
        };
        let flops_text = self.cell(row, Column::Flops);
        let float = flops_text.iter().any(|byte| matches!(byte, b'.' | b'e'));
        let printed = Printed {
            flops: self.number(reading, row, Column::Flops)?,
            bytes: self.number(reading, row, Column::Bytes)?,
            sub,
            float,
        };
        let Named { operator, label, plain } = self.operators.get(at);
        let (label, plain) = (*label, *plain);
        let shape = Shape::new(
            self.extent(reading, row, Column::Grid)?,
            self.extent(reading, row, Column::Block)?,
        );
        let work = judge(operator, kernel, printed);
        let need = (work == Work::default()).then(|| {
            if self.needs.len() == NEEDS {
                self.needs.clear();
            }
            let known = self.needs.entry((name, at, shape));
            *known.or_insert_with(|| operator.need(kernel, &shape))
        });
        let (work, is_product) = match need.flatten() {
            Some(need) => (Work::needed(&need), need.is_product),
            None => (work, operator.is_product),
        };
        let pipe = if is_product {
            kernel.product_pipe(operator.dtype, tensor_cores)
        } else {
            lane_pipe(operator.dtype)
        };
        let counts = [(Quantity::Work(pipe), work.flops), (Quantity::DramBytes, work.bytes)];
        parsed.values = counts.map(|(quantity, count)| {
            count.map(|Count { value, basis }| (quantity, value, self.origin(reading, basis)))
        });
        parsed.head = Head {
            name: if name == NameId::default() { plain } else { name },
            operator: label,
            shape,
            device: self.device(reading, row),
            stream: self.integer(reading, row, Column::Stream)?,
            count: 1,
            ..Head::default()
        };
        (parsed.at, parsed.printed, parsed.work) = (at, printed, work);
        Ok(())
    }

    /// Counts a line that is no row: a message of the program, or a row that lost or gained cells.
    ///
    /// # Errors
    /// When reading is strict and it looks like a row.
    pub(super) fn misfit(
        &mut self,
        reading: &mut Reading<'_>,
        row: &Row,
        cells: usize,
        open: bool,
    ) -> Result<(), IngestError> {
        let text = row.whole();
        if cells < 2 && !text.starts_with('"') {
            if text.starts_with("Traceback (most recent call last)")
                || text.starts_with("AssertionError")
            {
                self.tally.traceback.get_or_insert(row.line());
            }
            return reading.other_line();
        }
        reading.source.rows += 1;
        let columns = self.columns.headers().len();
        let reason = if open {
            "a quoted field has no end".to_owned()
        } else {
            format!("row has {}, the header {columns}", counted(cells as u64, "field", "fields"))
        };
        reading.skip(row.line(), None, &text, reason)
    }

    /// Leaves what was learnt of the file.
    ///
    /// # Errors
    /// When the table has no row, or none that can be used.
    pub(super) fn finish(self, reading: &mut Reading<'_>) -> Result<(), IngestError> {
        if reading.source.rows == 0 {
            return Err(reading.error("the table has a header and no rows").help(
                "prof stops at an operator it does not know, maybe at the first one: read the messages of python -m pyprof.prof",
            ));
        }
        if reading.source.launches == 0 {
            let first = reading.source.skips.first.first();
            let why = first.map_or(String::new(), |skip| {
                format!("; line {}: {}: {:?}", skip.line, skip.reason, skip.text)
            });
            return Err(
                reading.error(format!("none of the {} rows can be used{why}", reading.source.rows))
            );
        }
        self.count(reading);
        self.tally.dialect(&self.columns).clone_into(&mut reading.source.dialect);
        reading.source.clues.extend(self.tally.clues(&self.columns));
        reading.source.mended = self.tally.mended();
        Ok(())
    }

    /// The columns that a row names, if it is a header: concatenated files have several.
    pub(super) fn header(&self, row: &Row) -> Option<Columns> {
        // All rows pass here: one byte tells most of them.
        let time = self.cell(row, Column::Time);
        if time.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let text = row.whole();
        if names_time(&text) { Columns::of(&fields(&text)) } else { None }
    }

    /// Takes the columns of the rows that follow from a header inside the table.
    pub(super) fn turn_to(&mut self, reading: &mut Reading<'_>, columns: Columns) {
        reading.begin_table(columns.at(Column::Idx).is_some());
        self.count(reading);
        let time = columns.header(Column::Time).unwrap_or_default();
        self.time_origin = reading.origin(&Origin::measured(time));
        self.filled = vec![0; columns.headers().len()];
        self.repeats = Repeats::new(&columns);
        self.columns = columns;
    }

    /// Leaves how many rows have a value in which column.
    fn count(&self, reading: &mut Reading<'_>) {
        for (header, filled) in self.columns.headers().iter().zip(&self.filled) {
            if !header.is_empty() {
                *reading.source.columns.entry(header.clone()).or_default() += filled;
            }
        }
    }

    /// Finds columns that the row gives twice with different values; neither is used.
    fn contradict(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        self.contradicted.clear();
        for (column, again) in self.columns.again() {
            let (one, two) =
                (self.columns.at(*column).map_or(&b""[..], |at| row.cell(at)), row.cell(*again));
            let number = |cell| self.numerals.parse(cell).ok().flatten();
            let is_same = one == two || number(one).is_some_and(|one| number(two) == Some(one));
            if !is_same && !one.is_empty() && !two.is_empty() {
                let reason = "given twice for one launch with different values; neither is used";
                reading.skip(
                    row.line(),
                    self.columns.header(*column),
                    &row.text(*again),
                    reason,
                )?;
                self.contradicted.push(*column);
            }
        }
        Ok(())
    }

    fn cell<'a>(&self, row: &'a Row, column: Column) -> &'a [u8] {
        if !self.contradicted.is_empty() && self.contradicted.contains(&column) {
            return b"";
        }
        self.columns.at(column).map_or(b"", |at| row.cell(at))
    }

    fn is_cut(&self, row: &Row, column: Column) -> bool {
        self.columns.at(column).is_some_and(|at| row.is_cut(at))
    }

    fn count_values(&mut self, row: &Row) {
        for (column, filled) in self.filled.iter_mut().enumerate() {
            // Most cells show by one byte that they are none of these.
            let is_missing = match row.cell(column) {
                [] => true,
                cell @ [b'-' | b'n', ..] => matches!(cell, b"-" | b"na" | b"na=na,"),
                _ => false,
            };
            *filled += u64::from(!is_missing);
        }
    }

    fn skip(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        column: Column,
        reason: &str,
    ) -> Result<(), IngestError> {
        let text = self.columns.at(column).map_or(String::new(), |at| row.text(at));
        reading.skip(row.line(), self.columns.header(column), &text, reason)
    }

    /// A number that is not negative; a cell that is none is skipped, the row stays.
    fn number(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        column: Column,
    ) -> Result<Option<f64>, IngestError> {
        match self.numerals.parse(self.cell(row, column)) {
            Ok(Some(number)) if number < 0.0 => {
                self.skip(reading, row, column, "negative count")?;
            }
            Ok(number) => return Ok(number),
            Err(_) => self.skip(reading, row, column, "not a number")?,
        }
        Ok(None)
    }

    fn integer(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        column: Column,
    ) -> Result<Option<u32>, IngestError> {
        let Some(number) = self.number(reading, row, column)? else { return Ok(None) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is lost shows below"
        )]
        let whole = number as u32;
        if f64::from(whole).total_cmp(&number.abs()).is_eq() {
            return Ok(Some(whole));
        }
        self.skip(reading, row, column, "not a number of 32 bits")?;
        Ok(None)
    }

    fn extent(
        &self,
        reading: &mut Reading<'_>,
        row: &Row,
        column: Column,
    ) -> Result<Option<Dim3>, IngestError> {
        if self.is_cut(row, column) {
            return Ok(None);
        }
        let cell = self.cell(row, column);
        let extent = Dim3::parse_bytes(cell);
        if extent.is_none() && !is_missing(cell) {
            self.skip(reading, row, column, "not three whole numbers")?;
        }
        Ok(extent)
    }

    /// The kernel's name (the full one where the file has it), and what follows from it.
    fn kernel(&mut self, reading: &mut Reading<'_>, row: &Row) -> (NameId, Kernel) {
        let long = self.cell(row, Column::LongKernel);
        let text = if long.is_empty() { self.cell(row, Column::Kernel) } else { long };
        self.tally.cut_kernels += u64::from(self.is_cut(row, Column::Kernel));
        let at = self.names.number(text);
        if at == self.kernels.len() {
            let name = reading.name(text);
            self.kernels.push((name, Kernel::of(&String::from_utf8_lossy(text))));
        }
        self.kernels[at]
    }

    /// Position of the row's operator among the known ones.
    fn operator(&mut self, reading: &mut Reading<'_>, row: &Row, nameless: bool) -> usize {
        let [op, module, direction, params] =
            [Column::Op, Column::Module, Column::Direction, Column::Params]
                .map(|column| self.cell(row, column));
        let is_cut = self.is_cut(row, Column::Params);
        let sub = if nameless { self.cell(row, Column::Sub) } else { b"" };
        self.tally.cut_params += u64::from(is_cut);
        let cells = Cells { op, module, direction, params, is_cut, sub };
        self.operators.at(&cells, reading, &mut self.tally)
    }

    fn device(&mut self, reading: &mut Reading<'_>, row: &Row) -> HintId {
        let text = self.cell(row, Column::Device);
        if let Some((_, hint)) = self.devices.iter().find(|(known, _)| known == text) {
            return *hint;
        }
        let ordinal = match text {
            b"" | b"-" | b"na" => None,
            _ => Some(String::from_utf8_lossy(text).into_owned()),
        };
        let hint = reading.hint(DeviceHint { ordinal, ..DeviceHint::default() });
        self.devices.push((text.to_vec(), hint));
        hint
    }

    fn origin(&mut self, reading: &mut Reading<'_>, basis: Basis) -> OriginId {
        if let Some((_, id)) = self.origins.iter().find(|(known, _)| *known == basis) {
            return *id;
        }
        let origin =
            Origin::new(OriginKind::Algorithmic, basis.formula).within(basis.low, basis.high);
        let id = reading.origin(&origin);
        self.origins.push((basis, id));
        id
    }
}

/// Number of the row, for files without `Idx`.
fn row_number(reading: &Reading<'_>) -> u32 {
    u32::try_from(reading.source.rows).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::{Dim3, Profile};

    const HEADER: &str = "\"Kernel\",\"Op\",\"Params\",\"Sil(ns)\",\"FLOPs\",\"Bytes\",\"Device\",\"Stream\",\"Grid\",\"Block\"";

    fn read(rows: &[&str]) -> Result<Profile, crate::ingest::IngestError> {
        let text = format!("{HEADER}\n{}\n", rows.join("\n"));
        read_text("table.csv", text.leak(), &Options::default())
    }

    fn row(time: &str, stream: &str) -> String {
        format!(
            "\"k\",\"__mul__\",\"na\",\"{time}\",\"100\",\"800\",\"0\",\"{stream}\",\"8,2,1\",\"256,1,1\""
        )
    }

    #[test]
    fn a_time_of_zero_is_a_lost_one_and_a_negative_one_none_at_all() {
        let rows =
            [row("1500", "7"), row("0", "7"), row("-5", "7"), row("nan", "7"), row("x", "7")];
        let found = read(&rows.each_ref().map(String::as_str)).unwrap();
        assert_eq!(found.launches.len(), 3);
        assert!((found.launch(0).duration().unwrap().0.get() - 1.5e-6).abs() < 1e-18);
        assert!(found.launch(1).duration().is_none() && found.launch(2).duration().is_none());
        let reasons: Vec<&str> =
            found.sources[0].skips.first.iter().map(|skip| skip.reason.as_str()).collect();
        assert_eq!(reasons, ["negative time", "not a number of nanoseconds"]);
        // Rows count, whether they can be used or not, where the file has no numbers of its own.
        assert_eq!((found.launch(0).head.id, found.launch(1).head.id), (1, 2));
    }

    #[test]
    fn a_cell_that_cannot_be_read_leaves_its_row() {
        let found = read(&[&row("1500", "7.5")]).unwrap();
        let head = found.launch(0).head;
        assert_eq!((head.stream, head.shape.grid), (None, Some(Dim3 { x: 8, y: 2, z: 1 })));
        assert_eq!(found.sources[0].skips.first[0].column.as_deref(), Some("Stream"));
    }

    #[test]
    fn a_repeated_header_is_no_row_and_no_usable_row_is_an_error() {
        let one = row("1500", "7");
        let two = row("1600", "7");
        assert_eq!(read(&[&one, HEADER, &two]).unwrap().launches.len(), 2);
        assert_eq!(read(&[&one, &two, HEADER, &one, &two]).unwrap().launches.len(), 2);
        assert_eq!(read(&[&one, &one, &two]).unwrap().launches.len(), 3);
        let error = read(&[&row("x", "7")]).unwrap_err().to_string();
        assert!(error.contains("none of the 1 rows can be used; line 2"), "{error}");
        let short = read(&[&one, "\"k\",\"__mul__\""]).unwrap();
        assert_eq!(short.sources[0].skips.first[0].reason, "row has 2 fields, the header 10");
    }
}
