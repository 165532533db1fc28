//! Use cases and decisions of the portal: who may do what, with which credential, in which order. No HTTP framework, no
//! Redis, no HTTP client, no templates.

pub(in crate::gateway) mod accounts;
pub(in crate::gateway) mod all_shares;
pub(in crate::gateway) mod api;
pub(in crate::gateway) mod api_keys;
pub(in crate::gateway) mod artifacts;
pub(in crate::gateway) mod audit;
pub(in crate::gateway) mod authority;
pub(in crate::gateway) mod backchannel;
pub(in crate::gateway) mod bearers;
pub(in crate::gateway) mod browsers;
pub(in crate::gateway) mod chains;
mod coalesce;
pub(in crate::gateway) mod components;
pub(in crate::gateway) mod credentials;
pub(in crate::gateway) mod diagnostics;
pub(in crate::gateway) mod directory;
pub(in crate::gateway) mod drafts;
pub(in crate::gateway) mod error;
pub(in crate::gateway) mod findings;
pub(in crate::gateway) mod groups;
pub(in crate::gateway) mod health;
pub(in crate::gateway) mod home;
pub(in crate::gateway) mod keys;
pub(in crate::gateway) mod launch;
pub(in crate::gateway) mod lists;
pub(in crate::gateway) mod live;
mod once;
pub(in crate::gateway) mod operator;
pub(in crate::gateway) mod overview;
pub(in crate::gateway) mod ownership;
pub(in crate::gateway) mod pace;
pub(in crate::gateway) mod parts;
pub(in crate::gateway) mod policies;
pub(in crate::gateway) mod reach;
mod refresher;
pub(in crate::gateway) mod reports;
pub(in crate::gateway) mod revocation;
pub(in crate::gateway) mod sessions;
pub(in crate::gateway) mod share_page;
pub(in crate::gateway) mod share_policy;
pub(in crate::gateway) mod shares;
pub(in crate::gateway) mod signin;
pub(in crate::gateway) mod tasks;
pub(in crate::gateway) mod uploads;
pub(in crate::gateway) mod users;

use crate::gateway::domain::audit::Event;
use crate::gateway::domain::principal::Principal;
use crate::gateway::session::LoginId;

/// Who acts: a signed-in person in their tenant, in one request.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Actor {
    pub(in crate::gateway) principal: Principal,
    pub(in crate::gateway) login: LoginId,
    pub(in crate::gateway) request_id: String,
    /// From where: IPv4 /24, IPv6 /48.
    pub(in crate::gateway) network: String,
}

impl Actor {
    /// The event as one that this person caused in this request, from where they are.
    fn did(&self, event: Event) -> Event {
        event.by(&self.principal.key(), &self.login.public()).from(&self.network, &self.request_id)
    }
}

/// What administrators, and those who run the platform, ask for. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Administration {
    pub(in crate::gateway) overview: overview::Overview,
    pub(in crate::gateway) policies: policies::TenantPolicies,
    pub(in crate::gateway) users: users::Users,
    pub(in crate::gateway) shares: all_shares::AllShares,
    pub(in crate::gateway) operators: operator::Operators,
}

/// Everything the web may ask for. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Services {
    pub(in crate::gateway) chains: chains::Chains,
    pub(in crate::gateway) components: components::Components,
    pub(in crate::gateway) accounts: accounts::Accounts,
    pub(in crate::gateway) administration: Administration,
    pub(in crate::gateway) api_keys: api_keys::ApiKeys,
    pub(in crate::gateway) audit_log: audit::AuditLog,
    pub(in crate::gateway) artifacts: artifacts::Artifacts,
    pub(in crate::gateway) authority: authority::Authority,
    pub(in crate::gateway) backchannel: backchannel::BackChannel,
    pub(in crate::gateway) bearers: bearers::Bearers,
    pub(in crate::gateway) browsers: browsers::Browsers,
    pub(in crate::gateway) diagnostics: diagnostics::Diagnostics,
    pub(in crate::gateway) drafts: drafts::Drafts,
    pub(in crate::gateway) findings: findings::Findings,
    pub(in crate::gateway) groups: groups::Groups,
    pub(in crate::gateway) health: health::Health,
    pub(in crate::gateway) keys: keys::Keys,
    pub(in crate::gateway) sessions: sessions::SessionLists,
    pub(in crate::gateway) share_pages: share_page::SharePages,
    pub(in crate::gateway) shares: shares::Shares,
    pub(in crate::gateway) home: home::Home,
    pub(in crate::gateway) launch: launch::Launch,
    pub(in crate::gateway) live: live::Live,
    pub(in crate::gateway) ownership: ownership::Ownerships,
    pub(in crate::gateway) reports: reports::Reports,
    pub(in crate::gateway) signin: signin::SignIn,
    pub(in crate::gateway) tasks: tasks::Tasks,
    pub(in crate::gateway) uploads: uploads::Uploads,
}
