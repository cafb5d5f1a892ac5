//! Effects of tiling on a matrix product: padded work, waves of blocks, traffic from L2.

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Arguments;
use super::count::{Count, Product};
use super::error::PredictError;
use super::options::MOST_THREADS;
use super::pipes::PipeTime;
use crate::catalog::{Device, Limits};
use crate::model::Precision;
use crate::roofline;
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, Seconds};

/// A matrix product cut into tiles, one block for each tile of the result.
///
/// The model of NVIDIA's *Matrix Multiplication Background User's Guide*: tile and wave
/// quantization. Registers and shared memory of a block are estimates: the accumulators and 64
/// registers more per thread, and three stages of A and B tiles (two before compute capability 8).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Tiling {
    /// Rows of a tile of the result.
    pub tile_m: f64,
    /// Columns of a tile.
    pub tile_n: f64,
    /// Depth of one step.
    pub tile_k: f64,
    /// Blocks that share a tile along k.
    pub split_k: f64,
    /// Threads per block.
    pub threads: u32,
    /// Blocks in the grid.
    pub blocks: u64,
    /// Resident blocks per SM; `None` if the device's limits are unknown.
    pub resident_per_sm: Option<u32>,
    /// Grid over the blocks resident on the whole device.
    pub waves: Option<f64>,
    /// Share of the device in use if every wave takes equally long; `None` up to one wave, where it
    /// is meaningless.
    pub wave_efficiency: Option<f64>,
    /// Share of the device in use if an SM's speed does not depend on how many blocks it holds;
    /// it depends on the grid and the SMs only.
    pub sm_efficiency: Option<f64>,
    /// Operations with padding to whole tiles, as counters report them.
    #[serde(rename = "executed_flop")]
    pub executed: Flops,
    /// Share of the executed operations that is padding.
    pub waste: f64,
    /// Partial results of a split k, written and read.
    pub workspace_bytes: Bytes,
    /// Traffic between L2 and SMs, in bytes.
    pub l2_bytes: Bytes,
    /// Useful operations per byte from L2.
    #[serde(rename = "l2_intensity_flop_per_byte")]
    pub l2_intensity: FlopsPerByte,
    /// Least time of the traffic from L2; `None` if the bandwidth is unknown.
    #[serde(rename = "t_l2_s")]
    pub t_l2: Option<Seconds>,
    /// Roofline time with padding and the lower estimate of the tail.
    #[serde(rename = "least_time_s")]
    pub least_time: Seconds,
    /// Roofline time with padding and the upper estimate of the tail.
    #[serde(rename = "most_time_s")]
    pub most_time: Seconds,
}

/// Returns the intensity between L2 and SMs that output tiles of this size approach for large
/// products: each panel of an operand is read once per row or column of tiles.
#[must_use]
pub fn l2_intensity(tile_m: f64, tile_n: f64, element_bytes: f64) -> FlopsPerByte {
    FlopsPerByte::new(2.0 * tile_m * tile_n / (element_bytes * (tile_m + tile_n)))
}

/// Registers per thread besides its accumulators: addresses, and operands in flight.
const OTHER_REGISTERS: f64 = 64.0;

/// Bytes of an element of a split product's workspace: partial sums are FP32.
const WORKSPACE_ELEMENT: f64 = 4.0;

impl Tiling {
    /// Checks that a GPU can launch what the tiling of a product asks for.
    pub(super) fn check(count: &Count, given: &Arguments) -> Result<(), PredictError> {
        /// A compute unit of CDNA holds 40 waves, an SM at most 32 blocks.
        const MOST_RESIDENT: f64 = 40.0;
        let Some(Product { k, .. }) = count.product else { return Ok(()) };
        let above =
            |key: &'static str, most: f64| given.optional(key).filter(|value| *value > most);
        if let Some(threads) = above("threads", MOST_THREADS as f64) {
            let message = format!("threads={threads}: a block has at most {MOST_THREADS} threads");
            return Err(given.misfit(message));
        }
        if let Some(resident) = above("resident", MOST_RESIDENT) {
            let message =
                format!("resident={resident}: an SM holds at most {MOST_RESIDENT} blocks");
            return Err(given.misfit(message));
        }
        if let Some(slices) = Some(given.number("split_k")).filter(|slices| *slices > k) {
            return Err(
                given.misfit(format!("split_k={slices}: there are {k} steps of k to split"))
            );
        }
        Ok(())
    }

