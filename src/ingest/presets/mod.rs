//! Tables of profilers that need no reader of their own: each is a mapping of columns.
//!
//! To add one: a mapping in this folder and an entry in the list. What tells it apart is a header that has certain columns.

use std::sync::LazyLock;

use super::mapped::{self, Layout, Mapping};
use super::rows::fields;
use super::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::{Profiler, Recorded};

/// These profilers write their header first, after a title at most; messages of a program may precede it.
const HEADER_WITHIN: usize = 100;

/// Columns that other versions name otherwise: derived sizes of rocprof 1 before ROCm 5, LDS of rocprofv3 before it lists registers.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("FetchSize", "FETCH_SIZE"),
    ("WriteSize", "WRITE_SIZE"),
    ("Group_Segment_Size", "LDS_Block_Size"),
];

/// Reads from memory by their size, as MI350 counts them: there `TCC_BUBBLE`, the reads of 128 bytes of MI300, stays 0.
///
/// Source: ROCm Compute Profiler 3.5, "Corrected the formula for metrics related to reads from L2 cache to HBM for AMD
/// Instinct MI350 Series GPUs" (rocm-systems, commit aa5dfb98).
const READS_BY_SIZE: &str = r#"
[columns]
kernel = "Kernel_Name"
time = { start = "Start_Timestamp", end = "End_Timestamp", unit = "ns" }
bytes = { unit = "B", sum = { TCC_EA0_RDREQ_128B_sum = 128, TCC_EA0_RDREQ_64B_sum = 64, TCC_EA0_RDREQ_32B_sum = 32, TCC_EA0_WRREQ_sum = 32, TCC_EA0_WRREQ_64B_sum = 32 } }
"#;

/// What AMD's tables with a row for each dispatch have beside counters: version 1, then version 2 and ROCm Compute Profiler.
const DISPATCHES: Layout = Layout {
    process: "pid PID",
    columns: "Index KernelName gpu-id queue-id queue-index pid tid grd wgr lds scr vgpr arch_vgpr accum_vgpr sgpr fbar \
        wave_size sig obj DispatchNs BeginNs EndNs CompleteNs DurationNs \
        Dispatch_ID GPU_ID Queue_ID PID TID Grid_Size Workgroup_Size LDS_Per_Workgroup Scratch_Per_Workitem Arch_VGPR \
        Accum_VGPR SGPR Wave_Size Kernel_Name Kernel_ID Start_Timestamp End_Timestamp Correlation_ID",
};

/// What else the columns of a table may be, beside what its mapping says.
type Also = fn(&Mapping) -> Result<Vec<Mapping>, IngestError>;

/// A table whose columns a mapping names.
struct Preset {
    /// What it is, as the dialect of a file.
    what: &'static str,
    /// Columns that no other table has together.
    columns: &'static [&'static str],
    /// The mapping, with each of the formulas that its other columns may have.
    mappings: LazyLock<Result<Vec<Mapping>, IngestError>>,
}

impl Preset {
    fn sniff(&self, sample: &Sample) -> Sniff {
        let mut lines = sample.titles().take_while(|(number, _)| *number < HEADER_WITHIN);
        let found = lines.find(|(_, line)| {
            // Only lines that may be the header are taken apart.
            line.contains(self.columns[0]) && {
                let fields = fields(line, b',');
                self.is_in(&fields) && !self.is_in_part(&fields)
            }
        });
        let is_found =
            found.is_some() || mapped::titles(sample).is_some_and(|titles| self.is_in(&titles));
        let named: Vec<String> = self.columns.iter().map(|column| format!("{column:?}")).collect();
        if is_found {
            Sniff::Yes(format!("the header has {}", named.join(", ")))
        } else {
            Sniff::No(format!("no header with {}", named.join(", ")))
        }
    }

    fn is_in(&self, header: &[String]) -> bool {
        let has = |column: &&str| header.iter().any(|field| mapped::is_titled(field, column));
        self.columns.iter().all(has)
    }

