//! The way of callers' own requests to the scanning service: streams both ways, holds nothing, changes nothing. Beside
//! [`Transport`](super::Transport), because it runs for every API call: one client a worker thread, no redirects to look for,
//! addresses read once, connections given back when an answer was read to its end.
//!
//! A request that is given up, at whatever point, closes its connection: that is how the service learns of it.

mod body;
mod connect;
mod early;
mod pool;
mod target;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{Request, StatusCode};
use tokio::time::timeout;

pub(crate) use self::body::{AnswerBody, Outgoing, Stopped};
use self::pool::{Pool, Sender};
pub(crate) use self::target::Target;
use super::error::{ERROR_BODY, UpstreamError};
use crate::config::gateway::Upstream;

/// An answer whose body has not been read yet.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: AnswerBody,
}

impl Answer {
    /// Whether it says that the subscription does not cover the call (errCode 1010); `None` where it is compressed in a way that
    /// is not read here. The beginning of the body is read for that, and passes all the same.
    pub(crate) async fn is_about_the_subscription(&mut self) -> Result<Option<bool>, UpstreamError> {
        let body = self.body.look_ahead(ERROR_BODY).await?;
        Ok(UpstreamError::is_about_the_subscription(&self.headers, body))
    }
}

/// What all workers share: how TLS is spoken, and the limits. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ProxySettings {
    tls: Arc<rustls::ClientConfig>,
    connect: Duration,
    /// From the last byte of the request to the head of the answer.
    head: Duration,
    idle: Duration,
    early: Duration,
    kept: Duration,
    kept_most: usize,
}

impl ProxySettings {
    /// Reads the trusted roots of the system, or takes the compiled-in ones where it has none.
    pub(crate) fn new(settings: &Upstream) -> Result<Self, UpstreamError> {
        Ok(Self {
            tls: connect::tls().map_err(|_| UpstreamError::ours("TLS cannot be set up"))?,
            connect: Duration::from_millis(settings.connect_timeout_ms),
            head: Duration::from_millis(settings.timeout_ms),
            idle: Duration::from_millis(settings.idle_timeout_ms),
            early: Duration::from_millis(settings.early_answer_ms),
            kept: Duration::from_millis(settings.keep_alive_ms),
            kept_most: settings.keep_alive_most,
        })
    }
}

/// The client of one worker thread; must be used inside its local task set. Clones are the same client.
#[derive(Clone)]
pub(crate) struct Proxy(Rc<Inner>);

struct Inner {
    settings: ProxySettings,
    pool: Rc<Pool>,
}

impl Proxy {
    pub(crate) fn new(settings: ProxySettings) -> Self {
        let pool = Rc::new(Pool::new(settings.kept, settings.kept_most));
        Self(Rc::new(Inner { settings, pool }))
    }

    /// Sends a request to `target` and gives its answer back as soon as the head is there, whatever its status. The
    /// `Host` header is set here.
    ///
    /// # Errors
    /// Of origin `Network`; of origin `Sender` when `body` ended in an error or was silent for too long.
    pub(crate) async fn send(&self, target: &Target, mut head: Parts, body: Outgoing) -> Result<Answer, UpstreamError> {
        head.headers.insert(http::header::HOST, target.authority().clone());
        let watch = body.watch();
        let mut request = Request::from_parts(head, body);
        loop {
            let (mut sender, is_new) = match self.0.pool.take(target.key()) {
                Some(sender) => (sender, false),
                None => (Box::pin(self.connect(target)).await?, true),
            };
            if sender.ready().await.is_err() {
                if is_new {
                    return Err(UpstreamError::unreachable());
                }
                continue;
            }
            let sent = sender.try_send_request(request);
            let answer = tokio::select! {
                biased;
                answer = sent => answer,
                error = watch.silence(self.0.settings.idle, self.0.settings.head) => return Err(error),
            };
            match answer {
                Ok(answer) => {
                    let (head, incoming) = answer.into_parts();
                    // Nobody asked for another protocol, and nobody here speaks it.
                    if head.status.is_informational() {
                        return Err(UpstreamError::garbage("the service switches to another protocol"));
                    }
                    let lease = self.0.pool.lease(target.key(), sender);
                    let body = AnswerBody::new(incoming, lease, watch, self.0.settings.idle);
                    return Ok(Answer { status: head.status, headers: head.headers, body });
                }
                // Nothing of it was sent: the connection had ended while it waited.
                Err(mut refused) => match refused.take_message() {
                    Some(same) if !is_new => request = same,
                    _ if watch.is_stopped() => return Err(UpstreamError::body_broken()),
                    _ if !watch.is_over() => return Err(UpstreamError::broke_off()),
                    _ => return Err(UpstreamError::broke()),
                },
            }
        }
    }

    async fn connect(&self, target: &Target) -> Result<Sender, UpstreamError> {
        let settings = &self.0.settings;
        let connected = timeout(settings.connect, connect::connect(target, &settings.tls, settings.early)).await;
        connected.map_err(|_| UpstreamError::unreachable())?.map_err(|error| {
            tracing::debug!(%error, "no connection to the scanning service");
            UpstreamError::unreachable()
        })
    }
}
