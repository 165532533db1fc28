//! Where requests are taken in. A request with `Expect: 100-continue` is begun before its sender is told to go on: when it is
//! refused, or answered without its body, the body is never sent for. `100 Continue` comes when somebody wants to read it.
//!
//! HTTP/1.0 knows no chunks (RFC 9112, 6.1), which the library sends all the same: a body of unknown length ends with its
//! connection there, and one that is cut with a reset, so that nobody takes half of it for all.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use actix_http::body::{BodySize, BoxBody, MessageBody};
use actix_http::error::PayloadError;
use actix_http::{ConnectionType, HttpMessage as _, Payload, Request, Response, Version};
use actix_service::{Service, ServiceFactory};
use bytes::Bytes;
use futures_util::Stream;
use futures_util::future::{Either, LocalBoxFuture, Ready, ready as now};
use pin_project_lite::pin_project;

use super::body;
use super::line::{InUse, Use};
use super::peer::{Peer, Reset};
use crate::config::gateway::Connection as Settings;

/// The app of one worker, once it is there.
struct App<S, B>(Rc<RefCell<Option<Rc<S>>>>, PhantomData<fn() -> B>);

impl<S, B> Clone for App<S, B> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0), PhantomData)
    }
}

/// One worker's desk, for an app whose answers have the body `B`.
pub(super) struct Desk<S, B> {
    app: App<S, B>,
    settings: Settings,
}

impl<S, B> Desk<S, B> {
    /// A desk without an app.
    pub(super) fn new(settings: Settings) -> Self {
        Self { app: App(Rc::default(), PhantomData), settings }
    }

    /// What takes requests whose senders do not wait, with the app that `factory` makes.
    pub(super) fn serving<F: ServiceFactory<Request, Service = S>>(&self, factory: F) -> Serving<F, B> {
        Serving { factory, app: self.app.clone(), settings: self.settings }
    }

    /// What takes requests whose senders wait for a word, with the same app.
    pub(super) fn expecting(&self) -> Expecting<S, B> {
        Expecting { app: self.app.clone(), settings: self.settings }
    }
}

/// See [`Desk::serving`].
pub(super) struct Serving<F: ServiceFactory<Request>, B> {
    factory: F,
    app: App<F::Service, B>,
    settings: Settings,
}

impl<F, B> ServiceFactory<Request> for Serving<F, B>
where
    F: ServiceFactory<Request, Config = ()>,
    F::Future: 'static,
    F::Service: 'static,
    F::Response: Into<Response<B>>,
    F::Error: 'static,
    <F::Service as Service<Request>>::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = Response<Held<B>>;
    type Error = F::Error;
    type Config = ();
    type Service = Served<F::Service, B>;
    type InitError = F::InitError;
    type Future = LocalBoxFuture<'static, Result<Self::Service, F::InitError>>;

    fn new_service(&self, (): ()) -> Self::Future {
        let (made, app, settings) = (self.factory.new_service(()), self.app.clone(), self.settings);
        Box::pin(async move {
            let made = Rc::new(made.await?);
            app.0.replace(Some(Rc::clone(&made)));
            Ok(Served { app: made, settings, body: PhantomData })
        })
    }
}

/// An app that answers.
pub(super) struct Served<S, B> {
    app: Rc<S>,
    settings: Settings,
    body: PhantomData<fn() -> B>,
}

impl<S, B> Service<Request> for Served<S, B>
where
    S: Service<Request>,
    S::Response: Into<Response<B>>,
    S::Error: 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = Response<Held<B>>;
    type Error = S::Error;
    type Future = Either<Answering<S::Future, B>, Begun<S::Error, B>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.app.poll_ready(context)
    }

    fn call(&self, request: Request) -> Self::Future {
        let begun = request.extensions_mut().remove::<Handed<S::Error, B>>();
        match begun {
            Some(Handed(begun)) => Either::Right(begun),
            None => Either::Left(Answering::new(&*self.app, request, self.settings)),
        }
    }
}

/// A request that was begun before its body was sent for.
type Begun<E, B> = LocalBoxFuture<'static, Result<Response<Held<B>>, E>>;

/// The same, on its way from [`Expecting`] to [`Served`].
struct Handed<E, B>(Begun<E, B>);

