//! Databases without a kernel: what they are, and why there is none.

use super::database::{AGAIN, Database, Failure, STRINGS, integer, text};
use super::{calls, kernels};
use crate::ingest::{IngestError, Reading};
use crate::model::printable;
use crate::plain::counted;

/// The table of launches of whole CUDA graphs.
pub(super) const GRAPHS: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

/// Longest message of the profiler that is passed on, in characters.
const LONGEST: usize = 200;

/// Most messages that are passed on.
const MOST: usize = 3;

/// Why a database has no kernels.
pub(super) fn kernels(database: &Database, reading: &Reading<'_>) -> Result<IngestError, Failure> {
    let is_export = ["TARGET_INFO_SYSTEM_ENV", "META_DATA_EXPORT", "EXPORT_META_DATA"]
        .iter()
        .any(|table| database.has(table))
        || database.has("StringIds") && database.has(calls::TABLE);
    let is_nvvp = database.first(&["CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", kernels::TABLE]);
    if let (false, Some(_)) = (is_export, is_nvvp) {
        return Ok(reading
            .error("this is an nvprof database (SQLite)")
            .help("print it as CSV: nvprof -i FILE --csv --print-gpu-trace --log-file trace.csv"));
    }
    if !is_export {
        return Ok(reading.error("this is a SQLite database without a GPU profile").help(
            "record one: nsys profile -o run APP && nsys export --type sqlite --output run.sqlite run.nsys-rep",
        ));
    }
    for table in [kernels::TABLE, STRINGS] {
        if database.is_view(table) {
            let message = format!("{table} is a view, which is not read: rooflint reads tables");
            return Ok(reading.error(message).help(AGAIN));
        }
    }
    if database.has(kernels::TABLE) && !database.has(STRINGS) {
        return Ok(reading
            .error(format!("the export has a table of kernels and none of their names ({STRINGS})"))
            .help(AGAIN));
    }
    let graphs = whole_graphs(database)?;
    let (why, help) = if graphs > 0 {
        (
            format!(
                "all kernels ran in CUDA graphs, which were traced as a whole ({})",
                counted(graphs, "launch", "launches")
            ),
            "trace their kernels: nsys profile --cuda-graph-trace=node -o run APP",
        )
    } else if database.has(calls::TABLE) {
        (
            "calls of CUDA were traced, and no kernel: none ran, or the driver did not permit it"
                .to_owned(),
            "check the messages of nsys; it needs a driver that supports its version of CUDA",
        )
    } else {
        (
            "CUDA was not traced, or the program does not use it".to_owned(),
            "trace it: nsys profile --trace=cuda,nvtx -o run APP",
        )
    };
    let (messages, more) = messages(database)?;
    let said = messages.first().map(|said| format!("; nsys says: {said}")).unwrap_or_default();
    let others = messages.len().saturating_sub(1) as u64 + more;
    let said = if others > 0 { format!("{said} (and {others} more)") } else { said };
    Ok(reading.error(format!("the export has no kernels: {why}{said}")).help(help))
}

/// Launches of graphs that were traced as a whole.
fn whole_graphs(database: &Database) -> Result<u64, Failure> {
    let mut graphs = 0;
    database.each(GRAPHS, ["start"], |_| {
        graphs += 1;
        Ok(())
    })?;
    Ok(graphs)
}

/// The profiler's own warnings of what it may have lost: the first of them, and how many others there are.
pub(super) fn messages(database: &Database) -> Result<(Vec<String>, u64), Failure> {
    const WARNING: i64 = 2;
    let (mut messages, mut more): (Vec<String>, u64) = (Vec::new(), 0);
    database.each("DIAGNOSTIC_EVENT", ["severity", "text"], |[severity, words]| {
        let words = String::from_utf8_lossy(text(words).unwrap_or_default());
        let matters = words.contains("CUDA") || words.contains("events might have been");
        if integer(severity).is_some_and(|of| of >= WARNING) && matters {
            let words: String = printable(words.trim()).chars().take(LONGEST).collect();
            if messages.contains(&words) {
                return Ok(());
            }
            if messages.len() < MOST {
                messages.push(words);
            } else {
                more += 1;
            }
        }
        Ok(())
    })?;
    Ok((messages, more))
}
