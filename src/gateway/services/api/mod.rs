//! Callers' own requests to the scanning service: with the credential that the table says, tried again where the table says,
//! and passed on as they are. What may be asked at all was decided before.

mod caller;
mod upload;

use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::time::sleep;

pub(in crate::gateway) use self::caller::Caller;
pub(in crate::gateway) use self::upload::{Cut, boundary, checked};
use super::credentials::Credentials;
use super::directory::Directory;
use super::error::{Error, NOT_BELIEVED};
use crate::gateway::domain::api_path::Found;
use crate::gateway::domain::forwarding;
use crate::gateway::domain::route_table::{Repeat, Under, Verb};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::upstream::proxy::{Answer, AnswerBody, Outgoing, Stopped, Target};
pub(in crate::gateway) use crate::gateway::upstream::proxy::{Proxy, ProxySettings};
use crate::gateway::upstream::{Credential, UpstreamError};

/// Words for a service that refuses the server keys.
const KEYS_NOT_BELIEVED: &str = "The scanning service does not accept the server key of this tenant.";
/// Words for a tenant without one.
const NO_KEY: &str = "There is no active server key for this tenant, so API keys cannot be used.";
/// Wait before the first further try; doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const REQUEST_ID: header::HeaderName = header::HeaderName::from_static("x-request-id");

/// The use case. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Api {
    pub(in crate::gateway) credentials: Credentials,
    pub(in crate::gateway) directory: Directory,
    /// Further tries of a read.
    pub(in crate::gateway) retries: u32,
}

/// One request, decided upon.
pub(in crate::gateway) struct Ask<'a> {
    pub(in crate::gateway) tenant: &'a TenantId,
    pub(in crate::gateway) caller: Caller,
    pub(in crate::gateway) found: Found,
    /// As it came.
    pub(in crate::gateway) query: Option<&'a str>,
    /// Those that pass.
    pub(in crate::gateway) headers: HeaderMap,
    pub(in crate::gateway) request_id: &'a str,
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
        use futures_util::TryStreamExt as _;
        Self::Stream(Outgoing::stream(body.map_err(|_| Stopped), length))
    }
}

/// An answer of the service, whatever its status.
pub(in crate::gateway) struct Reply {
    pub(in crate::gateway) status: StatusCode,
    /// Those that pass.
    pub(in crate::gateway) headers: HeaderMap,
    /// Bytes of the body, where the service says so; of an answer to `HEAD` those that it would have.
    pub(in crate::gateway) length: Option<u64>,
    pub(in crate::gateway) body: AnswerBody,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        let length = answer.headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        let headers = forwarding::passing(&forwarding::ANSWER, &answer.headers);
        Self { status: answer.status, headers, length, body: answer.body }
    }
}

impl Api {
    /// Asks the service.
    pub(in crate::gateway) async fn ask(&self, proxy: &Proxy, ask: &Ask<'_>, sent: Sent) -> Result<Reply, Error> {
        let target = self.directory.of(ask.tenant)?.service.target().clone();
        let credential = self.credential(ask).await?;
        match sent {
            Sent::Whole(body) => self.replayable(proxy, &target, ask, (credential, body)).await,
            Sent::Stream(body) => {
                let answer = proxy.send(&target, head(ask, &target, &credential)?, body).await?;
                if answer.status == StatusCode::UNAUTHORIZED && self.another(ask, &credential).await?.is_some() {
                    return Err(Error::Resend);
                }
                Ok(answer.into())
            }
        }
    }

    /// Sends what can be sent again. After 401, which says that the service did nothing, once more with another credential.
    async fn replayable(
        &self,
        proxy: &Proxy,
        target: &Target,
        ask: &Ask<'_>,
        (credential, body): (Credential, Option<Bytes>),
    ) -> Result<Reply, Error> {
        let first = self.tried(proxy, target, ask, (&credential, body.clone())).await?;
        if first.status != StatusCode::UNAUTHORIZED {
            return Ok(first.into());
        }
        let Some(other) = self.another(ask, &credential).await? else { return Ok(first.into()) };
        drop(first);
        let second = self.tried(proxy, target, ask, (&other, body)).await?;
        if second.status == StatusCode::UNAUTHORIZED {
            let words = if ask.caller.is_person() { NOT_BELIEVED } else { KEYS_NOT_BELIEVED };
            return Err(Error::Unusable(words));
        }
        Ok(second.into())
    }

    /// Sends a request, again where the table allows that and it may help (WIRE reading rule 10).
    async fn tried(
        &self,
        proxy: &Proxy,
        target: &Target,
        ask: &Ask<'_>,
        (credential, body): (&Credential, Option<Bytes>),
    ) -> Result<Answer, UpstreamError> {
        let mut left = if ask.found.route.repeat == Repeat::Safe { self.retries } else { 0 };
        let mut wait = FIRST_WAIT;
        loop {
            let outgoing = body.clone().map_or(Outgoing::Nothing, |bytes| Outgoing::Whole(Some(bytes)));
            let outcome = proxy.send(target, head(ask, target, credential)?, outgoing).await;
            let may_help = match &outcome {
                Ok(answer) => matches!(answer.status.as_u16(), 502..=504),
                Err(error) => error.is_unreachable(),
            };
            if left == 0 || !may_help {
                return outcome;
            }
            drop(outcome);
            left -= 1;
            sleep(wait).await;
            wait *= 2;
        }
    }

    /// As whom the service is asked.
    async fn credential(&self, ask: &Ask<'_>) -> Result<Credential, Error> {
        match &ask.caller {
            Caller::Person(user) => Ok(Credential::UserToken(self.credentials.token(&user.principal.tenant, &user.login).await?)),
            Caller::Token(token) => Ok(Credential::UserToken(token.clone())),
            Caller::Nobody => Ok(self.credentials.public(ask.tenant, ask.request_id).await?.1.credential),
        }
    }

    /// Another credential than the one that was refused, where the caller has one.
    async fn another(&self, ask: &Ask<'_>, refused: &Credential) -> Result<Option<Credential>, Error> {
        match (&ask.caller, refused) {
            (Caller::Person(user), Credential::UserToken(used)) => {
                let token = self.credentials.other_token(&user.principal.tenant, &user.login, used).await?;
                Ok(Some(Credential::UserToken(token)))
            }
            _ => Ok(None),
        }
    }
}

/// Request line and headers.
fn head(ask: &Ask<'_>, target: &Target, credential: &Credential) -> Result<Parts, UpstreamError> {
    let found = &ask.found;
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.method = match (found.route.verb, found.is_head) {
        (Verb::Get, false) => Method::GET,
        (Verb::Get, true) => Method::HEAD,
        (Verb::Post, _) => Method::POST,
        (Verb::Patch, _) => Method::PATCH,
    };
    head.uri = target.path(&found.path(), found.route.under == Under::Prefix, ask.query)?.into();
    head.headers.clone_from(&ask.headers);
    credential.write(&mut head.headers)?;
    if let Ok(id) = HeaderValue::try_from(ask.request_id) {
        head.headers.insert(REQUEST_ID, id);
    }
    head.headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("cardea/", env!("CARGO_PKG_VERSION"))));
    Ok(head)
}
