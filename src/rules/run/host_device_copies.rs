//! Tells how much of a run goes into copies between host and device.

use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold, least_shown};
use crate::taxonomy::Kind;
use crate::units::{Bytes, Seconds, si};

pub(super) const RULE: Rule = Rule {
    id: "host-device-copies",
    summary: "copies between host and device take a large share of the run",
    documentation: "\
## What it finds
Copies between host and device memory, and migrated pages of managed memory.

## Why it costs time
PCIe moves tens of gigabytes per second, device memory thousands. Copies that do not overlap with
kernels leave the device idle.

## Detection
Host-to-device and device-to-host copies take `share` or more of the time of kernels and copies
together. Savings: at most the time in which nothing else runs, where the trace has the starts of
all work; none where it does not, because sums do not show overlap. Copies of a mebibyte or more
on average that move fewer bytes per second than `slow` point to the link.

## Remedy
Keep data on the device; copy on a separate stream from pinned memory while kernels run; one large
copy instead of many small ones; narrower formats; prefetch managed memory. Where the trace says
which memory copies use (PyTorch, Nsight Systems, nvprof), the next step says which of these is left.

## False positives
Copies that overlap with kernels cost nothing. Profiles of the first iterations show weight copies
that happen once.

## Sources
*CUDA C++ Best Practices Guide*, \"Data Transfer Between Host and Device\"; *CUDA C++ Programming Guide*,
\"Unified Memory Programming\".
",
    thresholds: &[SHARE, SLOW],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.05, "1", "copies often overlap; a smaller share is rarely the cause");

const SLOW: Threshold = Threshold::new(
    "slow",
    1e9,
    "B/s",
    "a quarter of what pageable copies reach over PCIe 3.0 x16, more than one lane of it carries",
);

/// Smaller copies are limited by their number, in bytes.
const LARGE: f64 = 1_048_576.0;

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let copies = Together::of_kinds(run, &[Kind::MemcpyHost, Kind::PageFault])?
        .and_moved(run, &[Kind::MemcpyHost]);
    if copies.share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    // A rate only where every copy has its size.
    let of_kernels = copies.kernels.iter().map(|kernel| kernel.bytes);
    let sizes = of_kernels.chain(copies.moved.iter().map(|one| one.bytes));
    let bytes: Option<f64> = sizes.map(|bytes| bytes.map(Bytes::get)).sum();
    let alone = run.host_copies_alone();
    let is_hidden = alone == Some(Seconds::ZERO);
    let beside = match alone {
        Some(_) if is_hidden => "; other work always runs beside them".to_owned(),
        Some(alone) => format!("; for {} nothing else runs", si(alone, "s")),
        None => String::new(),
    };
    let rate = bytes.filter(|bytes| *bytes > 0.0).map(|bytes| bytes / copies.time.get());
    let number = copies.launches + copies.moved.iter().map(|one| one.count).sum::<u64>();
    let is_large = bytes.is_some_and(|bytes| bytes >= LARGE * number as f64);
    let slow = rate.filter(|rate| is_large && *rate < run.threshold(&SLOW));
    let at = slow.map_or_else(String::new, |rate| format!(", only {}", si(rate, "B/s")));
    let pageable = pageable(&copies);
    let mut finding = copies
        .finding(run, format!("copies between host and device: {}{at}{beside}", copies.words()))
        .evidence_if("bytes", bytes, "B")
        .evidence_if("rate", rate, "B/s")
        .evidence_if("share of pageable memory", pageable, "1")
        .evidence_if("time alone", alone.map(Seconds::get), "s");
    if let Some(rate) = slow {
        finding = finding.next(format!(
            "check the link, where large copies should reach many times {}: its generation and width \
             (nvidia-smi -q, lspci -vv)",
            si(rate, "B/s")
        ));
    } else if !is_hidden {
        // Copies share a link: what hides them is kernels.
        let hides = alone.filter(|alone| *alone > run.total()).map(|_| si(run.total(), "s"));
        let (is_pageable, is_pinned) = (
            pageable.is_some_and(|share| share >= 0.5),
            pageable.is_some_and(|share| share < 0.05),
        );
        finding = finding.next(match hides {
            Some(most) if is_pageable => format!(
                "copy from pinned memory, which is faster, or keep the data on the device; overlap with kernels hides at \
                 most {most}"
            ),
            Some(most) => {
                format!("keep the data on the device; overlap with kernels hides at most {most}")
            }
            None if is_pageable => {
                "copy from pinned memory, which is faster, on a separate stream, or keep the data on the device"
                    .to_owned()
            }
            None if is_pinned => {
                "copy on a separate stream, as the memory is pinned, or keep the data on the device".to_owned()
            }
            None => "copy on a separate stream from pinned memory, or keep the data on the device"
                .to_owned(),
        });
    }
    // Less is still worth knowing, and promises nothing.
    if let Some(alone) = alone.filter(|alone| *alone >= least_shown(run.total())) {
        finding = finding.confidence(Confidence::Medium).at_stake(alone, "alone");
        // A kernel may need what is copied before it.
        finding.at_stake_low_s = 0.0;
    }
    Ok(vec![finding])
}

