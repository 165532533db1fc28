//! Proof of control over a domain (WIRE 8, 18 #8).

use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// What to put at the domain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Challenge {
    pub content: Hostile,
    /// Until when it is good; None when the answer does not tell (then 3 hours, WIRE 8).
    pub expires: Option<Timestamp>,
    /// `hash.txt` unless the answer names another.
    pub file_name: Hostile,
}

/// Outcome of looking for the content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Verified,
    /// Not there yet, or not allowed; in the service's words, which may be empty.
    NotYet(Hostile),
}
