//! What a pipeline needs beside the verdict: baselines by commit and branch, a first run, files as it expects them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::cli::{Outcome, demo, rooflint};

/// Runs git in a folder, independent of the settings of whoever tests.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(folder: &Path, message: &str) -> String {
    git(folder, &["commit", "-q", "--allow-empty", "-m", message]);
    git(folder, &["rev-parse", "HEAD"])
}

/// The same runs, with variables of a CI system.
fn with(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(folder).env_clear();
    // git is found by the path.
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The demo with all durations so many times as long, in a file.
fn run(folder: &Path, name: &str, factor: f64) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(demo()).unwrap();
    let mut writer = csv::Writer::from_path(folder.join(name)).unwrap();
    let mut column = 0;
    for (number, record) in reader.records().enumerate() {
        let record = record.unwrap();
        if number == 0 {
            column = record.iter().position(|cell| cell == "gpu__time_duration.sum").unwrap();
        }
        let cells = record.iter().enumerate().map(|(at, cell)| {
            let time = (at == column).then(|| cell.replace(',', "").parse::<f64>().ok()).flatten();
            time.map_or_else(|| cell.to_owned(), |time| (time * factor).to_string())
        });
        writer.write_record(cells).unwrap();
    }
    writer.flush().unwrap();
}

/// A repository with three commits on main, the first two saved, and a branch that began at the second; a third
/// commit of main, much slower, is saved too.
fn repository() -> (tempfile::TempDir, [String; 3]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    git(path, &["init", "-q"]);
    for (name, factor) in
        [("one.csv", 1.0), ("two.csv", 1.001), ("three.csv", 2.0), ("now.csv", 1.002)]
    {
        run(path, name, factor);
    }
    let save = |file: &str, date: &str| {
        let saved = with(path, &["baseline", "save", file, "--date", date], &[]);
        assert_eq!(saved.code, 0, "{}", saved.err);
    };
    let one = commit(path, "one");
    save("one.csv", "2026-11-01");
    let two = commit(path, "two");
    save("two.csv", "2026-11-02");
    git(path, &["branch", "work"]);
    let three = commit(path, "three");
    save("three.csv", "2026-11-03");
    git(path, &["switch", "-q", "work"]);
    commit(path, "work");
    (folder, [one, two, three])
}

#[test]
fn a_branch_is_compared_with_where_it_began() {
    let (folder, [one, two, three]) = repository();
    let gate = |arguments: &[&str]| {
        with(
            folder.path(),
            &[&["gate", "now.csv", "--baseline", "baselines"], arguments].concat(),
            &[],
        )
    };
    // The newest is twice as slow: the branch looks faster than it is.
    let newest = gate(&[]);
    assert!(newest.out.contains(&three[..8]), "{}", newest.out);
    let base = gate(&["--merge-base", "main"]);
    assert_eq!(base.code, 0, "{}{}", base.out, base.err);
    assert!(base.out.contains(&format!("commit {} on branch main", &two[..8])), "{}", base.out);
    let named = gate(&["--baseline-commit", &one[..10]]);
    assert!(named.out.contains(&format!("of commit {}", &one[..8])), "{}", named.out);
    // The branch's own commit was not saved: its nearest ancestor was.
    let head = gate(&["--baseline-commit", "HEAD"]);
    assert!(head.out.contains(&two[..8]) && head.out.contains("1 commit earlier"), "{}", head.out);
    let none = gate(&["--baseline-commit", "nowhere"]);
    assert_eq!(none.code, 2, "{}", none.out);
    assert!(none.err.contains("no run of commit nowhere is saved"), "{}", none.err);
    let option = gate(&["--baseline-commit=--output=x"]);
    assert_eq!(option.code, 2);
    assert!(!folder.path().join("x").exists());
}

