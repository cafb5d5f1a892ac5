//! The ranks of a trace: a file may merge the traces of several.
//!
//! `SGLang`'s `ProfileMerger` writes a label before each process (`[TP01] 1234`) and leaves everything else as it was in the
//! trace of the rank: ids of operators and calls, threads and numbers of GPUs come again in each. So each rank is gathered
//! and written for itself.

use std::collections::{HashMap, HashSet};

use super::about::About;
use super::event::Event;
use super::gathered::Gathered;
use super::launches::{Label, Writer};
use crate::ingest::Reading;
use crate::model::NameId;

/// What is kept of a trace, by rank; without labels all of it is one rank.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    /// In the order in which they came.
    all: Vec<Rank>,
    /// Position of each label.
    at: HashMap<Vec<u8>, usize>,
    /// Position of the rank of the last event: mostly the next one is of the same.
    last: usize,
}

/// A rank with its label, which is empty for events without one.
#[derive(Debug)]
struct Rank {
    label: Vec<u8>,
    gathered: Gathered,
}

impl Ranks {
    /// Takes an event, as [`Gathered::take`] does.
    ///
    /// # Errors
    /// The time of an event of the GPU that cannot be read.
    pub(super) fn take(
        &mut self,
        event: &Event<'_>,
        name: impl FnOnce(&[u8]) -> NameId,
    ) -> Result<Option<&'static str>, (&'static str, String)> {
        let (label, process) = labeled(event.process);
        self.of(label).take(&Event { process, ..*event }, name)
    }

    /// What is kept of the rank with this label.
    fn of(&mut self, label: &[u8]) -> &mut Gathered {
        if self.all.get(self.last).is_none_or(|rank| rank.label != label) {
            self.last = self.at.get(label).copied().unwrap_or(self.all.len());
            if self.last == self.all.len() {
                self.at.insert(label.to_vec(), self.last);
                self.all.push(Rank { label: label.to_vec(), gathered: Gathered::default() });
            }
        }
        &mut self.all[self.last].gathered
    }

    /// The sum over all ranks.
    pub(super) fn sum(&self, of: impl Fn(&Gathered) -> u64) -> u64 {
        self.all.iter().map(|rank| of(&rank.gathered)).sum()
    }

    /// Kernels of all ranks.
    pub(super) fn kernels(&self) -> u64 {
        self.sum(|gathered| gathered.kernels.len() as u64)
    }

    /// Appends the launches of all ranks, and what was learnt of the file.
    pub(super) fn write(mut self, reading: &mut Reading<'_>, about: &About) {
        // Events without a label are no rank, unless they are kernels.
        self.all.retain(|rank| !rank.label.is_empty() || !rank.gathered.kernels.is_empty());
        let is_coarse = !self.all.iter().any(|rank| rank.gathered.is_fine);
        let is_shared = self.share_numbers();
        let mut writer = Writer::new(reading, is_coarse, about.base);
        for Rank { label, gathered } in self.all {
            let label = String::from_utf8_lossy(&label).into_owned();
            let label = Label { is_in_ordinals: is_shared && !label.is_empty(), text: label };
            writer.write(reading, gathered, (about, &label));
        }
        writer.finish(reading, about);
    }

    /// Whether two ranks use GPUs of one number: of several hosts, or each of those that it sees.
    fn share_numbers(&self) -> bool {
        let mut all = HashSet::new();
        self.all.iter().any(|rank| {
            let settings = rank.gathered.settings.iter();
            let own: HashSet<Option<i64>> = settings.map(|setting| setting.device).collect();
            own.into_iter().any(|number| !all.insert(number))
        })
    }
}

/// The label of a rank and the process in `[TP01] 1234`; other processes have no label.
fn labeled(process: &[u8]) -> (&[u8], &[u8]) {
    let parts = || {
        let rest = process.strip_prefix(b"[")?;
        let end = rest.iter().position(|byte| *byte == b']')?;
        Some((rest[..end].trim_ascii(), rest[end + 1..].trim_ascii_start()))
    };
    parts().unwrap_or((b"", process))
}

#[cfg(test)]
mod tests {
    use super::labeled;
    use crate::ingest::{Input, Options, read};
    use crate::model::{Launch, Pipe, Profile, Quantity};

