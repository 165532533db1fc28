//! Remote browsers over HTTP: create for callers, and the page that is embedded, with its files and its link. The page needs
//! no credential of the interface: its address carries a token that opens it once.

use actix_web::http::header::{CONTENT_SECURITY_POLICY, HeaderMap, LOCATION, ORIGIN, REFERRER_POLICY, SEC_WEBSOCKET_PROTOCOL};
use actix_web::{HttpRequest, HttpResponse, web};
use actix_ws::{AggregatedMessage, CloseCode};
use askama::Template;
use futures_util::future::{Either, select};
use serde::Deserialize;

use super::App;
use super::error::Failure;
use crate::contract::browsers::CreatedBrowser;
use crate::platform::secret::Secret;
use crate::scanner::browser::{Link, Refused, ToPage};
use crate::scanner::identity::Caller;

/// The protocol of the link; the page's token stands beside it, so that it is in no address.
const PROTOCOL: &str = "cardea-browser";
const TOKEN_PREFIX: &str = "token.";
/// The longest message of a page, in bytes.
const LONGEST_MESSAGE: usize = 256 << 10;
const SCRIPT: &str = include_str!("../../../static/js/remote-browser.js");
const STYLE: &str = include_str!("../../../static/css/remote-browser.css");

/// Where the page is, and who may show it.
pub(in crate::scanner) struct Place {
    /// Without a trailing slash.
    pub(in crate::scanner) public_url: String,
    origin: String,
    policy: String,
    /// As a list in JSON, for the page's script.
    parents: String,
}

#[derive(Template)]
#[template(path = "scanner_browser/page.html")]
struct Page<'a> {
    id: &'a str,
    token: &'a str,
    parents: &'a str,
}

#[derive(Template)]
#[template(path = "scanner_browser/gone.html")]
struct Gone;

#[derive(Deserialize)]
pub(super) struct Opening {
    token: String,
}

impl Place {
    pub(in crate::scanner) fn new(public_url: String, parents: &[String]) -> Self {
        let origin = url::Url::parse(&public_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        // Not every browser counts the own origin's socket among 'self'.
        let socket = origin.replacen("http", "ws", 1);
        let ancestors = if parents.is_empty() { "'none'".to_owned() } else { parents.join(" ") };
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' {socket}; base-uri 'none'; \
             form-action 'none'; frame-ancestors {ancestors}"
        );
        let parents = serde_json::Value::from(parents).to_string();
        Self { public_url, origin, policy, parents }
    }
}

/// `POST /browsers`. Needs neither body nor content type.
pub(super) async fn create(app: web::Data<App>, caller: Caller) -> Result<HttpResponse, Failure> {
    let opened = app.browsers.open(&caller.account).await.map_err(|refused| match refused {
        Refused::NoBrowser => Failure::no_browser(),
        Refused::Busy(wait) => Failure::no_place(wait),
    })?;
    let url = format!("{}/browsers/{}?token={}", app.browser_place.public_url, opened.id, opened.token.expose());
    Ok(HttpResponse::Ok().json(CreatedBrowser { url, browser_box_id: opened.id }))
}

/// `GET /browsers/{id}?token=…`: the page to embed.
pub(super) async fn page(app: web::Data<App>, id: web::Path<String>, query: Option<web::Query<Opening>>) -> HttpResponse {
    let token = query.map(|query| Secret::new(query.into_inner().token));
    let page = token.and_then(|token| app.browsers.enter(&id, &token));
    let (mut answer, text) = match &page {
        Some(page) => {
            let page = Page { id: &id, token: page.expose(), parents: &app.browser_place.parents };
            (HttpResponse::Ok(), page.render())
        }
        None => (HttpResponse::NotFound(), Gone.render()),
    };
    answer.content_type("text/html; charset=utf-8");
    answer.insert_header((CONTENT_SECURITY_POLICY, app.browser_place.policy.as_str()));
    answer.insert_header((REFERRER_POLICY, "no-referrer"));
    match text {
        Ok(text) => answer.body(text),
        Err(error) => actix_web::ResponseError::error_response(&Failure::internal(error)),
    }
}

/// The script of the page.
pub(super) async fn script() -> HttpResponse {
    HttpResponse::Ok().content_type("text/javascript; charset=utf-8").body(SCRIPT)
}

/// The style of the page.
pub(super) async fn style() -> HttpResponse {
    HttpResponse::Ok().content_type("text/css; charset=utf-8").body(STYLE)
}

/// `GET /browsers/{id}/link`: the socket between the page and its session.
pub(super) async fn link(
    app: web::Data<App>,
    id: web::Path<String>,
    request: HttpRequest,
    body: web::Payload,
) -> Result<HttpResponse, actix_web::Error> {
    let from_page = request.headers().get(ORIGIN).is_some_and(|origin| origin.as_bytes() == app.browser_place.origin.as_bytes());
    let token = token(request.headers()).filter(|_| from_page);
    let Some(link) = token.and_then(|token| app.browsers.link(&id, &token)) else {
        return Err(Failure::forbidden("This link belongs to the page of a remote browser.").into());
    };
    let (mut answer, socket, messages) = actix_ws::handle_with_protocols(&request, body, &[PROTOCOL])?;
    answer.headers_mut().remove(LOCATION);
    let messages = messages.max_frame_size(LONGEST_MESSAGE).aggregate_continuations().max_continuation_size(LONGEST_MESSAGE);
    #[expect(clippy::disallowed_methods, reason = "a socket cannot leave its worker; this ends with the socket or the session")]
    actix_web::rt::spawn(carry(link, socket, messages));
    Ok(answer)
}

fn token(headers: &HeaderMap) -> Option<Secret> {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).filter_map(|value| value.to_str().ok());
    let token = offered.flat_map(|value| value.split(',')).find_map(|word| word.trim().strip_prefix(TOKEN_PREFIX));
    token.map(Secret::new)
}

/// Carries messages both ways until either side ends.
async fn carry(mut link: Link, mut socket: actix_ws::Session, mut messages: actix_ws::AggregatedMessageStream) {
    loop {
        let next = {
            let told = std::pin::pin!(link.next());
            let asked = std::pin::pin!(messages.recv());
            match select(told, asked).await {
                Either::Left((told, _)) => Either::Left(told),
                Either::Right((asked, _)) => Either::Right(asked),
            }
        };
        let goes_on = match next {
            Either::Left(Some(ToPage::Text(text))) => socket.text(text).await.is_ok(),
            Either::Left(Some(ToPage::Frame(frame))) => socket.binary(frame).await.is_ok(),
            Either::Left(None) => {
                let _ = socket.close(Some(CloseCode::Normal.into())).await;
                return;
            }
            Either::Right(Some(Ok(AggregatedMessage::Text(text)))) => link.send(text.to_string()).await,
            Either::Right(Some(Ok(AggregatedMessage::Ping(bytes)))) => socket.pong(&bytes).await.is_ok(),
            Either::Right(Some(Ok(AggregatedMessage::Pong(_)))) => true,
            Either::Right(_) => false,
        };
        if !goes_on {
            let _ = socket.close(None).await;
            return;
        }
    }
}
