//! Closed forms against PyProf's own counts and against hardware counters, where shapes are known:
//! the collection of real exports beside the repository, if it is there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::profiles::collection;
use super::count;

type Row = BTreeMap<String, String>;

fn pyprof(name: &str) -> Option<Vec<Row>> {
    let path = collection()?.join("pyprof").join(name);
    Some(csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect())
}

/// `N=32,C=3,…,fp16,` as pairs, and the format.
fn params(text: &str) -> (BTreeMap<&str, &str>, &str) {
    let mut format = "";
    let mut pairs = BTreeMap::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some((key, value)) => drop(pairs.insert(key, value)),
            None => format = part,
        }
    }
    (pairs, format)
}

/// FLOPs and bytes that PyProf states; it writes 0 where it has no model.
fn stated(row: &Row) -> Option<(f64, f64)> {
    let number = |column: &str| row[column].parse::<f64>().ok();
    Some((number("FLOPs")?, number("Bytes")?)).filter(|(flops, _)| *flops > 0.0)
}

fn counted(call: &str) -> (f64, f64) {
    let count = count(call);
    (count.operations().get(), count.bytes().get())
}

#[test]
fn convolutions_are_counted_as_pyprof_counts_them() {
    let (mut compared, mut strided) = (0, 0);
    for name in [
        "GEN_nvidia-3.11dev_resnet-amp-2080ti_1058_16col.csv",
        "GEN_nvidia-3.11dev_lenet-like-2070super_46_all-20col.csv",
    ] {
        for row in pyprof(name).into_iter().flatten().filter(|row| row["Op"] == "conv2d") {
            let Some(stated) = stated(&row) else { continue };
            let (shape, format) = params(&row["Params"]);
            assert_eq!(
                (shape["ph"], shape["U"], shape["dh"]),
                (shape["pw"], shape["V"], shape["dw"])
            );
            let names = [("N", "n"), ("C", "c"), ("H", "h"), ("W", "w"), ("K", "k"), ("R", "r")];
            let names = names.into_iter().chain([("S", "s"), ("ph", "pad"), ("U", "stride")]);
            let names = names.chain([("dh", "dilation"), ("g", "groups")]);
            let pairs: Vec<String> =
                names.map(|(theirs, ours)| format!("{ours}={}", shape[theirs])).collect();
            let form = if row["Direction"] == "fprop" { "conv2d" } else { "conv2d-wgrad" };
            let call = format!("{form} {} dtype={format}", pairs.join(" "));
            let (found, bytes) = (counted(&call), stated.1);
            // PyProf counts the whole input where a stride wider than the filter leaves half of it out.
            let number = |key: &str| shape[key].parse::<f64>().unwrap();
            let met = |key: &str| ((number(key) - 1.0) / number("U")).floor() + 1.0;
            let left_out = if number("U") > number("R") {
                assert_eq!((number("R"), number("ph"), format), (1.0, 0.0, "fp16"));
                let pixels = number("H") * number("W") - met("H") * met("W");
                2.0 * number("N") * number("C") * pixels
            } else {
                0.0
            };
            assert_eq!(found, (stated.0, bytes - left_out), "{call}");
            strided += usize::from(left_out > 0.0);
            compared += 1;
        }
    }
    assert!(compared == 0 || (compared, strided) == (36, 1), "{compared}, {strided}");
}

