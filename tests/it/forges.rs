//! What forges run of this repository, run as they run it: the steps of the action, the job for GitLab, the packing of
//! a release. The YAML around it is checked against the published schemas by `ci/check.sh`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::gate::cli::copies;
use crate::house::root;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// The path with the program that is tested in front.
fn path() -> std::ffi::OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_rooflint")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&path))).unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Five runs of a baseline, as many that are the same, and as many in which one kernel is slower.
fn runs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copies(folder.path(), "main", 5, ("", 1.0));
    copies(folder.path(), "same", 5, ("", 1.001));
    copies(folder.path(), "slow", 5, ("softmax", 1.3));
    let off = |metric: &str| format!("[[gate.limit]]\nmetric = \"{metric}\"\naction = \"none\"\n");
    let idle = ["time", "kernel-total", "total", "common-shift"].map(off).concat();
    fs::write(folder.path().join("idle.toml"), idle).unwrap();
    folder
}

/// What a step of the action left: its log, the summary of the job and its outputs.
struct Step {
    log: String,
    summary: String,
    outputs: BTreeMap<String, String>,
}

/// The step `Gate` of the action with these inputs.
fn gate(folder: &Path, inputs: &[(&str, &str)]) -> Step {
    let (summary, outputs) = (folder.join("summary"), folder.join("outputs"));
    fs::write(&summary, "").unwrap();
    fs::write(&outputs, "").unwrap();
    let mut command = Command::new("bash");
    command.arg(root().join("ci/action/gate.sh")).current_dir(folder).env_clear();
    command.env("PATH", path()).env("GITHUB_ACTIONS", "true").env("RUNNER_TEMP", folder);
    command.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_OUTPUT", &outputs);
    command.envs(inputs.iter().map(|(name, value)| (format!("INPUT_{name}"), value)));
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    let outputs = fs::read_to_string(outputs).unwrap();
    let pairs = outputs.lines().map(|line| line.split_once('=').unwrap());
    Step {
        log: text(&done),
        summary: fs::read_to_string(summary).unwrap(),
        outputs: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    }
}

#[test]
fn the_action_passes_fails_and_leaves_its_reports() {
    let folder = runs();
    let at = folder.path();
    let baseline = ("BASELINE", "\n  main-*.csv  \n\n");
    for (profiles, more, verdict, status) in [
        ("same-*.csv", vec![], "passed", "0"),
        ("slow-*.csv", vec![], "failed", "1"),
        ("slow-*.csv", vec![("FAIL_ON", "failed")], "failed", "1"),
        ("slow-*.csv", vec![("FAIL_ON", "never")], "failed", "0"),
        ("same-*.csv", vec![("POLICY", "idle.toml")], "inconclusive", "4"),
        ("same-*.csv", vec![("POLICY", "idle.toml"), ("FAIL_ON", "failed")], "inconclusive", "0"),
        ("same-*.csv", vec![("ARGS", "--order=AB\n--no-config")], "error", "2"),
        ("same-*.csv", vec![("DEVICE", "H900")], "error", "2"),
        ("same-*.csv", vec![("FAIL_ON", "sometimes")], "error", "2"),
        ("none-*.csv", vec![("FAIL_ON", "never")], "error", "3"),
    ] {
        let case = format!("{profiles} {more:?}");
        let step = gate(at, &[&[("PROFILES", profiles), baseline], more.as_slice()].concat());
        let output = |name: &str| step.outputs.get(name).map(String::as_str);
        assert_eq!(output("verdict"), Some(verdict), "{case}: {}", step.log);
        assert_eq!(output("status"), Some(status), "{case}");
        if verdict == "error" {
            assert!(step.log.contains("::error title=rooflint::"), "{case}: {}", step.log);
            continue;
        }
        assert!(step.summary.contains("**Gate**"), "{case}: {}", step.summary);
        for (name, begins) in [("report", "{"), ("page", "<!doctype html>"), ("sarif", "{")] {
            let file = PathBuf::from(output(name).unwrap());
            assert!(file.starts_with(output("folder").unwrap()), "{case}: {name}");
            let text = fs::read_to_string(&file).unwrap().to_lowercase();
            assert!(text.starts_with(begins), "{case}: {name}");
        }
        let softmax = step.log.contains("::error title=rooflint%3A regression%3A softmax");
        assert_eq!(softmax, verdict == "failed", "{case}: {}", step.log);
    }
}

