//! A portal with two tenants on an embedded store, a scanning service that answers as told, and a browser.

use std::collections::{HashMap, HashSet};
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use actix_web::cookie::Cookie;
use actix_web::dev::ServiceResponse;
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::from_fn;
use actix_web::test::TestRequest;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, test};
use futures_util::future::LocalBoxFuture;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::rig;
use crate::config::gateway::Gateway as Settings;
use crate::contract::shares::ShareType;
use crate::gateway::audit::{Line, Wanted};
use crate::gateway::domain::audit::Event;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::share_entry::{Access, Entry, Maker, Mark, Outcome};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::ledger::{Ledger, LedgerError};
use crate::gateway::services::{Actor, Services};
use crate::gateway::session::{LoginId, Portal, Sessions, TokenSet, Tokens};
use crate::gateway::store::tests::bench::until;
use crate::gateway::vault::ServerKeys;
use crate::gateway::web::error::see_other;
use crate::gateway::web::middleware::request::Callers;
use crate::gateway::web::middleware::{csrf, error_page, headers, request, tenant};
use crate::gateway::web::routes;
use crate::gateway::web::server::{Guard, Parts};
use crate::gateway::web::site::Sites;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;

pub(super) const USER_TOKEN: &str = "user-token-of-alice";
pub(super) const GOOD_KEY: &str = "sk-good-0123456789-LAST";
/// Breaks out of text, attributes and scripts where nothing escapes.
pub(super) const XSS: &str =
    "\"'><script>alert(1)</script><img src=x onerror=alert(2)><a href=javascript:alert(3)>x</a>{{7*7}}\u{202e}";

/// What the service holds and what was asked of it.
#[derive(Default)]
pub(super) struct Fake {
    pub(super) shares: HashMap<String, FakeShare>,
    /// Method, path, authorization, body.
    pub(super) asked: Vec<(String, String, String, String)>,
    /// Answers every call with this status instead.
    pub(super) broken: Option<u16>,
    /// Answers calls of this method and end of path with this status instead.
    pub(super) broken_at: Option<(&'static str, &'static str, u16)>,
    /// Public shares want the key, and get this refusal without it.
    pub(super) public_wants_key: Option<Value>,
    /// The report as a PDF.
    pub(super) pdf: Pdf,
    /// Begins the report and never ends it.
    pub(super) report_stays: bool,
    /// Findings and chains have credentials in titles and wherever else no sentence is, too.
    pub(super) careless: bool,
    /// Answers of addresses with this are kept back, with what was true when they were asked for.
    pub(super) slow: Option<&'static str>,
    next: u32,
}

/// A PDF on its way.
#[derive(Clone, Default)]
pub(super) struct Pdf {
    pub(super) bytes: Vec<u8>,
    /// It comes in pieces and its size is not told.
    pub(super) is_chunked: bool,
    pub(super) end: End,
    /// All of its bytes have gone out.
    pub(super) is_out: Arc<AtomicBool>,
}

/// What happens behind the bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing, for ever.
    Held,
}

