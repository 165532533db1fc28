//! The stages and how one ends.

use crate::scanner::dialer::DialError;

/// What is looked at, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Address,
    Policy,
    Dns,
    Tcp,
    Tls,
    Http,
    Redirects,
}

impl Stage {
    /// Of a target with https, and of one that is no address at all.
    pub(super) const WITH_TLS: &[Self] =
        &[Self::Address, Self::Policy, Self::Dns, Self::Tcp, Self::Tls, Self::Http, Self::Redirects];
    /// Of a target with http.
    pub(super) const WITHOUT_TLS: &[Self] = &[Self::Address, Self::Policy, Self::Dns, Self::Tcp, Self::Http, Self::Redirects];

    /// As it stands on the wire.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Address => "ADDRESS",
            Self::Policy => "POLICY",
            Self::Dns => "DNS",
            Self::Tcp => "TCP",
            Self::Tls => "TLS",
            Self::Http => "HTTP",
            Self::Redirects => "REDIRECTS",
        }
    }
}

/// How a stage ended, in words for people.
#[derive(Debug)]
pub(super) struct Outcome {
    /// One line.
    pub(super) description: String,
    /// What was seen, one or more lines.
    pub(super) seen: String,
    /// What to do about it; empty when there is nothing to do.
    pub(super) hint: String,
}

impl Outcome {
    pub(super) fn new(description: impl Into<String>, seen: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { description: description.into(), seen: seen.into(), hint: hint.into() }
    }
}

/// A stage passes with what the next ones need, or fails.
pub(super) type Ended<T> = Result<(T, Outcome), Outcome>;

/// A sentence: capital first, full stop last.
pub(super) fn sentence(words: &str) -> String {
    let mut all = words.chars();
    let first = all.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", all.as_str())
}

/// What to do when there is no way to an address. The same for every closed address, and for every name without an open one.
pub(super) fn dial_hint(error: &DialError) -> &'static str {
    match error {
        DialError::Host => "Check how the host is written.",
        DialError::Port(_) => {
            "Publish the target on port 443, 80 or one from 8000 to 9999, or ask the operator of this service to open the port."
        }
        DialError::NoOpenAddress => {
            "Check the spelling of the name, and that it has A or AAAA records with public addresses only; a new name may not be known yet. The operator of this service can open an address that is not public."
        }
        DialError::LookupTimedOut | DialError::LookupFailed => {
            "Check the name servers of the domain. If they are in order, try again in a few minutes."
        }
        DialError::Blocked => {
            "The target has to be reachable from the internet. Use its public address, or ask the operator of this service to open this one."
        }
        DialError::Unreached(_) => "Start the target and let this service through its firewall.",
    }
}
