//! The one guarded way out of the service. A name is looked up once, every address of it is judged, and a connection goes to
//! one of the judged addresses and nowhere else, so an answer that changes between two look-ups opens nothing. Knows no
//! proxy settings, follows nothing by itself, and speaks no protocol above TCP.

mod addresses;
mod allowance;
mod names;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::Instant;
use url::Host;

use crate::config::scanner::Outbound;
pub(in crate::scanner) use allowance::Allowance;
use names::Names;

/// The guarded dialer. Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::scanner) struct Dialer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Outbound,
    names: Names,
}

/// What a look-up gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scanner) struct Resolved {
    /// The name that was asked for, or the address itself.
    pub(in crate::scanner) host: String,
    /// Every A and AAAA answer; v4 inside v6 is already v4.
    pub(in crate::scanner) addresses: Vec<IpAddr>,
    /// Names the answer went through (CNAME).
    pub(in crate::scanner) aliases: Vec<String>,
    /// The shortest time to live of the answer; none for literal addresses.
    pub(in crate::scanner) ttl: Option<Duration>,
}

/// An address that was judged: only the dialer makes one, and only one of these can be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scanner) struct Checked(SocketAddr);

impl Checked {
    /// Where it leads.
    pub(in crate::scanner) const fn address(self) -> SocketAddr {
        self.0
    }
}

/// Why there is no connection. The words are for people and tell nothing about what lies behind a blocked address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum DialError {
    #[error("this is no host name or address that can be looked up")]
    Host,
    #[error("port {0} is not one this service connects to")]
    Port(u16),
    /// There is no such name, it has no address, or one that is not open: which of them is not told, as the name servers of
    /// the operator may know names that are nobody else's business.
    #[error("the name leads to no address that is open to this service")]
    NoOpenAddress,
    #[error("no name server answered in time")]
    LookupTimedOut,
    #[error("the name servers could not answer")]
    LookupFailed,
    #[error("this address is not open to this service")]
    Blocked,
    #[error("no address answered: {}", listed(.0))]
    Unreached(Vec<(SocketAddr, ConnectFault)>),
}

fn listed(faults: &[(SocketAddr, ConnectFault)]) -> String {
    faults.iter().map(|(address, fault)| format!("{address} {fault}")).collect::<Vec<_>>().join(", ")
}

/// How one attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum ConnectFault {
    #[error("refused the connection")]
    Refused,
    #[error("did not answer in time")]
    TimedOut,
    #[error("cannot be reached from here")]
    Unreachable,
    #[error("broke the connection off")]
    Other,
}

impl Dialer {
    /// A dialer within `settings`.
    ///
    /// # Errors
    /// When the system's name servers cannot be read and the settings name none.
    pub(in crate::scanner) fn new(settings: &Outbound) -> Result<Self, String> {
        let names = Names::new(settings)?;
        Ok(Self(Arc::new(Inner { settings: settings.clone(), names })))
    }

    /// Looks `host` up, once, and judges what it leads to. Literal addresses, in whatever notation, are their own answer. A name
    /// that leads nowhere open gets one answer, after the same time, whatever the reason.
    pub(in crate::scanner) async fn find(&self, host: &str, port: u16) -> Result<(Resolved, Vec<Checked>), DialError> {
        match literal(host)? {
            Literal::Address(address) => {
                let itself = Resolved { host: address.to_string(), addresses: vec![address], aliases: Vec::new(), ttl: None };
                let checked = self.permit(&itself, port)?;
                Ok((itself, checked))
            }
            Literal::Name(name) => {
                let begun = Instant::now();
                let found = self.judged(&name, port).await;
                if matches!(found, Err(DialError::NoOpenAddress)) {
                    self.hold(begun).await;
                }
                found
            }
        }
    }

    async fn judged(&self, name: &str, port: u16) -> Result<(Resolved, Vec<Checked>), DialError> {
        let resolved = self.0.names.addresses(name).await?;
        let checked = self.permit(&resolved, port).map_err(|error| match error {
            DialError::Blocked => DialError::NoOpenAddress,
            other => other,
        })?;
        Ok((resolved, checked))
    }

