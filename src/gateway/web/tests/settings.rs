//! Settings of the portals that tests start, and their parts put together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::config::gateway::{Claims, Identity, Limits, Profile, PublicAuth, Service, Tenant, Upstream};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::Services;
use crate::gateway::services::credentials::Credentials;
use crate::gateway::services::directory::Directory;
use crate::gateway::services::findings::Findings;
use crate::gateway::services::health::Health;
use crate::gateway::services::home::Home;
use crate::gateway::services::keys::Keys;
use crate::gateway::services::live::Live;
use crate::gateway::services::reports::Reports;
use crate::gateway::services::share_page::SharePages;
use crate::gateway::services::shares::Shares;
use crate::gateway::services::signin::SignIn;
use crate::gateway::services::tasks::Tasks;
use crate::gateway::services::uploads::Uploads;
use crate::gateway::session::{CookieSettings, Flows, RefreshSettings, Sessions, Settings, TokenSource, Tokens};
use crate::gateway::store::Store;
use crate::gateway::upstream::Transport;
use crate::gateway::vault::Vault;
use crate::gateway::web::site::Sites;
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// Small limits, so that tests reach them: files of 8 MB, one second of silence, a fast pulse.
pub(super) const fn limits() -> Limits {
    Limits {
        upload_bytes: 8_000_000,
        form_bytes: 65_536,
        body_idle_seconds: 1,
        share_wrong_codes: 5,
        share_wrong_codes_anywhere: 20,
        share_wrong_codes_lifetime: 100,
        share_window_seconds: 900,
        share_grant_minutes: 30,
        sign_ins_per_minute: 9,
        live_minutes: 1,
        live_poll_ms: 10,
    }
}

/// Patient enough for a busy machine; nothing is tried twice.
pub(super) const fn upstream() -> Upstream {
    Upstream { connect_timeout_ms: 2000, timeout_ms: 10_000, idle_timeout_ms: 10_000, max_answer_bytes: 1_000_000, retries: 0 }
}

/// A tenant at `{name}.example` whose scanning service is at `service`; nobody answers for its identity provider.
pub(super) fn tenant(id: &str, name: &str, service: &str, scheme: &str) -> Tenant {
    Tenant {
        name: name.to_owned(),
        hosts: vec![format!("{id}.example")],
        public_url: format!("{scheme}://{id}.example"),
        logo: String::new(),
        accent: "#0b5c57".to_owned(),
        frame_ancestors: Vec::new(),
        identity: Identity {
            profile: Profile::Seed,
            auth_url: "http://127.0.0.1:9".to_owned(),
            browser_auth_url: String::new(),
            client_id: "c".to_owned(),
            client_secret: Secret::new("s"),
            scopes: Vec::new(),
            revocation_url: String::new(),
            claims: Claims { subject: Vec::new(), name: Vec::new(), email: Vec::new(), role: Vec::new() },
            administrator_values: Vec::new(),
        },
        service: Service {
            base_url: service.to_owned(),
            prefix: "/scanner".to_owned(),
            public_auth: PublicAuth::None,
            server_key: None,
        },
    }
}

/// What a portal is made of.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) services: Services,
    pub(super) sessions: Sessions,
    pub(super) tokens: Tokens,
    pub(super) sites: Sites,
    pub(super) vault: Vault,
    pub(super) clock: Clock,
}

/// A portal of these tenants with its store in `folder`.
pub(super) fn parts(tenants: &BTreeMap<TenantId, Tenant>, folder: &Path, clock: Clock, cookie: CookieSettings) -> Parts {
    let limits = limits();
    let store = Store::embedded(&folder.join("store.redb"), clock.clone()).unwrap();
    let ring = Arc::new(Ring::new([("k".to_owned(), vec![7; 32])]).unwrap());
    let directory = Directory::new(tenants, &Transport::new(&upstream()).unwrap(), &clock).unwrap();
    let tokens = Tokens::new(store.clone(), Arc::clone(&ring), Duration::from_hours(12));
    let refresh = RefreshSettings { ahead: Duration::from_mins(1), default_lifetime: Duration::from_mins(5) };
    let source = TokenSource::new(tokens.clone(), clock.clone(), refresh, Shutdown::default());
    let vault = Vault::new(store.clone(), Arc::clone(&ring), clock.clone());
    let credentials = Credentials::new(directory.clone(), source, vault.clone());
    let tasks = Tasks::new(credentials.clone());
    let pace = Duration::from_millis(limits.live_poll_ms);
    let services = Services {
        findings: Findings::new(credentials.clone(), tasks.clone()),
        health: Health(store.clone()),
        home: Home::new(tasks.clone()),
        keys: Keys::new(credentials.clone(), vault.clone()),
        live: Live::new(tasks.clone(), Shutdown::default(), pace, Duration::from_mins(1)),
        reports: Reports::new(credentials.clone()),
        share_pages: SharePages::new(credentials.clone(), store.clone(), Arc::clone(&ring), vault.clone(), &limits),
        shares: Shares::new(credentials.clone(), store.clone(), Arc::clone(&ring), vault.clone(), clock.clone()),
        signin: SignIn {
            directory,
            flows: Flows::new(store.clone(), Arc::clone(&ring), clock.clone(), Duration::from_mins(10)),
            tokens: tokens.clone(),
            store: store.clone(),
            clock: clock.clone(),
            default_lifetime: Duration::from_mins(5),
            per_minute: limits.sign_ins_per_minute,
        },
        tasks,
        uploads: Uploads::new(credentials, limits.upload_bytes),
    };
    let settings = Settings { cookie, idle: Duration::from_hours(1), absolute: Duration::from_hours(12) };
    let sessions = Sessions::new(store, ring, clock.clone(), settings).unwrap();
    let sites = Sites::new(tenants.iter().map(|(id, tenant)| (id.clone(), tenant)));
    Parts { services, sessions, tokens, sites, vault, clock }
}
