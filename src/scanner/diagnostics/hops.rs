//! The last stages: does the target answer as a web server, and where does it send its readers. Every hop goes the whole way
//! again: how it is written, whether it may be looked at, what its name leads to.

use std::time::Duration;

use url::Url;

use super::network::Target;
use super::stage::{Ended, Outcome, dial_hint, sentence};
use crate::platform::hostile::Hostile;
use crate::scanner::dialer::Checked;
use crate::scanner::fetch::{Answer, Fault, Fetch, HttpFault, Limits, Method};

/// Bytes of a body that are read to tell its size.
const BODY_BYTES: usize = 64 << 10;
/// Hops that are followed.
const MOST_HOPS: usize = 5;
/// The longest address of a hop that is told, in characters.
const LONGEST_TOLD: usize = 300;

/// HTTP: HEAD, which some servers do not know, then GET, which counts.
pub(super) async fn first(fetch: &Fetch, target: &Target, to: Checked, within: Duration) -> Ended<Answer> {
    let limits = Limits { body: BODY_BYTES, within };
    let none = |fault: &Fault| Outcome::new("HTTP server is not available", sentence(&fault.to_string()), hint(fault));
    let head = fetch.ask(Method::HEAD, &target.url, to, limits).await;
    if let Err(fault @ Fault::Http(HttpFault::Slow)) = &head {
        return Err(none(fault));
    }
    let answer = fetch.ask(Method::GET, &target.url, to, limits).await.map_err(|fault| none(&fault))?;
    let mut lines = vec![told("GET", &answer)];
    match head {
        Ok(head) if head.status == answer.status => {}
        Ok(head) => lines.push(format!("HEAD: {} {}", head.status, head.reason)),
        Err(fault) => lines.push(sentence(&format!("HEAD was not answered: {fault}"))),
    }
    if matches!(answer.status, 502..=504) {
        let hint = "Something in front of the target answers, and the target behind it does not. Start it, then try again.";
        return Err(Outcome::new("HTTP server is not available", lines.join("\n"), hint));
    }
    let hint = match answer.status {
        401 | 403 | 429 => "The server turns this service away here. A web application firewall may have to let it through.",
        404 | 410 => "The server answers, and there is no page at this address. Check the path.",
        400..=499 => "The server answers, and does not like the request. Check the address.",
        500.. => "The server answers with an error of its own. Check that the target works.",
        _ => "",
    };
    Ok((answer, Outcome::new("HTTP server is available", lines.join("\n"), hint)))
}

/// Status, server, kind and size; nothing of the body.
fn told(method: &str, answer: &Answer) -> String {
    let mut parts = vec![format!("{method}: {} {}", answer.status, answer.reason).trim_end().to_owned()];
    parts.extend(answer.server.as_ref().map(|server| format!("server {server}")));
    parts.extend(answer.content_type.as_ref().map(|kind| format!("type {kind}")));
    let size = answer.body.len();
    parts.push(if answer.is_whole { format!("{size} bytes") } else { format!("more than {size} bytes") });
    parts.join(", ")
}

/// REDIRECTS: followed by hand.
pub(super) async fn follow(fetch: &Fetch, target: &Target, first: Answer, within: Duration) -> Ended<()> {
    let (mut at, mut answer) = (target.url.clone(), first);
    let mut visited = vec![bare(&at)];
    let mut lines = Vec::new();
    while let Some(location) = answer.location.take_if(|_| matches!(answer.status, 301 | 302 | 303 | 307 | 308)) {
        let stop = |words: &str, hint: &str| {
            let mut seen: Vec<String> = lines.clone();
            seen.push(words.to_owned());
            Outcome::new("The target redirects to where this service does not follow", seen.join("\n"), hint)
        };
        let next =
            at.join(&location).map_err(|_| stop("The redirect leads to no web address.", "Correct the Location header."))?;
        let hop = Target::new(next).map_err(|(seen, _)| stop(seen, "Have the target redirect to an address it is meant for."))?;
        if at.scheme() == "https" && hop.url.scheme() == "http" {
            return Err(stop("The redirect leads from https to http.", "Redirect to https addresses only."));
        }
        if visited.len() > MOST_HOPS {
            return Err(stop(&format!("There are more than {MOST_HOPS} redirects."), "Redirect to the final address at once."));
        }
        if visited.contains(&bare(&hop.url)) {
            return Err(stop("The redirects go in a circle.", "Have one of the addresses answer instead of redirecting."));
        }
        let limits = Limits { body: BODY_BYTES, within };
        // Where a closed address would be is not told.
        answer = fetch.get(&hop.url, limits).await.map_err(|fault| stop(&sentence(&fault.to_string()), hint(&fault)))?;
        lines.push(format!("{}: {} {}", shown(&hop.url), answer.status, answer.reason).trim_end().to_owned());
        visited.push(bare(&hop.url));
        at = hop.url;
    }
    if lines.is_empty() {
        return Ok(((), Outcome::new("No redirects", "The target answers by itself.", "")));
    }
    Ok(((), Outcome::new(format!("Redirects end at {}", shown(&at)), lines.join("\n"), "")))
}

/// What of an address is asked for: a fragment stays with the reader.
fn bare(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.to_string()
}

fn shown(url: &Url) -> String {
    Hostile::from(url.as_str()).short(LONGEST_TOLD)
}

fn hint(fault: &Fault) -> &'static str {
    match fault {
        Fault::Dial(error) => dial_hint(error),
        Fault::Certificate(_) | Fault::Tls(_) => "Check the certificate and the TLS settings of that server.",
        Fault::Connect(_) => "The server stopped taking connections. It may limit how many come from one address.",
        Fault::Http(HttpFault::Slow | HttpFault::SlowBody) => {
            "The server takes connections and is slow to answer. Check its load, and whether a firewall holds requests back."
        }
        Fault::Http(HttpFault::NotHttp) => {
            "Another service than a web server listens on this port. Correct the port, or use https."
        }
        Fault::Http(_) => "Check the logs of the server; something in front of it may close connections of unknown clients.",
    }
}