impl Pdf {
    fn answer(self) -> HttpResponse {
        let mut answer = HttpResponse::Ok();
        answer.content_type("application/pdf");
        if !self.is_chunked {
            answer.no_chunking(self.bytes.len() as u64 + u64::from(self.end != End::Whole));
        }
        let pieces: Vec<_> = self.bytes.chunks(1000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let pieces = stream::iter(pieces);
        let cut = stream::iter([Err(std::io::Error::other("cut"))]);
        match self.end {
            End::Whole => answer.streaming(pieces),
            End::Cut => answer.streaming(pieces.chain(cut)),
            End::Held => {
                let is_out = self.is_out;
                let told = stream::poll_fn(move |_| {
                    is_out.store(true, Ordering::Relaxed);
                    Poll::Pending
                });
                answer.streaming(pieces.chain(told))
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct FakeShare {
    pub(super) kind: &'static str,
    pub(super) code: Option<String>,
    pub(super) body: Value,
}

pub(super) type State = Arc<Mutex<Fake>>;

impl Fake {
    /// What the service tells, as careless as it is.
    fn told(&self, mut body: Value) -> Value {
        if self.careless {
            spill(&mut body);
        }
        body
    }
}

fn spill(value: &mut Value) {
    const FIELDS: [&str; 9] = ["projectName", "title", "category", "location", "path", "className", "method", "apiPath", "cweId"];
    match value {
        Value::Array(all) => all.iter_mut().for_each(spill),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(text) if FIELDS.contains(&name.as_str()) => {
                        text.insert_str(0, "Cookie: sid=TOPSECRET99\n");
                    }
                    field => spill(field),
                }
            }
        }
        _ => {}
    }
}

fn row() -> Value {
    json!({
        "vulId": "v1", "taskId": "t1", "severity": "CRITICAL", "title": format!("Title {XSS}"), "category": XSS, "cweId": XSS,
        "cveIds": [XSS], "description": format!("line one\n{XSS}\nSent with Cookie: sid=TOPSECRET99"), "confidence": XSS,
        "component": {"name": XSS, "version": XSS, "purl": XSS, "path": XSS}, "fixedVersion": XSS,
    })
}

fn fix() -> String {
    json!({
        "principle": XSS, "fixExplanation": format!("{XSS}\nNot with Authorization: Bearer TOPSECRET99"),
        "code_example": {"before": format!("BEFORE-OF-IT {XSS}"), "after": format!("AFTER-OF-IT {XSS}")},
    })
    .to_string()
}

fn detail() -> Value {
    let mut detail = row();
    let more = json!({
        "taskLang": XSS, "location": XSS, "verifyResult": XSS, "aliases": [XSS], "affectedRange": XSS, "published": XSS,
        "pocScript": format!("curl -H 'Cookie: sid=TOPSECRET99' https://a\n{XSS}"), "pocScriptOutput": XSS,
        "evidence": [{"kind": XSS, "path": XSS, "detail": format!("Authorization: Bearer TOPSECRET99\n{XSS}")}],
        "references": [{"type": XSS, "title": XSS, "url": "javascript:alert(4)"}, {"type": "A", "url": format!("https://evil.example/{XSS}")}],
        "fixSuggestion": fix(),
        "source": {"file": XSS, "method": XSS, "message": format!("{XSS} SOURCE-OF-IT")}, "codeSnippet": [XSS],
    });
    for (name, value) in more.as_object().unwrap() {
        detail[name] = value.clone();
    }
    detail
}

fn chain(id: &str, vul: &str) -> Value {
    let step = |kind: &str, vul: Value| {
        json!({"kind": kind, "vulId": vul, "category": XSS, "severity": XSS, "apiMethod": XSS, "apiPath": XSS, "description": XSS,
            "className": XSS, "method": XSS, "path": XSS, "file": XSS, "line": 7, "pocScript": format!("Cookie: sid=TOPSECRET99\n{XSS}")})
    };
    json!({"vulId": id, "taskId": "t1", "title": format!("Chain {XSS}"), "category": XSS, "severity": "HIGH", "description": XSS,
        "impact": XSS, "precondition": XSS, "fixSuggestion": fix(), "vulIds": [vul, "not-shared"],
        "steps": [step("entry", Value::Null), step(XSS, Value::Null), step("sink", json!(vul))]})
}

fn entry(id: &str, needs_code: bool, now: Timestamp) -> Entry {
    let maker = Maker { key: "maker".to_owned(), name: XSS.into() };
    Entry {
        project: XSS.into(),
        ends: Some(now.after(Duration::from_hours(24))),
        needs_code,
        ..Entry::new(id.parse().unwrap(), "t1".parse().unwrap(), ShareType::Report, maker, now, 180)
    }
}

fn refused(status: u16) -> HttpResponse {
    HttpResponse::build(StatusCode::from_u16(status).unwrap())
        .json(json!({"success": false, "message": XSS, "data": {"errCode": u32::from(status) * 10}}))
}

async fn answer(request: HttpRequest, body: Bytes, state: Data<Mutex<Fake>>) -> HttpResponse {
    let answer = answered(&request, &body, &state);
    while state.lock().unwrap().slow.is_some_and(|slow| request.path().contains(slow)) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    answer
}

fn answered(request: &HttpRequest, body: &Bytes, state: &Mutex<Fake>) -> HttpResponse {
    let path = request.uri().path().strip_prefix("/scanner/api").unwrap_or_default().to_owned();
    let bearer = request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let sent: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let mut fake = state.lock().unwrap();
    fake.asked.push((request.method().to_string(), path.clone(), bearer.clone(), String::from_utf8_lossy(body).into_owned()));
    if let Some(status) = fake.broken {
        return refused(status);
    }
    if let Some((method, end, status)) = fake.broken_at
        && request.method() == method
        && path.ends_with(end)
    {
        return refused(status);
    }
    if let Some(rest) = path.strip_prefix("/v1/shares/public/") {
        if let Some(refusal) = fake.public_wants_key.as_ref().filter(|_| bearer != format!("Bearer {GOOD_KEY}")) {
            return HttpResponse::Unauthorized().json(refusal);
        }
        return public(&fake, request.method(), rest, &sent);
    }
    let user = bearer == format!("Bearer {USER_TOKEN}");
    if !user && bearer != format!("Bearer {GOOD_KEY}") {
        return refused(401);
    }
    if path.starts_with("/v1/shares") {
        return shares(&mut fake, request.method(), &path, &sent);
    }
    match (request.method().as_str(), path.as_str()) {
        ("POST", "/v1/tasks/delete") => HttpResponse::Ok().finish(),
        ("POST", "/v1/tasks/t1/results/search") => HttpResponse::Ok().json(fake.told(json!({"data": [row()], "total": 1}))),
        ("POST", "/v1/tasks/t1/exploit-chains/search") => {
            let chains = [chain("c1", "v1"), chain("c2", "not-shared")];
            HttpResponse::Ok().json(fake.told(json!({"data": chains, "total": 2})))
        }
        ("POST", "/v1/tasks/search") => HttpResponse::Ok().json(json!({"data": [], "total": 0})),
        ("GET", "/v1/tasks/t1") => HttpResponse::Ok().json(json!({"taskId": "t1", "projectName": XSS, "taskStatus": "SUCCESS",
            "resultsStat": {"total": 1, "criticalCount": 1, "highCount": 0, "mediumCount": 0, "lowCount": 0}})),
        ("GET", "/v1/tasks/t1/results/v1") => HttpResponse::Ok().json(fake.told(detail())),
        ("GET", "/v2/tasks/t1/report") if request.query_string().contains("pdf") => fake.pdf.clone().answer(),
        ("GET", "/v2/tasks/t1/report") if fake.report_stays => {
            let begun = stream::once(async { Ok::<_, actix_web::Error>(Bytes::from_static(b"<html><body>begun")) });
            HttpResponse::Ok().content_type("text/html").streaming(begun.chain(stream::pending()))
        }
        ("GET", "/v2/tasks/t1/report") => {
            HttpResponse::Ok().content_type("text/html").body(format!("report with {} {XSS}", request.query_string()))
        }
        _ => refused(404),
    }
}

fn shares(fake: &mut Fake, method: &Method, path: &str, sent: &Value) -> HttpResponse {
    match (method.as_str(), path) {
        ("POST", "/v1/shares/generate-id") => {
            fake.next += 1;
            let id = format!("made-share-{}", fake.next);
            HttpResponse::Ok().json(json!({"shareId": id}))
        }
        ("POST", "/v1/shares") => {
            let kind = if sent["shareType"] == "REPORT" { "REPORT" } else { "VUL" };
            let code = sent["extractionCode"].as_str().map(str::to_owned);
            let share = FakeShare { kind, code, body: sent.clone() };
            fake.shares.insert(sent["shareId"].as_str().unwrap().to_owned(), share);
            HttpResponse::Ok().json(json!({"shareId": sent["shareId"], "expiredAt": sent["expiredAt"]}))
        }
        ("POST", "/v1/shares/search") => {
            let rows: Vec<Value> = fake
                .shares
                .iter()
                .map(|(id, share)| {
                    json!({"shareId": id, "taskId": "t1", "projectName": XSS, "shareType": share.kind, "vulIds": ["v1"],
                        "needExtractionCode": share.code.is_some(), "expiredAt": null, "createdAt": "2026-11-28T01:00:00Z", "createdBy": XSS})
                })
                .collect();
            HttpResponse::Ok().json(json!({"total": rows.len(), "data": rows}))
        }
        ("POST", "/v1/shares/delete") => {
            let ids = sent["shareIds"].as_array().unwrap();
            if ids.iter().any(|id| !fake.shares.contains_key(id.as_str().unwrap())) {
                return refused(404);
            }
            for id in ids {
                fake.shares.remove(id.as_str().unwrap());
            }
            HttpResponse::Ok().finish()
        }
        ("PATCH", path) if path.starts_with("/v1/shares/") => {
            let Some(share) = fake.shares.get_mut(&path["/v1/shares/".len()..]) else { return refused(404) };
            if let Some(code) = sent.get("extractionCode") {
                share.code = code.as_str().map(str::to_owned);
            }
            if let Some(end) = sent.get("expiredAt") {
                share.body["expiredAt"] = end.clone();
            }
            HttpResponse::Ok().finish()
        }
        _ => refused(404),
    }
}

fn public(fake: &Fake, method: &Method, rest: &str, sent: &Value) -> HttpResponse {
    let (id, below) = rest.split_once('/').unwrap_or((rest, ""));
    let Some(share) = fake.shares.get(id) else { return refused(404) };
    let right = match (&share.code, method) {
        (None, _) => true,
        (Some(_), &Method::GET) => return refused(403),
        (Some(code), _) => sent["extractionCode"] == json!(code),
    };
    if !right {
        return refused(403);
    }
    match below {
        "" => HttpResponse::Ok()
            .json(fake.told(json!({"shareId": id, "shareType": share.kind, "projectName": XSS, "lang": "JAVA", "taskId": "t1",
            "expiredAt": "2026-12-05T23:59:59Z", "resultsStat": {}, "vuls": [row()], "exploitChains": [chain("c1", "v1"), chain("c2", "not-shared")]}))),
        "vuls/v1" => HttpResponse::Ok().json(fake.told(detail())),
        "exploit-chains/c1" if method == Method::POST => HttpResponse::Ok().json(fake.told(chain("c1", "v1"))),
        "exploit-chains/c2" if method == Method::POST => HttpResponse::Ok().json(fake.told(chain("c2", "not-shared"))),
        _ => refused(404),
    }
}

/// Answers until the test process ends.
fn service(state: &State) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let state = Data::from(Arc::clone(state));
    std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(
            HttpServer::new(move || App::new().app_data(state.clone()).default_service(web::to(answer)))
                .workers(1)
                .disable_signals()
                .listen(listener)
                .unwrap()
                .run(),
        )
    });
    format!("http://{address}")
}

