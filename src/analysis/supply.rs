//! The command that collects what an analysis lacks, by the profiler at hand.

use super::Analysis;
use super::needs::{FP32_FMA, Lack, Need, TIME};
use super::next_ncu::{ALL_ONCE, free_name};
use super::resolve::{DeviceUse, is_before_counters};
use crate::model::{DeviceHint, Profiler, Source};
use crate::plain;

/// Ends a command that prints the one of `ncu`.
const NEXT: &str = " --next-ncu";

/// What a run lacks and its profiler could supply.
#[derive(Debug)]
pub struct Supply<'a> {
    /// The file whose profiler supplies it.
    pub source: &'a Source,
    /// What is missing, most important first.
    pub lacking: Vec<&'a Lack>,
    /// The command that collects it.
    pub command: String,
}

impl Analysis {
    /// What at least this share of the run lacks and a profiler could supply; `None` where nothing is missing, or the
    /// profiler has no more to give.
    #[must_use]
    pub fn supply(&self, least: f64) -> Option<Supply<'_>> {
        let capability = self.devices.iter().find_map(DeviceUse::compute_capability);
        // Where counters were collected once, the rest is collected in the same way.
        let has_counters =
            self.sources.iter().any(|source| source.profiler == Profiler::NsightCompute);
        // What only repeats another file has no launches of its own.
        let own = |source: &&Source| source.repeated < source.launches.max(1);
        self.sources.iter().filter(own).find_map(|source| {
            let lacking: Vec<&Lack> = self
                .lacking
                .iter()
                .filter(|lack| self.share_of(lack) >= least && lack.need.is_in_reach(source))
                .collect();
            let needs: Vec<&Need> = lacking.iter().map(|lack| lack.need).collect();
            let is_trace = matches!(source.profiler, Profiler::PyTorch | Profiler::NsightSystems);
            let command = if has_counters && is_trace && !needs.is_empty() {
                format!("rooflint {}{NEXT}", plain::file(&source.path))
            } else {
                short_command_for(source, &needs, capability, &self.sources)?
            };
            let command = match command.strip_suffix(NEXT) {
                // Of what was counted already, no counters are asked for again.
                Some(rest) => {
                    let counting = self.sources.iter().filter(|one| {
                        one.profiler == Profiler::NsightCompute && one.path != source.path
                    });
                    let counting: Vec<String> =
                        counting.map(|one| plain::file(&one.path)).collect();
                    let files = [&[rest.to_owned()], counting.as_slice()].concat().join(" ");
                    format!("{files}{}{NEXT}", self.device_options())
                }
                None => command,
            };
            Some(Supply { source, lacking, command })
        })
    }
}

/// Compute capabilities of integrated GPUs, whose memory controller has no counters.
const WITHOUT_DRAM_COUNTERS: [&str; 3] = ["8.7", "11.0", "12.1"];

/// L2 sector misses: approximately the DRAM traffic of GPUs without DRAM counters.
const L2_MISSES: &str = "lts__t_sectors_lookup_miss.sum";

/// Where two operations at once are counted apart, these are needed too.
const PACKED_FP32: [&str; 3] = [
    "smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum",
];

/// Sections of Nsight Compute that supply all data; shorter to write than their metrics.
const SECTIONS: &str = "--set roofline --section MemoryWorkloadAnalysis_Tables --section Occupancy --section LaunchStats --page raw --print-units base";

/// All columns of `PyProf` that are read.
const COLUMNS: &str =
    "idx,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,bytes";

/// Returns the command that collects these needs metric by metric, for the profiler of a file and a
/// compute capability; `None` if that profiler cannot supply more. It writes a file whose name none of `beside` has.
#[must_use]
pub fn command_for(
    source: &Source,
    needs: &[&Need],
    compute_capability: Option<&str>,
    beside: &[Source],
) -> Option<String> {
    if source.profiler == Profiler::NsightCompute && !needs.is_empty() {
        let metrics = quoted(&metrics(needs, compute_capability));
        let more = free_name(beside, "more");
        return Some(format!(
            "ncu --csv --metrics {metrics} APP > {more}.csv   # then pass both files: separate runs \
             are joined"
        ));
    }
    let command = short_command_for(source, needs, compute_capability, beside)?;
    let is_joined = source.profiler == Profiler::Nvprof;
    let more = if is_joined { "   # then pass both files: they are joined by name" } else { "" };
    Some(format!("{command}{more}"))
}

