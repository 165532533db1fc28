//! Callers' own requests to the scanning service: with the credential that the table says, kept where the table says, tried
//! again where it says, at the pace the service can stand, and passed on as they are. What may be asked at all was decided
//! before.
//!
//! kept? -> a place at the service -> the breaker -> the call, once more with another credential after 401.

mod caller;
pub(in crate::gateway) mod fuzzing;
mod owners;
mod part;
mod recipients;
mod reply;
mod sending;
mod shares;
mod upload;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use http::{HeaderMap, HeaderName, header};
use serde_json::json;

pub(in crate::gateway) use self::caller::Caller;
use self::caller::Means;
use self::owners::Owner;
pub(in crate::gateway) use self::reply::{Reply, ReplyBody};
use self::reply::{wants_events, whole_on_condition};
use self::sending::Call;
use self::shares::Held;
pub(in crate::gateway) use self::shares::OwnShares;
pub(in crate::gateway) use self::upload::{Cut, boundary, checked};
use super::credentials::Credentials;
use super::directory::Directory;
use super::error::Error;
use super::pace::Pace;
use super::share_page::SharePages;
use crate::config::gateway::PublicAuth;
use crate::contract::paths;
use crate::gateway::cache::{Answer, Asked, Cache, Question, Whose, Wish};
use crate::gateway::domain::api_path::Found;
use crate::gateway::domain::route_table::{Keep, OpenTo, Route, Verb};
use crate::gateway::domain::server_key::ServerKey;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::upstream::Credential;
use crate::gateway::upstream::proxy::{Outgoing, Stopped};
pub(in crate::gateway) use crate::gateway::upstream::proxy::{Proxy, ProxySettings};
use crate::platform::clock::Clock;
use crate::platform::digest::{hex, keyed};
use crate::platform::random;
use crate::platform::secret::Secret;

/// Words for a tenant without one.
const NO_KEY: &str = "There is no active server key for this tenant, so its API keys cannot be used.";
/// Of a request that is answered with what is kept for others as well, the service sees none of these.
static OWN: [HeaderName; 7] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::IF_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::IF_RANGE,
    header::IF_UNMODIFIED_SINCE,
];

/// Of such a request the service sees these, so its answer is for those who send the same.
static HEARD: [HeaderName; 4] = [
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("x-user-language"),
];

/// The use case. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Api {
    pub(in crate::gateway) credentials: Credentials,
    pub(in crate::gateway) directory: Directory,
    pub(in crate::gateway) cache: Cache<Error>,
    pub(in crate::gateway) pace: Pace,
    /// What shares are asked for passes their doors.
    pub(in crate::gateway) shares: SharePages,
    pub(in crate::gateway) own_shares: OwnShares,
    /// Further tries of a read.
    pub(in crate::gateway) retries: u32,
    /// The largest answer that is read whole; larger ones pass as they come.
    pub(in crate::gateway) most: usize,
    pub(in crate::gateway) clock: Clock,
    /// Stands between access tokens and what names them in memory and store.
    pub(in crate::gateway) fingerprint_key: Secret,
}

/// One request, decided upon.
pub(in crate::gateway) struct Ask<'a> {
    pub(in crate::gateway) tenant: &'a TenantId,
    pub(in crate::gateway) caller: Caller,
    /// Of [`Api::name`].
    pub(in crate::gateway) name: Option<Arc<str>>,
    pub(in crate::gateway) found: Found,
    /// As it came.
    pub(in crate::gateway) query: Option<&'a str>,
    /// Those that pass.
    pub(in crate::gateway) headers: HeaderMap,
    /// The caller's `traceparent` and `tracestate`.
    pub(in crate::gateway) trace: (Option<&'a str>, Option<&'a str>),
    pub(in crate::gateway) request_id: &'a str,
    /// Where the call comes from: IPv4 /24, IPv6 /48.
    pub(in crate::gateway) network: &'a str,
}

/// What a request carries.
pub(in crate::gateway) enum Sent {
    /// Can be sent again.
    Whole(Option<Bytes>),
    /// Can be sent once.
    Stream(Outgoing),
}

impl Sent {
    /// A body that streams through; of `length` bytes where that is known.
    pub(in crate::gateway) fn stream(body: impl Stream<Item = Result<Bytes, Cut>> + 'static, length: Option<u64>) -> Self {
        Self::Stream(Outgoing::stream(body.map_err(|_| Stopped), length))
    }
}

impl Api {
    /// Asks the service, or answers with what is kept. To be called on a worker: asking may go on behind the request.
    pub(in crate::gateway) async fn ask(&self, proxy: &Proxy, ask: Ask<'_>, sent: Sent) -> Result<Reply, Error> {
        if recipients::ask(ask.found.route) {
            return Box::pin(self.through_door(proxy, ask, sent)).await;
        }
        self.answered(proxy, ask, sent).await
    }

