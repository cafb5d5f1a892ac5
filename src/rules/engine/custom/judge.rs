//! Custom rules on kernels and on launches: what they find goes the way of every other finding.

use super::{Custom, Expression, Over};
use crate::analysis::{Analysis, Kernel, Row, State};
use crate::model::{Launch, Profile, Quantity};
use crate::rules::engine::finding::{Confidence, Finding, Severity, Stake};
use crate::rules::engine::findings::{Findings, Tally, sort, weighed};
use crate::rules::engine::settings::Settings;
use crate::rules::engine::threshold::Missing;
use crate::table::Cell;
use crate::units::Seconds;

/// How the time at stake of custom rules is named.
const ESTIMATOR: &str = "expression";
/// How it is named where the rule gives none, or where a column of it is missing: not known to be zero.
pub(crate) const NOT_ESTIMATED: &str = "not-estimated";

/// Runs the custom rules over kernels. They look at every kernel: the condition decides.
pub(in crate::rules) fn check_kernels(
    findings: &mut Findings,
    analysis: &Analysis,
    settings: &Settings,
) {
    for rule in settings.custom(Over::Kernels) {
        let (mut tally, mut skipped) = (Tally::new(rule.id.clone()), Vec::new());
        for (position, kernel) in analysis.kernels.iter().enumerate() {
            let row = Row::Kernel(analysis, kernel);
            match rule.when.holds(&row) {
                Ok(true) => {
                    let stake = rule.at_stake.as_ref().and_then(|stake| stake.number(&row).ok());
                    let finding = rule.finding(rule.message.said(&row), stake, kernel, &row);
                    let finding = rule.with_facts(finding, &row);
                    if let Some(finding) = weighed(finding, analysis, is_shown(kernel), &mut tally)
                    {
                        findings.add(position, finding);
                    }
                }
                Ok(false) => tally.content += 1,
                // No export has a roofline of communication: nothing is missing there.
                Err(missing) if kernel.state == State::NotRoofline && is_of_roofline(missing) => {
                    tally.content += 1;
                }
                Err(missing) => {
                    tally.lacks(missing);
                    skipped.push(position);
                }
            }
        }
        findings.skipped.add(tally.rule.clone(), &skipped);
        findings.tally.push(tally);
    }
}

/// Whether a column follows from the roofline time.
fn is_of_roofline(missing: Missing) -> bool {
    const COLUMNS: [&str; 6] =
        ["roofline", "headroom", "structural", "hierarchical", "savings", "run_speedup"];
    COLUMNS.iter().any(|start| missing.0.starts_with(start))
}

/// What sums over ranks lack.
const EACH_LAUNCH: Missing = Missing("each launch (`rooflint analyze` of a rank has them)");

/// Runs the custom rules over launches, and adds what they find to the findings.
///
/// A rule speaks of a kernel once: of how many of its launches match, and of the longest of them. It
/// cannot judge a kernel of which no launch matches and some launch lacks a column.
pub(in crate::rules) fn check_launches(
    findings: &mut Findings,
    profile: &Profile,
    analysis: &Analysis,
    settings: &Settings,
) {
    for rule in settings.custom(Over::Launches) {
        let mut seen: Vec<Seen> = analysis.kernels.iter().map(|_| Seen::default()).collect();
        analysis.each_grouped(profile, |position, launch| {
            let row = Row::Launch(profile, *launch, &analysis.kernels[position]);
            seen[position].look(rule, launch, &row);
        });
        let (mut tally, mut skipped) = (Tally::new(rule.id.clone()), Vec::new());
        for (position, (kernel, seen)) in analysis.kernels.iter().zip(seen).enumerate() {
            // Of sums over ranks one launch of each kernel is left.
            if seen.launches < kernel.launches {
                tally.lacks(EACH_LAUNCH);
                skipped.push(position);
                continue;
            }
            match (seen.longest, seen.lacks) {
                (Some((row, _)), _) => {
                    let launch = profile.launch(row);
                    let row = Row::Launch(profile, launch, kernel);
                    let said = rule.message.said(&row);
                    let message = format!("{said} ({})", seen.words(profile, &launch));
                    let finding = rule.finding(message, seen.stake, kernel, &row);
                    let finding = rule
                        .with_facts(finding, &row)
                        .evidence("launches that match", seen.matching as f64, "1")
                        .evidence("launches with a missing column", seen.lacking as f64, "1")
                        .evidence("launches", seen.launches as f64, "1");
                    if let Some(finding) = weighed(finding, analysis, is_shown(kernel), &mut tally)
                    {
                        findings.add(position, finding);
                    }
                }
                (None, Some(missing)) => {
                    tally.lacks(missing);
                    skipped.push(position);
                }
                (None, None) => tally.content += 1,
            }
        }
        findings.skipped.add(tally.rule.clone(), &skipped);
        findings.tally.push(tally);
    }
    for found in findings.by_kernel.values_mut() {
        sort(found);
    }
}