/// A release is pinned by its tag: what is as fast as the newest baseline still fails against it.
#[test]
fn a_tag_can_be_the_anchor() {
    let (folder, [one, two, three]) = repository();
    let path = folder.path();
    git(path, &["tag", "v1", &one]);
    git(path, &["tag", "-a", "v2", "-m", "annotated", &two]);
    run(path, "slow.csv", 2.01);
    let gate = |anchor: &[&str]| {
        let base = ["gate", "slow.csv", "--baseline", "baselines", "--baseline-commit", &three];
        with(path, &[&base[..], anchor].concat(), &[])
    };
    let newest = gate(&[]);
    assert_eq!(newest.code, 0, "{}{}", newest.out, newest.err);
    for tag in ["v1", "v2"] {
        let anchored = gate(&["--anchor", tag]);
        assert_eq!(anchored.code, 1, "{tag}: {}{}", anchored.out, anchored.err);
        assert!(anchored.out.contains("since anchor"), "{}", anchored.out);
    }
}

#[test]
fn a_pull_request_is_compared_with_its_target_branch() {
    let (folder, [_, _, three]) = repository();
    let path = folder.path();
    run(path, "dev.csv", 3.0);
    let saved = with(
        path,
        &["baseline", "save", "dev.csv", "--branch", "dev", "--date", "2026-11-04"],
        &[],
    );
    assert_eq!(saved.code, 0, "{}", saved.err);
    let gate = |variables: &[(&str, &str)]| {
        with(path, &["gate", "now.csv", "--baseline", "baselines"], variables)
    };
    for variable in ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] {
        let dev = gate(&[(variable, "dev")]);
        assert!(dev.out.contains("on branch dev"), "{}", dev.out);
    }
    // Without a request the newest of any branch is not the yardstick: main is.
    let main = gate(&[]);
    assert!(main.out.contains(&format!("commit {} on branch main", &three[..8])), "{}", main.out);
    let unsaved = gate(&[("GITHUB_BASE_REF", "release")]);
    assert!(unsaved.out.contains("no run of the target branch release"), "{}", unsaved.out);
}

#[test]
fn the_first_run_passes_where_it_may_and_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, "one.csv", 1.0);
    run(path, "two.csv", 1.5);
    let gate = |file: &str, more: &[&str]| {
        rooflint(path, &[&["gate", file, "--baseline", "baselines"], more].concat())
    };
    let refused = gate("one.csv", &[]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("--allow-missing-baseline"), "{}", refused.err);
    assert!(!path.join("baselines").exists());
    let first = gate("one.csv", &["--allow-missing-baseline"]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    assert!(first.out.contains("1 run was saved as the first baseline"), "{}", first.out);
    // The next one is judged against it.
    let next = gate("two.csv", &["--allow-missing-baseline"]);
    assert_eq!(next.code, 1, "{}{}", next.out, next.err);
}

