//! Who calls: a session cookie with proof that our own page sends it, or a bearer; never both, so that nobody can be made to
//! lend one to the other.

use std::sync::Arc;

use actix_web::http::header::{AUTHORIZATION, HeaderMap};

use super::answer::Refusal;
use super::bond::Bond;
use super::{Begun, Worker};
use crate::gateway::domain::api_key::KeyRefusal;
use crate::gateway::domain::route_table::{Body, OpenTo, Route, Verb};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::api::Caller;
use crate::gateway::services::api_keys::ApiKeys;
use crate::gateway::services::bearers::Worth;
use crate::gateway::services::error::Error;
use crate::gateway::session::{Glance, Seen};
use crate::gateway::web::error::WebError;
use crate::gateway::web::middleware::csrf;
use crate::gateway::web::site::Site;
use crate::platform::secret::Secret;

/// A caller, and what its call hangs on.
pub(super) struct Recognised {
    pub(super) caller: Caller,
    pub(super) bond: Bond,
}

const BOTH: &str = "The call carries a session cookie and a bearer. Send one of them.";
const NO_BEARER: &str = "The bearer is not known here, or has ended. Send an API key of this portal that is good now.";
const ELSEWHERE: &str = "This API key is not good from the network that the call comes from.";
const DISABLED: &str = "An administrator of this company has disabled the account that this access token belongs to.";
const OUT_OF_SCOPE: &str = "This API key may not call this operation.";
const NOTHING: &str = "A credential is needed: the session of a signed-in person, or an API key as a bearer.";

/// Finds out who calls `route` with `headers`.
pub(super) async fn recognise(
    begun: &Begun,
    (site, route): (&Site, &'static Route),
    headers: &HeaderMap,
    worker: &Worker,
) -> Result<Recognised, Refusal> {
    if headers.contains_key(AUTHORIZATION) {
        if worker.glances.is_there(headers) {
            return Err(WebError::bad_request(BOTH).into());
        }
        return Box::pin(bearer((begun, site, route), headers, worker)).await;
    }
    if route.open_to == OpenTo::Everybody {
        return Ok(Recognised { caller: Caller::Nobody, bond: Bond::Nothing });
    }
    let seen = match worker.glances.look(&site.tenant, headers, begun.visit.clone()).await.map_err(Error::from)? {
        Glance::Here(seen) => seen,
        Glance::Over(Some(ending)) if ending.surprises() => return Err(WebError::ended(ending).into()),
        Glance::Over(_) | Glance::Nothing => return Err(Refusal::unauthorized(NOTHING)),
    };
    own_page(begun, route, headers, &seen)
        .inspect_err(|signal| worker.parts.guard.note(&site.tenant, (&begun.visit.network, &begun.request_id), signal))
        .map_err(|signal| match signal {
            "media_type" => WebError::unsupported_media_type("This operation takes application/json."),
            _ => WebError::forbidden(FOREIGN),
        })?;
    if route.polls {
        seen.quiet();
    }
    Ok(Recognised { caller: Caller::Person(Arc::clone(&seen.user)), bond: Bond::Session(seen) })
}

const FOREIGN: &str = "The call does not show that a page of this portal makes it. Send the session's token in X-CSRF-Token.";

/// That a page of ours makes the call. Reads are answered to nobody else anyway; they are only not begun for another site.
fn own_page(begun: &Begun, route: &Route, headers: &HeaderMap, seen: &Seen) -> Result<(), &'static str> {
    let signal = csrf::foreign(&begun.origin, headers);
    if route.verb == Verb::Get {
        let typed = headers.get("sec-fetch-site").is_some_and(|site| site == "none");
        return signal.filter(|signal| *signal == "fetch_site" && !typed).map_or(Ok(()), Err);
    }
    if let Some(signal) = signal {
        return Err(signal);
    }
    let token = headers.get("x-csrf-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !seen.user.csrf_matches(token) {
        return Err("token");
    }
    // What a browser sends for another site without asking first is taken from no page. Others are judged by the service.
    if route.body == Body::Json && !csrf::is_json(headers) { Err("media_type") } else { Ok(()) }
}

async fn bearer(
    (begun, site, route): (&Begun, &Site, &'static Route),
    headers: &HeaderMap,
    worker: &Worker,
) -> Result<Recognised, Refusal> {
    let text = one_bearer(headers).ok_or_else(|| Refusal::unauthorized(NO_BEARER))?;
    let secret = Secret::new(text);
    if !ApiKeys::looks_like_one(text) {
        return if site.takes_access_tokens {
            token(&site.tenant, secret, worker).await
        } else {
            Err(Refusal::unauthorized(NO_BEARER))
        };
    }
    let keys = &worker.parts.api_keys;
    let verified = keys.verify(&site.tenant, &secret, begun.client).await;
    let key = verified.map_err(|refusal| match refusal {
        // One that has ended is told from one that never was by nobody but its owner, in the list of keys.
        KeyRefusal::Unknown | KeyRefusal::Expired => Refusal::unauthorized(NO_BEARER),
        KeyRefusal::Network => WebError::forbidden(ELSEWHERE).into(),
        KeyRefusal::Unavailable => WebError::unavailable(5).into(),
    })?;
    if !key.may(route) {
        return Err(WebError::forbidden(OUT_OF_SCOPE).into());
    }
    worker.parts.api_keys.note_origin(&site.tenant, &key, (route.name, begun.client));
    let bond = Bond::Key { keys: keys.clone(), tenant: site.tenant.clone(), text: secret };
    Ok(Recognised { caller: Caller::Key(key), bond })
}

/// An access token: the service judges it, but those who may not come in are turned away here.
async fn token(tenant: &TenantId, token: Secret, worker: &Worker) -> Result<Recognised, Refusal> {
    let bearers = worker.parts.bearers.clone();
    match bearers.worth(tenant, &token).await? {
        Worth::Good => {
            let bond = Bond::Token { bearers, tenant: tenant.clone(), token: token.clone() };
            Ok(Recognised { caller: Caller::Token(token), bond })
        }
        Worth::Disabled => Err(Refusal::unauthorized(DISABLED)),
        Worth::Unknown => Err(Refusal::unauthorized(NO_BEARER)),
        Worth::Untold => Err(WebError::unavailable(5).into()),
    }
}

/// The one bearer of a request.
fn one_bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION);
    let (value, None) = (all.next()?.to_str().ok()?, all.next()) else { return None };
    let (scheme, token) = value.split_once(' ')?;
    let fits = scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then_some(token)
}
