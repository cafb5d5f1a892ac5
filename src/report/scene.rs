//! The roofline of a run before it is drawn: its roofs, and where each kernel lies. Pictures and the
//! page draw the same scene.

use crate::analysis::{CeilingSet, DeviceUse, Kernel, State};
use crate::catalog::Device;
use crate::model::{MemoryLevel, Pipe};
use crate::units::{Bytes, Flops, Seconds};

use super::Report;
use super::roofs::{bandwidths, on, peaks};

/// One device of a run with what ran on it.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// Position among the devices of the analysis.
    pub(super) device: usize,
    /// Of every level whose bandwidth is known and whose traffic was counted, DRAM first.
    pub(super) memory: Vec<Roof<MemoryLevel>>,
    /// Of every pipe that needs most of some kernel's math time, the highest first.
    pub(super) compute: Vec<Roof<Pipe>>,
    /// In the order of the report.
    pub(super) points: Vec<Point>,
    /// Kernels that have no place on the picture, and why.
    #[cfg_attr(
        all(not(feature = "page"), not(test)),
        expect(dead_code, reason = "the page lists them")
    )]
    pub(super) absent: Vec<Absent>,
}

/// A roof, in bytes or operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Roof<Kind> {
    pub(super) kind: Kind,
    /// What the hardware can do at most.
    pub(super) theoretical: f64,
    /// What well-written kernels reach; not known for caches.
    pub(super) achievable: Option<f64>,
    /// The lowest that a kernel was held against, where clocks differ.
    pub(super) lowest: f64,
}

/// A kernel on the roofline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    /// Position among the kernels of the analysis.
    pub(super) kernel: usize,
    /// The pipe that needs most of its math time; its operations are those of the point.
    pub(super) pipe: Pipe,
    /// Operations per byte of DRAM traffic.
    pub(super) intensity: f64,
    /// Operations per second of measured time.
    pub(super) rate: f64,
    /// Operations per byte of the traffic of each level that was counted.
    pub(super) levels: Vec<(MemoryLevel, f64)>,
}

/// Kernels that cannot be drawn for one reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Absent {
    pub(super) reason: &'static str,
    pub(super) kernels: usize,
    pub(super) measured: Seconds,
}

/// The scene of every device on which kernels were measured, the one with the most time first.
pub(super) fn scenes(report: &Report<'_>) -> Vec<Scene> {
    let analysis = report.analysis;
    let mut timed: Vec<(Seconds, usize)> = (0..analysis.devices.len())
        .map(|device| (on(&analysis.kernels, device).map(|(_, one)| one.measured).sum(), device))
        .filter(|(time, _)| *time > Seconds::ZERO)
        .collect();
    timed.sort_by(|one, two| two.0.get().total_cmp(&one.0.get()).then(one.1.cmp(&two.1)));
    timed
        .into_iter()
        .map(|(_, device)| scene(&analysis.kernels, &analysis.devices, device, analysis.ceilings))
        .collect()
}

fn scene(kernels: &[Kernel], devices: &[DeviceUse], device: usize, set: CeilingSet) -> Scene {
    let mut points = Vec::new();
    let mut absent: Vec<Absent> = Vec::new();
    for (position, kernel) in on(kernels, device) {
        match point(position, kernel) {
            Ok(point) => points.push(point),
            Err(reason) => match absent.iter_mut().find(|known| known.reason == reason) {
                Some(known) => {
                    known.kernels += 1;
                    known.measured += kernel.measured;
                }
                None => absent.push(Absent { reason, kernels: 1, measured: kernel.measured }),
            },
        }
    }
    absent.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
    let known = devices.get(device).and_then(|device| device.device.as_ref());
    let (memory, compute) = roofs(kernels, device, &points, known, set);
    Scene { device, memory, compute, points, absent }
}

/// Intensity and rate of a kernel, if it lies anywhere.
pub(super) fn place(kernel: &Kernel) -> Option<(f64, f64)> {
    point(0, kernel).ok().map(|point| (point.intensity, point.rate))
}

/// Why a kernel lies nowhere, if it does.
pub(super) fn absence(kernel: &Kernel) -> Option<&'static str> {
    point(0, kernel).err()
}

