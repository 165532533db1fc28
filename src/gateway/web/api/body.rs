//! What an API call carries: JSON is read whole within its limit, forms stream through, anything else is left aside.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use percent_encoding::percent_decode_str;
use tokio::time::timeout;

use super::answer::Refusal;
use super::bond::Bond;
use crate::config::gateway::Limits;
use crate::gateway::domain::api_path::Found;
use crate::gateway::domain::route_table::Body;
use crate::gateway::services::api::{Cut, Sent, boundary, checked};
use crate::gateway::services::error::Error;
use crate::gateway::services::uploads::too_large;
use crate::gateway::web::error::WebError;

/// Why a body that streams was cut, for the answer.
#[derive(Clone, Default)]
pub(super) struct Reason(Rc<Cell<Option<Cut>>>, u64);

impl Reason {
    /// The error of a call, told by why its body was cut if it was.
    pub(super) fn explain(&self, error: Error) -> Refusal {
        let words = match self.0.get() {
            None => return error.into(),
            Some(Cut::TooLarge) => return WebError::too_large(too_large(self.1)).into(),
            Some(Cut::Changed) => "The bytes that arrived do not have the sha256 of the query. Nothing was kept.",
            Some(Cut::Unreadable) => UNREADABLE,
            Some(Cut::Ended(words)) => return Refusal::unauthorized(words),
            Some(Cut::Stopped) => "The upload stopped before it was whole. Nothing was kept.",
        };
        WebError::bad_request(words).into()
    }
}

const UNREADABLE: &str = "With sha256 in the query the body has to be a whole multipart form with one part named file, \
     each part with a plain Content-Disposition. Nothing was kept.";

/// The body of a request.
pub(super) async fn read(
    found: &Found,
    (request, payload): (&HttpRequest, Payload),
    limits: &Limits,
    bond: &Bond,
) -> Result<(Sent, Reason), Refusal> {
    let idle = Duration::from_secs(limits.body_idle_seconds);
    if found.route.body != Body::Nothing && is_coded(request) {
        return Err(Refusal::coded());
    }
    match found.route.body {
        Body::Nothing => Ok((Sent::Whole(None), Reason::default())),
        Body::Json => {
            let most = limits.json_bytes;
            if length(request).is_some_and(|length| length > most as u64) {
                return Err(larger(most).into());
            }
            let body = bond.during(pin!(whole(payload, most, idle))).await.map_err(Refusal::unauthorized)??;
            Ok((Sent::Whole(Some(body)), Reason::default()))
        }
        Body::Multipart => form(request, payload, limits, (idle, bond)),
    }
}

/// Whether the body is compressed, or says so: then what is checked here is not what the service would read.
fn is_coded(request: &HttpRequest) -> bool {
    let is_identity = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    let mut values = request.headers().get_all(CONTENT_ENCODING);
    values.any(|value| !value.as_bytes().split(|byte| *byte == b',').all(|coding| is_identity(coding.trim_ascii())))
}

/// Bytes of the body, where that is told.
fn length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn larger(most: usize) -> WebError {
    WebError::too_large(format!("The body is larger than {most} bytes."))
}

async fn whole(mut payload: Payload, most: usize, idle: Duration) -> Result<Bytes, WebError> {
    let mut all = BytesMut::new();
    loop {
        let piece = timeout(idle, payload.next()).await.map_err(|_| WebError::bad_request("The body stopped moving."))?;
        let Some(piece) = piece else { return Ok(all.freeze()) };
        let piece = piece.map_err(|_| WebError::bad_request("The body was cut before it was whole."))?;
        if all.len() + piece.len() > most {
            return Err(larger(most));
        }
        all.extend_from_slice(&piece);
    }
}

fn form(
    request: &HttpRequest,
    payload: Payload,
    limits: &Limits,
    (idle, bond): (Duration, &Bond),
) -> Result<(Sent, Reason), Refusal> {
    // With two of them the service could read another form than we do.
    let mut media = request.headers().get_all(CONTENT_TYPE);
    let media = media.next().filter(|_| media.next().is_none()).and_then(|value| value.to_str().ok());
    let Some(boundary) = media.and_then(boundary) else {
        // The status that the interface has for it (section 7).
        return Err(WebError::bad_request("This operation takes multipart/form-data with the part file.").into());
    };
    let most = limits.upload_bytes;
    let length = length(request);
    if length.is_some_and(|length| length > most) {
        return Err(WebError::too_large(too_large(most)).into());
    }
    let reason = Reason(Rc::default(), most);
    let note = reason.clone();
    let expected = announced(request.query_string()).map_err(WebError::bad_request)?.map(|sha256| (boundary, sha256));
    let body = bond.hold(moving(payload, idle), |words| Err(Cut::Ended(words)));
    let stream = checked(body, (most, limits.part_head_bytes), expected, move |cut| note.0.set(Some(cut)));
    Ok((Sent::stream(stream, length), reason))
}

/// The `sha256` of the query, however it is spelled; words where there are two, or one that is none.
fn announced(query: &str) -> Result<Option<String>, &'static str> {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    // Some part a query at semicolons too.
    let pairs = query.split(['&', ';']).map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut found = pairs.map(|(name, value)| (decoded(name), value)).filter(|(name, _)| is_sha256(name));
    let Some((_, value)) = found.next() else { return Ok(None) };
    if found.next().is_some() {
        return Err("The query names sha256 twice.");
    }
    let value = decoded(value);
    let is_one = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_one { Ok(Some(value)) } else { Err("The sha256 of the query is not 64 hexadecimal digits.") }
}

/// Whether the service may read this name as that of the parameter.
fn is_sha256(name: &str) -> bool {
    name.trim_matches(|c: char| c.is_whitespace() || c == '\0').eq_ignore_ascii_case("sha256")
}

/// Ends in an error after a silence of `idle`.
fn moving(payload: Payload, idle: Duration) -> impl Stream<Item = Result<Bytes, Cut>> {
    futures_util::stream::unfold(Some(payload), move |state| async move {
        let mut payload = state?;
        match timeout(idle, payload.next()).await {
            Ok(Some(Ok(chunk))) => Some((Ok(chunk), Some(payload))),
            Ok(None) => None,
            Ok(Some(Err(_))) | Err(_) => Some((Err(Cut::Stopped), None)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sha256_is_found_however_it_is_spelled_and_one_that_is_none_is_refused() {
        let right = "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789ABCDEF";
        for none in ["", "forceUpload=true", "sha=1", "x=sha256"] {
            assert_eq!(announced(none), Ok(None), "{none}");
        }
        for query in [
            format!("sha256={right}"),
            format!("forceUpload=true&sha256={right}"),
            format!("%73ha256={right}"),
            format!("sha256=%30{}", &right[1..]),
            format!("a=b;sha256={right}"),
            format!("+SHA256={right}&b"),
        ] {
            assert_eq!(announced(&query).unwrap().as_deref(), Some(right), "{query}");
        }
        for bad in [
            "sha256".to_owned(),
            "sha256=".to_owned(),
            "sha256=abc".to_owned(),
            format!("sha256={right}0"),
            format!("sha256=%XX{}", &right[3..]),
            format!("sha256=g{}", &right[1..]),
            format!("sha256={right}&sha256={right}"),
            format!("sha256=abc&sha256={right}"),
            format!("sha256={right}&%53ha256=1"),
        ] {
            assert!(announced(&bad).is_err(), "{bad}");
        }
    }
}
