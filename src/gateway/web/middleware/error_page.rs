//! Every refusal becomes a page for people or a problem document (RFC 9457) for programs; its cause is logged once.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue, REFERER};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpRequest, HttpResponse};

use crate::gateway::session::{Portal, SignedIn};
use crate::gateway::web::context::{Context, is_public};
use crate::gateway::web::error::{Told, WebError, see_other};
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

fn log(failure: &WebError) {
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
    if let (Some(address), true) = (&failure.sign_in, navigates && !failure.explains) {
        let readable = matches!(*request.method(), Method::GET | Method::HEAD);
        let back = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let address = match &**address {
            urls::LOGIN if readable => urls::login(back),
            urls::LOGIN_AGAIN if readable => format!("{}&{}", urls::LOGIN_AGAIN, urls::pair("return_to", back)),
            other => other.to_owned(),
        };
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

/// The page of ours a form was on, without script or memory: as the browser says.
fn form_page(request: &HttpRequest, origin: &str) -> Option<String> {
    let referer = request.headers().get(REFERER)?.to_str().ok()?;
    let path = referer.strip_prefix(origin)?;
    (path.starts_with('/') && !path.starts_with("//")).then(|| path.to_owned())
}

fn page<'a>(request: &HttpRequest, failure: &'a WebError) -> ErrorPage<'a> {
    let context = Context::of(request);
    let public = is_public(request);
    let user = if public { None } else { request.extensions().get::<Reader>().map(|reader| reader.0.clone()) };
    let site = context.site.as_ref();
    let mut links: Vec<Link> = failure.ways.iter().map(|(label, href)| Link { label, href: href.clone() }).collect();
    let readable = matches!(*request.method(), Method::GET | Method::HEAD);
    if failure.status == StatusCode::SERVICE_UNAVAILABLE && readable {
        let here = request.uri().path_and_query().map_or("/", |path| path.as_str());
        links.push(Link { label: "Load this page again", href: here.to_owned() });
    } else if let (true, Some(href)) = (links.is_empty() && !readable, form_page(request, &context.origin)) {
        links.push(Link { label: "Back to the page", href });
    }
    if failure.status == StatusCode::UNAUTHORIZED && !failure.resends {
        let back = request.uri().path_and_query().filter(|_| readable);
        links.push(Link { label: "Sign in", href: back.map_or(urls::LOGIN.to_owned(), |path| urls::login(path.as_str())) });
    }
    if site.is_some() && !public {
        links.push(Link { label: "Home", href: urls::HOME.to_owned() });
    }
    ErrorPage {
        chrome: Chrome {
            title: failure.title.to_owned(),
            part: "",
            site: site.map_or_else(SiteView::nobody, |site| SiteView::of(site)),
            assets: AssetLinks::current(),
            csrf: user.as_ref().map(|user| user.csrf().to_owned()).unwrap_or_default(),
            user: user.as_ref().map(|user| UserView::of(&user.principal)),
            request_id: context.request_id,
            flash: None,
            // While the store is away nobody can sign in, and whoever is signed in still is.
            offers_sign_in: site.is_some() && !public && failure.status != StatusCode::SERVICE_UNAVAILABLE,
        },
        title: failure.title,
        words: &failure.words,
        hint: failure.hint,
        retry_after: failure.retry_after,
        links,
    }
}
