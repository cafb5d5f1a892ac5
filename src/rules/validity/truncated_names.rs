//! Tells that kernel names were cut, so that they do not say what the kernels do.

use crate::analysis::Kernel;
use crate::model::Profiler;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "truncated-names",
    summary: "kernel names are truncated and do not show the operation",
    documentation: "\
## What it finds
Names without the template arguments that show the operation, and names cut off in the middle.

## Why it costs time
No time is lost, but different operations are added up under one name, and what names usually show
(data types, tensor cores, operation) is missing.

## Detection
Wrappers such as `vectorized_elementwise_kernel`, `reduce_kernel` or `cutlass::Kernel` without
template arguments, and names whose brackets do not close, take `share` of the run or more.

## Remedy
Use `--print-kernel-base demangled` with Nsight Compute, `table(max_name_column_width=1000)` with
`key_averages()`, a report without `:base` with `nsys stats`, or the trace itself.

## False positives
A kernel of your own with the name of one of the wrappers.

## Sources
*Nsight Compute CLI*, `--print-kernel-base`; PyTorch sources, `ATen/native/cuda/CUDALoops.cuh`.
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "a smaller share is not worth another profile");

/// Kernels that do whatever their template arguments say.
const WRAPPERS: &[&str] = &[
    "vectorized_elementwise_kernel",
    "unrolled_elementwise_kernel",
    "elementwise_kernel",
    "elementwise_kernel_with_index",
    "index_elementwise_kernel",
    "legacy_elementwise_kernel",
    "reduce_kernel",
    "multi_tensor_apply_kernel",
    "Kernel",
    "Kernel2",
    "device_kernel",
    "DeviceReduceKernel",
    "DeviceReduceSingleTileKernel",
    "_kernel_agent",
];

fn is_cut(kernel: &Kernel) -> bool {
    let name = kernel.full_name.trim();
    // Arrows and operators are no brackets.
    if name.is_empty() || name.contains("operator") {
        return false;
    }
    let plain = name.replace("->", "");
    let count = |bracket: char| plain.matches(bracket).count();
    if count('<') > count('>') || count('(') > count(')') || plain.ends_with("...") {
        return true;
    }
    let head = plain.split('(').next().unwrap_or_default().trim();
    let last = head.rsplit([':', ' ']).next().unwrap_or_default();
    !head.contains('<') && WRAPPERS.contains(&last)
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let cut = Together::of(run, is_cut)?;
    if cut.kernels.is_empty() || cut.share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    let finding = cut
        .finding(run, format!("names that do not show the operation: {}", cut.words()))
        .severity(Severity::Info)
        .confidence(Confidence::Medium)
        .evidence("kernels", cut.kernels.len() as f64, "1")
        .next(format!("export again with full names: {}", how(run)));
    Ok(vec![finding])
}

/// How the profilers of the run print whole names.
fn how(run: &Run<'_>) -> &'static str {
    let mut sources = run.analysis.sources.iter();
    if sources.clone().any(|source| source.format == "pytorch-averages") {
        return "table(max_name_column_width=1000), or export_chrome_trace(\"trace.json.gz\")";
    }
    match sources.next().map(|source| source.profiler) {
        Some(Profiler::NsightSystems) => "a report of nsys stats without :base",
        Some(Profiler::PyProf) => "PyProf shortens names, nsys stats shows them whole",
        Some(Profiler::NsightCompute) | None => "--print-kernel-base demangled",
        Some(_) => "by the profiler's option for demangled names",
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "truncated-names";

    #[test]
    fn tells_wrappers_without_arguments_and_open_brackets() {
        for name in [
            "vectorized_elementwise_kernel",
            "cutlass::Kernel",
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float",
        ] {
            let found = h100().launch(name, (1000, 256), (1, 1000.0), &[]).found(RULE);
            assert!(found.message.ends_with("100.0% of the run"), "{name}: {}", found.message);
        }
    }

    #[test]
    fn stays_quiet_on_whole_names() {
        for name in [
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, \
             at::detail::Array<char*, 1> >(int)",
            "ampere_sgemm_128x64_nn",
            "add(float*, float*)",
        ] {
            assert!(h100().launch(name, (1000, 256), (1, 1000.0), &[]).is_content(RULE), "{name}");
        }
    }
}