/// Of the time of copies, the share of those from or to pageable memory; `None` where it is not known of all of them what
/// memory they use.
fn pageable(copies: &Together<'_>) -> Option<f64> {
    let time: Option<Seconds> = copies.moved.iter().map(|one| one.pageable).sum();
    time.filter(|_| copies.kernels.is_empty() && copies.time > Seconds::ZERO)
        .map(|time| time / copies.time)
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::h100;
    use crate::session::Session;

    const RULE: &str = "host-device-copies";

    #[test]
    fn tells_their_share_and_promises_nothing() {
        let bench = h100().bare("[CUDA memcpy HtoD]", (1, 1), (4, 100.0), &[]).launch(
            "sgemm_128x128",
            (1000, 256),
            (1, 3600.0),
            &[],
        );
        let found = bench.found(RULE);
        assert_eq!(
            found.message,
            "copies between host and device: 4 launches, 400 µs, 10.0% of the run"
        );
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    /// Four copies of 10 MB in 100 ms: 400 MB/s, where a quarter of a second on 16 lanes would carry 3 GB.
    #[test]
    fn a_link_that_is_slow_with_large_copies_is_named() {
        let bench = |megabytes: f64| {
            let bytes = [(crate::model::Quantity::DramBytes, megabytes * 1e6)];
            let copy = (4, 25_000.0);
            h100().bare("[CUDA memcpy HtoD]", (1, 1), copy, &bytes).launch(
                "k",
                (1000, 256),
                (1, 900.0),
                &[],
            )
        };
        let slow = bench(10.0).found(RULE);
        assert!(slow.message.contains(", only 400 MB/s"), "{}", slow.message);
        assert!(
            slow.next.unwrap().starts_with(
                "check the link, where large copies should reach many times 400 MB/s: "
            )
        );
        for megabytes in [0.5, 250.0] {
            let found = bench(megabytes).found(RULE);
            assert!(!found.message.contains("only"), "{}", found.message);
        }
    }

    /// Kineto names the memory that a copy reads and writes; tables have columns for it.
    #[test]
    fn pageable_memory_is_the_first_to_change() {
        let next = |file: &str, text: String| {
            let profile = read_text(file, text.leak(), &Options::default()).unwrap();
            let judged = Session::default().judge(&profile).unwrap();
            let found = judged.findings.run.iter().find(|one| &*one.rule == RULE).unwrap();
            (found.at_stake_low_s, found.next.as_deref().unwrap().to_owned())
        };
        let kineto = |name: &str| {
            let trace = format!(
                r#"{{"schemaVersion": 1, "traceEvents": [
                {{"ph":"X","cat":"kernel","name":"k","ts":1000,"dur":900,"args":{{"device":0,"stream":7,"correlation":1}}}},
                {{"ph":"X","cat":"gpu_memcpy","name":"{name}","ts":100,"dur":300,"args":{{"device":0,"stream":7,"bytes":1200000,"correlation":2}}}}
                ]}}"#
            );
            next("trace.json", trace)
        };
        let nsys = |copies: &[[&str; 3]]| {
            let rows = copies.iter().zip(100..).map(|([from, to, name], at)| {
                format!("{at}000,300000,{at},,,,,,,,,,1.200,4.0,{from},{to},A (0),1,7,{name}\n")
            });
            let head = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),\
                        Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n\
                        1000000,900000,99,4,1,1,64,1,1,16,0.0,0.0,,,,,A (0),1,7,k\n";
            next("trace.csv", rows.fold(head.to_owned(), |all, row| all + &row))
        };
        let nvprof = |memory: &str| {
            let text = format!(
                "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\
                 \"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\",\
                 \"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\n\
                 us,us,,,,,,,,B,B,MB,GB/s,,,,,,,\n\
                 100,300,,,,,,,,,,1.2,4.0,\"{memory}\",\"Device\",\"A (0)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\",8\n\
                 1000,900,4,1,1,64,1,1,16,0,0,,,,,\"A (0)\",\"1\",\"7\",\"k\",9\n"
            );
            next("trace.csv", text)
        };
        let to = "[CUDA memcpy Host-to-Device]";
        for (low, pageable) in [
            kineto("Memcpy HtoD (Pageable -> Device)"),
            nsys(&[["Pageable", "Device", to]]),
            nsys(&[["Device", "Pageable", "[CUDA memcpy Device-to-Host]"]]),
            nvprof("Pageable"),
        ] {
            assert_eq!(
                (low, pageable.starts_with("copy from pinned memory")),
                (0.0, true),
                "{pageable}"
            );
        }
        for (_, pinned) in [
            kineto("Memcpy HtoD (Pinned -> Device)"),
            nsys(&[["Pinned", "Device", to]]),
            nvprof("Pinned"),
        ] {
            assert!(
                pinned.starts_with("copy on a separate stream, as the memory is pinned"),
                "{pinned}"
            );
        }
        // One copy of which it is not known leaves it open for all.
        for (_, unknown) in [
            kineto("Memcpy HtoD"),
            nsys(&[["Pageable", "Device", to], ["Managed", "Device", to]]),
            nsys(&[["Pageable", "Pageable", to]]),
            nvprof(""),
        ] {
            assert!(
                unknown.starts_with("copy on a separate stream from pinned memory"),
                "{unknown}"
            );
        }
    }

    #[test]
    fn stays_quiet_without_them() {
        assert!(h100().launch("k", (1000, 256), (1, 100.0), &[]).is_content(RULE));
    }
}
