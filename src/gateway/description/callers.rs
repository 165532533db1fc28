//! Who may call, as security schemes and requirements.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};

use super::About;
use crate::gateway::domain::route_table::{OpenTo, Route, Verb};

const SESSION: &str = "session";
const CSRF: &str = "csrfToken";
const API_KEY: &str = "apiKey";
const ACCESS_TOKEN: &str = "accessToken";

/// The schemes of a tenant.
pub(super) fn schemes(about: &About<'_>) -> Vec<(&'static str, SecurityScheme)> {
    let bearer =
        |words: &str| SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).description(Some(words)).build());
    let session = "The session of a person who is signed in to the portal. Never together with a bearer.";
    let csrf = "Proof that a page of the portal makes the call: the token of the session, which is the value of the \
                hidden field `csrf` in the forms of its pages. Needed beside the cookie by everything but GET.";
    let key = "An API key of the company, made by an administrator under Keys. For programs on servers; never for a page.";
    let token = "An access token of the company's identity provider. The scanning service judges it.";
    let mut all = vec![
        (SESSION, SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::with_description(about.cookie, session)))),
        (CSRF, SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description("X-CSRF-Token", csrf)))),
        (API_KEY, bearer(key)),
    ];
    if about.takes_access_tokens {
        all.push((ACCESS_TOKEN, bearer(token)));
    }
    all
}

/// What a call of `route` has to carry: one of these.
pub(super) fn of(route: &Route, about: &About<'_>) -> Vec<SecurityRequirement> {
    if route.open_to == OpenTo::Everybody {
        return Vec::new();
    }
    let one = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    let session = if route.verb == Verb::Get { one(SESSION) } else { one(SESSION).add(CSRF, Vec::<String>::new()) };
    let mut all = vec![one(API_KEY), session];
    if about.takes_access_tokens {
        all.push(one(ACCESS_TOKEN));
    }
    all
}
