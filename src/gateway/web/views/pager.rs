//! Moving through the pages of a list.

/// What `partials/pager.html` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Pager {
    /// `1,234 tasks, page 2 of 25`.
    pub(in crate::gateway) words: String,
    pub(in crate::gateway) first: Option<String>,
    pub(in crate::gateway) previous: Option<String>,
    pub(in crate::gateway) next: Option<String>,
    pub(in crate::gateway) last: Option<String>,
}

/// How many there are, and where one is.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Extent {
    /// All rows on all pages.
    pub(in crate::gateway) total: u64,
    /// False: `total` is a least number.
    pub(in crate::gateway) complete: bool,
    /// From 1.
    pub(in crate::gateway) page: u32,
    /// Rows on a page.
    pub(in crate::gateway) size: u32,
}

impl Extent {
    /// The last page; 1 when there are no rows.
    pub(in crate::gateway) fn last(self) -> u32 {
        u32::try_from(self.total.div_ceil(u64::from(self.size.max(1)))).unwrap_or(u32::MAX).max(1)
    }

    /// Whether the page lies beyond the rows.
    pub(in crate::gateway) fn is_beyond(self) -> bool {
        self.page > self.last()
    }
}

impl Pager {
    /// `address` gives the address of a page; `one` and `many` name what is listed.
    pub(in crate::gateway) fn new(extent: Extent, one: &str, many: &str, address: impl Fn(u32) -> String) -> Self {
        let (page, end) = (extent.page, extent.last());
        let least = if extent.complete { "" } else { "at least " };
        let named = if extent.total == 1 { one } else { many };
        let place = if end > 1 { format!(", page {page} of {end}") } else { String::new() };
        let to = |there: bool, page: u32| there.then(|| address(page));
        Self {
            words: format!("{least}{} {named}{place}", grouped(extent.total)),
            first: to(page > 2, 1),
            previous: to(page > 1, page.saturating_sub(1).min(end)),
            next: to(page < end, page.saturating_add(1)),
            last: to(page.saturating_add(1) < end, end),
        }
    }
}

/// `1,234,567`.
pub(in crate::gateway) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pager(total: u64, page: u32) -> Pager {
        Pager::new(Extent { total, complete: true, page, size: 50 }, "task", "tasks", |page| format!("?page={page}"))
    }

    #[test]
    fn the_ends_of_a_list_offer_no_way_beyond() {
        let only = pager(1, 1);
        assert_eq!(only.words, "1 task");
        assert_eq!((only.first, only.previous, only.next, only.last), (None, None, None, None));
        let middle = pager(10_000, 100);
        assert_eq!(middle.words, "10,000 tasks, page 100 of 200");
        assert_eq!((middle.first.as_deref(), middle.previous.as_deref()), (Some("?page=1"), Some("?page=99")));
        assert_eq!((middle.next.as_deref(), middle.last.as_deref()), (Some("?page=101"), Some("?page=200")));
        let end = pager(10_000, 200);
        assert_eq!((end.next, end.last), (None, None));
        assert_eq!(pager(0, 1).words, "0 tasks");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
    }
}
