//! Where Redis is: one server, whatever server the sentinels say is the master, or the nodes of a cluster. TLS, user and
//! password are the same for all of them. Never retries: that is the link's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterClientBuilder};
use redis::cluster_async::ClusterConnection;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo as _, ProtocolVersion, PushInfo,
    PushKind, RedisError, TlsCertificates, TlsMode,
};

use crate::platform::secret::Secret;

/// How to reach Redis.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct RedisSettings {
    /// `redis://` or `rediss://` with credentials.
    pub(in crate::gateway) url: Secret,
    pub(in crate::gateway) layout: Layout,
    /// Certificates (PEM) that are trusted for `rediss://` in the place of the system's.
    pub(in crate::gateway) roots: Option<Vec<u8>>,
    /// In front of every key and channel.
    pub(in crate::gateway) prefix: String,
    pub(in crate::gateway) connect_timeout: Duration,
    /// Time of one call.
    pub(in crate::gateway) response_timeout: Duration,
}

/// What there is at the other end. Addresses are `host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Layout {
    /// The server of the address.
    One,
    /// Sentinels, and the name they have for the master.
    Sentinels { sentinels: Vec<String>, master: String },
    /// Some nodes of a cluster; they tell of the others.
    Cluster(Vec<String>),
}

/// Calls that may wait for their turn on one connection.
const QUEUE: usize = 1024;
/// Tries of the cluster's client to follow a slot that moves.
const CLUSTER_TRIES: u32 = 6;

/// The way to Redis.
pub(super) enum Way {
    One(Box<Client>),
    Watched(Box<SentinelClient>),
    Cluster {
        whole: Box<ClusterClient>,
        nodes: Vec<Client>,
        /// Which of them is asked next.
        next: usize,
    },
}

/// A connection to a server, or to a whole cluster. Cheap to clone.
#[derive(Clone)]
pub(super) enum Connection {
    Node(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Way {
    /// Connects to nobody.
    pub(super) fn new(settings: &RedisSettings) -> Result<Self, RedisError> {
        let info = settings.url.expose().into_connection_info()?;
        // The third protocol tells at once that a connection was closed.
        let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let info = info.set_redis_settings(redis);
        let certificates = TlsCertificates { client_tls: None, root_cert: settings.roots.clone() };
        Ok(match &settings.layout {
            Layout::One => Self::One(Box::new(client(info, &certificates)?)),
            Layout::Sentinels { sentinels, master } => Self::Watched(Box::new(watched(&info, sentinels, master, certificates)?)),
            Layout::Cluster(addresses) => {
                let infos = addresses.iter().map(|text| Ok(info.clone().set_addr(at(text, &info)?)));
                let infos = infos.collect::<Result<Vec<_>, RedisError>>()?;
                let nodes = infos.iter().map(|info| client(info.clone(), &certificates)).collect::<Result<_, RedisError>>()?;
                let mut whole = ClusterClientBuilder::new(infos)
                    .connection_timeout(settings.connect_timeout)
                    .response_timeout(settings.response_timeout)
                    .retries(CLUSTER_TRIES);
                if is_tls(&info) {
                    whole = whole.certs(certificates);
                }
                Self::Cluster { whole: Box::new(whole.build()?), nodes, next: 0 }
            }
        })
    }

    /// Connects; the flag turns true when the other side has closed the connection.
    pub(super) async fn connect(&mut self, times: (Duration, Duration)) -> Result<(Connection, Arc<AtomicBool>), RedisError> {
        let closed = Arc::new(AtomicBool::new(false));
        if let Self::Cluster { whole, .. } = self {
            return Ok((Connection::Cluster(whole.get_async_connection().await?), closed));
        }
        let flag = Arc::clone(&closed);
        let heard = move |push: PushInfo| {
            if push.kind == PushKind::Disconnection {
                flag.store(true, Ordering::SeqCst);
            }
            Ok::<(), std::convert::Infallible>(())
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(times.0))
            .set_response_timeout(Some(times.1))
            .set_pipeline_buffer_size(QUEUE)
            .set_push_sender(heard);
        let connection = self.server().await?.get_multiplexed_async_connection_with_config(&config).await?;
        Ok((Connection::Node(connection), closed))
    }

    /// A server to speak with alone: the one, the master, or one node after the other.
    pub(super) async fn server(&mut self) -> Result<Client, RedisError> {
        match self {
            Self::One(client) => Ok((**client).clone()),
            Self::Watched(sentinels) => sentinels.async_get_client().await,
            Self::Cluster { nodes, next, .. } => {
                *next = next.wrapping_add(1);
                let place = next.checked_rem(nodes.len()).unwrap_or(0);
                nodes.get(place).cloned().ok_or_else(|| RedisError::from((ErrorKind::InvalidClientConfig, "no node is named")))
            }
        }
    }

    /// The same way to another server of the cluster, for commands that concern one server only.
    pub(super) fn beside(settings: &RedisSettings, address: &str) -> Result<Client, RedisError> {
        let info = settings.url.expose().into_connection_info()?;
        let address = at(address, &info)?;
        client(info.set_addr(address), &TlsCertificates { client_tls: None, root_cert: settings.roots.clone() })
    }
}

fn watched(
    info: &ConnectionInfo,
    sentinels: &[String],
    master: &str,
    certificates: TlsCertificates,
) -> Result<SentinelClient, RedisError> {
    let addresses = sentinels.iter().map(|text| at(text, info)).collect::<Result<Vec<_>, RedisError>>()?;
    let redis = info.redis_settings();
    let mut builder = SentinelClientBuilder::new(addresses, master, SentinelServerType::Master)?
        .set_client_to_redis_db(redis.db())
        .set_client_to_redis_protocol(redis.protocol());
    if let Some(user) = redis.username() {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = redis.password() {
        builder = builder.set_client_to_redis_password(password);
    }
    if is_tls(info) {
        builder = builder
            .set_client_to_redis_tls_mode(TlsMode::Secure)
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_certificates(certificates);
    }
    builder.build()
}

fn client(info: ConnectionInfo, certificates: &TlsCertificates) -> Result<Client, RedisError> {
    if is_tls(&info) { Client::build_with_tls(info, certificates.clone()) } else { Client::open(info) }
}

fn is_tls(info: &ConnectionInfo) -> bool {
    matches!(info.addr(), ConnectionAddr::TcpTls { .. })
}

/// `host:port`, with TLS where `like` has it.
fn at(text: &str, like: &ConnectionInfo) -> Result<ConnectionAddr, RedisError> {
    let wrong = || RedisError::from((ErrorKind::InvalidClientConfig, "an address is not host:port"));
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let (host, port) = (host.trim_matches(['[', ']']).to_owned(), port.parse().map_err(|_| wrong())?);
    Ok(match like.addr() {
        ConnectionAddr::TcpTls { .. } => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
        _ => ConnectionAddr::Tcp(host, port),
    })
}
