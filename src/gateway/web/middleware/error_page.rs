//! Every refusal becomes a page for people or a problem document (RFC 9457) for programs; its cause is logged once.

use std::iter::successors;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, REFERER};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpRequest, HttpResponse};

use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::session::{Portal, SignedIn};
use crate::gateway::web::context::{Context, is_public};
use crate::gateway::web::error::{NOTHING_CHANGED, Told, WebError, see_other};
use crate::gateway::web::urls;
use crate::gateway::web::views::View as _;
use crate::gateway::web::views::errors::{ErrorPage, Link};
use crate::gateway::web::views::layout::{AssetLinks, Chrome, SiteView, UserView};

pub(in crate::gateway) async fn error_page(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let answer = next.call(request).await?;
    let failure = answer.response().extensions().get::<WebError>().cloned();
    let failure = match failure {
        Some(failure) => failure,
        None if answer.response().extensions().contains::<Told>() => {
            if let Some(Told(failure)) = answer.response().extensions().get::<Told>() {
                log(failure);
            }
            return Ok(answer.map_into_boxed_body());
        }
        None if needs_words(&answer) => WebError::of_status(answer.status()),
        None => return Ok(answer.map_into_boxed_body()),
    };
    log(&failure);
    let (request, old) = answer.into_parts();
    let mut new = render(&request, &failure);
    for (name, value) in old.headers() {
        if !new.headers().contains_key(name) {
            new.headers_mut().append(name.clone(), value.clone());
        }
    }
    Ok(ServiceResponse::new(request, new))
}

/// Writes down why a request was refused, where that is not for its sender.
pub(in crate::gateway::web) fn log(failure: &WebError) {
    if let Some(cause) = &failure.cause {
        if failure.status.is_server_error() {
            tracing::error!(status = failure.status.as_u16(), cause, "refused");
        } else {
            tracing::info!(status = failure.status.as_u16(), cause, "refused");
        }
    }
}

/// Who reads the error page. The session gives itself back before the page is made, so its user is noted inside of it.
#[derive(Clone)]
struct Reader(SignedIn);

pub(in crate::gateway) async fn note_reader(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let answer = next.call(request).await?;
    let status = answer.status();
    if (status.is_client_error() || status.is_server_error())
        && let Some(user) = Portal::of(answer.request()).signed_in()
    {
        answer.request().extensions_mut().insert(Reader(user));
    }
    Ok(answer)
}

/// Refusals of the framework itself come without a page of ours.
fn needs_words<B>(answer: &ServiceResponse<B>) -> bool {
    let status = answer.status();
    let ours = answer.headers().get(CONTENT_TYPE).is_some_and(|value| {
        let text = value.to_str().unwrap_or_default();
        text.starts_with("text/html") || text.contains("json")
    });
    (status.is_client_error() || status.is_server_error()) && !ours
}

fn render(request: &HttpRequest, failure: &WebError) -> HttpResponse {
    let navigates = wants_page(request);
    if let Some(page) = page_of_form(request, failure).filter(|_| navigates) {
        return see_other(page.as_str());
    }
    let redirects = navigates && !failure.explains && (is_readable(request) || is_public(request));
    if let Some(address) = sign_in(request, failure).filter(|_| redirects) {
        return see_other(&address);
    }
    let mut answer = HttpResponse::build(failure.status);
    if let Some(seconds) = failure.retry_after {
        answer.insert_header(("retry-after", seconds.to_string()));
    }
    if navigates {
        let page = page(request, failure).render().unwrap_or_else(|_| failure.title.to_owned());
        return answer.content_type("text/html; charset=utf-8").body(page);
    }
    let body = failure.problem(&Context::of(request).request_id);
    answer.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/problem+json"))).body(body.to_string())
}

fn wants_page(request: &HttpRequest) -> bool {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mode = request.headers().get("sec-fetch-mode").and_then(|value| value.to_str().ok());
    match mode {
        Some("navigate") => true,
        Some(_) => false,
        None => accept.contains("text/html") || (accept.is_empty() && is_public(request)),
    }
}

fn is_readable(request: &HttpRequest) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

/// Where somebody signs in to go on. Only what is read is redirected there: the way leads over the provider, and our own policy
/// (`form-action`) lets no answer to a form lead to another origin. Browsers then drop it without a word, so whoever sent a form
/// gets a page with the link. Recipients of a share have their door, a page of ours.
fn sign_in(request: &HttpRequest, failure: &WebError) -> Option<String> {
    let address = failure.sign_in.as_deref()?;
    if ![urls::LOGIN, urls::LOGIN_AGAIN, urls::LOGIN_STEP_UP].contains(&address) {
        return Some(address.to_owned());
    }
    let back = if is_readable(request) {
        request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned()
    } else {
        page_before(request).into()
    };
    Some(if address == urls::LOGIN { urls::login(&back) } else { format!("{address}&{}", urls::pair("return_to", &back)) })
}

