//! What caches may do with answers: nothing, but for reads of tasks and what they found. Of those this says nothing, which
//! leaves them to caches that keep an answer for its caller alone (RFC 9111, 3.5: whatever carries `Authorization`).

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use actix_web::middleware::Next;

use crate::contract::paths;

/// Reads that callers repeat.
const READS: [&str; 9] = [
    paths::TASK,
    paths::TASKS_SEARCH,
    paths::RESULTS_STAT,
    paths::RESULTS_SEARCH,
    paths::RESULT,
    paths::CHAINS_SEARCH,
    paths::COMPONENTS_SEARCH,
    paths::DIAGNOSTICS_NEXT,
    paths::PUBLISHABLE_KEY,
];

pub(super) async fn no_store_but_for_reads<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    let mut answer = next.call(request).await?;
    let pattern = answer.request().match_pattern();
    let is_read = pattern.is_some_and(|pattern| READS.iter().any(|read| pattern.ends_with(read)));
    let says_nothing = is_read && answer.status() == StatusCode::OK;
    if !says_nothing && !answer.headers().contains_key(CACHE_CONTROL) {
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(answer)
}
