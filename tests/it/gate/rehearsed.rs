//! The self-test: what it certifies, and what it advises.

use super::cli::{copies, rooflint};

/// A policy whose limits are off, but for what follows.
fn without_limits(rest: &str) -> String {
    let metrics = ["time", "total", "kernel-total", "common-shift"];
    let off =
        metrics.map(|metric| format!("[[gate.limit]]\nmetric = {metric:?}\naction = \"none\"\n"));
    format!("[gate]\nversion = 1\n{}{rest}", off.concat())
}

/// Three runs of 49.1 ms, and with 25% more 61 ms; the longest kernel alone takes 14.3 ms, 3.6 ms more.
#[test]
fn bounds_and_required_kernels_are_part_of_the_self_test() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    copies(at, "main", 3, ("", 1.0));
    let total =
        |max: &str| format!("[[gate.bound]]\nname = \"b\"\nmetric = \"total\"\nmax = {max:?}\n");
    let limit = |metric: &str| format!("[[gate.limit]]\nmetric = {metric:?}\nworse = \"100%\"\n");
    let loose = ["time", "total", "common-shift"].map(limit).concat();
    let waiver = "[[gate.waiver]]\nkernel = \"*\"\nreason = \"r\"\n";
    let of_total = "[[gate.waiver]]\nmetric = \"total\"\nreason = \"r\"\n";
    let false_alarm = "2 changes are judged wrong: the gate would raise false alarms";
    let allow = "limits and bounds allow the slowdown";
    let physical = "[[gate.bound]]\nname = \"r\"\nmetric = \"roof\"\nmax = 1.03\n";
    let cases: [(String, i32, &[&str]); 12] = [
        (
            total("1us"),
            1,
            &["failed: 1 bound is violated", false_alarm, "break the policy without"],
        ),
        (
            "[gate]\nrequired = [\"nope*\"]\n".to_owned(),
            1,
            &["FAIL: no change", "FAIL: every kernel faster by 25%", false_alarm],
        ),
        // Three quarters of 49.1 ms still break a bound of 30 ms, and not one of 45 ms.
        (total("45ms"), 1, &["FAIL: no change", "ok: every kernel faster by 25%"]),
        (
            physical.to_owned(),
            0,
            &["not checked: bound \"r\", which only these copies break", "ok: every kernel faster"],
        ),
        (without_limits(&total("51ms")), 0, &["Verdict the policy catches what it must"]),
        (without_limits(&total("90ms")), 1, &["would miss slowdowns Next", allow]),
        (without_limits(""), 1, &["no limit or bound of the policy fails the gate"]),
        (
            "[gate]\nwarn-only = true\n".to_owned(),
            0,
            &["with `warn-only` no finding fails the gate"],
        ),
        (
            loose.clone(),
            1,
            &["2 changes are judged wrong: the gate would miss slowdowns Next", allow],
        ),
        (loose + &total("51ms"), 0, &["Verdict the policy catches what it must"]),
        (format!("{waiver}{of_total}"), 1, &["would miss slowdowns Next a waiver accepts"]),
        (String::new(), 0, &["Verdict the policy catches what it must"]),
    ];
    for (policy, code, says) in cases {
        std::fs::write(at.join("policy.toml"), &policy).unwrap();
        let found = rooflint(at, &["gate", "main-*.csv", "--self-test", "--policy", "policy.toml"]);
        let text = found.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(found.code, code, "{policy}: {text}{}", found.err);
        for says in says {
            assert!(text.contains(says), "{policy}: {says:?}: {text}");
        }
        assert!(!text.contains("more runs on each side"), "{policy}: {text}");
        assert_eq!(text.contains("no active limit"), policy == without_limits(""), "{text}");
    }
}
