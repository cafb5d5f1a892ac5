//! The outputs for CI systems, read back as those systems read them.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rooflint::gate::{Action, Decision, Outcome, Verdict};
use rooflint::units::RelativeChange;
use serde_json::{Value, json};

use super::{rendered, sample, samples};

fn parsed(output: &str, decision: &Decision) -> Value {
    serde_json::from_str(&rendered(output, decision)).unwrap()
}

fn assert_valid(schema: &Value, document: &Value, name: &str) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

#[test]
fn sarif_follows_the_standard() {
    // As published, two patterns have a bracket too many, which strict readers of patterns refuse.
    let wrong = "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$";
    let schema = include_str!("../../schemas/sarif-2.1.0.json");
    assert_eq!(schema.matches(wrong).count(), 2);
    let schema: Value =
        serde_json::from_str(&schema.replace(wrong, "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$")).unwrap();
    for (name, decision) in samples() {
        assert_valid(&schema, &parsed("sarif", &decision), name);
    }
    // The schema does say no.
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut broken = parsed("sarif", &sample::full());
    broken["runs"][0]["results"][0]["level"] = json!("grave");
    assert!(!validator.is_valid(&broken));
}

/// A text that GitHub does not take for missing.
fn text(value: &Value) -> &str {
    let text = value.as_str().unwrap_or_default();
    assert!(!text.trim().is_empty(), "empty counts as missing");
    text
}

#[test]
fn sarif_has_all_that_code_scanning_requires() {
    for (name, decision) in samples() {
        let log = parsed("sarif", &decision);
        assert_eq!(log["version"], "2.1.0");
        assert_eq!(log["$schema"], "https://json.schemastore.org/sarif-2.1.0.json");
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(text(&driver["name"]), "rooflint");
        assert_eq!(driver["semanticVersion"], env!("CARGO_PKG_VERSION"));
        assert!(text(&run["automationDetails"]["id"]).ends_with('/'));
        let rules = driver["rules"].as_array().unwrap();
        assert!(!rules.is_empty());
        for rule in rules {
            text(&rule["id"]);
            assert!(text(&rule["shortDescription"]["text"]).len() <= 1024);
            assert!(text(&rule["fullDescription"]["text"]).len() <= 1024);
            text(&rule["help"]["text"]);
            assert!(
                ["note", "warning", "error"]
                    .contains(&text(&rule["defaultConfiguration"]["level"]))
            );
            assert!(rule["properties"]["tags"].as_array().unwrap().len() <= 10);
            text(&rule["properties"]["precision"]);
            text(&rule["properties"]["problem.severity"]);
        }
        let mut fingerprints = BTreeSet::new();
        for result in run["results"].as_array().unwrap() {
            text(&result["message"]["text"]);
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            let uri = text(&place["artifactLocation"]["uri"]);
            assert!(!uri.starts_with('/') && !uri.contains([' ', '<', '\\', ':']), "{uri}");
            for key in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(place["region"][key].as_u64().unwrap() >= 1, "{key}");
            }
            let fingerprint = text(&result["partialFingerprints"]["primaryLocationLineHash"]);
            assert!(fingerprints.insert(fingerprint.to_owned()), "{name}: {fingerprint} twice");
        }
    }
}

#[test]
fn sarif_findings_are_where_the_code_is_and_as_grave_as_the_policy_says() {
    let log = parsed("sarif", &sample::full());
    let results = log["runs"][0]["results"].as_array().unwrap();
    let shown: Vec<(&str, &str)> = results
        .iter()
        .map(|result| {
            let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
            (text(&result["level"]), text(place))
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("error", "model/linear%20layers.py"),
            ("error", "src/odd%2Cname%3A1.cu"),
            ("error", "profiles/now%201.csv"),
            ("error", "profiles/now%201.csv"),
            ("warning", "profiles/now%201.csv"),
            ("warning", "profiles/now%201.csv"),
            ("warning", "profiles/now%201.csv"),
            ("warning", "profiles/now%201.csv"),
            ("note", "profiles/now%201.csv"),
        ]
    );
    let many = parsed("sarif", &sample::many(7_000));
    assert_eq!(many["runs"][0]["results"].as_array().unwrap().len(), 5_000);
    assert_eq!(many["runs"][0]["properties"]["resultsLeftOut"], 600);
    // The gravest stay.
    let levels = |level: &str| {
        let results = many["runs"][0]["results"].as_array().unwrap();
        results.iter().filter(|result| result["level"] == level).count()
    };
    assert_eq!((levels("error"), levels("warning")), (1_400, 2_800));
}

#[test]
fn fingerprints_do_not_follow_numbers() {
    let of = |decision: &Decision| -> BTreeSet<String> {
        let log = parsed("sarif", decision);
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let print = |one: &Value| one["partialFingerprints"].to_string();
        results.iter().map(print).collect()
    };
    let mut other = sample::full();
    for check in &mut other.checks {
        check.change = check.change.map(|change| RelativeChange::new(change.get() * 1.1));
        check.message.push_str(" or so");
    }
    other.checks.swap(0, 1);
    assert_eq!(of(&other), of(&sample::full()));
}

