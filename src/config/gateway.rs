//! Settings of the gateway: server, sessions, store, sealing keys, upstream, limits, tenants.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::platform::secret::Secret;

/// Everything the gateway needs to start.
#[derive(Clone, Debug)]
pub struct Gateway {
    pub server: Server,
    pub session: Session,
    pub store: Store,
    /// Sealing keys, newest first.
    pub keys: Vec<SealingKey>,
    pub upstream: Upstream,
    pub limits: Limits,
    pub drafts: Drafts,
    pub audit: Audit,
    /// By tenant id.
    pub tenants: BTreeMap<String, Tenant>,
}

#[derive(Clone, Debug)]
pub struct Server {
    pub listen: SocketAddr,
    /// Worker threads; 0 means one for each core.
    pub workers: usize,
    /// How long running requests may take to end after SIGTERM.
    pub shutdown_seconds: u64,
    /// Networks (CIDR) whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.
    pub trusted_proxies: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Session {
    /// `__Host-cardea`; without the prefix only on loopback (checked at start).
    pub cookie_name: String,
    pub idle_minutes: u64,
    pub absolute_hours: u64,
    /// How long a begun sign-in may take.
    pub flow_minutes: u64,
    /// Tokens are refreshed this long before they expire.
    pub refresh_ahead_seconds: u64,
    /// Lifetime of an access token when the provider does not tell.
    pub default_token_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Embedded,
    Redis,
}

#[derive(Clone, Debug)]
pub struct Store {
    pub backend: Backend,
    /// File of the embedded store.
    pub path: PathBuf,
    /// `redis://` or `rediss://` address with credentials.
    pub redis_url: Option<Secret>,
    /// Certificates (PEM) that are trusted for `rediss://` in the place of the system's.
    pub redis_roots: Option<Vec<u8>>,
    /// Sentinels as `host:port`, and the name they have for the master; empty without them.
    pub redis_sentinels: Vec<String>,
    pub redis_master: String,
    /// Nodes of a cluster to begin with, as `host:port`; empty for no cluster.
    pub redis_cluster: Vec<String>,
    /// Prefix of every key in Redis.
    pub redis_prefix: String,
    pub connect_timeout_ms: u64,
    pub response_timeout_ms: u64,
    /// How often replicas tell each other which sealing keys they have.
    pub replica_seconds: u64,
}

/// The audit trail.
#[derive(Clone, Debug)]
pub struct Audit {
    /// How long its records stay.
    pub days: u64,
    /// Events that may wait for a store that is away.
    pub waiting: usize,
}

#[derive(Clone, Debug)]
pub struct SealingKey {
    /// 1 to 32 characters.
    pub id: String,
    /// 32 bytes in base64.
    pub key: Secret,
}

#[derive(Clone, Debug)]
pub struct Upstream {
    pub connect_timeout_ms: u64,
    /// Whole time of a call that is not streamed.
    pub timeout_ms: u64,
    /// A stream that moves no byte for this long is cut.
    pub idle_timeout_ms: u64,
    /// The largest JSON answer that is read.
    pub max_answer_bytes: usize,
    /// Further tries of a read after a connect error or 502, 503, 504.
    pub retries: u32,
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest upload.
    pub upload_bytes: u64,
    /// The largest form body.
    pub form_bytes: usize,
    /// A request body that moves no byte for this long is refused.
    pub body_idle_seconds: u64,
    /// Wrong extraction codes per share and network before it has to wait.
    pub share_wrong_codes: u64,
    /// Wrong extraction codes per share from all networks together before everybody has to wait.
    pub share_wrong_codes_anywhere: u64,
    /// Wrong extraction codes in the life of a share after which its code opens nothing any more.
    pub share_wrong_codes_lifetime: u64,
    /// How long those count, and how long it then waits.
    pub share_window_seconds: u64,
    /// How long an opened share stays open for its recipient.
    pub share_grant_minutes: u64,
    /// Sign-ins begun per network and minute.
    pub sign_ins_per_minute: u64,
    /// Events of one live status stream end after this long; the page asks again.
    pub live_minutes: u64,
    /// How often a live status asks the service.
    pub live_poll_ms: u64,
}

/// Bounds of new scans that are being prepared.
#[derive(Clone, Debug)]
pub struct Drafts {
    /// A draft is kept this long after it was begun.
    pub days: u64,
    /// Drafts a person may have at once.
    pub per_person: usize,
    /// Artifacts, and source archives, of one draft.
    pub files: usize,
    /// Accounts of one draft.
    pub accounts: usize,
    /// The largest captured session.
    pub session_bytes: usize,
    /// Answers to what pages ask by themselves are shared by all tabs for this long.
    pub poll_memory_ms: u64,
}

#[derive(Clone, Debug)]
pub struct Tenant {
    /// Shown in headings.
    pub name: String,
    /// Exact host names, with port when it is not the scheme's own.
    pub hosts: Vec<String>,
    /// Scheme and host users see, without a path: `https://portal.example.com`.
    pub public_url: String,
    /// Path below `static/` of the logo, empty for none.
    pub logo: String,
    /// `#rrggbb`.
    pub accent: String,
    /// Origins that may show this tenant's pages in a frame.
    pub frame_ancestors: Vec<String>,
    pub identity: Identity,
    pub service: Service,
}

/// How sign-in answers are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// OAuth 2.0 with userinfo, as the interface says.
    Seed,
    /// OpenID Connect: discovery, nonce, id_token.
    Oidc,
    /// As `oidc`, and the callback must carry `iss` (RFC 9207).
    Strict,
}

#[derive(Clone, Debug)]
pub struct Identity {
    pub profile: Profile,
    /// `{auth_url}` of the interface; the issuer for `oidc` and `strict`.
    pub auth_url: String,
    /// Where the browser is sent when it differs from `auth_url`; else empty.
    pub browser_auth_url: String,
    pub client_id: String,
    pub client_secret: Secret,
    pub scopes: Vec<String>,
    /// Revocation endpoint when there is one and no discovery; else empty.
    pub revocation_url: String,
    pub claims: Claims,
    /// Values of the role claim that make an administrator.
    pub administrator_values: Vec<String>,
}

/// Where userinfo holds what: dotted paths, the first that is there wins.
#[derive(Clone, Debug)]
pub struct Claims {
    pub subject: Vec<String>,
    pub name: Vec<String>,
    pub email: Vec<String>,
    pub role: Vec<String>,
}

/// Which credential a public share call carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublicAuth {
    None,
    Sk,
}

#[derive(Clone, Debug)]
pub struct Service {
    /// `{base_url}` of the interface.
    pub base_url: String,
    /// `/scanner` unless the service is mounted elsewhere.
    pub prefix: String,
    pub public_auth: PublicAuth,
    /// Origins embedded browsers may come from; empty: the origin of `base_url`.
    pub browser_origins: Vec<String>,
    /// A server key to start with, taken into the vault when the tenant has none there.
    pub server_key: Option<Secret>,
}
