//! Completions, loaded by real shells; manual pages, read by groff; links, where a terminal opens them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{run, run_in};

/// Whether a program is there; a test without it says so.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("{program} is not installed: not tested with it");
    }
    found
}

/// The script of a shell, in a file.
fn script(shell: &str, folder: &Path) -> String {
    let printed = run(&["completions", shell]);
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""), "{shell}");
    let path = folder.join(format!("rooflint.{shell}"));
    fs::write(&path, printed.stdout).unwrap();
    path.to_string_lossy().into_owned()
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).env("LC_ALL", "C.UTF-8").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Words that complete a command line: those wanted, and one that is not.
const LINES: [(&[&str], &[&str], &str); 8] = [
    (&["comp"], &["completions"], "demo"),
    (&["gate", "--base"], &["--baseline", "--baseline-device"], "--theme"),
    (&["analyze", "--device", "h100-s"], &["h100-sxm5-80gb", "h100-sxm5-64gb"], "h200-sxm-141gb"),
    (&["demo", "--ignore", "tail"], &["tail-effect"], "small-grid"),
    (&["inspect", "--from", "ncu-"], &["ncu-wide", "ncu-long", "ncu-rep"], "pyprof"),
    (&["rules", "uncoal"], &["uncoalesced-access"], "tail-effect"),
    (&["predict", "ge"], &["gemm"], "axpy"),
    (&["schema", "map"], &["mapping"], "report"),
];

#[test]
fn bash_completes_commands_options_and_names() {
    if !has("bash") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = script("bash", folder.path());
    let registered = output("bash", &["-c", &format!("source '{script}'; complete -p rooflint")]);
    assert!(registered.contains("-F _rooflint"), "{registered}");
    let complete = |words: &[&str]| {
        let words: Vec<&str> = std::iter::once("rooflint").chain(words.iter().copied()).collect();
        let (last, before) = (words.len() - 1, words.len() - 2);
        let call = format!(
            "source '{script}'; compopt() {{ :; }}; COMP_WORDS=({}); COMP_CWORD={last}; \
             _rooflint rooflint '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words[last],
            words[before]
        );
        output("bash", &["-c", &call])
    };
    for (words, wanted, other) in LINES {
        let found = complete(words);
        let found: Vec<&str> = found.lines().collect();
        assert!(wanted.iter().all(|word| found.contains(word)), "{words:?}: {found:?}");
        assert!(!found.contains(&other), "{words:?}: {found:?}");
    }
    // A file alone is analyzed: its options are completed, too.
    let found = complete(&["run.csv", "--what-if", "tens"]);
    assert_eq!(found, "tensor-cores\n");
}

#[test]
fn fish_completes_commands_options_and_names() {
    if !has("fish") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = script("fish", folder.path());
    for (words, wanted, other) in LINES {
        let line = format!("rooflint {}", words.join(" "));
        let call = format!("source '{script}'; complete -C '{line}'");
        let mut fish = Command::new("fish");
        fish.args(["--no-config", "-c", &call]).env("HOME", folder.path());
        let found = String::from_utf8(fish.output().unwrap().stdout).unwrap();
        let found: Vec<&str> = found.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert!(wanted.iter().all(|word| found.contains(word)), "{words:?}: {found:?}");
        assert!(!found.contains(&other), "{words:?}: {found:?}");
    }
}

#[test]
fn zsh_loads_the_script() {
    if !has("zsh") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = script("zsh", folder.path());
    let call = format!(
        "autoload -Uz compinit && compinit -u -d '{}' && source '{script}' && \
         print -- $_comps[rooflint]",
        folder.path().join("dump").display()
    );
    assert_eq!(output("zsh", &["-f", "-c", &call]).trim(), "_rooflint");
}