/// A test case as a reader of the XML sees it.
#[derive(Debug, Default)]
struct Case {
    suite: String,
    name: String,
    classname: String,
    time: Option<f64>,
    outcome: String,
    message: String,
    properties: usize,
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().map(Result::unwrap);
    let mut found = found.filter(|one| one.key.as_ref() == name.as_bytes());
    let value = found.next()?;
    assert!(found.next().is_none(), "{name} twice");
    Some(
        quick_xml::escape::unescape(std::str::from_utf8(&value.value).unwrap())
            .unwrap()
            .into_owned(),
    )
}

fn cases(xml: &str) -> Vec<Case> {
    let mut reader = Reader::from_str(xml);
    let mut cases: Vec<Case> = Vec::new();
    let mut suite = String::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return cases,
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                b"testsuite" => suite = attribute(&tag, "name").unwrap(),
                b"testcase" => cases.push(Case {
                    suite: suite.clone(),
                    name: attribute(&tag, "name").unwrap(),
                    classname: attribute(&tag, "classname").unwrap(),
                    time: attribute(&tag, "time").map(|time| time.parse().unwrap()),
                    ..Case::default()
                }),
                b"property" => {
                    attribute(&tag, "name").unwrap();
                    attribute(&tag, "value").unwrap();
                    cases.last_mut().unwrap().properties += 1;
                }
                kind @ (b"failure" | b"error" | b"skipped") => {
                    let case = cases.last_mut().unwrap();
                    case.outcome = String::from_utf8(kind.to_vec()).unwrap();
                    case.message = attribute(&tag, "message").unwrap();
                }
                _ => {}
            },
            _ => {}
        }
    }
}

#[test]
fn junit_has_what_its_readers_take() {
    for (name, decision) in samples() {
        let xml = rendered("junit", &decision);
        let cases = cases(&xml);
        assert_eq!(cases.len(), decision.checks.len() + 1, "{name}");
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len(), "{name}: names are unique");
        for case in &cases {
            assert!(!case.name.trim().is_empty() && !case.suite.is_empty());
            assert!(case.classname.starts_with("rooflint."), "{case:?}");
            assert!(case.outcome.is_empty() || !case.message.is_empty(), "{case:?}");
            assert!(case.properties > 0 || case.name == "gate");
        }
    }
}

#[test]
fn junit_fails_what_the_gate_fails() {
    let decision = sample::full();
    let xml = rendered("junit", &decision);
    let full = cases(&xml);
    let of = |outcome: &str| full.iter().filter(|case| case.outcome == outcome).count();
    // The gate itself, and what the policy fails; the waived, the doubtful and the lone are skipped.
    assert_eq!((of("failure"), of("skipped"), of("error")), (5, 6, 0));
    let slow = full.iter().find(|case| case.name.starts_with("sm90_xmma")).unwrap();
    assert_eq!(slow.time, Some(0.008_310_2));
    assert_eq!(slow.suite, "NVIDIA H100 SXM5 80 GB");
    let clean = cases(&rendered("junit", &sample::clean()));
    assert!(clean.iter().all(|case| case.outcome.is_empty()) && clean.len() == 3);
    let empty = cases(&rendered("junit", &sample::empty()));
    assert_eq!(empty[0].outcome, "error", "nothing measured is no green run");
    for decision in [
        Decision { warn_only: true, ..sample::full() },
        Decision { decides: false, ..sample::full() },
    ] {
        let cases = cases(&rendered("junit", &decision));
        assert!(cases.iter().all(|case| case.outcome != "failure"));
    }
}

#[test]
fn junit_names_stay_unique_where_kernels_share_theirs() {
    let mut decision = sample::single();
    decision.checks = vec![decision.checks[0].clone(); 4];
    let cases = cases(&rendered("junit", &decision));
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), 5, "{names:#?}");
}

#[test]
fn gitlab_takes_the_array() {
    let schema: Value =
        serde_json::from_str(include_str!("../../schemas/gitlab-code-quality.json")).unwrap();
    for (name, decision) in samples() {
        let text = rendered("gitlab", &decision);
        assert!(text.starts_with('['), "no mark of the byte order");
        let issues = parsed("gitlab", &decision);
        assert_valid(&schema, &issues, name);
        let issues = issues.as_array().unwrap();
        let prints: BTreeSet<String> =
            issues.iter().map(|issue| issue["fingerprint"].to_string()).collect();
        assert_eq!(prints.len(), issues.len(), "{name}: equal ones collapse");
        for issue in issues {
            let (description, check) =
                (&issue["description"], issue["check_name"].as_str().unwrap());
            assert!(description.as_str().unwrap().starts_with(check));
        }
    }
    assert_eq!(parsed("gitlab", &sample::clean()), json!([]));
    assert_eq!(parsed("gitlab", &sample::empty())[0]["severity"], "blocker");
    assert_eq!(parsed("gitlab", &sample::single())[0]["severity"], "critical");
}

