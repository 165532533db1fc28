//! Reads the settings of the gateway, and checks what has to fit together across its sections.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use crate::config::checks;
use crate::config::gateway::{
    Audit, Claims, ClientAuth, Drafts, ForwardedBy, Gateway, Identity, IdentityLimits, Limits, Operations, Profile, PublicAuth,
    SealingKey, Server, Service, Session, Tenant, TenantApi, Upstream, Vault,
};
use crate::config::section::Section;
use crate::platform::secret::Secret;

/// Stands for an address that could not be read.
pub(super) const FALLBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Anything but zero.
pub(super) const fn positive() -> RangeInclusive<u64> {
    1..=9_007_199_254_740_992
}

pub(in crate::config) fn read(section: &mut Section<'_>) -> Gateway {
    let defaults = section.raw("tenant");
    let gateway = Gateway {
        server: section.table("server", server),
        session: section.table("session", session),
        store: section.table("store", super::store::read),
        keys: section.series("keys", key),
        upstream: section.table("upstream", upstream),
        limits: section.table("limits", limits),
        api: section.table("api", super::api::read),
        drafts: section.table("drafts", drafts),
        shares: section.table("shares", super::shares::read),
        cache: section.table("cache", super::cache::read),
        audit: section.table("audit", audit),
        vault: section.table("vault", vault),
        operations: section.table("operations", operations),
        administration: section.table("administration", super::administration::read),
        operator: section.table("operator", super::administration::operator),
        tenants: section.each("tenants", &defaults, tenant),
    };
    keys_fit(section, &gateway.keys);
    tenants_fit(section, &gateway.tenants);
    operators_fit(section, &gateway);
    cookie_fits(section, &gateway);
    lease_fits(section, &gateway);
    if gateway.operations.listen.is_some_and(|listen| listen == gateway.server.listen && listen.port() != 0) {
        let hint = "the portal listens there: metrics and portal do not share an address";
        section.problem("operations.listen", "is the address of server.listen", hint);
    }
    gateway
}

fn server(section: &mut Section<'_>) -> Server {
    let server = Server {
        listen: section.maybe_parsed("listen", checks::LISTEN, checks::listen).unwrap_or(FALLBACK),
        workers: section.number("workers", 0..=1024),
        shutdown_seconds: section.number("shutdown_seconds", 0..=3600),
        trusted_proxies: section.list("trusted_proxies"),
        forwarded_by: section.choice(
            "forwarded_by",
            ("x-forwarded-for", ForwardedBy::XForwardedFor),
            &[("forwarded", ForwardedBy::Forwarded)],
        ),
        connection: section.table("connection", super::api::connection),
    };
    section.every("trusted_proxies", &server.trusted_proxies, "a network such as 10.0.0.0/8", checks::network);
    server
}

fn session(section: &mut Section<'_>) -> Session {
    let session = Session {
        cookie_name: section.checked("cookie_name", "a cookie name such as __Host-cardea", checks::cookie_name),
        idle_minutes: section.number("idle_minutes", 1..=43_200),
        absolute_hours: section.number("absolute_hours", 1..=720),
        step_up_minutes: section.number("step_up_minutes", 1..=43_200),
        extend_seconds: section.number("extend_seconds", 0..=3600),
        copy_ms: section.number("copy_ms", 0..=1000),
        copies: section.number("copies", 1..=1_000_000),
        stream_check_seconds: section.number("stream_check_seconds", 1..=3600),
        flow_minutes: section.number("flow_minutes", 1..=60),
        refresh_ahead_seconds: section.number("refresh_ahead_seconds", 0..=3600),
        default_token_seconds: section.number("default_token_seconds", 1..=86_400),
        refresh_lease_seconds: section.number("refresh_lease_seconds", 1..=600),
        refresh_wait_seconds: section.number("refresh_wait_seconds", 1..=600),
        refresh_rest_seconds: section.number("refresh_rest_seconds", 0..=600),
        refresh_refused_seconds: section.number("refresh_refused_seconds", 1..=3600),
        refresh_again_seconds: section.number("refresh_again_seconds", 0..=3600),
    };
    if session.idle_minutes > session.absolute_hours.saturating_mul(60) {
        section.problem("idle_minutes", "is longer than absolute_hours", "a session cannot be idle for longer than it lives");
    }
    session
}

