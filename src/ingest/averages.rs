//! Joins averages over all launches of a kernel with these launches.
//!
//! nvprof writes times and metrics in runs of their own, and a metric only as an average over all launches of a kernel.
//! Where a trace of the same program has as many launches of the kernel, their sum is right; of launches with different
//! grids each single one is only known within the extremes that were seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::alike::Alike;
use super::complete::complete;
use crate::model::{NameId, Origin, Profile, Quantity, Values};
use crate::plain::counted;

/// The format of files that hold nothing but averages.
pub(super) const FORMAT: &str = "nvprof-metrics";

/// What came of the kernels of a file.
#[derive(Debug, Default)]
struct Outcome {
    /// Files of the launches, and how many kernels and launches were joined.
    hosts: BTreeSet<u16>,
    kernels: u64,
    launches: u64,
    uneven: u64,
    several: u64,
}

pub(super) fn join(profile: &mut Profile) {
    let is_averages = |source: u16| profile.sources[usize::from(source)].format == FORMAT;
    let mut launches: HashMap<NameId, Vec<usize>> = HashMap::new();
    let mut averages: Vec<usize> = Vec::new();
    for row in 0..profile.launches.len() {
        if is_averages(profile.launches.run(row).0) {
            averages.push(row);
        }
    }
    if averages.is_empty() {
        return;
    }
    for row in 0..profile.launches.len() {
        let is_timed = profile.launches.get(row, Quantity::Duration).is_some();
        if is_timed && !is_averages(profile.launches.run(row).0) {
            launches.entry(profile.launches.head(row).name).or_default().push(row);
        }
    }
    let mut gone = vec![false; profile.launches.len()];
    let mut outcomes: BTreeMap<u16, Outcome> = BTreeMap::new();
    let mut alike = Alike::default();
    for donor in averages {
        let head = profile.launches.head(donor);
        let fits = |row: &usize| {
            alike.are(&profile.devices, profile.launches.head(*row).device, head.device)
        };
        let hosts: Vec<usize> =
            launches.get(&head.name).into_iter().flatten().copied().filter(fits).collect();
        let Some(first) = hosts.first() else { continue };
        let outcome = outcomes.entry(head.source).or_default();
        if hosts.iter().any(|row| profile.launches.run(*row) != profile.launches.run(*first)) {
            outcome.several += 1;
            continue;
        }
        // Of several GPUs of a kind those of the same number, where both have numbers.
        let number = |row: usize| profile.ordinal(profile.launches.head(row).device);
        let is_of_gpu = |row: &&usize| number(**row).is_some() && number(**row) == number(donor);
        let of_gpu: Vec<usize> = hosts.iter().filter(is_of_gpu).copied().collect();
        let hosts = if of_gpu.is_empty() { hosts } else { of_gpu };
        let first = &hosts[0];
        let count = |row: &usize| u64::from(profile.launches.head(*row).count);
        if hosts.iter().map(count).sum::<u64>() != u64::from(head.count) {
            outcome.uneven += 1;
            continue;
        }
        let shape = |row: usize| profile.launches.head(row).shape;
        let is_alike = hosts.iter().all(|row| shape(*row) == shape(*first));
        outcome.hosts.insert(profile.launches.run(*first).0);
        outcome.kernels += 1;
        outcome.launches += u64::from(head.count);
        let values = values(profile, donor, is_alike);
        for row in hosts {
            complete(profile, row, &values);
        }
        gone[donor] = true;
    }
    for (source, outcome) in outcomes {
        let notes = notes(profile, source, &outcome);
        profile.notes.extend(notes);
    }
    profile.leave_out(&gone);
}

/// The averages of a row: exact as such, where all launches are alike.
fn values(profile: &mut Profile, row: usize, is_exact: bool) -> Values {
    let mut values = Values::default();
    for quantity in Quantity::all() {
        let Some((value, origin)) = profile.launches.get(row, quantity) else { continue };
        let known = profile.origins.get(origin).clone();
        let mut origin = origin;
        if is_exact && !known.is_exact() {
            origin = profile.origins.id(&Origin { low: 1.0, high: 1.0, ..known });
        }
        values.set(quantity, value, origin);
    }
    values
}

fn notes(profile: &Profile, source: u16, outcome: &Outcome) -> Vec<String> {
    let path = |source: u16| profile.sources[usize::from(source)].path.as_str();
    let file = path(source);
    let mut notes = Vec::new();
    if outcome.kernels > 0 {
        let hosts: Vec<&str> = outcome.hosts.iter().map(|host| path(*host)).collect();
        notes.push(format!(
            "joined the metrics of {} in {file} with {} in {} by name; each launch has the average of its kernel",
            counted(outcome.kernels, "kernel", "kernels"),
            counted(outcome.launches, "launch", "launches"),
            hosts.join(", ")
        ));
    }
    if outcome.uneven > 0 {
        notes.push(format!(
            "{file}: {} not joined: the trace has another number of launches",
            counted(outcome.uneven, "kernel was", "kernels were")
        ));
    }
    if outcome.several > 0 {
        notes.push(format!(
            "{file}: {} not joined, because several traces have the same kernels; give one trace and its metrics at a time",
            counted(outcome.several, "kernel was", "kernels were")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::Quantity;

    /// Two GPUs of a kind, of which the second did twice the work.
    #[test]
    fn metrics_of_each_gpu_join_its_own_launches() {
        let launch = |start: u32, gpu: u32, number: u32| {
            format!(
                "{start}.0,100.0,100,1,1,128,1,1,32,0,0,,,,,\"Tesla P100-PCIE-16GB ({gpu})\",\"1\",\"7\",\"k(float*)\",{number}\n"
            )
        };
        let trace = format!(
            "==77== Profiling result:\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\
             \"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\",\
             \"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\nms,us,,,,,,,,B,B,MB,GB/s,,,,,,,\n{}{}{}{}",
            launch(1, 0, 1),
            launch(1, 1, 2),
            launch(2, 0, 3),
            launch(2, 1, 4)
        );
        let metric = |gpu: u32, value: u32| {
            format!(
                "\"Tesla P100-PCIE-16GB ({gpu})\",\"k(float*)\",2,\"flop_count_sp\",\"d\",{value},{value},{value}\n"
            )
        };
        let metrics = format!(
            "==77== Metric result:\n\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n{}{}",
            metric(0, 1_000_000),
            metric(1, 2_000_000)
        );
        let inputs = [("trace.csv", &*trace), ("metrics.csv", &metrics)];
        let inputs: Vec<Input> =
            inputs.iter().map(|(name, text)| Input::text(name, text)).collect();
        let profile = read(&inputs, &Options::default()).unwrap();
        let work: Vec<_> = profile
            .iter()
            .map(|one| {
                let gpu = profile.ordinal(one.head.device).map(str::to_owned);
                (gpu, one.value(Quantity::Work(crate::model::Pipe::Fp32Vector)))
            })
            .collect();
        assert_eq!(work.len(), 4, "{:?}", profile.notes);
        for (gpu, work) in work {
            assert_eq!(work, Some(if gpu.as_deref() == Some("1") { 2e6 } else { 1e6 }));
        }
    }
}
