//! What the middleware found out about a request before any handler sees it.

use std::net::IpAddr;
use std::sync::Arc;

use actix_web::HttpMessage as _;
use actix_web::HttpRequest;

use super::site::Site;
use super::urls;
use crate::gateway::domain::network::{UNKNOWN, neighbourhood};

/// Kept in the extensions of a request.
#[derive(Clone)]
pub(in crate::gateway) struct Context {
    /// 32 hexadecimal characters; on the answer, in every log line and on error pages.
    pub(in crate::gateway) request_id: String,
    /// The network address of the caller, behind trusted proxies too; `UNKNOWN` where they do not say it.
    pub(in crate::gateway) client: IpAddr,
    /// The tenant of the `Host`; none for health checks and unknown hosts.
    pub(in crate::gateway) site: Option<Arc<Site>>,
    /// Scheme and host as the browser sees them; empty without a site.
    pub(in crate::gateway) origin: String,
}

impl Context {
    /// The context of `request`; an empty one where the middleware did not run.
    pub(in crate::gateway) fn of(request: &HttpRequest) -> Self {
        request.extensions().get::<Self>().cloned().unwrap_or(Self {
            request_id: String::new(),
            client: UNKNOWN,
            site: None,
            origin: String::new(),
        })
    }

    /// The network the caller belongs to for limits and logs: IPv4 /24, IPv6 /48, or `unknown`.
    pub(in crate::gateway) fn network(&self) -> String {
        neighbourhood(self.client)
    }
}

/// Whether the request is for a page of recipients. The pattern decides, not the spelling of the path; a path that no
/// pattern fits is taken by its beginning.
pub(in crate::gateway) fn is_public(request: &HttpRequest) -> bool {
    request.match_pattern().map_or_else(|| urls::is_recipients(request.path()), |pattern| urls::is_recipients(&pattern))
}
