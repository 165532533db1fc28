//! Looking names up: all addresses, the names an answer went through, how long it holds, and TXT records.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::RData;

use super::{DialError, Resolved};
use crate::config::scanner::Outbound;

/// More answers than this to one question are nobody's honest set-up.
const MAX_ADDRESSES: usize = 32;

/// A client of the name servers. Keeps no answers: each look-up asks.
#[derive(Clone, Debug)]
pub(super) struct Names {
    resolver: TokioResolver,
    within: Duration,
}

impl Names {
    pub(super) fn new(settings: &Outbound) -> Result<Self, String> {
        let within = Duration::from_millis(settings.lookup_timeout_ms);
        let mut builder = if settings.name_servers.is_empty() {
            TokioResolver::builder_tokio().map_err(|error| error.to_string())?
        } else {
            let servers = settings.name_servers.iter().map(|address| {
                let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
                    connection.port = address.port();
                    connection
                });
                NameServerConfig::new(address.ip(), true, connections.into())
            });
            let config = ResolverConfig::from_parts(None, Vec::new(), servers.collect());
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        let options = builder.options_mut();
        options.cache_size = 0;
        options.timeout = within / 2;
        options.attempts = 1;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.preserve_intermediates = true;
        let resolver = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { resolver, within })
    }

    /// All addresses of `name`, which is taken as it stands: no search list is tried.
    pub(super) async fn addresses(&self, name: &str) -> Result<Resolved, DialError> {
        let asked = tokio::time::timeout(self.within, self.resolver.lookup_ip(format!("{name}."))).await;
        let answer = asked.map_err(|_| DialError::LookupTimedOut)?.map_err(|error| fault(&error))?;
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in answer.iter().map(|address| address.to_canonical()) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(DialError::NoOpenAddress);
        }
        if addresses.len() > MAX_ADDRESSES {
            return Err(DialError::LookupFailed);
        }
        let aliases = answer.as_lookup().answers().iter().filter_map(|record| match &record.data {
            RData::CNAME(target) => Some(target.0.to_utf8().trim_end_matches('.').to_owned()),
            _ => None,
        });
        let ttl = answer.valid_until().checked_duration_since(Instant::now());
        Ok(Resolved { host: name.to_owned(), addresses, aliases: aliases.collect(), ttl })
    }

    pub(super) async fn txt(&self, name: &str) -> Result<Vec<String>, DialError> {
        let asked = tokio::time::timeout(self.within, self.resolver.txt_lookup(format!("{name}."))).await;
        let answer = asked.map_err(|_| DialError::LookupTimedOut)?.map_err(|error| fault(&error))?;
        let texts = answer.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()),
            _ => None,
        });
        Ok(texts.take(MAX_ADDRESSES).collect())
    }
}

fn fault(error: &NetError) -> DialError {
    match error {
        _ if error.is_nx_domain() => DialError::NoOpenAddress,
        NetError::Dns(DnsError::NoRecordsFound(_)) => DialError::NoOpenAddress,
        NetError::Timeout => DialError::LookupTimedOut,
        _ => DialError::LookupFailed,
    }
}
