//! What programs are served: the document, and the page to read it. Both are public and the same for everybody of a tenant.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, ETAG, EntityTag, IfNoneMatch};
use actix_web::web::{Data, Header};

use crate::gateway::description::{About, Bounds, Description};
use crate::gateway::session::Sessions;
use crate::gateway::web::error::WebError;
use crate::gateway::web::page::Page;
use crate::gateway::web::site::Site;
use crate::gateway::web::views::description::Guide;

/// Kept by whoever wants to, and asked about each time.
const ASK_AGAIN: &str = "public, no-cache";

/// `GET /openapi.json`.
pub(in crate::gateway) async fn document(
    page: Page,
    (sessions, bounds): (Data<Sessions>, Data<Bounds>),
    known: Option<Header<IfNoneMatch>>,
) -> Result<HttpResponse, WebError> {
    let description = of(&page.site, &sessions, **bounds)?;
    let tag = EntityTag::new_strong(description.tag.clone());
    let is_known = known.is_some_and(|Header(known)| match known {
        IfNoneMatch::Any => true,
        IfNoneMatch::Items(all) => all.iter().any(|one| one.weak_eq(&tag)),
    });
    let mut answer = if is_known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    answer.insert_header((ETAG, tag.to_string())).insert_header((CACHE_CONTROL, ASK_AGAIN));
    if is_known {
        return Ok(answer.finish());
    }
    Ok(answer.content_type("application/json").body(description.json.clone()))
}

/// `GET /developers`.
pub(in crate::gateway) async fn page(
    page: Page,
    (sessions, bounds): (Data<Sessions>, Data<Bounds>),
) -> Result<HttpResponse, WebError> {
    let description = of(&page.site, &sessions, **bounds)?;
    page.show(&Guide::new(&page, &description.guide))
}

fn of<'s>(site: &'s Site, sessions: &Sessions, bounds: Bounds) -> Result<&'s Description, WebError> {
    if let Some(known) = site.description.get() {
        return Ok(known);
    }
    let about = About {
        name: &site.name,
        origin: &site.public_url,
        cookie: sessions.cookie_name(),
        has_additions: site.has_additions,
        takes_access_tokens: site.takes_access_tokens,
        bounds,
    };
    let made = Description::of(&about).map_err(|error| WebError::internal(format!("the description is no JSON: {error}")))?;
    Ok(site.description.get_or_init(|| made))
}
