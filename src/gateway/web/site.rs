//! A tenant as the web sees it: its hosts, its public address, its looks.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::assets;
use crate::config::gateway as settings;
use crate::gateway::description::Description;
use crate::gateway::domain::branding::{Colour, stylesheet};
use crate::gateway::domain::tenant::TenantId;
use crate::platform::digest;

/// One tenant.
pub(in crate::gateway) struct Site {
    pub(in crate::gateway) tenant: TenantId,
    pub(in crate::gateway) name: String,
    /// Scheme and host users see, without a trailing slash.
    pub(in crate::gateway) public_url: String,
    /// Address of the logo; empty when there is none.
    pub(in crate::gateway) logo: String,
    /// Address of the tenant's stylesheet.
    pub(in crate::gateway) theme: String,
    pub(in crate::gateway) theme_body: Bytes,
    /// Origins that may frame pages, as CSP wants them; empty when nobody may.
    pub(in crate::gateway) frame_ancestors: String,
    /// Whether operations are served that are not in the interface's tables.
    pub(in crate::gateway) has_additions: bool,
    /// Whether API calls may carry an access token of the identity provider.
    pub(in crate::gateway) takes_access_tokens: bool,
    /// First letter of the name, shown where there is no logo.
    pub(in crate::gateway) initial: String,
    /// What is served here, described; made when somebody asks for it first.
    pub(in crate::gateway) description: OnceLock<Description>,
}

/// All tenants by exact host.
#[derive(Clone, Default)]
pub(in crate::gateway) struct Sites(Arc<HashMap<String, Arc<Site>>>);

impl Sites {
    /// Builds the sites from the settings; these were checked when they were read.
    pub(in crate::gateway) fn new<'a>(tenants: impl Iterator<Item = (TenantId, &'a settings::Tenant)>) -> Self {
        let mut by_host = HashMap::new();
        for (id, tenant) in tenants {
            let site = Arc::new(Site::new(id, tenant));
            for host in &tenant.hosts {
                by_host.insert(host.to_ascii_lowercase(), Arc::clone(&site));
            }
        }
        Self(Arc::new(by_host))
    }

    /// The site of a `Host` value; there is no default.
    pub(in crate::gateway) fn of_host(&self, host: &str) -> Option<Arc<Site>> {
        self.0.get(&host.to_ascii_lowercase()).cloned()
    }
}

impl Site {
    fn new(tenant: TenantId, settings: &settings::Tenant) -> Self {
        let accent = Colour::parse(&settings.accent).or_else(|| Colour::parse("#1c4fa0"));
        let theme_body = accent.map(stylesheet).unwrap_or_default();
        let hash: String = digest::hex(&digest::sha256(theme_body.as_bytes())).chars().take(12).collect();
        Self {
            tenant,
            initial: settings.name.chars().next().unwrap_or('C').to_uppercase().to_string(),
            has_additions: settings.api.additions,
            takes_access_tokens: settings.api.access_tokens,
            name: settings.name.clone(),
            public_url: settings.public_url.trim_end_matches('/').to_owned(),
            frame_ancestors: settings.frame_ancestors.join(" "),
            logo: assets::all().logo(&settings.logo).unwrap_or_default(),
            theme: format!("/assets/theme.{hash}.css"),
            theme_body: Bytes::from(theme_body),
            description: OnceLock::new(),
        }
    }

    /// Scheme and host as browsers name them, for a host of this site.
    pub(in crate::gateway) fn origin_at(&self, host: &str) -> String {
        let scheme = if self.is_secure() { "https" } else { "http" };
        format!("{scheme}://{}", host.to_ascii_lowercase())
    }

    /// Whether browsers reach this site over TLS.
    pub(in crate::gateway) fn is_secure(&self) -> bool {
        self.public_url.starts_with("https://")
    }
}
