//! A portal with a session, and a client that can be slow, rude or gone.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::scan_service::{Service, serve};
use super::settings::{self, Parts};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, PayloadConfig};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};

use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::{CookieSettings, LoginId, Portal, TokenSet, Tokens};
use crate::gateway::web::middleware::request::Callers;
use crate::gateway::web::middleware::{csrf, error_page, headers, request, tenant};
use crate::gateway::web::routes;
use crate::platform::clock::Clock;
use crate::platform::secret::Secret;

fn listening() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// One tenant, `acme`, over plain http.
fn portal(service: SocketAddr, folder: &std::path::Path) -> Parts {
    let tenant = settings::tenant("acme", "Acme", &format!("http://{service}"), "http");
    let cookie = CookieSettings { name: "cardea".to_owned(), secure: false };
    settings::parts(&BTreeMap::from([(TenantId::parse("acme").unwrap(), tenant)]), folder, Clock::system(), cookie)
}

async fn sign_in(request: HttpRequest, tokens: Data<Tokens>, clock: Data<Clock>) -> HttpResponse {
    let tenant = TenantId::parse("acme").unwrap();
    let login = LoginId::new().unwrap();
    let expires_at = clock.now().after(Duration::from_hours(10));
    let set = TokenSet { access: Secret::new("token"), refresh: None, id_token: None, expires_at };
    tokens.store(&tenant, &login, &set).await.unwrap();
    let (issuer, subject) = ("https://id.example".to_owned(), "alice".to_owned());
    let principal = Principal { tenant, issuer, subject, name: "Alice".into(), email: "".into(), role: Role::Member };
    Portal::of(&request).sign_in(principal, login).unwrap();
    HttpResponse::Ok().finish()
}

/// A running portal with one signed-in person.
pub(super) struct Bench {
    pub(super) service: Arc<Service>,
    pub(super) address: SocketAddr,
    cookie: String,
    pub(super) csrf: String,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new() -> Self {
        let service = Arc::new(Service::default());
        let behind = serve(Arc::clone(&service));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let (told, address) = mpsc::channel();
        std::thread::spawn(move || {
            let (listener, address) = listening();
            actix_web::rt::System::new().block_on(async move {
                let Parts { services, sessions, tokens, sites, clock, .. } = portal(behind, &path);
                let factory = move || {
                    let (sites, callers) = (sites.clone(), Callers { trusted: Arc::from([]), clock: clock.clone() });
                    App::new()
                        .app_data(PayloadConfig::new(65536))
                        .app_data(Data::new(services.clone()))
                        .app_data(Data::new(sessions.clone()))
                        .app_data(Data::new(settings::limits()))
                        .app_data(Data::new(tokens.clone()))
                        .app_data(Data::new(clock.clone()))
                        .configure(routes::all)
                        .route("/test/sign-in", web::get().to(sign_in))
                        .wrap(sessions.layer())
                        .wrap(from_fn(csrf::csrf))
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
        let mut bench = Self { service, address, cookie: String::new(), csrf: String::new(), _folder: folder };
        let answer = bench.get("/test/sign-in");
        bench.cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        bench.csrf =
            bench.get("/tasks/new").text().split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        bench
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
