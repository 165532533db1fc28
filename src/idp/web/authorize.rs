//! The authorization endpoint (RFC 6749 4.1.1, RFC 7636, RFC 9207) and the login form on it. Until client and address are
//! checked, an error is a page here; after that it goes back to the client.

use actix_web::http::StatusCode;
use actix_web::http::header::{LOCATION, RETRY_AFTER};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use url::Url;

use crate::config::idp::Client;

use super::super::provider::Provider;
use super::super::records::{Request, Session};
use super::metadata::SCOPES;
use super::pages::{Login, Notice, cookie, form_token, is_ours, page};
use super::params::Params;
use super::{SESSION_COOKIE, session_cookie};

/// A request whose client and address are known.
struct Asked<'p> {
    client: &'p Client,
    redirect: Url,
    state: Option<String>,
    /// This page's own address, for its form and links.
    here: String,
    issuer: &'p str,
}

/// What else was asked.
struct Wish {
    request: Request,
    prompt: Prompt,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Prompt {
    Unasked,
    Never,
    Always,
}

/// `GET /oauth/authorize`.
pub(super) async fn ask(request: HttpRequest, provider: Data<Provider>) -> HttpResponse {
    let params = Params::read(request.query_string().as_bytes());
    let (asked, wish) = match read(&request, &provider, &params) {
        Ok(read) => read,
        Err(answer) => return *answer,
    };
    let now = provider.clock.now();
    let cookie = session_cookie(&request);
    let session = cookie.and_then(|cookie| provider.held().records.session(&cookie, now).cloned());
    match (session, wish.prompt) {
        (Some(session), Prompt::Unasked | Prompt::Never) => grant(&provider, &asked, wish, &session).await,
        (None, Prompt::Never) => asked.error("login_required", "nobody is signed in"),
        _ => form(&provider, &request, &asked, StatusCode::OK, ("", None)),
    }
}

/// `POST /oauth/authorize`: the login form.
pub(super) async fn sign_in(request: HttpRequest, body: Bytes, provider: Data<Provider>) -> HttpResponse {
    let params = Params::read(request.query_string().as_bytes());
    let (asked, wish) = match read(&request, &provider, &params) {
        Ok(read) => read,
        Err(answer) => return *answer,
    };
    let sent = Params::form(request.headers(), &body).unwrap_or_else(|| Params::read(b""));
    let name = sent.one("username").unwrap_or_default();
    if !is_ours(&request, sent.one("token")) {
        let problem = "This form was too old. Please sign in again.";
        return form(&provider, &request, &asked, StatusCode::FORBIDDEN, (name, Some(problem.to_owned())));
    }
    let network = request.peer_addr().map(|address| address.ip());
    let wait = provider.held().attempts.wait(name, network, provider.clock.now());
    if let Some(wait) = wait {
        let seconds = wait.as_millis().div_ceil(1000).to_string();
        let problem = format!("There were several wrong tries. Please wait {seconds} seconds and try again.");
        let mut answer = form(&provider, &request, &asked, StatusCode::TOO_MANY_REQUESTS, (name, Some(problem)));
        if let Ok(value) = seconds.parse() {
            answer.headers_mut().insert(RETRY_AFTER, value);
        }
        return answer;
    }
    let Some((name, user)) = provider.user(name, sent.one("password").unwrap_or_default()) else {
        provider.held().attempts.wrong(name, network, provider.clock.now());
        let problem = "The name or the password is not right.".to_owned();
        return form(&provider, &request, &asked, StatusCode::BAD_REQUEST, (name, Some(problem)));
    };
    provider.held().attempts.right(name, network);
    if user.organization != asked.client.organization {
        return foreign(&asked, &user.display_name);
    }
    begin(&provider, &request, &asked, wish, name).await
}

/// A new session in place of the browser's old one, and the grant.
async fn begin(provider: &Provider, request: &HttpRequest, asked: &Asked<'_>, wish: Wish, name: &str) -> HttpResponse {
    let old = session_cookie(request);
    let signed_in = provider
        .change(|held, now| {
            if let Some(old) = old {
                held.records.forget_session(&old);
            }
            held.records.sign_in(name, now)
        })
        .await;
    let Ok(Ok((secret, session))) = signed_in else {
        return asked.error("temporarily_unavailable", "please try again");
    };
    let mut answer = grant(provider, asked, wish, &session).await;
    let cookie = cookie(provider, SESSION_COOKIE, secret.expose().to_owned());
    match answer.add_cookie(&cookie) {
        Ok(()) => answer,
        Err(_) => asked.error("server_error", "please try again"),
    }
}

/// A code for a person who is signed in, unless the client is not theirs.
async fn grant(provider: &Provider, asked: &Asked<'_>, wish: Wish, session: &Session) -> HttpResponse {
    let user = provider.settings.users.get(&session.user);
    let home = user.map(|user| user.organization.as_str());
    if home != Some(&asked.client.organization) {
        if wish.prompt == Prompt::Never {
            return asked.error("interaction_required", "another person has to sign in");
        }
        return foreign(asked, user.map_or("", |user| &user.display_name));
    }
    match provider.change(|held, now| held.records.grant(wish.request, session, now)).await {
        Ok(Ok(code)) => asked.back(&[("code", code.expose())]),
        _ => asked.error("temporarily_unavailable", "please try again"),
    }
}

fn form(
    provider: &Provider,
    request: &HttpRequest,
    asked: &Asked<'_>,
    status: StatusCode,
    (name, problem): (&str, Option<String>),
) -> HttpResponse {
    let Ok((token, cookie)) = form_token(provider, request) else {
        return asked.error("server_error", "please try again");
    };
    let content = Login { client: &asked.client.name, problem, name, action: &asked.here, token: &token };
    page(HttpResponse::build(status).cookie(cookie), &content, Some(&asked.redirect))
}

/// The page for somebody of another organization.
fn foreign(asked: &Asked<'_>, who: &str) -> HttpResponse {
    let client = &asked.client.name;
    let text = format!("{who} does not belong to the organization that uses {client}. Somebody who does can sign in instead.");
    let mut again = url::form_urlencoded::Serializer::new(String::new());
    let query = asked.here.split_once('?').map_or("", |(_, query)| query);
    again.extend_pairs(url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name != "prompt"));
    again.append_pair("prompt", "login");
    Notice::new(format!("No access to {client}"), text)
        .link("Sign in as someone else", format!("/oauth/authorize?{}", again.finish()))
        .link(format!("Back to {client}"), asked.address(&[("error", "access_denied")]))
        .answer(StatusCode::FORBIDDEN)
}

