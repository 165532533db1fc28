//! TLS that lets every handshake come to its end, so that what is wrong with a certificate can be told, and gives the
//! connection out only when nothing is. Names, trust and dates are judged one by one.

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, ProtocolVersion, RootCertStore,
    SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::Channel;
use super::certificate::{Certificate, Problem};
use crate::platform::clock::{Clock, Timestamp};

/// The longest chain that is told.
const LONGEST_CHAIN: usize = 10;

/// Whom to believe, and how to speak TLS. Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Trust(Arc<Inner>);

struct Inner {
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
    config: Arc<ClientConfig>,
    clock: Clock,
}

/// A handshake that came to its end.
pub(in crate::scanner) struct Handshake {
    /// Such as `TLS 1.3`.
    pub(in crate::scanner) version: String,
    /// The protocol the server chose, if it chose one.
    pub(in crate::scanner) alpn: Option<String>,
    /// The server's own certificate first; at most the first ten.
    pub(in crate::scanner) chain: Vec<Certificate>,
    /// What is wrong with it.
    pub(in crate::scanner) problems: Vec<Problem>,
    /// The connection; only when nothing is wrong.
    pub(in crate::scanner) channel: Option<Channel>,
}

/// Why no handshake came to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum TlsFault {
    #[error("the host is no name a certificate can be for")]
    Name,
    #[error("the server does not speak TLS on this port")]
    NotTls,
    #[error("the server and this service have no version or cipher of TLS in common")]
    NothingInCommon,
    #[error("the server asks for a certificate of its clients")]
    ClientCertificate,
    #[error("the server knows no site of this name")]
    UnknownSite,
    #[error("the server broke the TLS handshake off")]
    BrokenOff,
    #[error("the TLS handshake failed: {0}")]
    Other(String),
}

impl Trust {
    /// The public roots and those of a PEM file. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read or holds no certificate.
    pub(in crate::scanner) fn new(extra: Option<&Path>, clock: Clock) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
        if let Some(path) = extra {
            let problem = |what: &dyn std::fmt::Display| format!("the root certificates in {}: {what}", path.display());
            let found = CertificateDer::pem_file_iter(path).map_err(|error| problem(&error))?;
            let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| problem(&error))?;
            if roots.add_parsable_certificates(found).0 == 0 {
                return Err(problem(&"none is there"));
            }
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let verifier = Arc::new(JudgedLater(Arc::clone(&provider)));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session would bring no certificate to look at.
        config.resumption = Resumption::disabled();
        Ok(Self(Arc::new(Inner { roots, algorithms, config: Arc::new(config), clock })))
    }

    /// Speaks TLS with the host of `url` and judges its certificate.
    pub(super) async fn shake_hands(&self, url: &Url, stream: TcpStream) -> Result<Handshake, TlsFault> {
        let name = server_name(url).ok_or(TlsFault::Name)?;
        let connector = TlsConnector::from(Arc::clone(&self.0.config));
        let stream = connector.connect(name.clone(), stream).await.map_err(|error| fault(&error))?;
        let (_, session) = stream.get_ref();
        let certificates = session.peer_certificates().unwrap_or_default();
        let problems = self.judge(&name, certificates);
        Ok(Handshake {
            version: session.protocol_version().map_or_else(String::new, version),
            alpn: session.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned()),
            chain: certificates.iter().take(LONGEST_CHAIN).filter_map(|der| Certificate::read(der)).collect(),
            channel: if problems.is_empty() { Some(Box::new(stream)) } else { None },
            problems,
        })
    }

    fn judge(&self, name: &ServerName<'_>, chain: &[CertificateDer<'_>]) -> Vec<Problem> {
        let Some((leaf, between)) = chain.split_first() else { return vec![Problem::Unreadable] };
        let (Ok(parsed), Some(facts)) = (ParsedCertificate::try_from(leaf), Certificate::read(leaf)) else {
            return vec![Problem::Unreadable];
        };
        let now = self.0.clock.now();
        let mut problems = Vec::new();
        // What webpki tells first hides the rest, so dates of the server's own certificate are looked at apart.
        let mut judged_at = now;
        if facts.not_after < now {
            problems.push(Problem::Expired(day(facts.not_after)));
            judged_at = facts.not_after;
        } else if facts.not_before > now {
            problems.push(Problem::NotYetValid(day(facts.not_before)));
            judged_at = facts.not_before;
        }
        let seconds = Duration::from_secs(u64::try_from(judged_at.seconds()).unwrap_or(0));
        let at = UnixTime::since_unix_epoch(seconds);
        let trusted = verify_server_cert_signed_by_trust_anchor(&parsed, &self.0.roots, between, at, self.0.algorithms.all);
        problems.extend(trusted.err().map(|error| untrusted(&error, &facts)));
        if verify_server_name(&parsed, name).is_err() {
            let named = if facts.names.is_empty() { "no host at all".to_owned() } else { facts.names.join(", ") };
            problems.push(Problem::WrongName(named));
        }
        problems
    }
}

fn untrusted(error: &Error, leaf: &Certificate) -> Problem {
    use CertificateError::{BadSignature, Expired, ExpiredContext, NotValidYet, NotValidYetContext, UnknownIssuer};
    match error {
        _ if leaf.is_self_issued => Problem::SelfSigned,
        Error::InvalidCertificate(Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }) => {
            Problem::Other("a certificate of its chain has expired or is not valid yet".to_owned())
        }
        // Somebody else of the same name as a trusted authority has signed it.
        Error::InvalidCertificate(UnknownIssuer | BadSignature) => Problem::Untrusted,
        Error::InvalidCertificate(other) => Problem::Other(other.to_string()),
        other => Problem::Other(other.to_string()),
    }
}

fn day(at: Timestamp) -> String {
    at.rfc3339().chars().take(10).collect()
}

fn version(version: ProtocolVersion) -> String {
    match version {
        ProtocolVersion::TLSv1_2 => "TLS 1.2".to_owned(),
        ProtocolVersion::TLSv1_3 => "TLS 1.3".to_owned(),
        other => format!("{other:?}"),
    }
}

fn server_name(url: &Url) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned()).ok(),
        Host::Ipv4(address) => Some(ServerName::from(IpAddr::V4(address))),
        Host::Ipv6(address) => Some(ServerName::from(IpAddr::V6(address))),
    }
}

fn fault(error: &io::Error) -> TlsFault {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidMessage(_)) => TlsFault::NotTls,
        Some(Error::PeerIncompatible(_)) => TlsFault::NothingInCommon,
        Some(Error::AlertReceived(alert)) => match alert {
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
                TlsFault::NothingInCommon
            }
            AlertDescription::CertificateRequired => TlsFault::ClientCertificate,
            AlertDescription::UnrecognisedName => TlsFault::UnknownSite,
            other => TlsFault::Other(format!("alert {other:?}")),
        },
        Some(other) => TlsFault::Other(other.to_string()),
        None => TlsFault::BrokenOff,
    }
}

/// Takes every certificate for the time being: it is judged when the handshake is over, before anything is sent. That the
/// server holds its key is checked here.
#[derive(Debug)]
struct JudgedLater(Arc<CryptoProvider>);

impl ServerCertVerifier for JudgedLater {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
