//! Who calls an operation.

use std::sync::Arc;

use crate::gateway::domain::api_key::ApiKey;
use crate::gateway::session::SignedIn;
use crate::gateway::upstream::Credential;
use crate::platform::secret::Secret;

/// A caller that was recognised, or nobody.
#[derive(Clone)]
pub(in crate::gateway) enum Caller {
    /// Signed in, by the session cookie.
    Person(Arc<SignedIn>),
    /// A program of the tenant, by an API key of this portal.
    Key(Arc<ApiKey>),
    /// An access token of the identity provider, which the service judges.
    Token(Secret),
    Nobody,
}

/// As whom the service is asked.
#[derive(Clone)]
pub(super) struct Means {
    pub(super) credential: Credential,
    /// Id of the server key, where it is one.
    pub(super) key: Option<String>,
}

impl Means {
    pub(super) const fn of(credential: Credential) -> Self {
        Self { credential, key: None }
    }

    pub(super) const fn token(token: Secret) -> Self {
        Self::of(Credential::UserToken(token))
    }
}

impl Caller {
    pub(in crate::gateway) const fn is_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }

    /// Whether it is told how answers came about: people who run things, and programs.
    pub(in crate::gateway) fn sees_inside(&self) -> bool {
        match self {
            Self::Person(user) => user.principal.is_administrator(),
            Self::Key(_) | Self::Token(_) => true,
            Self::Nobody => false,
        }
    }
}
