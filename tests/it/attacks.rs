//! Inputs that would take memory or time without end, or that break off: an error at its place.

use std::io::Read;
use std::path::{Path, PathBuf};

use rooflint::ingest::{self, Input, Options};

const HEADER: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\
                      \"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\"\n\
                      \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n";

const ROW: &str = "\"0\",\"1\",\"a\",\"h\",\"k\",\"1\",\"7\",\"(8, 1, 1)\",\"(8, 1, 1)\",\"0\",\"9.0\",\"5000\"\n";

/// What is said of a file with these bytes: the error without the folder, and the help.
fn refused(name: &str, bytes: &[u8], from: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let options = Options { from: from.and_then(ingest::format), ..Options::default() };
    let error = ingest::read(&[Input::Named(path)], &options).unwrap_err();
    let text = format!("{error} | {}", error.next_step().unwrap_or_default());
    text.replace(&format!("{}/", folder.path().display()), "")
}

fn gzip(mut content: impl Read) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::copy(&mut content, &mut gzip).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn a_field_without_end_is_refused_at_its_line_and_column() {
    let text = |filling: &str| {
        let open = ROW.replacen("\"k\"", &format!("\"k{}", filling.repeat(5 << 20)), 1);
        format!("==PROF== Connected\n{HEADER}{ROW}{open}")
    };
    let says = "run.csv:5: column \"Kernel Name\": the field exceeds 1 MiB | \
                a quote that opens there is probably never closed; export the file again, or remove the line";
    assert_eq!(refused("run.csv", text("x").as_bytes(), None), says);
    assert_eq!(refused("run.csv", text("\n").as_bytes(), None), says);
    assert_eq!(refused("run.csv", &gzip(text("x").as_bytes()), None), says);
    let zstd = zstd::encode_all(text("x").as_bytes(), 1).unwrap();
    assert_eq!(refused("run.csv", &zstd, None), says);
    let wide: Vec<u8> = std::iter::once(0xfeff)
        .chain(text("x").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(refused("run.csv", &wide, None), says);
    let lines = format!("\"Kernel\",\"Op\",\"Sil(ns)\"\n\"a\",\"b{}", "x".repeat(5 << 20));
    let found = refused("prof.csv", lines.as_bytes(), None);
    assert!(found.starts_with("prof.csv:2: column \"field 2\": line exceeds 4 MiB"), "{found}");
}

/// A kernel name of 100 kB is read, and so is a record behind it.
#[test]
fn a_long_name_is_no_field_without_end() {
    let name = "k".repeat(100_000);
    let text = format!("{HEADER}{}{ROW}", ROW.replacen("\"k\"", &format!("\"{name}\""), 1));
    let profile = ingest::read_text("long.csv", text.leak(), &Options::default()).unwrap();
    assert_eq!(profile.launch(0).kernel(), name);
    assert_eq!(profile.launch(1).kernel(), "k");
}

#[test]
fn a_document_of_blanks_is_refused_at_its_place() {
    let start = "{\"metadata\": {\"schema\": \"rooflint/launches/1\"},\n\"launches\": [";
    let blanks = std::io::repeat(b' ').take(64 << 20);
    let bytes = gzip(start.as_bytes().chain(blanks));
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    // 13 bytes of the second line, 2^20 blanks, and the one that is too many.
    assert_eq!(
        refused("t.json.gz", &bytes, None),
        "t.json.gz:2: damaged launch table: line 2, column 1048590: more than 1 MiB of whitespace | \
         the file may be damaged or cut; convert the export again"
    );
}

#[test]
fn an_archive_that_breaks_off_says_after_how_many_bytes() {
    let plain = include_bytes!("../../fixtures/demo/h100-training-step.csv");
    let whole = gzip(plain.as_slice());
    let end = whole.len() / 2;
    let found = refused("cut.csv.gz", &whole[..end], None);
    let says = format!("cut.csv.gz: cannot read: the gzip data is cut off after {end} bytes (");
    assert!(found.starts_with(&says), "{found}");
    assert!(found.ends_with("| the file is incomplete; copy or export it again"), "{found}");
    let whole = zstd::encode_all(plain.as_slice(), 1).unwrap();
    let found = refused("cut.csv.zst", &whole[..end], None);
    let says = format!("cut.csv.zst: cannot read: the zstd data is cut off after {end} bytes (");
    assert!(found.starts_with(&says), "{found}");
    let mut damaged = gzip(plain.as_slice());
    damaged[end..end + 200].fill(0xff);
    let found = refused("damaged.csv.gz", &damaged, None);
    assert!(found.contains("the gzip data is damaged before byte"), "{found}");
    assert!(found.ends_with("the file is damaged; copy or export it again"), "{found}");
}

#[test]
fn output_without_a_table_and_lines_without_a_launch_come_to_an_end() {
    let noise = format!("{}\n", "step 1 loss 0.5 ".repeat(64)).repeat(70 << 10);
    let found = refused("log.csv", noise.as_bytes(), Some("ncu-long"));
    assert!(found.contains(": no table found in the first 64 MiB |"), "{found}");
    let table = format!("{HEADER}{ROW}{}", "y\n".repeat(1_000_001));
    let found = refused("run.csv", table.as_bytes(), None);
    assert!(found.contains("1,000,000 lines or cells in a row cannot be used"), "{found}");
    let table = format!("\"Kernel\",\"Op\",\"Sil(ns)\"\n{}", "y\n".repeat(1_000_001));
    let found = refused("prof.csv", table.as_bytes(), None);
    assert!(found.contains("1,000,000 lines or cells in a row cannot be used"), "{found}");
}

/// What a read of this path gives while another thread writes to it.
#[cfg(unix)]
fn through_a_pipe(
    content: impl Read + Send + 'static,
    options: &Options,
) -> Result<rooflint::model::Profile, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = {
        let path = path.clone();
        std::thread::spawn(move || {
            let mut content = content;
            // The reader may close the pipe before all is written.
            let _ = std::io::copy(&mut content, &mut std::fs::File::create(path).unwrap());
        })
    };
    let read = ingest::read(&[Input::Named(path)], options).map_err(|error| error.to_string());
    writer.join().unwrap();
    read
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_like_a_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo/h100-training-step.csv");
    let file = ingest::read(&[Input::Named(path.clone())], &Options::default()).unwrap();
    for bytes in [std::fs::read(&path).unwrap(), gzip(std::fs::File::open(&path).unwrap())] {
        let piped = through_a_pipe(std::io::Cursor::new(bytes), &Options::default()).unwrap();
        assert_eq!(piped.launches.len(), file.launches.len());
        for (one, two) in piped.iter().zip(file.iter()) {
            assert_eq!((one.kernel(), one.duration()), (two.kernel(), two.duration()));
        }
    }
}

