//! Reads where the gateway keeps things: one file, or Redis as one server, behind sentinels, or as a cluster.

use crate::config::checks;
use crate::config::gateway::{Backend, Store};
use crate::config::section::Section;
use crate::platform::secret::Secret;

pub(super) fn read(section: &mut Section<'_>) -> Store {
    let store = Store {
        backend: section.choice("backend", ("embedded", Backend::Embedded), &[("redis", Backend::Redis)]),
        path: section.path("path"),
        redis_url: section.optional_secret("redis_url"),
        redis_roots: redis_roots(section),
        redis_sentinels: section.list("redis_sentinels"),
        redis_master: section.text("redis_master"),
        redis_cluster: section.list("redis_cluster"),
        redis_prefix: section.text("redis_prefix"),
        connect_timeout_ms: section.number("connect_timeout_ms", 1..=600_000),
        response_timeout_ms: section.number("response_timeout_ms", 1..=600_000),
        replica_seconds: section.number("replica_seconds", 1..=300),
    };
    let of_redis = |url: &Secret| ["redis://", "rediss://"].iter().any(|scheme| url.expose().starts_with(scheme));
    match &store.redis_url {
        Some(url) if !of_redis(url) => section.problem("redis_url", "does not fit", "expected redis:// or rediss:// and a host"),
        Some(url) if url.expose().contains('#') => {
            section.problem("redis_url", "has a #", "certificates are always checked; give a private authority as redis_ca_file");
        }
        None if store.backend == Backend::Redis && !section.has_problem_at("redis_url") => {
            section.problem("redis_url", "is missing", "the backend \"redis\" needs it: set it, or redis_url_file");
        }
        _ => {}
    }
    let node = "host:port such as redis-1:6379";
    section.every("redis_sentinels", &store.redis_sentinels, node, checks::node);
    section.every("redis_cluster", &store.redis_cluster, node, checks::node);
    if !store.redis_sentinels.is_empty() && !store.redis_cluster.is_empty() {
        section.problem(
            "redis_cluster",
            "is set, and so is redis_sentinels",
            "Redis is either watched by sentinels or a cluster",
        );
    }
    if !store.redis_sentinels.is_empty() && store.redis_master.is_empty() {
        section.problem("redis_master", "is missing", "name the master as the sentinels do, e.g. \"mymaster\"");
    }
    store
}

fn redis_roots(section: &mut Section<'_>) -> Option<Vec<u8>> {
    let path = section.optional_path("redis_ca_file")?;
    match std::fs::read(&path) {
        Ok(text) if text.windows(27).any(|part| part == b"-----BEGIN CERTIFICATE-----") => return Some(text),
        Ok(_) => section.problem("redis_ca_file", format!("{} holds no certificate", path.display()), "expected PEM"),
        Err(error) => {
            let hint = "the file has to be readable for the user this runs as";
            section.problem("redis_ca_file", format!("{} cannot be read: {error}", path.display()), hint);
        }
    }
    None
}
