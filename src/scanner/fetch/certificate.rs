//! What a certificate says, and what may be wrong with it. Judges no chain: that is done beside, in `tls`.

use std::net::IpAddr;

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer as _;

use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// The longest name that is told, in characters.
const LONGEST_NAME: usize = 120;
/// Names of one certificate that are told.
const MOST_NAMES: usize = 20;

/// A certificate as far as people want to know it. Its texts are safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scanner) struct Certificate {
    pub(in crate::scanner) subject: String,
    pub(in crate::scanner) issuer: String,
    /// Names and addresses it is for; at most the first twenty.
    pub(in crate::scanner) names: Vec<String>,
    pub(in crate::scanner) not_before: Timestamp,
    pub(in crate::scanner) not_after: Timestamp,
    /// It names itself as its issuer.
    pub(in crate::scanner) is_self_issued: bool,
}

/// What is wrong with a certificate or its chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum Problem {
    #[error("the server sent none that can be read")]
    Unreadable,
    #[error("it is self-signed: nobody vouches for it")]
    SelfSigned,
    #[error("no authority that is trusted here has issued it, or a certificate in between is missing")]
    Untrusted,
    #[error("it expired on {0}")]
    Expired(String),
    #[error("it is valid only from {0}")]
    NotYetValid(String),
    #[error("it is not for this host but for {0}")]
    WrongName(String),
    #[error("it may not be used like this ({0})")]
    Other(String),
}

impl Certificate {
    pub(super) fn read(der: &[u8]) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(der).ok()?;
        let at = |seconds: i64| Timestamp(seconds.saturating_mul(1000));
        let names = parsed.subject_alternative_name().ok().flatten();
        let names = names.iter().flat_map(|names| &names.value.general_names).filter_map(name).take(MOST_NAMES);
        Some(Self {
            subject: shown(&parsed.subject().to_string()),
            issuer: shown(&parsed.issuer().to_string()),
            names: names.collect(),
            not_before: at(parsed.validity().not_before.timestamp()),
            not_after: at(parsed.validity().not_after.timestamp()),
            is_self_issued: parsed.subject().as_raw() == parsed.issuer().as_raw(),
        })
    }
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(shown(name)),
        GeneralName::IPAddress(bytes) => {
            let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from)).ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

fn shown(text: &str) -> String {
    if text.is_empty() { "(no name)".to_owned() } else { Hostile::from(text).short(LONGEST_NAME) }
}
