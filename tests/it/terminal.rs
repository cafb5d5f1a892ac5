//! What stands in a terminal: every width, plain characters, no color unasked, habits of other tools.

use std::path::Path;
use std::process::Command;

const EXPORT: &str = "fixtures/demo/h100-training-step.csv";

/// A variable of the environment, and its value.
type Variable = (&'static str, &'static str);

/// What the program prints on both streams, and its code.
fn run_in(environment: &[(&str, &str)], arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear();
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const COMMANDS: &[&str] = &[
    "analyze",
    "inspect",
    "convert",
    "predict",
    "gate",
    "diff",
    "calibrate",
    "baseline",
    "trend",
    "learn",
    "devices",
    "formats",
    "rules",
    "demo",
    "schema",
];

/// Every command that draws text.
fn drawn(folder: &Path) -> Vec<Vec<String>> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(EXPORT)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let runs = [path("run-1.csv"), path("run-2.csv"), path("run-3.csv")];
    // A run without its first launches is another measurement, and not one that was cut off.
    let (header, rows) = lines.split_at(2);
    for (left_out, run) in runs.iter().enumerate() {
        let rows = [header, &rows[left_out..]].concat();
        std::fs::write(run, rows.join("\n") + "\n").unwrap();
    }
    let store = path("store");
    for (day, run) in runs.iter().enumerate() {
        let (date, commit) = (format!("2026-10-0{}", day + 1), format!("{}abcdef", day + 1));
        let save =
            ["baseline", "save", run, "--store", &store, "--date", &date, "--commit", &commit];
        let (code, _, error) = run_in(&[], &save);
        assert_eq!(code, 0, "{error}");
    }
    let own: [&[&str]; 4] = [
        &["calibrate", &runs[0], &runs[1], &runs[2]],
        &["baseline", "list", "--store", &store],
        &["baseline", "show", "latest", "--store", &store],
        &["trend", &store],
    ];
    let fixed: Vec<Vec<&str>> = vec![
        vec!["devices"],
        vec!["devices", "H100 SXM5 80GB"],
        vec!["rules"],
        vec!["rules", "tail-effect"],
        vec!["rules", "--columns"],
        vec!["rules", "--columns", "launches"],
        vec!["formats"],
        vec!["inspect", EXPORT],
        vec!["demo"],
        vec!["demo", "--verbose"],
        vec!["demo", "--full"],
        vec!["demo", "--explain"],
        vec!["demo", "--what-if", "L4,B200"],
        vec!["demo", "--what-if", "fused"],
        vec!["predict", "--list"],
        vec!["predict", "--list", "gemm"],
        vec!["predict", "gemm", "m=4k", "n=4k", "k=4k", "--device", "L4,H200 SXM 141GB"],
        vec!["predict", "gemm", "m=1k..64k:x2", "n=4k", "k=4k", "--device", "L4,B200"],
        vec!["diff", EXPORT, EXPORT],
        vec!["gate", &runs[1], "--baseline", EXPORT],
        vec!["gate", EXPORT, "--self-test"],
    ];
    let all = fixed.iter().map(Vec::as_slice).chain(own);
    all.map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
}

/// Commands, and the configuration that `calibrate` writes, are printed to be copied: the one exception.
fn is_command(line: &str) -> bool {
    let is = |text: &str| {
        let tools = [
            "ncu ",
            "nsys ",
            "nvprof ",
            "rooflint ",
            "python ",
            "rocprof",
            "printf ",
            "with torch.",
            "prof.",
            "proton ",
            "xprof ",
            "dlprof ",
            "benchmark()",
        ];
        tools.iter().chain(&["# "]).any(|start| text.starts_with(start))
    };
    // Alone, or after the label of a fact.
    is(line.trim_start()) || line.split_once("  ").is_some_and(|(_, rest)| is(rest.trim_start()))
}

