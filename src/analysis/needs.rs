//! Data that an analysis needs from an export, and the command that collects what is missing.

use super::Analysis;
use super::next_ncu::ALL_ONCE;
use super::resolve::{DeviceUse, is_before_counters};
use super::{Kernel, State};
use crate::catalog::Provenance;
use crate::model::{Engine, Launch, Pipe, Profile, Profiler, Quantity, Source};
use crate::plain;
use crate::units::Seconds;

/// Ends a command that prints the one of `ncu`.
const NEXT: &str = " --next-ncu";

/// Data that an export should have.
#[derive(Debug)]
pub struct Need {
    /// Name of the data.
    pub what: &'static str,
    /// Consequence of missing it.
    pub consequence: &'static str,
    /// Nsight Compute metrics that supply it.
    pub metrics: &'static [&'static str],
    /// `PyProf` columns that supply it; parameters have shapes, from which operations and bytes
    /// follow.
    pub columns: &'static [&'static str],
    /// Metrics of nvprof that supply it.
    pub nvprof: &'static [&'static str],
    /// Purpose of the data.
    pub used: Use,
    met: fn(&Launch<'_>) -> bool,
}

/// Purpose of data in an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// To compare kernels with their roofs.
    Roofs,
    /// To scale the roofs to the clocks of the launches.
    Ceilings,
    /// To find out why a kernel is slow.
    Rules,
}

impl Need {
    /// Returns `true` if a launch has it.
    #[must_use]
    pub fn is_met(&self, launch: &Launch<'_>) -> bool {
        (self.met)(launch)
    }

    /// Returns `true` if the profiler of a file can supply more of it, by columns that are not yet
    /// present.
    #[must_use]
    pub fn is_in_reach(&self, source: &Source) -> bool {
        match source.profiler {
            Profiler::NsightCompute => !self.metrics.is_empty(),
            Profiler::PyProf => self.columns.iter().any(|column| !has_column(source, column)),
            Profiler::Nvprof => {
                self.what == TIME
                    || self.nvprof.iter().any(|metric| !source.columns.contains_key(*metric))
            }
            // Operations and bytes follow from shapes, and where they do not, from counters.
            Profiler::PyTorch => self.used == Use::Roofs && self.columns.contains(&"params"),
            Profiler::Rocprof => self.used == Use::Roofs,
            profiler if profiler.is_timeline() => !self.metrics.is_empty(),
            _ => false,
        }
    }
}

/// Missing data of part of a run that affects verdicts.
#[derive(Debug, Clone, Copy)]
pub struct Lack {
    /// What is missing.
    pub need: &'static Need,
    /// Number of launches without it, by the longest launch of each kernel.
    pub launches: u64,
    /// Measured time of these launches.
    pub time: Seconds,
}

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
    /// The share of the run that lacks something; of the launches, where nothing has a duration.
    #[must_use]
    pub fn share_of(&self, lack: &Lack) -> f64 {
        if self.totals.measured > Seconds::ZERO {
            lack.time / self.totals.measured
        } else {
            lack.launches as f64 / self.totals.launches.max(1) as f64
        }
    }

    /// Whether most of the run has times and neither operations nor bytes, so that naming the device would not help.
    #[must_use]
    pub fn has_times_alone(&self) -> bool {
        const MOST: f64 = 0.5;
        self.totals.measured > Seconds::ZERO
            && self.kernels.iter().all(|kernel| kernel.bytes.is_none() && kernel.work.is_empty())
            && self.lacking.iter().any(|lack| {
                lack.need.used == Use::Roofs && lack.need.what != TIME && self.share_of(lack) > MOST
            })
    }

    /// Returns the options by which the devices are known, as a command has them, with a blank before each; empty where
    /// the export and the catalog know them.
    pub(crate) fn device_options(&self) -> String {
        let mut options: Vec<String> = Vec::new();
        for used in &self.devices {
            let Some(device) = &used.device else { continue };
            let mut add = |name: &str, value: String| {
                let option = format!(" {name} {value}");
                if !options.contains(&option) {
                    options.push(option);
                }
            };
            if used.is_asked {
                add("--device", plain::quoted(&device.name));
            }
            if let Provenance::UserFile(path) = &device.provenance {
                add("--devices", plain::file(path));
            }
        }
        options.concat()
    }

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
                short_command_for(source, &needs, capability)?
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

