//! The scanning service's own operations, at its own paths on a tenant's host, for browser code and other programs. A short
//! chain of its own in the place of the portal's middleware: there is no page, no form and no cookie to set, and it runs for
//! every call.
//!
//! Host -> path -> allowance of the network -> caller -> the other allowances -> body -> service. Each step answers for itself
//! when it refuses; nothing goes to the service before all of them agreed.

mod answer;
mod body;
mod bond;
mod caller;
mod meters;
mod presence;

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use actix_web::http::header::{CONNECTION, HeaderMap};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use tracing::Instrument as _;

use self::answer::Refusal;
use self::caller::Recognised;
use self::meters::Meters;
use self::presence::gone;
use super::error::WebError;
use super::listener::Peer;
use super::middleware::csrf::Guard;
use super::middleware::head;
use super::middleware::request::{Callers, REQUEST_ID};
use super::middleware::tenant::one_host;
use super::site::{Site, Sites};
use crate::config::gateway::{Connection, Limits};
use crate::contract::paths;
use crate::gateway::domain::api_path::{Decision, Found, decide};
use crate::gateway::domain::forwarding;
use crate::gateway::domain::network::neighbourhood;
use crate::gateway::domain::route_table::Answer;
use crate::gateway::services::api::{Api, Ask, Proxy, ProxySettings};
use crate::gateway::services::api_keys::ApiKeys;
use crate::gateway::services::bearers::Bearers;
use crate::gateway::services::pace::{Admission, Arrived, Quota, Verdict};
use crate::gateway::session::{Glances, Sessions, Visit};
use crate::platform::random;

/// What every worker gets a copy of.
#[derive(Clone)]
pub(in crate::gateway) struct ApiParts {
    pub(in crate::gateway) api: Api,
    pub(in crate::gateway) api_keys: ApiKeys,
    pub(in crate::gateway) bearers: Bearers,
    pub(in crate::gateway) sessions: Sessions,
    pub(in crate::gateway) sites: Sites,
    pub(in crate::gateway) callers: Callers,
    pub(in crate::gateway) limits: Limits,
    pub(in crate::gateway) connection: Connection,
    pub(in crate::gateway) guard: Guard,
    pub(in crate::gateway) proxy: ProxySettings,
}

/// What one worker has for it.
struct Worker {
    parts: ApiParts,
    glances: Glances,
    proxy: Proxy,
    meters: Meters,
}

/// What is known of a request before anybody is recognised.
pub(super) struct Begun {
    request_id: String,
    visit: Visit,
    client: IpAddr,
    site: Option<Arc<Site>>,
    origin: String,
}

/// The routes of one worker.
pub(in crate::gateway) fn routes(parts: ApiParts) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        let (glances, proxy) = (parts.sessions.glances(), Proxy::new(parts.proxy.clone()));
        let worker = Worker { glances, proxy, meters: Meters::default(), parts };
        let worker = Data::new(worker);
        for start in [paths::PREFIX, "/biz"] {
            config.service(web::scope(start).app_data(worker.clone()).default_service(web::to(call)));
        }
    }
}

/// What logs say of a caller that left before there was an answer; never seen by anybody.
const GONE: StatusCode = StatusCode::REQUEST_TIMEOUT;

async fn call(request: HttpRequest, payload: web::Payload, worker: Data<Worker>) -> HttpResponse {
    let started = Instant::now();
    let begun = begin(&request, &worker);
    let tenant = begun.site.as_ref().map_or("", |site| site.tenant.as_str());
    let span = tracing::info_span!("request", id = %begun.request_id, tenant);
    let method = request.method().clone();
    async {
        let (operation, outcome) = tokio::select! {
            biased;
            decided = decided(&begun, &request, payload, &worker) => decided,
            // Nobody reads the answer: it is for the log and the figures only.
            () = gone(&request) => ("none", Ok(HttpResponse::build(GONE).finish())),
        };
        let mut answer = outcome.unwrap_or_else(|refusal| refusal.answer(&begun));
        answer::finish(&mut answer, &begun);
        let (status, took) = (answer.status(), started.elapsed());
        worker.meters.measure(operation, &method, status, took);
        let caller = &*begun.visit.network;
        tracing::info!(%method, operation, status = status.as_u16(), took_ms = took.as_millis(), caller, "answered");
        answer
    }
    .instrument(span)
    .await
}

fn begin(request: &HttpRequest, worker: &Worker) -> Begun {
    let request_id = random::hex_id().unwrap_or_default();
    let client = worker.parts.callers.client(request.peer_addr(), request.headers());
    let host = one_host(request.headers(), request.uri());
    let site = host.as_deref().and_then(|host| worker.parts.sites.of_host(host));
    let origin = site.as_ref().zip(host).map(|(site, host)| site.origin_at(&host)).unwrap_or_default();
    // A call begins no session, so nobody asks which device it comes from.
    let visit = Visit { network: neighbourhood(client), request_id: request_id.clone(), agent: String::new() };
    Begun { request_id, visit, client, site, origin }
}