    /// Estimates the tiling of a count that is a matrix product.
    pub(super) fn of(
        count: &Count,
        given: &Arguments,
        device: &Device,
        pipe: &PipeTime,
        bandwidth: BytesPerSecond,
    ) -> Option<Self> {
        let product = count.product?;
        let Product { batch, m, n, k, .. } = product;
        let or = |key, automatic: f64| given.optional(key).unwrap_or(automatic);
        let tile_m = or("tile_m", if m <= 64.0 { 64.0 } else { 128.0 });
        let tile_n = or("tile_n", if n <= 64.0 { 64.0 } else { 128.0 });
        let tile_k = or("tile_k", (1024.0 / product.a.bits()).log2().round().exp2().max(1.0));
        let split_k = given.number("split_k");
        let threads = or("threads", if tile_m * tile_n < 128.0 * 128.0 { 128.0 } else { 256.0 });
        let (rows, columns) = ((m / tile_m).ceil(), (n / tile_n).ceil());
        let depth = split_k * ((k / split_k).ceil() / tile_k).ceil() * tile_k;
        let padded = batch * rows * tile_m * columns * tile_n * depth;
        let per_step = pipe.operations / Flops::new(batch * m * n * k);
        let executed = Flops::new(per_step * padded + (split_k - 1.0) * batch * m * n);
        let partial = if split_k > 1.0 { split_k * batch * m * n * WORKSPACE_ELEMENT } else { 0.0 };
        let (panels_a, panels_b) =
            (columns / given.number("cluster_n"), rows / given.number("cluster_m"));
        let l2_bytes = Bytes::new(
            batch
                * (product.a.bytes() * m * k * panels_a.max(1.0)
                    + product.b.bytes() * k * n * panels_b.max(1.0)
                    + product.d.bytes() * m * n),
        );
        let threads = whole(threads);
        let blocks = whole_blocks(batch.ceil() * rows * columns * split_k);
        let resident = given.optional("resident").map(whole).or_else(|| {
            resident(device, threads, tile_m * tile_n, (tile_m + tile_n) * tile_k, product, pipe)
        });
        let waves = device.sms.zip(resident).map(|(sms, b)| roofline::waves(blocks, sms, b));
        let wave_efficiency = device.sms.zip(resident).filter(|_| waves > Some(1.0));
        let wave_efficiency =
            wave_efficiency.map(|(sms, b)| roofline::wave_efficiency(blocks, sms, b));
        let sm_efficiency = device.sms.map(|sms| roofline::sm_efficiency(blocks, sms, 1));
        let math = roofline::math_time(executed, pipe.peak);
        let workspace_bytes = Bytes::new(2.0 * partial);
        let memory = roofline::memory_time(count.bytes() + workspace_bytes, bandwidth);
        let least = sm_efficiency.unwrap_or(1.0);
        let time = |efficiency: f64| roofline::roofline_time(memory, math / efficiency);
        Some(Self {
            tile_m,
            tile_n,
            tile_k,
            split_k,
            threads,
            blocks,
            resident_per_sm: resident,
            waves,
            wave_efficiency,
            sm_efficiency,
            executed,
            waste: roofline::excess_fraction(executed.get(), pipe.operations.get()),
            workspace_bytes,
            l2_bytes,
            l2_intensity: pipe.operations / l2_bytes,
            t_l2: device.l2_bandwidth.as_ref().map(|l2| l2_bytes / l2.value),
            least_time: time(least),
            most_time: time(wave_efficiency.map_or(least, |wave| wave.min(least))),
        })
    }
}

/// Returns the blocks that fit on one SM.
fn resident(
    device: &Device,
    threads: u32,
    outputs: f64,
    stage_elements: f64,
    product: Product,
    pipe: &PipeTime,
) -> Option<u32> {
    let limits = device.limits()?;
    let words = if pipe.pipe.precision() == Precision::Fp64 { 2.0 } else { 1.0 };
    let parts = if product.a.is_complex() { 2.0 } else { 1.0 };
    let registers = outputs * words * parts / f64::from(threads) + OTHER_REGISTERS;
    let registers = whole(registers.ceil()).min(limits.max_registers_per_thread);
    let taken = limits.shared_bytes_taken(staged(limits, stage_elements * product.a.bytes()));
    Some(limits.resident_blocks(threads, registers, taken).unwrap_or(1))
}

