//! `formats`: what can be read, and how to produce it.

use super::exit::Failure;
use super::terminal::Terminal;
use crate::ingest::FORMATS;

pub(super) fn run(terminal: &Terminal) -> Result<(), Failure> {
    let width = FORMATS.iter().map(|format| format.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for format in FORMATS {
        text.push_str(&format!(
            "{:width$}  {}: {}\n",
            format.name, format.profiler, format.summary
        ));
        text.push_str(&format!("{:width$}    {}\n", "", format.command));
    }
    text.push_str(&format!(
        "{:width$}  any other CSV, through a mapping: rooflint FILE --map MAPPING.toml\n\n",
        "mapped"
    ));
    text.push_str("Compression (gzip, zstd), UTF-8 and UTF-16, CRLF, program output around the table, decimal\n");
    text.push_str(
        "commas and digit grouping are recognized. `rooflint inspect FILE` says what a file is.\n",
    );
    terminal.print(&text)
}
