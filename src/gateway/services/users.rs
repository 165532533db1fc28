//! The people of a tenant as its administrators see them: who they are, when they came last, where they are signed in; and who
//! may not come in any more. Somebody of another tenant is not found.

use std::time::Duration;

use super::Actor;
use super::error::Error;
use crate::gateway::audit::Audit;
use crate::gateway::domain::api_key::ApiKey;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::policies::Policies;
pub(in crate::gateway) use crate::gateway::roster::Person;
use crate::gateway::roster::Roster;
use crate::gateway::session::{By, ListedSession, Sessions};
use crate::gateway::vault::IssuedKeys;
use crate::platform::hostile::Hostile;

/// People of a tenant that are looked through at most.
pub(in crate::gateway) const MOST: usize = 5000;
/// People on a page.
pub(in crate::gateway) const PAGE_SIZE: u32 = 25;
/// The longest reason, in characters.
pub(in crate::gateway) const LONGEST_REASON: usize = 200;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Users {
    roster: Roster,
    sessions: Sessions,
    policies: Policies,
    /// Keys that people have made outlive what is done to them, so it is said which.
    issued: IssuedKeys,
    audit: Audit,
}

/// Which people are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) enum Which {
    #[default]
    All,
    Administrators,
    Members,
    Disabled,
}

impl Which {
    pub(in crate::gateway) const ALL: [Self; 4] = [Self::All, Self::Administrators, Self::Members, Self::Disabled];

    /// As in an address.
    pub(in crate::gateway) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Administrators => "administrators",
            Self::Members => "members",
            Self::Disabled => "disabled",
        }
    }

    /// The one of that name; everybody for any other.
    pub(in crate::gateway) fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|which| which.name() == name).unwrap_or_default()
    }

    fn has(self, person: &Person) -> bool {
        match self {
            Self::All => true,
            Self::Administrators => person.role == Role::Administrator && person.disabled.is_none(),
            Self::Members => person.role == Role::Member && person.disabled.is_none(),
            Self::Disabled => person.disabled.is_some(),
        }
    }
}

/// A person in the list.
pub(in crate::gateway) struct Listed {
    /// [`Principal::key`].
    pub(in crate::gateway) user: String,
    pub(in crate::gateway) person: Person,
    /// Sessions now.
    pub(in crate::gateway) sessions: usize,
}

/// One page of the people that were looked for.
pub(in crate::gateway) struct Found {
    pub(in crate::gateway) people: Vec<Listed>,
    /// On all pages.
    pub(in crate::gateway) total: u64,
    /// False: there are more than [`MOST`], and some were not looked at.
    pub(in crate::gateway) complete: bool,
}

/// A person with their sessions.
pub(in crate::gateway) struct One {
    pub(in crate::gateway) user: String,
    pub(in crate::gateway) person: Person,
    /// The last used first.
    pub(in crate::gateway) sessions: Vec<ListedSession>,
    /// Id of the session that asks.
    pub(in crate::gateway) this: String,
    /// It is whoever asks.
    pub(in crate::gateway) is_self: bool,
    /// API keys that this person has made and that still work, oldest first; they are the tenant's. `None`: not known now.
    pub(in crate::gateway) keys: Option<Vec<ApiKey>>,
}

impl Users {
    pub(in crate::gateway) fn new(
        roster: Roster,
        (sessions, policies): (Sessions, Policies),
        issued: IssuedKeys,
        audit: Audit,
    ) -> Self {
        Self { roster, sessions, policies, issued, audit }
    }

    /// Somebody signs in. False when they are disabled.
    pub(in crate::gateway) async fn enter(&self, who: &Principal) -> Result<bool, Error> {
        Ok(self.roster.enter(who, self.kept(&who.tenant).await).await?)
    }

    /// A page, counted from 1, of those whose name or e-mail address contains `wanted`, by name.
    pub(in crate::gateway) async fn list(
        &self,
        actor: &Actor,
        (wanted, which): (&str, Which),
        page: u32,
    ) -> Result<Found, Error> {
        let tenant = &actor.principal.tenant;
        let all = self.roster.everybody(tenant, MOST).await?;
        let wanted = wanted.trim().to_lowercase();
        let fits = |text: &Hostile| text.raw().to_lowercase().contains(&wanted);
        let fitting =
            all.people.into_iter().filter(|(_, person)| which.has(person) && (fits(&person.name) || fits(&person.email)));
        let mut people: Vec<(String, Person)> = fitting.collect();
        people.sort_by_cached_key(|(user, person)| (person.name.raw().to_lowercase(), user.clone()));
        let total = people.len() as u64;
        let start = usize::try_from(page.saturating_sub(1)).unwrap_or(usize::MAX).saturating_mul(PAGE_SIZE as usize);
        let mut listed = Vec::new();
        for (user, person) in people.into_iter().skip(start).take(PAGE_SIZE as usize) {
            let sessions = self.sessions.list(tenant, &user).await?;
            let role = sessions.last().map_or(person.role, |session| session.role);
            listed.push(Listed { user, person: Person { role, ..person }, sessions: sessions.len() });
        }
        Ok(Found { people: listed, total, complete: all.complete })
    }

