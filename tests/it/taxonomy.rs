//! What kernel names tell: real names with what is expected, real exports, any text, a user's rules.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;
use rooflint::model::DataType;
use rooflint::taxonomy::{Category, Class, Direction, Kind, Taxonomy};

use crate::profiles::{collection, read};

const NAMES: &str = include_str!("taxonomy/names.tsv");

/// A fact of a class as the table of expectations writes it.
fn fact(class: &Class, key: &str) -> String {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| value.to_string())
    }
    let answer = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let formats = &class.formats;
    match key {
        "category" => class.category.key().to_owned(),
        "kind" => class.kind.map_or("unknown", Kind::key).to_owned(),
        "tensor" => class.tensor.map_or_else(|| "unknown".to_owned(), answer),
        "product" => answer(class.is_product()),
        "crosses_link" => answer(class.crosses_link()),
        "library" => text(class.library.as_deref()),
        "mma" => text(class.mma.as_deref()),
        "tile" => text(class.tile.map(|(m, n)| format!("{m}x{n}"))),
        "tile_k" => text(class.tile_k),
        "stages" => text(class.stages),
        "head_dim" => text(class.head_dim),
        "a" => text(formats.a.map(DataType::name)),
        "b" => text(formats.b.map(DataType::name)),
        "accumulate" => text(formats.accumulate.map(DataType::name)),
        "output" => text(formats.output.map(DataType::name)),
        "stored" => text(formats.stored.map(DataType::name)),
        "inferred" => answer(formats.inferred),
        "precision" => text(class.precision().map(|precision| format!("{precision:?}"))),
        "layout" => text(class.layout.as_deref()),
        "split_k" => answer(class.split_k),
        "direction" => text(class.direction.map(Direction::key)),
        "built_for" => text(class.built_for.as_ref().map(|built| built.name.as_str())),
        "align" => text(class.alignment),
        "fused" => {
            text(class.fused.as_ref().map(|fused| {
                fused.operators.iter().map(String::as_str).collect::<Vec<_>>().join("+")
            }))
        }
        "complete" => text(class.fused.as_ref().map(|fused| answer(fused.complete))),
        other => panic!("no such fact: {other}"),
    }
}

#[test]
fn every_listed_name_tells_what_is_expected() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for row in NAMES.lines().filter(|row| !row.starts_with('#')) {
        let mut cells = row.splitn(3, '\t');
        let (kind, facts, name) =
            (cells.next().unwrap(), cells.next().unwrap(), cells.next().unwrap());
        let class = Taxonomy::builtin().classify(name);
        let kind = ("kind", kind);
        let facts = facts.split(' ').filter_map(|fact| fact.split_once('='));
        for (key, expected) in std::iter::once(kind).chain(facts) {
            let found = fact(&class, key);
            if found != expected {
                wrong.push(format!("{key} = {found}, expected {expected}: {name}"));
            }
        }
        rows += 1;
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(rows > 200, "{rows}");
}

#[test]
fn every_kind_but_the_catch_all_is_shown_by_a_name() {
    let shown: Vec<&str> = NAMES.lines().filter_map(|row| row.split('\t').next()).collect();
    let missing: Vec<&str> =
        Kind::ALL.iter().map(|kind| kind.key()).filter(|key| !shown.contains(key)).collect();
    assert_eq!(missing, ["other"]);
}

#[test]
fn few_names_of_real_exports_tell_nothing() {
    let Some(collection) = collection() else { return };
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in std::fs::read_dir(collection).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() {
            files.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    // A hundred names of one hydrodynamics code would outweigh those of all other exports.
    files.retain(|file| !file.to_string_lossy().contains("cloverleaf"));
    files.sort();
    let mut names: BTreeMap<String, Category> = BTreeMap::new();
    let mut times: BTreeMap<Category, f64> = BTreeMap::new();
    // Share of each export's time that is unknown: the longest runs must not decide alone.
    let mut unknown_shares = Vec::new();
    for profile in files.iter().filter_map(|file| read(file).ok()) {
        let (mut all, mut unknown) = (0.0, 0.0);
        for launch in profile.iter() {
            let name = launch.kernel();
            let category = match names.get(name) {
                Some(category) => *category,
                None => {
                    let category = Taxonomy::builtin().classify(name).category;
                    names.insert(name.to_owned(), category);
                    category
                }
            };
            let time = launch.duration().map_or(0.0, |(time, _)| time.get())
                * f64::from(launch.head.count);
            *times.entry(category).or_default() += time;
            all += time;
            unknown += if category == Category::Unknown { time } else { 0.0 };
        }
        if all > 0.0 {
            unknown_shares.push(unknown / all);
        }
    }
    let of = |wanted: Category| names.values().filter(|category| **category == wanted).count();
    let all: f64 = times.values().sum();
    for (category, time) in &times {
        let share = 100.0 * time / all;
        println!("{:14} {:4} names {share:5.1}% of time", category.label(), of(*category));
    }
    for (name, _) in names.iter().filter(|(_, category)| **category == Category::Unknown) {
        println!("unknown: {name}");
    }
    let mean = unknown_shares.iter().sum::<f64>() / unknown_shares.len() as f64;
    println!("mean over {} exports: {:.1}% of time unknown", unknown_shares.len(), 100.0 * mean);
    // Read one by one: what stays unknown is code of applications (a plasma code, track
    // reconstruction, a climate model, bandwidth tests), whose names tell nothing by right.
    assert!(of(Category::Unknown) * 100 <= names.len() * 13);
    assert!(mean <= 0.35, "{mean}");
}

proptest! {
    #[test]
    fn any_text_is_classified_and_always_alike(text in "\\PC{0,80}") {
        let taxonomy = Taxonomy::builtin();
        prop_assert_eq!(taxonomy.classify(&text), taxonomy.classify(&text));
    }

    #[test]
    fn words_of_names_in_any_order_are_classified(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "_Z", "void ", "<", ">", "(", ")", "::", "_", "gemm", "s1688", "128x64", "triton_red_fused_",
                "nvjet_", "xmma_", "f16f16", "é", " [12]", ".kd", "cutlass_80_", "tensorop_", "0", "_softmax",
                "99999999999x99999999999", "S_", "T_", "N1aE", "unnamed>::",
            ]),
            0..24,
        )
    ) {
        let name = words.concat();
        let class = Taxonomy::builtin().classify(&name);
        prop_assert_eq!(class.category == Category::Unknown, class.kind.is_none());
        prop_assert!(class.category == Category::DotProduct || class.tensor != Some(true));
    }
}