fn audit(section: &mut Section<'_>) -> Audit {
    Audit {
        days: section.number("days", 1..=36_500),
        waiting: section.number("waiting", 1..=1_000_000),
        strangers_per_minute: NonZeroU32::new(section.number("strangers_per_minute", 1..=100_000)).unwrap_or(NonZeroU32::MIN),
        strangers_per_day: NonZeroU32::new(section.number("strangers_per_day", 1..=10_000_000)).unwrap_or(NonZeroU32::MIN),
        looked_through: section.number("looked_through", 100..=1_000_000),
        page_events: section.number("page_events", 1..=500),
        files_at_once: section.number("files_at_once", 1..=100),
        resealed_per_minute: NonZeroU32::new(section.number("resealed_per_minute", 1..=1_000_000)).unwrap_or(NonZeroU32::MIN),
    }
}

fn vault(section: &mut Section<'_>) -> Vault {
    Vault {
        copy_ms: section.number("copy_ms", 0..=1000),
        use_seconds: section.number("use_seconds", 1..=3600),
        use_days: section.number("use_days", 1..=366),
        server_keys: section.number("server_keys", 1..=1000),
        api_keys: section.number("api_keys", 1..=10_000),
        api_key_days: section.number("api_key_days", 1..=3660),
        api_key_networks: section.number("api_key_networks", 1..=1000),
        use_origins: section.number("use_origins", 1..=10_000),
        refusals_per_minute: NonZeroU32::new(section.number("refusals_per_minute", 1..=100_000)).unwrap_or(NonZeroU32::MIN),
    }
}

fn operations(section: &mut Section<'_>) -> Operations {
    let or_off = |text: &str| if text.is_empty() { Some(None) } else { checks::listen(text).map(Some) };
    Operations {
        listen: section.parsed("listen", "an address and port such as 127.0.0.1:9090, or nothing", or_off),
        store_answers_ms: section.number("store_answers_ms", 1..=60_000),
        watch_ms: section.number("watch_ms", 10..=60_000),
    }
}

fn key(section: &mut Section<'_>) -> SealingKey {
    let key = SealingKey {
        id: section.checked("id", "1 to 32 characters", |id| (1..=32).contains(&id.len())),
        key: section.secret("key"),
    };
    if !key.key.expose().is_empty() && !checks::sealing_key(key.key.expose()) {
        section.problem("key", "is not 32 bytes in base64", "make one with: openssl rand -base64 32");
    }
    key
}

fn upstream(section: &mut Section<'_>) -> Upstream {
    Upstream {
        connect_timeout_ms: section.number("connect_timeout_ms", 1..=600_000),
        timeout_ms: section.number("timeout_ms", 1..=600_000),
        idle_timeout_ms: section.number("idle_timeout_ms", 1..=600_000),
        max_answer_bytes: section.number("max_answer_bytes", 1024..=1_073_741_824),
        retries: section.number("retries", 0..=10),
        keep_alive_ms: section.number("keep_alive_ms", 0..=600_000),
        keep_alive_most: section.number("keep_alive_most", 0..=100_000),
        early_answer_ms: section.number("early_answer_ms", 1..=60_000),
    }
}

fn limits(section: &mut Section<'_>) -> Limits {
    Limits {
        upload_bytes: section.number("upload_bytes", positive()),
        json_bytes: section.number("json_bytes", 1024..=1_073_741_824),
        part_head_bytes: section.number("part_head_bytes", 256..=65_536),
        form_bytes: section.number("form_bytes", 1024..=16_777_216),
        body_idle_seconds: section.number("body_idle_seconds", 1..=3600),
        sign_ins_per_minute: section.number("sign_ins_per_minute", 1..=100_000),
        live_minutes: section.number("live_minutes", 1..=1440),
        live_poll_ms: section.number("live_poll_ms", 100..=60_000),
        group_files: section.number("group_files", 0..=200),
    }
}

fn drafts(section: &mut Section<'_>) -> Drafts {
    Drafts {
        days: section.number("days", 1..=365),
        started_days: section.number("started_days", 1..=365),
        per_person: section.number("per_person", 1..=1000),
        files: section.number("files", 1..=200),
        accounts: section.number("accounts", 1..=100),
        session_bytes: section.number("session_bytes", 1024..=16_777_216),
        poll_memory_ms: section.number("poll_memory_ms", 0..=60_000),
    }
}

