//! The chapter to read next, by what limits a kernel and what it does.
//!
//! NVIDIA's assessment of a kernel (*GPU Performance Background*, "Summary") ends with the guide to the
//! kind of layer; where the layer is not the matter, another text has more to say. Chapters are named
//! and not linked: addresses change more often than titles.

use crate::analysis::{Explanation, Kernel, State};
use crate::roofline::{self, Limiter};
use crate::taxonomy::{Category, Class, Kind};

/// Share of the multiprocessors' time that idles in the last wave from which the grid is what to read
/// about; the threshold `lost` of the rule `tail-effect`.
const TAIL: f64 = 0.10;

/// The chapter for a kernel; none where no text is closer to the matter than the report itself.
pub(super) fn chapter(
    kernel: &Kernel,
    explanation: &Explanation,
    is_of_amd: bool,
) -> Option<&'static str> {
    match kernel.state {
        State::Flagged
        | State::NearRoofline
        | State::Fair
        | State::LowImpact
        | State::Possible
        | State::Waived => {}
        State::NotEnoughData if kernel.timed > 0 && kernel.lacks_roofs() => {
            return Some(NAME_THE_DEVICE);
        }
        state if is_of_amd => return by_state_on_amd(state, &kernel.class),
        state => return by_state(state, &kernel.class),
    }
    let (blocks, sms) = (kernel.shape.blocks, explanation.sms);
    let waves = blocks.zip(sms).zip(explanation.resident);
    // A grid of less than a wave has no tail: that is too little parallelism.
    let has_tail = waves.is_some_and(|((blocks, sms), resident)| {
        roofline::waves(blocks, sms, resident) > 1.0
            && 1.0 - roofline::sm_efficiency(blocks, sms, resident) >= TAIL
    });
    if is_of_amd {
        return Some(by_work_on_amd(kernel.limiter, has_tail));
    }
    Some(by_work(kernel.limiter, has_tail, &kernel.class))
}

/// Where what was counted has no roofs.
const NAME_THE_DEVICE: &str = "docs/guide.md of rooflint, \"Name the device\"";

/// Where the roofline does not apply, on a device of AMD.
fn by_state_on_amd(state: State, class: &Class) -> Option<&'static str> {
    match state {
        State::LaunchBound => Some("HIP documentation, \"Graphs\""),
        State::CacheResident => Some("ROCm Compute Profiler documentation, \"L2 cache (TCC)\""),
        State::NotRoofline if class.category == Category::Communication => {
            Some("RCCL documentation; PyTorch documentation, \"Distributed Data Parallel\"")
        }
        _ => by_state(state, class),
    }
}

/// What limits a kernel on a device of AMD, whose guidelines have no chapters on layers.
fn by_work_on_amd(limiter: Limiter, has_tail: bool) -> &'static str {
    match limiter {
        Limiter::Latency => "HIP documentation, \"Performance Guidelines\", \"Parallel execution\"",
        _ if has_tail => "HIP documentation, \"Performance Guidelines\", \"Parallel execution\"",
        _ => "HIP documentation, \"Performance Guidelines\"",
    }
}

/// Where the roofline does not apply.
fn by_state(state: State, class: &Class) -> Option<&'static str> {
    match state {
        State::LaunchBound => Some("NVIDIA technical blog, \"Getting Started with CUDA Graphs\""),
        State::CacheResident => {
            Some("Nsight Compute Profiling Guide, \"Memory Chart\" and \"Memory Tables\"")
        }
        State::FasterThanRoofline => {
            Some("docs/guide.md of rooflint, \"Name the device\" and \"Read the report\"")
        }
        State::NotEnoughData => Some("docs/guide.md of rooflint, \"Record a profile\""),
        State::NotRoofline if class.category == Category::Communication => {
            Some("NCCL documentation; PyTorch documentation, \"Distributed Data Parallel\"")
        }
        _ => None,
    }
}

