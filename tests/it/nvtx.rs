//! Ranges around launches: the operator of a kernel, and what it tells where the name does not.

use std::path::{Path, PathBuf};

use rooflint::ingest::{self, Input};
use rooflint::model::Profile;
use rooflint::session::Session;
use rooflint::taxonomy::{Category, Kind};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn read(name: &str) -> Profile {
    ingest::read(&[Input::Named(fixture(name))], &ingest::Options::default()).unwrap()
}

/// Kernel and operator of each launch.
fn launches(profile: &Profile) -> Vec<(&str, &str)> {
    let names = &profile.names;
    profile.iter().map(|one| (one.kernel(), names.get(one.head.operator))).collect()
}

const ADDMM: &str =
    "forward/encoder.layers.0/aten::addmm, sizes = [[3072], [8192, 768], [768, 3072]]";
const GEMM: &str =
    "void tiled_v3<128, 128>(const __half *, const __half *, __half *, int, int, int)";
const STAGE2: &str = "void stage2_v3<4>(__half *, int)";
const SCAN: &str = "void cub::DeviceScanKernel<cub::Policy>(int *, int *, int)";

#[test]
fn launches_belong_to_their_ranges_whether_kernels_were_renamed_or_not() {
    for name in ["ncu_wide/a100-nvtx-ranges.csv", "ncu_long/a100-nvtx-renamed.csv"] {
        assert_eq!(
            launches(&read(name)),
            [
                (GEMM, ADDMM),
                (STAGE2, "forward/encoder.layers.0/aten::gelu"),
                (GEMM, ADDMM),
                // A library's range says less than the program's own.
                (SCAN, "forward"),
                (SCAN, "cub::DeviceScan::InclusiveSum"),
                (STAGE2, ""),
            ],
            "{name}"
        );
    }
}

#[test]
fn ranges_tell_kernels_apart_and_what_unknown_ones_do() {
    let profile = read("ncu_wide/a100-nvtx-ranges.csv");
    let analysis = Session::default().analyze(&profile).unwrap();
    let found = |operator: Option<&str>, name: &str| {
        let mut kernels = analysis.kernels.iter();
        let kernel = kernels
            .find(|kernel| {
                kernel.operator.as_deref() == operator && kernel.full_name.contains(name)
            })
            .unwrap_or_else(|| panic!("{operator:?}"));
        (kernel.launches, kernel.class.kind, kernel.class.by_operator)
    };
    // Two executions of one operator are one kernel, whatever autograd counted.
    assert_eq!(found(Some(ADDMM), "tiled"), (2, Some(Kind::Gemm), true));
    let gelu = Some("forward/encoder.layers.0/aten::gelu");
    assert_eq!(found(gelu, "stage2"), (1, Some(Kind::Activation), true));
    // A name that is known comes before its range.
    assert_eq!(found(Some("forward"), "Scan"), (1, Some(Kind::Scan), false));
    let alone = analysis.kernels.iter().find(|kernel| kernel.operator.is_none()).unwrap();
    assert_eq!((alone.class.category, alone.class.by_operator), (Category::Unknown, false));
    assert_eq!(analysis.kernels.len(), 5);
}