#[test]
fn the_other_shells_have_the_same_names() {
    for shell in ["powershell", "elvish"] {
        let script = run(&["completions", shell]).stdout;
        for word in ["completions", "--baseline-device", "--error-format"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn every_command_has_a_manual_page_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_eq!(run(&["man", "-o", &pages.to_string_lossy()]).code, 0);
    let mut names: Vec<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in ["rooflint.1", "rooflint-gate.1", "rooflint-baseline-save.1", "rooflint-mcp.1"] {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    let main = fs::read_to_string(pages.join("rooflint.1")).unwrap();
    assert_eq!(main, run(&["man"]).stdout);
    for name in &names {
        let page = fs::read_to_string(pages.join(name)).unwrap();
        assert!(page.is_ascii(), "{name}");
        for section in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
            assert!(
                page.contains(&format!(".SH {section}"))
                    || page.contains(&format!(".SH \"{section}\"")),
                "{name}: {section}"
            );
        }
        assert!(page.contains("ROOFLINT\\_DEVICE") || page.contains("ROOFLINT_DEVICE"), "{name}");
    }
    for name in ["rooflint.1", "rooflint-gate.1", "rooflint-predict.1", "rooflint-config.1"] {
        assert!(fs::read_to_string(pages.join(name)).unwrap().contains(".SH EXAMPLES"), "{name}");
    }
    if !has("groff") {
        return;
    }
    for name in &names {
        let path = pages.join(name);
        let mut groff = Command::new("groff");
        groff.args(["-ww", "-z", "-man", "-Tutf8"]).arg(&path).stdin(Stdio::null());
        let output = groff.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
    }
}

#[test]
fn rules_are_linked_only_where_a_terminal_opens_links() {
    const LINK: &str = "\u{1b}]8;;https://";
    let linked = |variables: &[(&str, &str)], arguments: &[&str]| {
        run_in(super::root(), variables, arguments).stdout.contains(LINK)
    };
    let always = ["demo", "--color", "always"];
    // Not in a pipe, whatever the terminal is called.
    assert!(!linked(&[], &["demo"]));
    assert!(!linked(&[("TERM_PROGRAM", "WezTerm")], &always));
    assert!(!linked(&[("FORCE_HYPERLINK", "1")], &["demo"]));
    assert!(linked(&[("FORCE_HYPERLINK", "1")], &always));
    assert!(linked(&[("FORCE_HYPERLINK", "1"), ("FORCE_COLOR", "1")], &["demo"]));
    assert!(!linked(&[("FORCE_HYPERLINK", "0")], &always));
    assert!(!linked(
        &[("FORCE_HYPERLINK", "1"), ("FORCE_COLOR", "1"), ("NO_COLOR", "1")],
        &["demo"]
    ));
    assert!(!linked(
        &[("FORCE_HYPERLINK", "1"), ("FORCE_COLOR", "1")],
        &["demo", "--color", "never"]
    ));
    // A link takes no columns, is closed on its line, and leads to a page that exists.
    let forced = [("FORCE_HYPERLINK", "1")];
    for arguments in [
        vec!["demo", "--width", "70"],
        vec!["demo", "--explain", "--width", "70"],
        vec!["rules", "--width", "90"],
    ] {
        let colored = [&arguments[..], &["--color", "always"]].concat();
        let plain = run_in(super::root(), &[], &colored).stdout;
        let text = run_in(super::root(), &forced, &colored).stdout;
        let mut without = String::new();
        let mut links = 0;
        for line in text.split_inclusive('\n') {
            let mut parts = line.split("\u{1b}]8;;");
            without.push_str(parts.next().unwrap());
            for part in parts {
                let (page, rest) = part.split_once("\u{1b}\\").unwrap();
                if let Some((_, file)) = page.split_once("/blob/main/") {
                    assert!(super::root().join(file).is_file(), "{file}");
                    links += 1;
                } else {
                    assert_eq!(page, "");
                }
                without.push_str(rest);
            }
        }
        assert!(links > 0, "{arguments:?}");
        assert_eq!(without, plain, "{arguments:?}");
    }
}