    /// Whether another table has all of its columns and more of the header's.
    fn is_in_part(&self, header: &[String]) -> bool {
        let has_all = |other: &Preset| self.columns.iter().all(|one| other.columns.contains(one));
        let is_more = |other: &Preset| other.columns.len() > self.columns.len() && has_all(other);
        PRESETS.iter().any(|other| is_more(other) && other.is_in(header))
    }

    fn read(&self, name: &str, reading: &mut Reading<'_>) -> Result<(), IngestError> {
        name.clone_into(&mut reading.source.format);
        self.what.clone_into(&mut reading.source.dialect);
        if name == rocprof_v3::NAME {
            // Its copies are in a table of their own.
            reading.source.recorded = Recorded::Kernels;
        }
        let mappings = self.mappings.as_ref().map_err(|error| reading.error(error.to_string()))?;
        let has_counters = [
            rocprof_v1::NAME,
            rocprof_v2::NAME,
            rocprof_compute_mi200::NAME,
            rocprof_compute_mi300::NAME,
        ]
        .contains(&name);
        mapped::read_as_known(reading, mappings, has_counters.then_some(&DISPATCHES))
    }
}

/// The mappings of a preset, made once.
fn made(text: &str, path: &str, also: Option<Also>) -> Result<Vec<Mapping>, IngestError> {
    let own = Mapping::built_in(text, path)?;
    let other = own.clone().with_columns(OTHER_NAMES);
    let all = if other == own { vec![own] } else { vec![own, other] };
    match also {
        Some(also) => Ok(all.iter().map(also).collect::<Result<Vec<_>, _>>()?.concat()),
        None => Ok(all),
    }
}

/// A mapping, and the same with reads by their size, which comes first where a table has both.
fn with_reads_by_size(own: &Mapping) -> Result<Vec<Mapping>, IngestError> {
    let by_size = Mapping::from_toml(READS_BY_SIZE, "the mapping of reads by size")?;
    Ok(vec![own.clone().with_values_of(by_size, false), own.clone()])
}

/// A mapping with the formulas of AMD's counters: derived sizes, or requests to memory, which MI300 counts by other
/// names than MI100 and MI200, and MI350 by size.
pub(super) fn with_counters(own: &Mapping) -> Result<Vec<Mapping>, IngestError> {
    let [mi300, mi200] = ["rocprof-compute-mi300", "rocprof-compute-mi200"];
    let made = |(formulas, own_first): (&str, bool)| {
        let other = Mapping::from_toml(preset(formulas).unwrap_or_default(), formulas)?;
        Ok(own.clone().with_values_of(other, own_first))
    };
    let [derived, mi300, mi200] =
        [made((mi300, true))?, made((mi300, false))?, made((mi200, false))?];
    Ok([vec![derived], with_reads_by_size(&mi300)?, vec![mi200]].concat())
}

/// Declares the presets: for each the format and what its mapping is about.
macro_rules! presets {
    ($($module:ident: $name:literal, $profiler:ident, $what:literal, $columns:expr, $summary:literal, $command:literal $(, $also:ident)?;)*) => {
        $(mod $module {
            use super::{Format, IngestError, LazyLock, Preset, Profiler, Reading, Sample, Sniff};

            pub(super) const NAME: &str = $name;
            pub(super) const TEXT: &str = include_str!(concat!($name, ".toml"));

            pub(super) static PRESET: Preset = Preset {
                what: $what,
                columns: &$columns,
                mappings: LazyLock::new(|| {
                    let also: &[super::Also] = &[$(super::$also)?];
                    super::made(TEXT, concat!("the mapping ", $name), also.first().copied())
                }),
            };

            pub(super) const FORMAT: Format = Format {
                name: NAME,
                profiler: Profiler::$profiler,
                summary: $summary,
                command: $command,
                sniff,
                read,
            };

            fn sniff(sample: &Sample) -> Sniff {
                PRESET.sniff(sample)
            }

            fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
                PRESET.read(NAME, reading)
            }
        })*

        static PRESETS: &[&Preset] = &[$(&$module::PRESET),*];

        /// The formats.
        pub(super) const FORMATS: &[Format] = &[$($module::FORMAT),*];

        /// The mapping of this name, as it is written.
        #[must_use]
        pub fn preset(name: &str) -> Option<&'static str> {
            [$(($module::NAME, $module::TEXT)),*]
                .into_iter()
                .find(|(known, _)| *known == name)
                .map(|(_, text)| text)
        }
    };
}

