//! A small portal behind a socket, with a browser that knows no more than cookies.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_session::Session;
use actix_web::dev::Service as _;
use actix_web::{App, HttpMessage as _, HttpResponse, HttpServer, web};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::gateway::audit::{Audit, Limits};
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{CookieSettings, LoginId, Portal, Sessions, Settings, SignedIn, TokenSet, Tokens, Visit};
use crate::gateway::store::tests::bench::Bench;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

pub(super) const COOKIE: &str = "__Host-cardea";
pub(super) const IDLE: Duration = Duration::from_mins(30);
pub(super) const ABSOLUTE: Duration = Duration::from_hours(8);

/// What the handlers of one server share.
#[derive(Clone)]
struct Shared {
    tokens: Tokens,
    clock: Clock,
    /// How many slow requests have begun, and a permit for each that may go on.
    begun: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
    /// The newest sign-in of each user.
    logins: Arc<Mutex<HashMap<String, LoginId>>>,
}

/// A running portal.
pub(super) struct Site {
    pub(super) address: SocketAddr,
    pub(super) sessions: Sessions,
    pub(super) audit: Audit,
    shared: Shared,
}

pub(super) fn ring(ids: &[&str]) -> Arc<Ring> {
    Arc::new(Ring::new(ids.iter().map(|id| ((*id).to_owned(), vec![id.as_bytes()[1]; 32]))).unwrap())
}

pub(super) fn settings() -> Settings {
    Settings {
        cookie: CookieSettings { name: COOKIE.to_owned(), secure: true },
        idle: IDLE,
        absolute: ABSOLUTE,
        step_up: Duration::from_mins(15),
        extend_every: Duration::from_mins(1),
        copy_life: Duration::from_secs(1),
        copies: 1000,
        stream_check: Duration::from_secs(1),
        policies: None,
    }
}

/// An audit trail in the store of `bench`.
pub(super) fn audit(bench: &Bench, ring: &Arc<Ring>) -> Audit {
    Audit::new(bench.store.clone(), Arc::clone(ring), bench.clock.clone(), Limits::PLENTY, &bench.shutdown)
}

pub(super) fn user(tenant: &TenantId, subject: &str) -> Principal {
    Principal {
        tenant: tenant.clone(),
        issuer: "https://id.example".to_owned(),
        subject: subject.to_owned(),
        name: format!("name of {subject}").into(),
        email: format!("{subject}@mail.example").into(),
        role: Role::Member,
    }
}

pub(super) fn tokens_of(subject: &str) -> TokenSet {
    TokenSet {
        access: Secret::new(format!("access-of-{subject}")),
        refresh: Some(Secret::new(format!("refresh-of-{subject}"))),
        id_token: Some(Secret::new(format!("id-of-{subject}"))),
        issued_at: Timestamp(1_700_000_000_000),
        expires_at: Timestamp(1_700_000_300_000),
    }
}

impl Site {
    pub(super) fn open(bench: &Bench) -> Self {
        Self::with(bench, settings(), ring(&["k1"]))
    }

    pub(super) fn with(bench: &Bench, settings: Settings, ring: Arc<Ring>) -> Self {
        let tokens = Tokens::new(bench.store.clone(), Arc::clone(&ring), settings.absolute);
        let audit = audit(bench, &ring);
        let (store, clock) = (bench.store.clone(), bench.clock.clone());
        let sessions = Sessions::new(store, ring, clock, audit.clone(), settings, &bench.shutdown).unwrap();
        let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let shared = Shared { tokens, clock: bench.clock.clone(), begun, go_on, logins: Arc::default() };
        let (for_app, state) = (sessions.clone(), shared.clone());
        let server = HttpServer::new(move || {
            let pages = web::scope("/portal")
                .wrap(for_app.layer())
                .route("/me", web::get().to(me))
                .route("/poll", web::get().to(poll))
                .route("/slow", web::get().to(slow))
                .route("/sign-in/{user}", web::post().to(sign_in))
                .route("/standing", web::get().to(standing))
                .route("/rename/{name}", web::post().to(rename))
                .route("/promote", web::post().to(promote))
                .route("/deadlines", web::get().to(deadlines))
                .route("/sign-out", web::post().to(sign_out));
            App::new()
                .app_data(web::Data::new(state.clone()))
                .service(pages)
                .route("/public", web::get().to(HttpResponse::Ok))
                .wrap_fn(|request, next| {
                    let agent = request.headers().get("user-agent").and_then(|value| value.to_str().ok()).unwrap_or_default();
                    let (network, request_id) = ("192.0.2.0/24".to_owned(), "r1".to_owned());
                    request.extensions_mut().insert(Visit { network, request_id, agent: agent.to_owned() });
                    let host = request.connection_info().host().to_owned();
                    if let Ok(tenant) = TenantId::parse(host.strip_suffix(".test").unwrap_or_default()) {
                        request.extensions_mut().insert(tenant);
                    }
                    next.call(request)
                })
        })
        .workers(2)
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .unwrap();
        let address = server.addrs()[0];
        let running = server.run();
        bench.shutdown.spawn(async move {
            let _ = running.await;
        });
        Self { address, sessions, audit, shared }
    }