    /// Somebody of the administrator's tenant.
    pub(in crate::gateway) async fn one(&self, actor: &Actor, user: &str) -> Result<One, Error> {
        let tenant = &actor.principal.tenant;
        let person = self.roster.person(tenant, user).await?.ok_or(Error::NotFound)?;
        let mut sessions = self.sessions.list(tenant, user).await?;
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_seen));
        let role = sessions.first().map_or(person.role, |session| session.role);
        let (this, is_self) = (actor.login.public(), actor.principal.key() == user);
        let keys = self.keys_of(tenant, user).await;
        Ok(One { user: user.to_owned(), person: Person { role, ..person }, sessions, this, is_self, keys })
    }

    /// Nobody is kept from being disabled because this cannot be told.
    async fn keys_of(&self, tenant: &TenantId, user: &str) -> Option<Vec<ApiKey>> {
        let all = self.issued.list(tenant).await;
        let all = all.inspect_err(|error| tracing::warn!(%tenant, %error, "which keys a person has made is not known")).ok()?;
        let now = self.roster.now();
        Some(all.into_iter().filter(|key| key.maker == user && key.ends() > now).collect())
    }

    /// Somebody may not come in any more, neither by signing in nor with an access token of the provider: written down first, then
    /// what begins now counts nothing, then what there is ends, on all replicas. Done again it ends what a failure left over.
    pub(in crate::gateway) async fn disable(&self, actor: &Actor, user: &str, reason: &str, network: &str) -> Result<(), Error> {
        let (tenant, reason) = (&actor.principal.tenant, reason.trim());
        if reason.is_empty() || reason.chars().count() > LONGEST_REASON {
            return Err(Error::Invalid(format!("Say why, in 1 to {LONGEST_REASON} characters.")));
        }
        let person = self.roster.person(tenant, user).await?.ok_or(Error::NotFound)?;
        if actor.principal.key() == user {
            return Err(Error::Conflict("You cannot disable yourself. Another administrator can.".to_owned()));
        }
        let noted = self.roster.disable(tenant, user, (&actor.principal.name, &Hostile::from(reason))).await?;
        if noted.ok_or(Error::NotFound)? {
            self.note(actor, "disabled", user, network);
        }
        self.sessions.set_disabled(&person.principal(tenant), true).await?;
        let by = By { user: Some(actor.principal.key()), network: network.to_owned(), request_id: actor.request_id.clone() };
        Ok(self.sessions.end_user(tenant, user, Ending::Disabled, &by).await?)
    }

    /// Somebody may come in again.
    pub(in crate::gateway) async fn enable(&self, actor: &Actor, user: &str, network: &str) -> Result<(), Error> {
        let tenant = &actor.principal.tenant;
        let person = self.roster.person(tenant, user).await?.ok_or(Error::NotFound)?;
        // The other way round: until the last step nobody gets in.
        self.sessions.set_disabled(&person.principal(tenant), false).await?;
        if self.roster.enable(tenant, user, self.kept(tenant).await).await?.ok_or(Error::NotFound)? {
            self.note(actor, "enabled", user, network);
        }
        Ok(())
    }

    /// Whether anybody of a tenant may be disabled.
    pub(super) async fn is_anybody_disabled(&self, tenant: &TenantId) -> Result<bool, Error> {
        Ok(self.roster.is_anybody_disabled(tenant).await?)
    }

    /// Whether somebody (by [`Principal::key`]) is disabled, at most a second behind any change.
    pub(super) async fn is_disabled(&self, tenant: &TenantId, user: &str) -> Result<bool, Error> {
        Ok(self.roster.is_disabled(tenant, user).await?)
    }

    /// Resolves when somebody may have been disabled or enabled, within a second in any case.
    pub(super) async fn news(&self, tenant: &TenantId) {
        self.roster.news(tenant).await;
    }

    /// How many people a tenant has, about.
    pub(super) async fn count(&self, tenant: &TenantId) -> Result<usize, Error> {
        Ok(self.roster.count(tenant).await?)
    }

    /// The name of somebody by [`Principal::key`]; none where nobody is known by it.
    pub(super) async fn name(&self, tenant: &TenantId, user: &str) -> Option<Hostile> {
        self.roster.person(tenant, user).await.ok().flatten().map(|person| person.name)
    }

    fn note(&self, actor: &Actor, what: &str, user: &str, network: &str) {
        let event = actor.did(Event::new(Deed::UserAccess, &format!("{what} {user}")));
        self.audit.record(&actor.principal.tenant, Event { network: Some(network.to_owned()), ..event });
    }

    /// How long somebody stays in the list who does not come again; shortest where nobody knows the policy now.
    async fn kept(&self, tenant: &TenantId) -> Duration {
        let days = self.policies.of(tenant).await.map_or(1, |policy| policy.retention.user_days);
        Duration::from_hours(24 * u64::from(days))
    }
}
