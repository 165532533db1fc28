//! A portal with a session, and a client that can be slow, rude or gone.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PayloadConfig};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use serde_json::json;

use super::scan_service::{Service, serve};

use super::rig::{self, Rig};
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{LoginId, Portal, TokenSet, Tokens};
use crate::gateway::web::middleware::request::Callers;
use crate::gateway::web::middleware::{csrf, error_page, headers, request, tenant};
use crate::gateway::web::routes;
use crate::gateway::web::server::Parts;
use crate::platform::clock::Clock;
use crate::platform::secret::Secret;

fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Limits: 8 MB a file, one second of silence, a fast pulse.
fn parts(service: SocketAddr, folder: &std::path::Path, clock: &Clock) -> Rig {
    let limits = json!({
        "upload_bytes": 8_000_000, "form_bytes": 65536, "body_idle_seconds": 1, "live_minutes": 1, "live_poll_ms": 100,
    });
    let tenants = json!({"acme": rig::tenant("acme", "Acme", &format!("http://{service}"))});
    rig::rig(&tenants, &limits, folder, clock, |settings| {
        settings.session.cookie_name = "cardea".to_owned();
        settings.tenants.get_mut("acme").unwrap().public_url = "http://acme.example".to_owned();
        settings.drafts.per_person = 3;
        settings.drafts.files = 3;
        settings.drafts.accounts = 2;
        settings.drafts.session_bytes = 4096;
    })
}

async fn sign_in(request: HttpRequest, tokens: Data<Tokens>, clock: Data<Clock>) -> HttpResponse {
    let tenant = TenantId::parse("acme").unwrap();
    let login = LoginId::new().unwrap();
    let (issued_at, expires_at) = (clock.now(), clock.now().after(Duration::from_hours(10)));
    let set = TokenSet { access: Secret::new("token"), refresh: None, id_token: None, issued_at, expires_at };
    let subject = request.query_string().to_owned();
    let issuer = "https://id.example".to_owned();
    let principal = Principal { tenant, issuer, subject, name: "Alice".into(), email: "".into(), role: Role::Member };
    tokens.store(&login, &principal, &set).await.unwrap();
    Portal::of(&request).sign_in(principal, login, None).unwrap();
    HttpResponse::Ok().finish()
}

