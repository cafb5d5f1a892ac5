//! Which decimal sign a file has: decided once, from cells that leave no doubt, else by what its
//! numbers can be.
//!
//! `300,123` is a number of three hundred in one file and of three hundred thousand in another. A whole
//! number is not split, a value with the prefix `M` is below a thousand, a share rarely exceeds ten: such
//! evidence decides, and where there is none the user does.

use std::cmp::Ordering;

/// The sign before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum DecimalSign {
    /// `1.5`; a comma groups digits.
    #[default]
    Point,
    /// `1,5`; a point groups digits.
    Comma,
}

/// What a cell holds, as far as it bears on how its number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Any number.
    Any,
    /// A whole number: bytes, nanoseconds, a count.
    Whole,
    /// A number with a prefix that keeps it below a thousand.
    Scaled,
    /// A percentage.
    Percent,
}

/// What the cells of a sample show.
#[derive(Debug, Clone, Default)]
pub(super) struct Evidence {
    /// Cells that can be read in one way only, and the first of each with its place.
    comma: u32,
    point: u32,
    first_comma: Option<(String, Place)>,
    first_point: Option<(String, Place)>,
    /// Whether a cell has digits that may be grouped.
    pub(super) grouped: bool,
    /// The first cell that can be read in two ways, and where it is.
    pub(super) ambiguous: Option<(String, Place)>,
    /// Why a cell that can be read in two ways must have this sign.
    because_comma: Option<String>,
    because_point: Option<String>,
    /// The first cell with a single point before three digits: decimals, unless something speaks against it.
    lone_point: Option<(String, Place)>,
    /// The first whole number with a single point before three digits, which must group them then.
    whole_with_point: Option<String>,
    /// Why the first number that stays below a thousand, with a single point before three digits, must have decimals.
    small_with_point: Option<String>,
}

/// Line and column of a cell, as far as they are known.
pub(super) type Place = Option<(u64, String)>;

/// What follows from evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The sign is clear.
    Clear(DecimalSign),
    /// The sign follows for this reason.
    Because(DecimalSign, String),
    /// There is no reason for either, or one for both.
    Open(Option<[String; 2]>),
    /// No cell has a sign.
    Nothing,
}

impl Evidence {
    /// Takes a cell; text is ignored.
    ///
    /// Evidence for a decimal comma: both signs with the comma last, or one comma followed by other than
    /// three digits at the end or preceded by more than three or a single zero (ncu prints two decimals,
    /// scripts up to six). Against it: the same with a point, or several groups of three after commas. What is no
    /// number in either way, such as `1,2,3`, says nothing.
    pub(super) fn add(&mut self, cell: &[u8], content: Content, place: impl FnOnce() -> Place) {
        // Most cells are digits alone.
        if cell.iter().all(u8::is_ascii_digit) {
            return;
        }
        let Ok(cell) = str::from_utf8(cell) else { return };
        let body = cell.trim().trim_start_matches('-');
        let shape =
            |c: char| c.is_ascii_digit() || matches!(c, ',' | '.' | ' ' | '\u{a0}' | '\u{202f}');
        if !body.starts_with(|c: char| c.is_ascii_digit()) || !body.chars().all(shape) {
            return;
        }
        let commas = body.matches(',').count();
        let points = body.matches('.').count();
        let is_comma = match (commas, points) {
            // The last sign is the decimal one; one that repeats groups digits.
            (1, 1..) if is_decimal(body, ',', '.') => Some(true),
            (1.., 1) if is_decimal(body, '.', ',') => Some(false),
            (0, 2..) => is_grouped(body, '.').then_some(true),
            (2.., 0) => is_grouped(body, ',').then_some(false),
            (1, 0) => (!is_grouped(body, ',')).then_some(true),
            (0, 1) => (!is_grouped(body, '.')).then_some(false),
            _ => None,
        };
        self.grouped |= is_comma.is_some() && commas + points > 1;
        match is_comma {
            Some(true) => {
                self.comma += 1;
                self.first_comma.get_or_insert_with(|| (body.to_owned(), place()));
            }
            Some(false) => {
                self.point += 1;
                self.first_point.get_or_insert_with(|| (body.to_owned(), place()));
            }
            None if (commas, points) == (1, 0) => {
                self.grouped = true;
                if self.ambiguous.is_none() {
                    self.ambiguous = Some((body.to_owned(), place()));
                }
                self.weigh(body, content);
            }
            None if (commas, points) == (0, 1) => {
                if self.lone_point.is_none() {
                    self.lone_point = Some((body.to_owned(), place()));
                }
                if content == Content::Whole && !body.ends_with(".000") {
                    self.whole_with_point.get_or_insert_with(|| body.to_owned());
                }
                if let Some(why) = small(body, content) {
                    self.small_with_point.get_or_insert(why);
                }
            }
            None => {}
        }
    }

