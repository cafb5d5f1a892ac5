//! A kernel with chosen figures for the tests of rules; compiled under `#[cfg(test)]` only.

use crate::analysis::{self, Analysis};
use crate::catalog::Catalog;
use crate::ingest::{self, Mapping};
use crate::model::Quantity;
use crate::rules::{Check, Judgment, Rule, Settings, Subject};

/// One launch on an H100: 1 ms, 1 GB and 1 GFLOP of FP32 unless `figures` say otherwise.
pub(in crate::rules) fn analysis(figures: &[(Quantity, f64)]) -> Analysis {
    let mut mapping = String::from(
        "device = 'NVIDIA H100 80GB HBM3'\n[columns]\nkernel = 'kernel'\n\
         grid = 'grid'\nblock = 'block'\ntime = { column = 'time', unit = 's' }\n\
         bytes = { column = 'bytes', unit = 'B' }\n\
         flops = { column = 'flops', unit = 'FLOP', precision = 'fp32_vector' }\n[quantities]\n",
    );
    let of = |quantity, default| {
        figures.iter().find(|(known, _)| *known == quantity).map_or(default, |(_, value)| *value)
    };
    let (time, bytes) = (of(Quantity::Duration, 1e-3), of(Quantity::DramBytes, 1e9));
    let mut header = String::from("kernel,grid,block,time,bytes,flops");
    let mut row = format!("k,4096x1x1,256x1x1,{time},{bytes},1000000000");
    for (quantity, value) in figures {
        if matches!(quantity, Quantity::Duration | Quantity::DramBytes) {
            continue;
        }
        let (column, unit) = (quantity.column(), quantity.unit());
        mapping.push_str(&format!("{column} = {{ column = '{column}', unit = '{unit}' }}\n"));
        header.push_str(&format!(",{column}"));
        row.push_str(&format!(",{value}"));
    }
    let text: &'static str = Box::leak(format!("{header}\n{row}\n").into_boxed_str());
    let map = Some(Mapping::from_toml(&mapping, "bench.toml").unwrap());
    let options = ingest::Options { map, ..ingest::Options::default() };
    let profile = ingest::read_text("bench", text, &options).unwrap();
    analysis::analyze(&profile, &Catalog::builtin(), &analysis::Options::default()).unwrap()
}

/// What a rule says of a kernel with these figures.
pub(in crate::rules) fn judge(rule: &'static Rule, figures: &[(Quantity, f64)]) -> Judgment {
    let analysis = analysis(figures);
    let settings = Settings::default();
    let subject = Subject {
        rule: rule.id,
        kernel: &analysis.kernels[0],
        analysis: &analysis,
        settings: &settings,
    };
    match rule.check {
        Check::Kernel(check) | Check::KernelAlso(_, check) => check(&subject),
        Check::Run(_) => panic!("{} judges the whole run", rule.id),
    }
}