#[cfg(all(unix, feature = "frames"))]
#[test]
fn a_table_in_parquet_is_read_from_a_pipe() {
    use rooflint::table::{Table, frames};
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo/h100-training-step.csv");
    let file = ingest::read(&[Input::Named(path)], &Options::default()).unwrap();
    let bytes = frames::parquet(&Table::of(&file)).unwrap();
    let piped = through_a_pipe(std::io::Cursor::new(bytes), &Options::default()).unwrap();
    assert_eq!(Table::of(&piped).height, file.launches.len());
    for (one, two) in piped.iter().zip(file.iter()) {
        assert_eq!(
            (one.kernel(), one.value(rooflint::model::Quantity::Duration)),
            (two.kernel(), two.value(rooflint::model::Quantity::Duration))
        );
    }
}

/// Bytes without end.
struct Endless(Vec<u8>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let whole = buffer.len() - buffer.len() % self.0.len();
        buffer[..whole].chunks_mut(self.0.len()).for_each(|chunk| chunk.copy_from_slice(&self.0));
        Ok(whole)
    }
}

#[cfg(unix)]
#[test]
fn input_without_end_is_refused() {
    let from = |name| Options { from: ingest::format(name), ..Options::default() };
    let line = format!("{}\n", "y".repeat(1023));
    for (content, options, says) in [
        ("y\n", Options::default(), "this is text without a table"),
        ("\0", Options::default(), "binary file"),
        ("\n", Options::default(), "the file has only blanks"),
        (&line, from("ncu-wide"), "no table found in the first 64 MiB"),
        (&line, from("pyprof-text"), "no table found in the first 64 MiB"),
        ("\0", from("ncu-long"), "line exceeds 4 MiB"),
    ] {
        let error = through_a_pipe(Endless(content.into()), &options).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("b.csv"), at("a.csv")).unwrap();
    std::os::unix::fs::symlink(at("a.csv"), at("b.csv")).unwrap();
    std::os::unix::fs::symlink(at("gone"), at("c.csv")).unwrap();
    std::fs::write(at("run.csv"), format!("{HEADER}{ROW}")).unwrap();
    let named = ingest::read(&[Input::Named(at("a.csv"))], &Options::default()).unwrap_err();
    assert!(named.to_string().contains("too many levels of symbolic links"), "{named}");
    let found = ingest::expand(&[PathBuf::from(folder.path())]).unwrap();
    let profile = ingest::read(&found, &Options::default()).unwrap();
    assert_eq!((profile.launches.len(), profile.unread), (1, 3), "{:?}", profile.notes);
    assert!(profile.notes[0].contains("too many levels"), "{:?}", profile.notes);
    assert!(profile.notes[1].contains("no such file"), "{:?}", profile.notes);
    let inputs = ingest::expand(&[PathBuf::from(folder.path())]).unwrap();
    std::fs::remove_file(at("run.csv")).unwrap();
    let error = ingest::read(&inputs, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("a.csv: cannot read: too many levels"), "{error}");
}