    /// Weighs a cell such as `300,123` by what it holds.
    fn weigh(&mut self, cell: &str, content: Content) {
        match content {
            Content::Whole if !cell.ends_with(",000") => {
                self.because_point.get_or_insert_with(|| format!("{cell:?} is a whole number"));
            }
            Content::Whole | Content::Any => {}
            Content::Scaled | Content::Percent => {
                self.because_comma = self.because_comma.take().or_else(|| small(cell, content));
            }
        }
    }

    /// Takes a reason that does not lie in a single cell.
    pub(super) fn reason(&mut self, sign: DecimalSign, why: String) {
        match sign {
            DecimalSign::Comma => self.because_comma.get_or_insert(why),
            DecimalSign::Point => self.because_point.get_or_insert(why),
        };
    }

    /// A cell that has a decimal comma for certain, where more cells have one than a point.
    pub(super) fn decimal_comma(&self) -> Option<&str> {
        let (cell, _) = self.first_comma.as_ref()?;
        (self.comma > self.point).then_some(cell)
    }

    /// A cell that has a decimal comma, or may have.
    pub(super) fn comma(&self) -> Option<&str> {
        let cells = self.first_comma.iter().chain(&self.ambiguous);
        cells.map(|(cell, _)| cell.as_str()).next()
    }

    /// Takes a decimal comma elsewhere in the file for a reason to doubt that `1.234` has decimals: nothing is read by it,
    /// for a file may mix both.
    pub(super) fn doubt(&mut self, why: String) {
        if self.verdict() == Verdict::Nothing
            && let Some(point) = self.lone_point.clone()
        {
            let usual = "most files write them so".to_owned();
            self.ambiguous = Some(point);
            (self.because_comma, self.because_point) = (Some(why), Some(usual));
        }
    }

    /// What follows.
    pub(super) fn verdict(&self) -> Verdict {
        match self.comma.cmp(&self.point) {
            Ordering::Greater => return Verdict::Clear(DecimalSign::Comma),
            Ordering::Less => return Verdict::Clear(DecimalSign::Point),
            Ordering::Equal => {}
        }
        if let Some(((comma, _), (point, _))) =
            self.first_comma.as_ref().zip(self.first_point.as_ref())
        {
            let shows = |cell| format!("{cell:?} can be read in no other way");
            return Verdict::Open(Some([shows(comma), shows(point)]));
        }
        match (&self.ambiguous, &self.because_comma, &self.because_point) {
            (None, Some(why), None) if self.lone_point.is_some() => {
                Verdict::Because(DecimalSign::Comma, why.clone())
            }
            (None, ..) => Verdict::Nothing,
            (_, Some(why), None) => Verdict::Because(DecimalSign::Comma, why.clone()),
            (_, None, Some(why)) => Verdict::Because(DecimalSign::Point, why.clone()),
            (_, None, None) => Verdict::Open(None),
            (_, Some(one), Some(two)) => Verdict::Open(Some([one.clone(), two.clone()])),
        }
    }
}

/// What is open: whether a sign is of decimals or of thousands, with a reason for each.
fn open(sign: &str, cell: &str, reasons: Option<[String; 2]>) -> String {
    let reasons = reasons.map_or_else(String::new, |[decimals, thousands]| {
        format!(": of decimals, because {decimals}; of thousands, because {thousands}")
    });
    format!("the {sign} of numbers such as {cell:?} may be of decimals or of thousands{reasons}")
}

/// Why a cell cannot be a thousand or more.
fn small(cell: &str, content: Content) -> Option<String> {
    match content {
        Content::Scaled => Some(format!("{cell:?} has a unit that keeps numbers below 1000")),
        Content::Percent => Some(format!("{cell:?} is a percentage")),
        Content::Whole | Content::Any => None,
    }
}

