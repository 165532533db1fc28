//! The operations listener: metrics and probes for operators, on an address of its own. It knows no tenant, no session and no
//! cookie, and no browser has any business there.

use std::net::{SocketAddr, TcpListener};

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Server, ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, HeaderName, HeaderValue, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data};
use actix_web::{App, Error, HttpResponse, HttpServer};

use super::handlers::ops;
use super::urls;
use crate::gateway::operations::MetricsPage;
use crate::gateway::services::health::Health;

/// What is shown there.
#[derive(Clone)]
pub(in crate::gateway) struct Operations {
    pub(in crate::gateway) health: Health,
    pub(in crate::gateway) page: MetricsPage,
}

/// A server on `listener`, not yet awaited, and its address. The caller handles signals.
pub(in crate::gateway) fn serve(listener: TcpListener, shown: Operations) -> std::io::Result<(Server, SocketAddr)> {
    let address = listener.local_addr()?;
    let factory = move || {
        let Operations { health, page } = shown.clone();
        App::new()
            .app_data(Data::new(health))
            .app_data(Data::new(page))
            .service(web::resource(urls::METRICS).route(web::get().to(ops::metrics)))
            .service(web::resource(urls::LIVEZ).route(web::get().to(ops::live)).route(web::head().to(ops::live)))
            .service(web::resource(urls::READYZ).route(web::get().to(ops::state)).route(web::head().to(ops::state)))
            .wrap(from_fn(programs_only))
    };
    let server = HttpServer::new(factory).workers(1).disable_signals().shutdown_timeout(1);
    Ok((server.listen(listener)?.run(), address))
}

/// Refuses pages of browsers, which may reach the listener through a name that was made to point at it.
async fn programs_only(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let site = request.headers().get("sec-fetch-site");
    let by_page = site.is_some_and(|site| site != "none") || request.headers().contains_key(ORIGIN);
    let mut answer = if by_page {
        request.into_response(HttpResponse::Forbidden().finish())
    } else {
        next.call(request).await?.map_into_boxed_body()
    };
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("content-security-policy"), HeaderValue::from_static("default-src 'none'"));
    Ok(answer)
}
