//! One call on its way: a place at the service, the breaker, tries, credentials.

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::time::sleep;

use super::caller::Means;
use super::reply::Reply;
use super::{Api, Ask, Caller};
use crate::gateway::domain::route_table::{Repeat, Under, Verb};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::credentials::Credentials;
use crate::gateway::services::error::{Error, NOT_BELIEVED};
use crate::gateway::services::pace::{Pace, Place, is_trouble};
use crate::gateway::upstream::proxy::{Answer, Outgoing, Proxy, Target};
use crate::gateway::upstream::{Credential, UpstreamError};

/// Words for a service that refuses the server keys.
const KEYS_NOT_BELIEVED: &str = "The scanning service does not accept the server key of this tenant.";
/// Wait before the first further try; doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const REQUEST_ID: header::HeaderName = header::HeaderName::from_static("x-request-id");

/// Everything a call needs to be made. Owns it all: it may go on when its caller has an answer already.
pub(super) struct Call {
    tenant: TenantId,
    caller: Caller,
    means: Vec<Means>,
    source: Credentials,
    pace: Pace,
    target: Target,
    method: Method,
    path: PathAndQuery,
    headers: HeaderMap,
    /// Further tries.
    retries: u32,
}

impl Call {
    pub(super) fn new(api: &Api, ask: &Ask<'_>, target: Target, means: Vec<Means>) -> Result<Self, Error> {
        let found = &ask.found;
        let mut headers = ask.headers.clone();
        if let Ok(id) = HeaderValue::try_from(ask.request_id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("cardea/", env!("CARGO_PKG_VERSION"))));
        Ok(Self {
            tenant: ask.tenant.clone(),
            caller: ask.caller.clone(),
            means,
            source: api.credentials.clone(),
            pace: api.pace.clone(),
            path: target.path(&found.path(), found.route.under == Under::Prefix, ask.query)?,
            target,
            method: match (found.route.verb, found.is_head) {
                (Verb::Get, false) => Method::GET,
                (Verb::Get, true) => Method::HEAD,
                (Verb::Post, _) => Method::POST,
                (Verb::Patch, _) => Method::PATCH,
            },
            headers,
            retries: if found.route.repeat == Repeat::Safe { api.retries } else { 0 },
        })
    }

    /// Sends what can be sent once. After 401 the token is renewed for the next try, which the sender has to make.
    pub(super) async fn once(self, proxy: &Proxy, body: Outgoing) -> Result<Reply, Error> {
        let place = self.place().await?;
        let Some(means) = self.means.first() else { return Err(Error::SignIn) };
        let answer = self.send(proxy, means, body).await?;
        if answer.status == StatusCode::UNAUTHORIZED && Box::pin(self.renewed(means)).await?.is_some() {
            return Err(Error::Resend);
        }
        Ok(Reply::of(answer, place))
    }

    /// Sends what can be sent again. After 401, which says that the service did nothing, once more with another credential.
    pub(super) async fn replayable(self, proxy: &Proxy, body: Option<Bytes>) -> Result<Reply, Error> {
        let place = self.place().await?;
        let mut all = self.means.iter();
        let Some(first) = all.next() else { return Err(Error::SignIn) };
        let answer = self.tried(proxy, first, body.as_ref()).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(Reply::of(answer, place));
        }
        // In a box: a call that is believed at once does not carry the room for this.
        Box::pin(self.again(proxy, (first, all.next()), body.as_ref(), (answer, place))).await
    }

    /// Once more, with another credential than the one that was refused with `answer`.
    async fn again(
        &self,
        proxy: &Proxy,
        (first, next): (&Means, Option<&Means>),
        body: Option<&Bytes>,
        (answer, place): (Answer, Place),
    ) -> Result<Reply, Error> {
        let other = match next {
            Some(other) => Some(other.clone()),
            None => self.renewed(first).await?,
        };
        let Some(other) = other else {
            return match first.credential {
                Credential::ServerKey(_) => Err(Error::Unusable(KEYS_NOT_BELIEVED)),
                _ => Ok(Reply::of(answer, place)),
            };
        };
        drop(answer);
        let answer = self.tried(proxy, &other, body).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            let words = if self.caller.is_person() { NOT_BELIEVED } else { KEYS_NOT_BELIEVED };
            return Err(Error::Unusable(words));
        }
        Ok(Reply::of(answer, place))
    }

    /// Sends a request, again where the table allows that, where it may help, and where not too many do so at once (WIRE reading
    /// rule 10).
    async fn tried(&self, proxy: &Proxy, means: &Means, body: Option<&Bytes>) -> Result<Answer, Error> {
        let (mut left, mut wait) = (self.retries, FIRST_WAIT);
        loop {
            let outgoing = body.map_or(Outgoing::Nothing, |bytes| Outgoing::Whole(Some(bytes.clone())));
            let outcome = self.send(proxy, means, outgoing).await;
            let may_help = match &outcome {
                Ok(answer) => matches!(answer.status.as_u16(), 502..=504),
                Err(Error::Upstream(error)) => error.is_unreachable(),
                Err(_) => false,
            };
            if left == 0 || !may_help || !self.pace.budget.may_retry(&self.tenant) {
                return outcome;
            }
            drop(outcome);
            left -= 1;
            sleep(wait).await;
            wait *= 2;
        }
    }

    /// One try, past the breaker.
    async fn send(&self, proxy: &Proxy, means: &Means, body: Outgoing) -> Result<Answer, Error> {
        let pass = self.pace.breakers.pass(&self.tenant).map_err(later)?;
        if let Some(id) = &means.key {
            self.source.count_use(&self.tenant, id);
        }
        let answer = proxy.send(&self.target, self.head(&means.credential)?, body).await;
        match &answer {
            Ok(answer) => pass.done(!is_trouble(answer.status)),
            // A sender who stopped says nothing about the service.
            Err(error) if error.is_of_the_sender() => drop(pass),
            Err(_) => pass.done(false),
        }
        Ok(answer?)
    }

    async fn place(&self) -> Result<Place, Error> {
        self.pace.budget.asked(&self.tenant);
        self.pace.gate.enter(&self.tenant).await.map_err(later)
    }

    /// Another token of the person than the one that was refused.
    async fn renewed(&self, refused: &Means) -> Result<Option<Means>, Error> {
        match (&self.caller, &refused.credential) {
            (Caller::Person(person), Credential::UserToken(token)) => {
                let token = self.source.other_token(&person.principal.tenant, &person.login, token).await?;
                Ok(Some(Means::token(token)))
            }
            _ => Ok(None),
        }
    }

    fn head(&self, credential: &Credential) -> Result<Parts, UpstreamError> {
        let (mut head, ()) = http::Request::new(()).into_parts();
        head.method = self.method.clone();
        head.uri = self.path.clone().into();
        head.headers.clone_from(&self.headers);
        credential.write(&mut head.headers)?;
        Ok(head)
    }
}

/// The service is left alone, or has no place: come back then.
fn later(wait: Duration) -> Error {
    Error::Resting { retry_after: wait.as_secs().max(1) }
}