/// Returns the data that kernels lack, most important first.
///
/// Uncounted work is only listed if it leaves a kernel without a verdict or with a lower bound.
pub(super) fn lacking(profile: &Profile, kernels: &[Kernel]) -> Vec<Lack> {
    let mut lacking: Vec<Lack> =
        NEEDS.iter().map(|need| Lack { need, launches: 0, time: Seconds::ZERO }).collect();
    for kernel in kernels.iter().filter(|kernel| !kernel.class.crosses_link()) {
        let launch = profile.launch(kernel.longest);
        let is_open = kernel.state == State::NotEnoughData
            || kernel.is_lower_bound()
            || kernel.is_by_busy_time();
        let matters = |lack: &Lack| match lack.need.used {
            Use::Roofs => is_open,
            Use::Ceilings => true,
            Use::Rules => false,
        };
        for lack in lacking.iter_mut().filter(|lack| matters(lack) && !lack.need.is_met(&launch)) {
            lack.launches += kernel.launches;
            lack.time += kernel.measured;
        }
    }
    lacking.retain(|lack| lack.launches > 0);
    lacking
}

fn has_work(launch: &Launch<'_>, fits: impl Fn(Pipe) -> bool) -> bool {
    launch.work().any(|(pipe, ..)| fits(pipe))
}

/// What no launch can be analyzed without.
const TIME: &str = "time";