/// Returns a shorter command that collects whole sections if many metrics are missing. It writes a file whose name none of
/// `beside` has.
#[must_use]
pub fn short_command_for(
    source: &Source,
    needs: &[&Need],
    compute_capability: Option<&str>,
    beside: &[Source],
) -> Option<String> {
    /// Number of metrics that fit on a line of a report.
    const FEW: usize = 3;
    if source.profiler == Profiler::NsightCompute && !needs.is_empty() {
        let metrics = metrics(needs, compute_capability);
        let more = free_name(beside, "more");
        return Some(if metrics.len() <= FEW {
            format!("ncu --csv --metrics {} APP > {more}.csv", quoted(&metrics))
        } else if metrics.contains(&L2_MISSES) {
            // None of these sections is sure to have it.
            format!("ncu --csv {SECTIONS} --metrics {L2_MISSES} APP > {more}.csv")
        } else {
            format!("ncu --csv {SECTIONS} APP > {more}.csv")
        });
    }
    if !needs.iter().any(|need| need.is_in_reach(source)) {
        return None;
    }
    let is_old = is_before_counters(compute_capability);
    match source.profiler {
        Profiler::PyProf => {
            Some(format!("python -m pyprof.prof --csv -c {COLUMNS} net.dict > net.csv"))
        }
        Profiler::PyTorch if lacks_shapes(source) => Some(
            "torch.profiler.profile(record_shapes=True), then export_chrome_trace(\"trace.json.gz\")"
                .to_owned(),
        ),
        Profiler::PyTorch if is_old => nvprof_command(source, needs, beside),
        // Only NVIDIA's devices have a compute capability.
        Profiler::PyTorch => {
            compute_capability.map(|_| format!("rooflint {}{NEXT}", plain::file(&source.path)))
        }
        Profiler::Rocprof => Some("rocprof-compute profile -n NAME -- APP".to_owned()),
        Profiler::Nvprof => nvprof_command(source, needs, beside),
        profiler if profiler.is_timeline() && is_old => nvprof_command(source, needs, beside),
        // It knows the launches, and so which of them tell most.
        Profiler::NsightSystems if compute_capability.is_some() => {
            Some(format!("rooflint {}{NEXT}", plain::file(&source.path)))
        }
        profiler if profiler.is_timeline() => {
            // Each launch is replayed many times, and a program has thousands.
            let counters = free_name(beside, "counters");
            Some(format!("ncu --csv {SECTIONS} {ALL_ONCE} APP > {counters}.csv"))
        }
        _ => None,
    }
}

/// Returns the command by which nvprof measures these needs.
fn nvprof_command(source: &Source, needs: &[&Need], beside: &[Source]) -> Option<String> {
    if needs.iter().any(|need| need.what == TIME) {
        let trace = free_name(beside, "trace");
        return Some(format!("nvprof --csv --print-gpu-trace --log-file {trace}.csv APP"));
    }
    let mut metrics: Vec<&str> = needs.iter().flat_map(|need| need.nvprof).copied().collect();
    metrics.retain(|metric| !source.columns.contains_key(*metric));
    let metrics = metrics.join(",");
    let file = free_name(beside, "metrics");
    let command = format!("nvprof --csv --metrics {metrics} --log-file {file}.csv APP");
    (!metrics.is_empty()).then_some(command)
}

/// Whether shapes of tensors would tell more. Of a trace whose launches belong to no operator, as those of a graph that is
/// replayed, they tell nothing.
fn lacks_shapes(source: &Source) -> bool {
    let has = |column: &str| source.columns.contains_key(column);
    !has("Input Dims") && (has("operator") || source.format != "pytorch-trace")
}

/// Returns the metrics that supply these needs on a compute capability, each once.
fn metrics(needs: &[&Need], compute_capability: Option<&str>) -> Vec<&'static str> {
    let integrated = compute_capability.is_some_and(|known| WITHOUT_DRAM_COUNTERS.contains(&known));
    let has_packed = compute_capability.is_some_and(DeviceHint::counts_packed_fp32);
    let mut metrics = Vec::new();
    let mut add = |metric| {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    };
    for metric in needs.iter().flat_map(|need| need.metrics).copied() {
        let dram = integrated && metric.starts_with("dram__");
        add(if dram { L2_MISSES } else { metric });
        if has_packed && metric == FP32_FMA {
            PACKED_FP32.into_iter().for_each(&mut add);
        }
    }
    metrics
}

