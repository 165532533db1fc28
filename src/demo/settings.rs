//! The demo's settings: pure, from the options, the addresses and the secrets. They lie over the defaults like a file would,
//! so the demo is checked by the same rules as everything else.

use std::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value, json};

use super::secrets::Secrets;
use super::{DemoError, Folder, Options, SCANNER_FOLDER};
use crate::config::Problems;
use crate::platform::secret::Secret;

/// A tenant of the demo.
pub(super) struct DemoTenant {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Host names; the first is the one shown.
    pub(super) hosts: &'static [&'static str],
    accent: &'static str,
}

/// The tenants of the demo.
pub(super) const TENANTS: [DemoTenant; 2] = [
    DemoTenant { id: "acme", name: "Acme", hosts: &["localhost", "acme.localhost"], accent: "#2457d6" },
    DemoTenant { id: "globex", name: "Globex", hosts: &["globex.localhost"], accent: "#0f766e" },
];

/// A user of the demo; the password is the name.
pub(super) struct DemoUser {
    pub(super) name: &'static str,
    pub(super) shown: &'static str,
    pub(super) tenant: &'static str,
    pub(super) role: &'static str,
}

/// The users of the demo.
pub(super) const USERS: [DemoUser; 3] = [
    DemoUser { name: "alice", shown: "Alice", tenant: "acme", role: "administrator" },
    DemoUser { name: "bob", shown: "Bob", tenant: "acme", role: "member" },
    DemoUser { name: "carol", shown: "Carol", tenant: "globex", role: "administrator" },
];

/// Where the three parts are.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// What users open: the first tenant's portal.
    pub portal: String,
    pub scanner: String,
    pub idp: String,
    listen: IpAddr,
    port: u16,
}

impl Addresses {
    pub(super) fn new(listen: IpAddr, port: u16) -> Self {
        let here = |offset: u16| format!("http://{}", SocketAddr::new(listen, port.saturating_add(offset)));
        let (scanner, idp) = (here(1), here(2));
        Self { portal: portal(TENANTS.first().map_or("localhost", |tenant| tenant.id), port), scanner, idp, listen, port }
    }

    /// The portal of one tenant.
    pub(super) fn portal_of(&self, tenant: &DemoTenant) -> String {
        portal(tenant.id, self.port)
    }

    /// Where a tenant's users may be sent back to after they signed in.
    pub(super) fn redirect_uris(&self, tenant: &DemoTenant, options: &Options) -> Vec<String> {
        let own = tenant.hosts.iter().map(|host| format!("http://{}/auth/callback", with_port(host, self.port)));
        own.chain(options.redirect_uris.iter().cloned()).collect()
    }

    fn listen(&self, offset: u16) -> String {
        SocketAddr::new(self.listen, self.port.saturating_add(offset)).to_string()
    }
}

fn portal(tenant: &str, port: u16) -> String {
    let host = TENANTS.iter().find(|known| known.id == tenant).and_then(|known| known.hosts.first());
    format!("http://{}", with_port(host.unwrap_or(&"localhost"), port))
}

/// A host as browsers send it: without the port when it is http's own.
fn with_port(host: &str, port: u16) -> String {
    if port == 80 { host.to_owned() } else { format!("{host}:{port}") }
}

/// The id of a tenant's client at the identity provider.
pub(super) fn client_id(tenant: &DemoTenant) -> String {
    format!("cardea-{}", tenant.id)
}

/// Everything the demo sets over the defaults.
pub(super) fn table(
    options: &Options,
    addresses: &Addresses,
    folder: &Folder,
    secrets: &Secrets,
) -> Result<toml::Table, DemoError> {
    let mut tenants = Map::new();
    let mut accounts = Map::new();
    let mut clients = Map::new();
    for tenant in &TENANTS {
        let Some(own) = secrets.tenants.get(tenant.id) else { continue };
        let hosts: Vec<String> = tenant.hosts.iter().map(|host| with_port(host, addresses.port)).collect();
        let settings = json!({
            "name": tenant.name, "hosts": hosts, "public_url": addresses.portal_of(tenant), "accent": tenant.accent,
            "logo": format!("img/{}.svg", tenant.id),
            "frame_ancestors": options.frame_ancestors,
            "identity": { "auth_url": addresses.idp, "client_id": client_id(tenant), "client_secret": own.client_secret.expose() },
            "service": { "base_url": addresses.scanner, "server_key": own.server_key.expose() },
        });
        let client = json!({
            "secret": own.client_secret.expose(), "redirect_uris": addresses.redirect_uris(tenant, options),
            "organization": tenant.id, "name": format!("{} portal", tenant.name),
        });
        tenants.insert(tenant.id.to_owned(), settings);
        clients.insert(client_id(tenant), client);
        accounts.insert(tenant.id.to_owned(), json!({ "server_keys": [own.server_key.expose()] }));
    }
    let all = json!({
        "gateway": {
            "server": { "listen": addresses.listen(0) },
            "session": { "cookie_name": "cardea" },
            "store": { "path": folder.inside("gateway.redb")? },
            "keys": keys(secrets),
            "tenants": tenants,
        },
        "scanner": {
            "listen": addresses.listen(1), "data": folder.inside(SCANNER_FOLDER)?,
            "userinfo_url": format!("{}/oauth/userinfo", addresses.idp), "accounts": accounts,
            "outbound": { "allow": ["127.0.0.0/8", "::1/128"] },
            "public_url": addresses.scanner,
            "browser": { "parents": parents(addresses), "sandbox": !is_root() },
        },
        "idp": {
            "listen": addresses.listen(2), "issuer": addresses.idp, "state_file": folder.inside("idp.json")?,
            "clients": clients, "users": users(),
        },
    });
    // Text, lists and numbers only: this does not fail, and if it did, a secret must not be in the message.
    toml::Table::try_from(all).map_err(|_| DemoError::Settings(Problems::one("demo", "its settings are not TOML", "")))
}

/// Newest first.
fn keys(secrets: &Secrets) -> Vec<Value> {
    let key = |(id, key): &(String, Secret)| json!({ "id": id, "key": key.expose() });
    secrets.sealing_keys.iter().map(key).collect()
}

/// Every origin the portals are at.
fn parents(addresses: &Addresses) -> Vec<String> {
    let hosts = TENANTS.iter().flat_map(|tenant| tenant.hosts);
    hosts.map(|host| format!("http://{}", with_port(host, addresses.port))).collect()
}

/// Chromium refuses its sandbox to root, so the demo does without it there, and says so.
pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn users() -> Value {
    let user = |user: &DemoUser| {
        let settings = json!({
            "password": user.name, "organization": user.tenant, "display_name": user.shown,
            "email": format!("{}@{}.example", user.name, user.tenant), "roles": [user.role],
        });
        (user.name.to_owned(), settings)
    };
    Value::Object(USERS.iter().map(user).collect())
}
