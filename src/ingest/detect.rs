//! Which format a file is: each one is asked, and answers yes, no or unsure with its reason.

use super::{FORMATS, Format, IngestError, Reading, Sample};

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
    let detection = ask(&reading.sample);
    let yes: Vec<_> =
        detection.answers.iter().filter(|(_, sniff)| matches!(sniff, Sniff::Yes(_))).collect();
    let unsure: Vec<_> =
        detection.answers.iter().filter(|(_, sniff)| matches!(sniff, Sniff::Unsure(_))).collect();
    let claims = if yes.is_empty() { &unsure } else { &yes };
    if let [(name, _)] = claims.as_slice()
        && let Some(format) = super::format(name)
    {
        return Ok(format);
    }
    if claims.is_empty() {
        if let Some(error) = not_a_table(reading) {
            return Err(error);
        }
        let considered: Vec<String> = detection
            .answers
            .iter()
            .map(|(name, sniff)| format!("\n  {name}: {}", sniff.reason()))
            .collect();
        return Err(reading
            .error(format!("not a format that can be read; considered:{}", considered.concat()))
            .help("name the columns of any other CSV with --map FILE, or choose a format with --from FORMAT"));
    }
    let names: Vec<String> =
        claims.iter().map(|(name, sniff)| format!("\n  {name}: {}", sniff.reason())).collect();
    Err(reading
        .error(format!("several formats claim this file:{}", names.concat()))
        .help("choose one with --from FORMAT"))
}

/// How our own reports start as text, Markdown and CSV.
const OWN: [&str; 3] = ["GPU time     ", "## Roofline report", "rank,name,full_name,"];

/// Files that are no tables, and what to do about each.
fn not_a_table(reading: &Reading<'_>) -> Option<IngestError> {
    let sample = &reading.sample;
    let text = sample.text();
    if let Some(error) = super::nsight::no_table(reading) {
        return Some(error);
    }
    let (what, help) = if text.starts_with("NVR\0") || reading.source.path.ends_with(".ncu-rep") {
        (
            "this is a Nsight Compute report (.ncu-rep), not its CSV",
            "print it: ncu --import FILE --csv --page raw --print-units base > FILE.csv",
        )
    } else if text.starts_with("SQLite format 3") {
        (
            "this is a SQLite database of Nsight Systems or nvprof",
            "Nsight Systems has no counters; profile with: ncu --csv --page raw --set roofline …",
        )
    } else if text.starts_with("PAR1") {
        (
            "this is a Parquet file",
            "give the profiler's CSV it was made from; builds with the feature `frames` read launch tables by their path",
        )
    } else if text.starts_with("PK\u{3}\u{4}") {
        ("this is a zip archive", "unpack it and give the CSV inside")
    } else if sample.binary {
        (
            "this is a binary file",
            "give the profiler's CSV; `rooflint formats` lists what can be read",
        )
    } else if text.trim_start().starts_with(['{', '[']) {
        (
            "this is JSON, not CSV",
            "traces are not read yet; give a CSV export, see `rooflint formats`",
        )
    } else if text.lines().any(|line| line.contains("NVTX monkey patch")) {
        (
            "only PyProf's start messages, no table follows",
            "run the second step too: python -m pyprof.prof --csv -c idx,kernel,op,params,sil,tc,flops,bytes FILE.dict > FILE.csv",
        )
    } else if OWN.iter().any(|start| text.starts_with(start)) {
        ("this is a report of rooflint, not an export", "give the profiler's CSV it was made from")
    } else {
        return None;
    };
    Some(reading.error(what).help(help))
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};

    /// What is said of a file, and the next step.
    fn refused(text: &'static str) -> (String, String) {
        let error = read_text("file.bin", text, &Options::default()).unwrap_err();
        (error.to_string(), error.next_step().unwrap_or_default().to_owned())
    }

    #[test]
    fn what_is_no_table_is_named_with_the_next_step() {
        for (text, what, help) in [
            ("NVR\0\u{1}", "report (.ncu-rep)", "ncu --import FILE --csv"),
            ("SQLite format 3\0", "SQLite database", "ncu --csv --page raw"),
            ("PAR1\u{15}", "Parquet", "launch tables"),
            ("PK\u{3}\u{4}", "zip archive", "unpack it"),
            ("ab\0cd", "binary file", "rooflint formats"),
            ("[1, 2]", "JSON, not CSV", "CSV export"),
            ("Initializing NVTX monkey patches\n", "start messages", "pyprof.prof --csv"),
            ("rank,name,full_name,x\n", "a report of rooflint", "profiler's CSV"),
        ] {
            let (message, next) = refused(text);
            assert!(message.contains(what) && next.contains(help), "{text:?}: {message}; {next}");
        }
    }

    #[test]
    fn an_unknown_table_lists_every_format_that_was_asked() {
        let (message, next) = refused("a,b\n1,2\n");
        for format in crate::ingest::FORMATS {
            assert!(message.contains(&format!("\n  {}: ", format.name)), "{message}");
        }
        assert!(next.contains("--map FILE"), "{next}");
    }
}