/// Where a kernel lies, or why it lies nowhere on logarithmic axes.
fn point(position: usize, kernel: &Kernel) -> Result<Point, &'static str> {
    if kernel.state == State::NotRoofline {
        return Err("copies and communication");
    }
    // What was counted of them says where they lie as little as how fast they could be.
    if kernel.state == State::NotEnoughData && kernel.modeled > Seconds::ZERO {
        return Err("main work not counted");
    }
    if kernel.modeled <= Seconds::ZERO {
        return Err("not measured, or not modeled");
    }
    let busiest = kernel
        .work
        .iter()
        .filter(|work| work.operations > Flops::ZERO)
        .max_by(|one, two| one.time.get().total_cmp(&two.time.get()));
    let Some(work) = busiest else {
        return Err("no operations counted");
    };
    let Some(bytes) = kernel.bytes else {
        return Err("no bytes counted");
    };
    if bytes <= Bytes::ZERO {
        return Err("no traffic to device memory");
    }
    if kernel.is_partly_counted() {
        return Err("not counted in all launches");
    }
    let per = |bytes: Bytes| (work.operations / bytes).get();
    let levels = kernel.traffic().filter(|traffic| traffic.bytes > Bytes::ZERO);
    Ok(Point {
        kernel: position,
        pipe: work.pipe,
        intensity: per(bytes),
        rate: (work.operations / kernel.modeled).get(),
        levels: levels.map(|traffic| (traffic.level, per(traffic.bytes))).collect(),
    })
}

fn roofs(
    kernels: &[Kernel],
    device: usize,
    points: &[Point],
    known: Option<&Device>,
    set: CeilingSet,
) -> (Vec<Roof<MemoryLevel>>, Vec<Roof<Pipe>>) {
    let of_memory = known.and_then(|known| {
        Some(known.achievable_bandwidth()?.value / known.memory.bandwidth.as_ref()?.value)
    });
    let mut memory: Vec<Roof<MemoryLevel>> = bandwidths(kernels, device)
        .iter()
        .map(|range| {
            // Only DRAM is held against what is achievable; the bandwidths of caches are as they are.
            let share = of_memory.filter(|_| range.0 == MemoryLevel::Dram);
            roof(range, share, set)
        })
        .collect();
    memory.sort_by_key(|roof| (roof.kind != MemoryLevel::Dram, roof.kind));
    let is_drawn = |pipe: Pipe| points.iter().any(|point| point.pipe == pipe);
    let mut compute: Vec<Roof<Pipe>> = peaks(kernels, device)
        .iter()
        .filter(|(pipe, _, _)| is_drawn(*pipe))
        .map(|range| {
            let share = known.and_then(|known| {
                Some(known.achievable_peak(range.0)?.value / known.peak(range.0)?.value)
            });
            roof(range, share, set)
        })
        .collect();
    compute.sort_by(|one, two| {
        two.theoretical.total_cmp(&one.theoretical).then(one.kind.cmp(&two.kind))
    });
    (memory, compute)
}

/// Kernels are held against one side, theoretical or achievable; the share leads to the other.
fn roof<Kind>(
    (kind, least, greatest): (Kind, f64, f64),
    share: Option<f64>,
    set: CeilingSet,
) -> Roof<Kind> {
    match (set, share) {
        (CeilingSet::Achievable, Some(share)) => Roof {
            kind,
            theoretical: greatest / share,
            achievable: Some(greatest),
            lowest: least / share,
        },
        _ => Roof {
            kind,
            theoretical: greatest,
            achievable: share.map(|share| greatest * share),
            lowest: least,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};
    use crate::session::Session;

    /// What was counted of a product on tensor cores is only what its CUDA cores did beside.
    #[test]
    fn a_kernel_whose_main_work_was_not_counted_lies_nowhere() {
        let absent = |name: &str| {
            let table = format!(
                "source,source_format,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                 dram_bytes,flops_fp32_vector\nrun,ncu-wide,{name},0,1,4096,4096,256,400e-6,6.16e6,1e6\n"
            );
            let profile = read_text("table.csv", table.leak(), &Options::default()).unwrap();
            let session = Session::default().on(Some("A100 SXM4 40GB".to_owned()));
            absence(&session.analyze(&profile).unwrap().kernels[0])
        };
        let product = "cutlass_tensorop_s1688fprop_optimized_tf32_64x64_32x5_nhwc";
        assert_eq!(absent(product), Some("main work not counted"));
        assert_eq!(absent("saxpy"), None);
    }
}
