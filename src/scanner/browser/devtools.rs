//! The DevTools protocol over the debugging pipe: JSON messages with a NUL behind each. Commands get their answers, events
//! go to the session whose context they come from. Knows no command by meaning and decides nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot, watch};

use crate::platform::shutdown::Shutdown;

/// The longest message that is read, in bytes: a frame of a large page is far below.
const LONGEST_MESSAGE: usize = 32 << 20;
/// Commands that may wait to be written.
const OUTGOING: usize = 4096;
/// Events of one session that may wait. A page that makes more than its session can take in ends that session.
const EVENTS: usize = 4096;
/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something that happened in a browser context.
#[derive(Debug)]
pub(super) struct Event {
    /// The attached target it is about; empty for events about targets themselves.
    pub(super) target_session: String,
    pub(super) method: String,
    pub(super) params: Value,
}

/// Why a command was not done. Never holds what was sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("the browser has ended")]
    Gone,
    #[error("the browser did not answer {0} in time")]
    Slow(&'static str),
    #[error("the browser refused {0}: {1}")]
    Refused(&'static str, String),
}

/// Cheap to clone; all clones use one pipe.
#[derive(Clone)]
pub(super) struct DevTools(Arc<Inner>);

type Answer = Result<Value, String>;

struct Inner {
    outgoing: mpsc::Sender<Vec<u8>>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    routes: Mutex<Routes>,
    gone: watch::Sender<bool>,
}

/// Who gets the events of which context and which attached target. These are the only senders: a session whose routes are
/// gone sees the end of its events.
#[derive(Default)]
struct Routes {
    contexts: HashMap<String, mpsc::Sender<Event>>,
    targets: HashMap<String, mpsc::Sender<Event>>,
}

impl DevTools {
    /// Reads and writes until the pipe closes.
    pub(super) fn start(reading: pipe::Receiver, writing: pipe::Sender, shutdown: &Shutdown) -> Self {
        let (outgoing, messages) = mpsc::channel(OUTGOING);
        let inner = Inner {
            outgoing,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            routes: Mutex::default(),
            gone: watch::Sender::new(false),
        };
        let this = Self(Arc::new(inner));
        shutdown.spawn(write(writing, messages, this.0.gone.subscribe()));
        let reader = this.clone();
        shutdown.spawn(async move {
            reader.read(reading).await;
            reader.ended();
        });
        this
    }

    /// Sends a command and waits for its answer; `target_session` is empty for the browser itself.
    pub(super) async fn call(&self, target_session: &str, method: &'static str, params: Value) -> Result<Value, CommandError> {
        let (answer, answered) = oneshot::channel();
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.waiting).insert(id, answer);
        if *self.0.gone.borrow() || self.0.outgoing.send(message(id, target_session, method, &params)).await.is_err() {
            lock(&self.0.waiting).remove(&id);
            return Err(CommandError::Gone);
        }
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(words))) => Err(CommandError::Refused(method, words)),
            Ok(Err(_)) => Err(CommandError::Gone),
            Err(_) => {
                lock(&self.0.waiting).remove(&id);
                Err(CommandError::Slow(method))
            }
        }
    }

    /// Sends a command and does not wait: for input and whatever a page can hold up. Dropped when the browser takes nothing.
    #[expect(clippy::needless_pass_by_value, reason = "as call: commands are made where they are sent")]
    pub(super) fn tell(&self, target_session: &str, method: &'static str, params: Value) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        if self.0.outgoing.try_send(message(id, target_session, method, &params)).is_err() {
            tracing::debug!(method, "a browser takes no commands");
        }
    }

    /// From now on events of `context` go to what this gives.
    pub(super) fn listen(&self, context: &str) -> mpsc::Receiver<Event> {
        let (events, receiver) = mpsc::channel(EVENTS);
        lock(&self.0.routes).contexts.insert(context.to_owned(), events);
        receiver
    }

    /// From now on events of `context` go where those of `beside` go.
    pub(super) fn listen_beside(&self, beside: &str, context: &str) {
        let mut routes = lock(&self.0.routes);
        if let Some(events) = routes.contexts.get(beside).cloned() {
            routes.contexts.insert(context.to_owned(), events);
        }
    }

    /// Nobody listens to `context` any more.
    pub(super) fn forget(&self, context: &str) {
        lock(&self.0.routes).contexts.remove(context);
    }

    /// Resolves when the pipe has closed.
    pub(super) async fn gone(&self) {
        let mut gone = self.0.gone.subscribe();
        let _ = gone.wait_for(|gone| *gone).await;
    }

    async fn read(&self, mut pipe: pipe::Receiver) {
        let mut buffer = Vec::new();
        let mut searched = 0;
        loop {
            match pipe.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let mut begin = 0;
            while let Some(length) = buffer.get(begin + searched..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) {
                let end = begin + searched + length;
                if let Some(text) = buffer.get(begin..end) {
                    self.take_in(text);
                }
                (begin, searched) = (end + 1, 0);
            }
            buffer.drain(..begin);
            searched = buffer.len();
            if searched > LONGEST_MESSAGE {
                tracing::warn!("a browser sent a message without end");
                return;
            }
        }
    }

    fn take_in(&self, text: &[u8]) {
        let Ok(Value::Object(mut message)) = serde_json::from_slice::<Value>(text) else { return };
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            let Some(waiting) = lock(&self.0.waiting).remove(&id) else { return };
            let answer = match message.remove("error") {
                Some(error) => Err(error.get("message").and_then(Value::as_str).unwrap_or("without a reason").to_owned()),
                None => Ok(message.remove("result").unwrap_or_default()),
            };
            let _ = waiting.send(answer);
            return;
        }
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        let event = Event {
            target_session: text(message.remove("sessionId")),
            method: text(message.remove("method")),
            params: message.remove("params").unwrap_or_default(),
        };
        self.deliver(event);
    }

    fn deliver(&self, event: Event) {
        let mut routes = lock(&self.0.routes);
        let part = |key: &str| event.params.get(key).and_then(Value::as_str).unwrap_or_default();
        let context = event.params.pointer("/targetInfo/browserContextId").and_then(Value::as_str).unwrap_or_default();
        let to = match event.method.as_str() {
            "Target.attachedToTarget" => {
                let to = routes.contexts.get(context).cloned();
                match &to {
                    Some(to) => drop(routes.targets.insert(part("sessionId").to_owned(), to.clone())),
                    None => self.close_stranger(&event.params),
                }
                to
            }
            "Target.detachedFromTarget" => routes.targets.remove(part("sessionId")),
            "Target.targetInfoChanged" => routes.contexts.get(context).cloned(),
            _ => routes.targets.get(&event.target_session).cloned(),
        };
        let Some(to) = to else { return };
        // What a page can make without bound is left out before what a session has to know.
        if event.method.starts_with("Network.") && to.capacity() < EVENTS / 2 {
            return;
        }
        if let Err(mpsc::error::TrySendError::Full(_)) = to.try_send(event) {
            tracing::warn!("a page made more events than its session could take in; the session ends");
            routes.contexts.retain(|_, other| !other.same_channel(&to));
            routes.targets.retain(|_, other| !other.same_channel(&to));
        }
    }

    /// A page of no session: nobody would watch over it.
    fn close_stranger(&self, params: &Value) {
        if let Some(target) = params.pointer("/targetInfo/targetId") {
            self.tell("", "Target.closeTarget", json!({ "targetId": target }));
        }
    }

    fn ended(&self) {
        self.0.gone.send_replace(true);
        lock(&self.0.waiting).clear();
        *lock(&self.0.routes) = Routes::default();
    }
}

async fn write(mut pipe: pipe::Sender, mut messages: mpsc::Receiver<Vec<u8>>, mut gone: watch::Receiver<bool>) {
    loop {
        let message = tokio::select! {
            message = messages.recv() => message,
            _ = gone.wait_for(|gone| *gone) => None,
        };
        let Some(message) = message else { return };
        if pipe.write_all(&message).await.is_err() {
            return;
        }
    }
}

fn message(id: u64, target_session: &str, method: &str, params: &Value) -> Vec<u8> {
    let mut message = json!({ "id": id, "method": method, "params": params });
    if !target_session.is_empty()
        && let Some(fields) = message.as_object_mut()
    {
        fields.insert("sessionId".to_owned(), target_session.into());
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
