//! Which roof a launch is compared with.

use rooflint::analysis::{self, CeilingSet, Kernel, Options, State};
use rooflint::catalog::Catalog;
use rooflint::ingest;
use rooflint::units::{FlopsPerByte, Seconds};

/// One launch of 10⁹ bytes in 1 ms at the rated 1.41 GHz of an A100 of 1.555 TB/s, whose memory runs at most at 1.215 GHz by the export.
fn judged(kernel: &str, figures: &[(&str, &str)]) -> Kernel {
    let (columns, cells): (Vec<&str>, Vec<&str>) = figures.iter().copied().unzip();
    let text = format!(
        "source,kernel,device,device_ordinal,launches,grid_x,threads_per_block,device_max_memory_clock_hz,duration_s,\
         sm_clock_hz,dram_bytes,{}\n\
         run.csv,\"{kernel}\",A100 PCIe 40GB,0,1,8640,256,1.215e9,1e-3,1.41e9,1e9,{}\n",
        columns.join(","),
        cells.join(",")
    );
    let profile = ingest::read_text("launches.csv", &text, &ingest::Options::default()).unwrap();
    let options = Options::default();
    analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap().kernels.remove(0)
}

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

/// Nsight Compute counts cycles in one pass and time in another: of a short launch, their ratio can be a clock that the
/// memory does not have, and a peak that it cannot reach. 1.6 TB/s at 1.25 GHz are 1.5552 TB/s at 1.215 GHz:
/// 10⁹ B ÷ 1.5552 TB/s = 643 µs.
#[test]
fn a_peak_above_the_memory_clock_of_the_device_is_capped() {
    let memory = |clock: &str| {
        let figures = [("dram_clock_hz", clock), ("peak_dram_bytes_per_s", "1.6e12")];
        judged("copy_kernel", &figures).memory_time.map(Seconds::get)
    };
    near(memory("1.25e9"), 1e9 / 1.5552e12);
    // Below its highest clock the memory has the peak of that clock.
    near(memory("1.2e9"), 1e9 / 1.6e12);
    // A profiler that counts two cycles for one of the driver's says nothing of its clock.
    near(memory("2.43e9"), 1e9 / 1.6e12);
    near(memory(""), 1e9 / 1.6e12);
}

/// Where the precision is not known, a product may have run on tensor cores, at 312 TFLOP/s. An elementwise kernel
/// multiplies no matrices: the fastest that it can have had are the 78 TFLOP/s of packed FP16. Ridge points at
/// 1.555 TB/s: 201 and 50 FLOP/B.
#[test]
fn work_of_unstated_precision_runs_on_lanes_unless_it_may_multiply_matrices() {
    let work = [("flops_unstated", "1e9")];
    let elementwise = judged("void at::native::vectorized_elementwise_kernel<4>(int)", &work);
    near(elementwise.math_time.map(Seconds::get), 1e9 / 78e12);
    near(elementwise.ridge_point().map(FlopsPerByte::get), 78e12 / 1.555e12);
    for kernel in ["ampere_gemm_128x128_nn", "something_else"] {
        let product = judged(kernel, &work);
        near(product.math_time.map(Seconds::get), 1e9 / 312e12);
        near(product.ridge_point().map(FlopsPerByte::get), 312e12 / 1.555e12);
    }
}

/// 1 GB was written; what was read was not counted. Data moved in 89.5% of the cycles of 1 ms, so its bytes take 895 µs,
/// not 643.
#[test]
fn of_bytes_counted_in_part_the_activity_says_more() {
    let whole = [("dram_active", "0.895"), ("dram_bytes_low", "1")];
    let kernel = judged("k", &whole);
    near(kernel.memory_time.map(Seconds::get), 0.895e-3);
    near(judged("k", &[("dram_active", "0.895")]).memory_time.map(Seconds::get), 1e9 / 1.555e12);
}

/// A product of unknown precision on an A100, which multiplies FP32 at 19.5 TFLOP/s without tensor cores: 19 GFLOP in
/// 1 ms are near that roof. 40 GFLOP are above it, so that it ran on a faster pipe, of which the fastest takes 0.128 ms.
#[test]
fn what_beats_the_roof_of_fp32_is_not_near_it() {
    let product = |operations: &str| {
        let text = format!(
            "source,kernel,device,device_ordinal,launches,grid_x,threads_per_block,duration_s,sm_clock_hz,dram_bytes,\
             flops_unstated\nrun.csv,my_gemm,A100 PCIe 40GB,0,1,8640,256,1e-3,1.41e9,1e6,{operations}\n"
        );
        let profile =
            ingest::read_text("launches.csv", &text, &ingest::Options::default()).unwrap();
        let found = analysis::analyze(&profile, &Catalog::builtin(), &Options::default()).unwrap();
        let kernel = &found.kernels[0];
        (kernel.state, kernel.meaning())
    };
    let (state, meaning) = product("19e9");
    assert_eq!(state, State::NearRoofline);
    assert!(meaning.starts_with("at its roof if it computes in FP32"), "{meaning}");
    assert_eq!(product("40e9").0, State::Possible);
    // 0.96 ms of 16-bit work.
    let (state, meaning) = product("300e9");
    assert_eq!(state, State::NearRoofline);
    assert!(meaning.starts_with("at its roof if its work is 16-bit"), "{meaning}");
}

/// L2 is busy for 0.8 ms of 1 ms with traffic that it serves. With more math than memory time its operations judge it, and
/// the words are of L2, not of latency.
#[test]
fn a_kernel_that_l2_holds_up_is_not_said_to_wait() {
    let judged = |operations: &str| {
        let text = format!(
            "source,kernel,device,device_ordinal,launches,grid_x,threads_per_block,duration_s,sm_clock_hz,dram_bytes,\
             l2_bytes,peak_l2_bytes_per_s,flops_fp64_vector,flops_fp32_vector,flops_fp16_vector,flops_fp16_matrix\n\
             run.csv,gather,A100 PCIe 40GB,0,1,8640,256,1e-3,1.41e9,1e8,3.2e9,4e12,0,{operations},0,0\n"
        );
        let profile =
            ingest::read_text("launches.csv", &text, &ingest::Options::default()).unwrap();
        let options = Options { ceilings: Some(CeilingSet::MeasuredClock), ..Options::default() };
        let kernel = analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap();
        (kernel.kernels[0].state, kernel.kernels[0].meaning())
    };
    for operations in ["0", "1e9"] {
        assert_eq!(judged(operations).0, State::CacheResident, "{operations}");
    }
    // 72 µs of math, 64 of memory.
    let (state, meaning) = judged("1.4e9");
    assert_eq!(state, State::Flagged);
    assert!(
        meaning.starts_with("compute-bound, but reaches only 7% of the fp32 roof; L2 is 80% busy"),
        "{meaning}"
    );
}
