//! What many kernels have in common, kept once: there can be as many kernels as launches.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashSet;

/// The parts of kernels met so far.
pub(super) struct Shared<T: ?Sized>(HashSet<Arc<T>>);

impl<T: ?Sized> Default for Shared<T> {
    fn default() -> Self {
        Self(HashSet::new())
    }
}

impl<T: ?Sized + Eq + Hash> Shared<T> {
    /// Returns a part, which is the one before if there was an equal one.
    pub(super) fn of<'t>(&mut self, part: &'t T) -> Arc<T>
    where
        Arc<T>: From<&'t T>,
    {
        /// Parts that are remembered; where there are more, they differ from kernel to kernel.
        const MOST: usize = 256;

        if let Some(known) = self.0.get(part) {
            return Arc::clone(known);
        }
        let part = Arc::from(part);
        if self.0.len() < MOST {
            self.0.insert(Arc::clone(&part));
        }
        part
    }
}
