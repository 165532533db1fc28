//! Embedded remote browsers: a session at the service, embedded only from an origin the tenant's settings allow.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Actor;
use super::credentials::Credentials;
use super::drafts::Drafts;
use super::error::Error;
use crate::config::gateway as settings;
use crate::contract::error::codes;
use crate::gateway::domain::draft::{DraftId, origin};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::upstream::Kind;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Browsers {
    credentials: Credentials,
    drafts: Drafts,
    origins: Arc<BTreeMap<TenantId, Vec<String>>>,
}

/// Outcome of asking for a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Opened {
    /// Its page, and the origin that messages come from and go to.
    Page { url: String, origin: String },
    /// Words for people: why there is none, and what to do instead.
    None(&'static str),
}

impl Browsers {
    pub(in crate::gateway) fn new(
        credentials: Credentials,
        drafts: Drafts,
        tenants: &BTreeMap<TenantId, settings::Tenant>,
    ) -> Self {
        let origins = tenants.iter().map(|(id, tenant)| (id.clone(), allowed(&tenant.service))).collect();
        Self { credentials, drafts, origins: Arc::new(origins) }
    }

    /// Origins whose pages may be embedded.
    pub(in crate::gateway) fn origins(&self, tenant: &TenantId) -> &[String] {
        self.origins.get(tenant).map_or(&[], Vec::as_slice)
    }

    /// A browser for a draft.
    pub(in crate::gateway) async fn open(&self, actor: &Actor, id: &DraftId) -> Result<Opened, Error> {
        let held = self.drafts.get(actor, id).await?;
        let ask = self.credentials.with_user(actor, |service, call| async move { service.create_browser(&call).await });
        let session = match ask.await {
            Ok(session) => session,
            Err(error) => return missing(&error).map(Opened::None).ok_or(error),
        };
        let from = origin(&session.url);
        if !self.origins(&actor.principal.tenant).contains(&from) {
            tracing::warn!(origin = from, "the service offered a browser from an origin that is not allowed");
            return Ok(Opened::None(
                "The scanning service offered a browser from an address that your company has not allowed. Ask an \
                 administrator to look at browser_origins. Until then, give cookies or headers in the form below.",
            ));
        }
        self.drafts.note(actor, &held.draft, |notes| notes.box_id.clone_from(&session.box_id)).await?;
        Ok(Opened::Page { url: session.url, origin: from })
    }
}

/// Where nothing is set, browsers come from the service itself.
fn allowed(service: &settings::Service) -> Vec<String> {
    if service.browser_origins.is_empty() { vec![origin(&service.base_url)] } else { service.browser_origins.clone() }
}

/// Why there is no browser, when that is no failure.
fn missing(error: &Error) -> Option<&'static str> {
    let Error::Upstream(error) = error else { return None };
    match error.kind {
        Kind::NotFound => {
            Some("The scanning service has no browser to offer here. Give cookies or headers in the form below instead.")
        }
        Kind::TooMany { .. } => Some(
            "All browsers of the scanning service are in use. Try again in a few minutes, or give cookies or headers in the form below.",
        ),
        _ if error.code == Some(i64::from(codes::NO_BROWSER)) => {
            Some("The scanning service has no browser to offer here. Give cookies or headers in the form below instead.")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::gateway::{PublicAuth, Service};

    #[test]
    fn browsers_come_from_the_service_itself_unless_the_settings_name_origins() {
        let service = |origins: &[&str]| Service {
            base_url: "https://scan.example:8443/api".to_owned(),
            prefix: "/scanner".to_owned(),
            public_auth: PublicAuth::None,
            browser_origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
            server_key: None,
        };
        assert_eq!(allowed(&service(&[])), ["https://scan.example:8443"]);
        assert_eq!(allowed(&service(&["https://browsers.example"])), ["https://browsers.example"]);
    }
}
