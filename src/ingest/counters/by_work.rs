//! Launches of one kernel, grid and block that do other work: products of the same tiles over a longer inner dimension.
//!
//! The counters of one of them say nothing of another. Where the shapes of a trace tell such launches apart, each takes
//! the counters of launches that did as many operations.

use std::collections::HashSet;

use crate::model::{Profile, Quantity};

/// Amounts that differ by more than this factor are of other work. What tiles add at the edges, and what an epilogue adds
/// to a product, is less.
const OTHER: f64 = 1.25;

/// Launches of a trace, and the launches under Nsight Compute whose counters are theirs.
#[derive(Debug, PartialEq)]
pub(super) struct Fit {
    pub(super) hosts: Vec<usize>,
    /// None where the counters are of other work, or of which one is not known.
    pub(super) donors: Vec<usize>,
}

/// Returns the launches by their work, in the order of the rows; one group where all do the same, or nothing says what
/// they do.
pub(super) fn apart(profile: &Profile, hosts: &[usize], donors: &[usize]) -> Vec<Fit> {
    let all = || vec![Fit { hosts: hosts.to_vec(), donors: donors.to_vec() }];
    let operations = classes(hosts, |row| operations(profile, row));
    let by_operations = operations.len() > 1;
    let classes = if by_operations {
        operations
    } else {
        classes(hosts, |row| profile.launches.value(row, Quantity::DramBytes))
    };
    if classes.len() < 2 {
        return all();
    }
    let fits = |donor: usize, class: &Class| {
        let counted = self::operations(profile, donor);
        // Bytes that follow from shapes are the least, and what was moved says nothing of them.
        by_operations && counted.is_some_and(|counted| class.holds(counted))
    };
    let of = |class: &Class| {
        let own = donors.iter().copied().filter(|donor| {
            fits(*donor, class) && classes.iter().filter(|one| fits(*donor, one)).count() == 1
        });
        own.collect()
    };
    let known = classes.iter().map(|class| Fit { hosts: class.hosts.clone(), donors: of(class) });
    let known: Vec<Fit> = known.collect();
    let is_known: HashSet<usize> = known.iter().flat_map(|fit| fit.hosts.iter().copied()).collect();
    let unknown: Vec<usize> = hosts.iter().filter(|row| !is_known.contains(row)).copied().collect();
    let unknown = (!unknown.is_empty()).then(|| Fit { hosts: unknown, donors: Vec::new() });
    known.into_iter().chain(unknown).collect()
}

/// Whether each launch did as many operations as the one that it is paired with, where both are known.
pub(super) fn agree(profile: &Profile, hosts: &[usize], donors: &[usize]) -> bool {
    let is_alike = |(host, donor): (&usize, &usize)| {
        let both = operations(profile, *host).zip(operations(profile, *donor));
        both.is_none_or(|(one, two)| one <= two * OTHER && two <= one * OTHER)
    };
    hosts.iter().zip(donors).all(is_alike)
}

/// Launches whose amounts are alike.
#[derive(Debug)]
struct Class {
    least: f64,
    most: f64,
    hosts: Vec<usize>,
}

impl Class {
    fn holds(&self, amount: f64) -> bool {
        self.least / OTHER <= amount && amount <= self.most * OTHER
    }
}

/// The launches that have an amount, by it.
fn classes(hosts: &[usize], amount: impl Fn(usize) -> Option<f64>) -> Vec<Class> {
    let known = hosts.iter().enumerate();
    let known = known.filter_map(|(at, row)| Some((amount(*row).filter(|one| *one > 0.0)?, at)));
    let mut known: Vec<(f64, usize)> = known.collect();
    known.sort_by(|one, two| one.0.total_cmp(&two.0));
    let mut classes: Vec<Class> = Vec::new();
    for (amount, at) in known {
        match classes.last_mut() {
            Some(class) if amount <= class.most * OTHER => {
                class.most = amount;
                class.hosts.push(at);
            }
            _ => classes.push(Class { least: amount, most: amount, hosts: vec![at] }),
        }
    }
    for class in &mut classes {
        // In the order of their calls, as they were given.
        class.hosts.sort_unstable();
        class.hosts.iter_mut().for_each(|at| *at = hosts[*at]);
    }
    classes
}