#[test]
fn linear_layers_have_pyprofs_operations_and_not_its_bytes() {
    let rows = pyprof("GEN_pyprof2_lm160_all-20col.csv");
    let mut compared = 0;
    for row in rows.into_iter().flatten().filter(|row| row["Op"] == "linear") {
        let Some((flops, bytes)) = stated(&row) else { continue };
        // M=33278,N=(35,20),K=200,fp32: the parenthesis holds what the batch is made of.
        let (_, rest) = row["Params"].split_once("M=").unwrap();
        let (m, rest) = rest.split_once(",N=").unwrap();
        let (n, rest) = rest.split_once(",K=").unwrap();
        let k = rest.trim_end_matches("fp32,").trim_end_matches(',');
        let whole = |text: &str| -> f64 {
            text.trim_matches(['(', ')'])
                .split(',')
                .map(|one| one.parse::<f64>().unwrap())
                .product()
        };
        let (form, [batch, inputs, outputs]) = match row["Direction"].as_str() {
            "fprop" => ("linear", [n, k, m]),
            _ if n.starts_with('(') => ("linear-dgrad", [n, m, k]),
            _ => ("linear-wgrad", [k, m, n]),
        };
        let [batch, inputs, outputs] = [batch, inputs, outputs].map(whole);
        let call = format!("{form} batch={batch} in={inputs} out={outputs} dtype=fp32");
        let (own_flops, own_bytes) = counted(&call);
        assert_eq!(own_flops, flops, "{call}");
        // Operator precedence: e multiplies one term only, that of the forward pass's input, in the
        // gradients as well.
        let (x, weights, y) = (batch * inputs, inputs * outputs, batch * outputs);
        assert_eq!(bytes, y + weights + x * 4.0, "{call}");
        assert_eq!(own_bytes, 4.0 * (x + weights + y));
        compared += 1;
    }
    assert!(compared == 0 || compared == 9, "{compared}");
}

#[test]
fn elementwise_kernels_and_embeddings_move_what_pyprof_says() {
    let Some(rows) = pyprof("GEN_nvidia-3.11dev_resnet-amp-2080ti_1058_16col.csv") else { return };
    let mut compared = 0;
    for row in rows {
        let form = match (row["Op"].as_str(), row["Direction"].as_str()) {
            ("relu", "fprop") => "relu",
            ("relu", "bprop") => "relu-backward",
            ("__iadd__", "fprop") => "add",
            _ => continue,
        };
        let Some(stated) = stated(&row) else { continue };
        let (shape, format) = row["Params"].split_once(']').unwrap();
        let format = format.split(';').next().unwrap();
        let call = format!("{form} n={} dtype={format}", shape[1..].replace(',', "*"));
        assert_eq!(counted(&call), stated, "{call}");
        compared += 1;
    }
    assert_eq!(compared, 49 + 49 + 16);
    let rows = pyprof("GEN_pyprof2_lm160_all-20col.csv").unwrap();
    let row = rows.iter().find(|row| row["Op"] == "embedding").unwrap();
    assert_eq!(row["Params"], "I=(35,20),int64,E=(33278,200),fp32,");
    assert_eq!(counted("embedding n=35*20 d=200").1, row["Bytes"].parse::<f64>().unwrap());
}

/// A counter of an Nsight Compute export with one launch, one metric per row.
fn counter(path: &PathBuf, metric: &str) -> f64 {
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find(|line| line.contains(metric)).unwrap();
    let value = line.rsplit("\",\"").next().unwrap();
    value.trim_end_matches('"').replace(',', "").parse().unwrap()
}

#[test]
fn counters_agree_with_compulsory_traffic_or_exceed_it() {
    let Some(folder) = collection() else { return };
    let read = "dram__bytes_op_read.sum";
    // 65,536 blocks of 256 threads, one element each; what is written stays in L2 for the most part.
    let saxpy = folder.join("ncu/rtx5070-metrics-bom-crlf-preamble-olajide-saxpy.csv");
    let form = count("saxpy n=65536*256");
    let ratio = counter(&saxpy, read) / form.read_bytes().get();
    assert!((1.0..1.0001).contains(&ratio), "{ratio}");
    assert!(counter(&saxpy, "dram__bytes_op_write.sum") < form.written_bytes().get());
    // 64×64 blocks of 32×32 results, without tiles in shared memory: panels are read again.
    let gemm = folder.join("ncu/rtx5070-metrics-bom-crlf-preamble-olajide-gemm.csv");
    let form = count("gemm m=2048 n=2048 k=2048 dtype=fp32");
    let ratio = counter(&gemm, read) / form.read_bytes().get();
    assert!((1.0..2.0).contains(&ratio), "{ratio}");
    let requests = counter(&gemm, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
    assert_eq!(requests * 32.0, form.operations().get());
    // One up-projection of Llama 3.2 3B in fp16: 50.33 MB of weights.
    let gemv = folder.join("ncu/l4-metrics-clocale-preamble-sudb97-gemv.csv");
    let form = count("gemv m=8192 n=3072 dtype=fp16");
    let ratio = counter(&gemv, "dram__bytes_read.sum") / form.read_bytes().get();
    assert!((1.0..1.2).contains(&ratio), "{ratio}");
}
