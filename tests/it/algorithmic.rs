//! Closed forms beside the counters, as a user writes them: `[[closed-form]]` in `rooflint.toml`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

const CASES: &str = "fixtures/ncu_wide/h200-worked-cases.csv";

/// A configuration for the product among the cases, and one form for kernels that are not there.
const CONFIG: &str = r#"
[[closed-form]]
kernel = "ampere_sgemm_*"
grid = "32x16"
form = "gemm m=4096 n=2048 k=2048 dtype=fp32"

[[closed-form]]
kernel = "nobodys_copy_{n}"
form = "copy n={n} dtype=fp32"
"#;

struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program in a folder with this configuration, which it finds there where none is named.
fn run(folder: &Path, config: &str, arguments: &[&str]) -> Run {
    std::fs::write(folder.join("rooflint.toml"), config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    let output = command.args(arguments).current_dir(folder).env_clear().output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn cases(config: &str, options: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASES).display().to_string();
    let named = [path.as_str(), "--config", "rooflint.toml"];
    let arguments: Vec<&str> = named.into_iter().chain(options.iter().copied()).collect();
    run(folder.path(), config, &arguments)
}

fn near(found: &Value, expected: f64, label: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{label}: {found}"));
    assert!((found / expected - 1.0).abs() < 1e-9, "{label}: {found}, expected {expected}");
}

#[test]
fn a_form_stands_beside_the_counters_in_every_output() {
    // By hand: 2·4096·2048·2048 operations; 4 B × (M·K + K·N + M·N). Moved were 55,364,813 B in and
    // 33,554,432 B out, executed 2 × 17,179,869,184 + 8,388,608 operations.
    let (operations, bytes) = (34_359_738_368.0, 83_886_080.0);
    let (moved, executed) = (88_919_245.0, 34_368_126_976.0);
    let report: Value = serde_json::from_str(&cases(CONFIG, &["--format", "json"]).stdout).unwrap();
    let kernels = report["kernels"].as_array().unwrap();
    let product = kernels.iter().find(|one| one["name"] == "ampere_sgemm_128x128_nn").unwrap();
    let needed = &product["algorithmic"];
    assert_eq!(needed["closed_form"], "gemm m=4096 n=2048 k=2048 dtype=fp32");
    assert_eq!(needed["from"], "rooflint.toml:5");
    near(&needed["operations"], operations, "operations");
    near(&needed["bytes"], bytes, "bytes");
    // On the roofs of the run: 1,504 B × 3.192 GHz; 67 TFLOP/s × 1.755 ÷ 1.980, no tensor cores.
    near(&needed["t_mem_s"], bytes / (1504.0 * 3.192e9), "t_mem");
    near(&needed["t_math_s"], operations / (67e12 * 1.755 / 1.98), "t_math");
    near(&needed["traffic_factor"], moved / bytes, "traffic factor");
    near(&needed["work_factor"], executed / operations, "work factor");
    for other in kernels.iter().filter(|one| one["name"] != product["name"]) {
        assert!(other["algorithmic"].is_null(), "{other}");
    }

    let table = cases(CONFIG, &["--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let at = |name: &str| headers.iter().position(|header| header == name).unwrap();
    for row in reader.records().map(Result::unwrap) {
        let cell = |name: &str| row[at(name)].to_owned();
        if cell("name") == "ampere_sgemm_128x128_nn" {
            let number = |name: &str| Value::from(cell(name).parse::<f64>().unwrap());
            near(&number("algorithmic_operations"), operations, "operations");
            near(&number("algorithmic_bytes"), bytes, "bytes");
            near(&number("traffic_factor"), moved / bytes, "traffic factor");
            near(&number("work_factor"), executed / operations, "work factor");
        } else {
            assert_eq!(
                (cell("algorithmic_bytes"), cell("work_factor")),
                (String::new(), String::new())
            );
        }
    }

    let explained = cases(CONFIG, &["--kernel", "*sgemm*", "--explain"]).stdout;
    for line in [
        "gemm m=4096 n=2048 k=2048 dtype=fp32  from rooflint.toml:5",
        "one launch; 1.06 times as much was moved to and from memory",
        "one launch; 1.00 times as much was counted",
        "max(17.5 µs, 579 µs) of all launches",
    ] {
        assert!(explained.contains(line), "{line}: {explained}");
    }
}

#[test]
fn a_form_that_fits_no_kernel_is_told() {
    let told = "the closed form at rooflint.toml:9 matches no kernel";
    let text = cases(CONFIG, &["--full"]).stdout;
    assert!(text.contains(told), "{text}");
    let report: Value = serde_json::from_str(&cases(CONFIG, &["--format", "json"]).stdout).unwrap();
    assert_eq!(report["notes"], serde_json::json!([told]));
    // Another grid is another kernel.
    let other = cases(&CONFIG.replace("32x16", "16x32"), &["--full"]).stdout;
    assert!(other.contains("the closed form at rooflint.toml:5 matches no kernel"), "{other}");
}

#[test]
fn a_form_that_cannot_be_read_is_located() {
    for (form, told, help) in [
        ("gemm m=4096 n=2048", "rooflint.toml:5:8: gemm needs \"k\"", "for example: gemm"),
        ("gem m=1 n=1 k=1", "rooflint.toml:5:8: unknown kernel \"gem\"", "gemm"),
        (
            "gemm m={m} n=1 k=1",
            "rooflint.toml:5:8: {m} is not defined by a pattern",
            "{m} matches a whole number",
        ),
    ] {
        let config = CONFIG.replace("gemm m=4096 n=2048 k=2048 dtype=fp32", form);
        let run = cases(&config, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{form}");
        assert!(run.stderr.contains(told), "{form}: {}", run.stderr);
        assert!(
            run.stderr.contains("help: ") && run.stderr.contains(help),
            "{form}: {}",
            run.stderr
        );
    }
}

/// Three launches of products whose names hold their sizes, as metric lists write them.
fn named_products() -> String {
    let mut text = String::from(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
         \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\
         \"Metric Value\"\n",
    );
    let tensor = "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum";
    // Sizes in the name, microseconds, bytes read, tensor operations.
    for (id, sizes, time, read, operations) in [
        // Tiles of 128 × 128 for one row: 128 times the operations, and operands read three times.
        (0, "1x16384x16384", "800,000", "1,610,809,344", "68,719,476,736"),
        // 1001 rows are no multiple of 8, and a part of the work was not counted.
        (1, "1001x4096x4096", "400,000", "58,408,960", "16,793,993,216"),
        (2, "1001x4096x4096", "400,000", "58,408,960", "16,793,993,216"),
    ] {
        for (metric, unit, value) in [
            ("gpu__time_duration.sum", "ns", time),
            ("dram__bytes_read.sum", "byte", read),
            ("dram__bytes_write.sum", "byte", "0"),
            (tensor, "inst", operations),
        ] {
            text.push_str(&format!(
                "\"{id}\",\"7\",\"app\",\"127.0.0.1\",\"my_gemm_{sizes}_f16\",\"1\",\"7\",\
                 \"(256, 1, 1)\",\"(4096, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\
                 \"{metric}\",\"{unit}\",\"{value}\"\n"
            ));
        }
    }
    text
}

#[test]
fn sizes_in_names_reach_the_four_rules() {
    let config = "[[closed-form]]\nkernel = \"my_gemm_{m}x{n}x{k}_*\"\n\
                  form = \"gemm m={m} n={n} k={k} dtype=fp16\"\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.csv"), named_products()).unwrap();
    let options = ["run.csv", "--device", "H200 SXM 141GB", "--format", "json"];
    let run = run(folder.path(), config, &options);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let kernel = |name: &str| {
        let kernels = report["kernels"].as_array().unwrap();
        kernels.iter().find(|one| one["name"].as_str().unwrap().contains(name)).unwrap()
    };
    let rules = |kernel: &Value| -> Vec<String> {
        let findings = kernel["findings"].as_array().unwrap();
        findings.iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect()
    };

    // One row: 2·16384² operations and 2 B × (16384 + 16384² + 16384).
    let thin = kernel("my_gemm_1x");
    let needed = &thin["algorithmic"];
    assert_eq!(needed["closed_form"], "gemm m=1 n=16384 k=16384 dtype=fp16");
    near(&needed["bytes"], 536_936_448.0, "bytes");
    near(&needed["traffic_factor"], 1_610_809_344.0 / 536_936_448.0, "traffic factor");
    near(&needed["work_factor"], 128.0, "work factor");
    let found = rules(thin);
    for rule in ["redundant-dram-traffic", "tile-quantization"] {
        assert!(found.iter().any(|one| one == rule), "{rule}: {found:?}");
    }
    assert!(!found.iter().any(|one| one.starts_with("un")), "{found:?}");

    // 1001 rows: 2·1001·4096² operations, of which half was counted; factors are of all launches.
    let odd = kernel("my_gemm_1001x");
    let needed = &odd["algorithmic"];
    assert_eq!(odd["launches"], 2);
    near(&needed["operations"], 33_587_986_432.0, "operations");
    near(&needed["work_factor"], 0.5, "work factor");
    let bytes = 2.0 * (1001.0 * 4096.0 + 4096.0 * 4096.0 + 1001.0 * 4096.0);
    near(&needed["bytes"], bytes, "bytes");
    near(&needed["traffic_factor"], 58_408_960.0 / bytes, "traffic factor");
    let found = rules(odd);
    for rule in ["unaligned-gemm-dimensions", "uncounted-work"] {
        assert!(found.iter().any(|one| one == rule), "{rule}: {found:?}");
    }
    assert!(!found.iter().any(|one| one == "tile-quantization"), "{found:?}");
    // What the form needs bounds the headroom that is certain: the whole math on the FP16 roof.
    let math = 2.0 * 33_587_986_432.0 / 989.5e12;
    near(&needed["t_math_s"], math, "t_math");
}

/// 4096³ in BF16 with an epilogue of FP32 on an H100 SXM, whose tensor cores are rated at 1830 MHz and all else at 1980.
#[test]
fn the_time_of_a_form_is_that_of_the_units_it_runs_on() {
    let config =
        "[[closed-form]]\nkernel = \"gemm\"\nform = \"gemm m=4096 n=4096 k=4096 dtype=bf16\"\n";
    let folder = tempfile::tempdir().unwrap();
    let operations = 2.0 * f64::from(4096_u32).powi(3);
    let table = format!(
        "source,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,sm_clock_hz,dram_bytes,flops_fp32_vector,flops_bf16_matrix\n\
         run,gemm,0,1,1024,1024,256,220e-6,1.83e9,100.7e6,33.4e6,{operations}\n"
    );
    std::fs::write(folder.path().join("run.csv"), table).unwrap();
    let needed = |ceilings: &str, device: &str| {
        let options = ["run.csv", "--device", device, "--ceilings", ceilings, "--format", "json"];
        let run = run(folder.path(), config, &options);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let kernel = &report["kernels"][0];
        // What was counted is what is needed, and leaves no room.
        near(&kernel["algorithmic"]["t_math_s"], kernel["t_math_s"].as_f64().unwrap(), ceilings);
        kernel["algorithmic"]["t_math_s"].clone()
    };
    near(&needed("measured-clock", "H100 SXM5 80GB"), operations / 989.4e12, "at 1830 MHz");
    // 271.2 TFLOP/s of a product on A100, not the 90% that FP32 reaches.
    near(&needed("achievable", "A100 SXM4 80GB"), operations / 271.2e12, "achievable");
}

/// Of ten launches one has its bytes, 200 MB, and all have how busy DRAM was: the roof is that of the device.
#[test]
fn the_memory_roof_is_that_of_the_device_where_few_launches_have_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "source,kernel,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,dram_bytes,dram_throughput,flops_fp32_vector,flops_bf16_matrix\n".to_owned();
    for launch in 0..10 {
        let bytes = if launch == 0 { "200e6" } else { "" };
        table.push_str(&format!("run,copy,0,1,1056,1056,256,100e-6,{bytes},0.6,,\n"));
    }
    // 20 GFLOP on FP32 and 280 on the tensor cores: 0.30 ms and 0.28 ms, beside 0.45 ms for 1.5 GB.
    table.push_str("run,fused,0,1,1056,1056,256,1e-3,1.5e9,,20e9,280e9\n");
    std::fs::write(folder.path().join("run.csv"), table).unwrap();
    let text = |options: &[&str]| {
        let all = [&["run.csv", "--device", "H100 SXM5 80GB"], options].concat();
        let run = run(folder.path(), "", &all);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        run.stdout
    };
    let explained = text(&["--explain", "--kernel", "copy"]);
    assert!(explained.contains("3.35 TB/s"), "{explained}");
    // 200 MB ÷ 3.352 TB/s.
    assert!(
        explained.contains("200 MB ÷ 3.35 TB/s = 59.7 µs; the rest by how busy DRAM was"),
        "{explained}"
    );
    let full = text(&["--full"]);
    assert!(full.contains("DRAM 3.35 TB/s"), "{full}");
    // What stands beside a ridge point is of the same pipe: 20 ÷ 1.5 left of 66.9 ÷ 3.352, as memory limits it.
    let explained = text(&["--explain", "--kernel", "fused"]);
    let line = explained.lines().find(|line| line.trim_start().starts_with("I ")).unwrap();
    assert!(line.contains("13.3 FLOP/B"), "{line}");
    assert!(line.contains("ridge point P ÷ BW = 20.0 FLOP/B; 200 FLOP/B over all pipes"), "{line}");
}
