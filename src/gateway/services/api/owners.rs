//! Whose shares a call may change, end and see by their whole ids: the rule of the pages, for programs. The service knows accounts
//! only, so what it would allow to everybody of a company is held here to whoever made a share.
//!
//! A person: their own. An API key: those that API keys of the company made. An access token: those that the same token made, for
//! nothing else is known of it. Administrators may change and end everybody's, but an id may be all that opens a share, so of others'
//! they are told no more than on their pages; what the ledger does not know is theirs alone, since nobody else could end it.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::Value;

use super::Caller;
use super::reply::Reply;
use super::shares::{OwnShares, unreadable};
use crate::contract::ids::ShareId;
use crate::contract::tasks::Search;
use crate::gateway::domain::share_entry::{Entry, Maker, Mark};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::error::Error;
use crate::platform::digest::hex;
use crate::platform::secret::Secret;

/// Entries that are read at once.
const AT_ONCE: usize = 16;
/// Fields of a row that may hold the id of a share (WIRE reading rules).
const IDS: [&str; 2] = ["shareId", "id"];

/// Who calls, as far as shares go.
pub(super) struct Owner {
    pub(super) maker: Maker,
    /// Public id of a person's session.
    pub(super) session: Option<String>,
    reach: Reach,
    /// The service says whether it is anybody at all.
    is_unproven: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Everybodys,
    Programs,
    Own,
}

impl Owner {
    /// `fingerprint` stands for an access token.
    pub(super) fn of(caller: &Caller, fingerprint: impl FnOnce(&Secret) -> [u8; 32]) -> Self {
        let of = |key: String, name, reach| Self { maker: Maker { key, name }, session: None, reach, is_unproven: false };
        match caller {
            Caller::Person(user) => {
                let reach = if user.principal.is_administrator() { Reach::Everybodys } else { Reach::Own };
                let person = of(user.principal.key(), user.principal.name.clone(), reach);
                Self { session: Some(user.login.public()), ..person }
            }
            Caller::Key(key) => of(key.id.clone(), key.label.clone(), Reach::Programs),
            Caller::Token(token) => {
                Self { is_unproven: true, ..of(hex(&fingerprint(token)), "An access token".into(), Reach::Own) }
            }
            Caller::Nobody => of("nobody".to_owned(), "Nobody".into(), Reach::Own),
        }
    }

    /// Whether it may change and end a share; `None` is one that the ledger does not know.
    fn may(&self, entry: Option<&Entry>) -> bool {
        match (self.reach, entry) {
            (Reach::Everybodys, _) => true,
            (Reach::Programs, Some(entry)) => entry.maker.is_a_program(),
            (Reach::Own, Some(entry)) => entry.maker.key == self.maker.key,
            (_, None) => false,
        }
    }

    /// Whether a list tells it the whole id of a share; `None` is one that the ledger does not know.
    fn sees_id(&self, entry: Option<&Entry>) -> bool {
        match (self.reach, entry) {
            (Reach::Everybodys | Reach::Own, Some(entry)) => entry.maker.key == self.maker.key,
            (Reach::Programs, Some(entry)) => entry.maker.is_a_program(),
            (reach, None) => reach == Reach::Everybodys,
        }
    }

    /// What becomes of a call for shares that are not its caller's.
    pub(super) const fn refusal(&self) -> Refusal {
        if self.is_unproven { Refusal::Elsewhere } else { Refusal::NotFound }
    }
}

/// How a call is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Here.
    NotFound,
    /// By the service, which is asked for a share that nobody has, because it has to judge the credential first.
    Elsewhere,
}

