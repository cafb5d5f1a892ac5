//! The profiler's own lines around the table, and what they explain when there is no table.

use crate::catalog::Catalog;
use crate::ingest::{IngestError, Reading, Record};
use crate::model::DeviceHint;
use crate::plain::counted;

/// How the profiler's own errors begin among the clues.
const ERROR: &str = "profiler error: ";

/// What the lines before and within the table tell.
#[derive(Debug, Default, Clone)]
pub(super) struct Preamble {
    clues: Vec<String>,
    keeps_caches: bool,
    device: Option<String>,
    devices: usize,
}

impl Preamble {
    /// Takes a record inside the table that is a message of the profiler.
    pub(super) fn takes(&mut self, reading: &mut Reading<'_>, record: &Record<'_>) -> bool {
        let first = record.get(0).unwrap_or_default();
        let is_message = first.starts_with(b"==");
        if is_message {
            self.line(&String::from_utf8_lossy(first));
            reading.source.other_lines += 1;
        }
        is_message
    }

    /// Takes one line.
    pub(super) fn line(&mut self, line: &str) {
        if let Some(message) = line.strip_prefix("==WARNING== ") {
            let clue = if message.contains("unmodified GPU clocks") {
                "GPU clocks were not locked (--clock-control none)".to_owned()
            } else if message.contains("uncontrolled GPU caches") {
                self.keeps_caches = true;
                "caches were not flushed between passes (--cache-control none)".to_owned()
            } else {
                format!("profiler warning: {message}")
            };
            self.clue(clue);
        } else if let Some(message) = line.strip_prefix("==ERROR== ") {
            self.clue(format!("{ERROR}{message}"));
        } else if !is_of_profiler(line)
            && let Some(name) = device_name(line)
            && self.device.as_deref() != Some(name)
        {
            self.devices += 1;
            self.device = Some(name.to_owned());
        }
    }

    fn clue(&mut self, clue: String) {
        if !self.clues.contains(&clue) {
            self.clues.push(clue);
        }
    }

    /// Moves what was learnt of the profiler to the source. After an error launches may be missing.
    pub(super) fn tell(&mut self, reading: &mut Reading<'_>) {
        let errors = self.clues.iter().filter_map(|clue| clue.strip_prefix(ERROR));
        if let Some(first) = errors.clone().next() {
            let more = match errors.count() {
                1 => String::new(),
                all => format!("; {} in all", counted(all as u64, "error", "errors")),
            };
            reading.check(&format!(
                "the profiler reported an error, so launches may be missing: {first}{more}"
            ));
        }
        reading.source.clues.append(&mut self.clues);
        reading.source.keeps_caches |= self.keeps_caches;
    }

    /// Names the device from the program's own output, if it named exactly one, and its compute capability is not another.
    pub(super) fn complete(&self, hint: &mut DeviceHint) {
        let of_name = || Catalog::builtin().target(self.device.as_deref()?);
        let is_other = |known: &String| of_name().is_some_and(|target| target != *known);
        if hint.name.is_none()
            && self.devices == 1
            && !hint.compute_capability.as_ref().is_some_and(is_other)
        {
            hint.name.clone_from(&self.device);
            hint.name_from = Some("the program's output before the table".to_owned());
        }
    }
}

/// Whether a line tells what the profiler does; what it says of a device is not that.
fn is_of_profiler(line: &str) -> bool {
    let told = line.strip_prefix("==PROF== ");
    let routine =
        ["Connected", "Disconnected", "Profiling", "Target process", "Creating", "Report"];
    match told {
        Some(told) => routine.iter().any(|start| told.starts_with(start)),
        None => line.starts_with("=="),
    }
}

/// A product name such as `NVIDIA GeForce RTX 5070` in a line of program output.
fn device_name(line: &str) -> Option<&str> {
    let start = [
        "NVIDIA GeForce ",
        "NVIDIA RTX ",
        "NVIDIA A",
        "NVIDIA H",
        "NVIDIA B",
        "NVIDIA G",
        "NVIDIA L",
        "NVIDIA T",
        "NVIDIA Quadro ",
        "GeForce ",
        "Quadro ",
        "Tesla ",
    ]
    .iter()
    .filter_map(|maker| line.find(maker))
    .min()?;
    let name = &line[start..];
    let end = name.find(['(', ',', ';', '|', '[', '\t', ':', '"', '\'']).unwrap_or(name.len());
    let name = name[..end].trim();
    // The table of nvidia-smi goes on in the same line.
    let name = name.split("  ").next().unwrap_or(name);
    // A product has a number in its name; prose does not.
    (name.len() <= 64 && name.bytes().any(|byte| byte.is_ascii_digit())).then_some(name)
}

