//! Static files.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};

use crate::gateway::web::assets;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::Path;
use crate::gateway::web::page::Page;

/// The name changes with the content, so it may be kept for a year.
const FOREVER: &str = "public, max-age=31536000, immutable";

pub(in crate::gateway) async fn show(page: Page, Path(name): Path<String>) -> Result<HttpResponse, WebError> {
    let mut answer = HttpResponse::Ok();
    answer.insert_header((CACHE_CONTROL, FOREVER));
    if page.site.theme.strip_prefix("/assets/") == Some(name.as_str()) {
        return Ok(answer.insert_header((CONTENT_TYPE, "text/css; charset=utf-8")).body(page.site.theme_body.clone()));
    }
    let asset = assets::all().find(&name).ok_or_else(WebError::not_found)?;
    Ok(answer.insert_header((CONTENT_TYPE, asset.media_type)).body(asset.body.clone()))
}

/// Search engines stay away, but may read the doors of shares: only there do they learn that those are not to be listed.
pub(in crate::gateway) async fn robots() -> HttpResponse {
    let words = "User-agent: *\nAllow: /s/\nAllow: /o/\nDisallow: /\n";
    HttpResponse::Ok()
        .insert_header((CACHE_CONTROL, "public, max-age=3600"))
        .content_type("text/plain; charset=utf-8")
        .body(words)
}