#[test]
fn long_names_take_time_in_proportion() {
    let time = |length: usize| {
        let name = format!("triton_red_fused_{}", "add_<_(cutlass_80_".repeat(length));
        let start = std::time::Instant::now();
        let _ = Taxonomy::builtin().classify(&name);
        start.elapsed()
    };
    time(10);
    // A quadratic search would take hours for the second.
    assert!(time(20_000).as_secs() < 20);
}

#[test]
fn a_users_rules_come_before_the_built_in_ones() {
    let taxonomy = Taxonomy::with_text(
        "rooflint.toml",
        r#"
        [[class]]
        id = "our-gemm"
        kind = "gemm"
        library = "ours"
        tensor = "yes"
        pattern = '^softmax_is_a_gemm_here'

        [[class]]
        id = "advection"
        kind = "stencil"
        pattern = '^advect_'

        [[attr]]
        pattern = '_tile_(?<tile_m>\d+)_(?<tile_n>\d+)_(?<a>half4)'
        set = { accumulate = "fp32" }

        [data-types]
        half4 = "fp16"
        "#,
    )
    .unwrap();
    let class = taxonomy.classify("softmax_is_a_gemm_here_tile_64_32_half4");
    assert_eq!(class.rule.as_deref(), Some("our-gemm"));
    assert_eq!((class.tile, class.tensor), (Some((64, 32)), Some(true)));
    for (key, expected) in
        [("a", "fp16"), ("accumulate", "fp32"), ("library", "ours"), ("precision", "Fp16")]
    {
        assert_eq!(fact(&class, key), expected);
    }
    assert_eq!(taxonomy.classify("advect_tracers").kind, Some(Kind::Stencil));
    assert_eq!(taxonomy.classify("volta_sgemm_64x32_nn").kind, Some(Kind::Gemm));
}

#[test]
fn the_document_names_every_kind_and_its_example_works() {
    let document = include_str!("../../docs/kernel-names.md");
    for kind in Kind::ALL {
        assert!(document.contains(&format!("`{}`", kind.key())), "{}", kind.key());
    }
    let example = document.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let class = Taxonomy::with_text("rooflint.toml", example)
        .unwrap()
        .classify("void fast_mul_half4_128x32(float*)");
    for (key, expected) in [("kind", "gemm"), ("a", "fp16"), ("tile", "128x32"), ("tensor", "yes")]
    {
        assert_eq!(fact(&class, key), expected);
    }
}