/// What can be won of an opportunity is worth its cause, however small; as for built-in rules.
fn is_shown(kernel: &Kernel) -> bool {
    kernel.state == State::Flagged
}

/// What a rule saw of the launches of a kernel, counted in executions.
#[derive(Default)]
struct Seen {
    launches: u64,
    matching: u64,
    lacking: u64,
    /// The first column that a launch lacks.
    lacks: Option<Missing>,
    /// Row and duration of the longest launch that matches; the first one, where nothing was timed.
    longest: Option<(usize, f64)>,
    /// Time at stake of the launches that match; nothing if one of them cannot tell.
    stake: Option<f64>,
}

impl Seen {
    fn look(&mut self, rule: &Custom, launch: &Launch<'_>, row: &Row<'_>) {
        let count = u64::from(launch.head.count);
        self.launches += count;
        match rule.when.holds(row) {
            Ok(true) => {
                let own = rule.at_stake.as_ref().and_then(|stake| stake.number(row).ok());
                // A row of a summary stands for several executions, and has their average.
                let own = own.map(|own| own.max(0.0) * count as f64);
                let before = if self.matching == 0 { Some(0.0) } else { self.stake };
                self.stake = before.zip(own).map(|(before, own)| before + own);
                self.matching += count;
                let duration = launch.value(Quantity::Duration).unwrap_or(f64::NEG_INFINITY);
                if self.longest.is_none_or(|(_, longest)| duration > longest) {
                    self.longest = Some((launch.row(), duration));
                }
            }
            Ok(false) => {}
            Err(missing) => {
                self.lacking += count;
                self.lacks.get_or_insert(missing);
            }
        }
    }

    fn words(&self, profile: &Profile, longest: &Launch<'_>) -> String {
        let time = longest.value(Quantity::Duration);
        let which = match (self.matching, time) {
            (1, _) => "it is",
            (_, Some(_)) => "the longest is",
            // Nothing was timed: the first stands for all.
            (_, None) => "the first is",
        };
        let time =
            time.map_or_else(String::new, |time| format!(", {}", crate::units::si(time, "s")));
        let path = profile.sources.get(usize::from(longest.head.source));
        let path = path.filter(|_| profile.sources.len() > 1);
        let path = path.map_or_else(String::new, |source| format!(" of {}", source.path));
        let (matching, all, id) = (self.matching, self.launches, longest.head.id);
        format!("{matching} of {all} launches, {which} launch {id}{path}{time}")
    }
}

impl Custom {
    fn finding(
        &self,
        message: String,
        stake: Option<f64>,
        kernel: &Kernel,
        row: &Row<'_>,
    ) -> Finding {
        let finding = match stake {
            Some(stake) => {
                let stake = Stake::of(Seconds::new(stake), ESTIMATOR);
                Finding::of(self.id.clone(), message, stake, kernel)
            }
            // A condition is what its author makes of counters and names.
            None => {
                let finding = Finding::info(self.id.clone(), message);
                Finding { estimator: NOT_ESTIMATED, ..finding }.confidence(Confidence::Medium)
            }
        };
        let finding = match (self.severity, stake) {
            (Some(severity), _) => finding.severity(severity),
            (None, Some(_)) => finding,
            (None, None) => finding.severity(Severity::Info),
        };
        match &self.next {
            Some(next) => finding.next(next.said(row)),
            None => finding,
        }
    }

