//! A mapping as it is written made one that can be used, with the place of each fault.

use toml::Spanned;

use super::file::{Cell, Counted, ExtentCell, File, InstantCell, Kind, RowValues, Texts, TimeCell};
use super::mapping::{Extent, Filter, Instant, Launches, Mapping, Plain, Time, Value};
use super::units::{Units, picosecond_digits};
use crate::ingest::IngestError;
use crate::ingest::decimal::DecimalSign;
use crate::model::{OriginKind, Pipe, Quantity};
use crate::plain;

impl Mapping {
    /// Reads a mapping; `path` names it in messages.
    ///
    /// # Errors
    /// At the line and column where the text is no TOML, has a key that is not known, lacks `kernel` or
    /// `time`, or names an unknown unit, precision, kind or quantity.
    pub fn from_toml(text: &str, path: &str) -> Result<Self, IngestError> {
        let place = Place { text, path };
        let file: File = toml::from_str(text).map_err(|error| {
            let fault = plain::toml(text, &error);
            let missing = fault.message.strip_prefix("missing key ");
            let help = match missing.and_then(|key| commented(text, key.trim_matches('"'))) {
                Some((line, written)) => {
                    format!("fill in line {line} and remove the # before it: {written}")
                }
                None => fault.help,
            };
            let error = place.error(error.span().map_or(0, |span| span.start), fault.message);
            if help.is_empty() { error } else { error.help(help) }
        })?;
        let columns = file.columns;
        let time = place.time(&columns.time)?;
        let mut values = Vec::new();
        if let Some(bytes) = &columns.bytes {
            values.push(place.value(Quantity::DramBytes, bytes)?);
        }
        for work in columns.flops.map_or_else(Vec::new, |flops| flops.0) {
            let pipe = work
                .precision
                .as_ref()
                .map_or(Ok(Pipe::Unstated), |precision| place.pipe(precision))?;
            let value = place.value(Quantity::Work(pipe), &work.value)?;
            if values.iter().any(|known: &Value| known.quantity == value.quantity) {
                let start = work
                    .precision
                    .as_ref()
                    .map_or(work.value.unit.span().start, |at| at.span().start);
                return Err(
                    place.error(start, format!("precision {:?} is mapped twice", pipe.key()))
                );
            }
            values.push(value);
        }
        for (name, cell) in &file.quantities {
            values.push(place.value(place.quantity(name)?, cell)?);
        }
        let launches = columns.launches.map(|launches| Launches {
            column: launches.column,
            totals: launches.values == RowValues::Total,
        });
        let delimiter = place.delimiter(file.delimiter.as_ref())?;
        let decimal = match &file.decimal {
            None => None,
            Some(text) => Some(match text.get_ref().as_str() {
                "," => DecimalSign::Comma,
                "." => DecimalSign::Point,
                _ => {
                    let message = "the decimal sign must be \",\" or \".\"";
                    return Err(place.error(text.span().start, message));
                }
            }),
        };
        let start = match (columns.start, &time) {
            (Some(cell), _) => Some(place.instant(&cell)?),
            (None, Time::Span { start, .. }) => Some(start.clone()),
            (None, Time::Column(_)) => None,
        };
        let filter = |only| {
            move |(column, texts): (Spanned<String>, Texts)| Filter {
                line: plain::place(text, column.span().start).0,
                column: column.into_inner(),
                texts: texts.all(),
                only,
            }
        };
        let only = file.rows.only.into_iter().map(filter(true));
        let filters = only.chain(file.rows.leave_out.into_iter().map(filter(false))).collect();
        let plain = Plain {
            device: columns.device,
            operator: columns.operator,
            stream: columns.stream,
            id: columns.id,
        };
        Ok(Self {
            path: path.to_owned(),
            is_built_in: false,
            device: file.device,
            devices: file.devices,
            delimiter,
            decimal,
            records: file.records,
            optional: file.optional,
            channels: file.channels,
            filters,
            kernel: columns.kernel,
            time,
            start,
            values,
            launches,
            grid: columns.grid.map(|grid| place.extent(grid)).transpose()?,
            block: columns.block.map(|block| place.extent(block)).transpose()?,
            plain,
        })
    }

    /// Reads a mapping that is part of the program.
    ///
    /// # Errors
    /// As [`Mapping::from_toml`].
    pub(crate) fn built_in(text: &str, name: &str) -> Result<Self, IngestError> {
        Ok(Self { is_built_in: true, ..Self::from_toml(text, name)? })
    }
}