/// The first run of a project: without a baseline the job fails with the next step, or passes if it is allowed to.
#[test]
fn the_action_without_a_baseline() {
    let folder = runs();
    let inputs = [("PROFILES", "same-*.csv"), ("BASELINE", "baselines")];
    let refused = gate(folder.path(), &inputs);
    assert_eq!(refused.outputs["verdict"], "error", "{}", refused.log);
    assert!(refused.summary.contains("there is no baseline"), "{}", refused.summary);
    let allowed = [inputs.as_slice(), &[("ARGS", "--allow-missing-baseline")]].concat();
    let first = gate(folder.path(), &allowed);
    assert_eq!(first.outputs["verdict"], "passed", "{}", first.log);
    assert!(first.summary.contains("saved as the first baseline"), "{}", first.summary);
    // What the first run saved is what the next one is compared with.
    let slow = gate(folder.path(), &[("PROFILES", "slow-*.csv"), ("BASELINE", "baselines")]);
    assert_eq!(slow.outputs["verdict"], "failed", "{}", slow.log);
}

/// Inputs are data: nothing in them runs, becomes an option, or speaks to the runner.
#[test]
fn inputs_of_the_action_are_data() {
    let folder = runs();
    let hostile = "$(touch ran); `touch ran`\n--exit-zero\n::error::hello";
    let step = gate(folder.path(), &[("PROFILES", hostile), ("BASELINE", "main-*.csv")]);
    assert!(!folder.path().join("ran").exists());
    assert_eq!(step.outputs["verdict"], "error", "{}", step.log);
    assert!(step.log.contains("--exit-zero"), "it is a file: {}", step.log);
    let mut stopped = false;
    for line in step.log.lines() {
        let is_stop = line.starts_with("::stop-commands::") || line.starts_with("::rooflint-");
        stopped ^= is_stop;
        let speaks = line.starts_with("::") && !is_stop && !line.contains("title=rooflint");
        assert!(stopped || !speaks, "{line}");
    }
}

/// The script of the job in `ci/gitlab.yml`: the block with the gate in it.
fn gitlab_script() -> String {
    let file = read("ci/gitlab.yml");
    let block = file.split("    - |\n").find(|block| block.contains("set -- gate")).unwrap();
    let lines = block.lines().take_while(|line| line.starts_with("      "));
    lines.flat_map(|line| [&line[6..], "\n"]).collect()
}

#[test]
fn the_job_for_gitlab_passes_and_fails() {
    let folder = runs();
    for (profiles, fail_on, wanted) in [
        ("same-*.csv", "inconclusive", 0),
        ("slow-*.csv", "inconclusive", 1),
        ("slow-*.csv", "never", 0),
        ("none-*.csv", "never", 3),
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", &gitlab_script()]).current_dir(folder.path()).env_clear();
        command.env("PATH", path()).env("INPUT_BASELINE", "main-0.csv\nmain-[1-4].csv\n");
        command.env("INPUT_PROFILES", profiles).env("INPUT_FAIL_ON", fail_on);
        let done = command.output().unwrap();
        assert_eq!(done.status.code(), Some(wanted), "{profiles}: {}", text(&done));
    }
    for report in ["page.html", "report.json", "junit.xml", "quality.json", "metrics.txt"] {
        assert!(folder.path().join("rooflint-reports").join(report).exists(), "{report}");
    }
    // Every input is a variable of the job, and the script has every variable.
    let file = read("ci/gitlab.yml");
    let (inputs, job) = file.split_once("\n---\n").unwrap();
    let names = inputs.lines().filter_map(|line| line.strip_prefix("    ")?.strip_suffix(':'));
    let names: Vec<&str> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        assert!(job.contains(&format!("$[[ inputs.{name} ]]")), "{name}");
    }
    for variable in job.lines().filter_map(|line| line.trim().split_once(": $[[").map(|v| v.0)) {
        let used =
            job.contains(&format!("${variable}")) || variable.chars().any(char::is_lowercase);
        assert!(used, "{variable}");
    }
}

