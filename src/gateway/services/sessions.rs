//! Sessions as their users and administrators see and end them. Whatever id is sent along: a user reaches their own sessions
//! only, an administrator those of their tenant; everything else is not found.

use super::Actor;
use super::error::Error;
use super::users::Users;
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::role::Role;
use crate::gateway::session::{By, Sessions};
pub(in crate::gateway) use crate::gateway::session::{ListedSession, Policy};
use crate::platform::hostile::Hostile;

/// Sessions of a tenant that an administrator is shown at most.
pub(in crate::gateway) const MOST: usize = 2000;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct SessionLists {
    sessions: Sessions,
    users: Users,
}

/// The sessions of whoever asks.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Own {
    /// The one that asks first, then those that were used last.
    pub(in crate::gateway) sessions: Vec<ListedSession>,
    /// Id of the one that asks.
    pub(in crate::gateway) this: String,
    pub(in crate::gateway) policy: Policy,
}

/// A person with their sessions, the last used first.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Person {
    /// Key of the user.
    pub(in crate::gateway) user: String,
    pub(in crate::gateway) name: Hostile,
    pub(in crate::gateway) email: Hostile,
    pub(in crate::gateway) role: Role,
    pub(in crate::gateway) sessions: Vec<ListedSession>,
}

/// The sessions of a tenant by person.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Everybody {
    /// By name.
    pub(in crate::gateway) people: Vec<Person>,
    /// Id of the session that asks.
    pub(in crate::gateway) this: String,
    /// False: there are more than [`MOST`] sessions, and some are not in the list.
    pub(in crate::gateway) complete: bool,
}

impl SessionLists {
    pub(in crate::gateway) const fn new(sessions: Sessions, users: Users) -> Self {
        Self { sessions, users }
    }

    /// The actor's own sessions.
    pub(in crate::gateway) async fn own(&self, actor: &Actor) -> Result<Own, Error> {
        let (tenant, this) = (&actor.principal.tenant, actor.login.public());
        let mut sessions = self.sessions.list(tenant, &actor.principal.key()).await?;
        sessions.sort_by_key(|session| (session.id != this, std::cmp::Reverse(session.last_seen)));
        Ok(Own { sessions, this, policy: self.sessions.policy(tenant) })
    }

    /// Ends one of the actor's own sessions. False when it had ended already.
    pub(in crate::gateway) async fn end_own(&self, actor: &Actor, id: &str) -> Result<bool, Error> {
        let tenant = &actor.principal.tenant;
        self.sessions.whose(tenant, id).await?.filter(|user| *user == actor.principal.key()).ok_or(Error::NotFound)?;
        Ok(self.sessions.end(tenant, id, Ending::Elsewhere, &by(actor)).await?)
    }

    /// Ends all sessions of the actor but the one that asks. How many.
    pub(in crate::gateway) async fn end_others(&self, actor: &Actor) -> Result<usize, Error> {
        self.end_all_of(actor, &actor.principal.key(), Ending::Elsewhere).await
    }

    /// The sessions of the tenant of people whose name or e-mail address contains `wanted`; of all when it is empty.
    pub(in crate::gateway) async fn everybody(&self, actor: &Actor, wanted: &str) -> Result<Everybody, Error> {
        let all = self.sessions.list_all(&actor.principal.tenant, MOST).await?;
        let wanted = wanted.trim().to_lowercase();
        let fits = |text: &Hostile| text.raw().to_lowercase().contains(&wanted);
        let mut people: Vec<Person> = Vec::new();
        for session in all.found.into_iter().filter(|session| fits(&session.name) || fits(&session.email)) {
            match people.last_mut().filter(|person| person.user == session.user) {
                Some(person) => person.sessions.push(session),
                None => people.push(Person::of(session)),
            }
        }
        for person in &mut people {
            person.sessions.sort_by_key(|session| std::cmp::Reverse(session.last_seen));
        }
        people.sort_by_cached_key(|person| (person.name.raw().to_lowercase(), person.user.clone()));
        Ok(Everybody { people, this: actor.login.public(), complete: all.complete })
    }

    /// Ends a session of the administrator's tenant, of a certain person where one is named. False when it had ended already.
    pub(in crate::gateway) async fn end_any(&self, actor: &Actor, user: Option<&str>, id: &str) -> Result<bool, Error> {
        let tenant = &actor.principal.tenant;
        let whose = self.sessions.whose(tenant, id).await?;
        whose.filter(|whose| user.is_none_or(|user| user == whose)).ok_or(Error::NotFound)?;
        Ok(self.sessions.end(tenant, id, Ending::Administrator, &by(actor)).await?)
    }

    /// Ends all sessions of a person of the administrator's tenant but the one that asks. How many.
    pub(in crate::gateway) async fn end_person(&self, actor: &Actor, user: &str) -> Result<usize, Error> {
        let tenant = &actor.principal.tenant;
        // Who was away for long is still in the list of people, and nothing else.
        if !self.sessions.known(tenant, user).await?.is_something() && !self.users.has(tenant, user).await? {
            return Err(Error::NotFound);
        }
        self.end_all_of(actor, user, Ending::Administrator).await
    }

    async fn end_all_of(&self, actor: &Actor, user: &str, ending: Ending) -> Result<usize, Error> {
        let (tenant, this) = (&actor.principal.tenant, actor.login.public());
        let mut ended = 0;
        for session in self.sessions.list(tenant, user).await?.iter().filter(|session| session.id != this) {
            ended += usize::from(self.sessions.end(tenant, &session.id, ending, &by(actor)).await?);
        }
        Ok(ended)
    }
}

impl Person {
    fn of(session: ListedSession) -> Self {
        let (user, name, email, role) = (session.user.clone(), session.name.clone(), session.email.clone(), session.role);
        Self { user, name, email, role, sessions: vec![session] }
    }
}

fn by(actor: &Actor) -> By {
    By { user: Some(actor.principal.key()), network: actor.network.clone(), request_id: actor.request_id.clone() }
}