    /// The newest sign-in of a user.
    pub(super) fn login_of(&self, subject: &str) -> LoginId {
        self.shared.logins.lock().unwrap()[subject].clone()
    }

    /// Sends a request as a browser of `tenant` with `cookie` (name=value) would.
    pub(super) async fn ask(&self, tenant: &TenantId, line: &str, cookie: Option<&str>) -> Answer {
        let cookie = cookie.map(|cookie| format!("Cookie: other=1; {cookie}; more=2\r\n")).unwrap_or_default();
        let text = format!("{line} HTTP/1.1\r\nHost: {tenant}.test\r\nConnection: close\r\nContent-Length: 0\r\n{cookie}\r\n");
        self.send(&text).await
    }

    /// Sends a request as it is.
    pub(super) async fn send(&self, text: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        Answer(answer)
    }

    /// Signs a user in and returns the cookie.
    pub(super) async fn sign_in(&self, tenant: &TenantId, subject: &str, cookie: Option<&str>) -> String {
        let answer = self.ask(tenant, &format!("POST /portal/sign-in/{subject}"), cookie).await;
        assert_eq!(answer.status(), 200);
        answer.cookie().unwrap()
    }

    /// 200 or 401, or 503.
    pub(super) async fn me(&self, tenant: &TenantId, cookie: &str) -> u16 {
        self.ask(tenant, "GET /portal/me", Some(cookie)).await.status()
    }

    /// Waits until `many` more slow requests have read their session.
    pub(super) async fn slow_ones_begun(&self, many: u32) {
        tokio::time::timeout(Duration::from_secs(20), self.shared.begun.acquire_many(many)).await.unwrap().unwrap().forget();
    }

    /// Lets `many` slow requests go on.
    pub(super) fn let_go_on(&self, many: usize) {
        self.shared.go_on.add_permits(many);
    }
}

/// An answer as text.
pub(super) struct Answer(pub(super) String);

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.0.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
    }

    pub(super) fn body(&self) -> &str {
        self.0.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let head = self.0.split("\r\n\r\n").next()?;
        head.lines()
            .find_map(|line| line.split_once(": ").filter(|(have, _)| have.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    }

    /// The session cookie that was set, as `name=value`.
    pub(super) fn cookie(&self) -> Option<String> {
        let set = self.header("set-cookie")?;
        set.split(';').next().filter(|pair| pair.starts_with(COOKIE)).map(str::to_owned)
    }
}

async fn me(portal: Portal) -> HttpResponse {
    match portal.signed_in() {
        Some(signed_in) => HttpResponse::Ok().body(signed_in.principal.name.text()),
        None => HttpResponse::Unauthorized().finish(),
    }
}

async fn poll(portal: Portal) -> HttpResponse {
    portal.quiet();
    me(portal).await
}

/// Reads the session, waits, and then changes it, as a long request of another tab would.
async fn slow(portal: Portal, session: Session, shared: web::Data<Shared>) -> HttpResponse {
    let status = if portal.signed_in().is_some() { HttpResponse::Ok() } else { HttpResponse::Unauthorized() };
    shared.begun.add_permits(1);
    shared.go_on.acquire().await.unwrap().forget();
    session.insert("note", 1).unwrap();
    let mut status = status;
    status.finish()
}

async fn sign_in(
    portal: Portal,
    tenant: web::ReqData<TenantId>,
    subject: web::Path<String>,
    shared: web::Data<Shared>,
) -> HttpResponse {
    let login = LoginId::new().unwrap();
    if shared.tokens.store(&login, &user(&tenant, &subject), &tokens_of(&subject)).await.is_err() {
        return HttpResponse::ServiceUnavailable().finish();
    }
    shared.logins.lock().unwrap().insert(subject.clone(), login.clone());
    let signed_in = portal.sign_in(user(&tenant, &subject), login, None).unwrap();
    HttpResponse::Ok().body(signed_in.csrf().to_owned())
}

async fn standing(portal: Portal) -> HttpResponse {
    let Some(signed_in) = portal.signed_in() else { return HttpResponse::Unauthorized().finish() };
    HttpResponse::Ok().body(format!("{:?} {}", signed_in.principal.role, signed_in.generation()))
}

async fn rename(portal: Portal, name: web::Path<String>) -> HttpResponse {
    let principal = portal.signed_in().unwrap().principal;
    portal.update(Principal { name: name.into_inner().into(), ..principal });
    HttpResponse::Ok().finish()
}

async fn promote(portal: Portal) -> HttpResponse {
    let Some(SignedIn { principal, .. }) = portal.signed_in() else { return HttpResponse::Unauthorized().finish() };
    portal.update(Principal { role: Role::Administrator, ..principal });
    HttpResponse::Ok().finish()
}

/// Milliseconds until the two ends of the session.
async fn deadlines(portal: Portal, shared: web::Data<Shared>) -> HttpResponse {
    portal.quiet();
    let (ends, now) = (portal.deadlines().unwrap(), shared.clock.now());
    HttpResponse::Ok().body(format!("{} {}", ends.idle.since(now).as_millis(), ends.absolute.since(now).as_millis()))
}

async fn sign_out(portal: Portal) -> HttpResponse {
    portal.sign_out();
    HttpResponse::Ok().finish()
}