/// All data that an analysis uses, most important first.
pub const NEEDS: &[Need] = &[
    Need {
        what: TIME,
        consequence: "no launch can be analyzed",
        metrics: &["gpu__time_duration.sum"],
        columns: &["sil"],
        nvprof: &[],
        used: Use::Roofs,
        met: |launch| {
            launch
                .duration()
                .is_some_and(|(_, origin)| origin.kind != crate::model::OriginKind::Instrumented)
        },
    },
    Need {
        what: "DRAM bytes",
        consequence: "no memory roof",
        metrics: &["dram__bytes_read.sum", "dram__bytes_write.sum"],
        columns: &["bytes", "params"],
        nvprof: &["dram_read_transactions", "dram_write_transactions"],
        used: Use::Roofs,
        met: |launch| launch.dram_bytes().is_some_and(|(_, origin)| origin.high.is_finite()),
    },
    Need {
        what: "FP32 operations",
        consequence: "no FP32 roof",
        metrics: &[
            "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        ],
        columns: &["flops", "params"],
        nvprof: &["flop_count_sp"],
        used: Use::Roofs,
        met: |launch| has_work(launch, |pipe| pipe == Pipe::Fp32Vector) || algorithmic(launch),
    },
    Need {
        what: "FP64 operations",
        consequence: "double-precision work is not detected",
        metrics: &[
            "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
        ],
        columns: &[],
        nvprof: &["flop_count_dp"],
        used: Use::Roofs,
        met: |launch| has_work(launch, |pipe| pipe == Pipe::Fp64Vector) || algorithmic(launch),
    },
    Need {
        what: "FP16 operations",
        consequence: "packed half-precision work is not detected",
        metrics: &[
            "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
        ],
        columns: &[],
        nvprof: &["flop_count_hp"],
        used: Use::Roofs,
        met: |launch| has_work(launch, |pipe| pipe == Pipe::Fp16Vector) || algorithmic(launch),
    },
    Need {
        what: "tensor operations",
        consequence: "tensor-core work is not detected",
        metrics: &[
            "regex:sm__ops_path_tensor_.*",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        ],
        columns: &["flops", "params"],
        nvprof: &[],
        used: Use::Roofs,
        met: |launch| {
            has_work(launch, |pipe| pipe.engine() == Engine::Matrix)
                || launch.value(Quantity::TensorActive).is_some()
                || algorithmic(launch)
        },
    },
    Need {
        what: "SM clock",
        consequence: "only datasheet peaks at boost clock are used, which a locked clock cannot \
            reach",
        metrics: &["sm__cycles_elapsed.avg.per_second"],
        columns: &[],
        nvprof: &[],
        used: Use::Ceilings,
        // The clock under Nsight Compute is not that of the run.
        met: |launch| {
            launch.value(Quantity::SmClock).is_some()
                || algorithmic(launch)
                || launch.is_of_real_run()
        },
    },
    Need {
        what: "grid and block",
        consequence: "too little parallelism is not detected",
        metrics: &["launch__grid_size", "launch__block_size"],
        columns: &["grid", "block"],
        nvprof: &[],
        used: Use::Rules,
        met: |launch| {
            launch.head.shape.blocks.is_some() && launch.head.shape.threads_per_block.is_some()
        },
    },
    Need {
        what: "occupancy limits",
        consequence: "waves and tail cannot be computed",
        metrics: &[
            "launch__occupancy_limit_registers",
            "launch__occupancy_limit_shared_mem",
            "launch__occupancy_limit_blocks",
            "launch__occupancy_limit_warps",
        ],
        columns: &[],
        nvprof: &[],
        used: Use::Rules,
        met: |launch| launch.value(Quantity::ResidentBlocksPerSm).is_some() || algorithmic(launch),
    },
    Need {
        what: "achieved occupancy",
        consequence: "low occupancy is not detected",
        metrics: &["sm__warps_active.avg.pct_of_peak_sustained_active"],
        columns: &[],
        nvprof: &["achieved_occupancy"],
        used: Use::Rules,
        met: |launch| launch.value(Quantity::AchievedOccupancy).is_some() || algorithmic(launch),
    },
    Need {
        what: "L2 traffic",
        consequence: "cache-resident kernels look like slow ones",
        metrics: &["lts__t_sectors_srcunit_tex.sum"],
        columns: &[],
        nvprof: &["l2_read_transactions", "l2_write_transactions"],
        used: Use::Rules,
        met: |launch| launch.value(Quantity::L2Bytes).is_some() || algorithmic(launch),
    },
    Need {
        what: "speed-of-light percentages",
        consequence: "uncounted work cannot be bounded",
        metrics: &[
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ],
        columns: &[],
        nvprof: &[],
        used: Use::Rules,
        met: |launch| launch.value(Quantity::SmThroughput).is_some() || algorithmic(launch),
    },
    Need {
        what: "sectors and requests of global loads",
        consequence: "uncoalesced access is not detected",
        metrics: &[
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        ],
        columns: &[],
        nvprof: &["gld_efficiency", "gst_efficiency"],
        used: Use::Rules,
        met: |launch| {
            // A kernel may load nothing.
            launch.value(Quantity::LoadSectorsPerRequest).is_some()
                || launch.value(Quantity::StoreSectorsPerRequest).is_some()
                || algorithmic(launch)
        },
    },
];

/// Returns `true` if the counts come from shapes, so that hardware counters cannot be expected.
fn algorithmic(launch: &Launch<'_>) -> bool {
    use crate::model::OriginKind::Algorithmic;
    launch.dram_bytes().is_some_and(|(_, origin)| origin.kind == Algorithmic)
        || launch.work().any(|(_, _, origin)| origin.kind == Algorithmic)
}

/// Compute capabilities of integrated GPUs, whose memory controller has no counters.
const WITHOUT_DRAM_COUNTERS: [&str; 3] = ["8.7", "11.0", "12.1"];

/// L2 sector misses: approximately the DRAM traffic of GPUs without DRAM counters.
const L2_MISSES: &str = "lts__t_sectors_lookup_miss.sum";

/// Sections of Nsight Compute that supply all data; shorter to write than their metrics.
const SECTIONS: &str = "--set roofline --section MemoryWorkloadAnalysis_Tables --section Occupancy --section LaunchStats --page raw --print-units base";

/// All columns of `PyProf` that are read.
const COLUMNS: &str =
    "idx,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,bytes";

/// Returns the command that collects these needs metric by metric, for the profiler of a file and a
/// compute capability; `None` if that profiler cannot supply more.
#[must_use]
pub fn command_for(
    source: &Source,
    needs: &[&Need],
    compute_capability: Option<&str>,
) -> Option<String> {
    if source.profiler == Profiler::NsightCompute && !needs.is_empty() {
        let metrics = quoted(&metrics(needs, compute_capability));
        return Some(format!(
            "ncu --csv --metrics {metrics} APP > more.csv   # then pass both files: separate runs \
             are joined"
        ));
    }
    let command = short_command_for(source, needs, compute_capability)?;
    let is_joined = source.profiler == Profiler::Nvprof;
    let more = if is_joined { "   # then pass both files: they are joined by name" } else { "" };
    Some(format!("{command}{more}"))
}

/// Returns a shorter command that collects whole sections if many metrics are missing.
#[must_use]
pub fn short_command_for(
    source: &Source,
    needs: &[&Need],
    compute_capability: Option<&str>,
) -> Option<String> {
    /// Number of metrics that fit on a line of a report.
    const FEW: usize = 3;
    if source.profiler == Profiler::NsightCompute && !needs.is_empty() {
        let metrics = metrics(needs, compute_capability);
        return Some(if metrics.len() <= FEW {
            format!("ncu --csv --metrics {} APP > more.csv", quoted(&metrics))
        } else if metrics.contains(&L2_MISSES) {
            // None of these sections is sure to have it.
            format!("ncu --csv {SECTIONS} --metrics {L2_MISSES} APP > more.csv")
        } else {
            format!("ncu --csv {SECTIONS} APP > more.csv")
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
        Profiler::PyTorch if is_old => nvprof_command(source, needs),
        // Only NVIDIA's devices have a compute capability.
        Profiler::PyTorch => {
            compute_capability.map(|_| format!("rooflint {}{NEXT}", plain::file(&source.path)))
        }
        Profiler::Rocprof => Some("rocprof-compute profile -n NAME -- APP".to_owned()),
        Profiler::Nvprof => nvprof_command(source, needs),
        profiler if profiler.is_timeline() && is_old => nvprof_command(source, needs),
        // It knows the launches, and so which of them tell most.
        Profiler::NsightSystems if compute_capability.is_some() => {
            Some(format!("rooflint {}{NEXT}", plain::file(&source.path)))
        }
        profiler if profiler.is_timeline() => {
            // Each launch is replayed many times, and a program has thousands.
            Some(format!("ncu --csv {SECTIONS} {ALL_ONCE} APP > counters.csv"))
        }
        _ => None,
    }
}

/// Returns the command by which nvprof measures these needs.
fn nvprof_command(source: &Source, needs: &[&Need]) -> Option<String> {
    if needs.iter().any(|need| need.what == TIME) {
        return Some("nvprof --csv --print-gpu-trace --log-file trace.csv APP".to_owned());
    }
    let mut metrics: Vec<&str> = needs.iter().flat_map(|need| need.nvprof).copied().collect();
    metrics.retain(|metric| !source.columns.contains_key(*metric));
    let metrics = metrics.join(",");
    let command = format!("nvprof --csv --metrics {metrics} --log-file metrics.csv APP");
    (!metrics.is_empty()).then_some(command)
}

/// Whether shapes of tensors would tell more. Of a trace whose launches belong to no operator, as those of a graph that is
/// replayed, they tell nothing.
fn lacks_shapes(source: &Source) -> bool {
    let has = |column: &str| source.columns.contains_key(column);
    !has("Input Dims") && (has("operator") || source.format != "pytorch-trace")
}

/// Returns `true` if a file has a column, by its name in `PyProf`'s option `-c`: `sil` is
/// `Sil(ns)`.
fn has_column(source: &Source, column: &str) -> bool {
    source.columns.keys().any(|header| {
        let title = header.split('(').next().unwrap_or_default();
        title.trim().eq_ignore_ascii_case(column)
    })
}

/// Returns the metrics that supply these needs on a compute capability, each once.
fn metrics(needs: &[&Need], compute_capability: Option<&str>) -> Vec<&'static str> {
    let integrated = compute_capability.is_some_and(|known| WITHOUT_DRAM_COUNTERS.contains(&known));
    let mut metrics = Vec::new();
    for metric in needs.iter().flat_map(|need| need.metrics).copied() {
        let dram = integrated && metric.starts_with("dram__");
        let metric = if dram { L2_MISSES } else { metric };
        if !metrics.contains(&metric) {
            metrics.push(metric);
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

    #[test]
    fn parts_without_dram_counters_are_asked_for_l2_misses() {
        let bytes: Vec<&Need> = NEEDS
            .iter()
            .filter(|need| need.metrics.iter().any(|metric| metric.starts_with("dram__bytes")))
            .collect();
        let source = Source { profiler: Profiler::NsightCompute, ..Source::default() };
        let command = |capability| command_for(&source, &bytes, capability).unwrap();
        assert!(command(Some("9.0")).contains("dram__bytes_read.sum"));
        assert!(!command(Some("11.0")).contains("dram__"), "{}", command(Some("11.0")));
        assert_eq!(command(Some("11.0")).matches(L2_MISSES).count(), 1);
        let all: Vec<&Need> = NEEDS.iter().collect();
        let short = |capability| short_command_for(&source, &all, capability).unwrap();
        assert!(short(Some("11.0")).contains(L2_MISSES) && !short(Some("9.0")).contains(L2_MISSES));
    }

    #[test]
    fn a_few_metrics_are_named_and_many_are_whole_sections() {
        let source = Source { profiler: Profiler::NsightCompute, ..Source::default() };
        let all: Vec<&Need> = NEEDS.iter().collect();
        let short = |needs| short_command_for(&source, needs, None).unwrap();
        assert_eq!(short(&all[..1]), "ncu --csv --metrics gpu__time_duration.sum APP > more.csv");
        assert!(short(&all).starts_with("ncu --csv --set roofline"), "{}", short(&all));
        assert_eq!(short_command_for(&source, &[], None), None);
        let mapped = Source::default();
        assert_eq!(short_command_for(&mapped, &all, None), None);
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
            short_command_for(source, needs, capability).unwrap()
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
        assert_eq!(short_command_for(&all, &roofs, None), None);
    }

    #[test]
    fn a_table_with_all_columns_has_no_more_to_give() {
        let columns = |headers: &[&str]| Source {
            profiler: Profiler::PyProf,
            columns: headers.iter().map(|header| ((*header).to_owned(), 1)).collect(),
            ..Source::default()
        };
        let bytes = &[&NEEDS[1]];
        assert!(command_for(&columns(&["Sil(ns)", "FLOPs"]), bytes, None).is_some());
        assert!(command_for(&columns(&["Sil(ns)", "Bytes"]), bytes, None).is_some());
        assert_eq!(command_for(&columns(&["Sil(ns)", "Bytes", "Params"]), bytes, None), None);
        assert_eq!(command_for(&columns(&["sil"]), &[&NEEDS[0]], None), None);
    }
}
