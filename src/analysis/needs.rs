//! Data that an analysis needs from an export, and which of it a run lacks.

use super::{Analysis, DeviceUse, Kernel, State};
use crate::catalog::Provenance;
use crate::model::{Engine, Launch, Pipe, Profile, Profiler, Quantity, Source};
use crate::plain;
use crate::units::Seconds;

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

    /// Returns what follows for a launch that lacks it. Of bytes, a part may be counted, or how busy the memory was.
    #[must_use]
    pub fn consequence_for(&self, launch: &Launch<'_>) -> &'static str {
        let is_busy = || {
            let busy = [Quantity::DramActive, Quantity::DramThroughput];
            busy.into_iter().any(|quantity| launch.value(quantity).is_some())
        };
        match self.what {
            DRAM_BYTES if launch.dram_bytes().is_some() => "they are a lower bound",
            DRAM_BYTES if is_busy() => "of DRAM only how busy it was is known",
            _ => self.consequence,
        }
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
    /// What follows for them.
    pub consequence: &'static str,
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

    /// Returns `true` if kernels ran on a device of AMD, by the device or by the profiler.
    #[must_use]
    pub fn is_of_amd(&self) -> bool {
        self.devices.iter().any(DeviceUse::is_of_amd)
            || self.sources.iter().any(|source| source.profiler.is_of_amd())
    }

    /// Returns the name of the profiler that counts what the devices of the run do.
    #[must_use]
    pub fn counting_profiler(&self) -> &'static str {
        let profiler =
            if self.is_of_amd() { Profiler::RocprofCompute } else { Profiler::NsightCompute };
        profiler.label()
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
}

/// Returns the data that kernels lack, most important first.
///
/// Uncounted work is only listed if it leaves a kernel without a verdict or with a lower bound.
pub(super) fn lacking(profile: &Profile, kernels: &[Kernel]) -> Vec<Lack> {
    let none = |need: &'static Need| Lack {
        need,
        launches: 0,
        time: Seconds::ZERO,
        consequence: need.consequence,
    };
    let mut lacking: Vec<Lack> = NEEDS.iter().map(none).collect();
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
            let consequence = lack.need.consequence_for(&launch);
            // Of several consequences the gravest holds for all, that of having nothing.
            if lack.launches == 0 || consequence == lack.need.consequence {
                lack.consequence = consequence;
            }
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
pub(super) const TIME: &str = "time";

/// What the memory roof needs.
const DRAM_BYTES: &str = "DRAM bytes";

/// The last of the counters of FP32 operations.
pub(super) const FP32_FMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

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
        what: DRAM_BYTES,
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
            FP32_FMA,
        ],
        columns: &["flops", "params"],
        nvprof: &["flop_count_sp"],
        used: Use::Roofs,
        met: |launch| {
            let is_counted = launch
                .work()
                .any(|(pipe, _, origin)| pipe == Pipe::Fp32Vector && origin.high.is_finite());
            is_counted || algorithmic(launch)
        },
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

/// Returns `true` if a file has a column, by its name in `PyProf`'s option `-c`: `sil` is
/// `Sil(ns)`.
fn has_column(source: &Source, column: &str) -> bool {
    source.columns.keys().any(|header| {
        let title = header.split('(').next().unwrap_or_default();
        title.trim().eq_ignore_ascii_case(column)
    })
}