impl OwnShares {
    /// Whether all of these are shares that `owner` may change and end.
    pub(super) async fn are_theirs(&self, tenant: &TenantId, owner: &Owner, ids: &[ShareId]) -> Result<bool, Error> {
        if owner.reach == Reach::Everybodys {
            return Ok(true);
        }
        for id in ids {
            if !owner.may(self.ledger.entry(tenant, &Mark::of(tenant, id)).await?.as_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A list of shares as `owner` may see it: by short ids where whole ones are not for it.
    pub(super) async fn listed(&self, tenant: &TenantId, owner: &Owner, (reply, most): (Reply, usize)) -> Result<Reply, Error> {
        let (reply, mut list) = reply.read(most).await?;
        let mut ids = Vec::new();
        each_row(&mut list, &mut |row| ids.extend(id_of(row)));
        let looked = stream::iter(ids).map(|id| async move {
            let mark = Mark::of(tenant, &id);
            let is_told = owner.sees_id(self.ledger.entry(tenant, &mark).await?.as_ref());
            Ok::<_, Error>((!is_told).then(|| (id.to_string(), mark.short().to_owned())))
        });
        let hidden: Vec<Option<(String, String)>> = looked.buffered(AT_ONCE).try_collect().await?;
        let hidden: Vec<(String, String)> = hidden.into_iter().flatten().collect();
        if hidden.is_empty() {
            return Ok(reply);
        }
        each_row(&mut list, &mut |row| {
            let Some(id) = id_of(row) else { return };
            if let Some((whole, short)) = hidden.iter().find(|(whole, _)| *whole == id.as_str()) {
                row.values_mut().for_each(|value| replace(value, whole, short));
            }
        });
        reply.with(&list)
    }
}

type Row = serde_json::Map<String, Value>;

/// Every object in `list`, however deep.
fn each_row(list: &mut Value, work: &mut impl FnMut(&mut Row)) {
    match list {
        Value::Array(all) => all.iter_mut().for_each(|one| each_row(one, work)),
        Value::Object(row) => {
            work(row);
            row.values_mut().for_each(|one| each_row(one, work));
        }
        _ => {}
    }
}

fn id_of(row: &Row) -> Option<ShareId> {
    IDS.iter().find_map(|name| row.get(*name)?.as_str()?.parse().ok())
}

/// A row may tell the id in a link as well.
fn replace(value: &mut Value, whole: &str, short: &str) {
    match value {
        Value::String(text) => *text = text.replace(whole, short),
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, whole, short)),
        Value::Object(row) => row.values_mut().for_each(|one| replace(one, whole, short)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Refuses a search by ids of shares, or in their order: what it finds would tell them letter by letter, and nobody sees all of them.
/// One that is not of the interface's shape, or names something twice, is refused as well: the service could read another one in it.
pub(super) fn without_ids(body: &[u8]) -> Result<(), Error> {
    if body.is_empty() {
        return Ok(());
    }
    let read = (serde_json::from_slice::<Search>(body), serde_json::from_slice::<Value>(body));
    let (Ok(_), Ok(search)) = read else { return Err(unreadable("a search")) };
    if searches_ids(&search) {
        return Err(Error::Invalid("Shares are not found or ordered by shareId here. Take another field.".to_owned()));
    }
    Ok(())
}

fn searches_ids(search: &Value) -> bool {
    let is_id = |text: &Value| {
        text.as_str().is_some_and(|text| text.trim_start_matches(['-', '+']).trim().eq_ignore_ascii_case("shareId"))
    };
    let is = |name: &str, wanted: &str| name.trim().eq_ignore_ascii_case(wanted);
    match search {
        Value::Array(all) => all.iter().any(searches_ids),
        Value::Object(fields) => fields.iter().any(|(name, value)| match value {
            Value::Array(all) if is(name, "sorts") => all.iter().any(is_id),
            value => (is(name, "field") && is_id(value)) || searches_ids(value),
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_by_ids_is_refused_wherever_it_names_them() {
        for search in [
            r#"{"filters": [{"field": "shareId", "operator": "LIKE", "value": "A"}]}"#,
            r#"{"filters": [{"field": "taskId", "operator": "EQ", "value": "t"}, {"field": "SHAREID", "operator": "GE", "value": "A"}]}"#,
            r#"{"filters": [{"field": "taskId", "Field": "shareId", "operator": "LIKE", "value": "A"}]}"#,
            r#"{"filters": [{"field": "shareId", "field": "taskId", "operator": "LIKE", "value": "A"}]}"#,
            r#"{"sorts": ["-createdAt", "-shareId"]}"#,
            r#"{"sorts": ["shareId"], "sorts": []}"#,
            r#"{"sorts": ["shareId"]} and more"#,
            r#"{"sorts": "shareId"}"#,
        ] {
            assert!(without_ids(search.as_bytes()).is_err(), "{search}");
        }
        for search in [
            "",
            "{}",
            r#"{"page": 0, "size": 0, "sorts": ["-createdAt"]}"#,
            r#"{"filters": [{"field": "projectName", "operator": "EQ", "value": "shareId"}]}"#,
        ] {
            assert!(without_ids(search.as_bytes()).is_ok(), "{search}");
        }
    }
}
