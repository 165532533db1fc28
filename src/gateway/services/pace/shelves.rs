//! Allowances by name, as many as are tracked; all others have one together, so that whoever makes names up takes no memory.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::quota::Used;

/// Locks over which the names are spread.
const SHELVES: usize = 16;

/// What allowances can be named by.
pub(super) trait Name: Hash + Eq {
    type Kept: Borrow<Self> + Clone + Hash + Eq;
    fn kept(&self) -> Self::Kept;
}

impl Name for str {
    type Kept = Box<str>;

    fn kept(&self) -> Box<str> {
        self.into()
    }
}

impl Name for u128 {
    type Kept = Self;

    fn kept(&self) -> Self {
        *self
    }
}

/// The allowances.
pub(super) struct Shelves<N: Name + ?Sized> {
    rows: [Mutex<Shelf<N::Kept>>; SHELVES],
    hasher: RandomState,
    /// Names of one shelf.
    most: usize,
    /// Whether others want to know.
    shares: bool,
}

struct Shelf<K> {
    used: HashMap<K, Used>,
    /// Names of which others do not know everything.
    news: Vec<K>,
    rest: Used,
}

impl<N: Name + ?Sized> Shelves<N> {
    /// Room for `tracked` names. With `shares`, [`Shelves::send`] says what was used since the last time.
    pub(super) fn new(tracked: usize, shares: bool) -> Self {
        let shelf = |_| Mutex::new(Shelf { used: HashMap::new(), news: Vec::new(), rest: Used::default() });
        Self { rows: std::array::from_fn(shelf), hasher: RandomState::new(), most: tracked.div_ceil(SHELVES), shares }
    }

    /// Does something with the allowance of `name`.
    pub(super) fn with<R>(&self, name: &N, work: impl FnOnce(&mut Used) -> R) -> R {
        let mut place = lock(self.shelf(name));
        let Shelf { used, news, rest } = &mut *place;
        if !used.contains_key(name) && used.len() < self.most {
            used.insert(name.kept(), Used::default());
        }
        let Some(used) = used.get_mut(name) else { return work(rest) };
        let result = work(used);
        if self.shares && used.is_first_fresh() {
            news.push(name.kept());
        }
        result
    }

    /// Does something with the allowance of `name`, if that is tracked.
    pub(super) fn again(&self, name: &N, work: impl FnOnce(&mut Used)) {
        if let Some(used) = lock(self.shelf(name)).used.get_mut(name) {
            work(used);
        }
    }

    /// What the others do not know yet, taken on its way to them: window and number by name.
    pub(super) fn send(&self) -> Vec<(N::Kept, (u64, u64))> {
        let mut sent = Vec::new();
        for shelf in &self.rows {
            let mut place = lock(shelf);
            let Shelf { used, news, .. } = &mut *place;
            sent.extend(news.drain(..).filter_map(|name| {
                let sent = used.get_mut(name.borrow())?.send();
                Some((name, sent))
            }));
        }
        sent
    }

    /// Forgets names that were last used before `window`.
    pub(super) fn forget_before(&self, window: u64) {
        for shelf in &self.rows {
            lock(shelf).used.retain(|_, used| used.window >= window);
        }
    }

    fn shelf(&self, name: &N) -> &Mutex<Shelf<N::Kept>> {
        let [first, rest @ ..] = &self.rows;
        let place = usize::try_from(self.hasher.hash_one(name) % SHELVES as u64).unwrap_or(0);
        place.checked_sub(1).and_then(|place| rest.get(place)).unwrap_or(first)
    }
}

/// A lock whose holder never panics half-way.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