/// The line, counted from 1, that has a key as a comment, as a suggested mapping has what it cannot know.
fn commented<'a>(text: &'a str, key: &str) -> Option<(usize, &'a str)> {
    let mut lines = text.lines().zip(1..);
    lines.find_map(|(line, number)| {
        let written = line.trim_start().strip_prefix('#')?.trim_start();
        let after = written.strip_prefix(key)?.trim_start();
        after.starts_with('=').then_some((number, written))
    })
}

/// The text, for messages with a place in it.
struct Place<'a> {
    text: &'a str,
    path: &'a str,
}

impl Place<'_> {
    fn error(&self, at: usize, message: impl Into<String>) -> IngestError {
        let (line, column) = plain::place(self.text, at);
        IngestError::new(self.path, message).line(line as u64).character(column)
    }

    fn delimiter(&self, text: Option<&Spanned<String>>) -> Result<u8, IngestError> {
        let Some(text) = text else { return Ok(b',') };
        match text.get_ref().as_bytes() {
            [delimiter]
                if *delimiter == b'\t' || (delimiter.is_ascii_graphic() && *delimiter != b'"') =>
            {
                Ok(*delimiter)
            }
            _ => Err(self.error(
                text.span().start,
                "the delimiter must be a tab or one visible ASCII character other than a quote",
            )),
        }
    }

    fn time(&self, cell: &Spanned<TimeCell>) -> Result<Time, IngestError> {
        let TimeCell { column, start, end, unit, kind } = cell.get_ref();
        match (column, start, end) {
            (Some(column), None, None) => {
                let (scale, _) = self.unit(Quantity::Duration, unit)?;
                let terms = vec![(1.0, column.clone())];
                let (kind, within) = (origin(*kind, false), (1.0, 1.0));
                let quantity = Quantity::Duration;
                Ok(Time::Column(Value { quantity, terms, scale, rate: false, kind, within }))
            }
            (None, Some(start), Some(end)) => {
                let digits = self.digits(unit)?;
                let instant = |column: &String| Instant { column: column.clone(), digits };
                Ok(Time::Span { start: instant(start), end: instant(end) })
            }
            _ => Err(self.error(
                cell.span().start,
                "a time is { column = \"dur\", unit = \"us\" } or { start = \"begin\", end = \"end\", unit = \"ns\" }",
            )),
        }
    }

    fn instant(&self, cell: &InstantCell) -> Result<Instant, IngestError> {
        Ok(Instant { column: cell.column.clone(), digits: self.digits(&cell.unit)? })
    }

    fn digits(&self, unit: &Spanned<String>) -> Result<u32, IngestError> {
        self.unit(Quantity::Duration, unit)?;
        Ok(picosecond_digits(unit.get_ref()).unwrap_or_default())
    }

    fn extent(&self, cell: ExtentCell) -> Result<Extent, IngestError> {
        let (columns, threads) = match cell {
            ExtentCell::One(column) => (vec![column], false),
            ExtentCell::Three(columns) => (columns.to_vec(), false),
            ExtentCell::Counted(counted) => (counted.columns, counted.unit == Counted::Threads),
        };
        if !matches!(columns.len(), 1 | 3) {
            let message = format!("a grid or block has one column or three, not {}", columns.len());
            return Err(IngestError::new(self.path, message));
        }
        Ok(Extent { columns, threads })
    }

    fn unit(&self, quantity: Quantity, unit: &Spanned<String>) -> Result<(f64, bool), IngestError> {
        let units = Units::of(quantity);
        units.find(unit.get_ref()).ok_or_else(|| {
            let message = format!("unknown unit {:?}, one of {}", unit.get_ref(), units.names());
            self.error(unit.span().start, message)
        })
    }

    fn value(&self, quantity: Quantity, cell: &Cell) -> Result<Value, IngestError> {
        let (scale, rate) = self.unit(quantity, &cell.unit)?;
        let bound = |bound: &Option<Spanned<f64>>, range: std::ops::RangeInclusive<f64>, what| {
            let Some(factor) = bound else { return Ok(1.0) };
            if range.contains(factor.get_ref()) {
                return Ok(*factor.get_ref());
            }
            Err(self.error(factor.span().start, what))
        };
        let low = bound(&cell.low, 0.0..=1.0, "the lower factor is from 0 to 1")?;
        let high = bound(&cell.high, 1.0..=f64::INFINITY, "the upper factor is 1 or more, or inf")?;
        let (terms, is_sum) = match (&cell.column, &cell.sum) {
            (Some(column), None) => (vec![(1.0, column.get_ref().clone())], false),
            (None, Some(sum)) if !sum.get_ref().is_empty() => {
                let mut factors = sum.get_ref().iter();
                if let Some((column, _)) = factors.find(|(_, factor)| !factor.is_finite()) {
                    let message = format!("the factor of {column:?} must be finite");
                    return Err(self.error(sum.span().start, message));
                }
                let terms = sum.get_ref().iter().map(|(column, factor)| (*factor, column.clone()));
                let mut terms: Vec<(f64, String)> = terms.collect();
                // As one would write it: what is subtracted comes last.
                terms.sort_by_key(|(factor, _)| *factor < 0.0);
                (terms, true)
            }
            _ => {
                let message = "one of column = \"a\" and sum = { a = 1, b = 2 } is needed";
                return Err(self.error(cell.unit.span().start, message));
            }
        };
        let kind = origin(cell.kind, rate || is_sum);
        Ok(Value { quantity, terms, scale, rate, kind, within: (low, high) })
    }

    fn pipe(&self, precision: &Spanned<String>) -> Result<Pipe, IngestError> {
        Pipe::from_key(precision.get_ref()).ok_or_else(|| {
            let keys: Vec<_> = Pipe::ALL.iter().map(|pipe| pipe.key()).collect();
            let message =
                format!("unknown precision {:?}, one of {}", precision.get_ref(), keys.join(", "));
            self.error(precision.span().start, message)
        })
    }

    fn quantity(&self, name: &Spanned<String>) -> Result<Quantity, IngestError> {
        let own_key = |quantity: &Quantity| {
            matches!(quantity, Quantity::Duration | Quantity::DramBytes | Quantity::Work(_))
        };
        let known = || Quantity::all().filter(|quantity| !own_key(quantity));
        known().find(|quantity| quantity.column() == *name.get_ref()).ok_or_else(|| {
            let names: Vec<_> = known()
                .filter(|quantity| !matches!(quantity, Quantity::Peak(_)))
                .map(Quantity::column)
                .collect();
            let message =
                format!("unknown quantity {:?}, one of {}", name.get_ref(), names.join(", "));
            self.error(name.span().start, message)
        })
    }
}

