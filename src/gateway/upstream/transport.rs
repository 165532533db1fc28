//! The one way HTTP leaves the gateway: no redirects, no proxies from the environment, bounded answers, bounded time.
//! Reads are tried again after a connect error or 502, 503, 504, unless that is about the subscription; nothing else ever is
//! (WIRE reading rule 10).

use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use reqwest::header::HeaderMap;
use reqwest::{Certificate, Client, ClientBuilder, Method, Request, RequestBuilder, Response, StatusCode, redirect};
use tokio::runtime::Handle;
use tokio::time::timeout;
use url::Url;

use crate::config::gateway::Upstream;

use super::error::{ERROR_BODY, UpstreamError};
use super::tries::Tries;

/// A connection pool with its limits. Clones share the pool; a worker thread has its own by building its own.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    client: Client,
    /// Where connections live. All workers share them, so they do not end with the worker that happened to open one: when the
    /// process ends, a worker with nothing to do goes first.
    home: Option<Handle>,
    /// Whole time of a call that is not streamed.
    pub(super) whole: Duration,
    /// Longest silence of a stream.
    pub(super) idle: Duration,
    /// The largest answer that is read into memory.
    pub(super) max_answer: usize,
    retries: u32,
}

/// Whether a request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    /// A read: sending it twice is sending it once.
    Safe,
    Never,
}

/// An answer as far as it was read to find out whether a further try may help.
enum Heard {
    Head(Response),
    All(Answer),
}

/// A whole answer with a success status.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Transport {
    /// Builds the pool in the runtime of its caller. Trusts the system's roots, or the compiled-in ones where the system has none.
    pub(crate) fn new(settings: &Upstream) -> Result<Self, UpstreamError> {
        let client = builder(settings)
            .build()
            .or_else(|_| {
                let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| Certificate::from_der(der).ok());
                builder(settings).tls_certs_only(roots).build()
            })
            .map_err(|error| UpstreamError::transport(&error))?;
        Ok(Self {
            client,
            home: Handle::try_current().ok(),
            whole: Duration::from_millis(settings.timeout_ms),
            idle: Duration::from_millis(settings.idle_timeout_ms),
            max_answer: settings.max_answer_bytes,
            retries: settings.retries,
        })
    }

    /// The same pool with another bound for answers.
    pub(super) fn with_max_answer(self, max_answer: usize) -> Self {
        Self { max_answer, ..self }
    }

    pub(super) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.client.request(method, url)
    }

    /// Sends a request and reads its answer whole; an answer that is no success is an error.
    pub(super) async fn call(&self, request: RequestBuilder, repeat: Repeat) -> Result<Answer, UpstreamError> {
        let answer = self.answer(request, repeat).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(UpstreamError::answer(answer.status, &answer.headers, &answer.body))
    }

    /// As [`Transport::call`], but an answer of any status is given back as it is.
    pub(super) async fn answer(&self, request: RequestBuilder, repeat: Repeat) -> Result<Answer, UpstreamError> {
        let request = request.build().map_err(|error| UpstreamError::transport(&error))?;
        let whole = async {
            let response = match self.tried(request, repeat).await? {
                Heard::All(answer) => return Ok(answer),
                Heard::Head(response) => response,
            };
            let cap = if response.status().is_success() { self.max_answer } else { ERROR_BODY };
            read(response, cap).await
        };
        timeout(self.whole, whole).await.unwrap_or_else(|_| Err(UpstreamError::timeout()))
    }

    /// Sends a request and gives the answer back as soon as its head is there; no success is an error.
    pub(super) async fn open(&self, request: RequestBuilder, repeat: Repeat) -> Result<Response, UpstreamError> {
        let request = request.build().map_err(|error| UpstreamError::transport(&error))?;
        let response = timeout(self.whole.max(self.idle), self.tried(request, repeat)).await;
        match response.unwrap_or_else(|_| Err(UpstreamError::timeout()))? {
            Heard::Head(response) => self.success(response).await,
            Heard::All(Answer { status, headers, body }) => Err(UpstreamError::answer(status, &headers, &body)),
        }
    }

    /// Sends a request once without a limit of its own: the caller watches over its stream.
    pub(super) async fn stream(&self, request: RequestBuilder) -> Result<Answer, UpstreamError> {
        let response = self.at_home(request.send()).await.map_err(|error| UpstreamError::transport(&error))?;
        let response = self.success(response).await?;
        read(response, self.max_answer).await
    }

    /// Has what `call` starts beside itself run where the pool was built.
    async fn at_home<T>(&self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        poll_fn(|context| {
            let _home = self.home.as_ref().map(Handle::enter);
            call.as_mut().poll(context)
        })
        .await
    }

    async fn success(&self, response: Response) -> Result<Response, UpstreamError> {
        if response.status().is_success() {
            return Ok(response);
        }
        let answer = timeout(self.whole, read(response, ERROR_BODY)).await.unwrap_or_else(|_| Err(UpstreamError::timeout()))?;
        Err(UpstreamError::answer(answer.status, &answer.headers, &answer.body))
    }

    async fn tried(&self, mut request: Request, repeat: Repeat) -> Result<Heard, UpstreamError> {
        let mut tries = Tries::new(if repeat == Repeat::Safe { self.retries } else { 0 });
        loop {
            let again = request.try_clone().filter(|_| tries.is_left());
            let outcome = match self.at_home(self.client.execute(request)).await {
                Ok(response) if again.is_some() && matches!(response.status().as_u16(), 502..=504) => {
                    Ok(Heard::All(read(response, ERROR_BODY).await?))
                }
                Ok(response) => Ok(Heard::Head(response)),
                Err(error) => Err(UpstreamError::transport(&error)),
            };
            let may_help = match &outcome {
                Ok(Heard::All(answer)) => UpstreamError::is_about_the_subscription(&answer.headers, &answer.body) == Some(false),
                Ok(Heard::Head(_)) => false,
                Err(error) => error.is_unconnected(),
            };
            match again {
                Some(next) if may_help => request = next,
                _ => return outcome,
            }
            tries.next().await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one transport the ban points to")]
fn builder(settings: &Upstream) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("cardea/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .connect_timeout(Duration::from_millis(settings.connect_timeout_ms))
        // Shorter than the service keeps them, so that no call meets a connection that is being closed.
        .pool_idle_timeout(Duration::from_millis(settings.keep_alive_ms))
        .tcp_nodelay(true)
}

/// Reads an answer of at most `cap` bytes; a longer error text is cut, a longer success is garbage.
async fn read(mut response: Response, cap: usize) -> Result<Answer, UpstreamError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = BytesMut::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= cap => body.extend_from_slice(&chunk),
            Ok(Some(_)) if status.is_success() => return Err(UpstreamError::garbage("the answer is larger than allowed")),
            Ok(None | Some(_)) => break,
            Err(_) if !status.is_success() => break,
            Err(error) => return Err(UpstreamError::transport(&error)),
        }
    }
    Ok(Answer { status, headers, body: body.freeze() })
}

/// The body of an open answer, cut with an error after a silence of `idle`.
pub(super) fn body(response: Response, idle: Duration) -> impl Stream<Item = Result<Bytes, UpstreamError>> + Send {
    futures_util::stream::unfold(Some(response), move |state| async move {
        let mut response = state?;
        match timeout(idle, response.chunk()).await {
            Ok(Ok(Some(chunk))) => Some((Ok(chunk), Some(response))),
            Ok(Ok(None)) => None,
            Ok(Err(error)) => Some((Err(UpstreamError::transport(&error)), None)),
            Err(_) => Some((Err(UpstreamError::timeout()), None)),
        }
    })
}
