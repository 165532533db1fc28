//! Forms that make something whose secret is shown once: each does its work at most once, whoever sends it again.

use std::time::Duration;

use super::Actor;
use super::error::Error;
use crate::gateway::store::{Key, Store};

/// How long it is known that a form was sent; an older one does its work anew.
const FORM_KEPT: Duration = Duration::from_hours(24);
/// Stands in the mark of a form that has done its work.
const MADE: &[u8] = b"made";

/// What became of the work behind a form.
pub(super) enum Sent<T> {
    Now(T),
    /// It was done before.
    Before,
    /// It was begun before; how it ended is not known.
    Begun,
}

/// Whether a form carries what makes it work once.
pub(super) fn is_complete(once: &str) -> bool {
    (16..=64).contains(&once.len())
}

/// Does `work` unless this form did it before: `kind` is what forms of its sort are called in the store, `once` what this one
/// carries. When it comes to nothing, the form can be sent again; while nobody knows, it cannot.
pub(super) async fn once<T, E: Into<Error>>(
    store: &Store,
    actor: &Actor,
    (kind, once): (&'static str, &str),
    work: impl Future<Output = Result<T, E>>,
) -> Result<Sent<T>, Error> {
    let form = Key::hashed(&actor.principal.tenant, kind, &format!("{}/{once}", actor.principal.key()));
    if store.insert(&form, Vec::new(), Some(FORM_KEPT)).await?.is_none() {
        let before = store.get(&form).await?;
        return Ok(if before.is_some_and(|form| form.value == MADE) { Sent::Before } else { Sent::Begun });
    }
    match work.await {
        Ok(made) => {
            if let Err(error) = store.put(&form, MADE.to_vec(), Some(FORM_KEPT)).await {
                tracing::debug!(%error, "that a form has done its work is not written down; sent again it says less");
            }
            Ok(Sent::Now(made))
        }
        Err(error) => {
            // A store that is away now leaves a form that cannot be sent again: its page can be loaded anew.
            let _ = store.delete(&form).await;
            Err(error.into())
        }
    }
}
