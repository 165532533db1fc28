//! One page of a list.

/// The items of one page and how many there are in all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listing<T> {
    pub items: Vec<T>,
    /// All items that fit the search, on all pages.
    pub total: u64,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { items: Vec::new(), total: 0 }
    }
}

impl<T> Listing<T> {
    /// The same listing of other values; what `read` cannot make one of is left out, the total stays.
    pub(crate) fn read<U>(self, read: impl FnMut(T) -> Option<U>) -> Listing<U> {
        Listing { items: self.items.into_iter().filter_map(read).collect(), total: self.total }
    }
}
