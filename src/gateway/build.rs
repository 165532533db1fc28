//! Builds the parts of the gateway from its settings, once, before it listens.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::StartError;
use super::administration;
use super::audit::{self, Audit};
use super::cache::Cache;
use super::domain::network::Network;
use super::domain::tenant::TenantId;
use super::keyring::Keyring;
use super::ledger::{Brake, Ledger};
use super::opening::{ring, store};
use super::policies::Policies;
use super::services::Services;
use super::services::accounts::Accounts;
use super::services::api::{Api, OwnShares, ProxySettings};
use super::services::api_keys::ApiKeys;
use super::services::artifacts::Artifacts;
use super::services::audit::AuditLog;
use super::services::authority::Authority;
use super::services::backchannel::BackChannel;
use super::services::bearers::Bearers;
use super::services::browsers::Browsers;
use super::services::chains::Chains;
use super::services::components::Components;
use super::services::credentials::Credentials;
use super::services::diagnostics::Diagnostics;
use super::services::directory::Directory;
use super::services::drafts::Drafts;
use super::services::error::Error;
use super::services::findings::Findings;
use super::services::groups::Groups;
use super::services::health::Health;
use super::services::home::Home;
use super::services::keys::Keys;
use super::services::launch::Launch;
use super::services::live::Live;
use super::services::ownership::Ownerships;
use super::services::pace::Pace;
use super::services::reports::Reports;
use super::services::revocation::Revocations;
use super::services::sessions::SessionLists;
use super::services::share_page::{MarkSettings, SharePages};
use super::services::share_policy::SharePolicies;
use super::services::shares::Shares;
use super::services::signin::SignIn;
use super::services::tasks::Tasks;
use super::services::uploads::Uploads;
use super::services::users::Users;
use super::session::{self, CookieSettings, Flows, ProviderSessions, RefreshSettings, Sessions, TokenParts, TokenSource, Tokens};
use super::store::{Store, Unavailable};
use super::upstream::Transport;
use super::vault::{self, IssuedKeys, ServerKeys, VaultError};
use super::web::server::{Callers, Guard, Parts};
use super::web::site::Sites;
use crate::config::gateway::{Gateway as Settings, Tenant};
use crate::platform::clock::Clock;
use crate::platform::digest::hex;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;

/// What the parts share.
pub(in crate::gateway) struct Base<'a> {
    pub(in crate::gateway) settings: &'a Settings,
    pub(in crate::gateway) clock: &'a Clock,
    pub(in crate::gateway) shutdown: &'a Shutdown,
    pub(in crate::gateway) tenants: BTreeMap<TenantId, Tenant>,
    pub(in crate::gateway) store: Store,
    pub(in crate::gateway) ring: Arc<Ring>,
    pub(in crate::gateway) vault: ServerKeys,
    pub(in crate::gateway) issued: IssuedKeys,
    pub(in crate::gateway) directory: Directory,
    pub(in crate::gateway) audit: Audit,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) policies: Policies,
}

impl<'a> Base<'a> {
    /// Opens the store and builds the clients. Connects to nobody.
    pub(in crate::gateway) fn new(settings: &'a Settings, clock: &'a Clock, shutdown: &'a Shutdown) -> Result<Self, StartError> {
        let tenants = tenants(settings)?;
        let ring = Arc::new(ring(settings)?);
        let store = store(settings, clock, shutdown)?;
        let keys = vault::Parts {
            store: store.clone(),
            ring: Arc::clone(&ring),
            clock: clock.clone(),
            settings: settings.vault.clone(),
            shutdown: shutdown.clone(),
        };
        let (vault, issued) = (ServerKeys::new(&keys), IssuedKeys::new(&keys));
        let transport = Transport::new(&settings.upstream).map_err(|error| StartError::Settings(error.to_string()))?;
        let directory = Directory::new(&tenants, &transport, clock).map_err(StartError::Settings)?;
        let audit = audit(settings, (&store, &ring), clock, shutdown);
        let policies = administration::policies((settings, &tenants), (&store, &ring), clock, shutdown);
        let sessions = sessions((settings, &policies), (&store, &ring), (clock, &audit), shutdown)?;
        Ok(Self { settings, clock, shutdown, tenants, store, ring, vault, issued, directory, audit, sessions, policies })
    }

    /// What agrees with the other replicas on the key that seals.
    pub(in crate::gateway) fn keyring(&self) -> Result<Keyring, Unavailable> {
        let every = Duration::from_secs(self.settings.store.replica_seconds);
        let shared = (self.store.clone(), Arc::clone(&self.ring));
        Keyring::new(shared, self.audit.clone(), self.tenants.keys().cloned().collect(), every)
    }