/// Floating-point operations of a launch on all pipes.
fn operations(profile: &Profile, row: usize) -> Option<f64> {
    let of_pipes = profile.launches.quantities().filter_map(|quantity| match quantity {
        Quantity::Work(pipe) if pipe.operation() == "FLOP" => profile.launches.value(row, quantity),
        _ => None,
    });
    of_pipes.reduce(|one, two| one + two)
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::{Profile, Quantity};

    /// Launches by inner dimension k and start on the GPU in µs, each a product of 64 × k by k × 64 numbers, called in this
    /// order.
    fn trace(products: &[(u32, u32)]) -> String {
        let events = products.iter().enumerate().map(|(at, (k, start))| {
            let call = 100 * (at + 1);
            format!(
                r#"{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": {call}, "dur": 50,
                "args": {{"External id": {at}9, "Input Dims": [[64, {k}], [{k}, 64]], "Input type": ["float", "float"]}}}},
                {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 5,
                "args": {{"External id": {at}9, "correlation": {at}9}}}},
                {{"ph": "X", "cat": "kernel", "name": "ampere_sgemm_64x64_tn", "pid": 0, "tid": {at}, "ts": {start}, "dur": 10,
                "args": {{"External id": {at}9, "correlation": {at}9, "stream": {at}, "device": 0, "grid": [1, 1, 1],
                "block": [128, 1, 1]}}}}"#,
                call + 10
            )
        });
        let events: Vec<String> = events.collect();
        format!(
            "{{\"schemaVersion\": 1, \"deviceProperties\": [{{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB\", \
             \"computeMajor\": 8, \"computeMinor\": 0, \"numSms\": 108}}], \"traceEvents\": [{}]}}",
            events.join(",")
        )
    }

    /// Launches under Nsight Compute: fused multiply-adds and bytes.
    fn counters(launches: &[(u32, &str)]) -> String {
        let mut text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\
            \"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"dram__bytes.sum\",\
            \"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\",\"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum\",\
            \"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum\"\n\
            \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\",\"byte\",\"inst\",\"inst\",\"inst\"\n"
            .to_owned();
        for (id, (k, bytes)) in launches.iter().enumerate() {
            let products = 64 * 64 * k;
            text.push_str(&format!(
                "\"{id}\",\"7\",\"app\",\"host\",\"ampere_sgemm_64x64_tn\",\"1\",\"7\",\"(128, 1, 1)\",\"(1, 1, 1)\",\"0\",\"8.0\",\
                 \"5000\",\"{bytes}\",\"{products}\",\"0\",\"0\"\n"
            ));
        }
        text
    }

    fn joined(products: &[(u32, u32)], launches: &[(u32, &str)]) -> Profile {
        let inputs = [
            Input::text("trace.json", &trace(products)),
            Input::text("counters.csv", &counters(launches)),
        ];
        read(&inputs, &Options::default()).unwrap()
    }

    /// Operations and bytes of each launch, by its start.
    fn amounts(profile: &Profile) -> Vec<(f64, Option<f64>)> {
        let launches = profile.iter().map(|launch| {
            let row = usize::try_from(launch.head.id).unwrap();
            (super::operations(profile, row).unwrap(), launch.value(Quantity::DramBytes))
        });
        launches.collect()
    }

    /// 2 · 64 · 64 · k operations: 4,194,304 of k = 512, four times as many of 2048. What is not counted keeps what follows
    /// from its shapes: 4 · (2 · 64 · k + 64 · 64) bytes.
    #[test]
    fn counters_go_to_launches_of_the_same_work() {
        let (short, long) = (4_194_304.0, 16_777_216.0);
        let products = [(512, 1000), (2048, 2000), (512, 3000), (2048, 4000)];
        let found = joined(&products, &[(2048, "7000000")]);
        assert_eq!(
            amounts(&found),
            [
                (short, Some(278_528.0)),
                (long, Some(7e6)),
                (short, Some(278_528.0)),
                (long, Some(7e6))
            ]
        );
        assert!(
            found.notes[0].contains(
                "counters of 1 launch are used for 2 launches of 1 kernel in trace.json: same kernel, grid and block; times are \
                 those of the trace; 2 launches with the same grid and block as one that was counted, and other work, as their \
                 shapes say, have none"
            ),
            "{:?}",
            found.notes
        );
        let found = joined(&products, &[(2048, "7000000"), (512, "600000")]);
        let bytes: Vec<Option<f64>> = amounts(&found).into_iter().map(|one| one.1).collect();
        assert_eq!(bytes, [Some(6e5), Some(7e6), Some(6e5), Some(7e6)]);
        // Neither fits: both are reported, and nothing is joined.
        let found = joined(&products, &[(16_384, "7000000")]);
        assert_eq!(found.launches.len(), 5);
        assert!(
            found.notes[0].contains("do other work with the same grid and block"),
            "{:?}",
            found.notes
        );
        // As many on both sides are the same ones.
        let found = joined(&products[..2], &[(512, "600000"), (2048, "7000000")]);
        assert_eq!(amounts(&found), [(short, Some(6e5)), (long, Some(7e6))]);
        // As many, but of one kind of work only: two launches of the longer product were counted.
        let found = joined(&products[..2], &[(2048, "7000000"), (2048, "9000000")]);
        assert_eq!(amounts(&found), [(short, Some(278_528.0)), (long, Some(8e6))]);
    }

    /// The first call runs last, on a stream of its own.
    #[test]
    fn launches_are_paired_as_they_were_called() {
        let found = joined(&[(512, 9000), (512, 1000)], &[(512, "600000"), (512, "300000")]);
        let bytes: Vec<Option<f64>> =
            found.iter().map(|one| one.value(Quantity::DramBytes)).collect();
        let starts: Vec<Option<u64>> = found.iter().map(|one| one.head.start).collect();
        assert!(starts[0] < starts[1]);
        assert_eq!(bytes, [Some(3e5), Some(6e5)]);
    }

    /// A cell of one launch that says nothing takes nothing away from the other.
    #[test]
    fn a_launch_of_which_less_was_collected_is_not_in_the_mean() {
        let found =
            joined(&[(512, 1000), (512, 2000), (512, 3000)], &[(512, "n/a"), (512, "300000")]);
        let bytes: Vec<Option<f64>> =
            found.iter().map(|one| one.value(Quantity::DramBytes)).collect();
        assert_eq!(bytes, [Some(3e5); 3]);
        assert!(
            found.notes[0].contains("counters of 1 launch are used for 3 launches"),
            "{:?}",
            found.notes
        );
    }
}