    async fn answered(&self, proxy: &Proxy, mut ask: Ask<'_>, sent: Sent) -> Result<Reply, Error> {
        let route = ask.found.route;
        let means = self.means(&ask).await?;
        let body = match sent {
            Sent::Stream(body) => return Box::pin(self.call(&ask, means)?.once(proxy, body)).await,
            Sent::Whole(body) => body,
        };
        // A part of an answer is nobody else's. What is asked with words that mean nothing here is as many questions as anybody
        // likes to make of it.
        let is_kept = route.keep != Keep::Never && knows(route, ask.query);
        if is_kept {
            whole_on_condition(&mut ask.headers);
        }
        if !is_kept || ask.headers.contains_key(header::RANGE) {
            return Box::pin(self.unkept(proxy, ask, means, body)).await;
        }
        if wants_events(&ask.headers) {
            return Box::pin(self.call(&ask, means)?.replayable(proxy, body)).await;
        }
        let question = self.question(&ask, means.first(), body.as_deref().unwrap_or_default());
        if let Some((kept, status)) = self.cache.at_hand(&question).await {
            let theirs = (route.verb == Verb::Get).then_some(&ask.headers);
            return Reply::kept(&kept, (status, self.clock.now()), theirs, ask.found.is_head);
        }
        // In a box: what is at hand needs no room for this.
        Box::pin(self.through(proxy, ask, means, (question, body))).await
    }

    /// Asks the service for what is this caller's alone; of shares as far as they are the caller's.
    async fn unkept(&self, proxy: &Proxy, mut ask: Ask<'_>, means: Vec<Means>, mut body: Option<Bytes>) -> Result<Reply, Error> {
        let route = ask.found.route;
        if route.verb == Verb::Get {
            return self.call(&ask, means)?.replayable(proxy, body).await;
        }
        let owner = Owner::of(&ask.caller, |token| self.fingerprint(token));
        let wish = match Box::pin(self.own_shares.held(&ask, &owner, body.as_deref())).await? {
            Held::Passes => None,
            Held::Noted(wish) => Some(wish),
            Held::Elsewhere => {
                let nobodys = random::id().map_err(|error| Error::Internal(error.to_string()))?;
                match ask.found.parameters.first_mut() {
                    Some(id) => *id = nobodys,
                    None => body = Some(Bytes::from(json!({ "shareIds": [nobodys] }).to_string())),
                }
                None
            }
        };
        let by_stranger = self.name(ask.tenant, &ask.caller).is_none();
        let changing = self.cache.changing_for(ask.tenant, route.ends, by_stranger);
        let reply = match self.call(&ask, means) {
            Ok(call) => call.replayable(proxy, body).await,
            Err(error) => Err(error),
        };
        let is_open = reply.as_ref().map_or_else(Error::leaves_open, |reply| reply.status.is_server_error());
        changing.done(is_open).await;
        let is_done = reply.as_ref().is_ok_and(|reply| reply.status.is_success());
        if let Some(wish) = wish {
            let noted = if is_done { Box::pin(self.own_shares.note(ask.tenant, &wish)).await } else { Ok(()) };
            self.own_shares.over(ask.tenant, &wish, !is_done && !is_open).await?;
            noted?;
        }
        let reply = reply?;
        if !is_done {
            return Ok(reply);
        }
        if route.path == paths::SHARES_SEARCH {
            return Box::pin(self.own_shares.listed(ask.tenant, &owner, (reply, self.most))).await;
        }
        Ok(reply)
    }

    /// Asks the service for what others may be given as well.
    async fn through(
        &self,
        proxy: &Proxy,
        mut ask: Ask<'_>,
        means: Vec<Means>,
        (question, body): (Question, Option<Bytes>),
    ) -> Result<Reply, Error> {
        let theirs = ask.headers.clone();
        let for_one = self.call(&ask, means.clone())?;
        for name in &OWN {
            ask.headers.remove(name);
        }
        let is_head = std::mem::replace(&mut ask.found.is_head, false);
        let for_all = self.call(&ask, means)?;
        let (own, most) = (proxy.clone(), self.most);
        let fetch = move |wish| async move {
            match wish {
                Wish::ForAll => for_all.replayable(&own, body).await?.fetched(most).await,
                Wish::AsItComes => for_one.replayable(&own, body).await.map(Reply::for_one),
            }
        };
        let (answer, status) = self.cache.answer(&question, fetch).await?;
        let validates = ask.found.route.verb == Verb::Get;
        Ok(match answer {
            Answer::Kept(kept) => Reply::kept(&kept, (status, self.clock.now()), validates.then_some(&theirs), is_head)?,
            Answer::Passing(reply) => reply.passed(status, is_head),
        })
    }

