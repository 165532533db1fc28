//! The gateway's parts as they are built at start, from settings with the compiled-in defaults below them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::config::gateway::Gateway as Settings;
use crate::config::{Kind, Sources, load};
use crate::gateway::build::Base;
use crate::gateway::session::Tokens;
use crate::gateway::vault::ServerKeys;
use crate::gateway::web::server::Parts;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// Built parts, and what tests reach into beside them.
pub(super) struct Rig {
    pub(super) parts: Parts,
    pub(super) tokens: Tokens,
    pub(super) vault: ServerKeys,
}

/// A tenant on `http://{id}.example` at this scanning service.
pub(super) fn tenant(id: &str, name: &str, service: &str) -> Value {
    json!({
        "name": name, "hosts": [format!("{id}.example")], "public_url": format!("http://{id}.example"), "accent": "#0b5c57",
        "identity": {"auth_url": "http://127.0.0.1:9", "client_id": "c", "client_secret": "s"},
        "service": {"base_url": service},
    })
}

/// Builds a gateway. `adjust` changes what the settings file cannot say, e.g. https for a test without TLS.
pub(super) fn rig(tenants: &Value, limits: &Value, folder: &Path, clock: &Clock, adjust: impl FnOnce(&mut Settings)) -> Rig {
    let own = json!({"gateway": {
        "session": {"cookie_name": "__Host-cardea"},
        "store": {"path": folder.join("store.redb")},
        "keys": [{"id": "k", "key": STANDARD.encode([7; 32])}],
        "upstream": {"connect_timeout_ms": 2000, "timeout_ms": 10000, "idle_timeout_ms": 10000, "retries": 0},
        "limits": limits, "tenants": secured(tenants),
    }});
    let own = Some(toml::Table::try_from(own).unwrap());
    let mut settings = load(Kind::Serve, &Sources { file: None, own, environment: Vec::new() }).unwrap().gateway.unwrap();
    adjust(&mut settings);
    let shutdown = Shutdown::default();
    let base = Base::new(&settings, clock, &shutdown).unwrap();
    let parts = base.parts().unwrap();
    Rig { tokens: parts.services.signin.tokens.clone(), vault: base.vault.clone(), parts }
}

/// The settings want https off loopback; `adjust` may take it back.
fn secured(tenants: &Value) -> Value {
    let mut tenants = tenants.clone();
    for tenant in tenants.as_object_mut().unwrap().values_mut() {
        let url = tenant["public_url"].as_str().unwrap().replace("http://", "https://");
        tenant["public_url"] = json!(url);
    }
    tenants
}