    /// Begins the audit trails of tenants that are new.
    pub(in crate::gateway) async fn begin_trails(&self) {
        self.audit.begin(self.tenants.keys().cloned().collect(), self.shutdown).await;
    }

    /// Seals the audit trails anew, behind everything else, whenever another key seals.
    pub(in crate::gateway) fn reseal_trails(&self) {
        let every = Duration::from_secs(self.settings.store.replica_seconds);
        self.audit.reseal(every, self.settings.audit.resealed_per_minute, self.shutdown);
    }

    /// Everything the web needs.
    pub(in crate::gateway) fn parts(&self) -> Result<Parts, StartError> {
        let cache = self.cache()?;
        let credentials = self.credentials(cache.clone());
        let services = services(self, credentials.clone());
        let (policies, tenants) = (self.policies.clone(), self.tenants.iter());
        let api = Api {
            credentials,
            shares: services.share_pages.clone(),
            directory: self.directory.clone(),
            cache,
            pace: self.pace(),
            own_shares: OwnShares {
                ledger: services.shares.ledger.clone(),
                policies: services.shares.policies.clone(),
                audit: self.audit.clone(),
                clock: self.clock.clone(),
                most_findings: services.shares.settings.findings,
            },
            retries: self.settings.upstream.retries,
            most: self.settings.upstream.max_answer_bytes,
            clock: self.clock.clone(),
            fingerprint_key: Secret::new(hex(self.ring.derive("access-token-fingerprint").as_slice())),
        };
        Ok(Parts {
            services,
            api,
            proxy: ProxySettings::new(&self.settings.upstream).map_err(|error| StartError::Settings(error.to_string()))?,
            sessions: self.sessions.clone(),
            sites: Sites::new(tenants.map(|(id, tenant)| (id.clone(), tenant)), policies),
            callers: callers(self.settings, self.clock)?,
            limits: self.settings.limits.clone(),
            guard: Guard(self.audit.clone()),
        })
    }

    /// One for all that may end what it keeps.
    fn cache(&self) -> Result<Cache<Error>, StartError> {
        let made =
            Cache::new(&self.settings.cache, self.tenants.keys().cloned(), (&self.store, &self.ring), self.clock, self.shutdown);
        made.map_err(|error| StartError::Settings(error.to_string()))
    }

    fn pace(&self) -> Pace {
        let tenants: Vec<TenantId> = self.tenants.keys().cloned().collect();
        Pace::new(&tenants, (self.settings.api, &self.policies), (&self.store, self.clock), self.shutdown)
    }

    /// One for everything that asks the service: it knows which tokens are being refreshed.
    fn credentials(&self, cache: Cache<Error>) -> Credentials {
        let tokens = Tokens::new(self.store.clone(), Arc::clone(&self.ring), absolute(self.settings));
        Credentials::new(self.directory.clone(), token_source(self, &self.sessions, &tokens), self.vault.clone(), cache)
    }

    /// Takes the settings' first server key of each tenant into the vault. A vault that cannot be reached now keeps what
    /// it has: the key can be added on the administration page.
    pub(in crate::gateway) async fn first_keys(&self) {
        for (id, tenant) in &self.tenants {
            let Some(key) = &tenant.service.server_key else { continue };
            if let Err(error) = self.first_key(id, key).await {
                tracing::warn!(tenant = %id, %error, "the first server key was not taken into the vault");
            }
        }
    }