fn tenant(id: &str, section: &mut Section<'_>) -> Tenant {
    section.named(id);
    let tenant = Tenant {
        name: section.checked("name", "a name to show", |name| !name.trim().is_empty()),
        hosts: section.list("hosts"),
        public_url: section.checked(
            "public_url",
            "scheme and host such as https://portal.example.com, nothing after it",
            |text| checks::origin(text).is_some(),
        ),
        logo: section.checked("logo", "a path below static/, or nothing", |path| !path.starts_with('/') && !path.contains("..")),
        accent: section.checked("accent", "a colour such as #2457d6", checks::colour),
        frame_ancestors: section.list("frame_ancestors"),
        sessions_per_user: section.number("sessions_per_user", 1..=1000),
        identity: section.table("identity", identity),
        service: section.table("service", service),
        api: section.table("api", |section| TenantApi {
            additions: section.flag("additions"),
            access_tokens: section.flag("access_tokens"),
        }),
    };
    section.every("hosts", &tenant.hosts, "a host in lower case, with its port unless that is the scheme's own", checks::host);
    let is_origin = |text: &str| checks::origin(text).is_some();
    section.every("frame_ancestors", &tenant.frame_ancestors, "an origin such as https://intranet.example.com", is_origin);
    if tenant.hosts.is_empty() && !section.has_problem_at("hosts") {
        section.problem("hosts", "is empty", "name at least the host of public_url");
    }
    if let Some(url) = checks::origin(&tenant.public_url) {
        let shown = tenant.public_url.split_once("://").map_or("", |(_, host)| host);
        if !tenant.hosts.is_empty() && !tenant.hosts.iter().any(|host| host == shown) {
            section.problem(
                "public_url",
                format!("names {shown}, which is not among `hosts`"),
                "add it to `hosts`, or change public_url",
            );
        }
        if url.scheme() == "http" && !checks::on_loopback(&url) {
            section.problem("public_url", "is http on a host that is not this machine", "use https: sessions need it");
        }
    }
    tenant
}

fn identity(section: &mut Section<'_>) -> Identity {
    let address = |text: &str| checks::web_address(text).is_some();
    let or_empty = |text: &str| text.is_empty() || checks::web_address(text).is_some();
    let profiles = [("oidc", Profile::Oidc), ("strict", Profile::Strict)];
    let client_auth = section.choice(
        "client_auth",
        ("auto", ClientAuth::Auto),
        &[("post", ClientAuth::Post), ("basic", ClientAuth::Basic), ("private_key_jwt", ClientAuth::PrivateKey)],
    );
    let (client_secret, client_key) = client_credentials(section, client_auth);
    let identity = Identity {
        profile: section.choice("profile", ("seed", Profile::Seed), &profiles),
        auth_url: section.checked("auth_url", checks::WEB_ADDRESS, address),
        browser_auth_url: section.checked("browser_auth_url", checks::WEB_ADDRESS, or_empty),
        client_id: section.checked("client_id", "the id the identity provider gave this portal", |id| !id.is_empty()),
        client_auth,
        client_secret,
        client_key,
        client_key_id: section.text("client_key_id"),
        client_assertion_audience: section.text("client_assertion_audience"),
        scopes: section.list("scopes"),
        revocation_url: section.checked("revocation_url", checks::WEB_ADDRESS, or_empty),
        end_session_url: section.checked("end_session_url", checks::WEB_ADDRESS, or_empty),
        sign_out_at_provider: section.flag("sign_out_at_provider"),
        claims: section.table("claims", claims),
        administrator_values: section.list("administrator_values"),
        member_values: section.list("member_values"),
        limits: section.table("limits", identity_limits),
    };
    if identity.profile != Profile::Seed && !identity.scopes.iter().any(|scope| scope == "openid") {
        section.problem("scopes", "lacks \"openid\"", "the profiles \"oidc\" and \"strict\" ask for an id_token: add it");
    }
    identity
}

/// A key where assertions are asked for, a secret everywhere else.
fn client_credentials(section: &mut Section<'_>, client_auth: ClientAuth) -> (Secret, Option<Secret>) {
    let key = section.optional_secret("client_key");
    let pem = |key: &Secret| key.expose().contains("-----BEGIN PRIVATE KEY-----");
    if key.as_ref().is_some_and(|key| !pem(key)) {
        section.problem(
            "client_key",
            "is no private key",
            "expected PKCS #8 in PEM; make one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256",
        );
    }
    if client_auth != ClientAuth::PrivateKey {
        return (section.secret("client_secret"), key);
    }
    if key.is_none() && !section.has_problem_at("client_key") && !section.has_problem_at("client_key_file") {
        section.problem(
            "client_key",
            "is missing",
            "client_auth \"private_key_jwt\" needs it: set client_key_file to the path of a PEM file",
        );
    }
    (section.optional_secret("client_secret").unwrap_or_else(|| Secret::new("")), key)
}

fn identity_limits(section: &mut Section<'_>) -> IdentityLimits {
    IdentityLimits {
        clock_leeway_seconds: section.number("clock_leeway_seconds", 0..=600),
        metadata_minutes: section.number("metadata_minutes", 1..=1440),
        key_fetch_seconds: section.number("key_fetch_seconds", 1..=3600),
        logout_token_seconds: section.number("logout_token_seconds", 10..=3600),
        revocation_tries: section.number("revocation_tries", 1..=20),
        sign_out_wait_ms: section.number("sign_out_wait_ms", 1..=60_000),
    }
}

