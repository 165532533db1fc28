//! The stage of TLS: version, certificate, and what is wrong with it.

use super::network::Target;
use super::stage::{Ended, Outcome, sentence};
use crate::platform::clock::Timestamp;
use crate::scanner::dialer::Checked;
use crate::scanner::fetch::{Certificate, Fault, Fetch, Handshake, Problem, TlsFault};

/// TLS.
pub(super) async fn handshake(fetch: &Fetch, target: &Target, to: Checked) -> Ended<()> {
    let Handshake { version, alpn, chain, problems, .. } = fetch
        .shake_hands(&target.url, to)
        .await
        .map_err(|fault| Outcome::new("No TLS connection", sentence(&fault.to_string()), fault_hint(&fault)))?;
    let mut lines =
        vec![format!("{version}, {}.", alpn.map_or_else(|| "no protocol chosen".to_owned(), |name| format!("protocol {name}")))];
    if let Some(leaf) = chain.first() {
        lines.push(format!("Valid from {} until {}.", day(leaf.not_before), day(leaf.not_after)));
        lines.push(format!("For {}.", if leaf.names.is_empty() { "no host".to_owned() } else { leaf.names.join(", ") }));
    }
    lines.extend(chain.iter().map(told));
    let Some(first) = problems.first() else {
        return Ok(((), Outcome::new(format!("{version} with a valid certificate"), lines.join("\n"), "")));
    };
    let mut seen: Vec<String> =
        problems.iter().map(|problem| sentence(&format!("the certificate is not valid: {problem}"))).collect();
    seen.append(&mut lines);
    Err(Outcome::new(headline(first), seen.join("\n"), problem_hint(first)))
}

fn told(certificate: &Certificate) -> String {
    format!("{}, issued by {}.", certificate.subject, certificate.issuer)
}

fn day(at: Timestamp) -> String {
    at.rfc3339().chars().take(10).collect()
}

const fn headline(problem: &Problem) -> &'static str {
    match problem {
        Problem::Unreadable => "The certificate cannot be read",
        Problem::SelfSigned => "The certificate is self-signed",
        Problem::Untrusted => "The certificate comes from an unknown authority",
        Problem::Expired(_) => "The certificate has expired",
        Problem::NotYetValid(_) => "The certificate is not valid yet",
        Problem::WrongName(_) => "The certificate is for another name",
        Problem::Other(_) => "The certificate cannot be used",
    }
}

const fn problem_hint(problem: &Problem) -> &'static str {
    match problem {
        Problem::Unreadable | Problem::Other(_) => "Install a certificate for web servers from a public authority.",
        Problem::SelfSigned => "Install a certificate from a public authority, or check the target over http.",
        Problem::Untrusted => {
            "Install a certificate from a public authority, and have the server send the certificates in between."
        }
        Problem::Expired(_) => "Renew the certificate and reload the server.",
        Problem::NotYetValid(_) => {
            "Wait until the certificate is valid, or install another one. Check the clock of whoever made it."
        }
        Problem::WrongName(_) => "Use a name the certificate is for, or install one for this host.",
    }
}

const fn fault_hint(fault: &Fault) -> &'static str {
    match fault {
        Fault::Tls(TlsFault::NotTls) => "The port seems to speak plain http. Use http:// for this port, or the port with TLS.",
        Fault::Tls(TlsFault::NothingInCommon) => "Switch TLS 1.2 or 1.3 on at the server, with a cipher of today.",
        Fault::Tls(TlsFault::ClientCertificate) => "Have the server let this service in without a client certificate.",
        Fault::Tls(TlsFault::UnknownSite) => "Set up a site of this name at the server, with its certificate.",
        _ => "Check the TLS settings of the server, and whether something in front of it closes connections.",
    }
}
