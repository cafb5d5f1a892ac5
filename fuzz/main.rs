//! Runs one fuzz target under libFuzzer: the one that `ROOFLINT_FUZZ` names.
#![no_main]

use std::sync::OnceLock;

mod targets;

use targets::{TARGETS, Target};

static TARGET: OnceLock<&Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        let name = std::env::var("ROOFLINT_FUZZ").unwrap_or_default();
        let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
            // The list that `fuzz/run` works through.
            for target in TARGETS {
                println!("{} {} {}", target.name, target.longest, target.seeds.join(" "));
            }
            std::process::exit(0);
        };
        let _ = TARGET.set(target);
    },
    |data: &[u8]| {
        if let Some(target) = TARGET.get() {
            (target.run)(data);
        }
    }
);
