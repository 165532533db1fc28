//! The status of a task as server-sent events.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::{Bytes, Data};
use futures_util::StreamExt as _;
use serde_json::json;

use crate::contract::ids::TaskId;
use crate::gateway::services::Services;
use crate::gateway::services::live::Event;
use crate::gateway::session::Portal;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Path, Watching};
use crate::gateway::web::urls;
use crate::gateway::web::views::task::LiveView;

/// Milliseconds before a browser whose stream ended asks again.
const RETRY: &str = "retry: 3000\n\n";

/// Events `status`, `signed-out` (`{"reason", "words"}`) and `gone`; a comment when nothing changed. Watching does not count as using the session.
pub(in crate::gateway) async fn watch(
    Watching(actor): Watching,
    portal: Portal,
    Path(id): Path<TaskId>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    // A service that is down now may answer later; a task that is not there will not.
    if let Err(error) = services.tasks.get(&actor, &id).await.map_err(WebError::from)
        && error.status == StatusCode::NOT_FOUND
    {
        return Err(error);
    }
    let tether = portal.tether().ok_or_else(|| WebError::sign_in(urls::LOGIN.to_owned()))?;
    let events = tether.hold(services.live.watch(actor, id), Event::SignedOut).map(|event| text(&event));
    let first = futures_util::stream::iter([RETRY.to_owned()]);
    let body = first.chain(events).map(|text| Ok::<_, actix_web::Error>(Bytes::from(text)));
    Ok(HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "text/event-stream"))
        .insert_header(("x-accel-buffering", "no"))
        .streaming(body))
}

fn text(event: &Event) -> String {
    match event {
        Event::Changed(task) => match serde_json::to_string(&LiveView::of(task)) {
            Ok(data) => format!("event: status\ndata: {data}\n\n"),
            Err(_) => ": \n\n".to_owned(),
        },
        Event::Quiet => ": as before\n\n".to_owned(),
        Event::SignedOut(ending) => {
            let data = json!({ "reason": ending.name(), "words": ending.words() });
            format!("event: signed-out\ndata: {data}\n\n")
        }
        Event::Gone => "event: gone\ndata: {}\n\n".to_owned(),
    }
}