/// Returns the shared memory of a block: three stages with asynchronous copies (the devices that
/// reserve shared memory for the system are those that have them), else two, and fewer if they do
/// not fit.
fn staged(limits: &Limits, stage: f64) -> u32 {
    let most = f64::from(limits.shared_kib_per_block_optin) * 1024.0;
    let stages = if limits.reserved_shared_bytes_per_block > 0 { 3.0 } else { 2.0 };
    let fitting = (most / stage).floor().clamp(1.0, stages);
    whole((fitting * stage).min(most))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn whole(value: f64) -> u32 {
    value.ceil() as u32
}

/// The cast saturates, far beyond any grid.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole_blocks(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Prediction, form, predict};
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    fn tried(device: &str, call: &str) -> Result<Prediction, PredictError> {
        let device = Catalog::builtin().find(device, &DeviceHint::default()).unwrap();
        let (name, pairs) = call.split_once(' ').unwrap();
        let given = Arguments::parse(form(name).unwrap(), pairs.split(' ')).unwrap();
        predict(&given, &device, &Options::default())
    }

    fn predicted(device: &str, call: &str) -> Prediction {
        tried(device, call).unwrap()
    }

    #[test]
    fn what_no_gpu_can_launch_is_refused() {
        for (option, why) in [
            ("threads=2048", "a block has at most 1024 threads"),
            ("resident=41", "an SM holds at most 40 blocks"),
            ("split_k=65", "there are 64 steps of k to split"),
        ] {
            let error = tried("L4", &format!("gemm m=64 n=64 k=64 {option}")).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn padding_is_executed_and_counted_apart() {
        let one_row = predicted("A100 SXM4 80GB", "gemm m=1 n=6912 k=5120");
        let tiling = one_row.tiling.unwrap();
        assert_eq!((tiling.tile_m, tiling.tile_n, tiling.tile_k), (64.0, 128.0, 64.0));
        assert_eq!(tiling.executed, Flops::new(4_529_848_320.0));
        assert_eq!(tiling.waste, 1.0 - 1.0 / 64.0);
        assert_eq!(one_row.operations, Flops::new(2.0 * 6912.0 * 5120.0));
    }

    #[test]
    fn a_grid_one_block_beyond_a_wave_shows_both_estimates() {
        // 108 SMs: 109 tiles of 128 rows.
        let tiling = predicted("A100 SXM4 80GB", "gemm m=13952 n=128 k=4096 resident=1");
        let tiling = tiling.tiling.unwrap();
        assert_eq!(tiling.blocks, 109);
        let efficiency = 109.0 / 216.0;
        assert!((tiling.wave_efficiency.unwrap() - efficiency).abs() < 1e-12);
        assert!((tiling.sm_efficiency.unwrap() - efficiency).abs() < 1e-12);
        assert!(tiling.most_time >= tiling.least_time);
    }

    #[test]
    fn occupancy_follows_from_registers_and_shared_memory_or_is_not_known() {
        let resident = |device, call: &str| predicted(device, call).tiling.unwrap().resident_per_sm;
        // 96 KiB of stages: one block in 164 KiB, two in 228 KiB.
        assert_eq!(resident("A100 SXM4 80GB", "gemm m=4096 n=4096 k=4096"), Some(1));
        assert_eq!(resident("H100 SXM5 80GB", "gemm m=4096 n=4096 k=4096"), Some(2));
        assert_eq!(resident("H100 SXM5 80GB", "gemm m=64 n=64 k=4096"), Some(4));
        assert_eq!(resident("Instinct MI300X", "gemm m=4096 n=4096 k=4096"), None);
        assert_eq!(resident("Instinct MI300X", "gemm m=64 n=64 k=64 resident=3"), Some(3));
    }

    #[test]
    fn a_split_product_moves_its_partial_sums_and_fills_the_device() {
        let whole = predicted("A100 SXM4 80GB", "gemm m=128 n=128 k=65536").tiling.unwrap();
        let split = predicted("A100 SXM4 80GB", "gemm m=128 n=128 k=65536 split_k=32");
        let split = split.tiling.unwrap();
        assert_eq!((whole.blocks, split.blocks), (1, 32));
        assert_eq!(split.workspace_bytes, Bytes::new(2.0 * 32.0 * 128.0 * 128.0 * 4.0));
        assert_eq!(split.executed - whole.executed, Flops::new(31.0 * 128.0 * 128.0));
        assert!(split.most_time < whole.most_time);
    }

    #[test]
    fn tiles_set_the_intensity_from_l2() {
        assert_eq!(l2_intensity(128.0, 128.0, 2.0), FlopsPerByte::new(64.0));
        assert_eq!(l2_intensity(256.0, 256.0, 2.0), FlopsPerByte::new(128.0));
        assert_eq!(l2_intensity(64.0, 64.0, 2.0), FlopsPerByte::new(32.0));
        let large = predicted("A100 SXM4 80GB", "gemm m=8192 n=8192 k=65536").tiling.unwrap();
        assert!((large.l2_intensity.get() / 64.0 - 1.0).abs() < 1e-2);
        assert!(large.t_l2.is_some());
        let call = "gemm m=8192 n=8192 k=65536 cluster_m=2 cluster_n=2";
        let clusters = predicted("A100 SXM4 80GB", call).tiling.unwrap();
        assert!((clusters.l2_intensity.get() / 128.0 - 1.0).abs() < 1e-2);
    }
}
