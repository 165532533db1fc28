//! Settings of the small identity provider for demo and tests.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::platform::secret::Secret;

/// Everything the identity provider needs to start.
#[derive(Clone, Debug)]
pub struct Idp {
    pub listen: SocketAddr,
    /// The issuer: where browsers and services reach it, without a trailing slash.
    pub issuer: String,
    /// File that keeps keys, grants and sign-ins over a restart; none keeps them in memory.
    pub state_file: Option<PathBuf>,
    pub access_token_seconds: u64,
    pub refresh_token_days: u64,
    /// A used refresh token answers the same again for this long; after it, reuse ends the grant.
    pub rotation_grace_seconds: u64,
    pub clients: BTreeMap<String, Client>,
    pub users: BTreeMap<String, User>,
}

#[derive(Clone, Debug)]
pub struct Client {
    pub secret: Secret,
    pub redirect_uris: Vec<String>,
    /// Only users of this organization sign in here.
    pub organization: String,
    /// Shown on the login form.
    pub name: String,
}

#[derive(Clone, Debug)]
pub struct User {
    pub password: Secret,
    pub organization: String,
    pub display_name: String,
    pub email: String,
    /// `administrator`, `member`.
    pub roles: Vec<String>,
}
