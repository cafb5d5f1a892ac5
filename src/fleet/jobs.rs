//! Jobs that are done side by side: each thread takes the next one until none is left.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

/// Does every job on as many threads as are asked for (0: one per core), at most one per job, and returns what each
/// thread gathered with `work`, which gets the position of a job with it.
///
/// Where a job fails, no other is begun, and the error is that of the first job that failed: it does not depend on which
/// thread was faster. Work that must go on keeps its failures in what it gathers.
///
/// # Errors
/// Returns the first error of `work`.
pub(super) fn side_by_side<T: Sync, S: Default + Send, E: Send>(
    threads: usize,
    jobs: &[T],
    work: impl Fn(&mut S, usize, &T) -> Result<(), E> + Sync,
) -> Result<Vec<S>, E> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut gathered = S::default();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else { return (gathered, None) };
            if let Err(error) = work(&mut gathered, at, job) {
                // Those before it were begun already, so the first failure is always found.
                next.store(jobs.len(), Ordering::Relaxed);
                return (gathered, Some((at, error)));
            }
        }
    };
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if threads == 0 { cores() } else { threads.min(crate::ingest::MOST_THREADS) };
    let (mut gathered, mut failed) = (Vec::new(), None::<(usize, E)>);
    thread::scope(|scope| {
        let workers = (0..threads.min(jobs.len())).map(|_| scope.spawn(take));
        for worker in workers.collect::<Vec<_>>() {
            let (own, failure) = worker.join().unwrap_or_else(|cause| panic::resume_unwind(cause));
            gathered.push(own);
            let first = failed.as_ref().map_or(usize::MAX, |(first, _)| *first);
            if failure.as_ref().is_some_and(|(at, _)| *at < first) {
                failed = failure;
            }
        }
    });
    failed.map_or(Ok(gathered), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn every_job_is_done_once_on_any_number_of_threads() {
        let jobs: Vec<usize> = (0..100).collect();
        for threads in [0, 1, 3, 1000] {
            let done = side_by_side(threads, &jobs, |done: &mut Vec<usize>, at, job| {
                assert_eq!(at, *job);
                done.push(*job);
                Ok::<(), Infallible>(())
            });
            let Ok(done) = done;
            let mut done = done.concat();
            done.sort_unstable();
            assert_eq!(done, jobs, "{threads}");
        }
        let none = side_by_side(4, &[(); 0], |(): &mut (), _, ()| Err::<(), ()>(()));
        assert_eq!(none, Ok(Vec::new()));
    }

    /// Jobs 7 and 30 fail. With one thread nothing after 7 is begun; with several, 7 is named whichever was first.
    #[test]
    fn the_first_failure_is_named_and_ends_the_rest() {
        let jobs: Vec<usize> = (0..40).collect();
        for threads in [1, 4] {
            let begun = Mutex::new(0);
            let failed = side_by_side(threads, &jobs, |(): &mut (), at, _| {
                *begun.lock().unwrap() += 1;
                if [7, 30].contains(&at) { Err(at) } else { Ok(()) }
            });
            assert_eq!(failed, Err(7), "{threads}");
            assert!(threads > 1 || *begun.lock().unwrap() == 8);
        }
    }
}
