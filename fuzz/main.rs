//! Runs one fuzz target under libFuzzer: the one that `ROOFLINT_FUZZ` names. With `ROOFLINT_FUZZ_CHANGED` it writes the
//! changed inputs of the target into that folder instead.
#![no_main]

use std::sync::OnceLock;

mod changed;
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
        if let Some(folder) = std::env::var_os("ROOFLINT_FUZZ_CHANGED") {
            let written = changed::write(target, folder.as_ref());
            if let Err(cause) = &written {
                eprintln!("{}: {cause}", target.name);
            }
            std::process::exit(written.is_err().into());
        }
        let _ = TARGET.set(target);
    },
    |data: &[u8]| {
        if let Some(target) = TARGET.get() {
            (target.run)(data);
        }
    }
);
