//! A tenant as the web sees it: its hosts, its public address, its looks.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use bytes::Bytes;

use super::assets;
use crate::config::gateway as settings;
use crate::gateway::description::Description;
use crate::gateway::domain::branding::{Colour, stylesheet};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::tenant_policy::Branding;
use crate::gateway::policies::Policies;
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
#[derive(Clone)]
pub(in crate::gateway) struct Sites(Arc<Inner>);

struct Inner {
    /// As the settings say.
    by_host: HashMap<String, Arc<Site>>,
    policies: Policies,
    /// As a version of the tenant's policy says.
    dressed: RwLock<HashMap<TenantId, (u64, Arc<Site>)>>,
}

impl Sites {
    /// Builds the sites from the settings; these were checked when they were read.
    pub(in crate::gateway) fn new<'a>(
        tenants: impl Iterator<Item = (TenantId, &'a settings::Tenant)>,
        policies: Policies,
    ) -> Self {
        let mut by_host = HashMap::new();
        for (id, tenant) in tenants {
            let site = Arc::new(Site::new(id, tenant));
            for host in &tenant.hosts {
                by_host.insert(host.to_ascii_lowercase(), Arc::clone(&site));
            }
        }
        Self(Arc::new(Inner { by_host, policies, dressed: RwLock::default() }))
    }

    /// The site of a `Host` value; there is no default.
    pub(in crate::gateway) fn of_host(&self, host: &str) -> Option<Arc<Site>> {
        self.0.by_host.get(&host.to_ascii_lowercase()).cloned()
    }

    /// The same, looking as its tenant's policy says, as far as that is known.
    pub(in crate::gateway) fn dressed(&self, host: &str) -> Option<Arc<Site>> {
        let site = self.of_host(host)?;
        let Some(held) = self.0.policies.last(&site.tenant).filter(|held| held.version > 0) else { return Some(site) };
        let known = self.0.dressed.read().unwrap_or_else(PoisonError::into_inner).get(&site.tenant).cloned();
        if let Some((_, dressed)) = known.filter(|(version, _)| *version == held.version) {
            return Some(dressed);
        }
        let dressed = Arc::new(site.looking(&held.policy.branding));
        let mut all = self.0.dressed.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(site.tenant.clone(), (held.version, Arc::clone(&dressed)));
        Some(dressed)
    }
}

impl Site {
    fn new(tenant: TenantId, settings: &settings::Tenant) -> Self {
        let (theme, theme_body) = theme(&settings.accent);
        Self {
            tenant,
            initial: initial(&settings.name),
            has_additions: settings.api.additions,
            takes_access_tokens: settings.api.access_tokens,
            name: settings.name.clone(),
            public_url: settings.public_url.trim_end_matches('/').to_owned(),
            frame_ancestors: settings.frame_ancestors.join(" "),
            logo: assets::all().logo(&settings.logo).unwrap_or_default(),
            theme,
            theme_body,
            description: OnceLock::new(),
        }
    }

    /// The same site with other looks.
    fn looking(&self, looks: &Branding) -> Self {
        let (theme, theme_body) = theme(&looks.accent);
        Self {
            initial: initial(&looks.name),
            name: looks.name.clone(),
            logo: if looks.shows_logo { self.logo.clone() } else { String::new() },
            theme,
            theme_body,
            tenant: self.tenant.clone(),
            public_url: self.public_url.clone(),
            frame_ancestors: self.frame_ancestors.clone(),
            has_additions: self.has_additions,
            takes_access_tokens: self.takes_access_tokens,
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

/// Address and content of the stylesheet of an accent.
fn theme(accent: &str) -> (String, Bytes) {
    let accent = Colour::parse(accent).or_else(|| Colour::parse("#1c4fa0"));
    let body = accent.map(stylesheet).unwrap_or_default();
    let hash: String = digest::hex(&digest::sha256(body.as_bytes())).chars().take(12).collect();
    (format!("/assets/theme.{hash}.css"), Bytes::from(body))
}

fn initial(name: &str) -> String {
    name.chars().next().unwrap_or('C').to_uppercase().to_string()
}
