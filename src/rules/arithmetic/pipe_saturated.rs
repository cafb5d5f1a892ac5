//! Notes kernels that fill a pipe of the multiprocessors, and says which.

use crate::model::Quantity;
use crate::rules::engine::pipes::PIPES;
use crate::rules::{Check, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "pipe-saturated",
    summary: "one SM pipe is saturated",
    documentation: "\
## What it finds
Kernels that use one pipe of the SMs nearly all the time.

## Why it costs time
Time follows the fullest pipe. Where that pipe does no math (load/store, ALU, special functions),
it explains why FLOP/s stay low although the SMs are busy.

## Detection
A pipe (tensor, FMA, FP64, FP16, ALU, XU, load/store) is at least `busy`; the fullest is named.
Where one of them was not measured, none is known to be full only if the SMs are less than `busy`.

## Remedy
A full math pipe means a kernel near its roof: reduce operations or change the format. Full
load/store pipe: wider accesses, register tiling. Full ALU: simpler index arithmetic. Full XU:
fewer special functions.

## False positives
Utilization counts wasted work too: a pipe may be full of unnecessary work. The finding is
informational and claims no savings.

## Sources
`HighPipeUtilization.py` of Nsight Compute (80%); *Nsight Compute Profiling Guide*, \"Pipelines\".
",
    thresholds: &[USED],
    silences: &[],
    check: Check::Kernel(check),
};

const USED: Threshold =
    Threshold::new("busy", 0.80, "1", "Nsight Compute calls a pipe highly utilized from here");

fn check(subject: &Subject<'_>) -> Judgment {
    let Some((pipe, used)) = subject.busiest_pipe() else {
        return Err(Missing("sm__inst_executed_pipe_*.avg.pct_of_peak_sustained_elapsed"));
    };
    let busy = subject.threshold(&USED);
    if used < busy {
        // Speed-of-light of the multiprocessors is that of their busiest part.
        let is_idle = subject.get(Quantity::SmThroughput).is_some_and(|sm| sm < busy);
        // Where halves run on the FMA pipe, exports have no FP16 pipe.
        let mut others = PIPES.iter().filter(|pipe| pipe.quantity != Quantity::PipeFp16);
        let unseen = others.find(|pipe| subject.get(pipe.quantity).is_none());
        return match unseen {
            Some(pipe) if !is_idle => Err(Missing(pipe.metric)),
            _ => Ok(None),
        };
    }
    let meaning = if pipe.computes {
        "the kernel computes as fast as this pipe allows"
    } else {
        "it executes no multiplications and additions"
    };
    let message = format!("the {} pipe is {} busy: {meaning}", pipe.name, whole_percent(used));
    let finding = subject.info(message).next(if pipe.computes {
        "reduce the operations, or use a data type with a faster pipe"
    } else {
        "reduce instructions on this pipe; multiplications and additions are not the limit"
    });
    let finding = PIPES.iter().fold(finding, |finding, pipe| {
        let name = format!("{} pipe utilization", pipe.name);
        finding.evidence_if(name, subject.get(pipe.quantity), "1")
    });
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Severity;
    use crate::rules::engine::bench_table::kernel;

    #[test]
    fn the_fullest_pipe_is_named() {
        let of = |lsu, fma| {
            let kernel = kernel("my_kernel", 1000.0).bytes(1e8);
            kernel.set(Quantity::PipeLsu, lsu).set(Quantity::PipeFma, fma)
        };
        let found = of(0.9, 0.85).found(&RULE);
        assert_eq!((found.severity, found.evidence.len()), (Severity::Info, 2));
        assert!(
            found.message.starts_with("the load/store pipe is 90% busy: it executes no"),
            "{}",
            found.message
        );
        assert!(of(0.5, 0.81).found(&RULE).message.contains("as fast as this pipe allows"));
        let idle = |sm| of(0.79, 0.2).set(Quantity::SmThroughput, sm);
        assert!(idle(0.79).is_fine(&RULE));
        assert_eq!(idle(0.81).lacks(&RULE), PIPES[0].metric);
        let bare = kernel("my_kernel", 1000.0).bytes(1e8).set(Quantity::SmThroughput, 0.81);
        let all = PIPES.iter().fold(bare, |kernel, pipe| kernel.set(pipe.quantity, 0.79));
        assert!(all.is_fine(&RULE));
    }

    #[test]
    fn without_utilization_it_cannot_judge() {
        assert!(kernel("my_kernel", 1000.0).bytes(1e8).lacks(&RULE).contains("pipe_*"));
    }
}