/// Client and address first: as long as they are not known, nothing is sent anywhere.
fn read<'p>(request: &HttpRequest, provider: &'p Provider, params: &Params) -> Result<(Asked<'p>, Wish), Box<HttpResponse>> {
    let wrong = |text: &str| Box::new(Notice::new("This sign-in link does not work", text).answer(StatusCode::BAD_REQUEST));
    let id = params.one("client_id").unwrap_or_default();
    let client = provider.settings.clients.get(id);
    let client = client.ok_or_else(|| wrong("The application that sent you here is not known. Please go back and try again."))?;
    let redirect_uri = params.one("redirect_uri").unwrap_or_default();
    let redirect = client.redirect_uris.iter().find(|known| *known == redirect_uri).and_then(|known| Url::parse(known).ok());
    let redirect = redirect.ok_or_else(|| wrong("The address to return to is not one of the application's own."))?;
    let asked = Asked {
        client,
        redirect,
        state: params.one("state").map(str::to_owned),
        here: format!("/oauth/authorize?{}", request.query_string()),
        issuer: &provider.settings.issuer,
    };
    let wish = match wish(params, id, redirect_uri) {
        Ok(wish) => wish,
        Err((code, description)) => return Err(Box::new(asked.error(code, description))),
    };
    Ok((asked, wish))
}

fn wish(params: &Params, client: &str, redirect_uri: &str) -> Result<Wish, (&'static str, &'static str)> {
    let get = |name: &str| params.get(name).map_err(|_| ("invalid_request", "a parameter is there more than once"));
    get("state")?;
    match get("response_type")? {
        Some("code") => {}
        Some(_) => return Err(("unsupported_response_type", "only code is offered")),
        None => return Err(("invalid_request", "response_type is missing")),
    }
    if !matches!(get("response_mode")?, None | Some("query")) {
        return Err(("invalid_request", "only response_mode query is offered"));
    }
    let challenge = match (get("code_challenge")?, get("code_challenge_method")?) {
        (None, None) => None,
        (Some(challenge), Some("S256")) if challenge.len() == 43 => Some(challenge.to_owned()),
        _ => return Err(("invalid_request", "the code challenge must be S256")),
    };
    let prompt = match get("prompt")? {
        None | Some("consent") => Prompt::Unasked,
        Some("none") => Prompt::Never,
        Some("login" | "select_account") => Prompt::Always,
        Some(_) => return Err(("invalid_request", "this prompt is not offered")),
    };
    let scope = get("scope")?.unwrap_or_default();
    let scope: Vec<&str> = scope.split(' ').filter(|scope| SCOPES.contains(scope)).collect();
    let request = Request {
        client: client.to_owned(),
        redirect_uri: redirect_uri.to_owned(),
        scope: scope.join(" "),
        challenge,
        nonce: get("nonce")?.map(str::to_owned),
    };
    Ok(Wish { request, prompt })
}

impl Asked<'_> {
    /// The client's address with an outcome, the client's state and our name (RFC 9207).
    fn address(&self, outcome: &[(&str, &str)]) -> String {
        let mut url = self.redirect.clone();
        url.query_pairs_mut()
            .extend_pairs(outcome)
            .extend_pairs(self.state.iter().map(|state| ("state", state)))
            .append_pair("iss", self.issuer);
        url.into()
    }

    fn back(&self, outcome: &[(&str, &str)]) -> HttpResponse {
        HttpResponse::SeeOther().insert_header((LOCATION, self.address(outcome))).finish()
    }

    fn error(&self, code: &str, description: &str) -> HttpResponse {
        self.back(&[("error", code), ("error_description", description)])
    }
}
