//! Calls of the frame library, which panics on some damaged files: nothing is printed of that.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// The calls of the frame library that are running, and the hook that panics had before the first of them.
struct Calls {
    running: usize,
    usual: Option<Arc<Hook>>,
}

/// The hook belongs to the whole process: the first call sets it, the last one puts the usual one back.
static CALLS: Mutex<Calls> = Mutex::new(Calls { running: 0, usual: None });

thread_local! {
    static IS_IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// Makes a call of the frame library; `None` if it panics, of which nothing is printed. Threads may call side by
/// side.
pub(super) fn quietly<T>(call: impl FnOnce() -> T) -> Option<T> {
    enter();
    let was_in_call = IS_IN_CALL.replace(true);
    let made = catch_unwind(AssertUnwindSafe(call)).ok();
    IS_IN_CALL.set(was_in_call);
    leave();
    made
}

fn enter() {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    calls.running += 1;
    if calls.running > 1 {
        return;
    }
    let usual = Arc::new(panic::take_hook());
    calls.usual = Some(Arc::clone(&usual));
    panic::set_hook(Box::new(move |panicked| {
        let is_of_call = IS_IN_CALL.get()
            || thread::current().name().is_some_and(|name| name.starts_with("polars"));
        if !is_of_call {
            usual(panicked);
        }
    }));
}

fn leave() {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    calls.running -= 1;
    if calls.running > 0 {
        return;
    }
    drop(panic::take_hook());
    if let Some(usual) = calls.usual.take() {
        match Arc::try_unwrap(usual) {
            Ok(usual) => panic::set_hook(usual),
            Err(usual) => panic::set_hook(Box::new(move |panicked| usual(panicked))),
        }
    }
}
