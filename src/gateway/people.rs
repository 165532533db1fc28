//! The people of companies from outside of a running gateway, for the command line: who there is, and letting somebody in again
//! where no administrator is left who could. Disabling is for administrators alone.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use super::build::Base;
use super::domain::role::Role;
use super::domain::tenant::TenantId;
use super::services::error::Error;
use super::services::users::{Person, Users};
use super::{Gateway, StartError, TrailError, administration, trails};
use crate::config::gateway::Gateway as Settings;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// How long what was begun may take to be written down.
const LAST: Duration = Duration::from_secs(10);

/// Why nobody was found, or let in.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// There is no store, or no such tenant.
    #[error(transparent)]
    Opened(#[from] TrailError),
    #[error("nobody of {0} is known by {1:?}: give the mark or the whole e-mail address that `cardea users list` shows")]
    Nobody(String, String),
    #[error("several people of {0} have the e-mail address {1:?}: give the mark that `cardea users list` shows")]
    Several(String, String),
    #[error("the people of {0} cannot be read or changed: {1}")]
    Unreadable(String, String),
}

impl From<StartError> for PeopleError {
    fn from(error: StartError) -> Self {
        Self::Opened(error.into())
    }
}

impl Gateway {
    /// The people of one tenant, or of all, by name: one JSON object on each line. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn list_users(settings: &Settings, clock: &Clock, tenant: Option<&str>) -> Result<String, PeopleError> {
        let tenants = trails::known(settings, tenant)?;
        with_users(settings, clock, async |users| {
            let mut lines = String::new();
            for tenant in &tenants {
                for (user, person) in everybody(users, tenant).await? {
                    let _ = writeln!(lines, "{}", line(tenant, &user, &person));
                }
            }
            Ok(lines)
        })
        .await
    }

    /// Lets somebody of a tenant in again who was disabled, by mark or e-mail address, and writes it down in the audit trail. What
    /// came of it, in words. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// See [`PeopleError`].
    pub async fn enable_user(settings: &Settings, clock: &Clock, tenant: &str, who: &str) -> Result<String, PeopleError> {
        let tenants = trails::known(settings, Some(tenant))?;
        with_users(settings, clock, async |users| {
            let Some(tenant) = tenants.first() else { return Ok(String::new()) };
            let (user, person) = find(everybody(users, tenant).await?, tenant, who)?;
            let enabled = users.enable_from_outside(tenant, &user).await.map_err(|error| unreadable(tenant, &error))?;
            let name = person.name.short(80);
            Ok(if enabled {
                format!(
                    "{name} ({user}) of {tenant} can sign in again. The audit trail of {tenant} tells that it was done here.\n"
                )
            } else {
                format!("{name} ({user}) of {tenant} was not disabled; nothing was changed.\n")
            })
        })
        .await
    }
}

/// Opens what is needed, as one more replica that serves nobody, and waits for what was begun.
async fn with_users<T>(
    settings: &Settings,
    clock: &Clock,
    work: impl AsyncFnOnce(&Users) -> Result<T, PeopleError>,
) -> Result<T, PeopleError> {
    let shutdown = Shutdown::default();
    let done = async {
        let base = Base::new(settings, clock, &shutdown)?;
        // What is written here has to open on every replica.
        base.keyring().map_err(|error| StartError::Store(error.to_string()))?.follow(&shutdown).await;
        base.policies.begin().await;
        work(&administration::users(&base)).await
    };
    let done = done.await;
    shutdown.begin();
    shutdown.drain(LAST).await;
    done
}

async fn everybody(users: &Users, tenant: &TenantId) -> Result<Vec<(String, Person)>, PeopleError> {
    users.everybody(tenant).await.map(|all| all.people).map_err(|error| unreadable(tenant, &error))
}

fn find(people: Vec<(String, Person)>, tenant: &TenantId, who: &str) -> Result<(String, Person), PeopleError> {
    let who = who.trim();
    let is_meant = |(user, person): &(String, Person)| user == who || person.email.raw().eq_ignore_ascii_case(who);
    let mut meant = people.into_iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(one), None) if !who.is_empty() => Ok(one),
        (Some(_), Some(_)) if !who.is_empty() => Err(PeopleError::Several(tenant.to_string(), who.to_owned())),
        _ => Err(PeopleError::Nobody(tenant.to_string(), who.to_owned())),
    }
}

fn line(tenant: &TenantId, user: &str, person: &Person) -> String {
    let mut line = json!({
        "tenant": tenant.as_str(),
        "user": user,
        "name": person.name.text(),
        "email": person.email.text(),
        "role": if person.role == Role::Administrator { "administrator" } else { "member" },
        "last_sign_in": person.last_at.rfc3339(),
    });
    if let (Some(off), Some(line)) = (&person.disabled, line.as_object_mut()) {
        let disabled = json!({"at": off.at.rfc3339(), "by": off.by.text(), "reason": off.reason.text()});
        line.insert("disabled".to_owned(), disabled);
    }
    line.to_string()
}

fn unreadable(tenant: &TenantId, error: &Error) -> PeopleError {
    PeopleError::Unreadable(tenant.to_string(), error.to_string())
}
