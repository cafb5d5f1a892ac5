//! Reports read through the profiler's own reader: only where the user says so, and what is said where it fails.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with a report, a page, and a program `ncu` that does what the script says.
fn folder(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let at = |name: &str| folder.path().join(name);
    fs::copy(root.join("fixtures/ncu_rep/h100-training-step.ncu-rep"), at("a run.ncu-rep"))
        .unwrap();
    fs::copy(root.join("fixtures/demo/h100-training-step.csv"), at("page.csv")).unwrap();
    fs::create_dir(at("bin")).unwrap();
    let ncu = at("bin/ncu");
    fs::write(&ncu, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&ncu, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let path = std::env::join_paths(
        std::iter::once(folder.path().join("bin"))
            .chain([PathBuf::from("/usr/bin"), PathBuf::from("/bin")]),
    );
    Command::new(env!("CARGO_BIN_EXE_rooflint"))
        .args(arguments)
        .current_dir(folder.path())
        .env("PATH", path.unwrap())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Prints the page, and leaves a trace with its arguments.
const PRINTS: &str = "printf '%s\\n' \"$@\" > arguments; cat page.csv";

#[test]
fn ncu_runs_only_where_the_user_says_so() {
    let folder = folder(PRINTS);
    let arguments = folder.path().join("arguments");
    let own = run(&folder, &["inspect", "a run.ncu-rep"]);
    assert_eq!(own.status.code(), Some(0), "{}", text(&own.stderr));
    assert!(!arguments.exists());
    assert!(text(&own.stdout).contains("12 with a duration"), "{}", text(&own.stdout));

    let theirs = run(&folder, &["inspect", "a run.ncu-rep", "--with-ncu"]);
    assert_eq!(theirs.status.code(), Some(0), "{}", text(&theirs.stderr));
    let told = fs::read_to_string(&arguments).unwrap();
    let wanted = ["--import", "./a run.ncu-rep", "--csv", "--page", "raw", "--print-units", "base"];
    assert_eq!(told.lines().collect::<Vec<_>>(), wanted);
    // The page that the script prints has more launches than the report.
    let said = text(&theirs.stdout);
    assert!(said.contains("46 with a duration"), "{said}");
    assert!(said.contains("through `ncu --import`"), "{said}");

    // Other files are read as without the option.
    fs::remove_file(&arguments).unwrap();
    let page = run(&folder, &["inspect", "page.csv", "--with-ncu"]);
    assert_eq!(page.status.code(), Some(0), "{}", text(&page.stderr));
    assert!(!arguments.exists());
}

/// A page that breaks off would pass for a shorter run.
#[test]
fn an_import_that_fails_is_an_error_whatever_was_printed() {
    let folder = folder("cat page.csv; echo '==ERROR== Failed to open' >&2; exit 3");
    let run = run(&folder, &["inspect", "a run.ncu-rep", "--with-ncu"]);
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.contains("`ncu --import` failed"), "{said}");
    assert!(said.contains("==ERROR== Failed to open"), "{said}");
}

#[test]
fn without_ncu_on_the_path_the_command_is_named() {
    let folder = folder(PRINTS);
    fs::remove_file(folder.path().join("bin/ncu")).unwrap();
    let run = run(&folder, &["inspect", "a run.ncu-rep", "--with-ncu"]);
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.contains("`ncu` is not on the path"), "{said}");
    let command = "ncu --import 'a run.ncu-rep' --csv --page raw --print-units base > 'a run'.csv";
    assert!(said.contains(command), "{said}");
}

/// Another version of the format, of whose launches none can be read.
#[test]
fn a_report_of_an_unknown_version_names_the_option_and_the_command() {
    let folder = folder(PRINTS);
    let report = b"NVR\0\x02\0\0\0\x08\x09\x04\0\0\0\x10\0\x28\0";
    fs::write(folder.path().join("new.ncu-rep"), report).unwrap();
    let refused = run(&folder, &["inspect", "new.ncu-rep"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("the format has version 9, where 7 is known"), "{said}");
    assert!(said.contains("rooflint new.ncu-rep --with-ncu"), "{said}");
    let command = "ncu --import new.ncu-rep --csv --page raw --print-units base > new.csv";
    assert!(said.contains(command), "{said}");
    let read = run(&folder, &["inspect", "new.ncu-rep", "--with-ncu"]);
    assert_eq!(read.status.code(), Some(0), "{}", text(&read.stderr));
}

/// `ncu` opens files only.
#[test]
fn a_compressed_report_is_not_silently_read_by_another_reader() {
    let folder = folder(PRINTS);
    let bytes = fs::read(folder.path().join("a run.ncu-rep")).unwrap();
    let gzip = fs::File::create(folder.path().join("a.ncu-rep.gz")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(gzip, flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &bytes).unwrap();
    gzip.finish().unwrap();
    let refused = run(&folder, &["inspect", "a.ncu-rep.gz", "--with-ncu"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("not compressed"), "{said}");
    let read = run(&folder, &["inspect", "a.ncu-rep.gz"]);
    assert_eq!(read.status.code(), Some(0), "{}", text(&read.stderr));
}
