//! One call on its way: a place at the service, the breaker, tries, credentials.

use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::caller::Means;
use super::reply::Reply;
use super::{Api, Ask, Caller};
use crate::gateway::domain::forwarding;
use crate::gateway::domain::route_table::{OpenTo, Repeat, Under, Verb};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::KeyUser;
use crate::gateway::services::credentials::Credentials;
use crate::gateway::services::error::{Error, KEYS_NOT_BELIEVED, NOT_BELIEVED};
use crate::gateway::services::pace::{Pace, Pass, Place, Who, is_trouble};
use crate::gateway::upstream::proxy::{Answer, Outgoing, Proxy, Target};
use crate::gateway::upstream::{Credential, Tries, UpstreamError};

const REQUEST_ID: header::HeaderName = header::HeaderName::from_static("x-request-id");

/// An answer, and what it says of the service.
type Outcome = Result<(Answer, Standing), Error>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It does what it can.
    Well,
    /// It fails, and may not the next time.
    Failing,
    /// It fails, for a reason that cannot be read: that may be one that stays.
    Unread,
}

/// Everything a call needs to be made. Owns it all: it may go on when its caller has an answer already.
pub(super) struct Call {
    tenant: TenantId,
    caller: Caller,
    who: Who,
    /// In the route table.
    operation: &'static str,
    /// Everybody is answered: that says nothing about the credential.
    is_open: bool,
    /// What stands for the caller's token, where it is one.
    token: Option<[u8; 32]>,
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
        forwarding::trace(ask.trace.0, ask.trace.1, ask.request_id, &mut headers);
        if let Ok(id) = HeaderValue::try_from(ask.request_id) {
            headers.insert(REQUEST_ID, id);
        }
        headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("cardea/", env!("CARGO_PKG_VERSION"))));
        Ok(Self {
            tenant: ask.tenant.clone(),
            caller: ask.caller.clone(),
            who: ask.name.clone().map_or(Who::Stranger, Who::Member),
            operation: found.route.name,
            is_open: found.route.open_to == OpenTo::Everybody,
            token: if let Caller::Token(token) = &ask.caller { Some(api.fingerprint(token)) } else { None },
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

    /// Sends what can be sent once. After 401 the next try, which the sender has to make, is made with another credential.
    pub(super) async fn once(self, proxy: &Proxy, body: Outgoing) -> Result<Reply, Error> {
        let place = self.place().await?;
        let Some(means) = self.means.first() else { return Err(Error::SignIn) };
        let pass = self.pace.breakers.pass_streaming(&self.tenant).map_err(later)?;
        let outcome = self.send(proxy, means, body).await;
        judge(pass, &outcome);
        let (answer, _) = outcome?;
        self.note(means, answer.status);
        if answer.status == StatusCode::UNAUTHORIZED {
            match &means.credential {
                Credential::ServerKey(_) if self.means.iter().any(|other| !self.is_refused(other)) => {
                    return Err(Error::OtherKey);
                }
                Credential::ServerKey(_) => return Err(Error::Unusable(KEYS_NOT_BELIEVED)),
                _ if Box::pin(self.renewed(means)).await?.is_some() => return Err(Error::Resend),
                _ => {}
            }
        }
        Ok(Reply::of(answer, place))
    }

    /// Sends what can be sent again. After 401, which says that the service did nothing, once more with another credential.
    pub(super) async fn replayable(self, proxy: &Proxy, body: Option<Bytes>) -> Result<Reply, Error> {
        let place = self.place().await?;
        let mut all = self.means.iter();
        let Some(first) = all.next() else { return Err(Error::SignIn) };
        let pass = self.pass()?;
        let mut outcome = self.tried(proxy, first, body.as_ref(), &pass).await;
        if let Ok((answer, _)) = &outcome {
            self.note(first, answer.status);
            if answer.status == StatusCode::UNAUTHORIZED {
                // In a box: a call that is believed at once does not carry the room for this.
                outcome = Box::pin(self.again(proxy, (first, all.next()), (body.as_ref(), &pass), outcome)).await;
            }
        }
        judge(pass, &outcome);
        outcome.map(|(answer, _)| Reply::of(answer, place))
    }

    /// Once more, with another credential than the one that was refused.
    async fn again(
        &self,
        proxy: &Proxy,
        (first, next): (&Means, Option<&Means>),
        (body, pass): (Option<&Bytes>, &Pass),
        refused: Outcome,
    ) -> Outcome {
        let other = match next {
            Some(other) => Some(other.clone()),
            None => self.renewed(first).await?,
        };
        let Some(other) = other else {
            return match first.credential {
                Credential::ServerKey(_) => Err(Error::Unusable(KEYS_NOT_BELIEVED)),
                _ => refused,
            };
        };
        drop(refused);
        let heard = self.tried(proxy, &other, body, pass).await?;
        self.note(&other, heard.0.status);
        if heard.0.status == StatusCode::UNAUTHORIZED {
            let words = if self.caller.is_person() { NOT_BELIEVED } else { KEYS_NOT_BELIEVED };
            return Err(Error::Unusable(words));
        }
        Ok(heard)
    }

    /// Sends a request, again where the table allows that, where it may help, and where not too many do so at once (WIRE reading
    /// rule 10).
    async fn tried(&self, proxy: &Proxy, means: &Means, body: Option<&Bytes>, pass: &Pass) -> Outcome {
        let mut tries = Tries::new(self.retries);
        loop {
            let outgoing = body.map_or(Outgoing::Nothing, |bytes| Outgoing::Whole(Some(bytes.clone())));
            let outcome = self.send(proxy, means, outgoing).await;
            let may_help = match &outcome {
                Ok((_, standing)) => *standing == Standing::Failing,
                Err(Error::Upstream(error)) => error.is_unconnected(),
                Err(_) => false,
            };
            if !tries.is_left() || !may_help || !pass.may_retry() || !self.pace.budget.may_retry(&self.tenant) {
                return outcome;
            }
            drop(outcome);
            tries.next().await;
        }
    }

    /// One try: what was answered, and what that says of the service.
    async fn send(&self, proxy: &Proxy, means: &Means, body: Outgoing) -> Outcome {
        if let Some(id) = &means.key {
            let user = match &self.caller {
                Caller::Key(key) => KeyUser::ApiKey(&key.id),
                _ => KeyUser::Anybody,
            };
            self.source.count_use(&self.tenant, id, (self.operation, user));
        }
        let mut answer = proxy.send(&self.target, self.head(&means.credential)?, body).await?;
        let standing = if is_trouble(answer.status) {
            match answer.is_about_the_subscription().await? {
                Some(true) => Standing::Well,
                Some(false) => Standing::Failing,
                None => Standing::Unread,
            }
        } else {
            Standing::Well
        };
        Ok((answer, standing))
    }

    /// Past the breaker; once for a call.
    fn pass(&self) -> Result<Pass, Error> {
        self.pace.breakers.pass(&self.tenant).map_err(later)
    }

    async fn place(&self) -> Result<Place, Error> {
        self.pace.budget.asked(&self.tenant);
        self.pace.gate.enter(&self.tenant, &self.who).await.map_err(later)
    }

    /// Remembers what the service says of a credential.
    fn note(&self, means: &Means, status: StatusCode) {
        let refused = status == StatusCode::UNAUTHORIZED;
        if self.is_open || !(refused || status.is_success()) {
            return;
        }
        if let Some(id) = means.key.as_ref().filter(|_| refused) {
            self.pace.refused.note(&self.tenant, id);
        }
        if let Some(token) = self.token {
            self.pace.proven.note(&self.tenant, token, !refused);
        }
    }

    fn is_refused(&self, means: &Means) -> bool {
        means.key.as_ref().is_some_and(|id| self.pace.refused.since(&self.tenant, id).is_some())
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

/// Tells the breaker how a call ended; nothing where that says nothing about the service.
fn judge(pass: Pass, outcome: &Outcome) {
    match outcome {
        Ok((_, standing)) => pass.done(*standing == Standing::Well),
        Err(Error::Upstream(error)) if error.is_failure_of_the_service() => pass.done(false),
        // It answered, only not so that it is of use.
        Err(Error::Unusable(_)) => pass.done(true),
        Err(_) => drop(pass),
    }
}

/// The service is left alone, or has no place: come back then.
fn later(wait: Duration) -> Error {
    Error::Resting { retry_after: wait.as_secs().max(1) }
}
