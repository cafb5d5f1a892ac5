//! Custom rules as a user writes them: the columns they can ask, what they find, how they are
//! refused.

use std::path::Path;

use rooflint::analysis::{self, Options, Place, State};
use rooflint::catalog::Catalog;
use rooflint::config::Config;
use rooflint::ingest::{self, Input};
use rooflint::rules::{self, Expression, Over, Settings};
use rooflint::table::Form;
use serde_json::Value;

use super::golden::{check, fixtures, reading};
use super::predict::program::{Run, program};

/// Runs the program with a configuration in a file.
fn with_config(config: &str, arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rooflint.toml");
    std::fs::write(&path, config).unwrap();
    let config = ["--config", path.to_str().unwrap()];
    let full = arguments.iter().all(|one| !one.starts_with("--explain"));
    let full: &[&str] = if full && arguments[0] == "demo" { &["--full"] } else { &[] };
    program(&[arguments, full, &config].concat())
}

const SLOW: &str = r#"
[[custom-rule]]
id = "slow-house-gemm"
when = 'category == "dot-product" && headroom > 1.2 && share > 0.1'
message = "{name} is {headroom} above its roof"
severity = "high"
next = "ask the kernels team"
at-stake = 'savings_high_s'

[[custom-rule]]
id = "long-launch"
over = "launches"
when = 'duration_s > 1e-3 && sm_clock_hz < 1.7e9'
message = "a launch at {sm_clock_hz}"
severity = "low"

[[custom-rule]]
id = "never"
when = 'peer_reviewed'
message = "never"
"#;

fn rules_of(config: &str) -> Settings {
    Config::parse("rooflint.toml", config).unwrap().rules
}

fn two() -> String {
    SLOW[..SLOW.rfind("[[custom-rule]]").unwrap()].to_owned()
}