    fn call(&self, ask: &Ask<'_>, means: Vec<Means>) -> Result<Call, Error> {
        let target = self.directory.of(ask.tenant)?.service.target().clone();
        Call::new(self, ask, target, means)
    }

    /// As whom the service is asked: the first of these, and after 401 the next one.
    async fn means(&self, ask: &Ask<'_>) -> Result<Vec<Means>, Error> {
        let everybody = ask.found.route.open_to == OpenTo::Everybody;
        match &ask.caller {
            // A person's token never goes to where everybody may ask, however it came.
            _ if everybody => match self.directory.of(ask.tenant)?.public_auth {
                PublicAuth::None => Ok(vec![Means::of(Credential::None)]),
                PublicAuth::Sk => {
                    let keys = self.server_keys(ask.tenant).await?;
                    Ok(if keys.is_empty() { vec![Means::of(Credential::None)] } else { keys })
                }
            },
            Caller::Person(user) => Ok(vec![Means::token(self.credentials.token(&user.principal.tenant, &user.login).await?)]),
            Caller::Token(token) => Ok(vec![Means::token(token.clone())]),
            Caller::Key(_) => {
                let keys = self.server_keys(ask.tenant).await?;
                if keys.is_empty() { Err(Error::Unusable(NO_KEY)) } else { Ok(keys) }
            }
            Caller::Nobody => Ok(vec![Means::of(Credential::None)]),
        }
    }

    async fn server_keys(&self, tenant: &TenantId) -> Result<Vec<Means>, Error> {
        let active = Box::pin(self.credentials.server_keys(tenant)).await?;
        let means = |(about, key): &(ServerKey, Secret)| Means {
            credential: Credential::ServerKey(key.clone()),
            key: Some(about.id.clone()),
        };
        let mut all: Vec<Means> = active.iter().map(means).collect();
        all.sort_by_key(|means| means.key.as_ref().and_then(|id| self.pace.refused.since(tenant, id)));
        Ok(all)
    }

    fn question(&self, ask: &Ask<'_>, means: Option<&Means>, body: &[u8]) -> Question {
        let found = &ask.found;
        let fingerprint;
        let key = means.and_then(|means| means.key.as_deref());
        let whose = match (&ask.caller, means.map(|means| &means.credential)) {
            (Caller::Person(person), Some(Credential::UserToken(_))) => {
                let key = ask.name.as_deref().unwrap_or_default();
                Whose::User { key, role: person.principal.role, generation: person.generation() }
            }
            (_, Some(Credential::ServerKey(_))) => Whose::ServerKey { id: key.unwrap_or_default() },
            (_, Some(Credential::UserToken(token))) => {
                fingerprint = self.fingerprint(token);
                Whose::Token { fingerprint: &fingerprint }
            }
            (_, Some(Credential::None) | None) => Whose::Public,
        };
        Question::new(&Asked {
            tenant: ask.tenant,
            whose,
            route: found.route,
            parameters: &found.parameters,
            query: ask.query,
            body,
            headers: (&ask.headers, &HEARD),
        })
    }

    /// Stands for a caller where callers are told apart; nothing secret is in it. Strangers have none: nobody, and whoever brings
    /// a token that the service has not accepted yet.
    pub(in crate::gateway) fn name(&self, tenant: &TenantId, caller: &Caller) -> Option<Arc<str>> {
        match caller {
            Caller::Person(user) => Some(user.user_key()),
            Caller::Key(key) => Some(key.id.as_str().into()),
            Caller::Token(token) => {
                let fingerprint = self.fingerprint(token);
                self.pace.proven.is_known(tenant, &fingerprint).then(|| hex(&fingerprint).into())
            }
            Caller::Nobody => None,
        }
    }

    fn fingerprint(&self, token: &Secret) -> [u8; 32] {
        keyed(self.fingerprint_key.expose().as_bytes(), token.expose().as_bytes())
    }
}

/// Whether a query has nothing but parameters that the operation knows.
fn knows(route: &Route, query: Option<&str>) -> bool {
    let mut pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    pairs.all(|pair| route.query.contains(&pair.split_once('=').map_or(pair, |(name, _)| name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::domain::forwarding;

    #[test]
    fn what_passes_is_kept_from_the_service_or_tells_questions_apart() {
        for name in &forwarding::REQUEST {
            let places = [OWN.contains(name), HEARD.contains(name), *name == header::RANGE];
            assert_eq!(places.into_iter().filter(|is_there| *is_there).count(), 1, "{name}");
        }
    }
}
