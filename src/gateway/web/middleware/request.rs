//! Gives each request its id and its caller, and writes its one log line: method, path, status, time; no query string.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue, X_FORWARDED_FOR};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpRequest};
use tracing::Instrument as _;

use crate::config::gateway::ForwardedBy;
use crate::gateway::domain::network::{self, Network};
use crate::gateway::web::context::Context;
use crate::gateway::web::urls;
use crate::platform::clock::Clock;
use crate::platform::hostile::Hostile;
use crate::platform::random;

/// The header that carries the id to callers and to the scanning service.
pub(in crate::gateway) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Networks whose forwarding headers are believed, and the clock for the log line.
#[derive(Clone)]
pub(in crate::gateway) struct Callers {
    pub(in crate::gateway) trusted: Arc<[Network]>,
    /// The header they write.
    pub(in crate::gateway) forwarded_by: ForwardedBy,
    pub(in crate::gateway) clock: Clock,
}

impl Callers {
    /// Nobody is believed.
    #[cfg(test)]
    pub(in crate::gateway) fn nobody(clock: Clock) -> Self {
        Self { trusted: Arc::from([]), forwarded_by: ForwardedBy::XForwardedFor, clock }
    }

    /// The network address of a caller; [`network::UNKNOWN`] where a trusted proxy does not say it so that it can be read.
    pub(in crate::gateway) fn client(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> IpAddr {
        let peer = peer.map_or(network::UNKNOWN, |socket| socket.ip());
        if self.trusted.is_empty() {
            return peer;
        }
        let lines = |name| headers.get_all(name).map(HeaderValue::as_bytes);
        match self.forwarded_by {
            ForwardedBy::XForwardedFor => network::client(peer, lines(X_FORWARDED_FOR), &self.trusted),
            ForwardedBy::Forwarded => network::client_by_forwarded(peer, lines(FORWARDED), &self.trusted),
        }
    }
}

pub(in crate::gateway) async fn request(
    callers: Callers,
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let request_id = random::hex_id().unwrap_or_default();
    let client = callers.client(request.peer_addr(), request.headers());
    let context = Context { request_id: request_id.clone(), client, site: None, origin: String::new() };
    let span = tracing::info_span!("request", id = %request_id, tenant = tracing::field::Empty);
    let (started, began) = (callers.clock.now(), Instant::now());
    let method = request.method().clone();
    let caller = context.network();
    request.extensions_mut().insert(context);
    async move {
        let mut answer = next.call(request).await?;
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            answer.headers_mut().insert(REQUEST_ID, value);
        }
        measure(&method, answer.request(), answer.status(), began.elapsed());
        let took = callers.clock.now().since(started).as_millis();
        let path = Hostile::from(log_path(answer.request())).log();
        tracing::info!(%method, path, status = answer.status().as_u16(), took_ms = took, caller, "answered");
        Ok(answer)
    }
    .instrument(span)
    .await
}

/// Counts an answer by the pattern of its route: an address may hold a share id, and addresses are without number.
fn measure(method: &Method, request: &HttpRequest, status: StatusCode, took: Duration) {
    let route = request.match_pattern().unwrap_or_else(|| "none".to_owned());
    let method = match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        // A method may be any word.
        _ => "other",
    };
    let labels = [("route", route.clone()), ("method", method.to_owned()), ("status", status.as_str().to_owned())];
    metrics::counter!("cardea_http_requests_total", &labels).increment(1);
    metrics::histogram!("cardea_http_request_seconds", "route" => route, "method" => method).record(took);
}

/// Share ids are capabilities: of a share's address only the pattern is written, of an address that leads nowhere only the
/// beginning, however it is spelled.
fn log_path(request: &HttpRequest) -> String {
    match request.match_pattern() {
        Some(pattern) if urls::is_recipients(&pattern) => pattern,
        Some(_) => request.path().to_owned(),
        None => format!("{}…", request.path().chars().take(8).collect::<String>()),
    }
}
