//! Settings of the gateway: server, sessions, store, sealing keys, upstream, limits, tenants.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

pub use super::administration::{Administration, Operator, Subject};
use super::cache::Cache;
pub use super::pace::{Api, Breaker, Gate, Rate, Retry};
pub use super::shares::Shares;
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
    pub api: Api,
    pub drafts: Drafts,
    pub shares: Shares,
    pub cache: Cache,
    pub audit: Audit,
    pub vault: Vault,
    pub operations: Operations,
    pub administration: Administration,
    pub operator: Operator,
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
    /// Networks (CIDR) that are believed when they say for whom they ask.
    pub trusted_proxies: Vec<String>,
    /// The header they say it in.
    pub forwarded_by: ForwardedBy,
    pub connection: Connection,
}

/// The one header in which proxies name callers; the other one is ignored, because it may be a caller's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedBy {
    /// `X-Forwarded-For`.
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// Bounds of one connection to the portal.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// A connection without a request is closed after this long.
    pub keep_alive_seconds: u64,
    /// A request's line and headers have to be there this long after their first byte.
    pub head_seconds: u64,
    /// The longest path and query.
    pub uri_bytes: usize,
    /// All headers of a request together.
    pub head_bytes: usize,
    /// How many headers a request may have.
    pub head_fields: usize,
    /// A caller who takes less than `stall_bytes` of a waiting answer, or sends less of a body that is waited for, in this time
    /// is cut.
    pub stall_seconds: u64,
    pub stall_bytes: usize,
}

#[derive(Clone, Debug)]
pub struct Session {
    /// `__Host-cardea`; without the prefix only on loopback (checked at start).
    pub cookie_name: String,
    pub idle_minutes: u64,
    pub absolute_hours: u64,
    /// Changes of keys need a person who showed at most this long ago who they are.
    pub step_up_minutes: u64,
    /// A session in use is given more time, and seen, at most this often.
    pub extend_seconds: u64,
    /// How long a session that was read is believed without looking again; 0 looks each time.
    pub copy_ms: u64,
    /// Sessions kept in memory that way at most.
    pub copies: u64,
    /// How often a stream looks whether its session is still there.
    pub stream_check_seconds: u64,
    /// How long a begun sign-in may take.
    pub flow_minutes: u64,
    /// Tokens are refreshed this long before they expire.
    pub refresh_ahead_seconds: u64,
    /// Lifetime of an access token when the provider does not tell.
    pub default_token_seconds: u64,
    /// A replica that refreshes and gives no sign of life is left alone for this long; longer than `upstream.timeout_ms`.
    pub refresh_lease_seconds: u64,
    /// A request waits for a refresh for this long.
    pub refresh_wait_seconds: u64,
    /// After trouble the provider is not asked again for the same sign-in for this long.
    pub refresh_rest_seconds: u64,
    /// A refused refresh token is not sent again for this long.
    pub refresh_refused_seconds: u64,
    /// After a token was renewed because the service refused it, a further refusal renews nothing for this long.
    pub refresh_again_seconds: u64,
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
    /// Events that people without a session cause and that are written down for each tenant and minute.
    pub strangers_per_minute: NonZeroU32,
    /// The same for a day.
    pub strangers_per_day: NonZeroU32,
    /// Records that one page of the audit log looks through at most.
    pub looked_through: usize,
    /// Events on a page, and files that are made at the same time.
    pub page_events: usize,
    pub files_at_once: usize,
    /// Records that are sealed anew in a minute after a change of the sealing key.
    pub resealed_per_minute: NonZeroU32,
}

/// Server keys and API keys.
#[derive(Clone, Debug)]
pub struct Vault {
    /// How long keys that were read are believed without looking again; 0 looks each time.
    pub copy_ms: u64,
    /// Uses of keys are written down this often.
    pub use_seconds: u64,
    /// Days of which the number of uses is kept.
    pub use_days: u32,
    /// Server keys a tenant may have.
    pub server_keys: usize,
    /// API keys a tenant may have.
    pub api_keys: usize,
    /// Days an API key may be good for.
    pub api_key_days: u32,
    /// Networks that one API key may be bound to.
    pub api_key_networks: usize,
    /// Pairs of operation and network that are told apart for one API key and day.
    pub use_origins: usize,
    /// Refused API keys that are written down for each tenant and minute.
    pub refusals_per_minute: NonZeroU32,
}

