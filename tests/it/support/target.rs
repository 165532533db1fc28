//! Web servers as a check may meet them: with and without TLS, with certificates of every kind, slow, full, silent.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::spawn;

/// What a server does with a request.
pub(crate) enum Reply {
    /// Sends this and closes.
    Send(String),
    /// Sends this, then nothing more, and keeps the connection.
    Stall(&'static str),
}

/// A status without a body.
pub(crate) fn status(line: &str) -> Reply {
    Reply::Send(format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"))
}

/// A page of this text.
pub(crate) fn page(body: &str) -> Reply {
    let head = "HTTP/1.1 200 OK\r\nserver: testing/1\r\ncontent-type: text/html\r\nconnection: close";
    Reply::Send(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

/// A redirect.
pub(crate) fn redirect(to: &str) -> Reply {
    Reply::Send(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"))
}

/// A running server. It ends with the test's runtime.
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Target {
    /// Answers each request by its path.
    pub(crate) async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1:0", None, reply).await
    }

    /// The same with TLS.
    pub(crate) async fn start_tls(config: ServerConfig, reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1:0", Some(config), reply).await
    }

    /// The same at a certain address.
    pub(crate) async fn listen(
        at: &str,
        tls: Option<ServerConfig>,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let acceptor = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let reply = Arc::new(reply);
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (acceptor, reply) = (acceptor.clone(), Arc::clone(&reply));
                spawn(async move {
                    match acceptor {
                        None => serve(stream, &*reply).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, &*reply).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, connections }
    }

    /// How many connections came.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// An entry of the allow list that opens this server and nothing else.
    pub(crate) fn entry(&self) -> String {
        entry(self.address)
    }
}

/// An entry of the allow list for one address and port.
pub(crate) fn entry(address: SocketAddr) -> String {
    format!("{}/{}:{}", address.ip(), if address.is_ipv4() { 32 } else { 128 }, address.port())
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, reply: &(impl Fn(&str) -> Reply + ?Sized)) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    match reply(path) {
        Reply::Send(text) => {
            let text = if head.starts_with("HEAD") { text.split_inclusive("\r\n\r\n").next().unwrap_or_default() } else { &text };
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Reply::Stall(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.flush().await;
            std::future::pending::<()>().await;
        }
    }
}

/// A listener whose queue is full: whoever connects hears nothing.
pub(crate) struct BlackHole {
    pub(crate) address: SocketAddr,
    _listener: TcpListener,
    _waiting: Vec<TcpStream>,
}

impl BlackHole {
    pub(crate) async fn open() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = tokio::time::timeout(Duration::from_millis(500), TcpStream::connect(address)).await {
            waiting.push(stream.unwrap());
        }
        Self { address, _listener: listener, _waiting: waiting }
    }
}

/// Who issues certificates, in a file that the service can be told to trust.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    own: CertificateDer<'static>,
    folder: TempDir,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "Testing Authority");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("roots.pem"), certificate.pem()).unwrap();
        Self { own: certificate.der().clone(), issuer: Issuer::new(params, key), folder }
    }

    /// The file of its certificate.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("roots.pem")
    }

    /// A server with a certificate for `name`, valid in these years.
    pub(crate) fn server(&self, name: &str, years: std::ops::Range<i32>) -> ServerConfig {
        self.server_of(name, years, rustls::ALL_VERSIONS)
    }

    /// The same with certain versions of TLS.
    pub(crate) fn server_of(
        &self,
        name: &str,
        years: std::ops::Range<i32>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let certificate = params(name, years).signed_by(&key, &self.issuer).unwrap();
        config(vec![certificate.der().clone(), self.own.clone()], &key, versions)
    }
}

/// A server whose certificate nobody else has signed.
pub(crate) fn self_signed(name: &str) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let certificate = params(name, 2020..4000).self_signed(&key).unwrap();
    config(vec![certificate.der().clone()], &key, rustls::ALL_VERSIONS)
}

fn params(name: &str, years: std::ops::Range<i32>) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
    params
}

fn config(chain: Vec<CertificateDer<'static>>, key: &KeyPair, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap().with_no_client_auth();
    let mut config = builder.with_single_cert(chain, PrivatePkcs8KeyDer::from(key.serialize_der()).into()).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}