/// Explains a file of profiler messages without a table; `None` if it is no such file.
pub(in crate::ingest) fn no_table(reading: &Reading<'_>) -> Option<IngestError> {
    let sample = &reading.sample;
    let tagged = |tag: &str| sample.lines().enumerate().find(|(_, line)| line.starts_with(tag));
    let at = |(number, line): (usize, &str), message: &str| {
        reading.error(format!("{message}: {line:?}")).line(number as u64 + 1)
    };
    let errors = sample.lines().enumerate().filter(|(_, line)| line.starts_with("==ERROR=="));
    for (number, line) in errors {
        let found = (number, line);
        if line.contains("ERR_NVGPUCTRPERM") {
            return Some(at(found, "no table: the profiler was not permitted to read GPU counters").help(
                "run ncu as root or let the administrator set NVreg_RestrictProfilingToAdminUsers=0 (https://developer.nvidia.com/ERR_NVGPUCTRPERM)",
            ));
        }
        if line.contains("driver resource was unavailable") {
            return Some(
                at(found, "no table: another tool held the GPU counters")
                    .help("stop DCGM or other profilers while ncu runs"),
            );
        }
    }
    let none =
        sample.lines().enumerate().find(|(_, line)| line.contains("No kernels were profiled"));
    if let Some(found) = none {
        let available: Vec<&str> = sample
            .lines()
            .skip_while(|line| !line.starts_with("Available Kernels"))
            .skip(1)
            .take_while(|line| line.starts_with(|c: char| c.is_ascii_digit()))
            .filter_map(|line| line.split_once(". ").map(|(_, name)| name))
            .collect();
        let help = if available.is_empty() {
            "did the program launch kernels in a profiled process? try --target-processes all"
                .to_owned()
        } else {
            format!("the filter matched none of: {}", available.join(", "))
        };
        return Some(at(found, "no table: no kernels were profiled").help(help));
    }
    if let Some(found) = tagged("==ERROR==") {
        return Some(at(found, "no table: the profiler failed").help("see the profiler's message"));
    }
    if let Some((number, line)) = tagged("==PROF== Report:") {
        let report = line.trim_start_matches("==PROF== Report:").trim();
        return Some(
            at((number, line), "messages of a run that wrote its report elsewhere")
                .help(format!("read that: rooflint {report}"))
                .foreign(),
        );
    }
    if let Some(found) = tagged("==PROF==") {
        return Some(
            at(found, "no table follows the profiler's messages")
                .help("the run was cut before ncu printed its table, or --csv was not given"),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_program_output() {
        for (line, name) in [
            (
                "device: NVIDIA GeForce RTX 5070 (sm_120), 48 SMs, 2.625 GHz",
                Some("NVIDIA GeForce RTX 5070"),
            ),
            ("Using Tesla V100-SXM2-16GB", Some("Tesla V100-SXM2-16GB")),
            ("NVIDIA Announces results", None),
            ("measuring ceilings ...", None),
        ] {
            assert_eq!(device_name(line), name, "{line}");
        }
    }

    #[test]
    fn an_error_of_the_profiler_is_told_at_the_beginning() {
        let header = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,Section Name,Metric Name,Metric Unit,Metric Value\n";
        let row = "0,7,a,h,j,1,7,\"(64, 1, 1)\",\"(64, 1, 1)\",0,8.0,Command line profiler metrics,gpu__time_duration.sum,ns,1000\n";
        let errors =
            "==ERROR== Failed to profile kernel \"k\" in process 7\n==ERROR== An error occurred\n";
        let text = format!("{header}{row}{errors}").leak();
        let found = crate::ingest::read_text("run.csv", text, &crate::ingest::Options::default());
        assert_eq!(
            found.unwrap().checks,
            [
                "run.csv: the profiler reported an error, so launches may be missing: Failed to profile kernel \"k\" in process 7; 2 errors in all"
            ]
        );
    }

    #[test]
    fn two_devices_in_the_output_name_none() {
        let mut preamble = Preamble::default();
        preamble.line("0: NVIDIA A100-SXM4-80GB");
        preamble.line("1: NVIDIA H200");
        let mut hint = DeviceHint::default();
        preamble.complete(&mut hint);
        assert_eq!(hint.name, None);
    }

    /// The second launch ran on a GPU of Hopper's, which no A100 is.
    #[test]
    fn a_name_is_given_to_no_device_of_another_compute_capability() {
        let mut preamble = Preamble::default();
        preamble.line("Using NVIDIA A100-SXM4-40GB");
        for (capability, name) in [
            (Some("8.0"), Some("NVIDIA A100-SXM4-40GB")),
            (None, Some("NVIDIA A100-SXM4-40GB")),
            (Some("9.0"), None),
        ] {
            let compute_capability = capability.map(str::to_owned);
            let mut hint = DeviceHint { compute_capability, ..DeviceHint::default() };
            preamble.complete(&mut hint);
            assert_eq!(hint.name.as_deref(), name, "{capability:?}");
        }
    }
}
