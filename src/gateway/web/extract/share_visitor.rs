//! Somebody who opened a share: no account, but a grant for this very share of this very tenant.

use std::future::Future;
use std::pin::Pin;

use actix_web::cookie::{Cookie, SameSite, time::Duration as CookieTime};
use actix_web::dev::Payload;
use actix_web::http::header::USER_AGENT;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use serde::Deserialize;

use super::Path;
use crate::contract::ids::ShareId;
use crate::gateway::domain::device::Device;
use crate::gateway::domain::share::{Doorway, Spot};
use crate::gateway::services::Services;
use crate::gateway::services::share_page::{Place, Visit};
use crate::gateway::web::context::Context;
use crate::gateway::web::error::WebError;
use crate::gateway::web::site::Site;
use crate::gateway::web::urls;
use crate::platform::digest::{hex, sha256};
use crate::platform::secret::Secret;

/// The share an address of recipients names, known or not, and who stands before it. Tells nothing about the share.
pub(in crate::gateway) struct AtDoor {
    pub(in crate::gateway) place: Place,
    /// The browser's part of a grant, if it sent one; not looked at yet.
    pub(in crate::gateway) handle: Option<Secret>,
}

/// A visit by a good grant. Without one the browser is sent to the door.
pub(in crate::gateway) struct ShareVisitor(pub(in crate::gateway) Visit);

#[derive(Deserialize)]
struct Named {
    share: ShareId,
}

fn at_door(request: &HttpRequest) -> Result<AtDoor, WebError> {
    let context = Context::of(request);
    let site = context.site.clone().ok_or_else(WebError::misdirected)?;
    let Path(Named { share }) = Path::extract(request).into_inner()?;
    let handle = request.cookie(&cookie_name(&site, &share)).map(|cookie| Secret::new(cookie.value()));
    let pattern = request.match_pattern().unwrap_or_default();
    let is_open = pattern.starts_with(urls::doorway(Doorway::Open));
    let agent = request.headers().get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let place = Place {
        tenant: site.tenant.clone(),
        spot: Spot { doorway: Doorway::of(!is_open), share },
        network: context.network(),
        device: Device::read(agent),
        request_id: context.request_id,
    };
    Ok(AtDoor { place, handle })
}

impl FromRequest for AtDoor {
    type Error = WebError;
    type Future = std::future::Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(at_door(request))
    }
}

impl FromRequest for ShareVisitor {
    type Error = WebError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, WebError>>>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let door = at_door(request);
        let services = request.app_data::<Data<Services>>().cloned();
        Box::pin(async move {
            let AtDoor { place, handle } = door?;
            let services = services.ok_or_else(|| WebError::internal("the services are not there"))?;
            let closed = urls::door_again(&place.spot);
            let visit = match handle {
                Some(handle) => services.share_pages.visit(place, &handle).await?,
                None => None,
            };
            visit.map(Self).ok_or_else(|| WebError::sign_in(closed))
        })
    }
}

/// The name tells nothing but a short hash, and the path keeps the cookie away from every other share. `__Host-` would ask
/// for the path `/`.
fn cookie_name(site: &Site, share: &ShareId) -> String {
    let hash: String = hex(&sha256(format!("{}/{share}", site.tenant).as_bytes())).chars().take(12).collect();
    let prefix = if site.is_secure() { "__Secure-" } else { "" };
    format!("{prefix}cardea-share-{hash}")
}

/// The cookie of a grant; without a handle it takes the cookie back.
pub(in crate::gateway) fn grant_cookie(
    site: &Site,
    spot: &Spot,
    handle: Option<&Secret>,
    lifetime: std::time::Duration,
) -> Cookie<'static> {
    let mut cookie =
        Cookie::build(cookie_name(site, &spot.share), handle.map(|handle| handle.expose().to_owned()).unwrap_or_default())
            .path(urls::door(spot))
            .http_only(true)
            .secure(site.is_secure())
            .same_site(SameSite::Lax)
            .max_age(CookieTime::seconds(i64::try_from(lifetime.as_secs()).unwrap_or(0)))
            .finish();
    if handle.is_none() {
        cookie.make_removal();
    }
    cookie
}