    /// The TXT records of `host`, each as one text. None and no such name are the same, and take the same time.
    pub(in crate::scanner) async fn txt(&self, host: &str) -> Result<Vec<String>, DialError> {
        let Literal::Name(name) = literal(host)? else { return Ok(Vec::new()) };
        let begun = Instant::now();
        let found = match self.0.names.txt(&name).await {
            Err(DialError::NoOpenAddress) => Ok(Vec::new()),
            found => found,
        };
        self.hold(begun).await;
        found
    }

    /// Waits until an answer may be given that must not tell how quickly it was known.
    async fn hold(&self, begun: Instant) {
        tokio::time::sleep_until(begun + Duration::from_millis(self.0.settings.closed_after_ms)).await;
    }

    /// Whether any address at all can be reached on `port`: what can be told before a look-up.
    pub(in crate::scanner) fn knows_port(&self, port: u16) -> bool {
        let Outbound { allow, ports, .. } = &self.0.settings;
        ports.iter().any(|range| range.contains(&port)) || allow.iter().any(|entry| entry.opens(port))
    }

    /// Judges what a look-up gave: one address that is not open closes all of them, as whoever answers for the name could
    /// give the same one next time.
    fn permit(&self, resolved: &Resolved, port: u16) -> Result<Vec<Checked>, DialError> {
        if resolved.addresses.is_empty() {
            return Err(DialError::NoOpenAddress);
        }
        let Outbound { allow, ports, .. } = &self.0.settings;
        let exempt = |address: IpAddr| allow.iter().any(|entry| entry.covers(address, port));
        if !resolved.addresses.iter().all(|address| addresses::is_public(*address) || exempt(*address)) {
            return Err(DialError::Blocked);
        }
        let is_open = ports.iter().any(|range| range.contains(&port));
        if !is_open && !resolved.addresses.iter().all(|address| exempt(*address)) {
            return Err(DialError::Port(port));
        }
        Ok(resolved.addresses.iter().map(|address| Checked(SocketAddr::new(*address, port))).collect())
    }

    /// Connects to an address that was judged.
    pub(in crate::scanner) async fn open(&self, to: Checked) -> Result<TcpStream, ConnectFault> {
        let within = Duration::from_millis(self.0.settings.connect_timeout_ms);
        match tokio::time::timeout(within, TcpStream::connect(to.0)).await {
            Err(_) => Err(ConnectFault::TimedOut),
            Ok(Ok(stream)) => {
                // Only a hint to the system; the connection works without it.
                let _ = stream.set_nodelay(true);
                Ok(stream)
            }
            Ok(Err(error)) => Err(fault(&error)),
        }
    }

    /// Looks up, judges and connects to the first address that answers.
    pub(in crate::scanner) async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, DialError> {
        let (_, checked) = self.find(host, port).await?;
        let mut faults = Vec::new();
        for to in checked {
            match self.open(to).await {
                Ok(stream) => return Ok(stream),
                Err(fault) => faults.push((to.0, fault)),
            }
        }
        Err(DialError::Unreached(faults))
    }
}

fn fault(error: &std::io::Error) -> ConnectFault {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::ConnectionRefused => ConnectFault::Refused,
        ErrorKind::TimedOut => ConnectFault::TimedOut,
        ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable | ErrorKind::AddrNotAvailable | ErrorKind::NetworkDown => {
            ConnectFault::Unreachable
        }
        _ => ConnectFault::Other,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Literal {
    Address(IpAddr),
    /// Lower case, ASCII, without a trailing dot.
    Name(String),
}

/// Reads a host as browsers do (WHATWG URL): octal, hexadecimal, decimal and short v4 forms, brackets, international names.
fn literal(host: &str) -> Result<Literal, DialError> {
    let bracketed = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
    match Host::parse(&bracketed).map_err(|_| DialError::Host)? {
        Host::Ipv4(address) => Ok(Literal::Address(address.into())),
        Host::Ipv6(address) => Ok(Literal::Address(IpAddr::V6(address).to_canonical())),
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
            let fits = |label: &str| (1..=63).contains(&label.len());
            if name.len() > 253 || !name.split('.').all(fits) { Err(DialError::Host) } else { Ok(Literal::Name(name)) }
        }
    }
}
