//! The net under every handler: a panic becomes a 500 with an ErrorResponse, and the worker lives on.

use std::panic::AssertUnwindSafe;

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use futures_util::FutureExt as _;

use super::error::Failure;

pub(super) async fn no_panic_gets_out<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, Error> {
    // Requests share nothing that a panic could leave half changed: state lies behind transactions.
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(answer) => answer,
        Err(_) => Err(Failure::internal("a handler panicked").into()),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use actix_web::{App, HttpResponse, middleware, test, web};

    #[actix_web::test]
    async fn a_panic_is_a_500_with_an_error_body() {
        async fn broken() -> HttpResponse {
            panic!("on purpose")
        }
        let app = test::init_service(
            App::new().wrap(middleware::from_fn(super::no_panic_gets_out)).route("/broken", web::get().to(broken)),
        )
        .await;
        let error = test::try_call_service(&app, test::TestRequest::get().uri("/broken").to_request()).await.err().unwrap();
        let answer = error.error_response();
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let body = actix_web::body::to_bytes(answer.into_body()).await.ok().unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["data"]["errCode"], 5000);
        assert_eq!(body["success"], false);
    }
}
