//! The only way out of the browsers: a forward proxy on loopback that dials with the guarded dialer. Tunnels (CONNECT) and
//! plain requests in absolute form; nothing else.
//!
//! It serves this user's processes only: who is at the other end of a connection is looked up in the kernel's table, which
//! needs no credential that could leak and no pause of every request to hand one over.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::platform::shutdown::Shutdown;
use crate::scanner::dialer::Dialer;

/// Headers that belong to one connection only (RFC 9110, 7.6.1).
const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
/// Kernel's number of an established connection.
const ESTABLISHED: &str = "01";

type Answer = Response<BoxBody<Bytes, hyper::Error>>;

struct Proxy {
    dialer: Dialer,
    shutdown: Shutdown,
    /// The user this process runs as, as the kernel's table names it.
    user: String,
    port: u16,
}

/// Starts the proxy with at most `connections` at a time; gives its port.
///
/// # Errors
/// When loopback has no free port.
pub(super) async fn start(dialer: Dialer, connections: usize, shutdown: &Shutdown) -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    let user = rustix::process::geteuid().as_raw().to_string();
    let proxy = Arc::new(Proxy { dialer, shutdown: shutdown.clone(), user, port });
    let places = Arc::new(Semaphore::new(connections));
    let ending = shutdown.clone();
    shutdown.spawn(async move {
        tokio::select! {
            () = accept(&listener, &proxy, &places) => {}
            () = ending.begun() => {}
        }
    });
    Ok(port)
}

async fn accept(listener: &TcpListener, proxy: &Arc<Proxy>, places: &Arc<Semaphore>) {
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let (proxy, ending) = (Arc::clone(proxy), proxy.shutdown.clone());
        proxy.shutdown.clone().spawn(async move {
            tokio::select! {
                () = serve(stream, peer, &proxy, place) => {}
                () = ending.begun() => {}
            }
        });
    }
}

async fn serve(stream: TcpStream, peer: SocketAddr, proxy: &Arc<Proxy>, place: tokio::sync::OwnedSemaphorePermit) {
    if !proxy.is_own(peer).await {
        tracing::warn!(%peer, "somebody else tried to use the proxy of the remote browsers");
        return;
    }
    let place = Arc::new(place);
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| {
        let (proxy, place) = (Arc::clone(proxy), Arc::clone(&place));
        async move { Ok::<_, Infallible>(proxy.answer(request, place).await) }
    });
    let server = hyper::server::conn::http1::Builder::new();
    // How a connection ends is the browser's matter; addresses are nobody's in a log.
    let _ = server.serve_connection(TokioIo::new(stream), answer).with_upgrades().await;
}

impl Proxy {
    /// Whether a process of this user holds the other end.
    async fn is_own(&self, peer: SocketAddr) -> bool {
        let (IpAddr::V4(address), true) = (peer.ip(), peer.ip().is_loopback()) else { return false };
        let table = tokio::fs::read_to_string("/proc/self/net/tcp").await.unwrap_or_default();
        let place = |address: Ipv4Addr, port: u16| format!("{:08X}:{port:04X}", u32::from_ne_bytes(address.octets()));
        let (from, to) = (place(address, peer.port()), place(Ipv4Addr::LOCALHOST, self.port));
        table.lines().any(|line| {
            let mut words = line.split_whitespace().skip(1);
            words.next() == Some(&from)
                && words.next() == Some(&to)
                && words.next() == Some(ESTABLISHED)
                && words.nth(3) == Some(&self.user)
        })
    }

    async fn answer(&self, request: Request<Incoming>, place: Arc<tokio::sync::OwnedSemaphorePermit>) -> Answer {
        if request.method() == Method::CONNECT { self.tunnel(request, place).await } else { self.forward(request).await }
    }

    async fn tunnel(&self, request: Request<Incoming>, place: Arc<tokio::sync::OwnedSemaphorePermit>) -> Answer {
        let Some((host, port)) = target(request.uri(), None) else { return refused(StatusCode::BAD_REQUEST) };
        let Ok(mut there) = self.dialer.connect(&host, port).await else { return refused(StatusCode::FORBIDDEN) };
        let ending = self.shutdown.clone();
        self.shutdown.spawn(async move {
            let Ok(here) = hyper::upgrade::on(request).await else { return };
            let mut here = TokioIo::new(here);
            tokio::select! {
                _ = copy_bidirectional(&mut here, &mut there) => {}
                () = ending.begun() => {}
            }
            drop(place);
        });
        Response::new(empty())
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Answer {
        let Some((host, port)) = target(request.uri(), Some(80)).filter(|_| request.uri().scheme_str() == Some("http")) else {
            return refused(StatusCode::BAD_REQUEST);
        };
        let Ok(there) = self.dialer.connect(&host, port).await else { return refused(StatusCode::FORBIDDEN) };
        let Ok((mut sender, connection)) = hyper::client::conn::http1::handshake(TokioIo::new(there)).await else {
            return refused(StatusCode::BAD_GATEWAY);
        };
        let ending = self.shutdown.clone();
        self.shutdown.spawn(async move {
            tokio::select! {
                _ = connection => {}
                () = ending.begun() => {}
            }
        });
        let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let (Ok(path), Ok(authority)) = (path.parse::<Uri>(), HeaderValue::from_str(&authority)) else {
            return refused(StatusCode::BAD_REQUEST);
        };
        *request.uri_mut() = path;
        strip(request.headers_mut());
        request.headers_mut().insert(HOST, authority);
        match sender.send_request(request).await {
            Ok(mut answer) => {
                strip(answer.headers_mut());
                answer.map(BodyExt::boxed)
            }
            Err(_) => refused(StatusCode::BAD_GATEWAY),
        }
    }
}

/// Host without brackets, and port.
fn target(uri: &Uri, default: Option<u16>) -> Option<(String, u16)> {
    let authority = uri.authority()?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let port = authority.port_u16().or(default)?;
    (!host.is_empty() && !authority.as_str().contains('@')).then(|| (host.to_owned(), port))
}

/// Removes what belongs to one connection, and what `Connection` names.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    headers.remove("proxy-connection");
    headers.remove("keep-alive");
}

/// One answer for every address that is not reached: it tells nothing about what is there.
fn refused(status: StatusCode) -> Answer {
    let words = "This address cannot be reached from the remote browser: it may be blocked here, or it does not answer.\n";
    let mut answer = Response::new(Full::new(Bytes::from_static(words.as_bytes())).map_err(|never| match never {}).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

fn empty() -> BoxBody<Bytes, hyper::Error> {
    Full::new(Bytes::new()).map_err(|never| match never {}).boxed()
}
