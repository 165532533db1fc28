//! How to get in: `demo.json` for scripts, a few lines for people. The file holds secrets and is for its owner only.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, json};

use super::Options;
use super::secrets::Secrets;
use super::settings::{Addresses, TENANTS, USERS, client_id, is_root};

/// `{"portal","scanner","idp","tenants":{ID:{"portal","client_id","client_secret","redirect_uris","sk"}},"users":[…]}`.
pub(super) fn json(options: &Options, addresses: &Addresses, secrets: &Secrets) -> String {
    let mut tenants = Map::new();
    for tenant in &TENANTS {
        let Some(own) = secrets.tenants.get(tenant.id) else { continue };
        let sheet = json!({
            "portal": addresses.portal_of(tenant),
            "client_id": client_id(tenant),
            "client_secret": own.client_secret.expose(),
            "redirect_uris": addresses.redirect_uris(tenant, options),
            "sk": own.server_key.expose(),
        });
        tenants.insert(tenant.id.to_owned(), sheet);
    }
    let user = |user: &super::settings::DemoUser| json!({ "name": user.name, "password": user.name, "tenant": user.tenant, "role": user.role });
    let sheet = json!({
        "portal": addresses.portal, "scanner": addresses.scanner, "idp": addresses.idp,
        "tenants": tenants, "users": USERS.iter().map(user).collect::<Vec<_>>(),
    });
    format!("{sheet:#}\n")
}

/// What is printed under the ready line.
pub(super) fn greeting(addresses: &Addresses, folder: &Path) -> String {
    let mut text = String::new();
    for tenant in &TENANTS {
        let _ = writeln!(text, "\n{} is at {}; sign in as", tenant.name, addresses.portal_of(tenant));
        for user in USERS.iter().filter(|user| user.tenant == tenant.id) {
            let _ = writeln!(text, "  {:<6} with the password {:<6} ({})", user.name, user.name, user.role);
        }
    }
    text.push_str(
        "\nChecks of a target may connect to this machine (127.0.0.0/8 and ::1); outside of the demo that is closed.\n",
    );
    if is_root() {
        let _ =
            writeln!(text, "\nThis runs as root, so remote browsers run without Chromium's sandbox: visit only sites you trust.");
    }
    let _ = write!(text, "\nEverything is kept in {}; scripts read demo.json there. Ctrl-C ends the demo.", folder.display());
    text
}
