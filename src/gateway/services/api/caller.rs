//! Who calls an operation.

use std::sync::Arc;

use crate::gateway::session::SignedIn;
use crate::platform::secret::Secret;

/// A caller that was recognised, or nobody.
pub(in crate::gateway) enum Caller {
    /// Signed in, by the session cookie.
    Person(Arc<SignedIn>),
    /// An access token of the identity provider, which the service judges.
    Token(Secret),
    Nobody,
}

impl Caller {
    pub(in crate::gateway) const fn is_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }
}
