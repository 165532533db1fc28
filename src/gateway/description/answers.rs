//! What an operation answers: its success, and everything that may go wrong, each with its media types and headers.

use serde_json::json;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder, Responses, ResponsesBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{Content, Header, Ref, RefOr};

use super::shapes::{Schemas, Types, of};
use crate::contract::error::{ErrorData, ErrorResponse};
use crate::contract::reports::ReportType;
use crate::gateway::domain::route_table::{Answer, Body, Keep, Route, Verb};

const JSON: &str = "application/json";
/// RFC 9457.
const PROBLEM_MEDIA: &str = "application/problem+json";
const PROBLEM: &str = "Problem";

/// An error that operations answer.
struct Refusal {
    status: u16,
    name: &'static str,
    words: &'static str,
    /// Whether the scanning service answers it too, in its own form. All others are the gateway's alone.
    is_of_both: bool,
    header: Option<(&'static str, &'static str)>,
}

const fn refusal(status: u16, name: &'static str, words: &'static str, is_of_both: bool) -> Refusal {
    Refusal { status, name, words, is_of_both, header: None }
}

const RETRY: Option<(&str, &str)> = Some(("Retry-After", "Seconds until another try makes sense."));

/// This one has no body.
const BARE: u16 = 408;

const REFUSALS: [Refusal; 17] = [
    refusal(400, "BadRequest", "Something in the request is not what it has to be; the words name it.", true),
    Refusal {
        header: Some(("WWW-Authenticate", "The scheme that is wanted.")),
        ..refusal(401, "Unauthorized", "There is no credential, or none that is known.", true)
    },
    refusal(403, "Forbidden", "The caller may not do this; for a share: its code is missing or wrong.", true),
    refusal(404, "NotFound", "There is no such thing, or it is not the caller's to see.", true),
    Refusal {
        header: Some(("Allow", "The methods that there are.")),
        ..refusal(405, "MethodNotAllowed", "The path is right, the method is not.", true)
    },
    refusal(BARE, "RequestTimeout", "The call did not come in time; the connection is closed.", false),
    refusal(412, "PreconditionFailed", "It is not any more what If-Match or If-Unmodified-Since say.", true),
    refusal(413, "ContentTooLarge", "The body is larger than allowed.", true),
    refusal(414, "UriTooLong", "The path, or path and query together, are longer than allowed.", false),
    refusal(
        415,
        "UnsupportedMediaType",
        "The body has a Content-Encoding; or a signed-in person's page sends something else than application/json.",
        false,
    ),
    refusal(421, "MisdirectedRequest", "No company's portal is at this host.", false),
    Refusal {
        header: RETRY,
        ..refusal(429, "TooManyRequests", "Too much in a short time, or other work has to end first.", true)
    },
    refusal(431, "RequestHeaderFieldsTooLarge", "The headers are larger or more than allowed.", false),
    refusal(500, "InternalServerError", "Something went wrong inside. It has been noted.", true),
    refusal(502, "BadGateway", "The scanning service cannot be reached or gives no usable answer.", false),
    Refusal {
        header: RETRY,
        ..refusal(503, "ServiceUnavailable", "A part cannot be reached for a moment. Nothing is lost.", true)
    },
    refusal(504, "GatewayTimeout", "The scanning service did not answer in time.", false),
];

impl Refusal {
    fn is_of(&self, route: &Route) -> bool {
        match self.status {
            412 => route.verb == Verb::Get,
            413 | 415 => route.body != Body::Nothing,
            _ => true,
        }
    }

    /// Whether it may come of a call that was counted: others are refused before anybody is recognised.
    const fn is_counted(&self) -> bool {
        !matches!(self.status, BARE | 414 | 421 | 431)
    }
}

/// The answers of one operation.
pub(super) fn of_route(route: &Route, types: &Types, into: &mut Schemas) -> Responses {
    let mut all = ResponsesBuilder::new().response("200", success(route, types, into));
    if route.verb == Verb::Get && route.answer == Answer::Stream {
        let words = "A part of the report, where the service serves parts and the request names one.";
        all = all.response("206", with_media(with_id(words), &media(route), &bytes()));
        all = all.response("416", with_id("The part that the request names is not there, where the service serves parts."));
    }
    if route.verb == Verb::Get {
        all = all.response("304", with_id("It is still what the caller has, where the answer names its state."));
    }
    for refusal in REFUSALS.iter().filter(|refusal| refusal.is_of(route)) {
        all = all.response(refusal.status.to_string(), RefOr::Ref(Ref::from_response_name(refusal.name)));
    }
    all.build()
}