    fn parsed(events: &[String]) -> Profile {
        let text = format!(r#"{{"schemaVersion": 1, "traceEvents": [{}]}}"#, events.join(", "));
        let strict = Options { strict: true, ..Options::default() };
        read(&[Input::text("trace.json", &text)], &strict).unwrap()
    }

    /// An event of a process; times in microseconds with a fraction.
    fn event(cat: &str, name: &str, process: &str, (ts, dur): (u32, u32), args: &str) -> String {
        format!(
            r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": "{process}", "tid": 1, "ts": {ts}.5, "dur": {dur}.0, "args": {{{args}}}}}"#
        )
    }

    /// A step with a product, its call and its kernel, which runs from 100 µs later on for 10 µs; and a wait until then.
    fn step(label: &str, device: &str, number: u32, rows: u32) -> Vec<String> {
        let from = number * 1000;
        let (cpu, gpu) = (format!("{label}77"), format!("{label}0"));
        let dims = format!(
            r#""External id": {number}, "Input Dims": [[{rows}, 32], [32, 16]], "Input type": ["float", "float"]"#
        );
        let call = format!(r#""External id": {number}, "correlation": {number}"#);
        let kernel = format!(r#"{call}{device}, "stream": 7, "grid": [2, 1, 1]"#);
        let annotation = format!("ProfilerStep#{number}");
        vec![
            event("user_annotation", &annotation, &cpu, (from, 300), ""),
            event("cpu_op", "aten::mm", &cpu, (from + 10, 50), &dims),
            event("cuda_runtime", "cudaLaunchKernel", &cpu, (from + 20, 5), &call),
            event("cuda_runtime", "cudaDeviceSynchronize", &cpu, (from + 30, 80), ""),
            event("kernel", "ampere_sgemm_128x64_nn", &gpu, (from + 100, 10), &kernel),
        ]
    }

    /// Two steps of each rank, of products with so many rows.
    fn merged(ranks: &[(&str, &str, u32)]) -> Profile {
        let steps = ranks.iter().flat_map(|(label, device, rows)| {
            [1, 2].into_iter().flat_map(|number| step(label, device, number, *rows))
        });
        parsed(&steps.collect::<Vec<_>>())
    }

    /// The GPU of a launch.
    fn ordinal(profile: &Profile, device: crate::model::HintId) -> &str {
        profile.devices[device.position()].ordinal.as_deref().unwrap()
    }

    fn says(profile: &Profile, part: &str) -> usize {
        profile.sources[0].clues.iter().filter(|clue| clue.contains(part)).count()
    }

    /// A script added a million to the processes of the second rank.
    #[test]
    fn kernels_of_one_gpu_in_several_processes_are_pointed_out() {
        let kernel = |process: &str, ts: u32| {
            event("kernel", "gemm", process, (ts, 10), r#""device": 0, "stream": 7"#)
        };
        let notes = |events: &[String]| parsed(events).notes.join("; ");
        let found = notes(&[kernel("0", 0), kernel("0", 20), kernel("1000000", 0)]);
        assert!(found.contains("kernels of GPU 0 are of processes 0 and 1000000"), "{found}");
        assert_eq!(notes(&[kernel("0", 0), kernel("0", 20)]), "");
    }

    #[test]
    fn the_label_of_a_process_is_what_its_brackets_have() {
        for (process, label, rest) in [
            ("[TP01] 1234", "TP01", "1234"),
            ("[TP00-EP03] 0", "TP00-EP03", "0"),
            ("[TP01]7", "TP01", "7"),
            ("1234", "", "1234"),
            ("[TP01 1234", "", "[TP01 1234"),
            ("python [3]", "", "python [3]"),
            ("[] 3", "", "3"),
            ("", "", ""),
        ] {
            assert_eq!(labeled(process.as_bytes()), (label.as_bytes(), rest.as_bytes()));
        }
    }

    /// Products of 64 and of 128 rows have the same ids: 2·64·32·16 = 65,536 operations and twice as many.
    #[test]
    fn kernels_have_the_operators_of_their_own_rank() {
        let profile =
            merged(&[("[TP00] ", r#", "device": 0"#, 64), ("[TP01] ", r#", "device": 1"#, 128)]);
        let figures = |launch: Launch<'_>| {
            let flops = launch.value(Quantity::Work(Pipe::Fp32Vector));
            (launch.head.id, ordinal(&profile, launch.head.device).to_owned(), flops)
        };
        let (one, other) = (Some(65_536.0), Some(131_072.0));
        let launches: Vec<_> = profile.iter().map(figures).collect();
        let of = |id, ordinal: &str, flops| (id, ordinal.to_owned(), flops);
        assert_eq!(
            launches,
            [of(0, "0", one), of(1, "0", one), of(2, "1", other), of(3, "1", other)]
        );
        assert_eq!(
            profile.names.get(profile.launch(3).head.operator),
            "aten::mm 128x32,32x16 fp32"
        );
        assert_eq!(profile.sources[0].columns["dur"], 4);
        assert_eq!(profile.sources[0].columns["operator"], 4);
        assert_eq!(says(&profile, "merges the traces of 2 ranks: TP00, TP01"), 1);
        assert_eq!(says(&profile, "2 steps of the profiler are recorded: "), 1);
    }

    /// Of two hosts each calls its GPU 0, and each has thread 1 of process 77.
    #[test]
    fn gpus_of_one_number_are_those_of_their_ranks() {
        let device = r#", "device": 0"#;
        let profile = merged(&[("[PP00] ", device, 64), ("[PP01] ", device, 64)]);
        let ordinals: Vec<_> =
            profile.iter().map(|launch| ordinal(&profile, launch.head.device)).collect();
        assert_eq!(ordinals, ["PP00 0", "PP00 0", "PP01 0", "PP01 0"]);
        let steps: Vec<_> = profile
            .steps
            .iter()
            .map(|step| (ordinal(&profile, step.device), step.number, step.launches))
            .collect();
        assert_eq!(steps, [("PP00 0", 1, 1), ("PP00 0", 2, 1), ("PP01 0", 1, 1), ("PP01 0", 2, 1)]);
        let of_call: Vec<_> = profile
            .calls
            .iter()
            .map(|call| (ordinal(&profile, call.device), call.thread))
            .collect();
        assert_eq!(of_call, [("PP00 0", 0), ("PP00 0", 0), ("PP01 0", 1), ("PP01 0", 1)]);
        let waits: Vec<_> = profile.waits.iter().map(|wait| wait.thread).collect();
        assert_eq!(waits, [0, 0, 1, 1]);
    }

    /// Processes 177 and 277 have both made call 2: its kernels have no operator; 1 and 3 are of one process each.
    #[test]
    fn a_number_of_two_processes_without_labels_names_no_operator() {
        let [one, other] = [r#", "device": 0"#, r#", "device": 1"#];
        let steps = [
            step("1", one, 1, 64),
            step("1", one, 2, 64),
            step("2", other, 2, 128),
            step("2", other, 3, 128),
        ];
        let profile = parsed(&steps.concat());
        let flops: Vec<_> =
            profile.iter().map(|launch| launch.value(Quantity::Work(Pipe::Fp32Vector))).collect();
        assert_eq!(flops, [Some(65_536.0), None, None, Some(131_072.0)]);
        assert_eq!(
            says(&profile, "2 launches have no operator: the file has calls of several processes"),
            1
        );
        assert_eq!(says(&profile, "to no operator that the trace has"), 0);
        assert_eq!(profile.calls.len(), 2);
    }

    /// The process of an event of the GPU is its number where no argument is.
    #[test]
    fn a_gpu_may_be_named_by_the_process_after_the_label() {
        let profile = merged(&[("[TP00] ", "", 64)]);
        assert_eq!(ordinal(&profile, profile.launch(0).head.device), "0");
        assert_eq!(says(&profile, "merges"), 0);
    }

    #[test]
    fn a_trace_without_labels_is_of_one_rank() {
        let profile = merged(&[("", r#", "device": 3"#, 64)]);
        assert_eq!(ordinal(&profile, profile.launch(1).head.device), "3");
        assert_eq!(says(&profile, "merges"), 0);
        assert_eq!(says(&profile, "2 steps of the profiler are recorded: ProfilerStep#1 to #2"), 1);
    }

    /// Ranks may be interleaved; the second has no step 2, the third only a copy, and events without a label are no rank.
    #[test]
    fn what_differs_from_rank_to_rank_is_said_of_each() {
        let [device, other] = [r#", "device": 0"#, r#", "device": 1"#];
        let one = [step("[TP00] ", device, 1, 64), step("[TP00] ", device, 2, 64)].concat();
        let two =
            step("[TP01] ", other, 1, 128).into_iter().filter(|event| !event.contains("cpu_op"));
        let copy = |label: &str| event("gpu_memcpy", "Memcpy", &format!("{label}2"), (9, 4), "");
        let mut events: Vec<String> =
            vec![event("cpu_op", "aten::x", "5", (1, 2), ""), copy("[TP02] "), copy("[TP00] ")];
        let mut one = one.into_iter();
        for event in two {
            events.extend(one.next());
            events.push(event);
        }
        events.extend(one);
        let profile = parsed(&events);
        let clues = &profile.sources[0].clues;
        assert_eq!(
            *clues,
            [
                "the file merges the traces of 3 ranks: TP02, TP00, TP01; without kernels: TP02",
                "1 launch belongs to no operator that the trace has",
                "left out, because they are not kernels: 2 copies (8.00 µs)",
                "2 steps of the profiler are recorded in TP00: ProfilerStep#1 to #2",
                "one step of the profiler is recorded in TP01: ProfilerStep#1",
            ]
        );
        let works: Vec<_> =
            profile.iter().map(|launch| launch.value(Quantity::Work(Pipe::Fp32Vector))).collect();
        assert_eq!(works, [Some(65_536.0), Some(65_536.0), None]);
    }

    #[test]
    fn of_many_ranks_the_first_are_named() {
        let labels: Vec<String> = (0..10).map(|rank| format!("[TP{rank:02}] ")).collect();
        let devices: Vec<String> = (0..10).map(|rank| format!(r#", "device": {rank}"#)).collect();
        let ranks: Vec<_> =
            labels.iter().zip(&devices).map(|(label, device)| (&**label, &**device, 8)).collect();
        let profile = merged(&ranks);
        assert_eq!(
            says(&profile, "10 ranks: TP00, TP01, TP02, TP03, TP04, TP05, TP06, TP07 and 2 more"),
            1
        );
    }
}
