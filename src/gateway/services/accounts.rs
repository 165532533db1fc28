//! Accounts of a draft: sessions captured by the embedded browser, or cookies and headers that were typed in.

use serde_json::Value;

use super::Actor;
use super::artifacts::take;
use super::drafts::Drafts;
use super::error::Error;
use crate::gateway::domain::account::{self, Account, Captured, Holds, LineProblem};
use crate::gateway::domain::draft::{self, Draft, DraftId, Step};
use crate::platform::clock::Clock;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Accounts {
    drafts: Drafts,
    clock: Clock,
}

/// What was typed into the form for cookies and headers.
pub(in crate::gateway) struct Typed {
    pub(in crate::gateway) role: String,
    pub(in crate::gateway) url: String,
    pub(in crate::gateway) cookies: String,
    pub(in crate::gateway) headers: String,
}

/// What is wrong with it; none when nothing is.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Problems {
    pub(in crate::gateway) role: Option<&'static str>,
    pub(in crate::gateway) url: Option<&'static str>,
    pub(in crate::gateway) lines: Vec<LineProblem>,
}

impl Accounts {
    pub(in crate::gateway) const fn new(drafts: Drafts, clock: Clock) -> Self {
        Self { drafts, clock }
    }

    /// Keeps a session of the embedded browser (WIRE 9, `sessionInfo`).
    pub(in crate::gateway) async fn capture(
        &self,
        actor: &Actor,
        at: (&DraftId, &str),
        (role, url): (&str, &str),
        info: &Value,
    ) -> Result<(), Error> {
        let role = account::role(role).map_err(invalid)?;
        let url =
            draft::address(url).map_err(invalid)?.ok_or_else(|| invalid("Open a page of the target in the browser first."))?;
        let captured = account::from_browser(info).map_err(invalid)?;
        self.keep(actor, at, self.made((role, url), captured, false)).await
    }

    /// Keeps what was typed, or says what is wrong with it.
    pub(in crate::gateway) async fn add(
        &self,
        actor: &Actor,
        at: (&DraftId, &str),
        typed: &Typed,
    ) -> Result<Result<(), Problems>, Error> {
        let role = account::role(&typed.role);
        let url = match draft::address(&typed.url) {
            Ok(Some(url)) => Ok(url),
            Ok(None) => Err("Give the address the cookies and headers belong to."),
            Err(words) => Err(words),
        };
        let known = url.as_deref().unwrap_or("https://unknown.invalid/");
        let captured = account::typed(&typed.cookies, &typed.headers, known);
        match (role, url, captured) {
            (Ok(role), Ok(url), Ok(captured)) => self.keep(actor, at, self.made((role, url), captured, true)).await.map(Ok),
            (role, url, captured) => {
                Ok(Err(Problems { role: role.err(), url: url.err(), lines: captured.err().unwrap_or_default() }))
            }
        }
    }

    /// Takes an account out, with what was captured for it.
    pub(in crate::gateway) async fn remove(&self, actor: &Actor, at: (&DraftId, &str), row: usize) -> Result<(), Error> {
        self.drafts.change(actor, at, |draft: &mut Draft| take(&mut draft.accounts, row)).await
    }

    fn made(
        &self,
        (role, url): (crate::platform::hostile::Hostile, String),
        captured: (Captured, Holds),
        typed: bool,
    ) -> Account {
        let (captured, holds) = captured;
        Account { role, url, captured, holds, at: self.clock.now(), typed }
    }

    async fn keep(&self, actor: &Actor, at: (&DraftId, &str), account: Account) -> Result<(), Error> {
        let most = self.drafts.settings().accounts;
        self.drafts
            .change(actor, at, |draft: &mut Draft| {
                if draft.accounts.len() >= most {
                    return Err(Error::Invalid(format!("A scan takes at most {most} accounts. Remove one first.")));
                }
                draft.skipped.remove(&Step::Accounts);
                draft.accounts.push(account);
                Ok(())
            })
            .await
    }
}

fn invalid(words: &str) -> Error {
    Error::Invalid(words.to_owned())
}