/// The errors, named.
pub(super) fn refusals(into: &mut Schemas) -> Vec<(&'static str, Response)> {
    let theirs = of::<ErrorResponse>(into);
    of::<ErrorData>(into);
    let ours = into.add(PROBLEM, problem());
    let told = |refusal: &Refusal| {
        let mut answer = if refusal.is_counted() { with_id(refusal.words) } else { named(refusal.words) };
        if refusal.status != BARE {
            answer = answer.content(PROBLEM_MEDIA, Content::new(Some(ours.clone())));
        }
        if refusal.is_of_both {
            answer = answer.content(JSON, Content::new(Some(theirs.clone())));
        }
        if let Some((name, words)) = refusal.header {
            answer = answer.header(name, header(words));
        }
        (refusal.name, answer.build())
    };
    REFUSALS.iter().map(told).collect()
}

fn success(route: &Route, types: &Types, into: &mut Schemas) -> Response {
    let mut answer = match (route.answer, types.answers) {
        (Answer::Stream, _) => {
            let answer = with_media(with_id("The file."), &media(route), &bytes());
            answer.header("Content-Disposition", header("The file's name."))
        }
        (Answer::Json, Some(shape)) => with_id("Done.").content(JSON, Content::new(Some(shape(into)))),
        (Answer::Nothing, Some(shape)) => {
            let words = "Done. Empty when all of it was done; otherwise it says what could not be.";
            with_id(words).content(JSON, Content::new(Some(shape(into))))
        }
        (_, None) => with_id("Done. The body is empty."),
    };
    if route.keep != Keep::Never {
        let words = "RFC 9211: whether the answer was kept here; for administrators and programs.";
        answer = answer.header("Cache-Status", header(words));
    }
    if route.verb == Verb::Get && route.answer == Answer::Json {
        return answer.header("ETag", header("Names this state of it, for `If-None-Match`.")).build();
    }
    answer.build()
}

/// What a streamed answer may be.
fn media(route: &Route) -> Vec<&'static str> {
    if route.query.contains(&"type") {
        return [ReportType::Pdf, ReportType::Html, ReportType::CycloneDx, ReportType::Spdx].map(ReportType::media_type).into();
    }
    vec!["application/zip"]
}

fn bytes() -> Schema {
    ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("Bytes.")).into()
}

fn with_media(answer: ResponseBuilder, media: &[&'static str], schema: &Schema) -> ResponseBuilder {
    media.iter().fold(answer, |answer, media| answer.content(*media, Content::new(Some(schema.clone()))))
}

fn named(words: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(words).header("X-Request-Id", header("Names this request in our logs."))
}

fn with_id(words: &str) -> ResponseBuilder {
    let quota = "draft-ietf-httpapi-ratelimit-headers-10, where calls are limited.";
    named(words)
        .header("RateLimit", header(&format!("What is left of the allowance that is nearest to its end; {quota}")))
        .header("RateLimit-Policy", header(&format!("Every allowance that counts for this caller; {quota}")))
}

fn header(words: &str) -> Header {
    HeaderBuilder::new().schema(ObjectBuilder::new().schema_type(Type::String)).description(Some(words)).build()
}

/// A problem document with the members of the interface's ErrorResponse.
fn problem() -> RefOr<Schema> {
    let text = |words: &str| ObjectBuilder::new().schema_type(Type::String).description(Some(words));
    let kind = "`about:blank`, or `token-refreshed-resend`: the same request, sent once more, is taken.";
    ObjectBuilder::new()
        .description(Some("A refusal of the gateway itself (RFC 9457), readable as an ErrorResponse too."))
        .property("type", text(kind))
        .property("title", text("What happened, in short."))
        .property(
            "status",
            ObjectBuilder::new()
                .schema_type(Type::Integer)
                .minimum(Some(400))
                .maximum(Some(599))
                .description(Some("The status of the answer.")),
        )
        .property("detail", text("What happened, in plain words."))
        .property(
            "success",
            ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([json!(false)])).description(Some("Always false.")),
        )
        .property("message", text("The same as `detail`."))
        .property("data", RefOr::<Schema>::from(Ref::from_schema_name("ErrorData")))
        .property(
            "login_url",
            ObjectBuilder::new()
                .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
                .description(Some("Where a person signs in again, below the server's address.")),
        )
        .property("request_id", text("The same as the header `X-Request-Id`."))
        .required("type")
        .required("title")
        .required("status")
        .required("detail")
        .required("success")
        .required("message")
        .required("data")
        .required("request_id")
        .into()
}
