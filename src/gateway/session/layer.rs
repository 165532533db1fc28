//! The middleware around actix-session's: scope of the request, outages, and what the browser is told.

use std::rc::Rc;
use std::sync::Arc;

use actix_session::SessionMiddleware;
use actix_session::config::{BrowserSession, CookieContentSecurity, TtlExtensionPolicy};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::cookie::SameSite;
use actix_web::dev::{Service, ServiceRequest, ServiceResponse, Transform};
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpMessage as _, HttpResponse};
use futures_util::future::LocalBoxFuture;

use super::Parts;
use super::cookie::{self, Signer};
use super::records::Records;
use super::scope::{Fate, Scope, Visit};
use crate::gateway::domain::tenant::TenantId;

/// Seconds after which asking again makes sense.
const RETRY_AFTER: usize = 5;

/// The store did not answer: 503 with Retry-After, cookies as they are. An answer, not an error: the middleware around this
/// one puts its headers on it and makes the portal's page of it.
fn sessions_down() -> HttpResponse {
    HttpResponse::ServiceUnavailable()
        .insert_header((header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER)))
        .content_type("text/plain; charset=utf-8")
        .body("The portal cannot reach its session store at the moment. You are still signed in; please try again in a few seconds.")
}

/// The middleware. One for each worker.
pub(in crate::gateway) struct Layer {
    parts: Arc<Parts>,
    signer: Rc<Signer>,
    inner: SessionMiddleware<Records>,
}

impl Layer {
    pub(super) fn new(parts: &Arc<Parts>) -> Self {
        let cookie = &parts.settings.cookie;
        let signer = Signer::new(cookie, &parts.ring);
        // The lifetime that actix-session would give is not used: records.rs knows both limits.
        let lifecycle = BrowserSession::default().state_ttl_extension_policy(TtlExtensionPolicy::OnStateChanges);
        let inner = SessionMiddleware::builder(Records(Arc::clone(parts)), signer.newest())
            .cookie_name(cookie.name.clone())
            .cookie_secure(cookie.secure)
            .cookie_http_only(true)
            .cookie_same_site(SameSite::Lax)
            .cookie_path("/".to_owned())
            .cookie_content_security(CookieContentSecurity::Signed)
            .session_lifecycle(lifecycle)
            .build();
        Self { parts: Arc::clone(parts), signer: Rc::new(signer), inner }
    }
}

impl<S, B> Transform<S, ServiceRequest> for Layer
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = actix_web::Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<BoxBody>;
    type Error = actix_web::Error;
    type Transform = LayerService<<SessionMiddleware<Records> as Transform<Gate<S>, ServiceRequest>>::Transform>;
    type InitError = ();
    type Future = LocalBoxFuture<'static, Result<Self::Transform, ()>>;

    fn new_transform(&self, service: S) -> Self::Future {
        let (inner, signer) = (self.inner.new_transform(Gate(service)), Rc::clone(&self.signer));
        let records = Records(Arc::clone(&self.parts));
        Box::pin(async move { Ok(LayerService { inner: inner.await?, signer, records }) })
    }
}

/// Inside of the session: lets nothing in whose session could not be read.
pub(in crate::gateway) struct Gate<S>(S);

impl<S, B> Service<ServiceRequest> for Gate<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = actix_web::Error>,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<BoxBody>;
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<ServiceResponse<BoxBody>, actix_web::Error>>;

    fn poll_ready(&self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        if Scope::current().is_some_and(|scope| scope.fate.get() == Fate::Unavailable) {
            return Box::pin(async { Ok(request.into_response(sessions_down())) });
        }
        let answer = self.0.call(request);
        Box::pin(async { Ok(answer.await?.map_into_boxed_body()) })
    }
}

/// The middleware around one service.
pub(in crate::gateway) struct LayerService<S> {
    inner: S,
    signer: Rc<Signer>,
    records: Records,
}

impl<S> Service<ServiceRequest> for LayerService<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<BoxBody>, Error = actix_web::Error>,
    S::Future: 'static,
{
    type Response = ServiceResponse<BoxBody>;
    type Error = actix_web::Error;
    type Future = LocalBoxFuture<'static, Result<ServiceResponse<BoxBody>, actix_web::Error>>;

    actix_web::dev::forward_ready!(inner);

    fn call(&self, mut request: ServiceRequest) -> Self::Future {
        let tenant = request.extensions().get::<TenantId>().cloned();
        let visit = request.extensions().get::<Visit>().cloned().unwrap_or_default();
        let scope = Scope::new(&self.records.0, tenant, visit);
        request.extensions_mut().insert(Rc::clone(&scope));
        cookie::tidy(request.headers_mut());
        let renewed = self.signer.renew(request.headers_mut());
        let (signer, records) = (Rc::clone(&self.signer), self.records.clone());
        let answer = Rc::clone(&scope).run(self.inner.call(request));
        Box::pin(async move {
            let mut answer = answer.await?;
            if scope.fate.get() == Fate::Unavailable {
                // What the handler answered, and any cookie with it, rests on a session that is not there.
                return Ok(answer.into_response(sessions_down()));
            }
            if scope.fate.get() == Fate::NotWritten {
                signer.withdraw(answer.headers_mut());
            }
            signer.sign_anew(answer.headers_mut());
            tell_renewed(&signer, renewed, &scope, &mut answer);
            records.extend(&scope).await;
            Ok(answer)
        })
    }
}

/// Gives the browser the cookie of the signing key that seals now, when its session lives and the answer says nothing else of it.
fn tell_renewed<B>(signer: &Signer, renewed: Option<HeaderValue>, scope: &Scope, answer: &mut ServiceResponse<B>) {
    if let Some(cookie) = renewed
        && scope.loaded.borrow().is_some()
        && !signer.sets(answer.headers())
    {
        answer.headers_mut().append(header::SET_COOKIE, cookie);
    }
}