/// What limits the kernel comes before what it does: too few blocks are the same matter in any layer.
fn by_work(limiter: Limiter, has_tail: bool, class: &Class) -> &'static str {
    let is_product = class.is_product();
    match limiter {
        _ if has_tail && is_product => {
            return "NVIDIA, Matrix Multiplication Background, \"Wave Quantization\"";
        }
        // The guide's picture of a grid that takes two waves, the second half empty.
        _ if has_tail => return "NVIDIA, GPU Performance Background, \"GPU Execution Model\"",
        Limiter::Latency => return "NVIDIA, GPU Performance Background, \"GPU Execution Model\"",
        Limiter::Memory | Limiter::Math | Limiter::Unknown => {}
    }
    if is_product && class.tensor == Some(false) {
        return "NVIDIA, Matrix Multiplication Background, \"Tensor Core Requirements\"";
    }
    match (class.category, class.kind) {
        (_, Some(Kind::ConvFprop | Kind::ConvDgrad | Kind::ConvWgrad | Kind::ConvDepthwise)) => {
            "NVIDIA, Convolutional Layers, \"How Convolution Parameters Affect Performance\""
        }
        (_, Some(Kind::Rnn | Kind::RnnCell)) => "NVIDIA, Recurrent Layers",
        (_, Some(Kind::Gemv)) => "NVIDIA, Linear/Fully-Connected Layers, \"Batch Size\"",
        (_, Some(Kind::Gemm)) if limiter == Limiter::Memory => {
            "NVIDIA, Linear/Fully-Connected Layers, \"Batch Size\""
        }
        (Category::DotProduct, _) => {
            "NVIDIA, Matrix Multiplication Background, \"Math And Memory Bounds\""
        }
        (_, Some(Kind::Batchnorm | Kind::Layernorm | Kind::Rmsnorm | Kind::Groupnorm)) => {
            "NVIDIA, Memory-Limited Layers, \"Normalization\""
        }
        (Category::Elementwise | Category::Reduction, _) => "NVIDIA, Memory-Limited Layers",
        (Category::DataMovement, _) => {
            "CUDA C++ Best Practices Guide, \"Coalesced Access to Global Memory\""
        }
        _ if limiter == Limiter::Memory => {
            "CUDA C++ Best Practices Guide, \"Memory Optimizations\""
        }
        _ => "NVIDIA, GPU Performance Background, \"Understanding Performance\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxonomy::Taxonomy;

    fn read(name: &str, limiter: Limiter, has_tail: bool) -> &'static str {
        by_work(limiter, has_tail, &Taxonomy::builtin().classify(name))
    }

    #[test]
    fn the_guide_is_that_of_the_layer() {
        let (memory, math) = (Limiter::Memory, Limiter::Math);
        for (name, limiter, guide) in [
            ("ampere_sgemm_128x64_nn", math, "\"Tensor Core Requirements\""),
            ("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn", math, "\"Math And Memory Bounds\""),
            ("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_tn", memory, "\"Batch Size\""),
            (
                "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn",
                math,
                "Convolutional Layers",
            ),
            ("vectorized_layer_norm_kernel<float>", memory, "\"Normalization\""),
            (
                "vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
                memory,
                "Memory-Limited Layers",
            ),
            ("transpose_naive_kernel<float>", memory, "\"Coalesced Access to Global Memory\""),
            ("some_name_of_nobody", memory, "\"Memory Optimizations\""),
            ("some_name_of_nobody", math, "\"Understanding Performance\""),
        ] {
            let found = read(name, limiter, false);
            assert!(found.contains(guide), "{name}: {found}");
        }
    }

    #[test]
    fn too_few_blocks_come_before_the_layer() {
        let name = "vectorized_layer_norm_kernel<float>";
        assert!(read(name, Limiter::Latency, false).ends_with("\"GPU Execution Model\""));
        assert!(read(name, Limiter::Memory, true).ends_with("\"GPU Execution Model\""));
        let product = "ampere_sgemm_128x64_nn";
        assert!(read(product, Limiter::Math, true).ends_with("\"Wave Quantization\""));
    }

    /// Nothing that is read on a device of AMD is about NVIDIA's.
    #[test]
    fn devices_of_amd_have_guides_of_their_own() {
        let nvidia = ["NVIDIA", "CUDA", "Nsight", "NCCL"];
        let class = Taxonomy::builtin().classify("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
        let states = [
            State::LaunchBound,
            State::CacheResident,
            State::FasterThanRoofline,
            State::NotEnoughData,
            State::NotRoofline,
        ];
        let limiters = [Limiter::Memory, Limiter::Math, Limiter::Latency, Limiter::Unknown];
        let texts = states.into_iter().filter_map(|state| by_state_on_amd(state, &class));
        let texts = texts.chain(limiters.map(|limiter| by_work_on_amd(limiter, false)));
        for text in texts {
            let text = text.replace("RCCL", "");
            assert!(!nvidia.iter().any(|word| text.contains(word)), "{text}");
        }
        assert!(by_work_on_amd(Limiter::Math, true).ends_with("\"Parallel execution\""));
    }

    #[test]
    fn chapters_of_our_own_exist() {
        let guide = include_str!("../../../docs/guide.md");
        let class = Taxonomy::builtin().classify("some_name_of_nobody");
        let states = [State::FasterThanRoofline, State::NotEnoughData];
        let texts = states.map(|state| by_state(state, &class).unwrap());
        for text in texts.into_iter().chain([NAME_THE_DEVICE]) {
            for title in text.split('"').skip(1).step_by(2) {
                assert!(guide.contains(&format!("\n## {title}\n")), "{title}");
            }
        }
    }
}
