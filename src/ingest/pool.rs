//! Threads that work on the pieces of something, with the results in the order of the pieces.
//!
//! Whoever is free takes the next piece from the source. Who waits for results works too, so one
//! thread more is no gain that is lost to waiting. A bounded number of pieces is on its way.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Gives the next piece; `None` at the end.
pub(super) type Source<T> = Box<dyn FnMut() -> Option<T> + Send>;

/// What is done with a piece.
pub(super) type Work<T, R> = Box<dyn FnMut(T) -> R + Send>;

/// A thread stopped without a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost;

enum Message<R> {
    /// The result of the piece with this number.
    Done(u64, R),
    /// There are so many pieces.
    End(u64),
    Lost,
}

/// Where pieces come from.
struct Queue<T> {
    source: Source<T>,
    /// Number of the next piece.
    next: u64,
}

impl<T> Queue<T> {
    /// The next piece with its number; at the end, the number of pieces.
    fn take(&mut self) -> (u64, Option<T>) {
        let (number, piece) = (self.next, (self.source)());
        self.next += u64::from(piece.is_some());
        (number, piece)
    }
}

/// What has become of the pieces.
#[derive(Default)]
struct Progress {
    /// So many were taken, or are about to be.
    taken: u64,
    /// The results of so many were given away.
    given: u64,
    /// Nobody waits for more.
    is_over: bool,
}

struct Shared<T> {
    queue: Mutex<Queue<T>>,
    progress: Mutex<Progress>,
    moved: Condvar,
    /// Pieces on their way at most.
    most: u64,
}

/// A lock whatever became of the thread that had it: what it guards is whole between two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> Shared<T> {
    /// Waits until there is room for one more piece, and takes it; `None` if nobody waits for it.
    fn take(&self) -> Option<(u64, Option<T>)> {
        let mut progress = lock(&self.progress);
        while progress.taken >= progress.given + self.most && !progress.is_over {
            progress = self.moved.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        progress.taken += 1;
        let is_over = progress.is_over;
        drop(progress);
        (!is_over).then(|| lock(&self.queue).take())
    }

    /// Takes a piece if there is room for one.
    fn take_now(&self) -> Option<(u64, Option<T>)> {
        let mut progress = lock(&self.progress);
        if progress.taken >= progress.given + self.most {
            return None;
        }
        progress.taken += 1;
        drop(progress);
        Some(lock(&self.queue).take())
    }
}

/// Tells that its thread stopped before it was done.
struct Guard<R>(Sender<Message<R>>);

impl<R> Drop for Guard<R> {
    fn drop(&mut self) {
        if thread::panicking() {
            // Nobody may be waiting any more.
            let _ = self.0.send(Message::Lost);
        }
    }
}

/// Gives the results of the pieces of a source in order.
pub(super) struct Pool<T, R> {
    shared: Arc<Shared<T>>,
    results: Receiver<Message<R>>,
    /// Results whose turn has not come.
    early: BTreeMap<u64, R>,
    next: u64,
    end: Option<u64>,
    own: Work<T, R>,
}

impl<T: Send + 'static, R: Send + 'static> Pool<T, R> {
    /// Lets each of the others work in a thread of its own, as far as threads are to be had.
    ///
    /// They are not waited for: they end when nobody takes their results, and may hang in a pipe until
    /// then.
    pub(super) fn start(source: Source<T>, own: Work<T, R>, others: Vec<Work<T, R>>) -> Self {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue { source, next: 0 }),
            progress: Mutex::default(),
            moved: Condvar::new(),
            most: others.len() as u64 + 2,
        });
        let (sender, results) = channel();
        for mut work in others {
            let (shared, guard) = (Arc::clone(&shared), Guard(sender.clone()));
            let run = move || {
                while let Some((number, piece)) = shared.take() {
                    let Some(piece) = piece else {
                        let _ = guard.0.send(Message::End(number));
                        return;
                    };
                    if guard.0.send(Message::Done(number, work(piece))).is_err() {
                        return;
                    }
                }
            };
            // Where no thread is to be had, there is one fewer.
            let _ = thread::Builder::new().name("rooflint-part".to_owned()).spawn(run);
        }
        Self { shared, results, early: BTreeMap::new(), next: 0, end: None, own }
    }

    /// The next result; `None` at the end.
    ///
    /// # Errors
    /// When a thread stopped.
    pub(super) fn next(&mut self) -> Result<Option<R>, Lost> {
        loop {
            if let Some(result) = self.early.remove(&self.next) {
                self.next += 1;
                lock(&self.shared.progress).given = self.next;
                self.shared.moved.notify_one();
                return Ok(Some(result));
            }
            if self.end == Some(self.next) {
                return Ok(None);
            }
            if let Ok(message) = self.results.try_recv() {
                self.keep(message)?;
                continue;
            }
            let message = match self.shared.take_now().filter(|_| self.end.is_none()) {
                Some((number, Some(piece))) => Message::Done(number, (self.own)(piece)),
                Some((number, None)) => Message::End(number),
                None => self.results.recv().map_err(|_| Lost)?,
            };
            self.keep(message)?;
        }
    }

    fn keep(&mut self, message: Message<R>) -> Result<(), Lost> {
        match message {
            Message::Done(number, result) => {
                self.early.insert(number, result);
            }
            Message::End(number) => self.end = Some(number),
            Message::Lost => return Err(Lost),
        }
        Ok(())
    }
}

impl<T, R> Drop for Pool<T, R> {
    fn drop(&mut self) {
        lock(&self.shared.progress).is_over = true;
        self.shared.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(others: usize, pieces: u64) -> Pool<u64, u64> {
        let mut next = 0;
        let source = Box::new(move || {
            next += 1;
            (next <= pieces).then_some(next)
        });
        let work = || -> Work<u64, u64> { Box::new(|piece| piece * piece) };
        Pool::start(source, work(), (0..others).map(|_| work()).collect())
    }

    #[test]
    fn results_come_in_the_order_of_the_pieces() {
        for others in [0, 1, 3, 7] {
            let mut pool = squares(others, 1000);
            for piece in 1..=1000 {
                assert_eq!(pool.next(), Ok(Some(piece * piece)));
            }
            assert_eq!((pool.next(), pool.next()), (Ok(None), Ok(None)));
            // Whoever leaves early is not waited for.
            assert_eq!(squares(others, u64::MAX).next(), Ok(Some(1)));
        }
    }

    #[test]
    fn few_pieces_are_on_their_way() {
        let taken = Arc::new(Mutex::new(0_u64));
        let count = Arc::clone(&taken);
        let source = Box::new(move || {
            *lock(&count) += 1;
            Some(())
        });
        let work = || -> Work<(), ()> { Box::new(|()| ()) };
        let mut pool = Pool::start(source, work(), vec![work(), work()]);
        for given in 1..=500 {
            pool.next().unwrap();
            assert!(*lock(&taken) <= given + 4, "{given}");
        }
    }

    #[test]
    fn a_thread_that_stops_is_no_end() {
        let source = Box::new(|| Some(()));
        // This thread is slow, so that the other has work.
        let own: Work<(), ()> = Box::new(|()| thread::sleep(std::time::Duration::from_millis(20)));
        let other: Work<(), ()> = Box::new(|()| panic!("stops"));
        let mut pool = Pool::start(source, own, vec![other]);
        let found = (0..100).find_map(|_| pool.next().err());
        assert_eq!(found, Some(Lost));
    }
}