presets! {
    xprof: "xprof", XProf, "kernel_stats of XProf",
        ["Kernel Name", "Registers per thread", "Occurrences", "Total Duration (μs)"],
        "Kernel Stats of JAX and TensorFlow as CSV or JSON: one row per kernel and operation, times only",
        "xprof --logdir=DIR   # Kernel Stats, export as CSV";
    dlprof: "dlprof", DLProf, "iteration report of DLProf",
        ["GPU Duration (ns)", "GPU Start Time (ns)", "Long Kernel Name"],
        "iteration report: one row per launch, times only",
        "dlprof --reports=iteration python TRAIN.py";
    nsight_python: "nsight-python", NsightCompute, "table of nsight-python",
        ["AvgValue", "Annotation", "Metric", "NumRuns", "Kernel"],
        "nsight-python: to_dataframe() saved as CSV, averages over runs; times only",
        "benchmark().to_dataframe().to_csv('run.csv', index=False)";
    rocprof_v1: "rocprof-v1", Rocprof, "results.csv of rocprof",
        ["KernelName", "gpu-id", "BeginNs", "EndNs"],
        "version 1, AMD: results.csv with times, one row per launch, with counters also FLOPs and bytes",
        "rocprof --stats --timestamp on -o results.csv APP", with_counters;
    rocprof_v2: "rocprof-v2", Rocprof, "table of rocprofv2",
        ["Dispatch_ID", "Kernel_Name", "Grid_Size", "Start_Timestamp", "End_Timestamp"],
        "version 2, AMD: one row per launch, with counters also FLOPs and bytes",
        "rocprofv2 --kernel-trace -d out APP", with_counters;
    rocprof_compute_mi200: "rocprof-compute-mi200", RocprofCompute, "pmc_perf.csv of ROCm Compute Profiler, MI200",
        ["Dispatch_ID", "Kernel_Name", "Grid_Size", "Start_Timestamp", "End_Timestamp", "TCC_EA_RDREQ_sum"],
        "Omniperf on AMD MI200: pmc_perf.csv, one row per launch, FLOPs and bytes from counters",
        "rocprof-compute profile -n NAME -- APP   # workloads/NAME/MI200/pmc_perf.csv";
    rocprof_compute_mi300: "rocprof-compute-mi300", RocprofCompute, "pmc_perf.csv of ROCm Compute Profiler, MI300 and MI350",
        ["Dispatch_ID", "Kernel_Name", "Grid_Size", "Start_Timestamp", "End_Timestamp", "TCC_EA0_RDREQ_sum"],
        "Omniperf on AMD MI300 and MI350: pmc_perf.csv, one row per launch, FLOPs and bytes from counters",
        "rocprof-compute profile -n NAME -- APP   # workloads/NAME/MI300X_A1/pmc_perf.csv",
        with_reads_by_size;
    rocprof_v3: "rocprof-v3", Rocprof, "kernel_trace.csv of rocprofv3",
        ["Kernel_Name", "Kind", "Agent_Id", "Workgroup_Size_X", "Grid_Size_X"],
        "version 3, AMD: kernel_trace.csv, one row per launch",
        "rocprofv3 --kernel-trace --output-format csv -d out -- APP";
    rocprof_stats: "rocprof-stats", Rocprof, "statistics of rocprof",
        ["TotalDurationNs", "Name", "Calls", "AverageNs"],
        "versions 1 to 3, AMD: statistics, one row per kernel",
        "rocprofv3 --kernel-trace --stats --output-format csv -d out -- APP";
    rocprof_compute_top: "rocprof-compute-top", RocprofCompute, "pmc_kernel_top.csv of ROCm Compute Profiler",
        ["Kernel_Name", "Count", "Sum(ns)"],
        "Omniperf: pmc_kernel_top.csv, one row per kernel, times only",
        "rocprof-compute analyze -p workloads/NAME/GPU";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Quantity;

    #[test]
    fn every_preset_is_a_mapping_and_found_by_name() {
        for format in FORMATS {
            let text = preset(format.name).unwrap();
            Mapping::from_toml(text, format.name).unwrap();
        }
        assert_eq!(preset("none"), None);
    }

    #[test]
    fn each_preset_claims_its_own_header_alone() {
        for format in FORMATS {
            let mapping = Mapping::from_toml(preset(format.name).unwrap(), "m").unwrap();
            let header: Vec<String> =
                mapping.columns().iter().map(|column| format!("{column:?}")).collect();
            let mut header = header.join(",");
            // What tells the table apart may be more than what is read.
            for column in ["AverageNs", "Metric"] {
                if !header.contains(column) {
                    header.push_str(&format!(",{column:?}"));
                }
            }
            let sample = Sample::new(format!("{header}\n").as_bytes());
            let claims: Vec<_> = super::super::FORMATS
                .iter()
                .filter(|one| matches!((one.sniff)(&sample), Sniff::Yes(_)))
                .map(|one| one.name)
                .collect();
            assert_eq!(claims, [format.name], "{header}");
        }
    }

    /// A table that is compiled in, as launches of kernel, GPU, nanoseconds and bytes of shared memory.
    fn launches(text: String) -> Vec<(String, Option<String>, f64, Option<f64>)> {
        let profile =
            crate::ingest::read_text("run.csv", text.leak(), &crate::ingest::Options::default())
                .unwrap();
        let launches = profile.iter().map(|launch| {
            let value = |quantity| launch.value(quantity);
            let device = profile.devices.get(launch.head.device.position());
            (
                launch.kernel().to_owned(),
                device.and_then(|device| device.ordinal.clone()),
                (value(Quantity::Duration).unwrap() * 1e9).round(),
                value(Quantity::SharedMemoryPerBlock),
            )
        });
        launches.collect()
    }

    /// Later versions of rocprofv3 list registers, name LDS otherwise, and write a word before the number of the GPU.
    #[test]
    fn kernel_traces_of_all_versions_of_rocprofv3_are_read() {
        for (columns, values) in [
            ("\"Private_Segment_Size\",\"Group_Segment_Size\"", "0,512"),
            (
                "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\"",
                "512,0,8,0,16",
            ),
        ] {
            let text = format!(
                "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\
                 \"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",{columns},\
                 \"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n\
                 \"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,1,16,\"add\",1,1000,3000,{values},64,1,1,1024,1,1\n\
                 \"KERNEL_DISPATCH\",5,1,0,9,2,16,\"add\",2,1000,4000,{values},64,1,1,1024,1,1\n"
            );
            let add = |gpu: &str, time| ("add".to_owned(), Some(gpu.to_owned()), time, Some(512.0));
            assert_eq!(launches(text), [add("4", 2000.0), add("5", 3000.0)]);
        }
    }

    /// Ratios and rates keep the name of the metric that they were made of.
    #[test]
    fn what_nsight_python_derives_is_no_time() {
        let header = "Annotation,Metric,n,AvgValue,NumRuns,Kernel,GPU,Transformed,Normalized,NormalizationValue";
        let row = |value: &str, kernel: &str, made: &str| {
            format!(
                "torch,gpu__time_duration.sum,4096,{value},10,{kernel},NVIDIA H100 80GB HBM3,{made}\n"
            )
        };
        let text = [
            format!("{header}\n"),
            row("268432.0", "gemm", "False,False,"),
            row("0.75", "ratio", "False,torch,268432.5"),
            row("512.25", "rate", "tflops,False,"),
        ];
        assert_eq!(launches(text.concat()), [("gemm".to_owned(), None, 268_432.0, None)]);
        // Versions without the columns derive nothing.
        let text = "Annotation,Metric,AvgValue,NumRuns,Kernel,GPU\ntorch,gpu__time_duration.sum,900,10,gemm,NVIDIA H200\n".to_owned();
        assert_eq!(launches(text), [("gemm".to_owned(), None, 900.0, None)]);
    }
}