/// The page of ours a form was on, without script or memory: as the browser says.
fn form_page(request: &HttpRequest, origin: &str) -> Option<String> {
    let referer = request.headers().get(REFERER)?.to_str().ok()?;
    let path = referer.strip_prefix(origin)?;
    (path.starts_with('/') && !path.starts_with("//")).then(|| path.to_owned())
}

/// The answer to a form has the form's address. Who loads it again, or comes back by a bookmark, is led to the page that the form
/// belongs to: the nearest at or above that address. Where only the first page is, nothing is known of what was meant. `HEAD` is
/// asked by programs, which are told what the address answers to.
fn page_of_form(request: &HttpRequest, failure: &WebError) -> Option<ReturnTo> {
    if failure.status != StatusCode::METHOD_NOT_ALLOWED || request.method() != Method::GET {
        return None;
    }
    let path = request.path();
    let mut pages = pages_for(path).filter_map(ReturnTo::parse);
    let page = pages.find(|page| page.allowed(urls::RETURN_TARGETS) || page.allowed(&urls::DOORS))?;
    (page.as_str() != path && page.as_str() != urls::HOME).then_some(page)
}

/// Where the page of a form may be, the likeliest first.
fn pages_for(path: &str) -> impl Iterator<Item = &str> {
    let told = urls::PAGES_ELSEWHERE.iter().find(|(form, _)| *form == path).map(|(_, page)| *page);
    told.into_iter().chain(at_or_above(path))
}

fn at_or_above(path: &str) -> impl Iterator<Item = &str> {
    successors(Some(path), |path| path.rsplit_once('/').map(|(above, _)| above))
}

/// Where a sign-in leads after a form: the page it was on; where the browser does not say, or a sign-in does not return there,
/// the nearest one at or above the address the form was sent to.
fn page_before(request: &HttpRequest) -> ReturnTo {
    let told = form_page(request, &Context::of(request).origin);
    let mut pages = told.as_deref().into_iter().chain(pages_for(request.path())).filter_map(ReturnTo::parse);
    pages.find(|page| page.allowed(urls::RETURN_TARGETS)).unwrap_or_else(ReturnTo::home)
}

fn links(request: &HttpRequest, failure: &WebError, context: &Context) -> Vec<Link> {
    let mut links: Vec<Link> = failure.ways.iter().map(|(label, href)| Link { label, href: href.clone() }).collect();
    let readable = is_readable(request);
    if let Some(href) = sign_in(request, failure) {
        links.push(Link { label: if failure.steps_up() { "Sign in once more" } else { "Sign in" }, href });
    } else if failure.status == StatusCode::SERVICE_UNAVAILABLE && readable {
        let here = request.uri().path_and_query().map_or("/", |path| path.as_str());
        links.push(Link { label: "Load this page again", href: here.to_owned() });
    } else if let (true, Some(href)) = (links.is_empty() && !readable, form_page(request, &context.origin)) {
        links.push(Link { label: "Back to the page", href });
    }
    if context.site.is_some() && !is_public(request) {
        links.push(Link { label: "Home", href: urls::HOME.to_owned() });
    }
    links
}

fn page<'a>(request: &HttpRequest, failure: &'a WebError) -> ErrorPage<'a> {
    let context = Context::of(request);
    let public = is_public(request);
    let links = links(request, failure, &context);
    let signs_in = failure.sign_in.is_some() && !failure.steps_up();
    let reader = request.extensions().get::<Reader>().map(|reader| reader.0.clone());
    let user = reader.filter(|_| !public && !signs_in);
    let site = context.site.as_ref();
    ErrorPage {
        chrome: Chrome {
            title: failure.title.to_owned(),
            part: "",
            site: site.map_or_else(SiteView::nobody, |site| SiteView::of(site)),
            assets: AssetLinks::current(),
            csrf: user.as_ref().map(|user| user.csrf().to_owned()).unwrap_or_default(),
            user: user.as_ref().map(|user| UserView::of(&user.principal, false)),
            request_id: context.request_id,
            flash: None,
            // While the store is away nobody can sign in, and whoever is signed in still is. A link of the page itself knows
            // the way back.
            offers_sign_in: site.is_some() && !public && !signs_in && failure.status != StatusCode::SERVICE_UNAVAILABLE,
        },
        title: failure.title,
        words: &failure.words,
        hint: match (failure.steps_up(), is_readable(request)) {
            (true, true) => "Nothing is lost by it.",
            (false, false) if failure.explains => NOTHING_CHANGED,
            _ => failure.hint,
        },
        retry_after: failure.retry_after,
        links,
    }
}