/// A workflow command as GitHub's runner reads it from a line.
#[derive(Debug, PartialEq, Eq)]
struct Command {
    name: String,
    properties: Vec<(String, String)>,
    message: String,
}

/// The runner takes a line for a command if it begins with `::`, blanks aside; then it undoes the
/// escapes, of properties also those of `:` and `,`.
fn command(line: &str) -> Option<Command> {
    let line = line.trim_start().strip_prefix("::")?;
    let (head, message) = line.split_once("::")?;
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let data = |text: &str| text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%");
    let property = |text: &str| {
        let text = text.replace("%0D", "\r").replace("%0A", "\n");
        text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
    };
    let properties = properties.split(',').filter_map(|pair| pair.split_once('='));
    Some(Command {
        name: name.to_owned(),
        properties: properties.map(|(key, value)| (key.to_owned(), property(value))).collect(),
        message: data(message),
    })
}

#[test]
fn github_reads_what_was_meant() {
    let text = rendered("github", &sample::full());
    let commands: Vec<Command> = text.lines().map(|line| command(line).unwrap()).collect();
    for command in &commands {
        assert!(["error", "warning", "notice"].contains(&command.name.as_str()), "{command:?}");
        let keys: Vec<&str> = command.properties.iter().map(|(key, _)| key.as_str()).collect();
        assert!(keys == ["title"] || keys == ["file", "line", "title"], "{command:?}");
    }
    assert_eq!(commands[0].properties, [("title".to_owned(), "rooflint: gate failed".to_owned())]);
    let odd = &commands[2];
    assert_eq!(odd.properties[0].1, "src/odd,name:1.cu");
    assert_eq!(odd.properties[2].1, "rooflint: regression: a|b`c [aten::linear]");
    assert!(odd.message.contains(sample::NAMES[3]), "{odd:?}");
    // A name that holds an escape stays what it is.
    let escaped = &commands[3];
    assert!(escaped.message.contains(sample::NAMES[5]), "{escaped:?}");
    assert_eq!(commands.len(), 10);
}

#[test]
fn github_annotates_ten_of_each_kind_and_counts_the_rest() {
    let text = rendered("github", &sample::many(200));
    for name in ["error", "warning", "notice"] {
        let of = text.lines().filter_map(command).filter(|command| command.name == name);
        assert_eq!(of.count(), 10, "{name}");
    }
    let last = text.lines().last().unwrap();
    assert_eq!(
        last,
        "rooflint: 31 errors, 70 warnings, 30 notices not annotated, because GitHub shows 10 of \
         each kind per step; see the report"
    );
    let clean = rendered("github", &sample::clean());
    assert!(clean.starts_with("::notice title=rooflint%3A gate passed::"), "{clean}");
    assert_eq!(clean.lines().count(), 1);
}

/// A first run passes, and no reader counts it as a comparison.
#[test]
fn a_first_run_is_no_clean_result() {
    let first = sample::first();
    assert_eq!(cases(&rendered("junit", &first))[0].outcome, "skipped");
    let issues = parsed("gitlab", &first);
    assert_eq!(issues[0]["severity"], "minor");
    assert!(issues[0]["description"].as_str().unwrap().contains("nothing was compared"));
    let github = rendered("github", &first);
    assert!(github.starts_with("::warning title=rooflint%3A gate passed%2C nothing"), "{github}");
    let sarif = rendered("sarif", &first);
    assert!(sarif.contains("\"level\": \"warning\",\n          \"message\""), "{sarif}");
}

#[test]
fn what_only_informs_raises_no_error() {
    for decision in [
        Decision { warn_only: true, ..sample::full() },
        Decision { decides: false, ..sample::full() },
    ] {
        assert!(!rendered("github", &decision).lines().any(|line| line.starts_with("::error")));
        assert!(
            !rendered("sarif", &decision).contains("\"level\": \"error\",\n          \"message\"")
        );
        assert!(!rendered("gitlab", &decision).contains("critical"));
    }
    let nothing = Decision { warn_only: true, ..sample::empty() };
    assert!(rendered("github", &nothing).contains("::error"), "nothing measured is always wrong");
}

#[test]
fn an_outcome_without_a_check_is_told_nevertheless() {
    let mut decision = sample::full();
    decision.outcome = Outcome::Inconclusive;
    decision.checks.retain(|check| check.action < Action::Inconclusive);
    decision.checks.retain(|check| check.verdict != Verdict::Regression);
    for output in ["sarif", "gitlab"] {
        assert!(rendered(output, &decision).contains(&decision.reason), "{output}");
    }
}
