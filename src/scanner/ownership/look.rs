//! Looks for the content: two files of the web server, and the TXT records of the host, at the same time.

use std::time::Duration;

use futures_util::future::join;
use url::{Host, Url};

use super::Place;
use crate::contract::domains::FILE_NAMES;
use crate::platform::digest;
use crate::scanner::fetch::{Fault, Fetch, Limits};

/// The largest file, in bytes.
const FILE_BYTES: usize = 4 << 10;
/// Redirects that are followed, all on the same host.
const MOST_REDIRECTS: usize = 3;

/// Where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File,
    Record,
}

/// Looks everywhere. Otherwise says what was seen and what to do.
pub(super) async fn look(fetch: &Fetch, place: &Place, content: &str, within: Duration) -> Result<Found, String> {
    let late = |what: &str| format!("{what} did not answer within {} s", within.as_secs());
    let files = async {
        let looked = tokio::time::timeout(within, files(fetch, place, content, within)).await;
        looked.unwrap_or_else(|_| Err(late("the web server")))
    };
    let records = async {
        let looked = tokio::time::timeout(within, records(fetch, place, content)).await;
        looked.unwrap_or_else(|_| Err(late("the name server")))
    };
    match join(files, records).await {
        (Ok(()), _) => Ok(Found::File),
        (_, Ok(())) => Ok(Found::Record),
        (Err(files), Err(records)) => Err(advice(place, &files, &records)),
    }
}

fn advice(place: &Place, files: &str, records: &str) -> String {
    let file = place.root.join("/.well-known/hash.txt").map_or_else(|_| String::new(), String::from);
    let mut text = format!(
        "The content was not found for {}: {files}; {records}. Put the content into {file}, open to everybody",
        place.with_port()
    );
    if matches!(place.root.host(), Some(Host::Domain(_))) {
        text.push_str(", or into a TXT record of ");
        text.push_str(&place.host);
    }
    text.push_str(", then verify again.");
    text
}

/// Both files prove; the words tell of the first alone, the one that people are asked to put there.
async fn files(fetch: &Fetch, place: &Place, content: &str, within: Duration) -> Result<(), String> {
    let mut seen = None;
    for name in FILE_NAMES {
        match file(fetch, place, name, content, within).await {
            Ok(()) => return Ok(()),
            Err(Seen::NoWay(why)) => {
                // The next file would be on the same way.
                seen.get_or_insert_with(|| format!("the web server was not reached: {why}"));
                break;
            }
            Err(Seen::Otherwise(why)) => {
                seen.get_or_insert_with(|| format!("{name} {why}"));
            }
        }
    }
    Err(seen.unwrap_or_default())
}

/// Why a file proves nothing.
enum Seen {
    NoWay(String),
    Otherwise(String),
}

async fn file(fetch: &Fetch, place: &Place, name: &str, content: &str, within: Duration) -> Result<(), Seen> {
    let other = |why: &str| Seen::Otherwise(why.to_owned());
    let mut at = place.root.join(&format!("/.well-known/{name}")).map_err(|_| other("has no address"))?;
    let limits = Limits { body: FILE_BYTES, within };
    for _ in 0..=MOST_REDIRECTS {
        let answer = fetch.get(&at, limits).await.map_err(|fault| match fault {
            Fault::Dial(error) => Seen::NoWay(error.to_string()),
            fault => Seen::Otherwise(format!("could not be read: {fault}")),
        })?;
        if answer.is_redirect() {
            at = next(&at, answer.location.as_deref().unwrap_or_default()).map_err(other)?;
            continue;
        }
        if answer.status != 200 {
            return Err(Seen::Otherwise(format!("answered {} {}", answer.status, answer.reason).trim_end().to_owned()));
        }
        if !answer.is_whole {
            return Err(Seen::Otherwise(format!("is larger than {FILE_BYTES} bytes")));
        }
        let is_it = digest::same(answer.body.trim_ascii(), content.as_bytes());
        return if is_it { Ok(()) } else { Err(other("holds something else")) };
    }
    Err(Seen::Otherwise(format!("redirects more than {MOST_REDIRECTS} times")))
}

/// Where a redirect leads, if it stays on the host.
fn next(at: &Url, location: &str) -> Result<Url, &'static str> {
    let next = at.join(location).map_err(|_| "redirects to no web address")?;
    match next.scheme() {
        _ if next.host() != at.host() => Err("redirects to another host"),
        "https" => Ok(next),
        "http" if at.scheme() == "http" => Ok(next),
        _ => Err("redirects to another scheme"),
    }
}

async fn records(fetch: &Fetch, place: &Place, content: &str) -> Result<(), String> {
    if !matches!(place.root.host(), Some(Host::Domain(_))) {
        return Err("an address without a name has no TXT records".to_owned());
    }
    let with_prefix = format!("hash={content}");
    match fetch.dialer().txt(&place.host).await {
        Ok(texts) => {
            let fits = |text: &str| {
                let text = text.trim().as_bytes();
                digest::same(text, content.as_bytes()) | digest::same(text, with_prefix.as_bytes())
            };
            // All of them are compared, wherever the right one stands.
            let found = texts.iter().fold(false, |found, text| found | fits(text));
            if found { Ok(()) } else { Err(format!("no TXT record of {} holds it", place.host)) }
        }
        Err(error) => Err(format!("TXT records of {} could not be read: {error}", place.host)),
    }
}