#[test]
fn what_custom_rules_find_is_in_every_output() {
    let text = with_config(&two(), &["demo"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    // The first product: 16.0 ms measured, 12.8 ms expected.
    assert!(text.stdout.contains("try: ask the kernels team"), "{}", text.stdout);
    // Of kernels that are no opportunity, the text tells it in a section of its own.
    let (_, own) = text.stdout.split_once("\nCustom rules\n").unwrap();
    let (own, _) = own.split_once("\n\n").unwrap();
    let own: Vec<&str> = own.lines().collect();
    assert!(own[0].starts_with("  high, slow-house-gemm on 3 kernels, such as "), "{own:?}");
    assert!(own[1].starts_with("  low, long-launch on "), "{own:?}");
    let json = with_config(&two(), &["demo", "--format", "json"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let schema = serde_json::from_str(&rooflint::report::schema()).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&report));
    let found: Vec<&Value> = report["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|kernel| kernel["findings"].as_array().unwrap())
        .filter(|finding| finding["rule"] == "slow-house-gemm")
        .collect();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|finding| finding["severity"] == "high"));
    assert!(found[0]["message"].as_str().unwrap().contains("is 1.25× above its roof"));
    let tally = |rule: &str| {
        let tallies = report["rules"].as_array().unwrap();
        tallies.iter().find(|tally| tally["rule"] == rule).unwrap().clone()
    };
    // The all-reduce has a category that settles it, and no headroom that it would need.
    let slow = tally("slow-house-gemm");
    let sum: u64 = ["found", "content", "cannot_judge", "minor", "silenced"]
        .map(|count| slow[count].as_u64().unwrap())
        .iter()
        .sum();
    assert_eq!(sum, report["kernels"].as_array().unwrap().len() as u64);
    assert_eq!(slow["cannot_judge"], 0);
    assert!(tally("long-launch")["found"].as_u64().unwrap() > 0);
    let markdown = with_config(&two(), &["demo", "--format", "markdown"]);
    assert!(
        markdown
            .stdout
            .contains("<summary>Custom rules</summary>\n\n- high, slow-house-gemm on 3 ")
    );
    let csv = with_config(&two(), &["demo", "--format", "csv"]);
    assert!(csv.stdout.contains("slow-house-gemm long-launch"), "{}", csv.stdout);
    let explained = with_config(&two(), &["demo", "--explain", "--kernel", "*128x256*"]);
    for told in [
        "slow-house-gemm",
        "severity high, confidence medium; at stake",
        "by expression",
        "headroom",
    ] {
        assert!(explained.stdout.contains(told), "{told}: {}", explained.stdout);
    }
}

#[test]
fn custom_rules_are_selected_and_left_out_like_others() {
    let speaks = |run: &Run, rule: &str| run.code == 0 && run.stdout.contains(rule);
    let only = with_config(&two(), &["demo", "--select", "slow-house-gemm"]);
    assert!(
        speaks(&only, "slow-house-gemm") && !speaks(&only, "uncoalesced-access"),
        "{}",
        only.stdout
    );
    let without = with_config(&two(), &["demo", "--ignore", "slow-house-gemm"]);
    assert!(!speaks(&without, "slow-house-gemm") && speaks(&without, "uncoalesced-access"));
    let named = format!("[rules]\nignore = [\"slow-house-gemm\"]\n{}", two());
    assert!(!speaks(&with_config(&named, &["demo"]), "slow-house-gemm"));
    let wrong = with_config(&two(), &["demo", "--select", "slow-house-gem"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("did you mean \"slow-house-gemm\"?"), "{}", wrong.stderr);
}

#[test]
fn a_waived_kernel_is_looked_at_all_the_same() {
    let waiver =
        "[[waiver]]\nkernel = \"*transpose_naive*\"\nreason = \"soon\"\nexpires = 2999-01-31\n";
    let rule = "[[custom-rule]]\nid = \"waived\"\nwhen = 'state == \"waived\"'\nmessage = \"it is {state}\"\n";
    let run = with_config(&format!("{waiver}{rule}"), &["demo", "--format", "json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let tally = report["rules"].as_array().unwrap().iter().find(|tally| tally["rule"] == "waived");
    assert_eq!(tally.unwrap()["found"], 1);
}

#[test]
fn own_rules_are_listed_and_documented() {
    let list = with_config(&two(), &["rules"]);
    assert!(list.stdout.contains("\n  slow-house-gemm "), "{}", list.stdout);
    assert_eq!(
        list.stdout.lines().count(),
        rules::RULES.len() + 3,
        "a header, and two of the user's own"
    );
    let page = with_config(&two(), &["rules", "long-launch"]);
    for told in ["long-launch\n", "over launches", "duration_s > 1e-3", "sm_clock_hz"] {
        assert!(page.stdout.contains(told), "{told}: {}", page.stdout);
    }
    assert!(program(&["rules", "--no-config"]).stdout.lines().count() == rules::RULES.len() + 1);
    for over in Over::ALL {
        let columns = program(&["rules", "--columns", over.key(), "--format", "markdown"]);
        assert_eq!(columns.stdout, rules::columns_page(over));
    }
    let columns = program(&["rules", "--columns", "--format", "markdown"]);
    assert_eq!(columns.stdout, rules::columns_page(Over::Kernels));
}

#[test]
fn a_wrong_condition_is_refused_with_its_place() {
    let wrong = with_config(SLOW, &["demo"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
    let line = SLOW.lines().position(|line| line.contains("peer_reviewed")).unwrap() + 1;
    let told = format!("rooflint.toml:{line}:9: unknown kernel column \"peer_reviewed\"");
    assert!(wrong.stderr.contains(&told), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("help: "), "{}", wrong.stderr);
}

#[test]
fn the_examples_of_the_documents_are_read() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, section) = guide.split_once("## Custom rules").unwrap();
    let (_, example) = section.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let rules = rules_of(example);
    assert_eq!(rules.custom.len(), 2);
    let run = with_config(example, &["demo"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    // Every operator and function that the guide offers.
    for when in [
        "bytes + flops - bytes * 2 / 3 > 1",
        "name == \"a\" || name != \"b\" && !(share < 0.1) && rank <= 3 && rank >= 1",
        "tensor ? share > 0.1 : share > 0.2",
        "kind in [\"gemm\", \"gemv\"]",
        "name.contains(\"x\") || name.startsWith(\"x\") || name.endsWith(\"x\")",
        "share < 0.1 || bytes > 1e9",
    ] {
        assert!(Expression::condition(when, Over::Kernels).is_ok(), "{when}");
    }
}

#[test]
fn the_page_of_columns_is_fresh() {
    let mut page = String::from(
        "# What custom rules can ask\n\nMade from the program's lists of columns by `BLESS=1 cargo test`; \
         how custom rules are written is in [configuration.md](configuration.md#custom-rules).\n\
         `rooflint rules --columns` prints the first table, `rooflint rules --columns launches` the second. \
         Units are SI base units, shares are 0 to 1. A column that a kernel does not have is missing, never \
         zero.\n",
    );
    page.push_str(&rules::columns_page(Over::Kernels).replacen("# ", "\n## ", 1));
    let shown = |place: Place| {
        let columns = Over::Kernels.columns().all().iter().filter(|one| one.place == place);
        columns.map(|column| format!("`{}`", column.name)).collect::<Vec<_>>().join(", ")
    };
    page.push_str(&format!(
        "\nFigures of every report, in JSON and CSV alike: {}.\n\nIn CSV only, because JSON has them in \
         `algorithmic` and `levels`: {}.\n\nThe others can only be asked, or stand in `averages` and `work`.\n",
        shown(Place::Report),
        shown(Place::Nested)
    ));
    page.push_str(&rules::columns_page(Over::Launches).replacen("# ", "\n## ", 1));
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    check(&docs.join("columns.md"), &page);
}

/// The analysis of every fixture that has one.
fn analyzed(mut look: impl FnMut(&rooflint::model::Profile, &analysis::Analysis)) {
    let mut seen = 0;
    for (path, device) in fixtures() {
        let inputs = [Input::Named(path.clone())];
        let profile = ingest::read(&inputs, &reading(&path)).unwrap();
        let options = Options { device, ..Options::default() };
        let Ok(analysis) = analysis::analyze(&profile, &Catalog::builtin(), &options) else {
            continue;
        };
        look(&profile, &analysis);
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn every_column_can_be_asked_on_every_fixture() {
    // Each column is asked in a rule of its own, in the way its kind allows.
    for over in Over::ALL {
        let mut config = String::new();
        for (number, column) in over.columns().all().iter().enumerate() {
            let asked = match column.form {
                Form::Text => format!("{} != \"\" || true", column.name),
                Form::Truth => format!("{0} || !{0}", column.name),
                _ => format!("{0} >= 0 || {0} < 0", column.name),
            };
            let asked = if column.words.is_empty() || column.form != Form::Text {
                asked
            } else {
                format!("{} == \"{}\" || true", column.name, column.words[0])
            };
            let (key, name) = (over.key(), &column.name);
            config.push_str(&format!(
                "[[custom-rule]]\nid = \"rule-{number}\"\nover = \"{key}\"\nwhen = \
                 '{asked}'\nmessage = \"{{{name}}}\"\n"
            ));
        }
        let settings = rules_of(&config);
        analyzed(|profile, analysis| {
            let findings = rules::check(profile, analysis, &settings);
            let own = |id: &str| id.starts_with("rule-");
            for tally in findings.tally.iter().filter(|tally| own(&tally.rule)) {
                let judged = tally.found + tally.content + tally.cannot_judge + tally.minor;
                assert_eq!(judged, analysis.kernels.len(), "{tally:?}");
                let lacks: usize = tally.missing.values().sum();
                assert_eq!(lacks, tally.cannot_judge, "{tally:?}");
                // Only communication has columns that are not missing and not there: those of the roofline.
                let states = analysis.kernels.iter().map(|kernel| kernel.state);
                let links = states.filter(|state| *state == State::NotRoofline).count();
                assert!([0, links].contains(&tally.content), "{tally:?}");
            }
            for finding in findings.by_kernel.values().flatten().filter(|one| own(&one.rule)) {
                assert!(!finding.message.contains("NaN"), "{finding:?}");
                assert!(finding.evidence.iter().all(|fact| fact.value.is_finite()), "{finding:?}");
            }
        });
    }
}

#[test]
fn former_rule_ids_are_accepted_wherever_a_rule_is_named() {
    let page = program(&["rules", "tile-quantisation"]).stdout;
    assert!(page.starts_with("tile-quantization\n"), "{page}");
    assert!(page.contains("Former id: `tile-quantisation`."), "{page}");
    assert_eq!(page, program(&["rules", "tile-quantization"]).stdout);
    let list = program(&["rules", "--format", "csv"]).stdout;
    assert!(list.lines().any(|line| {
        line.starts_with("low-tensor-utilization,") && line.ends_with(",low-tensor-utilisation")
    }));
    let rules = rules_of(
        "[rules]\nignore = [\"low-tensor-utilisation\"]\nselect = [\"unmodelled-share\"]\n\
         [rule.tile-quantisation]\nuseful = 0.5",
    );
    assert!(rules.ignore.contains("low-tensor-utilization"));
    assert!(rules.select.contains("not-enough-data"));
    let key = ("tile-quantization".to_owned(), "useful".to_owned());
    assert_eq!(rules.thresholds.get(&key), Some(&0.5));
    // The demo has such a finding; without the rule it has none.
    let all = program(&["demo", "--format", "json"]).stdout;
    assert!(all.contains("\"rule\": \"low-tensor-utilization\", \"severity\""), "{all}");
    let out = program(&["demo", "--format", "json", "--ignore", "low-tensor-utilisation"]).stdout;
    assert!(!out.contains("\"rule\": \"low-tensor-utilization\""));
    // A custom rule cannot take the name that saved settings mean another rule by.
    let taken = "[[custom-rule]]\nid = \"tile-quantisation\"\nwhen = 'true'\nmessage = \"m\"";
    assert!(Config::parse("rooflint.toml", taken).is_err());
    // Bounds of a policy name rules too.
    let bound = "[[gate.bound]]\nname = \"b\"\nmetric = \"findings\"\nmax = 0\n\
                 rule = \"low-issue-utilisation\"";
    let policy = Config::parse("rooflint.toml", bound).unwrap();
    assert!(format!("{policy:?}").contains("low-issue-utilization"));
}
