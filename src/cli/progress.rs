//! A bar on standard error while a large input is read; nothing in a pipe and nothing in CI.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ingest::Input;

/// What takes less than this is over before one looks.
const MOMENT: Duration = Duration::from_millis(300);

/// Time between two drawings.
const STEP: Duration = Duration::from_millis(100);

/// Columns of the bar itself.
const BAR: usize = 30;

/// A bar that is drawn while it lives.
pub(super) struct Progress {
    /// Bytes read so far.
    pub(super) read: Arc<AtomicU64>,
    done: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins a bar for these inputs, where one is wanted; never for another program, whose terminal it is.
    pub(super) fn of(inputs: &[Input], is_ours: bool) -> Self {
        let read = Arc::new(AtomicU64::new(0));
        let done = Arc::new(AtomicBool::new(false));
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let drawing =
            (is_ours && is_wanted(io::stderr().is_terminal(), is_dumb, set("CI"))).then(|| {
                let (read, done) = (Arc::clone(&read), Arc::clone(&done));
                let files = inputs.iter().filter_map(|input| input.path().metadata().ok());
                let all = files.map(|file| file.len()).sum();
                std::thread::spawn(move || draw(&read, &done, all))
            });
        Self { read, done, drawing }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(drawing) = self.drawing.take() {
            drawing.thread().unpark();
            // A bar that fails is no failure of the program.
            let _ = drawing.join();
        }
    }
}

/// Whether a bar can be drawn and someone is there to see it.
const fn is_wanted(is_terminal: bool, is_dumb: bool, is_ci: bool) -> bool {
    is_terminal && !is_dumb && !is_ci
}

/// Draws until it is done, and then removes what it drew.
fn draw(read: &AtomicU64, done: &AtomicBool, all: u64) {
    std::thread::park_timeout(MOMENT);
    let mut is_drawn = false;
    while !done.load(Ordering::Relaxed) {
        let line = line(read.load(Ordering::Relaxed), all);
        let _ = write!(io::stderr(), "\r{line}\u{1b}[K");
        is_drawn = true;
        std::thread::park_timeout(STEP);
    }
    if is_drawn {
        let _ = write!(io::stderr(), "\r\u{1b}[K");
    }
}

/// The bar; only the count where the size is not known.
fn line(read: u64, all: u64) -> String {
    let megabytes = read as f64 / 1e6;
    if all == 0 {
        return format!("reading {megabytes:.0} MB");
    }
    let share = (read as f64 / all as f64).min(1.0);
    let filled = (share * BAR as f64) as usize;
    let bar = format!("{}{}", "#".repeat(filled), ".".repeat(BAR - filled));
    format!("reading [{bar}] {:.0}% of {:.0} MB", share * 100.0, all as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_only_for_someone_at_a_terminal() {
        assert!(is_wanted(true, false, false));
        assert!(!is_wanted(false, false, false) && !is_wanted(true, true, false));
        assert!(!is_wanted(true, false, true));
    }

    #[test]
    fn the_bar_says_how_much_is_read() {
        assert_eq!(
            line(50_000_000, 100_000_000),
            "reading [###############...............] 50% of 100 MB"
        );
        // A file that grows, or one that is read twice, fills the bar and no more.
        assert!(line(3_000_000, 2_000_000).contains("] 100% of 2 MB"));
        assert_eq!(line(12_000_000, 0), "reading 12 MB");
    }
}
