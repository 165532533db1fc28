//! The people of a tenant as its administrators see them: who they are, when they came last, where they are signed in; and who
//! may not come in any more. Somebody of another tenant is not found.

use std::time::Duration;

use super::Actor;
use super::error::Error;
use super::lists;
use crate::gateway::audit::Audit;
use crate::gateway::domain::api_key::ApiKey;
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::policies::Policies;
pub(in crate::gateway) use crate::gateway::roster::{Disabled, Person};
use crate::gateway::roster::{Everybody, Roster};
use crate::gateway::session::{By, ListedSession, Sessions};
use crate::gateway::vault::IssuedKeys;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;
use crate::platform::shutdown::Shutdown;

/// People of a tenant that are looked through at most.
pub(in crate::gateway) const MOST: usize = 5000;
/// People on a page.
pub(in crate::gateway) const PAGE_SIZE: u32 = 25;
/// Wait between two tries of what a store that was away left over.
const AGAIN: Duration = Duration::from_millis(500);
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
    shutdown: Shutdown,
}

/// How far disabling somebody got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Done {
    Whole,
    /// They cannot come in any more; sessions that there are end as soon as the store is back.
    Partly,
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
        (audit, shutdown): (Audit, Shutdown),
    ) -> Self {
        Self { roster, sessions, policies, issued, audit, shutdown }
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
        let Everybody { mut people, complete } = self.everybody(tenant).await?;
        let wanted = wanted.trim().to_lowercase();
        let fits = |text: &Hostile| text.raw().to_lowercase().contains(&wanted);
        people.retain(|(_, person)| which.has(person) && (fits(&person.name) || fits(&person.email)));
        let lists::Listed { items, total, complete } = lists::slice(people, complete, page.saturating_sub(1), PAGE_SIZE);
        let mut listed = Vec::new();
        for (user, person) in items {
            let sessions = self.sessions.list(tenant, &user).await?;
            let role = sessions.last().map_or(person.role, |session| session.role);
            listed.push(Listed { user, person: Person { role, ..person }, sessions: sessions.len() });
        }
        Ok(Found { people: listed, total, complete })
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
    /// what begins now counts nothing, then what there is ends, on all replicas. What a store that goes away meanwhile leaves over
    /// is done behind whoever asked, as soon as it is back.
    pub(in crate::gateway) async fn disable(&self, actor: &Actor, user: &str, reason: &str) -> Result<Done, Error> {
        let (tenant, reason) = (&actor.principal.tenant, reason.trim());
        if reason.is_empty() || reason.chars().count() > LONGEST_REASON {
            return Err(Error::Invalid(format!("Say why, in 1 to {LONGEST_REASON} characters.")));
        }
        let person = self.roster.person(tenant, user).await?.ok_or(Error::NotFound)?;
        if actor.principal.key() == user {
            return Err(Error::Conflict("You cannot disable yourself. Another administrator can.".to_owned()));
        }
        let mut deed = ShutOut {
            users: self.clone(),
            who: person.principal(tenant),
            line: actor.did(Event::new(Deed::UserAccess, &format!("disabled {user}"))),
            by: By { user: Some(actor.principal.key()), network: actor.network.clone(), request_id: actor.request_id.clone() },
            ours: (actor.principal.name.clone(), Hostile::from(reason), self.roster.now()),
            is_told: false,
        };
        let lease = self.roster.alone(tenant).await?;
        let written = self.write_down(actor, user, &deed).await;
        self.roster.leave(&lease).await;
        match written {
            Ok(is_news) => {
                deed.tell(is_news);
                let Err(error) = deed.end_what_there_is().await else { return Ok(Done::Whole) };
                tracing::warn!(%tenant, %error, "somebody is disabled, but not all of their sessions have ended; going on with it");
                deed.go_on();
                Ok(Done::Partly)
            }
            // It may be written down all the same.
            Err(error @ Error::Unavailable { .. }) => {
                deed.go_on();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// False when they were disabled before. Nobody else decides meanwhile, so whoever decides is in, and an administrator stays.
    async fn write_down(&self, actor: &Actor, user: &str, deed: &ShutOut) -> Result<bool, Error> {
        let tenant = &actor.principal.tenant;
        let own = self.roster.person(tenant, &actor.principal.key()).await?;
        if own.is_some_and(|own| own.disabled.is_some()) {
            let words = "Another administrator has disabled your own account a moment ago, so nothing was changed.";
            return Err(Error::Conflict(words.to_owned()));
        }
        let (by, reason, _) = &deed.ours;
        self.roster.disable(tenant, user, (by, reason)).await?.ok_or(Error::NotFound)
    }

    /// Somebody may come in again.
    pub(in crate::gateway) async fn enable(&self, actor: &Actor, user: &str) -> Result<(), Error> {
        let tenant = &actor.principal.tenant;
        let line = |what: &str| actor.did(Event::new(Deed::UserAccess, &format!("{what} {user}")));
        let done = self.let_in(tenant, user).await;
        match &done {
            Ok(true) => self.audit.record(tenant, line("enabled")),
            Err(Error::Unavailable { .. }) => self.audit.record(tenant, line("enabled_unsure")),
            Ok(false) | Err(_) => {}
        }
        done.map(drop)
    }

    /// As [`Users::enable`], from the command line, for a company whose administrators are all out. False when they were not
    /// disabled.
    pub(in crate::gateway) async fn enable_from_outside(&self, tenant: &TenantId, user: &str) -> Result<bool, Error> {
        let is_news = self.let_in(tenant, user).await?;
        if is_news {
            self.audit.record(tenant, Event::new(Deed::UserAccess, &format!("enabled_by_command {user}")));
        }
        Ok(is_news)
    }

    /// False when they might come in before.
    async fn let_in(&self, tenant: &TenantId, user: &str) -> Result<bool, Error> {
        let person = self.roster.person(tenant, user).await?.ok_or(Error::NotFound)?;
        // The other way round: until the last step nobody gets in.
        self.sessions.set_disabled(&person.principal(tenant), false).await?;
        self.roster.enable(tenant, user, self.kept(tenant).await).await?.ok_or(Error::NotFound)
    }

    /// Everybody of a tenant, by name, at most [`MOST`].
    pub(in crate::gateway) async fn everybody(&self, tenant: &TenantId) -> Result<Everybody, Error> {
        let mut all = self.roster.everybody(tenant, MOST).await?;
        all.people.sort_by_cached_key(|(user, person)| (person.name.raw().to_lowercase(), user.clone()));
        Ok(all)
    }

    /// Whether somebody is in the list of people.
    pub(super) async fn has(&self, tenant: &TenantId, user: &str) -> Result<bool, Error> {
        Ok(self.roster.person(tenant, user).await?.is_some())
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

    /// How long somebody stays in the list who does not come again; shortest where nobody knows the policy now.
    async fn kept(&self, tenant: &TenantId) -> Duration {
        let days = self.policies.of(tenant).await.map_or(1, |policy| policy.retention.user_days);
        Duration::from_hours(24 * u64::from(days))
    }
}

/// Somebody is being disabled.
struct ShutOut {
    users: Users,
    who: Principal,
    /// What is written down of it.
    line: Event,
    by: By,
    /// Who does it, why, and not before when: what tells this deed from another.
    ours: (Hostile, Hostile, Timestamp),
    is_told: bool,
}

impl ShutOut {
    fn tell(&mut self, is_news: bool) {
        if is_news && !std::mem::replace(&mut self.is_told, true) {
            self.users.audit.record(&self.who.tenant, self.line.clone());
        }
    }

    /// Nothing that begins from now on counts, and what there is ends.
    async fn end_what_there_is(&self) -> Result<(), Error> {
        self.users.sessions.set_disabled(&self.who, true).await?;
        Ok(self.users.sessions.end_user(&self.who.tenant, &self.who.key(), Ending::Disabled, &self.by).await?)
    }

    /// Goes on in the background until it is done, or somebody lets the person in again.
    fn go_on(mut self) {
        let shutdown = self.users.shutdown.clone();
        let end = shutdown.clone();
        shutdown.spawn(async move {
            while let Err(error) = self.once_more().await {
                tracing::warn!(tenant = %self.who.tenant, %error, "the sessions of somebody who is disabled have not all ended yet");
                if !end.pause(AGAIN).await {
                    return;
                }
            }
        });
    }

    async fn once_more(&mut self) -> Result<(), Error> {
        let Some(off) = self.state().await? else { return Ok(()) };
        let (by, reason, begun) = &self.ours;
        let is_ours = off.by == *by && off.reason == *reason && off.at >= *begun;
        self.tell(is_ours);
        self.end_what_there_is().await?;
        if self.state().await?.is_none() {
            self.users.sessions.set_disabled(&self.who, false).await?;
        }
        Ok(())
    }

    async fn state(&self) -> Result<Option<Disabled>, Error> {
        let person = self.users.roster.person(&self.who.tenant, &self.who.key()).await?;
        Ok(person.and_then(|person| person.disabled))
    }
}