/// The portal's application: from a request to its answer.
pub(super) struct Site(pub(super) Box<dyn Fn(TestRequest) -> LocalBoxFuture<'static, ServiceResponse>>);

pub(super) struct Bench {
    pub(super) fake: State,
    pub(super) clock: Clock,
    pub(super) services: Services,
    pub(super) sessions: Sessions,
    pub(super) sites: Sites,
    guard: Guard,
    pub(super) tokens: Tokens,
    pub(super) vault: ServerKeys,
    _folder: tempfile::TempDir,
}

impl Bench {
    /// Tenants `acme` (https) and `globex` (http) at the same service.
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same with other settings.
    pub(super) fn with(adjust: impl FnOnce(&mut Settings)) -> Self {
        let fake = State::default();
        let address = service(&fake);
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(Timestamp(1_795_828_230_250));
        let tenants = json!({
            "acme": rig::tenant("acme", "acme & Sons", &address), "globex": rig::tenant("globex", "globex & Sons", &address),
        });
        let built = rig::rig(&tenants, &json!({"form_bytes": 65536}), folder.path(), &clock, |settings| {
            settings.tenants.get_mut("globex").unwrap().public_url = "http://globex.example".to_owned();
            adjust(settings);
        });
        let Parts { services, sessions, sites, guard, .. } = built.parts;
        Self { fake, clock, services, sessions, sites, guard, tokens: built.tokens, vault: built.vault, _folder: folder }
    }

    /// A share that acme made.
    pub(super) async fn share(&self, id: &str, kind: &'static str, code: Option<&str>) {
        self.share_with(id, kind, code, |_| {}).await;
    }

    /// The same with an entry in the ledger that is otherwise.
    pub(super) async fn share_with(&self, id: &str, kind: &'static str, code: Option<&str>, adjust: impl FnOnce(&mut Entry)) {
        let share = FakeShare { kind, code: code.map(str::to_owned), body: Value::Null };
        self.fake.lock().unwrap().shares.insert(id.to_owned(), share);
        let (acme, now) = (TenantId::parse("acme").unwrap(), self.clock.now());
        let mut entry = entry(id, code.is_some(), now);
        entry.check = code.map(|code| Ledger::check_of(&Secret::new(code)).unwrap());
        adjust(&mut entry);
        assert!(self.services.shares.ledger().begin(&acme, &entry).await.unwrap());
    }

    /// The ledger's entry of a share of acme.
    pub(super) async fn entry(&self, id: &str) -> Entry {
        let acme = TenantId::parse("acme").unwrap();
        let mark = Mark::of(&acme, &id.parse().unwrap());
        self.services.shares.ledger().entry(&acme, &mark).await.unwrap().unwrap()
    }

    /// Changes it.
    pub(super) async fn change(&self, id: &str, mut change: impl FnMut(&mut Entry)) {
        let acme = TenantId::parse("acme").unwrap();
        let mark = Mark::of(&acme, &id.parse().unwrap());
        let work = |entry: &mut Entry| {
            change(entry);
            Ok::<_, LedgerError>(())
        };
        self.services.shares.ledger().change(&acme, &mark, work).await.unwrap().unwrap();
    }

    /// Who came to a share of acme, newest first.
    pub(super) async fn accesses(&self, id: &str) -> Vec<Access> {
        let acme = TenantId::parse("acme").unwrap();
        self.services.shares.ledger().accesses(&acme, &Mark::of(&acme, &id.parse().unwrap())).await.unwrap()
    }

    /// Waits until just this is written down of a share of acme, in any order: it is written behind the answers.
    pub(super) async fn noted(&self, id: &str, expected: &[Outcome]) {
        let expected: HashSet<String> = expected.iter().map(|outcome| format!("{outcome:?}")).collect();
        until("what is written down of a share", async || {
            let accesses = self.accesses(id).await;
            let noted: HashSet<String> = accesses.iter().map(|access| format!("{:?}", access.outcome)).collect();
            noted == expected
        })
        .await;
    }

    /// An administrator of acme, for services that are asked without a request.
    pub(super) fn actor(name: &str) -> Actor {
        let (issuer, subject) = ("https://id.example".to_owned(), name.to_owned());
        let tenant = TenantId::parse("acme").unwrap();
        let principal = Principal { tenant, issuer, subject, name: name.into(), email: "".into(), role: Role::Administrator };
        Actor { principal, login: LoginId::new().unwrap(), request_id: "0".repeat(32), network: "192.0.2.0/24".to_owned() }
    }

    /// How often the service was asked for something whose path ends so.
    pub(super) fn asked(&self, path: &str) -> usize {
        self.fake.lock().unwrap().asked.iter().filter(|(_, asked, ..)| asked.ends_with(path)).count()
    }

    /// What the audit trail of acme says of deeds of this name, oldest first.
    pub(super) async fn written(&self, deed: &str) -> Vec<String> {
        self.events(deed).await.into_iter().map(|event| event.detail).collect()
    }

    /// The events themselves.
    pub(super) async fn events(&self, deed: &str) -> Vec<Event> {
        let acme = TenantId::parse("acme").unwrap();
        let listing = self.services.signin.audit.list(&acme, &Wanted::All, 100).await.unwrap();
        let events = listing.lines.into_iter().rev().filter_map(|line| match line {
            Line::Event(written) => Some(written.event),
            Line::Missing { .. } => None,
        });
        events.filter(|event| event.deed.name() == deed).collect()
    }

    /// The portal, with an extra address that signs in (`/test/sign-in/{name}/{role}`).
    pub(super) async fn portal(&self) -> Site {
        let (sites, sessions, guard) = (self.sites.clone(), self.sessions.clone(), self.guard.clone());
        let callers = Callers::nobody(self.clock.clone());
        let app = App::new()
            .app_data(Data::new(self.services.clone()))
            .app_data(Data::new(sessions.clone()))
            .app_data(Data::new(self.tokens.clone()))
            .app_data(Data::new(self.clock.clone()))
            .configure(routes::all)
            .route("/test/sign-in/{name}/{role}", web::get().to(sign_in))
            .wrap(sessions.layer())
            .wrap(from_fn(move |request, next| csrf::csrf(guard.clone(), request, next)))
            .wrap(from_fn(move |request, next| tenant::tenant(sites.clone(), request, next)))
            .wrap(from_fn(error_page::error_page))
            .wrap(from_fn(headers::headers))
            .wrap(from_fn(move |request, next| request::request(callers.clone(), request, next)));
        let service = Rc::new(test::init_service(app).await);
        Site(Box::new(move |request| {
            let service = Rc::clone(&service);
            Box::pin(async move { test::call_service(&*service, request.to_request()).await.map_into_boxed_body() })
        }))
    }
}

async fn sign_in(request: HttpRequest, tokens: Data<Tokens>, clock: Data<Clock>) -> HttpResponse {
    let context = crate::gateway::web::context::Context::of(&request);
    let tenant = context.site.unwrap().tenant.clone();
    let name = request.match_info().get("name").unwrap().to_owned();
    let role = if request.match_info().get("role") == Some("admin") { Role::Administrator } else { Role::Member };
    let login = LoginId::new().unwrap();
    let (issued_at, expires_at) = (clock.now(), clock.now().after(Duration::from_hours(10)));
    let set = TokenSet { access: Secret::new(USER_TOKEN), refresh: None, id_token: None, issued_at, expires_at };
    let (issuer, subject) = ("https://id.example".to_owned(), name.clone());
    let principal = Principal { tenant, issuer, subject, name: name.as_str().into(), email: "".into(), role };
    tokens.store(&login, &principal, &set).await.unwrap();
    Portal::of(&request).sign_in(principal, login, Some(issued_at)).unwrap();
    see_other("/shares")
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: actix_web::http::header::HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> String {
        self.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    /// The value of the first form field with this name.
    pub(super) fn field(&self, name: &str) -> String {
        let at = self.body.find(&format!("name=\"{name}\"")).unwrap_or_else(|| panic!("no field {name} in {}", self.body));
        let value = self.body[at..].split("value=\"").nth(1).unwrap();
        value.split('"').next().unwrap().to_owned()
    }

    /// No markup of the service came through, and nothing of the page needs anything inline.
    pub(super) fn is_clean(&self) {
        for bad in [
            "<script>alert",
            "<img src=x",
            "<a href=javascript",
            "href=\"javascript:",
            " style=",
            " onclick=",
            "\u{202e}",
            "TOPSECRET99",
        ] {
            assert!(!self.body.contains(bad), "{bad} in {}", self.body);
        }
        assert!(self.header("content-security-policy").contains("default-src 'none'"), "{:?}", self.headers);
        assert_eq!(self.header("cache-control"), "no-store");
    }
}

/// A browser with its cookies, at one address of the network.
pub(super) struct Browser {
    pub(super) host: &'static str,
    pub(super) address: &'static str,
    pub(super) cookies: Vec<Cookie<'static>>,
}

impl Browser {
    pub(super) fn new(host: &'static str) -> Self {
        Self { host, address: "192.0.2.7:4000", cookies: Vec::new() }
    }

    pub(super) async fn get(&mut self, portal: &Site, path: &str) -> Answer {
        self.send(portal, Method::GET, path, None).await
    }

    pub(super) async fn head(&mut self, portal: &Site, path: &str) -> Answer {
        self.send(portal, Method::HEAD, path, None).await
    }

    pub(super) async fn post(&mut self, portal: &Site, path: &str, form: &[(&str, &str)]) -> Answer {
        self.send(portal, Method::POST, path, Some(form)).await
    }

    async fn send(&mut self, portal: &Site, method: Method, path: &str, form: Option<&[(&str, &str)]>) -> Answer {
        let mut request = TestRequest::with_uri(path)
            .method(method)
            .peer_addr(self.address.parse().unwrap())
            .insert_header(("host", self.host))
            .insert_header(("accept", "text/html"))
            .insert_header(("sec-fetch-site", "same-origin"));
        for cookie in self.cookies.iter().filter(|cookie| path.starts_with(cookie.path().unwrap_or("/"))) {
            request = request.cookie(cookie.clone());
        }
        if let Some(form) = form {
            request = request.set_form(form);
        }
        let answer = (portal.0)(request).await;
        for cookie in answer.response().cookies() {
            self.cookies.retain(|old| old.name() != cookie.name());
            if !cookie.value().is_empty() {
                self.cookies.push(cookie.into_owned());
            }
        }
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = String::from_utf8(test::read_body(answer).await.to_vec()).unwrap();
        Answer { status, headers, body }
    }
}

/// Somebody signed in, with their token for forms.
pub(super) async fn signed_in(portal: &Site, host: &'static str, name: &str, role: &str) -> (Browser, String) {
    let mut browser = Browser::new(host);
    browser.get(portal, &format!("/test/sign-in/{name}/{role}")).await;
    let csrf = browser.get(portal, "/shares").await.field("csrf");
    (browser, csrf)
}

/// An administrator of acme.
pub(super) async fn alice(portal: &Site) -> (Browser, String) {
    signed_in(portal, "acme.example", "alice", "admin").await
}
