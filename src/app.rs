//! The composition root: the only file that names more than one facade. Builds what a command needs and runs it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use crate::config::{self, Kind, Problems, Sources};

/// How long a health check may take.
const HEALTH_LIMIT: Duration = Duration::from_secs(5);
/// What is read of its answer: the status line is in it.
const HEALTH_ANSWER: usize = 512;

/// Environment variables as the command line found them.
pub type Environment = Vec<(String, String)>;

/// Why a command did not do what it was asked for, in words.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration or the command line is wrong: exit code 2.
    #[error("{0}")]
    Settings(#[from] Problems),
    /// Something else: exit code 1.
    #[error("{0}")]
    Run(String),
}

/// The configuration in force, as TOML with secrets blotted out.
///
/// # Errors
/// Everything that is wrong with it.
pub fn check_config(file: Option<&Path>, environment: Environment) -> Result<String, Failure> {
    Ok(config::load(Kind::Check, &Sources { file, own: None, environment })?.shown)
}

/// Asks a running process whether it is well: `GET /healthz` of `url`, or of the address the configuration listens on.
///
/// # Errors
/// When it does not answer 200 in time.
pub fn healthcheck(url: Option<&Url>, file: Option<&Path>, environment: Environment) -> Result<(), Failure> {
    let (address, host) = match url {
        Some(url) => url_address(url)?,
        None => configured_address(file, environment)?,
    };
    let said = runtime()?.block_on(async { tokio::time::timeout(HEALTH_LIMIT, status_line(&address, &host)).await });
    match said {
        Ok(Ok(line)) if line.split(' ').nth(1) == Some("200") => Ok(()),
        Ok(Ok(line)) => Err(Failure::Run(format!("{address} answers, but not well: {}", line.escape_debug()))),
        Ok(Err(error)) => Err(Failure::Run(format!("{address} does not answer: {error}"))),
        Err(_) => Err(Failure::Run(format!("{address} did not answer within {} seconds", HEALTH_LIMIT.as_secs()))),
    }
}

fn url_address(url: &Url) -> Result<(String, String), Failure> {
    let (Some(host), Some(port), "http") = (url.host_str(), url.port_or_known_default(), url.scheme()) else {
        return Err(Failure::Settings(Problems::one("--url", "does not fit", "expected http://HOST:PORT")));
    };
    Ok((format!("{host}:{port}"), format!("{host}:{port}")))
}

/// Where the configured process listens, and a host it answers to.
fn configured_address(file: Option<&Path>, environment: Environment) -> Result<(String, String), Failure> {
    let config = config::load(Kind::Check, &Sources { file, own: None, environment })?;
    let tenant_host = config.gateway.as_ref().and_then(|gateway| gateway.tenants.values().next()?.hosts.first().cloned());
    let listens = [
        config.gateway.map(|gateway| gateway.server.listen),
        config.scanner.map(|scanner| scanner.listen),
        config.idp.map(|idp| idp.listen),
    ];
    let listen = listens.into_iter().flatten().next();
    let listen = listen.ok_or_else(|| Failure::Run("the configuration listens nowhere".to_owned()))?;
    // "All addresses" is where to listen, not where to call.
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let address = SocketAddr::new(ip, listen.port()).to_string();
    Ok((address.clone(), tenant_host.unwrap_or(address)))
}

async fn status_line(address: &str, host: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::with_capacity(HEALTH_ANSWER);
    let mut limited = stream.take(HEALTH_ANSWER as u64);
    while !answer.contains(&b'\n') && limited.read_buf(&mut answer).await? > 0 {}
    Ok(String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned())
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::Run(format!("the system gives no threads: {error}")))
}
