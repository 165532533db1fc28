//! The first stages: how the address is written, whether it may be looked at, what its name leads to, who answers there.

use std::net::IpAddr;

use futures_util::future::join_all;
use tokio::time::Instant;
use url::{Host, Url};

use super::stage::{Ended, Outcome, dial_hint, sentence};
use crate::scanner::dialer::{Checked, ConnectFault, DialError, Dialer, Resolved};

/// A target that is written as it has to be.
pub(super) struct Target {
    pub(super) url: Url,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Target {
    /// Reads an address; tells in words what is wrong with it, and what to do.
    pub(super) fn new(url: Url) -> Result<Self, (&'static str, &'static str)> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err((
                "Only http and https addresses can be checked.",
                "Give an address that starts with https:// or http://.",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err((
                "The address holds a user name or a password.",
                "Leave them out of the address; the logins of the target are given elsewhere.",
            ));
        }
        let (Some(host), Some(port)) = (url.host_str().map(str::to_owned), url.port_or_known_default()) else {
            return Err(("The address names no host.", "Give a full address such as https://shop.example.com/."));
        };
        if port == 0 {
            return Err(("Port 0 is none that can be reached.", "Leave the port out, or give the one the target listens on."));
        }
        Ok(Self { url, host, port })
    }

    fn is_literal(&self) -> bool {
        !matches!(self.url.host(), Some(Host::Domain(_)))
    }
}

/// An address without user information.
pub(super) fn without_user(mut url: Url) -> String {
    // Both only fail for addresses without a host, which hold none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

/// ADDRESS.
pub(super) fn address(text: &str) -> Ended<Target> {
    let wrong = |seen: &str, hint: &str| Outcome::new("The address cannot be checked", seen, hint);
    let url = Url::parse(text).map_err(|error| {
        wrong(&sentence(&format!("this is no web address: {error}")), "Give a full address such as https://shop.example.com/.")
    })?;
    let target = Target::new(url).map_err(|(seen, hint)| wrong(seen, hint))?;
    let seen = format!("Scheme {}, host {}, port {}.", target.url.scheme(), target.host, target.port);
    Ok((target, Outcome::new("The address is a web address", seen, "")))
}

fn refused(error: &DialError) -> Outcome {
    Outcome::new("This service does not connect to the target", sentence(&error.to_string()), dial_hint(error))
}

/// POLICY: what can be told without a look-up.
pub(super) async fn policy(dialer: &Dialer, target: &Target) -> Ended<()> {
    if target.is_literal() {
        dialer.find(&target.host, target.port).await.map_err(|error| refused(&error))?;
    } else if !dialer.knows_port(target.port) {
        return Err(refused(&DialError::Port(target.port)));
    }
    let seen = format!("Port {} is one this service connects to.", target.port);
    Ok(((), Outcome::new("This service may connect to the target", seen, "")))
}

/// DNS. The look-up happens once; its judged addresses are the only ones anybody connects to.
pub(super) async fn names(dialer: &Dialer, target: &Target) -> Ended<Vec<Checked>> {
    let (resolved, checked) = dialer.find(&target.host, target.port).await.map_err(|error| {
        let description = match error {
            DialError::LookupTimedOut | DialError::LookupFailed => "No DNS server gave an answer",
            DialError::NoOpenAddress => "The name has no address this service connects to",
            _ => return refused(&error),
        };
        Outcome::new(description, sentence(&error.to_string()), dial_hint(&error))
    })?;
    Ok((checked, Outcome::new("DNS server is available", found(&resolved, target), "")))
}

fn found(resolved: &Resolved, target: &Target) -> String {
    if target.is_literal() {
        return "The host is an address already; nothing had to be looked up.".to_owned();
    }
    let mut lines: Vec<String> = resolved.aliases.iter().map(|alias| format!("CNAME {alias}")).collect();
    lines.extend(resolved.addresses.iter().map(|address| match address {
        IpAddr::V4(address) => format!("A {address}"),
        IpAddr::V6(address) => format!("AAAA {address}"),
    }));
    if resolved.addresses.iter().all(IpAddr::is_ipv6) {
        lines.push("The name has IPv6 addresses only.".to_owned());
    }
    lines.extend(resolved.ttl.map(|ttl| format!("The answer holds for {} s.", ttl.as_secs())));
    lines.join("\n")
}

/// TCP: every address is tried; one that answers is enough.
pub(super) async fn connections(dialer: &Dialer, target: &Target, all: &[Checked]) -> Ended<Checked> {
    let tries = join_all(all.iter().map(async |to| {
        let begun = Instant::now();
        (*to, dialer.open(*to).await.map(drop), begun.elapsed().as_millis())
    }));
    let tries = tries.await;
    let lines: Vec<String> = tries
        .iter()
        .map(|(to, tried, took)| match tried {
            Ok(()) => format!("{} answered in {took} ms.", to.address()),
            Err(fault) => format!("{} {fault}.", to.address()),
        })
        .collect();
    let Target { host, port, .. } = target;
    if let Some((to, ..)) = tries.iter().find(|(_, tried, _)| tried.is_ok()) {
        let description = format!("Connection to {host} ({}) {port} port succeeded", to.address().ip());
        let some = tries.iter().any(|(_, tried, _)| tried.is_err());
        let hint = if some { "Not every address of the name answers: some users will not reach the target." } else { "" };
        return Ok((*to, Outcome::new(description, lines.join("\n"), hint)));
    }
    let faults: Vec<ConnectFault> = tries.iter().filter_map(|(_, tried, _)| tried.err()).collect();
    let v6_only = all.iter().all(|to| to.address().is_ipv6());
    Err(Outcome::new(format!("No connection to {host} {port} port"), lines.join("\n"), connect_hint(&faults, v6_only)))
}

fn connect_hint(faults: &[ConnectFault], v6_only: bool) -> &'static str {
    let any = |fault| faults.contains(&fault);
    if any(ConnectFault::TimedOut) {
        return "Nothing came back, as when a firewall drops packets. Let the addresses of this service through, and check that the target is not for an internal network only.";
    }
    if any(ConnectFault::Unreachable) {
        return if v6_only {
            "The target has IPv6 addresses only, and they cannot be reached from here. Publish it on an IPv4 address too."
        } else {
            "There is no way from here to the target. Check that its address is a public one and that routing is right."
        };
    }
    if any(ConnectFault::Refused) {
        return "The machine answers, and nothing listens on this port. Start the target, or correct the port.";
    }
    "The connection ended early. A firewall or a proxy in front of the target may have closed it."
}