/// Whether a number has decimals after this sign, and groups before it.
fn is_decimal(text: &str, sign: char, mark: char) -> bool {
    text.split_once(sign).is_some_and(|(whole, decimals)| {
        is_grouped(whole, mark) && decimals.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether digits are in groups of three, the first of them one to three without a leading zero.
fn is_grouped(text: &str, mark: char) -> bool {
    let mut groups = text.split(mark);
    let is_number = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    groups.next().is_some_and(|first| {
        (1..=3).contains(&first.len()) && !first.starts_with('0') && is_number(first)
    }) && groups.all(|group| group.len() == 3 && is_number(group))
}

/// The user's next step where nothing decides.
pub(super) const UNDECIDED: &str = "add --decimal-sign comma or --decimal-sign point; in a mapping: decimal = \",\" or decimal = \".\"";

/// The next step where a file says another sign than was asked for.
pub(super) const CONTRADICTED: &str = "leave out --decimal-sign, and decimal = … of a mapping";

/// The sign to read with, and what to say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) sign: DecimalSign,
    pub(super) is_certain: bool,
    pub(super) note: Option<String>,
}

impl Evidence {
    /// Settles the sign: as asked for, by evidence, or by what its writer never prints (`never`: three
    /// decimals).
    ///
    /// # Errors
    /// What is open, and the place of a cell, where nothing decides.
    pub(super) fn settle(
        &self,
        asked: Option<DecimalSign>,
        never: bool,
    ) -> Result<Settled, (String, Place)> {
        let settled = |sign, is_certain| Settled { sign, is_certain, note: None };
        let with_point = self.whole_with_point.as_ref().filter(|_| never);
        match (asked, self.verdict(), with_point) {
            (Some(asked), Verdict::Clear(sign), _) if asked != sign => {
                let (own, other) = match sign {
                    DecimalSign::Comma => ("comma", "point"),
                    DecimalSign::Point => ("point", "comma"),
                };
                let message = format!(
                    "a decimal {other} was asked for, and the numbers of the file have a decimal {own}"
                );
                Err((message, None))
            }
            (Some(sign), ..) | (None, Verdict::Clear(sign), _) => Ok(settled(sign, true)),
            (None, Verdict::Because(sign, why), _) => {
                let (signs, read, other) = match (sign, &self.ambiguous) {
                    (DecimalSign::Comma, None) => ("points", "thousands", "point"),
                    (DecimalSign::Comma, _) => ("commas", "decimals", "point"),
                    (DecimalSign::Point, _) => ("commas", "thousands", "comma"),
                };
                let note = format!(
                    "{signs} in numbers are read as those of {read}, because {why}; --decimal-sign {other} changes it"
                );
                let is_usual = sign == DecimalSign::Point && never;
                Ok(Settled { note: (!is_usual).then_some(note), ..settled(sign, true) })
            }
            (None, Verdict::Nothing | Verdict::Open(None), Some(whole))
                if self.small_with_point.is_some() =>
            {
                let (cell, place) = self.lone_point.clone().unwrap_or_default();
                let small = self.small_with_point.as_deref().unwrap_or_default();
                let reasons = [small.to_owned(), format!("{whole:?} is a whole number")];
                Err((open("point", &cell, Some(reasons)), place))
            }
            (None, Verdict::Nothing | Verdict::Open(None), Some(cell)) => {
                let note = format!(
                    "points in numbers are read as those of thousands, because {cell:?} is a whole number; --decimal-sign point changes it"
                );
                Ok(Settled { note: Some(note), ..settled(DecimalSign::Comma, true) })
            }
            (None, Verdict::Nothing, None) => Ok(settled(DecimalSign::Point, false)),
            (None, Verdict::Open(None), None) if never => Ok(settled(DecimalSign::Point, false)),
            (None, Verdict::Open(reasons), _) => {
                let cell = self.ambiguous.as_ref().or(self.first_comma.as_ref());
                let (cell, place) = cell.cloned().unwrap_or_default();
                // What a decimal comma speaks for is a point of thousands.
                let is_point = cell.contains('.') && !cell.contains(',');
                let sign = if is_point { "point" } else { "comma" };
                let reasons = reasons.map(
                    |[comma, point]| {
                        if is_point { [point, comma] } else { [comma, point] }
                    },
                );
                Err((open(sign, &cell, reasons), place))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,234.5 leaves no doubt; 1,234 does.
    #[test]
    fn what_was_asked_for_decides_only_where_the_file_does_not() {
        for (cell, comma) in [
            ("1,234.5", None),
            ("1,234", Some(DecimalSign::Comma)),
            ("12", Some(DecimalSign::Comma)),
        ] {
            let mut evidence = Evidence::default();
            evidence.add(cell.as_bytes(), Content::Any, || None);
            let settled = |sign| evidence.settle(Some(sign), false).map(|settled| settled.sign);
            assert_eq!(settled(DecimalSign::Comma).ok(), comma, "{cell}");
            assert_eq!(settled(DecimalSign::Point), Ok(DecimalSign::Point), "{cell}");
        }
    }

    fn verdict(cells: &[(&str, Content)]) -> Verdict {
        let mut evidence = Evidence::default();
        for (cell, content) in cells {
            evidence.add(cell.as_bytes(), *content, || None);
        }
        evidence.verdict()
    }

    #[test]
    fn cells_that_can_be_read_in_one_way_decide() {
        use Content::Any;
        use DecimalSign::{Comma, Point};
        for (cell, sign) in [
            ("13,982,900,136.80", Point),
            ("12.34", Point),
            ("0.123", Point),
            ("1234.567", Point),
            ("1,234,567", Point),
            ("9.420.231,80", Comma),
            ("2,33", Comma),
            ("0,123", Comma),
            ("1234,567", Comma),
            ("1,500000", Comma),
            ("1.234.567", Comma),
        ] {
            let found = verdict(&[(cell, Any), ("5,156", Any), ("7", Any), ("gemm", Any)]);
            assert_eq!(found, Verdict::Clear(sign), "{cell}");
        }
        assert_eq!(verdict(&[("7", Any), ("117.344", Any)]), Verdict::Nothing);
        for cell in ["1,2,3", "1.2.3", "1,2.3", "1.2,3", "1,234.5,6", "12,345,67", "0,123,456"] {
            assert_eq!(verdict(&[(cell, Any), ("2,33", Any)]), Verdict::Clear(Comma), "{cell}");
            assert_eq!(verdict(&[(cell, Any), ("2.33", Any)]), Verdict::Clear(Point), "{cell}");
            assert_eq!(verdict(&[(cell, Any)]), Verdict::Nothing, "{cell}");
        }
    }

    #[test]
    fn cells_that_contradict_each_other_decide_by_their_number() {
        use Content::Any;
        let cells = [("2,33", Any), ("4,56", Any), ("2.33", Any), ("12.5", Any)];
        assert_eq!(verdict(&cells[..3]), Verdict::Clear(DecimalSign::Comma));
        assert_eq!(verdict(&cells[1..]), Verdict::Clear(DecimalSign::Point));
        let mut evidence = Evidence::default();
        for (cell, content) in &cells[1..3] {
            evidence.add(cell.as_bytes(), *content, || Some((7, "value".to_owned())));
        }
        let (message, place) = evidence.settle(None, true).unwrap_err();
        assert_eq!(
            message,
            "the comma of numbers such as \"4,56\" may be of decimals or of thousands: of decimals, because \"4,56\" \
             can be read in no other way; of thousands, because \"2.33\" can be read in no other way"
        );
        assert_eq!(place, Some((7, "value".to_owned())));
    }

    #[test]
    fn what_a_number_can_be_decides_where_its_cell_does_not() {
        use Content::{Any, Percent, Scaled, Whole};
        use DecimalSign::{Comma, Point};
        let because = |cells: &[(&str, Content)]| match verdict(cells) {
            Verdict::Because(sign, why) => (sign, why),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            because(&[("100,123", Scaled)]),
            (Comma, "\"100,123\" has a unit that keeps numbers below 1000".to_owned())
        );
        assert_eq!(
            because(&[("45,123", Percent), ("100,123", Any)]),
            (Comma, "\"45,123\" is a percentage".to_owned())
        );
        assert_eq!(
            because(&[("300,000", Whole), ("300,123", Whole)]),
            (Point, "\"300,123\" is a whole number".to_owned())
        );
        assert_eq!(verdict(&[("300,000", Whole), ("100,123", Any)]), Verdict::Open(None));
        let both = verdict(&[("262,144", Whole), ("45,123", Percent)]);
        assert!(matches!(both, Verdict::Open(Some(_))), "{both:?}");
    }

    /// A mean of counts, rounded to three decimals, is as good a whole number as one with groups of three.
    #[test]
    fn points_that_may_be_of_both_are_refused_as_commas_are() {
        let settled = |cells: &[(&str, Content)]| {
            let mut evidence = Evidence::default();
            for (cell, content) in cells {
                evidence.add(cell.as_bytes(), *content, || None);
            }
            evidence.settle(None, true).map(|settled| settled.sign).map_err(|(message, _)| message)
        };
        let whole = ("512.333", Content::Whole);
        assert_eq!(settled(&[whole]), Ok(DecimalSign::Comma));
        for (small, why) in [
            (("12.345", Content::Scaled), "\"12.345\" has a unit that keeps numbers below 1000"),
            (("45.125", Content::Percent), "\"45.125\" is a percentage"),
        ] {
            assert_eq!(settled(&[small]), Ok(DecimalSign::Point));
            for cells in [[small, whole], [whole, small]] {
                let message = settled(&cells).unwrap_err();
                let reasons =
                    format!("of decimals, because {why}; of thousands, because \"512.333\"");
                assert!(message.contains(&reasons), "{message}");
            }
        }
    }
}
