//! Records and cells that cannot be used.

use super::Reading;
use crate::ingest::nsight::GRAPH;
use crate::ingest::{IngestError, Record};
use crate::model::Skip;
use crate::plain::counted;

/// Text of a faulty record is shown up to this many characters.
const SHOWN: usize = 120;

impl Reading<'_> {
    /// Counts a record or cell that cannot be used; stops if reading is strict.
    ///
    /// # Errors
    /// When reading is strict.
    pub fn skip(
        &mut self,
        line: u64,
        column: Option<&str>,
        text: &str,
        reason: impl Into<String>,
    ) -> Result<(), IngestError> {
        let reason = reason.into();
        let mut text: String = text.chars().filter(|c| !c.is_control()).take(SHOWN + 1).collect();
        if text.chars().count() > SHOWN {
            text.pop();
            text.push('…');
        }
        let column = column.map(str::to_owned);
        if self.strict {
            let message = if text.is_empty() { reason } else { format!("{reason}: {text:?}") };
            return Err(self
                .error(message)
                .line(line)
                .column(column)
                .help("leave out --strict to count such records and go on"));
        }
        self.source.skips.add(Skip { line, column, text, reason });
        self.idled(1)
    }

    /// Counts a record that has another number of fields than the header.
    ///
    /// One that runs over several lines has a quote that nothing closes: all its lines are lost, and
    /// counted.
    ///
    /// # Errors
    /// When reading is strict.
    pub fn misfit(
        &mut self,
        line: u64,
        record: &Record<'_>,
        width: usize,
    ) -> Result<(), IngestError> {
        let text = record.text();
        let lost = record.line_ends();
        let reason = if lost > 0 {
            format!("a quote that opens here is never closed: {} lines are lost", lost + 1)
        } else if record.is_astray() {
            "a quote that opens here is never closed: the file is cut off".to_owned()
        } else {
            format!("{} fields instead of {width}: cut off or no table row", record.len())
        };
        self.skip(line, None, &text, reason)?;
        if lost == 0 && record.is_astray() {
            self.breaks_off = true;
            self.check(&format!("the file breaks off in line {line}, within a row: the launches after it are missing"));
        }
        self.source.skips.count += lost;
        self.source.rows += lost;
        Ok(())
    }

    /// Why the file has no launch, where it has rows that cannot be read: the first of them.
    pub(in crate::ingest) fn unreadable(&self) -> Option<IngestError> {
        let skips = std::iter::once(&self.source).chain(&self.parts).map(|part| &part.skips);
        let skips =
            skips.filter(|skips| !skips.first.is_empty()).max_by_key(|skips| skips.count)?;
        let first = skips.first.first()?;
        // Not a row: the file breaks off before all of them.
        if first.line == 0 && first.text.is_empty() {
            let help = "the file is cut off: copy or export it again";
            return Some(self.error(first.reason.clone()).help(help));
        }
        let column = first.column.as_ref().map(|column| format!("{column} ")).unwrap_or_default();
        let text: String = first.text.chars().take(SHOWN).collect();
        Some(
            self.error(format!(
                "no launch could be read; {} skipped, the first in line {}: {column}{text:?}: {}",
                counted(skips.count, "row is", "rows are"),
                first.line,
                first.reason
            ))
            .help(if first.reason == GRAPH {
                "profile the kernels of the graph one by one: ncu --graph-profiling node"
            } else if self.source.format == "mapped" {
                "correct the column in the mapping, or the table"
            } else {
                "the export is damaged or was changed: export it again"
            }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Input, Options};
    use crate::model::Profile;

    fn reading(text: &'static str, look: impl FnOnce(&mut Reading<'_>)) {
        let mut profile = Profile::default();
        let input = Input::text("file.csv", text);
        look(&mut Reading::open(&input, &Options::default(), &mut profile).unwrap());
    }

    /// Three lines in one record: a quote that nothing closed has swallowed two.
    #[test]
    fn an_open_quote_loses_all_its_lines() {
        reading("x\n", |reading| {
            let record = csv::ByteRecord::from(vec!["1", "a\nb\nc"]);
            reading.misfit(7, &Record::from(&record), 3).unwrap();
            assert_eq!((reading.source.skips.count, reading.source.rows), (3, 2));
            let skip = &reading.source.skips.first[0];
            assert!(skip.line == 7 && skip.reason.contains("3 lines are lost"), "{skip:?}");
            let record = csv::ByteRecord::from(vec!["1", "2"]);
            reading.misfit(9, &Record::from(&record), 3).unwrap();
            assert_eq!(
                reading.source.skips.first[1].reason,
                "2 fields instead of 3: cut off or no table row"
            );
        });
    }

    /// As they stand in the file: with quotes, delimiters and doubled quotes.
    #[test]
    fn a_record_is_shown_as_it_is_written() {
        let header = "ID,Process ID,Kernel Name,Grid Size,Block Size,Device,CC,gpu__time_duration.sum\n\
                      ,,,,,,,ns\n0,7,k,\"(1, 1, 1)\",\"(32, 1, 1)\",0,8.0,1000\n";
        for (row, told) in [
            ("\"12\",\"1\",\"python\",\"host-3\"", "\"12\",\"1\",\"python\",\"host-3\""),
            ("12,1,\"say \"\"x\"\"\",y", "12,1,\"say \"\"x\"\"\",y"),
            // Read by other rules, so that only its fields are known.
            ("12,1,5\" disk,y", "12,1,5\" disk,y"),
        ] {
            let text = format!("{header}{row}\n");
            let found = crate::ingest::read_text("t.csv", &text, &Options::default()).unwrap();
            let skips = &found.sources[0].skips;
            assert_eq!((skips.count, skips.first[0].text.as_str()), (1, told));
            let reason = "4 fields instead of 8: cut off or no table row";
            assert_eq!((skips.first[0].line, skips.first[0].reason.as_str()), (4, reason));
        }
    }

    #[test]
    fn the_text_of_a_skipped_record_is_cut_and_has_no_control_characters() {
        reading("x\n", |reading| {
            reading.skip(1, None, &format!("\u{1b}[31m{}", "é".repeat(200)), "why").unwrap();
            let text = &reading.source.skips.first[0].text;
            assert_eq!(text.chars().count(), SHOWN + 1);
            assert!(text.starts_with("[31mé") && text.ends_with("é…"), "{text}");
        });
    }
}