fn claims(section: &mut Section<'_>) -> Claims {
    let mut paths = |key: &str| {
        let paths = section.list(key);
        section.every(key, &paths, "a dotted path of claims such as realm_access.roles", checks::claim_path);
        paths
    };
    let claims = Claims { subject: paths("subject"), name: paths("name"), email: paths("email"), role: paths("role") };
    if claims.subject.is_empty() && !section.has_problem_at("subject") {
        section.problem("subject", "is empty", "without a subject nobody can be told apart: name the claim, e.g. sub");
    }
    claims
}

fn service(section: &mut Section<'_>) -> Service {
    let mounted = |path: &str| path.is_empty() || (path.starts_with('/') && !path.ends_with('/') && !path.contains("//"));
    let service = Service {
        base_url: section.checked("base_url", checks::WEB_ADDRESS, |text| checks::web_address(text).is_some()),
        prefix: section.checked("prefix", "a path such as /scanner", mounted),
        public_auth: section.choice("public_auth", ("none", PublicAuth::None), &[("sk", PublicAuth::Sk)]),
        browser_origins: section.list("browser_origins"),
        server_key: section.optional_secret("server_key"),
    };
    let is_origin = |text: &str| checks::origin(text).is_some();
    section.every("browser_origins", &service.browser_origins, "an origin such as https://scan.example.com", is_origin);
    service
}

fn keys_fit(section: &mut Section<'_>, keys: &[SealingKey]) {
    if keys.is_empty() && !section.has_problem_at("keys") {
        let hint = "add [[gateway.keys]] with id and key or key_file; make a key with: openssl rand -base64 32";
        section.problem("keys", "has no key", hint);
    }
    for (index, key) in keys.iter().enumerate() {
        if keys.iter().take(index).any(|earlier| earlier.id == key.id) && !key.id.is_empty() {
            section.problem(&format!("keys.{index}.id"), "is the id of another key too", "ids have to differ");
        }
    }
}

fn tenants_fit(section: &mut Section<'_>, tenants: &BTreeMap<String, Tenant>) {
    if tenants.is_empty() && !section.has_problem_at("tenants") {
        section.problem(
            "tenants",
            "has no tenant",
            "add a section [gateway.tenants.ID] with name, hosts, public_url, identity, service",
        );
    }
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for (id, tenant) in tenants {
        for host in &tenant.hosts {
            if let Some(owner) = owners.insert(host, id) {
                let message = format!("names {host}, which tenant {owner} names too");
                section.problem(&format!("tenants.{id}.hosts"), message, "a host belongs to exactly one tenant");
            }
        }
    }
}

/// Who runs the platform signs in somewhere that is.
fn operators_fit(section: &mut Section<'_>, gateway: &Gateway) {
    for (index, subject) in gateway.operator.subjects.iter().enumerate() {
        if !subject.tenant.is_empty() && !gateway.tenants.contains_key(&subject.tenant) {
            let hint = "name one of gateway.tenants, or none for all of them";
            section.problem(&format!("operator.subjects.{index}.tenant"), "is no tenant", hint);
        }
    }
}

/// Another replica must not use a refresh token while the call that uses it is still on its way.
fn lease_fits(section: &mut Section<'_>, gateway: &Gateway) {
    if gateway.session.refresh_lease_seconds.saturating_mul(1000) <= gateway.upstream.timeout_ms {
        let hint = "two replicas could use the same refresh token: make it longer, or upstream.timeout_ms shorter";
        section.problem("session.refresh_lease_seconds", "is not longer than upstream.timeout_ms", hint);
    }
}

/// A cookie without the prefix `__Host-` could be set by a neighbour host or travel without TLS: fine on one's own machine only.
fn cookie_fits(section: &mut Section<'_>, gateway: &Gateway) {
    let secured = gateway.session.cookie_name.starts_with("__Host-");
    let plain = |tenant: &Tenant| checks::origin(&tenant.public_url).filter(|url| url.scheme() == "http");
    let all_plain = gateway.tenants.values().all(|tenant| plain(tenant).is_some_and(|url| checks::on_loopback(&url)));
    let own_machine = gateway.server.listen.ip().is_loopback() && all_plain;
    if !secured && !own_machine {
        let hint = "name it __Host-…; another name is for http on loopback only (server.listen and every public_url)";
        section.problem("session.cookie_name", "lacks the prefix __Host-", hint);
    }
    if secured && gateway.tenants.values().any(|tenant| plain(tenant).is_some()) {
        let hint = "browsers keep __Host- cookies over https only: use https, or another cookie name on loopback";
        section.problem("session.cookie_name", "has the prefix __Host-, yet a tenant's public_url is http", hint);
    }
}