/// What operators ask.
#[derive(Clone, Debug)]
pub struct Operations {
    /// Address of metrics and probes; `None` when there is none.
    pub listen: Option<SocketAddr>,
    /// How long the store may take to answer a probe, and how often it is watched.
    pub store_answers_ms: u64,
    pub watch_ms: u64,
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
    /// A connection of an API call waits for the next one at most this long.
    pub keep_alive_ms: u64,
    /// So many of them wait for each service and worker.
    pub keep_alive_most: usize,
    /// An answer that came before the end of a body may take this long to be read.
    pub early_answer_ms: u64,
}

#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest upload.
    pub upload_bytes: u64,
    /// The largest JSON body of an API call.
    pub json_bytes: usize,
    /// The headers of one part of an upload.
    pub part_head_bytes: usize,
    /// The largest form body.
    pub form_bytes: usize,
    /// A request body that moves no byte for this long is refused.
    pub body_idle_seconds: u64,
    /// Sign-ins begun per network and minute.
    pub sign_ins_per_minute: u64,
    /// Events of one live status stream end after this long; the page asks again.
    pub live_minutes: u64,
    /// How often a live status asks the service.
    pub live_poll_ms: u64,
    /// Tasks of a group whose file is asked for when its page is shown.
    pub group_files: usize,
}

/// Bounds of new scans that are being prepared.
#[derive(Clone, Debug)]
pub struct Drafts {
    /// A draft is kept this long after it was begun.
    pub days: u64,
    /// What a started draft has become is kept this long.
    pub started_days: u64,
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
    /// Sessions a user may have at once; with one more the oldest ends.
    pub sessions_per_user: usize,
    pub identity: Identity,
    pub service: Service,
    pub api: TenantApi,
}

/// What API callers of one tenant may do.
#[derive(Clone, Debug)]
pub struct TenantApi {
    /// Operations are served that are not in the interface's tables.
    pub additions: bool,
    /// A call may carry an access token of the identity provider as its bearer.
    pub access_tokens: bool,
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

/// How the portal shows the provider at the token endpoint that it is itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// As the provider's discovery document says; else [`ClientAuth::Post`].
    Auto,
    /// The secret in the form (`client_secret_post`), as the interface says.
    Post,
    /// The secret by HTTP Basic (`client_secret_basic`).
    Basic,
    /// An assertion signed with the client's own key (`private_key_jwt`, RFC 7523).
    PrivateKey,
}

#[derive(Clone, Debug)]
pub struct Identity {
    pub profile: Profile,
    /// `{auth_url}` of the interface; the issuer for `oidc` and `strict`.
    pub auth_url: String,
    /// Where the browser is sent when it differs from `auth_url`; else empty.
    pub browser_auth_url: String,
    pub client_id: String,
    pub client_auth: ClientAuth,
    /// Empty where a key takes its place.
    pub client_secret: Secret,
    /// PKCS #8 private key in PEM, for [`ClientAuth::PrivateKey`].
    pub client_key: Option<Secret>,
    /// `kid` of that key at the provider; empty sends none.
    pub client_key_id: String,
    /// `aud` of assertions; empty: the issuer, or the token endpoint where the profile is `seed`.
    pub client_assertion_audience: String,
    pub scopes: Vec<String>,
    /// Revocation endpoint when there is one and no discovery; else empty.
    pub revocation_url: String,
    /// Where browsers end their session at the provider, when there is no discovery; else empty.
    pub end_session_url: String,
    /// Whether signing out here goes on to the provider, where it offers that.
    pub sign_out_at_provider: bool,
    pub claims: Claims,
    /// Values of the role claim that make an administrator.
    pub administrator_values: Vec<String>,
    /// Values of the role claim that make a member; empty: everybody whom the provider lets in.
    pub member_values: Vec<String>,
    pub limits: IdentityLimits,
}

/// Times and counts of one tenant's dealings with its provider.
#[derive(Clone, Debug)]
pub struct IdentityLimits {
    /// Clocks of portal and provider may differ by this much.
    pub clock_leeway_seconds: u64,
    /// Endpoints and keys are asked for again after this long.
    pub metadata_minutes: u64,
    /// Tokens with an unknown key make the provider's keys be read again at most this often.
    pub key_fetch_seconds: u64,
    /// A logout token is good for this long after it was made.
    pub logout_token_seconds: u64,
    /// Tries to take a token back at the provider.
    pub revocation_tries: u32,
    /// A sign-out waits for the address of the provider's own at most this long.
    pub sign_out_wait_ms: u64,
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