/// Formats metric names as one shell word.
fn quoted(metrics: &[&str]) -> String {
    let list = metrics.join(",");
    if list.contains('*') { format!("'{list}'") } else { list }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{NEEDS, Use};

    #[test]
    fn parts_without_dram_counters_are_asked_for_l2_misses() {
        let bytes: Vec<&Need> = NEEDS
            .iter()
            .filter(|need| need.metrics.iter().any(|metric| metric.starts_with("dram__bytes")))
            .collect();
        let source = Source { profiler: Profiler::NsightCompute, ..Source::default() };
        let command = |capability| command_for(&source, &bytes, capability, &[]).unwrap();
        assert!(command(Some("9.0")).contains("dram__bytes_read.sum"));
        assert!(!command(Some("11.0")).contains("dram__"), "{}", command(Some("11.0")));
        assert_eq!(command(Some("11.0")).matches(L2_MISSES).count(), 1);
        let all: Vec<&Need> = NEEDS.iter().collect();
        let short = |capability| short_command_for(&source, &all, capability, &[]).unwrap();
        assert!(short(Some("11.0")).contains(L2_MISSES) && !short(Some("9.0")).contains(L2_MISSES));
    }

    /// Three counters, and three more where packed operations are counted apart; nobody else has those.
    #[test]
    fn packed_operations_are_asked_for_where_they_are_counted() {
        let fp32: Vec<&Need> = NEEDS.iter().filter(|need| need.what == "FP32 operations").collect();
        for (capability, packed) in
            [(None, 0), (Some("9.0"), 0), (Some("10.0"), 3), (Some("10.3"), 3), (Some("12.0"), 0)]
        {
            let metrics = metrics(&fp32, capability);
            assert_eq!(metrics.len(), 3 + packed, "{capability:?}");
            assert_eq!(metrics.iter().filter(|one| one.contains("2_pred_on")).count(), packed);
        }
    }

    #[test]
    fn a_few_metrics_are_named_and_many_are_whole_sections() {
        let source = Source { profiler: Profiler::NsightCompute, ..Source::default() };
        let all: Vec<&Need> = NEEDS.iter().collect();
        let short = |needs| short_command_for(&source, needs, None, &[]).unwrap();
        assert_eq!(short(&all[..1]), "ncu --csv --metrics gpu__time_duration.sum APP > more.csv");
        assert!(short(&all).starts_with("ncu --csv --set roofline"), "{}", short(&all));
        assert_eq!(short_command_for(&source, &[], None, &[]), None);
        let mapped = Source::default();
        assert_eq!(short_command_for(&mapped, &all, None, &[]), None);
    }

    #[test]
    fn times_are_completed_by_the_profiler_that_has_counters_of_the_device() {
        let source = |profiler, columns: &[&str]| Source {
            profiler,
            columns: columns.iter().map(|column| ((*column).to_owned(), 1)).collect(),
            ..Source::default()
        };
        let nsys = source(Profiler::NsightSystems, &[]);
        let roofs: Vec<&Need> = NEEDS[1..].iter().filter(|need| need.used == Use::Roofs).collect();
        let command = |source, needs: &[&Need], capability| {
            short_command_for(source, needs, capability, &[]).unwrap()
        };
        assert!(command(&nsys, &roofs, None).starts_with("ncu --csv --set roofline"));
        for capability in [Some("7.0"), Some("10.0")] {
            assert!(command(&nsys, &roofs, capability).ends_with(" --next-ncu"));
        }
        assert!(
            command(&nsys, &roofs, Some("6.1")).starts_with("nvprof --csv --metrics dram_read")
        );
        let metrics = source(Profiler::Nvprof, &["flop_count_sp", "dram_read_transactions"]);
        let more = command(&metrics, &roofs, None);
        assert!(!more.contains("flop_count_sp") && more.contains("dram_write_transactions"));
        assert!(command(&metrics, &[&NEEDS[0]], None).contains("--print-gpu-trace"));
        let mut all = source(Profiler::Nvprof, &[]);
        all.columns =
            roofs.iter().flat_map(|need| need.nvprof).map(|one| ((*one).to_owned(), 1)).collect();
        assert_eq!(short_command_for(&all, &roofs, None, &[]), None);
    }

    #[test]
    fn a_table_with_all_columns_has_no_more_to_give() {
        let columns = |headers: &[&str]| Source {
            profiler: Profiler::PyProf,
            columns: headers.iter().map(|header| ((*header).to_owned(), 1)).collect(),
            ..Source::default()
        };
        let bytes = &[&NEEDS[1]];
        assert!(command_for(&columns(&["Sil(ns)", "FLOPs"]), bytes, None, &[]).is_some());
        assert!(command_for(&columns(&["Sil(ns)", "Bytes"]), bytes, None, &[]).is_some());
        assert_eq!(command_for(&columns(&["Sil(ns)", "Bytes", "Params"]), bytes, None, &[]), None);
        assert_eq!(command_for(&columns(&["sil"]), &[&NEEDS[0]], None, &[]), None);
    }
}