/// A rank whose file is a link that leads nowhere must not pass unnoticed, in a folder or in a pattern.
#[cfg(unix)]
#[test]
fn what_a_pattern_finds_and_cannot_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for rank in 0..2 {
        std::fs::create_dir(folder.path().join(format!("r{rank}"))).unwrap();
    }
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("r0/run.csv"), format!("{HEADER}{ROW}")).unwrap();
    std::os::unix::fs::symlink(at("gone"), at("r1/run.csv")).unwrap();
    // What lies beside the folders has no such file in it.
    std::fs::write(at("r.txt"), "notes").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rooflint"));
        command.args(arguments).current_dir(folder.path()).output().unwrap()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let report = run(&["r*/run.csv", "--no-config", "--format", "json"]);
    assert!(text(&report.stdout).contains("r1/run.csv"), "{}", text(&report.stdout));
    for arguments in [&["r*/run.csv", "--strict"][..], &["convert", "r*/run.csv", "-o", "-"]] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(3), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains("r1/run.csv"), "{}", text(&refused.stderr));
    }
    let fine = run(&["convert", "r[0.]*/run.csv", "-o", "-"]);
    assert_eq!(fine.status.code(), Some(0), "{}", text(&fine.stderr));
    // A pipe that a pattern finds is not waited for, on either side of a comparison.
    assert!(std::process::Command::new("mkfifo").arg(at("r0/p.csv")).status().unwrap().success());
    for arguments in [
        &["gate", "r0/run.csv", "--baseline", "r0/p*.csv"][..],
        &["diff", "r0/p?csv", "r0/run.csv"],
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains("a pipe or device"), "{}", text(&refused.stderr));
    }
}

/// To open one waits for a writer.
#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_named_and_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(std::process::Command::new("mkfifo").arg(at("pipe.csv")).status().unwrap().success());
    std::fs::write(at("run.csv"), format!("{HEADER}{ROW}")).unwrap();
    let found = ingest::expand(&[PathBuf::from(folder.path())]).unwrap();
    let profile = ingest::read(&found, &Options::default()).unwrap();
    assert_eq!((profile.launches.len(), profile.unread), (1, 1));
    assert!(profile.notes[0].contains("pipe.csv: a pipe or device"), "{:?}", profile.notes);
}

/// As `pzstd` writes it: a frame with sizes for its own use before each of the data.
#[cfg(feature = "encodings")]
#[test]
fn frames_that_are_to_be_passed_over_are() {
    let text = format!("{HEADER}{ROW}");
    let mut bytes = vec![0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 9, 9, 9, 9];
    bytes.extend(zstd::encode_all(text.as_bytes(), 1).unwrap());
    let input = Input::Memory("run.csv.zst".to_owned(), bytes.into());
    let profile = ingest::read(&[input], &Options::default()).unwrap();
    assert_eq!(profile.launches.len(), 1);
    assert_eq!(profile.sources[0].encoding, "zstd, UTF-8");
}

/// The library of the format panics on both, on a thread of its own and with a backtrace.
#[cfg(feature = "frames")]
#[test]
fn damaged_parquet_is_one_line_of_error() {
    for name in ["height-disagrees.parquet", "dictionary-disagrees.parquet"] {
        let path = format!("fixtures/bad/{name}");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_rooflint"))
            .arg(&path)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert_eq!(
            said,
            format!(
                "error: {path}: cannot read the Parquet file: the file is damaged\n\
                 help: give a table that `rooflint convert` wrote, or the export it was made from\n"
            )
        );
    }
}
