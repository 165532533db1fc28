//! Finds the tenant of a request by its exact Host. There is no default: an unknown host is 421 (RFC 9110 15.5.20).

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::header::{HOST, HeaderMap, USER_AGENT};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, ResponseError as _};

use crate::gateway::session::Visit;
use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;
use crate::gateway::web::site::Sites;
use crate::gateway::web::urls;

/// Of a `User-Agent` no more is looked at.
const LONGEST_AGENT: usize = 400;

pub(in crate::gateway) async fn tenant(
    sites: Sites,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    // Probes ask by address, not by name, and say nothing about any tenant.
    if matches!(request.path(), urls::LIVEZ | urls::READYZ | urls::HEALTHZ) {
        return Ok(next.call(request).await?.map_into_boxed_body());
    }
    let Some(host) = one_host(request.headers(), request.uri()) else {
        return Ok(request.into_response(WebError::bad_request("The request names no host, or more than one.").error_response()));
    };
    let Some(site) = sites.dressed(&host) else {
        return Ok(request.into_response(WebError::misdirected().error_response()));
    };
    tracing::Span::current().record("tenant", site.tenant.as_str());
    let mut context = Context::of(request.request());
    context.origin = site.origin_at(&host);
    let agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let visit = Visit {
        network: context.network(),
        request_id: context.request_id.clone(),
        agent: agent.chars().take(LONGEST_AGENT).collect(),
    };
    request.extensions_mut().insert(visit);
    request.extensions_mut().insert(site.tenant.clone());
    context.site = Some(site);
    request.extensions_mut().insert(context);
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// The one `Host` of the request; with HTTP/2 it is the authority. A request that names two different ones (RFC 9112, 3.2.2)
/// names none.
pub(in crate::gateway) fn one_host(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let mut named = headers.get_all(HOST);
    match (named.next(), named.next()) {
        (Some(host), None) => {
            let host = host.to_str().ok()?;
            let other = uri.authority().filter(|authority| !authority.as_str().eq_ignore_ascii_case(host));
            other.is_none().then(|| host.to_owned())
        }
        (None, None) => uri.authority().map(ToString::to_string),
        _ => None,
    }
}
