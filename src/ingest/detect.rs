//! Which format a file is: each one is asked, and answers yes, no or unsure with its reason.

use super::{FORMATS, Format, IngestError, Reading, Sample, foreign};

/// A format's answer about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sniff {
    /// This is it.
    Yes(String),
    /// It may be; decides only if no format says yes.
    Unsure(String),
    /// This is not it.
    No(String),
}

impl Sniff {
    /// The reason given.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Yes(reason) | Self::Unsure(reason) | Self::No(reason) => reason,
        }
    }
}

/// The answers of all formats to one file.
#[derive(Debug)]
pub struct Detection {
    /// Each format's name and answer.
    pub answers: Vec<(&'static str, Sniff)>,
}

/// Asks every format.
pub(super) fn ask(sample: &Sample) -> Detection {
    Detection {
        answers: FORMATS.iter().map(|format| (format.name, (format.sniff)(sample))).collect(),
    }
}

/// The one format that claims the file.
///
/// # Errors
/// When none does, or several do; the error lists what was considered.
pub(super) fn detect(reading: &Reading<'_>) -> Result<&'static Format, IngestError> {
    if reading.sample.has_lone_returns() {
        let path = &reading.source.path;
        return Err(reading
            .error("its lines end in a carriage return alone, so all of it is one line")
            .help(format!("write line feeds: tr '\\r' '\\n' < {path} > NEW")));
    }
    let detection = ask(&reading.sample);
    let yes: Vec<_> =
        detection.answers.iter().filter(|(_, sniff)| matches!(sniff, Sniff::Yes(_))).collect();
    let unsure: Vec<_> =
        detection.answers.iter().filter(|(_, sniff)| matches!(sniff, Sniff::Unsure(_))).collect();
    let claims = if yes.is_empty() { &unsure } else { &yes };
    if let [(name, _)] = claims.as_slice()
        && let Some(format) = super::format(name)
    {
        return match foreign::beside_kernels(reading) {
            Some(error) => Err(error.foreign()),
            None => Ok(format),
        };
    }
    let considered = |answers: &[&(&'static str, Sniff)]| -> Vec<String> {
        answers.iter().map(|(name, sniff)| format!("{name}: {}", sniff.reason())).collect()
    };
    if claims.is_empty() {
        if let Some(error) = foreign::named(reading) {
            return Err(error);
        }
        let all: Vec<_> = detection.answers.iter().collect();
        return Err(reading
            .error("unknown table; no format has these columns")
            .considered(considered(&all))
            .help(foreign::by_mapping(&reading.source.path))
            .foreign());
    }
    Err(reading
        .error("several formats claim this file")
        .considered(considered(claims))
        .help("choose one with --from FORMAT; if the file holds several exports, split it"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use super::{Sniff, ask};
    use crate::ingest::{Options, Sample, read_text};

    /// The beginnings of all files below a folder.
    fn beginnings(folder: &Path, into: &mut Vec<Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                beginnings(&path, into);
            } else {
                let mut bytes = fs::read(path).unwrap();
                bytes.truncate(1 << 16);
                into.push(bytes);
            }
        }
    }

    /// Asks every format; the answers are as if all lines could be titles.
    fn asked(bytes: &[u8]) -> Vec<&'static str> {
        let sample = Sample::new(bytes);
        let answers = ask(&sample).answers;
        assert_eq!(answers, ask(&sample.with_all_lines()).answers, "{:.200}", sample.text());
        let yes = answers.into_iter().filter(|(_, sniff)| matches!(sniff, Sniff::Yes(_)));
        yes.map(|(name, _)| name).collect()
    }

    #[test]
    fn no_format_misses_titles_for_the_lines_that_are_passed_over() {
        let mut files = Vec::new();
        beginnings(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &mut files);
        if let Ok(real) = std::env::var("ROOFLINT_PROFILES") {
            beginnings(Path::new(&real), &mut files);
        }
        let mut of_format = BTreeMap::new();
        for bytes in files {
            if let [format] = asked(&bytes)[..] {
                of_format.entry(format).or_insert(bytes);
            }
        }
        assert!(of_format.len() > 20, "{:?}", of_format.keys());
        // One export after another, and what a program printed without a line end before.
        let head = |bytes: &[u8]| bytes[..bytes.len().min(8_000)].to_vec();
        let mut told = 0;
        for one in of_format.values() {
            asked(&[b"epoch 3\n99%", &head(one)[..]].concat());
            for two in of_format.values() {
                let both = [head(one), vec![b'\n'], head(two)].concat();
                told += usize::from(!asked(&both).is_empty());
            }
        }
        assert!(told * 2 > of_format.len().pow(2), "{told}");
    }

    #[test]
    fn lines_that_end_in_carriage_returns_are_named() {
        let page = "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\r0,k,a,ns,1\r";
        let error = read_text("run.csv", page, &Options::default()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.ends_with("its lines end in a carriage return alone, so all of it is one line"),
            "{text}"
        );
        assert_eq!(error.next_step(), Some("write line feeds: tr '\\r' '\\n' < run.csv > NEW"));
        // Blanks between the words of JSON.
        let error = read_text("run.json", "{\r\"a\": 1\r}", &Options::default()).unwrap_err();
        assert!(!error.to_string().contains("carriage"), "{error}");
    }

    #[test]
    fn an_unknown_table_keeps_the_answer_of_every_format_that_was_asked() {
        let error = read_text("run.csv", "a,b,c\n1,2,3\n", &Options::default()).unwrap_err();
        assert_eq!(error.to_string(), "run.csv: unknown table; no format has these columns");
        assert_eq!(error.candidates().len(), crate::ingest::FORMATS.len());
        for (format, line) in crate::ingest::FORMATS.iter().zip(error.candidates()) {
            assert!(line.starts_with(&format!("{}: ", format.name)), "{line}");
        }
        let next = error.next_step().unwrap_or_default();
        assert!(next.ends_with("rooflint run.csv --map MAPPING.toml"), "{next}");
    }
}