fn executable(file: &Path, script: &str) {
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Packs a stand-in for the program, since the program itself takes seconds to compress.
fn packed(folder: &Path, target: &str) -> Output {
    let program = folder.join("rooflint");
    let script = format!(
        "case \"$1\" in --version) echo 'rooflint {VERSION}';; completions) echo \"for $2\";; \
         man) echo page >\"$3/rooflint.1\";; *) exit 9;; esac"
    );
    executable(&program, &script);
    fs::write(folder.join("THIRD-PARTY.txt"), "notices\n").unwrap();
    let mut command = Command::new("bash");
    command.arg(root().join("ci/release/package.sh")).arg(&program).arg(target);
    command.arg(folder.join("releases").join(format!("v{VERSION}")));
    command.arg(folder.join("THIRD-PARTY.txt")).output().unwrap()
}

/// The step `Install` of the action where no wheel is to be had.
fn install(folder: &Path, version: &str) -> Output {
    fs::write(folder.join("path"), "").unwrap();
    let mut command = Command::new("bash");
    command.arg(root().join("ci/action/install.sh")).env_clear();
    let here = std::env::var_os("PATH").unwrap_or_default();
    let tools = folder.join("tools");
    fs::create_dir_all(&tools).unwrap();
    // A Python and a cargo that have nothing, before those of whoever tests.
    for tool in ["python3", "cargo"] {
        executable(&tools.join(tool), "exit 1");
    }
    let paths = std::iter::once(tools).chain(std::env::split_paths(&here));
    command.env("PATH", std::env::join_paths(paths).unwrap());
    command.env("RUNNER_TEMP", folder).env("GITHUB_PATH", folder.join("path"));
    command.env("RELEASES_URL", format!("file://{}", folder.join("releases").display()));
    command.env("INPUT_VERSION", version).output().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_release_packs_is_what_the_action_and_binstall_install() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("curl is not installed: skipped");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let done = packed(folder.path(), &target);
    assert!(done.status.success(), "{}", text(&done));

    // The name that cargo-binstall makes of the template in Cargo.toml.
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let package = &manifest["package"];
    let fill = |key: &str| {
        let template = package["metadata"]["binstall"][key].as_str().unwrap();
        [
            ("{ repo }", folder.path().join("releases").to_str().unwrap()),
            ("{ version }", VERSION),
            ("{ name }", "rooflint"),
            ("{ target }", &target),
            ("{ archive-suffix }", ".tar.gz"),
            ("{ bin }", "rooflint"),
            ("{ binary-ext }", ""),
            ("/releases/download/", "/"),
        ]
        .into_iter()
        .fold(template.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let archive = PathBuf::from(fill("pkg-url"));
    assert!(archive.exists(), "{}", archive.display());
    let listed = Command::new("tar").arg("-tzf").arg(&archive).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let folder_in_it = format!("rooflint-{VERSION}-{target}");
    let inside = |name: &str| listed.lines().any(|line| line == format!("{folder_in_it}/{name}"));
    assert!(listed.lines().any(|line| line == fill("bin-dir")), "{listed}");
    for name in [
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "README.md",
        "CHANGELOG.md",
        "THIRD-PARTY.txt",
        "docs/guide.md",
        "man/rooflint.1",
        "completions/_rooflint",
        "completions/rooflint.fish",
    ] {
        assert!(inside(name), "{name}: {listed}");
    }

    // By default the version of the repository that the action is in.
    let done = install(folder.path(), "");
    assert!(done.status.success(), "{}", text(&done));
    let bin = fs::read_to_string(folder.path().join("path")).unwrap();
    let version = Command::new(Path::new(bin.trim()).join("rooflint")).arg("--version").output();
    assert_eq!(
        String::from_utf8(version.unwrap().stdout).unwrap(),
        format!("rooflint {VERSION}\n")
    );

    let absent = install(folder.path(), "9.9.9");
    assert!(!absent.status.success() && text(&absent).contains("could not be installed"));
    let none = install(folder.path(), "installed");
    assert!(!none.status.success() && text(&none).contains("no rooflint is on the path"));
    // A file that is not what its checksum says is never unpacked.
    let mut bytes = fs::read(&archive).unwrap();
    bytes.push(0);
    fs::write(&archive, bytes).unwrap();
    let damaged = install(folder.path(), VERSION);
    assert!(!damaged.status.success());
    assert!(text(&damaged).contains("does not match its checksum"), "{}", text(&damaged));
}

#[test]
fn notes_of_a_release_are_its_section_of_the_changelog() {
    let folder = tempfile::tempdir().unwrap();
    let changelog = folder.path().join("CHANGELOG.md");
    let text = "# Changelog\n\n## Unreleased\n\n- no\n\n## 1.2.0 - 2027-01-31\n\n### New\n\n- yes\n\n## 1.1.0\n\n- old\n";
    fs::write(&changelog, text).unwrap();
    let notes = |version: &str| {
        let mut command = Command::new("bash");
        let command = command.arg(root().join("ci/release/notes.sh")).arg(version).arg(&changelog);
        let output = command.output().unwrap();
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(notes("1.2.0").unwrap().trim(), "### New\n\n- yes");
    assert_eq!(notes("1.1.0").unwrap().trim(), "- old");
    assert_eq!(notes("1.3.0"), None);
    assert_eq!(notes("1"), None);
}

/// The value between these texts wherever it stands in a file.
fn between<'a>(text: &'a str, before: &'a str, after: char) -> impl Iterator<Item = &'a str> {
    text.split(before).skip(1).map(move |rest| rest.split(after).next().unwrap())
}

#[test]
fn one_version_stands_in_all_files() {
    for (file, before, after) in [
        ("CITATION.cff", "\nversion: ", '\n'),
        ("ci/gitlab.yml", "ghcr.io/rooflint/rooflint:", '\n'),
        ("ci/gitlab.yml", "has no rooflint\n      default: ", '\n'),
        ("docs/pipelines.md", "rooflint/rooflint@v", '\n'),
        ("docs/pipelines.md", "rooflint/rooflint:", '"'),
        ("docs/pipelines.md", "/rooflint/rooflint/v", '/'),
        ("docs/pipelines.md", "rev: v", '\n'),
        ("docs/pipelines.md", "rooflint==", ']'),
        ("README.md", "rooflint/rooflint@v", '\n'),
        ("python/Cargo.toml", "\nversion = \"", '"'),
    ] {
        let text = read(file);
        let found: Vec<&str> = between(&text, before, after).map(str::trim).collect();
        assert!(!found.is_empty(), "{file}: {before}");
        assert!(found.iter().all(|one| *one == VERSION), "{file}: {found:?}, not {VERSION}");
    }
    let toolchain = read("rust-toolchain.toml");
    let channel = between(&toolchain, "channel = \"", '"').next().unwrap();
    let image = read("Containerfile");
    let image = between(&image, "/library/rust:", '-').next().unwrap();
    assert!(channel.starts_with(&format!("{image}.")), "{channel} and {image}");
}

#[test]
fn notices_accept_the_licenses_that_the_tree_may_have() {
    let table = |file: &str| toml::from_str::<toml::Table>(&read(file)).unwrap();
    assert_eq!(table("about.toml")["accepted"], table("deny.toml")["licenses"]["allow"]);
}

#[test]
fn every_input_of_the_action_is_documented_and_used() {
    let (action, page) = (read("action.yml"), read("docs/pipelines.md"));
    let inputs = between(&action, "\ninputs:\n", '#').next().unwrap();
    let inputs = inputs.split("\noutputs:").next().unwrap().lines();
    let names = inputs.filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<&str> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "{name} is not in the table");
        assert!(action.contains(&format!("inputs.{name} ")), "{name} is not used");
    }
    // What a script reads comes through variables: an expression in a script is code.
    for script in between(&action, "run: ", '\n') {
        assert!(!script.contains("${{"), "{script}");
    }
}

/// A tag can be moved, a commit cannot.
#[test]
fn actions_of_others_are_named_by_commit() {
    let folder = fs::read_dir(root().join(".github/workflows")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.push(root().join("action.yml"));
    let mut seen = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for used in between(&text, "uses: ", '\n').filter(|used| !used.starts_with("./")) {
            let (name, rest) = used.split_once('@').unwrap();
            let (commit, version) = rest.split_once(" # v").unwrap_or_else(|| panic!("{used}"));
            assert!(commit.len() == 40 && commit.bytes().all(|c| c.is_ascii_hexdigit()), "{used}");
            // One version of each, everywhere.
            let known =
                seen.entry(name.to_owned()).or_insert((commit.to_owned(), version.to_owned()));
            assert_eq!((known.0.as_str(), known.1.as_str()), (commit, version), "{name}");
        }
    }
    assert!(seen.len() > 5, "{seen:?}");
}
