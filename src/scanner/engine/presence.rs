//! Whether the class a flaw is in exists at all. Says "no" only where the component's code was read whole and the class is
//! nowhere in the artifact, not even moved to another package.

use std::collections::HashSet;

use super::advisories::tail;
use super::identity::Identified;
use super::matching::Match;
use super::seen::Seen;

/// Segments of a package that make two classes relatives.
const RELATED: usize = 3;

/// Classes of the whole artifact that advisories name.
pub(super) struct Presence<'a> {
    tails: HashSet<&'a str>,
    /// Whether every archive was read to its end.
    is_whole: bool,
}

impl<'a> Presence<'a> {
    pub(super) fn new(seen: &'a [Seen], is_whole: bool) -> Self {
        Self { tails: seen.iter().flat_map(|one| &one.classes).map(|class| tail(class)).collect(), is_whole }
    }

    /// Whether the classes of the flaw are absent from the component and from everything around it.
    pub(super) fn lacks(&self, seen: &Seen, found: &Identified, hit: &Match<'_>) -> bool {
        let named = &hit.advisory.classes;
        // Where no relative of the class is, something else was looked at: sources, a stub, a sibling of the same advisory.
        let has_relatives = |class: &String| {
            let own = related(class.rsplit_once('/').map_or("", |(package, _)| package));
            seen.packages.iter().any(|package| related(package) == own)
        };
        self.is_whole
            && !found.is_embedded
            && !named.is_empty()
            && named.iter().all(|class| !self.tails.contains(tail(class)))
            && named.iter().any(has_relatives)
    }
}

fn related(package: &str) -> &str {
    package.match_indices('/').nth(RELATED - 1).map_or(package, |(at, _)| package.get(..at).unwrap_or(package))
}