#[test]
fn faults_in_a_users_rules_are_told_with_their_place() {
    let class = "[[class]]\nid = 'x'\n";
    for (text, expected, help) in [
        (
            "[[class]]\nid = 'x'\npattern = 'y'\n",
            "my.toml:1:1: missing key \"kind\"",
            "[[class]] and [[operator]] take",
        ),
        ("[[class]\n", "my.toml:1:9: ", "[[class]] and [[operator]] take"),
        (
            "[[class]]\nid = 'x'\nkind = 'gemm'\nre = 'y'\n",
            "my.toml:4:1: unknown key \"re\"",
            "[[class]] and [[operator]] take",
        ),
        ("[device]\n", "my.toml:1:2: unknown key \"device\"", ""),
        (
            &format!("{class}kind = 'gem'\npattern = 'y'\n"),
            "my.toml:3:8: unknown kind \"gem\", expected one of gemm, conv-fprop",
            "docs/kernel-names.md",
        ),
        (
            &format!("{class}kind = 'gemm'\npattern = 'y'\ntensor = 'maybe'\n"),
            "my.toml:5:10: unknown answer \"maybe\", expected one of yes, no, unknown",
            "",
        ),
        (
            &format!("{class}kind = 'gemm'\npattern = '(y'\n"),
            "my.toml:4:11: pattern \"(y\" is not a valid regular expression: unclosed group",
            "single quotes",
        ),
        (
            &format!("{class}kind = 'gemm'\npattern = 'a(?=b)'\n"),
            "look-around, including look-ahead and look-behind, is not supported",
            "without look-around",
        ),
        (
            &format!("{class}kind = 'gemm'\npattern = 'y*'\n"),
            "my.toml:4:11: pattern \"y*\" matches every name",
            "",
        ),
        (
            "[[attr]]\npattern = 'tile(?<tile>\\d+)'\n",
            "my.toml:2:11: unknown field \"tile\", expected one of tensor, mma, tile_m",
            "",
        ),
        (
            "[[attr]]\npattern = 'y'\n",
            "my.toml:2:11: pattern \"y\" does not set any field",
            "name a group",
        ),
        (
            "[[attr]]\npattern = 'y'\nset = { tensr = 'yes' }\n",
            "my.toml:3:9: unknown field \"tensr\", expected one of tensor",
            "",
        ),
        (
            "[[attr]]\npattern = 'y'\nset = { a = 'fp7' }\n",
            "my.toml:3:13: unknown value \"fp7\", expected one of c64, c32, fp64",
            "",
        ),
        (
            "[data-types]\nhalf4 = 'fp7'\n",
            "my.toml:2:9: unknown data type \"fp7\", expected one of c64",
            "",
        ),
    ] {
        let error = Taxonomy::with_text("my.toml", text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}\n{expected}");
        assert!(error.help().contains(help), "{}\n{help}", error.help());
    }
}

#[test]
fn no_name_of_the_collection_is_left_out() {
    let Some(collection) = collection() else { return };
    let text = std::fs::read_to_string(collection.join("../science/kernel-names.md")).unwrap();
    let samples = text.split("```csv\n").nth(1).unwrap().split("```").next().unwrap();
    let ours: Vec<&str> = NAMES.lines().filter_map(|row| row.splitn(3, '\t').nth(2)).collect();
    let mut samples = csv::Reader::from_reader(samples.as_bytes());
    let names: Vec<String> =
        samples.records().map(|row| row.unwrap().get(0).unwrap().to_owned()).collect();
    assert!(names.len() > 100, "{}", names.len());
    let missing: Vec<&String> =
        names.iter().filter(|name| !ours.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn operators_tell_what_a_name_does_not() {
    for (operator, kind) in [
        // As PyProf labels them.
        ("linear M=200,N=35x20,K=200,fp32", "gemm"),
        ("matmul bprop M=64,N=64,K=64,B=8,fp16", "gemm"),
        ("conv2d N=32,C=64,H=56,W=56,K=64,fp16", "conv-fprop"),
        ("relu bprop [32,64]fp16", "activation"),
        ("layer_norm T=[8x3],[fp16]", "layernorm"),
        ("cross_entropy [8]fp32", "loss"),
        // As NVTX ranges: of autograd, and of modules by their classes.
        ("forward/encoder.layers.0/aten::addmm, sizes = [[8], [4, 2], [2, 8]]", "gemm"),
        ("aten::_scaled_dot_product_flash_attention", "attention-fwd"),
        ("aten::_scaled_dot_product_flash_attention_backward", "attention-bwd"),
        ("aten::native_batch_norm", "batchnorm"),
        ("aten::max_pool2d_with_indices_backward", "pooling"),
        ("aten::nll_loss_forward", "loss"),
        ("aten::_index_put_impl_", "scatter"),
        ("aten::copy_", "copy"),
        ("aten::cat", "concat"),
        ("aten::sum", "reduce"),
        ("aten::_fused_adamw_", "optimizer"),
        ("aten::embedding_dense_backward", "embedding"),
        ("autograd::engine::evaluate_function: MmBackward0", "gemm"),
        ("Conv2d", "conv-fprop"),
        // Several kernels of different kinds, and words that promise nothing.
        ("conv2d bprop N=32,C=64,H=56,W=56,K=64,fp16", "unknown"),
        ("aten::convolution_backward", "unknown"),
        ("aten::linear/attention", "unknown"),
        ("LSTMCell.forward gemm=layer,M=8,N=2,K=4,fp16", "unknown"),
        ("train step", "unknown"),
        ("nccl:all_reduce", "unknown"),
    ] {
        let class = Taxonomy::builtin().classify_operator(operator);
        assert_eq!(fact(&class, "kind"), kind, "{operator}");
        assert_eq!(class.by_operator, kind != "unknown", "{operator}");
        assert_eq!(class.tensor, None, "{operator}");
    }
    let own = "[[operator]]\nid = 'mlp'\nkind = 'gemm'\npattern = '^mlp$'";
    let taxonomy = Taxonomy::with_text("rooflint.toml", own).unwrap();
    assert_eq!(taxonomy.classify_operator("block.0/MLP").kind, Some(Kind::Gemm));
}
