//! Signals: an interrupt leaves no part of an output behind, and a file that may not grow is an error.

use std::sync::Arc;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::unfinished;

/// Watches for signals from here on. One that the caller ignores, as `nohup` does, stays ignored.
pub(super) fn watch() {
    // With a handler the write fails, and the error says what to do; without one the process ends in silence.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| {
        ignored.map_or(*signal != SIGHUP, |ignored| ignored >> (signal - 1) & 1 == 0)
    });
    // Without this, an interrupt works as it always does.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            unfinished::remove_all();
            let _ = emulate_default_handler(signal);
        }
    });
}

/// The signals that are ignored, a bit each; `None` where the system does not say.
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}