/// Which operation it is, for log and metrics, and what comes of it.
async fn decided(
    begun: &Begun,
    request: &HttpRequest,
    payload: web::Payload,
    worker: &Worker,
) -> (&'static str, Result<HttpResponse, Refusal>) {
    let Some(site) = &begun.site else { return ("none", Err(WebError::misdirected().into())) };
    if let Some(refusal) = head::refusal(request.head(), &worker.parts.connection) {
        return ("none", Err(refusal.into()));
    }
    match decide(request.method().as_str(), request.uri().path(), site.has_additions) {
        Decision::Found(found) => {
            let name = found.route.name;
            (name, answered(begun, (site, found), (request, payload), worker).await)
        }
        Decision::Ambiguous(words) | Decision::BadParameter(words) => ("none", Err(WebError::bad_request(words).into())),
        Decision::TooLong(words) => {
            let refused = WebError { words: words.into(), ..WebError::of_status(StatusCode::URI_TOO_LONG) };
            ("none", Err(refused.into()))
        }
        Decision::Unknown => ("none", Err(WebError::not_found().into())),
        Decision::WrongMethod(allowed) if *request.method() == Method::OPTIONS => ("none", Ok(answer::options(&allowed))),
        Decision::WrongMethod(allowed) => ("none", Err(Refusal::wrong_method(&allowed))),
    }
}

async fn answered(
    begun: &Begun,
    (site, found): (&Site, Found),
    (request, payload): (&HttpRequest, web::Payload),
    worker: &Worker,
) -> Result<HttpResponse, Refusal> {
    let arrived = worker.parts.api.pace.admission.arrive(&site.tenant, begun.client);
    let arrived = arrived.map_err(|(quota, retry_after)| Refusal::too_often(quota, retry_after))?;
    let recognised = match caller::recognise(begun, (site, found.route), request.headers(), worker).await {
        Ok(recognised) => recognised,
        // Guesses count as well.
        Err(refusal) => return admitted(arrived, None).and_then(|quota| Err(refusal.counted(quota))),
    };
    let name = worker.parts.api.name(&site.tenant, &recognised.caller);
    let quota = admitted(arrived, name.as_deref())?;
    match asked(begun, (site, found), (request, payload), (recognised, name), worker).await {
        Ok(mut answer) => {
            answer::allowance(&mut answer, quota);
            Ok(answer)
        }
        Err(refusal) => Err(refusal.counted(quota)),
    }
}

/// What comes of a call that was let in.
async fn asked(
    begun: &Begun,
    (site, found): (&Site, Found),
    (request, payload): (&HttpRequest, web::Payload),
    (Recognised { caller, bond }, name): (Recognised, Option<Arc<str>>),
    worker: &Worker,
) -> Result<HttpResponse, Refusal> {
    let sees_inside = caller.sees_inside();
    let kind = (found.route.verb, found.is_head);
    let (sent, cut) = body::read(&found, (request, payload), &worker.parts.limits, &bond).await?;
    let theirs = request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let mut headers = forwarding::passing(&forwarding::REQUEST, theirs);
    if found.route.answer != Answer::Stream {
        headers.remove(http::header::ACCEPT_ENCODING);
    }
    let (parent, state) = trace(request.headers());
    let trace = (parent, state.as_deref());
    let (tenant, query, request_id) = (&site.tenant, request.uri().query(), &*begun.request_id);
    let ask = Ask { tenant, caller, name, found, query, headers, trace, request_id, network: &begun.visit.network };
    // Who is no more let in gets no answer, and the service need not make it.
    let reply = bond.during(pin!(worker.parts.api.ask(&worker.proxy, ask, sent))).await.map_err(Refusal::unauthorized)?;
    let mut reply = reply.map_err(|error| cut.explain(error))?;
    reply.cache = reply.cache.filter(|_| sees_inside);
    if let Some(seen) = bond.seen() {
        worker.glances.used(seen).await;
    }
    Ok(answer::passed(reply, kind, (&bond, request.conn_data::<Peer>().cloned())))
}

/// The caller's `traceparent`, if it is one, and `tracestate`, of which several lines are one list (W3C Trace Context, 3.3.1).
fn trace(headers: &HeaderMap) -> (Option<&str>, Option<String>) {
    let mut connection = headers.get_all(CONNECTION).flat_map(|value| forwarding::of_one_hop(value.as_bytes()));
    let mut parents = headers.get_all("traceparent");
    let (Some(parent), None) = (parents.next(), parents.next()) else { return (None, None) };
    // Whoever keeps either to this connection keeps both: the one says nothing without the other.
    if connection.any(|name| name.eq_ignore_ascii_case("traceparent") || name.eq_ignore_ascii_case("tracestate")) {
        return (None, None);
    }
    let states: Option<Vec<&str>> = headers.get_all("tracestate").map(|value| value.to_str().ok()).collect();
    (parent.to_str().ok(), states.filter(|states| !states.is_empty()).map(|states| states.join(",")))
}

/// Takes the call, or says when to come back.
fn admitted(arrived: Arrived<'_>, name: Option<&str>) -> Result<Quota, Refusal> {
    match Admission::admit(arrived, name) {
        Verdict::Admitted(quota) => Ok(quota),
        Verdict::Refused { quota, retry_after } => Err(Refusal::too_often(quota, retry_after)),
    }
}

/// The header that carries the id of a request to its caller.
pub(super) const ID: actix_web::http::header::HeaderName = REQUEST_ID;
