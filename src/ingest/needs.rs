//! What an analysis needs of an export, and the exact command that would supply what is missing.

use crate::model::{Engine, Launch, Pipe, Quantity};

/// Something an export should have.
#[derive(Debug)]
pub struct Need {
    /// What it is.
    pub what: &'static str,
    /// What cannot be said without it.
    pub consequence: &'static str,
    /// Nsight Compute metrics that supply it.
    pub metrics: &'static [&'static str],
    /// `PyProf` columns that supply it.
    pub columns: &'static [&'static str],
    met: fn(&Launch<'_>) -> bool,
}

impl Need {
    /// Whether a launch has it.
    #[must_use]
    pub fn is_met(&self, launch: &Launch<'_>) -> bool {
        (self.met)(launch)
    }
}

fn has_work(launch: &Launch<'_>, fits: impl Fn(Pipe) -> bool) -> bool {
    launch.work().any(|(pipe, ..)| fits(pipe))
}

/// Everything an analysis uses, most important first.
pub const NEEDS: &[Need] = &[
    Need {
        what: "time",
        consequence: "no launch can be judged",
        metrics: &["gpu__time_duration.sum"],
        columns: &["sil"],
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
        columns: &["bytes"],
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
        met: |launch| has_work(launch, |pipe| pipe == Pipe::Fp32Vector) || algorithmic(launch),
    },
    Need {
        what: "FP64 operations",
        consequence: "double precision work would go unseen",
        metrics: &[
            "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
        ],
        columns: &[],
        met: |launch| has_work(launch, |pipe| pipe == Pipe::Fp64Vector) || algorithmic(launch),
    },
    Need {
        what: "FP16 operations",
        consequence: "packed half work would go unseen",
        metrics: &[
            "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
        ],
        columns: &[],
        met: |launch| has_work(launch, |pipe| pipe == Pipe::Fp16Vector) || algorithmic(launch),
    },
    Need {
        what: "tensor operations",
        consequence: "work on tensor cores would go unseen",
        metrics: &[
            "regex:sm__ops_path_tensor_.*",
            "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        ],
        columns: &["tc"],
        met: |launch| {
            has_work(launch, |pipe| pipe.engine() == Engine::Matrix)
                || launch.value(Quantity::TensorActive).is_some()
                || algorithmic(launch)
        },
    },
    Need {
        what: "SM clock",
        consequence: "only datasheet peaks at boost clock, which a locked clock cannot reach",
        metrics: &["sm__cycles_elapsed.avg.per_second"],
        columns: &[],
        met: |launch| launch.value(Quantity::SmClock).is_some() || algorithmic(launch),
    },
    Need {
        what: "grid and block",
        consequence: "too little parallelism would go unseen",
        metrics: &["launch__grid_size", "launch__block_size"],
        columns: &["grid", "block"],
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
        met: |launch| launch.value(Quantity::ResidentBlocksPerSm).is_some() || algorithmic(launch),
    },
    Need {
        what: "achieved occupancy",
        consequence: "low occupancy would go unseen",
        metrics: &["sm__warps_active.avg.pct_of_peak_sustained_active"],
        columns: &[],
        met: |launch| launch.value(Quantity::AchievedOccupancy).is_some() || algorithmic(launch),
    },
    Need {
        what: "L2 traffic",
        consequence: "cache-resident kernels cannot be told from slow ones",
        metrics: &["lts__t_sectors_srcunit_tex.sum"],
        columns: &[],
        met: |launch| launch.value(Quantity::L2Bytes).is_some() || algorithmic(launch),
    },
    Need {
        what: "speed-of-light percentages",
        consequence: "work that no counter saw cannot be bounded",
        metrics: &[
            "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
        ],
        columns: &[],
        met: |launch| launch.value(Quantity::SmThroughput).is_some() || algorithmic(launch),
    },
    Need {
        what: "sectors and requests of global loads",
        consequence: "uncoalesced access would go unseen",
        metrics: &[
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        ],
        columns: &[],
        met: |launch| {
            launch.value(Quantity::LoadSectorsPerRequest).is_some() || algorithmic(launch)
        },
    },
];

/// Whether the counts come from shapes: then hardware counters cannot be expected beside them.
fn algorithmic(launch: &Launch<'_>) -> bool {
    use crate::model::OriginKind::Algorithmic;
    launch.dram_bytes().is_some_and(|(_, origin)| origin.kind == Algorithmic)
        || launch.work().any(|(_, _, origin)| origin.kind == Algorithmic)
}

/// Compute capabilities of integrated parts, whose memory controller has no counters of its own.
const WITHOUT_DRAM_COUNTERS: [&str; 3] = ["8.7", "11.0", "12.1"];

/// Sectors that L2 did not have: the DRAM traffic of parts without DRAM counters, nearly.
const L2_MISSES: &str = "lts__t_sectors_lookup_miss.sum";

/// The command that would supply these needs, for the profiler of a format and the GPU of a compute
/// capability.
#[must_use]
pub fn command_for(
    format: &str,
    needs: &[&Need],
    compute_capability: Option<&str>,
) -> Option<String> {
    if needs.is_empty() {
        return None;
    }
    if format.starts_with("ncu") {
        let integrated =
            compute_capability.is_some_and(|known| WITHOUT_DRAM_COUNTERS.contains(&known));
        let mut metrics: Vec<&str> = Vec::new();
        for metric in needs.iter().flat_map(|need| need.metrics).copied() {
            let dram = integrated && metric.starts_with("dram__");
            let metric = if dram { L2_MISSES } else { metric };
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
        return Some(format!(
            "ncu --csv --metrics {} APP > more.csv   # then give both files: separate runs are joined",
            quoted(&metrics)
        ));
    }
    if format.starts_with("pyprof") {
        return Some(
            "python -m pyprof.prof --csv -c idx,dir,sub,mod,op,kernel,params,sil,tc,device,stream,grid,block,flops,bytes net.dict > net.csv"
                .to_owned(),
        );
    }
    None
}

/// Metric names as one shell word.
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
        let command = |capability| command_for("ncu-wide", &bytes, capability).unwrap();
        assert!(command(Some("9.0")).contains("dram__bytes_read.sum"));
        assert!(!command(Some("11.0")).contains("dram__"), "{}", command(Some("11.0")));
        assert_eq!(command(Some("11.0")).matches(L2_MISSES).count(), 1);
    }
}
