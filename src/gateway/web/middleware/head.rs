//! Refuses requests whose address or headers are larger than the settings allow, before anything is looked up for them.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{RequestHead, ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError as _};

use crate::config::gateway::Connection;
use crate::gateway::web::error::WebError;

/// `: ` and the line break of a header.
const AROUND: usize = 4;

pub(in crate::gateway) async fn head(
    bounds: Connection,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    if let Some(refusal) = refusal(request.head(), &bounds) {
        return Ok(request.into_response(refusal.error_response()));
    }
    Ok(next.call(request).await?.map_into_boxed_body())
}

/// 414 or 431 (RFC 6585), where the request is too large.
pub(in crate::gateway) fn refusal(head: &RequestHead, bounds: &Connection) -> Option<WebError> {
    let address = head.uri.path().len() + head.uri.query().map_or(0, |query| query.len() + 1);
    let refuse = |status, words: String| Some(WebError { words: words.into(), ..WebError::of_status(status) });
    if address > bounds.uri_bytes {
        return refuse(StatusCode::URI_TOO_LONG, format!("The address is longer than {} bytes.", bounds.uri_bytes));
    }
    let (mut fields, mut bytes) = (0, 0);
    for (name, value) in &head.headers {
        fields += 1;
        bytes += name.as_str().len() + value.len() + AROUND;
    }
    if fields > bounds.head_fields || bytes > bounds.head_bytes {
        let words = format!(
            "The request has more than {} headers, or more than {} bytes of them.",
            bounds.head_fields, bounds.head_bytes
        );
        return refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, words);
    }
    None
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    const BOUNDS: Connection = Connection {
        keep_alive_seconds: 1,
        head_seconds: 1,
        uri_bytes: 20,
        head_bytes: 60,
        head_fields: 3,
        stall_seconds: 1,
        stall_bytes: 1,
    };

    #[test]
    fn an_address_and_headers_have_a_size_each() {
        let status = |request: TestRequest| refusal(request.to_srv_request().head(), &BOUNDS).map(|error| error.status.as_u16());
        let get = |uri: &str| TestRequest::get().uri(uri);
        assert_eq!(status(get("/12345678901234567?x")), None);
        assert_eq!(status(get("/12345678901234567?xy")), Some(414));
        assert_eq!(status(get("/123456789012345678901")), Some(414));
        let with = |headers: &[(&'static str, &str)]| {
            headers.iter().fold(get("/"), |request, header| request.append_header((header.0, header.1)))
        };
        assert_eq!(status(with(&[("a", "1"), ("a", "2"), ("b", "3")])), None);
        assert_eq!(status(with(&[("a", "1"), ("a", "2"), ("b", "3"), ("c", "4")])), Some(431));
        assert_eq!(status(with(&[("a", &"x".repeat(55))])), None);
        assert_eq!(status(with(&[("a", &"x".repeat(56))])), Some(431));
    }
}
