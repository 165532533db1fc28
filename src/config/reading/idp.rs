//! Reads the settings of the identity provider.

use config::Map;

use super::gateway::{FALLBACK, positive};
use crate::config::checks;
use crate::config::idp::{Client, Idp, User};
use crate::config::section::Section;

pub(in crate::config) fn read(section: &mut Section<'_>) -> Idp {
    let idp = Idp {
        listen: section.maybe_parsed("listen", checks::LISTEN, checks::listen).unwrap_or(FALLBACK),
        issuer: section.checked("issuer", checks::WEB_ADDRESS, |text| checks::web_address(text).is_some()),
        state_file: section.optional_path("state_file"),
        access_token_seconds: section.number("access_token_seconds", positive()),
        refresh_token_days: section.number("refresh_token_days", 1..=3650),
        rotation_grace_seconds: section.number("rotation_grace_seconds", 0..=3600),
        clients: section.each("clients", &Map::new(), |_, section| client(section)),
        users: section.each("users", &Map::new(), |_, section| user(section)),
    };
    if idp.clients.is_empty() {
        section.problem("clients", "has no client", "add a section [idp.clients.NAME]");
    }
    idp
}

fn client(section: &mut Section<'_>) -> Client {
    let client = Client {
        secret: section.secret("secret"),
        redirect_uris: section.list("redirect_uris"),
        organization: section.checked("organization", checks::ID, checks::id),
        name: section.text("name"),
    };
    section.every("redirect_uris", &client.redirect_uris, "an absolute address without a fragment", checks::redirect_uri);
    client
}

fn user(section: &mut Section<'_>) -> User {
    let user = User {
        password: section.secret("password"),
        organization: section.checked("organization", checks::ID, checks::id),
        display_name: section.text("display_name"),
        email: section.text("email"),
        roles: section.list("roles"),
    };
    section.every("roles", &user.roles, "administrator or member", |role| matches!(role, "administrator" | "member"));
    user
}
