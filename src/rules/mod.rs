//! Analysis → findings: one rule per file, each a pure check of one kernel or of the whole run.
//!
//! To add a rule: one file with documentation and a `RULE` constant, one line in the list below.
//! A rule cannot judge ([`Missing`]), is content, or speaks; all three are counted.

#![allow(clippy::unnecessary_wraps, reason = "the checks of all rules have one signature")]

mod arithmetic;
#[cfg(test)]
mod bench_figures;
#[cfg(test)]
mod bench_launches;
#[cfg(test)]
mod bench_table;
mod caches;
mod check;
mod clocks;
mod custom;
mod finding;
mod latency;
mod rule;
mod run;
mod settings;
mod shares;
mod subject;

pub use check::{Findings, Tally, check};
pub use custom::{Custom, Expression, Fault, Over, Template, columns_page};
pub use finding::{Confidence, Evidence, Finding, Severity};
pub use rule::{Check, Judgement, Missing, Rule, Threshold};
pub use run::Run;
pub use settings::Settings;
pub use subject::{Stake, Subject, Unit};

pub(crate) use custom::{NOT_ESTIMATED, nearest};

macro_rules! rules {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        /// Every rule, in the order in which findings of equal weight are listed.
        pub const RULES: &[&Rule] = &[$(&$module::RULE),*];
    };
}

rules! {
    // launch and parallelism
    launch_bound,
    small_grid,
    tail_effect,
    insufficient_parallelism,
    block_size_not_warp_multiple,
    occupancy_limited,
    low_achieved_occupancy,
    sm_load_imbalance,
    low_issue_utilisation,
    warp_stalls,
    warp_divergence,
    predication_waste,
    // memory
    uncoalesced_access,
    misaligned_access,
    partial_dram_bursts,
    random_gather_bound,
    ecc_partial_writes,
    narrow_global_loads,
    redundant_dram_traffic,
    l2_bandwidth_bound,
    l1_bandwidth_bound,
    l2_fabric_traffic,
    l2_thrashing,
    compression_ineffective,
    dram_saturated,
    memory_latency_bound,
    sysmem_traffic,
    peer_traffic,
    atomic_contention,
    register_spills,
    local_arrays,
    shared_load_bank_conflicts,
    shared_store_bank_conflicts,
    shared_bandwidth_bound,
    // arithmetic
    gemm_on_cuda_cores,
    half_gemm_on_cuda_cores,
    fp64_in_single_precision_code,
    fp64_on_consumer_gpu,
    unaligned_gemm_dimensions,
    unaligned_gemm_kernel,
    tile_quantisation,
    low_tensor_utilisation,
    warp_mma_on_hopper,
    old_architecture_kernel,
    memory_bound_matmul,
    unfused_multiply_add,
    integer_address_overhead,
    special_function_bound,
    pipe_saturated,
    // the whole run
    many_tiny_launches,
    dtype_casts,
    layout_transforms,
    device_copies,
    memset_share,
    host_device_copies,
    unfused_optimizer,
    unfused_elementwise,
    communication_share,
    split_k_overhead,
    materialised_attention,
    convolution_layout_or_algorithm,
    // is the profile valid
    faster_than_roof,
    base_clock_profile,
    clock_throttled,
    device_mismatch,
    partial_gpu,
    mixed_devices,
    cold_cache_profile,
    coarse_timer,
    uncounted_work,
    unmodelled_share,
    missing_metrics,
    zero_means_unmodelled,
    modelled_bytes_faulty,
    algorithmic_only,
    truncated_names,
    sparse_work,
    unweighted_flop_metric,
    tensor_undercount,
    tensor_parent_peak,
    inconsistent_passes,
}

/// The rule of this name.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

#[cfg(test)]
mod tests {
    use super::{RULES, Rule};

    #[test]
    fn every_rule_is_documented_under_the_same_headings() {
        for rule in RULES {
            let mut rest = rule.documentation;
            for heading in Rule::HEADINGS {
                let at = rest.find(&format!("## {heading}\n"));
                let at = at.unwrap_or_else(|| panic!("{}: {heading}, in this order", rule.id));
                rest = &rest[at..];
            }
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || "-0123456789".contains(c)));
            for threshold in rule.thresholds {
                let is_said = rule.documentation.contains(&format!("`{}`", threshold.key));
                assert!(is_said, "{}: {} is not in its documentation", rule.id, threshold.key);
                assert!(!threshold.reason.is_empty(), "{}: {}", rule.id, threshold.key);
            }
        }
    }

    #[test]
    fn names_are_unique_and_like_their_files() {
        let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
    }
}
