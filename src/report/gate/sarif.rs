//! Findings as SARIF 2.1.0, with the properties that GitHub code scanning requires beyond the
//! standard.
//!
//! Sources: OASIS SARIF 2.1.0 with errata 01; GitHub documentation, "SARIF support for code scanning".

use std::collections::BTreeMap;

use serde::Serialize;

use super::findings::{Finding, Level, findings, rule};
use super::rule_texts::text;
use super::{GateOutput, GateReport, places};
use crate::gate::{Metric, Subject};
use crate::report::view::{Style, printable};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "sarif",
    endings: &["sarif", "sarif.json"],
    summary: "SARIF 2.1.0, for code scanning",
    render,
};

/// Largest number of results per run that GitHub shows.
const RESULTS: usize = 5_000;

/// Largest number of rules that are described.
const RULES: usize = 1_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    automation_details: Automation,
    column_kind: &'static str,
    results: Vec<Found>,
    properties: RunProperties,
}

/// Properties of the run, for readers of this file alone.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunProperties {
    outcome: &'static str,
    reason: String,
    /// Number of findings dropped by the limit on results.
    results_left_out: usize,
}

#[derive(Serialize)]
struct Automation {
    id: &'static str,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    name: String,
    short_description: Text,
    full_description: Text,
    help: Text,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

impl Text {
    /// A message that is only text: brackets before a parenthesis would be a link (SARIF 2.1.0, §3.11.6).
    fn new(text: &str) -> Self {
        let is_linked = text.contains("](");
        let text =
            if is_linked { text.replace('[', "\\[").replace(']', "\\]") } else { text.to_owned() };
        Self { text }
    }
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 2],
    precision: &'static str,
    #[serde(rename = "problem.severity")]
    severity: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    rule_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    partial_fingerprints: Fingerprints,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fingerprints {
    primary_location_line_hash: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Logical {
    fully_qualified_name: String,
    kind: &'static str,
}

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let found = findings(report);
    let rules = rules(report);
    let shown = found.iter().take(RESULTS).map(|finding| result(finding, &rules)).collect();
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "rooflint",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules.into_values().collect(),
                },
            },
            // The category; a run of its own has no name that stays.
            automation_details: Automation { id: "rooflint-gate/" },
            column_kind: "unicodeCodePoints",
            results: shown,
            properties: RunProperties {
                outcome: report.decision.outcome.label(),
                reason: printable(&report.decision.reason),
                results_left_out: found.len().saturating_sub(RESULTS),
            },
        }],
    };
    style.adapted(serde_json::to_string_pretty(&log).unwrap_or_default() + "\n")
}

/// Returns every rule that was checked, fired or not, by its id.
fn rules(report: &GateReport<'_>) -> BTreeMap<String, Rule> {
    let checked = report.decision.checks.iter().map(|check| (rule(check), check.metric));
    let mut rules = BTreeMap::new();
    // The metric of the gate is never asked for: it has a text of its own.
    for (name, metric) in std::iter::once(("gate".to_owned(), Metric::Total)).chain(checked) {
        if rules.len() >= RULES {
            break;
        }
        let text = text(&name, metric);
        rules.entry(name.clone()).or_insert_with(|| Rule {
            id: format!("gate/{name}"),
            name,
            short_description: Text::new(text.short),
            full_description: Text::new(text.full),
            help: Text::new(text.help),
            default_configuration: Configuration { level: text.level },
            properties: RuleProperties {
                tags: ["gpu", "performance"],
                precision: "high",
                severity: text.severity(),
            },
        });
    }
    rules
}

fn result(finding: &Finding<'_>, rules: &BTreeMap<String, Rule>) -> Found {
    let name = finding.check.and_then(|check| match &check.subject {
        Subject::Kernel { operator, .. } => {
            let name = printable(check.subject.written()?);
            let operator = operator.as_deref().map(|it| format!(" [{}]", printable(it)));
            Some(format!("{name}{}", operator.unwrap_or_default()))
        }
        Subject::Run => None,
    });
    let logical = name.filter(|name| !name.trim().is_empty());
    let line = finding.place.line;
    Found {
        rule_id: format!("gate/{}", finding.rule),
        rule_index: rules.keys().position(|name| *name == finding.rule),
        level: match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Notice => "note",
        },
        message: Text::new(&format!("{}: {}", finding.title, finding.lines.join("\n"))),
        locations: [Location {
            physical_location: Physical {
                artifact_location: Artifact { uri: places::uri(&finding.place.path) },
                region: Region { start_line: line, start_column: 1, end_line: line, end_column: 2 },
            },
            logical_locations: logical
                .map(|name| Logical { fully_qualified_name: name, kind: "function" })
                .into_iter()
                .collect(),
        }],
        partial_fingerprints: Fingerprints {
            primary_location_line_hash: finding.fingerprint.clone(),
        },
    }
}