#[test]
fn every_command_fits_its_width_and_splits_no_number_from_its_unit() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in drawn(folder.path()) {
        for width in [40, 60, 80, 100, 140] {
            let shown = width.to_string();
            let all: Vec<&str> =
                arguments.iter().map(String::as_str).chain(["--width", &shown]).collect();
            let (_, text, error) = run_in(&[], &all);
            assert!(!text.is_empty(), "{all:?}: {error}");
            let lines: Vec<&str> = text.lines().collect();
            for (line, next) in lines.iter().zip(lines.iter().skip(1).chain([&""])) {
                let length = line.chars().count();
                assert!(length <= width || is_command(line), "{all:?}: {length}: {line}");
                let first = next.trim_start().split([' ', ',', ';', ')', '.']).next().unwrap();
                let units = [
                    "s", "ms", "µs", "ns", "B", "kB", "MB", "GB", "TB", "GB/s", "TB/s", "FLOP/B",
                    "TFLOP/s", "GFLOP", "GHz", "MHz", "%", "×",
                ];
                let is_cut = line.ends_with(|c: char| c.is_ascii_digit()) && units.contains(&first);
                // A row of a table has blanks between its columns.
                // On the narrowest terminal a formula may be: `N/6` is no number.
                let is_cut = is_cut && width > 40 && !next.trim().contains("  ");
                assert!(!is_cut, "{all:?}:\n{line}\n{next}");
            }
            let hints = text.matches("more columns: --width").count();
            assert!(hints <= 1, "{all:?}: {text}");
        }
    }
}

#[test]
fn what_is_left_out_is_shown_at_the_width_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in drawn(folder.path()) {
        let narrow: Vec<&str> =
            arguments.iter().map(String::as_str).chain(["--width", "60"]).collect();
        let (_, text, _) = run_in(&[], &narrow);
        let Some(width) = text.lines().find_map(|line| line.strip_prefix("more columns: --width "))
        else {
            continue;
        };
        let wide: Vec<&str> =
            arguments.iter().map(String::as_str).chain(["--width", width]).collect();
        let (_, text, _) = run_in(&[], &wide);
        assert!(!text.contains("more columns:"), "{wide:?}: {text}");
    }
}

#[test]
fn help_fits_eighty_columns_and_begins_with_a_verb() {
    let (_, all, _) = run_in(&[], &["--help"]);
    for arguments in
        COMMANDS.iter().flat_map(|command| [vec![*command, "-h"], vec![*command, "--help"]])
    {
        let (code, text, error) = run_in(&[], &arguments);
        assert_eq!((code, error.as_str()), (0, ""), "{arguments:?}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
        // The first line is what the list of commands says of it.
        let first = text.lines().next().unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&all).contains(&words(first)), "{first}");
        assert!(first.starts_with(|c: char| c.is_ascii_uppercase()), "{first}");
    }
    assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
    let (_, narrow, _) = run_in(&[], &["analyze", "-h", "--width", "60"]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
}

/// Examples are copied: at any width they are whole lines. What is not an example fits, and is broken only where it must be.
#[test]
fn examples_in_help_are_whole_at_any_width() {
    let pages = COMMANDS.iter().map(|command| vec![*command]);
    for page in pages.chain([vec![], vec!["mcp"], vec!["completions"], vec!["man"]]) {
        let help =
            |width: &str| run_in(&[], &[&page[..], &["--help", "--width", width]].concat()).1;
        let is_example = |line: &&str| {
            ["  rooflint ", "  ncu ", "  claude "].iter().any(|program| line.starts_with(program))
        };
        let wide = help("200");
        let narrow = help("60");
        let whole: Vec<&str> = narrow.lines().filter(is_example).collect();
        for example in wide.lines().filter(is_example) {
            let command = example.trim().split("  ").next().unwrap();
            assert!(
                whole.iter().any(|line| line.trim().starts_with(command)),
                "{command}: {narrow}"
            );
        }
        let is_usage =
            |line: &&str| line.starts_with("Usage: ") || line.starts_with("       rooflint ");
        let mut others = narrow.lines().filter(|line| !is_example(line) && !is_usage(line));
        assert!(others.all(|line| line.chars().count() <= 60), "{narrow}");
    }
    let (_, mcp, _) = run_in(&[], &["mcp", "--help", "--width", "80"]);
    assert!(mcp.contains("files that a\ncall names, and the configuration as every"), "{mcp}");
    let (_, narrow, _) = run_in(&[], &["--help", "--width", "60"]);
    assert!(narrow.contains("\n  rooflint demo\n      analyze the built-in sample\n"), "{narrow}");
    assert!(narrow.contains(
        "\n  ncu --import report.ncu-rep --csv --page raw --print-units base > run.csv\n"
    ));
    let (_, predict, _) = run_in(&[], &["predict", "--help", "--width", "200"]);
    assert!(predict.contains("their width alone [default: 960x640]"), "{predict}");
}