    /// The numbers that the condition and the time at stake rest on.
    fn with_facts(&self, finding: Finding, row: &Row<'_>) -> Finding {
        let stake = self.at_stake.iter().flat_map(Expression::columns);
        let mut named: Vec<&str> = Vec::new();
        let mut finding = finding;
        for column in self.when.columns().iter().chain(stake) {
            let number = column.get(row).and_then(Cell::number);
            if named.contains(&column.name.as_str()) {
                continue;
            }
            named.push(&column.name);
            finding = finding.evidence_if(column.name.clone(), number, column.form.unit());
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Options, analyze};
    use crate::catalog::Catalog;
    use crate::config::Config;
    use crate::ingest::{self, Mapping};
    use crate::rules::{Findings, Severity, check};

    const TABLE: &str = "\
kernel,time,bytes,blocks,occupancy
sgemm_128x128,100,33500000,1000,0.5
sgemm_128x128,300,33500000,1000,
sgemm_128x128,200,33500000,1000,0.1
copy,50,,10,0.9
";

    const MAPPING: &str = "\
device = \"NVIDIA H100 80GB HBM3\"
[columns]
kernel = \"kernel\"
time = { column = \"time\", unit = \"us\" }
bytes = { column = \"bytes\", unit = \"B\" }
[quantities]
achieved_occupancy = { column = \"occupancy\", unit = \"1\" }
";

    /// What a rule finds in the table.
    fn found(rule: &str) -> Findings {
        let mapping = Mapping::from_toml(MAPPING, "map.toml").unwrap();
        let options = ingest::Options { map: Some(mapping), ..ingest::Options::default() };
        let profile = ingest::read_text("run.csv", TABLE, &options).unwrap();
        let analysis = analyze(&profile, &Catalog::builtin(), &Options::default()).unwrap();
        let text = format!("rules.select = [\"own\"]\n[[custom-rule]]\nid = \"own\"\n{rule}");
        let settings = Config::parse("rooflint.toml", &text).unwrap().rules;
        let findings = check(&profile, &analysis, &settings);
        assert_eq!(findings.tally.len(), 1);
        findings
    }

    /// Found, content, cannot judge, and the columns that lacked.
    fn counts(when: &str) -> (usize, usize, usize, Vec<&'static str>) {
        let tally = found(&format!("message = \"m\"\nwhen = '{when}'")).tally.remove(0);
        let lacked = tally.missing.into_keys().collect();
        (tally.found, tally.content, tally.cannot_judge, lacked)
    }

    #[test]
    fn a_missing_column_is_never_zero_and_matters_only_where_the_outcome_depends_on_it() {
        // The copy has no bytes: neither many, nor few, nor equal to anything.
        assert_eq!(counts("bytes > 1e6"), (1, 0, 1, vec!["bytes"]));
        assert_eq!(counts("bytes < 1e6"), (0, 1, 1, vec!["bytes"]));
        assert_eq!(counts("!(bytes > 1e6)"), (0, 1, 1, vec!["bytes"]));
        assert_eq!(counts("bytes == 0"), (0, 1, 1, vec!["bytes"]));
        assert_eq!(counts("bytes in [0, 1]"), (0, 1, 1, vec!["bytes"]));
        assert_eq!(counts("bytes + 1 > 0 ? true : false"), (1, 0, 1, vec!["bytes"]));
        // Either side of "or" and "and" may settle it, in either order.
        assert_eq!(counts("bytes > 1e6 || launches == 1"), (2, 0, 0, vec![]));
        assert_eq!(counts("launches == 1 || bytes > 1e6"), (2, 0, 0, vec![]));
        assert_eq!(counts("bytes > 1e6 && launches == 3"), (1, 1, 0, vec![]));
        assert_eq!(counts("launches == 3 && bytes > 1e6"), (1, 1, 0, vec![]));
        assert_eq!(counts("launches == 1 && bytes > 1e6"), (0, 1, 1, vec!["bytes"]));
    }

    #[test]
    fn numbers_are_doubles_and_nothing_is_divided_by_zero() {
        assert_eq!(counts("launches / 2 == 1.5").0, 1);
        assert_eq!(counts("5 / 2 == 2.5 && launches > 2").0, 1);
        assert_eq!(counts("-launches < -2").0, 1);
        assert_eq!(counts("0u == 0").0, 2);
        let divisor = "a divisor that is not zero";
        assert_eq!(counts("1 / (launches - 1) > 0.1"), (1, 0, 1, vec![divisor]));
        assert_eq!(counts("1 / (launches - 1) > 0.1 || launches == 1").0, 2);
        assert_eq!(counts("1e300 * 1e300 - 1e300 * 1e300 < 1").2, 2);
    }

    #[test]
    fn words_are_compared_and_searched() {
        assert_eq!(counts("name == \"copy\"").0, 1);
        assert_eq!(counts("name in [\"copy\", \"sgemm_128x128\"]").0, 2);
        assert_eq!(counts("full_name.startsWith(\"sgemm\") && !name.contains(\"64\")").0, 1);
        assert_eq!(counts("kind == \"gemm\" ? launches > 2 : false").0, 1);
        assert_eq!(counts("split_k").0, 0);
        assert_eq!(counts("split_k == false").0, 2);
    }

    #[test]
    fn the_message_has_its_numbers_and_the_finding_its_facts() {
        let rule = "message = \"{name}: {headroom}, {bytes}, {share}\"\nwhen = 'measured_s > 1e-4'
            severity = \"high\"\nnext = \"ask about {bytes}\"";
        let findings = found(rule);
        let finding = &findings.of(0)[0];
        // 600 µs for 100.5 MB; at 3.352 TB/s 29.98 µs.
        assert_eq!(finding.message, "sgemm_128x128: 20.0×, 101 MB, 92.3%");
        assert_eq!((finding.severity, finding.at_stake_s), (Severity::High, 0.0));
        assert_eq!(finding.next.as_deref(), Some("ask about 101 MB"));
        assert_eq!(finding.evidence[0].name, "measured_s");
        assert!((finding.evidence[0].value - 6e-4).abs() < 1e-12);
        assert_eq!(finding.evidence[0].unit, "s");
        let other = found("message = \"{name}: {bytes}\"\nwhen = 'launches == 1'");
        let finding = other.by_kernel.values().flatten().next().unwrap();
        assert_eq!((&*finding.message, finding.severity), ("copy: -", Severity::Info));
    }

    #[test]
    fn time_at_stake_is_asked_for_and_capped_by_the_gap() {
        let stake = |amount: &str, severity: &str| {
            let rule = format!(
                "message = \"m\"\nwhen = 'launches == 3'\nat-stake = '{amount}'\n{severity}"
            );
            found(&rule).by_kernel.into_values().flatten().next().unwrap()
        };
        let half = stake("measured_s / 2", "");
        assert!((half.at_stake_s - 3e-4).abs() < 1e-12, "{half:?}");
        // 46% of the run.
        assert_eq!((half.severity, half.estimator), (Severity::High, "expression"));
        let all = stake("measured_s * 10", "severity = \"low\"");
        let gap = 6e-4 - 100.5e6 / 3.352e12;
        assert!((all.at_stake_s - gap).abs() < 1e-7, "{all:?}");
        assert_eq!(all.severity, Severity::Low);
        assert_eq!(stake("0 - measured_s", "severity = \"low\"").at_stake_s, 0.0);
        let unknown = stake("l2_hit_rate * measured_s", "");
        assert_eq!((unknown.at_stake_s, unknown.estimator), (0.0, "not-estimated"));
        assert_eq!(unknown.severity, Severity::Info);
    }

    #[test]
    fn launches_are_counted_by_kernel_and_the_longest_is_named() {
        let rule =
            "over = \"launches\"\nmessage = \"took {duration_s}\"\nwhen = 'duration_s > 150e-6'
            at-stake = 'duration_s - 100e-6'\nseverity = \"low\"";
        let findings = found(rule);
        let finding = &findings.of(0)[0];
        let said = "took 300 µs (2 of 3 launches, the longest is launch 2, 300 µs)";
        assert_eq!(finding.message, said);
        // 200 µs of one launch and 100 µs of the other.
        assert!((finding.at_stake_s - 3e-4).abs() < 1e-12, "{finding:?}");
        assert_eq!((findings.tally[0].found, findings.tally[0].content), (1, 1));
        // One launch of three has no occupancy: the others are judged, and it is counted.
        let rule = "over = \"launches\"\nmessage = \"m\"\nwhen = 'achieved_occupancy < 0.3'";
        let findings = found(rule);
        let finding = &findings.of(0)[0];
        let fact =
            |name: &str| finding.evidence.iter().find(|fact| fact.name == name).unwrap().value;
        assert_eq!(fact("launches that match"), 1.0);
        assert_eq!(fact("launches with a missing column"), 1.0);
        let rule = "over = \"launches\"\nmessage = \"m\"\nwhen = 'achieved_occupancy > 0.95'";
        let tally = &found(rule).tally[0];
        assert_eq!((tally.cannot_judge, tally.content), (1, 1));
        assert_eq!(tally.missing.keys().copied().collect::<Vec<_>>(), ["achieved_occupancy"]);
    }
}