/// See [`Desk::expecting`].
pub(super) struct Expecting<S, B> {
    app: App<S, B>,
    settings: Settings,
}

impl<S, B> ServiceFactory<Request> for Expecting<S, B>
where
    S: Service<Request> + 'static,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = Request;
    type Error = Response<BoxBody>;
    type Config = ();
    type Service = Self;
    type InitError = ();
    type Future = Ready<Result<Self, ()>>;

    fn new_service(&self, (): ()) -> Self::Future {
        now(Ok(Self { app: self.app.clone(), settings: self.settings }))
    }
}

impl<S, B> Service<Request> for Expecting<S, B>
where
    S: Service<Request> + 'static,
    S::Response: Into<Response<B>>,
    S::Error: Into<Response<BoxBody>> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = Request;
    type Error = Response<BoxBody>;
    type Future = LocalBoxFuture<'static, Result<Request, Response<BoxBody>>>;

    fn poll_ready(&self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&self, mut request: Request) -> Self::Future {
        let Some(app) = self.app.0.borrow().clone() else { return Box::pin(now(Ok(request))) };
        let is_wanted = Rc::new(Cell::new(false));
        let body = Awaited { payload: request.take_payload(), is_wanted: Rc::clone(&is_wanted) };
        *request.payload() = Payload::Stream { payload: Box::pin(body) };
        let mut begun: Begun<S::Error, B> = Box::pin(Answering::new(&*app, request, self.settings));
        Box::pin(async move {
            let answer = poll_fn(|context| match begun.as_mut().poll(context) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending if is_wanted.get() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            });
            match answer.await {
                None => {
                    let word = Request::new();
                    word.extensions_mut().insert(Handed(begun));
                    Ok(word)
                }
                // For the sender an answer in the place of the word is what a refusal is.
                Some(Ok(answer)) => Err(answer.map_into_boxed_body()),
                Some(Err(error)) => Err(error.into()),
            }
        })
    }
}

/// A body that its sender keeps back, and whether somebody has tried to read it.
struct Awaited {
    payload: Payload,
    is_wanted: Rc<Cell<bool>>,
}

impl Stream for Awaited {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.is_wanted.set(true);
        Pin::new(&mut self.payload).poll_next(context)
    }
}

pin_project! {
    /// An app at work on a request.
    pub(super) struct Answering<F, B> {
        #[pin]
        call: F,
        in_use: Option<InUse>,
        is_old: bool,
        // Of a caller who could not tell the end of a cut body from that of a whole one.
        reset: Option<Reset>,
        body: PhantomData<fn() -> B>,
    }
}

impl<F, B> Answering<F, B> {
    fn new<S: Service<Request, Future = F>>(app: &S, mut request: Request, settings: Settings) -> Self {
        body::pace(&mut request, settings);
        let in_use = request.conn_data::<Use>().map(Use::begin);
        let is_old = request.version() < Version::HTTP_11;
        let reset = if is_old { request.conn_data::<Peer>().and_then(Peer::reset) } else { None };
        Self { call: app.call(request), in_use, is_old, reset, body: PhantomData }
    }
}

impl<F, R, E, B> Future for Answering<F, B>
where
    F: Future<Output = Result<R, E>>,
    R: Into<Response<B>>,
    B: MessageBody,
{
    type Output = Result<Response<Held<B>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut answer: Response<B> = ready!(this.call.poll(context))?.into();
        let (in_use, mut reset) = (this.in_use.take(), this.reset.take());
        if *this.is_old && answer.body().size() == BodySize::Stream {
            answer.head_mut().no_chunking(true);
            answer.head_mut().set_connection_type(ConnectionType::Close);
        } else {
            reset = None;
        }
        Poll::Ready(Ok(answer.map_body(|_, body| Held { body, in_use, reset })))
    }
}

pin_project! {
    /// A body; its request is under way until it has gone.
    pub(super) struct Held<B> {
        #[pin]
        body: B,
        in_use: Option<InUse>,
        reset: Option<Reset>,
    }
}

impl<B: MessageBody> MessageBody for Held<B> {
    type Error = B::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        let this = self.project();
        let piece = ready!(this.body.poll_next(context));
        if let Some(Err(_)) = &piece
            && let Some(reset) = this.reset.take()
        {
            reset.at_its_end();
        }
        Poll::Ready(piece)
    }
}
