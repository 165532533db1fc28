//! The few pages a person sees. Nothing inline; forms may only go to this provider and on to the address the client named
//! (browsers apply `form-action` to the redirects that follow a form as well).

use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_SECURITY_POLICY;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use askama::Template;
use url::Url;

use crate::platform::digest::same;
use crate::platform::random;

use super::super::provider::Provider;

const FORM_COOKIE: &str = "cardea_idp_form";

/// A message, with links to go on.
#[derive(Template)]
#[template(path = "idp/notice.html")]
pub(super) struct Notice {
    title: String,
    text: String,
    links: Vec<(String, String)>,
}

impl Notice {
    pub(super) fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), links: Vec::new() }
    }

    /// With a link; `href` must have been checked or made here.
    pub(super) fn link(mut self, words: impl Into<String>, href: impl Into<String>) -> Self {
        self.links.push((words.into(), href.into()));
        self
    }

    pub(super) fn answer(&self, status: StatusCode) -> HttpResponse {
        page(&mut HttpResponse::build(status), self, None)
    }
}

/// The login form.
#[derive(Template)]
#[template(path = "idp/login.html")]
pub(super) struct Login<'p> {
    pub(super) client: &'p str,
    /// What was wrong with the last try.
    pub(super) problem: Option<String>,
    pub(super) name: &'p str,
    pub(super) action: &'p str,
    pub(super) token: &'p str,
}

/// The question before a logout.
#[derive(Template)]
#[template(path = "idp/logout.html")]
pub(super) struct Logout<'p> {
    pub(super) action: &'p str,
    pub(super) token: &'p str,
}

/// Writes a page. `onward` is where a form of it may lead in the end.
pub(super) fn page(answer: &mut HttpResponseBuilder, content: &impl Template, onward: Option<&Url>) -> HttpResponse {
    let onward = onward.map(source).unwrap_or_default();
    let policy =
        format!("default-src 'none'; style-src 'self'; form-action 'self'{onward}; frame-ancestors 'none'; base-uri 'none'");
    match content.render() {
        Ok(html) => answer
            .insert_header((CONTENT_SECURITY_POLICY, policy))
            .insert_header(("x-frame-options", "DENY"))
            .content_type("text/html; charset=utf-8")
            .body(html),
        Err(_) => HttpResponse::InternalServerError().body("This page cannot be shown. Please try again."),
    }
}

/// An address as a source of a content security policy: its origin, or its scheme for an app's own.
fn source(url: &Url) -> String {
    match url.origin() {
        origin @ url::Origin::Tuple(..) => format!(" {}", origin.ascii_serialization()),
        url::Origin::Opaque(_) => format!(" {}:", url.scheme()),
    }
}

/// A cookie no script reads.
pub(super) fn cookie(provider: &Provider, name: &'static str, value: String) -> Cookie<'static> {
    Cookie::build(name, value)
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(provider.settings.issuer.starts_with("https:"))
        .finish()
}

/// The token a form of this browser carries: the same in cookie and form, so that no other site can send the form.
pub(super) fn form_token(provider: &Provider, request: &HttpRequest) -> Result<(String, Cookie<'static>), random::Unavailable> {
    let known = request.cookie(FORM_COOKIE).map(|cookie| cookie.value().to_owned()).filter(|token| token.len() == 43);
    let token = known.map_or_else(random::token, Ok)?;
    Ok((token.clone(), cookie(provider, FORM_COOKIE, token)))
}

/// Whether a sent form came from our own page.
pub(super) fn is_ours(request: &HttpRequest, token: Option<&str>) -> bool {
    let foreign = request.headers().get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    let known = request.cookie(FORM_COOKIE);
    !foreign && known.zip(token).is_some_and(|(known, token)| same(known.value().as_bytes(), token.as_bytes()))
}