/// The dots in place of letters take three columns instead of one.
#[test]
fn shortened_names_in_ascii_move_no_column() {
    let (_, text, _) = run_in(&[], &["demo", "--ascii", "--width", "80"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.contains("...<float>")).collect();
    assert_eq!(rows.len(), 1, "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    // `vs. roofline` and `4.43x` end in the same column.
    let head = text.lines().find(|line| line.ends_with("vs. roofline")).unwrap();
    assert_eq!(rows[0].len(), head.len(), "{text}");
}

#[test]
fn help_and_errors_keep_to_ascii_and_to_no_color() {
    let cases: [(&[Variable], &[&str]); 4] = [
        (&[], &["--ascii"]),
        (&[("LC_ALL", "C")], &[]),
        (&[("LANG", "de_DE.ISO-8859-1")], &[]),
        (&[("LC_ALL", "POSIX"), ("LANG", "en_US.UTF-8")], &[]),
    ];
    for (environment, more) in cases {
        for arguments in
            [vec!["--help"], vec!["demo", "--thresold"], vec!["é.csv"], vec!["list"], vec!["gate"]]
        {
            let all: Vec<&str> = arguments.iter().copied().chain(more.iter().copied()).collect();
            let (_, text, error) = run_in(environment, &all);
            assert!(text.is_ascii() && error.is_ascii(), "{all:?}: {text}{error}");
            assert!(!text.is_empty() || !error.is_empty(), "{all:?}");
        }
    }
    let forced = [("FORCE_COLOR", "1")];
    for arguments in [vec!["--help"], vec!["demo", "--thresold"], vec!["no.csv"]] {
        let escapes = |environment: &[(&str, &str)], more: &[&str]| {
            let all: Vec<&str> = arguments.iter().copied().chain(more.iter().copied()).collect();
            let (_, text, error) = run_in(environment, &all);
            (text + &error).contains('\u{1b}')
        };
        assert!(escapes(&forced, &[]), "{arguments:?}");
        assert!(escapes(&[], &["--color", "always"]), "{arguments:?}");
        assert!(!escapes(&forced, &["--color", "never"]), "{arguments:?}");
        assert!(!escapes(&forced, &["--no-color"]), "{arguments:?}");
        assert!(!escapes(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], &[]), "{arguments:?}");
        assert!(!escapes(&[("TERM", "dumb")], &[]), "{arguments:?}");
    }
}

#[test]
fn habits_of_other_programs_do_what_is_meant() {
    let same = |habit: &[&str], meant: &[&str]| {
        let (code, text, error) = run_in(&[], habit);
        assert_eq!((code, error.as_str()), (0, ""), "{habit:?}");
        // A report names the command that made it.
        let plain = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("rooflint "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(plain(&text), plain(&run_in(&[], meant).1), "{habit:?}");
    };
    for format in ["json", "csv", "markdown", "text"] {
        let option = format!("--{format}");
        same(&["devices", &option], &["devices", "--format", format]);
    }
    same(&["devices", "--html"], &["devices", "--format", "html"]);
    same(&["devices", "-o", "json"], &["devices", "--format", "json"]);
    same(&["version"], &["--version"]);
    same(&["-v"], &["--version"]);
    same(&["--device", "list"], &["devices"]);
    same(&["devices", "--output", "csv"], &["devices", "--format", "csv"]);
    same(&["help", "formats"], &["formats", "--help"]);
    same(&["explain", "tail-effect"], &["rules", "tail-effect"]);
    same(&["compare", EXPORT, EXPORT], &["diff", EXPORT, EXPORT]);
    same(&["report", EXPORT], &[EXPORT]);
    same(&["info", EXPORT], &["inspect", EXPORT]);
    same(&[EXPORT, "--gpu", "H100 SXM5 80GB"], &[EXPORT, "--device", "H100 SXM5 80GB"]);
    same(&["--gpu=H100 SXM5 80GB", EXPORT], &[EXPORT, "--device", "H100 SXM5 80GB"]);
    same(&["-i", EXPORT, "-n", "3"], &[EXPORT, "--top", "3"]);
    same(&[EXPORT, "-k", "gemm"], &[EXPORT, "--kernel", "gemm"]);
    same(&[EXPORT, "--explain", "flash"], &[EXPORT, "--kernel", "flash", "--explain"]);
    same(&[EXPORT, "--exclude", "tail-effect"], &[EXPORT, "--ignore", "tail-effect"]);
    same(&[EXPORT, "--min-win", "1ms"], &[EXPORT, "--min-savings", "1ms"]);
    same(&[EXPORT, "--min-share", "2%"], &[EXPORT, "--min-share", "0.02"]);
    same(&[EXPORT, "--threshold", "3x"], &[EXPORT, "--threshold", "3"]);
    same(&["demo", "--no-color"], &["demo"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.json").to_string_lossy().into_owned();
    let (code, text, _) = run_in(&[], &["devices", &format!("--json={file}")]);
    assert_eq!((code, text.as_str()), (0, ""));
    let json = std::fs::read_to_string(file).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
}

#[test]
fn habits_without_a_plain_meaning_are_answered_with_what_to_type() {
    for (arguments, says) in [
        (vec!["explain", "gemm"], "rooflint FILE --kernel gemm --explain"),
        (vec!["list"], "rooflint devices"),
        (vec!["check", EXPORT], "rooflint gate FILE --baseline BASELINE"),
        (vec!["ncu", "./app"], "ncu --set full --csv"),
        (vec!["plot", EXPORT], "rooflint FILE -o roofline.svg"),
        (vec!["gate", EXPORT, "--baseline"], "rooflint diff BASELINE CURRENT"),
        (vec![EXPORT, "--baseline"], "rooflint diff BASELINE CURRENT"),
        (vec![EXPORT, "--list-rules"], "help: rooflint rules"),
        (vec![EXPORT, "--diff", EXPORT], "rooflint diff BASELINE CURRENT"),
        (vec![EXPORT, "--devise", "H100"], "--device'"),
        (vec![EXPORT, "--kernal", "gemm"], "--kernel'"),
        (vec!["demo", "--devices", "H100"], "to choose the GPU: --device NAME"),
        (vec!["tail-effect"], "rooflint rules tail-effect"),
        (vec![EXPORT, "out.html"], "-o out.html"),
        (vec!["gemm", "m=4096"], "rooflint predict gemm"),
    ] {
        let (code, text, error) = run_in(&[], &arguments);
        assert!(code == 2 || code == 3, "{arguments:?}: {code}");
        assert!(text.is_empty() && error.contains(says), "{arguments:?}: {error}");
        assert!(!error.contains("--devices'"), "{arguments:?}: {error}");
    }
}

#[test]
fn errors_have_no_numbers_of_the_system_and_candidates_only_on_request() {
    let folder = tempfile::Builder::new().prefix("out").tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for arguments in [
        vec!["no-such.csv".to_owned()],
        vec![EXPORT.to_owned(), "--map".to_owned(), "no.toml".to_owned()],
        vec!["demo".to_owned(), "--config".to_owned(), "no.toml".to_owned()],
        vec!["demo".to_owned(), "--devices".to_owned(), "no.toml".to_owned()],
        vec!["demo".to_owned(), "-o".to_owned(), path("no/such/report.md")],
        vec![
            "predict".to_owned(),
            "--model".to_owned(),
            "no.toml".to_owned(),
            "--device".to_owned(),
            "L4".to_owned(),
        ],
        vec!["baseline".to_owned(), "list".to_owned(), "--store".to_owned(), path("none")],
    ] {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, _, error) = run_in(&[], &words);
        let error = error.replace(&folder.path().display().to_string(), "");
        assert!(code >= 2, "{words:?}");
        assert!(!error.contains("os error") && !error.contains(".tmp"), "{words:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains("\nhelp: "), "{words:?}: {error}");
    }
    std::fs::write(path("runs.csv"), "a,b,c\n1,2,3\n").unwrap();
    let (_, _, error) = run_in(&[], &[&path("run.csv")]);
    assert!(error.contains(&format!("(did you mean {}?)", path("runs.csv"))), "{error}");
    let (_, _, error) = run_in(&[], &[&path("runs.csv")]);
    assert!(error.contains("--verbose") && !error.contains("ncu-wide"), "{error}");
    let (_, _, error) = run_in(&[], &[&path("runs.csv"), "-v"]);
    assert!(error.contains("\n  ncu-wide: ") && !error.contains("--verbose"), "{error}");
}