/// A mistyped baseline may be missing, too: then every output says that nothing was compared, and what was probably meant.
#[test]
fn a_pass_without_a_baseline_claims_no_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run(path, "one.csv", 1.0);
    run(path, "two.csv", 1.5);
    let saved = rooflint(path, &["baseline", "save", "one.csv"]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    let refused = rooflint(path, &["gate", "two.csv", "--baseline", "baselnes"]);
    assert_eq!(refused.code, 3, "{}", refused.out);
    let why = "there is no baseline baselnes (did you mean baselines?)";
    assert!(refused.err.contains(why), "{}", refused.err);
    let typo = ["gate", "two.csv", "--baseline", "baselnes", "--allow-missing-baseline"];
    let outputs = ["-o", "-", "-o", "g.md", "-o", "g.xml", "-o", "gitlab=g.json", "-o", "g.html"];
    let found = rooflint(path, &[&typo[..], &outputs].concat());
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    let nothing = format!("nothing was compared: {why}");
    let headline = format!("Gate         passed: {nothing}\n");
    assert!(found.out.starts_with(&headline), "{}", found.out);
    for output in ["g.md", "g.xml", "g.json", "g.html"] {
        let text = fs::read_to_string(path.join(output)).unwrap();
        assert!(text.contains("nothing was compared"), "{output}: {text}");
        assert!(!text.contains("no check exceeds"), "{output}: {text}");
    }
    let markdown = fs::read_to_string(path.join("g.md")).unwrap();
    assert!(markdown.starts_with("## Gate passed, nothing compared\n"), "{markdown}");
    assert!(fs::read_to_string(path.join("g.xml")).unwrap().contains("<skipped"));
    fs::remove_dir_all(path.join("baselnes")).unwrap();
    let quiet = rooflint(path, &[&typo[..], &["-q"]].concat());
    assert!(quiet.out.starts_with(&headline), "{}", quiet.out);
    fs::remove_dir_all(path.join("baselnes")).unwrap();
    let github = rooflint(path, &[&typo[..], &["--format", "github"]].concat());
    let warning =
        "::warning title=rooflint%3A gate passed%2C nothing compared::nothing was compared";
    assert!(github.out.starts_with(warning), "{}", github.out);
    // Of a store, the names that it has.
    let name = ["--baseline", "baselines", "--baseline-name", "nighly"];
    let found =
        rooflint(path, &[&["gate", "two.csv"], &name[..], &["--allow-missing-baseline"]].concat());
    let said = "passed: nothing was compared: no run in baselines is of baseline \"nighly\" (available: default)\n";
    assert!(found.code == 0 && found.out.contains(said), "{}{}", found.out, found.err);
    // Bounds are checked without a baseline.
    let bound = "[[gate.bound]]\nname = \"short\"\nmetric = \"total\"\nmax = \"10s\"\n";
    fs::write(path.join("rooflint.toml"), bound).unwrap();
    let none = ["gate", "two.csv", "--baseline", "main-*.csv", "--allow-missing-baseline"];
    let found = rooflint(path, &none);
    let said =
        "passed: no check exceeds its limit; nothing was compared: there is no baseline main-*.csv";
    assert!(found.code == 0 && found.out.contains(said), "{}{}", found.out, found.err);
}

#[test]
fn what_cannot_be_read_is_in_every_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("broken.csv"), "not,a\nprofile,at all\n").unwrap();
    run(path, "one.csv", 1.0);
    let outputs = ["-o", "gate.md", "-o", "gate.xml", "-o", "gate.sarif", "-o", "gate.json"];
    let gate = |file: &str| {
        rooflint(path, &[&["gate", file, "--baseline", "one.csv"], &outputs[..]].concat())
    };
    for file in ["broken.csv", "missing.csv"] {
        let refused = gate(file);
        assert_eq!(refused.code, 3, "{}", refused.err);
        for output in ["gate.md", "gate.xml", "gate.sarif", "gate.json"] {
            let text = fs::read_to_string(path.join(output)).unwrap();
            assert!(text.contains(file), "{output}: {text}");
            fs::remove_file(path.join(output)).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn outputs_go_where_links_and_pipes_lead() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |output: &str, variables: &[(&str, &str)]| {
        let done = with(path, &["demo", "-o", &format!("markdown={output}")], variables);
        assert_eq!(done.code, 0, "{}", done.err);
    };
    fs::create_dir(path.join("deep")).unwrap();
    fs::write(path.join("deep/real.md"), "before").unwrap();
    fs::set_permissions(path.join("deep/real.md"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("deep/real.md", path.join("link.md")).unwrap();
    write("link.md", &[]);
    assert!(fs::symlink_metadata(path.join("link.md")).unwrap().is_symlink());
    let real = path.join("deep/real.md");
    assert!(fs::read_to_string(&real).unwrap().contains("H100"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    // A new file is as readable as any other that the user makes.
    write("new.md", &[]);
    fs::write(path.join("other"), "").unwrap();
    let mode = |name: &str| fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("new.md"), mode("other"));
    // A device is written to, not replaced.
    write("/dev/null", &[]);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // The summary of a job grows.
    fs::write(path.join("summary.md"), "of another step\n").unwrap();
    write("summary.md", &[("GITHUB_STEP_SUMMARY", "summary.md")]);
    let summary = fs::read_to_string(path.join("summary.md")).unwrap();
    assert!(summary.starts_with("of another step\n") && summary.contains("H100"), "{summary}");
}
