//! What an API call carries: JSON is read whole within its limit, forms stream through, anything else is left aside.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use actix_web::web::Payload;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use tokio::time::timeout;

use super::answer::Refusal;
use crate::config::gateway::Limits;
use crate::gateway::domain::api_path::Found;
use crate::gateway::domain::route_table::Body;
use crate::gateway::services::api::{Cut, Sent, boundary, checked};
use crate::gateway::services::error::Error;
use crate::gateway::services::uploads::too_large;
use crate::gateway::session::Seen;
use crate::gateway::web::error::WebError;
use crate::gateway::web::middleware::csrf;

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
            Some(Cut::Unreadable) => "The body is no multipart form that can be read. Nothing was kept.",
            Some(Cut::Stopped) => "The upload stopped before it was whole. Nothing was kept.",
        };
        WebError::bad_request(words).into()
    }
}

/// The body of a request.
pub(super) async fn read(
    found: &Found,
    (request, payload): (&HttpRequest, Payload),
    limits: &Limits,
    seen: Option<&Seen>,
) -> Result<(Sent, Reason), Refusal> {
    let idle = Duration::from_secs(limits.body_idle_seconds);
    match found.route.body {
        Body::Nothing => Ok((Sent::Whole(None), Reason::default())),
        Body::Json => {
            // What a browser sends for another site without asking first is taken from no page. Others are judged by the service.
            if seen.is_some() && !csrf::is_json(request.headers()) {
                csrf::count("media_type");
                return Err(WebError::unsupported_media_type("This operation takes application/json.").into());
            }
            let body = whole(payload, limits.json_bytes, idle).await?;
            Ok((Sent::Whole(Some(body)), Reason::default()))
        }
        Body::Multipart => form(request, payload, limits, (idle, seen)),
    }
}

async fn whole(mut payload: Payload, most: usize, idle: Duration) -> Result<Bytes, WebError> {
    let mut all = BytesMut::new();
    loop {
        let piece = timeout(idle, payload.next()).await.map_err(|_| WebError::bad_request("The body stopped moving."))?;
        let Some(piece) = piece else { return Ok(all.freeze()) };
        let piece = piece.map_err(|_| WebError::bad_request("The body was cut before it was whole."))?;
        if all.len() + piece.len() > most {
            return Err(WebError::too_large(format!("The body is larger than {most} bytes.")));
        }
        all.extend_from_slice(&piece);
    }
}

fn form(
    request: &HttpRequest,
    payload: Payload,
    limits: &Limits,
    (idle, seen): (Duration, Option<&Seen>),
) -> Result<(Sent, Reason), Refusal> {
    let media = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(boundary) = boundary(media) else {
        // The status that the interface has for it (section 7).
        return Err(WebError::bad_request("This operation takes multipart/form-data with the part file.").into());
    };
    let most = limits.upload_bytes;
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > most) {
        return Err(WebError::too_large(too_large(most)).into());
    }
    let reason = Reason(Rc::default(), most);
    let note = reason.clone();
    let expected = announced(request.query_string()).map(|sha256| (boundary, sha256));
    let body = match seen.and_then(Seen::tether) {
        Some(tether) => tether.hold(moving(payload, idle), |_| Err(Cut::Stopped)).boxed_local(),
        None => moving(payload, idle).boxed_local(),
    };
    let stream = checked(body, most, expected, move |cut| note.0.set(Some(cut)));
    Ok((Sent::stream(stream, length), reason))
}

/// The `sha256` of the query, when there is one of the right length.
fn announced(query: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("sha256="))?;
    (value.len() == 64).then(|| value.to_owned())
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