/// How a quantity came about: from one column, or from several.
fn origin(kind: Kind, is_derived: bool) -> OriginKind {
    match (kind, is_derived) {
        (Kind::Algorithmic, _) => OriginKind::Algorithmic,
        (Kind::Measured, true) => OriginKind::Derived,
        (Kind::Measured, false) => OriginKind::Measured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(text: &str) -> Result<Mapping, String> {
        Mapping::from_toml(text, "map.toml").map_err(|error| error.to_string())
    }

    const NEEDED: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'ms' }\n";

    #[test]
    fn units_are_turned_into_si() {
        let mapping = mapping(&format!(
            "{NEEDED}bytes = {{ column = 'b', unit = 'MiB' }}\nflops = {{ column = 'f', unit = 'TFLOP/s', precision = 'fp16_matrix' }}\n\
             [quantities]\nachieved_occupancy = {{ column = 'occ', unit = '%' }}\nl2_bytes = {{ column = 'l2', unit = 'GB/s', kind = 'algorithmic' }}\n"
        ))
        .unwrap();
        let Time::Column(time) = &mapping.time else { panic!("a column") };
        assert_eq!((time.scale, time.kind), (1e-3, OriginKind::Measured));
        let values: Vec<_> = mapping
            .values
            .iter()
            .map(|value| (value.quantity.column(), value.scale, value.rate, value.kind))
            .collect();
        assert_eq!(
            values,
            [
                ("dram_bytes".to_owned(), 1_048_576.0, false, OriginKind::Measured),
                ("flops_fp16_matrix".to_owned(), 1e12, true, OriginKind::Derived),
                ("achieved_occupancy".to_owned(), 0.01, false, OriginKind::Measured),
                ("l2_bytes".to_owned(), 1e9, true, OriginKind::Algorithmic),
            ],
        );
        assert_eq!(mapping.columns(), ["name", "dur", "b", "f", "occ", "l2"]);
    }

    #[test]
    fn several_columns_of_work_may_be_given_in_three_ways() {
        let one = "{ column = 'a', unit = 'FLOP', precision = 'fp32_vector' }";
        let two = "{ column = 'b', unit = 'OP', precision = 'int8_matrix' }";
        for flops in [
            format!("flops = [{one}, {two}]"),
            "[[columns.flops]]\ncolumn = 'a'\nunit = 'FLOP'\nprecision = 'fp32_vector'\n[[columns.flops]]\ncolumn = 'b'\nunit = 'OP'\nprecision = 'int8_matrix'".to_owned(),
        ] {
            let mapping = mapping(&format!("{NEEDED}{flops}\n")).unwrap();
            assert_eq!(mapping.values.len(), 2, "{flops}");
        }
        assert_eq!(mapping(&format!("{NEEDED}flops = {one}\n")).unwrap().values.len(), 1);
    }

    #[test]
    fn faults_are_told_with_their_place() {
        for (text, expected) in [
            ("[columns]\nkernel = 'n'\n", "map.toml:1:1: missing key \"time\""),
            ("[columns\n", "map.toml:1:9: unclosed table; expected `]`"),
            (
                "[columns]\nkernel = 'n'\ntime = 'dur'\n",
                "map.toml:3:8: expected a table such as { column = \"dur_us\", unit = \"us\" }, found the text \"dur\"",
            ),
            (
                "[columns]\nkernel = 'n'\ntime = { column = 'd', unit = 'sec' }\n",
                "map.toml:3:31: unknown unit \"sec\", one of s, ms, us, µs, μs, ns",
            ),
            (
                "[columns]\nkernel = 'n'\ntime = { column = 'd', units = 's' }\n",
                "map.toml:3:24: unknown key \"units\"",
            ),
            (
                &format!(
                    "{NEEDED}flops = [{{ column = 'f', unit = 'FLOP', precision = 'bf16' }}]\n"
                ),
                "map.toml:4:53: unknown precision \"bf16\", one of fp64_vector, fp32_vector",
            ),
            (
                &format!("{NEEDED}flops = {{ column = 'f', units = 'FLOP' }}\n"),
                "unknown key \"units\"",
            ),
            (
                &format!("{NEEDED}bytes = {{ column = 'b', unit = 'B', kind = 'guessed' }}\n"),
                "unknown value \"guessed\"",
            ),
            (&format!("{NEEDED}launches = {{ column = 'n' }}\n"), "missing key \"values\""),
            (
                &format!("{NEEDED}[quantities]\noccupancy = {{ column = 'o', unit = '%' }}\n"),
                "map.toml:5:1: unknown quantity \"occupancy\", one of sm_clock_hz",
            ),
            (
                &format!(
                    "{NEEDED}flops = [{{ column = 'f', unit = 'FLOP' }}, {{ column = 'g', unit = 'FLOP' }}]\n"
                ),
                "map.toml:4:66: precision \"unstated\" is mapped twice",
            ),
            (
                "[columns]\nkernel = 'n'\ntime = { start = 'a', unit = 's' }\n",
                "map.toml:3:8: a time is { column = ",
            ),
            (
                &format!("{NEEDED}bytes = {{ column = 'b', unit = 'B', low = 2.0 }}\n"),
                "map.toml:4:43: the lower factor is from 0 to 1",
            ),
            (
                &format!("{NEEDED}grid = {{ columns = ['x', 'y'], unit = 'threads' }}\n"),
                "map.toml: a grid or block has one column or three, not 2",
            ),
            (
                &format!("{NEEDED}block = 5\n"),
                "map.toml:4:9: expected a column, three columns such as [\"x\", \"y\", \"z\"], or { columns = \
                 [\"x\", \"y\", \"z\"], unit = \"threads\" }, found the number 5",
            ),
            (
                &format!("{NEEDED}block = ['x', 'y']\n"),
                "map.toml:4:9: three columns are needed, for x, y and z; found 2: \"x, y\"",
            ),
            (
                &format!("{NEEDED}[rows]\nonly = {{ kind = 5 }}\n"),
                "map.toml:5:17: expected a text such as \"KERNEL\", or an array of texts, found the number 5",
            ),
            (&format!("delimiter = 'tab'\n{NEEDED}"), "map.toml:1:13: the delimiter must be a tab"),
            (&format!("gpu = 'H100'\n{NEEDED}"), "map.toml:1:1: unknown key \"gpu\""),
        ] {
            let error = mapping(text).unwrap_err();
            assert!(error.contains(expected), "{error}\n{expected}");
        }
    }
}
