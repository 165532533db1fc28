//! What a call hangs on while it goes on: the session or the API key it was taken with. When that ends, what still streams is cut
//! off, so that nobody takes half an answer for one and nothing is kept of half an upload; and what is still waited for is given up.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::LocalBoxStream;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use tokio::time::{Instant, timeout, timeout_at};

use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::api_keys::ApiKeys;
use crate::gateway::services::bearers::Bearers;
use crate::gateway::session::{Seen, until};
use crate::platform::secret::Secret;

/// Words for a program whose key ended.
const KEY_ENDED: &str = "The API key of this call has expired or was revoked.";
/// Words for a program whose person is disabled.
const TOKEN_ENDED: &str = "The account that the access token of this call belongs to was disabled, or cannot be told now.";

/// What is over by then is not watched over: most answers are, and pay nothing for it.
const SOON: Duration = Duration::from_millis(500);

/// See above.
pub(super) enum Bond {
    Session(Seen),
    Key {
        keys: ApiKeys,
        tenant: TenantId,
        /// The one that came with the call: others of the same key may go on.
        text: Secret,
    },
    /// When an access token ends only the service knows; when the person behind it is disabled, we do.
    Token {
        bearers: Bearers,
        tenant: TenantId,
        token: Secret,
    },
    /// Nobody.
    Nothing,
}

impl Bond {
    /// The session, where it is one.
    pub(super) const fn seen(&self) -> Option<&Seen> {
        match self {
            Self::Session(seen) => Some(seen),
            Self::Key { .. } | Self::Token { .. } | Self::Nothing => None,
        }
    }

    /// Resolves with one sentence for the caller when it ends; `None` when nobody knows an end of it.
    pub(super) fn end(&self) -> Option<LocalBoxFuture<'static, &'static str>> {
        match self {
            Self::Session(seen) => {
                let tether = seen.tether()?;
                let ended = async move {
                    let ending = tether.ended().await;
                    tether.cut(ending);
                    ending.words()
                };
                Some(ended.boxed_local())
            }
            Self::Key { keys, tenant, text } => {
                let (keys, tenant, text) = (keys.clone(), tenant.clone(), text.clone());
                let ended = async move {
                    keys.ended(&tenant, &text).await;
                    metrics::counter!("cardea_stream_closed_total", "reason" => "api_key").increment(1);
                    tracing::info!("a call was cut off with its API key");
                    KEY_ENDED
                };
                Some(ended.boxed_local())
            }
            Self::Token { bearers, tenant, token } => {
                let (bearers, tenant, token) = (bearers.clone(), tenant.clone(), token.clone());
                let ended = async move {
                    bearers.ended(&tenant, &token).await;
                    metrics::counter!("cardea_stream_closed_total", "reason" => "access_token").increment(1);
                    tracing::info!("a call was cut off with the access of whom its token belongs to");
                    TOKEN_ENDED
                };
                Some(ended.boxed_local())
            }
            Self::Nothing => None,
        }
    }

    /// What comes of `work`; or, when this ends first, one sentence for the caller: nothing is done on then.
    pub(super) async fn during<T>(&self, mut work: impl Future<Output = T> + Unpin) -> Result<T, &'static str> {
        if let Ok(done) = timeout(SOON, &mut work).await {
            return Ok(done);
        }
        let Some(ended) = self.end() else { return Ok(work.await) };
        tokio::select! {
            biased;
            words = ended => Err(words),
            done = work => Ok(done),
        }
    }

    /// The same as [`Bond::hold`] for a stream that most often ends at once.
    pub(super) fn hold_brief<S>(
        &self,
        stream: S,
        last: impl FnOnce(&'static str) -> S::Item + 'static,
    ) -> LocalBoxStream<'static, S::Item>
    where
        S: Stream + 'static,
    {
        let Some(ended) = self.end() else { return stream.boxed_local() };
        let soon = Instant::now() + SOON;
        let state = Some((stream.boxed_local(), ended, last));
        let held = stream::unfold(state, move |state| async move {
            let (mut stream, mut ended, last) = state?;
            let next = if let Ok(next) = timeout_at(soon, stream.next()).await {
                next
            } else {
                tokio::select! {
                    biased;
                    words = &mut ended => return Some((last(words), None)),
                    next = stream.next() => next,
                }
            };
            next.map(|item| (item, Some((stream, ended, last))))
        });
        held.boxed_local()
    }

    /// `stream` until it ends; then `last` is the end of the stream.
    pub(super) fn hold<S>(
        &self,
        stream: S,
        last: impl FnOnce(&'static str) -> S::Item + 'static,
    ) -> LocalBoxStream<'static, S::Item>
    where
        S: Stream + 'static,
    {
        match self.end() {
            Some(ended) => until(stream, ended, last).boxed_local(),
            None => stream.boxed_local(),
        }
    }
}