    async fn first_key(&self, tenant: &TenantId, key: &Secret) -> Result<(), VaultError> {
        if !self.vault.list(tenant).await?.is_empty() {
            return Ok(());
        }
        match self.vault.add_active(tenant, "From the settings".into(), key.clone(), "Settings".into()).await {
            Ok(_) | Err(VaultError::Duplicate) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The audit trails alone.
pub(in crate::gateway) fn trails(settings: &Settings, clock: &Clock, shutdown: &Shutdown) -> Result<Audit, StartError> {
    let ring = Arc::new(ring(settings)?);
    let store = store(settings, clock, shutdown)?;
    Ok(audit(settings, (&store, &ring), clock, shutdown))
}

fn audit(settings: &Settings, (store, ring): (&Store, &Arc<Ring>), clock: &Clock, shutdown: &Shutdown) -> Audit {
    let limits = audit::Limits {
        kept: Duration::from_hours(24 * settings.audit.days),
        waiting: settings.audit.waiting,
        strangers_per_minute: settings.audit.strangers_per_minute,
        strangers_per_day: settings.audit.strangers_per_day,
    };
    Audit::new(store.clone(), Arc::clone(ring), clock.clone(), limits, shutdown)
}

fn services(base: &Base<'_>, credentials: Credentials) -> Services {
    let Base { settings, clock, shutdown, tenants, store, ring, vault, issued, directory, audit, sessions, policies } = base;
    let tokens = Tokens::new(store.clone(), Arc::clone(ring), absolute(settings));
    let provider_sessions = ProviderSessions::new(store.clone(), absolute(settings));
    let refresh = refresh(settings);
    let pace = Duration::from_millis(settings.limits.live_poll_ms);
    let memory = Duration::from_millis(settings.drafts.poll_memory_ms);
    let ledger = ledger(base);
    // Shorter than the pace: a single watcher always gets a new answer.
    let tasks = Tasks::new(credentials.clone(), (ledger.clone(), audit.clone()), memory.min(pace.mul_f32(0.9)));
    let chains = Chains::new(credentials.clone(), tasks.clone());
    let drafts = Drafts::new(store.clone(), Arc::clone(ring), (*clock).clone(), settings.drafts.clone());
    let longest = Duration::from_secs(settings.limits.live_minutes * 60);
    let share_policies = SharePolicies::new(policies.clone());
    let api_keys = ApiKeys::new(issued.clone(), (store.clone(), (*clock).clone()), audit.clone(), &settings.vault);
    let keys = Keys::new(credentials.clone(), vault.clone(), audit.clone());
    let health = Health::new((store.clone(), audit.clone()), (*shutdown).clone(), &settings.operations);
    let of_shares = (credentials.clone(), ledger, share_policies);
    let administration = administration::services(base, of_shares.clone(), (health.clone(), keys.clone(), api_keys.clone()));
    let times = ((*clock).clone(), (*shutdown).clone());
    let (share_pages, shares) = (share_pages(base, of_shares.clone()), shares(base, of_shares));
    Services {
        accounts: Accounts::new(drafts.clone(), (*clock).clone()),
        api_keys,
        artifacts: Artifacts::new(drafts.clone()),
        audit_log: AuditLog::new((audit.clone(), administration.users.clone()), times, &settings.audit),
        authority: Authority::new(credentials.clone(), sessions.clone(), audit.clone()),
        backchannel: BackChannel {
            directory: directory.clone(),
            sessions: sessions.clone(),
            index: provider_sessions.clone(),
            store: store.clone(),
            audit: audit.clone(),
        },
        bearers: bearers(base, administration.users.clone()),
        browsers: Browsers::new(credentials.clone(), drafts.clone(), tenants),
        diagnostics: Diagnostics::new(credentials.clone(), drafts.clone(), memory),
        launch: Launch::new(credentials.clone(), drafts.clone()),
        ownership: Ownerships::new(credentials.clone(), drafts.clone(), (*clock).clone()),
        drafts,
        findings: Findings::new(credentials.clone(), tasks.clone(), chains.clone()),
        chains,
        components: Components::new(credentials.clone(), tasks.clone()),
        groups: Groups::new(tasks.clone(), settings.limits.group_files),
        health,
        home: Home::new(tasks.clone(), shares.clone()),
        keys,
        live: Live::new(tasks.clone(), (*shutdown).clone(), pace, longest),
        reports: Reports::new(credentials.clone()),
        sessions: SessionLists::new(sessions.clone(), administration.users.clone()),
        share_pages,
        shares,
        signin: signin(base, (tokens, provider_sessions), administration.users.clone(), refresh.default_lifetime),
        administration,
        tasks,
        uploads: Uploads::new(credentials, settings.limits.upload_bytes),
    }
}

fn share_pages(base: &Base<'_>, (credentials, ledger, policies): (Credentials, Ledger, SharePolicies)) -> SharePages {
    let shares = &base.settings.shares;
    let marking =
        MarkSettings { most: shares.pdf_bytes, at_once: shares.pdfs_at_once, wait: Duration::from_secs(shares.pdf_wait_seconds) };
    let times = (base.clock.clone(), base.shutdown.clone());
    SharePages::new(credentials, (ledger, policies), marking, base.audit.clone(), (Duration::from_millis(shares.turn_ms), times))
}

/// The ledger of shares, which looks after itself from here on.
fn ledger(base: &Base<'_>) -> Ledger {
    let shares = &base.settings.shares;
    let brake = Brake::new(shares.wrong_over_all, shares.over_all_minutes);
    let ledger = Ledger::new(base.store.clone(), Arc::clone(&base.ring), base.clock.clone(), brake);
    let every = Duration::from_secs(60 * shares.sweep_minutes);
    ledger.keep_swept(base.tenants.keys().cloned().collect(), every, base.shutdown);
    ledger
}

fn bearers(base: &Base<'_>, users: Users) -> Bearers {
    let key = Secret::new(hex(base.ring.derive("access-token-owner").as_slice()));
    Bearers::new((base.directory.clone(), users), key, base.settings.api.rate.tracked)
}

fn shares(base: &Base<'_>, (credentials, ledger, policies): (Credentials, Ledger, SharePolicies)) -> Shares {
    Shares {
        credentials,
        vault: base.vault.clone(),
        store: base.store.clone(),
        ring: Arc::clone(&base.ring),
        ledger,
        policies,
        audit: base.audit.clone(),
        clock: base.clock.clone(),
        settings: base.settings.shares,
    }
}

fn signin(
    base: &Base<'_>,
    (tokens, provider_sessions): (Tokens, ProviderSessions),
    users: Users,
    default_lifetime: Duration,
) -> SignIn {
    let Base { settings, clock, shutdown, store, ring, directory, audit, sessions, .. } = base;
    let flow = Duration::from_secs(settings.session.flow_minutes * 60);
    SignIn {
        directory: directory.clone(),
        flows: Flows::new(store.clone(), Arc::clone(ring), (*clock).clone(), flow),
        tokens,
        provider_sessions,
        revocations: Revocations::new((*shutdown).clone()),
        sessions: sessions.clone(),
        store: store.clone(),
        clock: (*clock).clone(),
        audit: audit.clone(),
        users,
        default_lifetime,
        per_minute: settings.limits.sign_ins_per_minute,
        step_up: Duration::from_secs(settings.session.step_up_minutes * 60),
    }
}

fn token_source(base: &Base<'_>, sessions: &Sessions, tokens: &Tokens) -> TokenSource {
    let (sessions, audit, shutdown) = (sessions.clone(), base.audit.clone(), base.shutdown.clone());
    TokenSource::new(TokenParts { tokens: tokens.clone(), sessions, audit, shutdown }, refresh(base.settings))
}

const fn refresh(settings: &Settings) -> RefreshSettings {
    let session = &settings.session;
    RefreshSettings {
        ahead: Duration::from_secs(session.refresh_ahead_seconds),
        default_lifetime: Duration::from_secs(session.default_token_seconds),
        lease: Duration::from_secs(session.refresh_lease_seconds),
        wait: Duration::from_secs(session.refresh_wait_seconds),
        rest: Duration::from_secs(session.refresh_rest_seconds),
        refused: Duration::from_secs(session.refresh_refused_seconds),
        again: Duration::from_secs(session.refresh_again_seconds),
    }
}

fn sessions(
    (settings, policies): (&Settings, &Policies),
    (store, ring): (&Store, &Arc<Ring>),
    (clock, audit): (&Clock, &Audit),
    shutdown: &Shutdown,
) -> Result<Sessions, StartError> {
    let name = settings.session.cookie_name.clone();
    let own = session::Settings {
        cookie: CookieSettings { secure: name.starts_with("__Host-"), name },
        idle: Duration::from_secs(settings.session.idle_minutes * 60),
        absolute: absolute(settings),
        step_up: Duration::from_secs(settings.session.step_up_minutes * 60),
        extend_every: Duration::from_secs(settings.session.extend_seconds),
        copy_life: Duration::from_millis(settings.session.copy_ms),
        copies: settings.session.copies,
        stream_check: Duration::from_secs(settings.session.stream_check_seconds),
        policies: Some(policies.clone()),
    };
    let made = Sessions::new(store.clone(), Arc::clone(ring), clock.clone(), audit.clone(), own, shutdown);
    made.map_err(|error| StartError::Settings(error.to_string()))
}

const fn absolute(settings: &Settings) -> Duration {
    Duration::from_secs(settings.session.absolute_hours * 3600)
}

pub(in crate::gateway) fn tenants(settings: &Settings) -> Result<BTreeMap<TenantId, Tenant>, StartError> {
    let read = settings.tenants.iter().map(|(id, tenant)| {
        let id = TenantId::parse(id).map_err(|error| StartError::Settings(format!("tenant {id}: {error}")))?;
        Ok((id, tenant.clone()))
    });
    read.collect()
}

fn callers(settings: &Settings, clock: &Clock) -> Result<Callers, StartError> {
    let networks = settings
        .server
        .trusted_proxies
        .iter()
        .map(|text| Network::parse(text).ok_or_else(|| StartError::Settings(format!("trusted proxy {text} is no network"))));
    let trusted = networks.collect::<Result<_, StartError>>()?;
    Ok(Callers { trusted, forwarded_by: settings.server.forwarded_by, clock: clock.clone() })
}
