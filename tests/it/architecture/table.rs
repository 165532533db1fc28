//! The rules as data: rooms with what they may import, libraries with the rooms that may know them, names, sizes.

/// A room: a module and everything below it that is no room of its own.
pub(super) struct Room {
    /// Module path without `crate::`; empty for the files at the top of `src`.
    pub(super) name: &'static str,
    /// Rooms it may import from.
    pub(super) may: &'static [&'static str],
}

const fn room(name: &'static str, may: &'static [&'static str]) -> Room {
    Room { name, may }
}

/// Every room. Arrows run one way: what is lower never names what is higher.
pub(super) const ROOMS: &[Room] = &[
    room("", &[]),
    room("main", &["cli"]),
    room("cli", &["app", "demo", "platform"]),
    room("app", &["config", "demo", "gateway", "scanner", "idp", "platform"]),
    room("demo", &["config", "platform"]),
    room("contract", &[]),
    room("platform", &[]),
    room(
        "config",
        &[
            "config::administration",
            "config::cache",
            "config::gateway",
            "config::pace",
            "config::shares",
            "config::scanner",
            "config::idp",
            "config::telemetry",
            "platform",
        ],
    ),
    room("config::administration", &[]),
    room("config::cache", &[]),
    room("config::gateway", &["config::administration", "config::cache", "config::pace", "config::shares", "platform"]),
    room("config::pace", &[]),
    room("config::shares", &[]),
    room("config::scanner", &["platform"]),
    room("config::idp", &["platform"]),
    room("config::telemetry", &["platform"]),
    room("idp", &["config::idp", "contract", "platform"]),
    // The gateway: web -> services -> session, vault, cache, upstream -> store -> domain.
    room(
        "gateway",
        &[
            "gateway::web",
            "gateway::services",
            "gateway::session",
            "gateway::vault",
            "gateway::ledger",
            "gateway::policies",
            "gateway::roster",
            "gateway::cache",
            "gateway::upstream",
            "gateway::description",
            "gateway::audit",
            "gateway::keyring",
            "gateway::operations",
            "gateway::pdf",
            "gateway::store",
            "gateway::domain",
            "config::gateway",
            "contract",
            "platform",
        ],
    ),
    room(
        "gateway::web",
        &[
            "gateway::operations",
            "gateway::description",
            "gateway::web::api",
            "gateway::web::listener",
            "gateway::web::middleware",
            "gateway::web::extract",
            "gateway::web::handlers",
            "gateway::web::views",
            "gateway::services",
            "gateway::session",
            "gateway::policies",
            "gateway::domain",
            "config::gateway",
            "contract",
            "platform",
        ],
    ),
    room(
        "gateway::web::middleware",
        &[
            "gateway::web",
            "gateway::web::views",
            "gateway::services",
            "gateway::session",
            "gateway::audit",
            "gateway::domain",
            "config::gateway",
            "platform",
        ],
    ),
    room("gateway::web::listener", &["config::gateway"]),
    room(
        "gateway::web::extract",
        &[
            "gateway::web",
            "gateway::web::middleware",
            "gateway::web::views",
            "gateway::services",
            "gateway::session",
            "gateway::domain",
            "config::gateway",
            "contract",
            "platform",
        ],
    ),
    room(
        "gateway::web::handlers",
        &[
            "gateway::web",
            "gateway::web::extract",
            "gateway::web::views",
            "gateway::services",
            "gateway::session",
            "gateway::operations",
            "gateway::description",
            "gateway::domain",
            "contract",
            "platform",
        ],
    ),
    // The service's own operations: a short chain beside the portal's.
    room(
        "gateway::web::api",
        &[
            "gateway::web",
            "gateway::web::listener",
            "gateway::web::middleware",
            "gateway::services",
            "gateway::session",
            "gateway::domain",
            "config::gateway",
            "contract",
            "platform",
        ],
    ),
    // Views show what services give: they name its types and call none of its functions that ask anybody.
    room(
        "gateway::web::views",
        &["gateway::web", "gateway::services", "gateway::description", "gateway::domain", "contract", "platform"],
    ),
    room(
        "gateway::services",
        &[
            "gateway::audit",
            "gateway::session",
            "gateway::vault",
            "gateway::ledger",
            "gateway::policies",
            "gateway::roster",
            "gateway::cache",
            "gateway::upstream",
            "gateway::pdf",
            "gateway::store",
            "gateway::domain",
            "config::gateway",
            "contract",
            "platform",
        ],
    ),
    room(
        "gateway::session",
        &["gateway::audit", "gateway::policies", "gateway::store", "gateway::domain", "config::gateway", "platform"],
    ),
    room("gateway::policies", &["gateway::store", "gateway::domain", "platform"]),
    room("gateway::roster", &["gateway::store", "gateway::domain", "platform"]),
    room("gateway::audit", &["gateway::store", "gateway::domain", "platform"]),
    room("gateway::operations", &["platform"]),
    // The route table and the contract as OpenAPI.
    room("gateway::description", &["gateway::domain", "contract", "platform"]),
    // A PDF and words: nothing of shares, nothing of HTTP.
    room("gateway::pdf", &[]),
    room("gateway::keyring", &["gateway::audit", "gateway::store", "gateway::domain", "platform"]),
    room("gateway::ledger", &["gateway::store", "gateway::domain", "contract", "platform"]),
    room("gateway::vault", &["gateway::store", "gateway::domain", "config::gateway", "platform"]),
    room("gateway::cache", &["gateway::store", "gateway::domain", "config::cache", "platform"]),
    room("gateway::upstream", &["gateway::domain", "config::gateway", "contract", "platform"]),
    room("gateway::store", &["gateway::domain", "config::gateway", "platform"]),
    room("gateway::domain", &["contract", "config::gateway", "platform"]),
    // The reference scanning service: web -> tasks -> engine, report -> store.
    room(
        "scanner",
        &[
            "scanner::web",
            "scanner::browser",
            "scanner::diagnostics",
            "scanner::dialer",
            "scanner::fetch",
            "scanner::ownership",
            "scanner::places",
            "scanner::tasks",
            "scanner::sandbox",
            "scanner::identity",
            "scanner::engine",
            "scanner::report",
            "scanner::store",
            "config::scanner",
            "contract",
            "platform",
        ],
    ),
    room(
        "scanner::web",
        &[
            "scanner::diagnostics",
            "scanner::ownership",
            "scanner::browser",
            "scanner::places",
            "scanner::sandbox",
            "scanner::tasks",
            "scanner::identity",
            "scanner::engine",
            "scanner::report",
            "scanner::store",
            "config::scanner",
            "contract",
            "platform",
        ],
    ),
    room("scanner::browser", &["scanner::dialer", "scanner::places", "config::scanner", "contract", "platform"]),
    room("scanner::places", &[]),
    room(
        "scanner::tasks",
        &["scanner::sandbox", "scanner::engine", "scanner::report", "scanner::store", "config::scanner", "contract", "platform"],
    ),
    room("scanner::report", &["scanner::engine", "scanner::store", "contract", "platform"]),
    // Everything that goes out for a caller: diagnostics, ownership -> fetch -> dialer.
    room("scanner::diagnostics", &["scanner::fetch", "scanner::dialer", "config::scanner", "contract", "platform"]),
    room(
        "scanner::ownership",
        &["scanner::fetch", "scanner::dialer", "scanner::store", "config::scanner", "contract", "platform"],
    ),
    room("scanner::fetch", &["scanner::dialer", "config::scanner", "platform"]),
    room("scanner::sandbox", &["scanner::engine", "config::scanner", "platform"]),
    room("scanner::dialer", &["config::scanner", "platform"]),
    room("scanner::engine", &["config::scanner", "contract", "platform"]),
    room("scanner::identity", &["config::scanner", "contract", "platform"]),
    room("scanner::store", &["config::scanner", "contract", "platform"]),
];

/// Modules whose direct children have to be rooms; deeper folders belong to the room they are in.
pub(super) const HALLS: &[&str] = &["src", "src/gateway", "src/gateway/web", "src/scanner"];

/// Libraries that only some rooms know.
pub(super) const OWNED: &[(&str, &[&str])] = &[
    (
        "actix_web",
        &[
            "gateway::web",
            "gateway::web::api",
            "gateway::web::listener",
            "gateway::web::middleware",
            "gateway::web::extract",
            "gateway::web::handlers",
            "gateway::session",
            "scanner::web",
            "idp",
        ],
    ),
    ("actix_http", &["gateway::web::listener"]),
    ("actix_server", &["gateway::web::listener"]),
    ("actix_service", &["gateway::web::listener"]),
    ("actix_session", &["gateway::session"]),
    ("actix_multipart", &["gateway::web", "gateway::web::extract", "gateway::web::handlers", "scanner::web"]),
    ("oauth2", &["gateway::upstream"]),
    ("reqwest", &["gateway::upstream", "scanner::identity"]),
    ("redis", &["gateway::store"]),
    ("redb", &["gateway::store", "scanner::store"]),
    // Its derive stands beside serde's, so that a type and what is said of it are one.
    ("utoipa", &["contract", "gateway::description"]),
    ("askama", &["gateway::web::views", "scanner::report", "scanner::web", "idp"]),
    ("qrcodegen", &["gateway::web::views"]),
    ("regex", &["gateway::domain"]),
    ("unicode_normalization", &["gateway::domain", "gateway::pdf"]),
    ("actix_ws", &["scanner::web"]),
    ("command_fds", &["scanner::browser"]),
    ("socket2", &["gateway::web::listener"]),
    ("rustix", &["scanner::browser", "demo", "scanner::sandbox"]),
    ("metrics_exporter_prometheus", &["gateway::operations"]),
    ("moka", &["gateway::cache", "gateway::session", "scanner::identity", "scanner::web"]),
    ("zip", &["gateway::upstream", "scanner::engine"]),
    ("quick_xml", &["scanner::engine"]),
    ("encoding_rs", &["scanner::engine"]),
    ("flate2", &["gateway::domain", "gateway::pdf", "gateway::upstream", "scanner::engine"]),
    ("csv", &["scanner::engine", "gateway::web"]),
    ("seccompiler", &["scanner::sandbox"]),
    ("hickory_resolver", &["scanner::dialer"]),
    ("hyper", &["gateway::upstream", "scanner::browser", "scanner::fetch"]),
    ("hyper_util", &["gateway::upstream", "scanner::browser", "scanner::fetch"]),
    ("http_body_util", &["scanner::browser", "scanner::fetch"]),
    ("rustls", &["gateway::upstream", "scanner::fetch"]),
    ("tokio_rustls", &["gateway::upstream", "scanner::fetch"]),
    ("rustls_platform_verifier", &["gateway::upstream"]),
    ("x509_parser", &["scanner::fetch"]),
    ("webpki_root_certs", &["gateway::upstream", "scanner::fetch", "scanner::identity"]),
    ("ipnet", &["config::scanner"]),
    ("semver", &["scanner::engine"]),
    ("pep440_rs", &["scanner::engine"]),
    ("cafebabe", &["scanner::engine"]),
    ("typst", &["scanner::report"]),
    ("typst_pdf", &["scanner::report"]),
    ("typst_layout", &["scanner::report"]),
    ("typst_assets", &["scanner::report"]),
    ("comemo", &["scanner::report"]),
    ("clap", &["cli"]),
    ("tracing_subscriber", &["platform"]),
    ("getrandom", &["platform"]),
    ("secrecy", &["platform"]),
    ("mimalloc", &["main"]),
];

/// The top of the checkout, without dotfiles.
pub(super) const TOP: &[&str] =
    &["Cargo.lock", "Cargo.toml", "Dockerfile", "LICENSE", "README.md", "config", "src", "static", "templates", "tests"];

/// Dotfiles of the checkout.
pub(super) const DOTFILES: &[&str] = &[
    ".cargo",
    ".ci",
    ".clippy.toml",
    ".config",
    ".deny.toml",
    ".dockerignore",
    ".git",
    ".gitattributes",
    ".github",
    ".gitignore",
    ".rustfmt.toml",
    ".typos.toml",
];

/// What grows at the top while one works; never committed.
pub(super) const LITTER: &[&str] = &["target"];

/// Names that say nothing about what is inside.
pub(super) const EMPTY_NAMES: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "misc", "core", "types", "shared", "stuff"];

/// Lines of a file, tests not counted.
pub(super) const FILE_LINES: usize = 400;

/// Lines of a handler.
pub(super) const HANDLER_LINES: usize = 40;

/// Where handlers are.
pub(super) const HANDLERS: &[&str] = &["src/gateway/web/handlers", "src/scanner/web"];