/// A running portal with one signed-in person.
pub(super) struct Bench {
    pub(super) service: Arc<Service>,
    pub(super) address: SocketAddr,
    cookie: String,
    pub(super) csrf: String,
    pub(super) clock: Clock,
    folder: Arc<tempfile::TempDir>,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::at(Clock::system())
    }

    /// With a clock that the test moves.
    pub(super) fn at(clock: Clock) -> Self {
        let own = clock.clone();
        let service = Arc::new(Service::default());
        let behind = serve(Arc::clone(&service));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let (told, address) = mpsc::channel();
        std::thread::spawn(move || {
            let (listener, address) = listening();
            actix_web::rt::System::new().block_on(async move {
                let Rig { parts: Parts { services, sessions, sites, limits, guard, .. }, tokens, .. } =
                    parts(behind, &path, &clock);
                let factory = move || {
                    let (sites, callers) = (sites.clone(), Callers::nobody(clock.clone()));
                    let guard = guard.clone();
                    App::new()
                        .app_data(PayloadConfig::new(65536))
                        .app_data(Data::new(services.clone()))
                        .app_data(Data::new(sessions.clone()))
                        .app_data(Data::new(limits.clone()))
                        .app_data(Data::new(tokens.clone()))
                        .app_data(Data::new(clock.clone()))
                        .configure(routes::all)
                        .route("/test/sign-in", web::get().to(sign_in))
                        .wrap(sessions.layer())
                        .wrap(from_fn(move |request, next| csrf::csrf(guard.clone(), request, next)))
                        .wrap(from_fn(move |request, next| tenant::tenant(sites.clone(), request, next)))
                        .wrap(from_fn(error_page::error_page))
                        .wrap(from_fn(headers::headers))
                        .wrap(from_fn(move |request, next| request::request(callers.clone(), request, next)))
                };
                let server = HttpServer::new(factory).workers(1).disable_signals().listen(listener).unwrap().run();
                told.send(address).unwrap();
                server.await
            })
        });
        let address = address.recv().unwrap();
        let nobody = Self { service, address, cookie: String::new(), csrf: String::new(), clock: own, folder: Arc::new(folder) };
        nobody.of("alice")
    }

    /// The same portal as another person, or as the same in another browser.
    pub(super) fn of(&self, subject: &str) -> Self {
        let mut bench = Self {
            service: Arc::clone(&self.service),
            address: self.address,
            cookie: String::new(),
            csrf: String::new(),
            clock: self.clock.clone(),
            folder: Arc::clone(&self.folder),
        };
        let answer = bench.get(&format!("/test/sign-in?{subject}"));
        bench.cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        bench.csrf = bench.get("/tasks/new").hidden("csrf");
        bench
    }

    /// Everything the store has on disk.
    pub(super) fn at_rest(&self) -> Vec<u8> {
        std::fs::read(self.folder.path().join("store.redb")).unwrap()
    }

    /// Begins a draft; gives the address below which its steps are.
    pub(super) fn draft(&self, project: &str) -> String {
        let begun = self.post("/tasks/new", &format!("project={project}&lang=JAVA"));
        assert_eq!(begun.status, 303, "{}", begun.text());
        begun.header("location").strip_suffix("/artifact").unwrap().to_owned()
    }

    /// Posts a form of a step as it was just loaded.
    pub(super) fn step(&self, draft: &str, step: &str, form: &str) -> Answer {
        let page = self.get(&format!("{draft}/artifact"));
        self.post(&format!("{draft}/{step}"), &format!("v={}&{form}", page.version()))
    }

    /// Adds an uploaded file to a draft.
    pub(super) fn add_file(&self, draft: &str, step: &str, name: &str, file: &[u8], more: &[(&str, &str)]) -> Answer {
        let version = self.get(&format!("{draft}/artifact")).version();
        let mut fields = vec![("csrf", self.csrf.as_str()), ("v", version.as_str())];
        fields.extend_from_slice(more);
        self.multipart(&format!("{draft}/{step}"), "", &fields, name, file)
    }

    /// JSON as the page's script sends it.
    pub(super) fn script(&self, path: &str, csrf: &str, body: &str) -> Answer {
        let more = format!(
            "x-csrf-token: {csrf}\r\nsec-fetch-mode: cors\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        self.send(&self.head("POST", path, &more), body.as_bytes())
    }

    /// The head of a request as a browser of the signed-in person sends it.
    pub(super) fn head(&self, method: &str, path: &str, more: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: acme.example\r\nconnection: close\r\naccept: text/html\r\nsec-fetch-site: same-origin\r\ncookie: {}\r\n{more}\r\n",
            self.cookie
        )
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.send(&self.head("GET", path, ""), b"")
    }

    /// A form with the session's token.
    pub(super) fn post(&self, path: &str, form: &str) -> Answer {
        let body = format!("csrf={}&{form}", self.csrf);
        let more = format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n", body.len());
        self.send(&self.head("POST", path, &more), body.as_bytes())
    }

    pub(super) fn send(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(head.as_bytes()).unwrap();
        // A refusal may come before everything is sent.
        let _ = stream.write_all(body);
        Answer::read(&mut stream)
    }

    /// A multipart form: small fields, then a file.
    pub(super) fn multipart(&self, path: &str, more: &str, fields: &[(&str, &str)], name: &str, file: &[u8]) -> Answer {
        let mut body = Vec::new();
        for (name, value) in fields {
            body.extend_from_slice(
                format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").as_bytes(),
            );
        }
        let part = format!(
            "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: application/java-archive\r\n\r\n"
        );
        body.extend_from_slice(part.as_bytes());
        body.extend_from_slice(file);
        body.extend_from_slice(b"\r\n--b--\r\n");
        let more = format!("{more}content-type: multipart/form-data; boundary=b\r\ncontent-length: {}\r\n", body.len());
        self.send(&self.head("POST", path, &more), &body)
    }
}

/// What came back.
pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer: {bytes:?}"));
        let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Self { status, head, body: bytes[at + 4..].to_vec() };
        if answer.header("transfer-encoding") == "chunked" {
            answer.body = unchunked(&answer.body);
        }
        answer
    }

    pub(super) fn header(&self, name: &str) -> String {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).unwrap_or_default()
    }

    /// The value of a hidden field.
    pub(super) fn hidden(&self, name: &str) -> String {
        let page = self.text();
        let found = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {page}"));
        found.split('"').next().unwrap().to_owned()
    }

    /// The version of the draft a page shows.
    pub(super) fn version(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.text());
        self.hidden("v")
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        let end = (at + 2 + size).min(rest.len());
        out.extend_from_slice(&rest[at + 2..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    out
}
