//! The cache as its callers see it, on both backends, with a service that answers what a test says.

mod changes;
mod cost;
mod flights;
mod keeping;
mod separation;
mod store;

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::{Answer, Asked, Brought, Cache, CacheStatus, Fetched, Given, Kept, Question, StaleOk, Whose, Wish};
use crate::config::cache::{Cache as Settings, CacheLife};
use crate::gateway::domain::role::Role;
use crate::gateway::domain::route_table::named;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::{Bench, acme, globex};
use crate::gateway::store::{Layout, Store};
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

pub(super) const RUNNING: &str = r#"{"taskId":"1","taskStatus":"RUNNING"}"#;
pub(super) const ENDED: &str = r#"{"taskId":"1","taskStatus":"SUCCESS"}"#;

/// Settings like those that are compiled in, but for a store that a busy machine may take longer to ask.
pub(in crate::gateway) fn settings() -> Settings {
    let life = |fresh_ms, meanwhile_ms, in_trouble_ms| CacheLife { fresh_ms, meanwhile_ms, in_trouble_ms };
    Settings {
        memory_bytes: 1 << 26,
        answer_bytes: 1 << 21,
        store_from_ms: 60_000,
        store_answer_bytes: 1 << 18,
        store_wait_ms: 10_000,
        rest_ms: 1000,
        task_running: life(1000, 0, 30_000),
        task_ended: life(300_000, 60_000, 3_600_000),
        list: life(2000, 3000, 60_000),
        poll: life(500, 0, 0),
        constant: life(3_600_000, 3_600_000, 86_400_000),
    }
}

/// What asking fails with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trouble {
    /// The service is away.
    Away,
    /// The caller has no token any more.
    SignedOut,
    /// The caller has as many calls there as it may.
    NoPlace,
}

impl StaleOk for Trouble {
    fn may_serve_stale(&self) -> bool {
        matches!(self, Self::Away | Self::NoPlace)
    }

    fn lacks_place(&self) -> bool {
        *self == Self::NoPlace
    }
}

type Outcome = Result<Fetched, Trouble>;

/// A service that answers as it is told and counts how often it was asked.
#[derive(Clone)]
struct Service(Arc<(AtomicU32, Mutex<Outcome>)>);

impl Service {
    fn saying(body: &str) -> Self {
        Self(Arc::new((AtomicU32::new(0), Mutex::new(Ok(answer(200, &[], body))))))
    }

    fn says(&self, outcome: Outcome) {
        *self.0.1.lock().unwrap() = outcome;
    }

    fn asked(&self) -> u32 {
        self.0.0.load(Ordering::SeqCst)
    }

    /// One request to it.
    fn ask(&self) -> impl FnOnce() -> std::future::Ready<Outcome> + 'static {
        let service = self.clone();
        move || {
            service.0.0.fetch_add(1, Ordering::SeqCst);
            std::future::ready(service.0.1.lock().unwrap().clone())
        }
    }
}

fn answer(status: u16, lines: &[(&'static str, &'static str)], body: &str) -> Fetched {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_static(value));
    }
    Fetched { status, headers, body: Bytes::copy_from_slice(body.as_bytes()) }
}

fn ring() -> Arc<Ring> {
    Arc::new(Ring::new([("k1".to_owned(), vec![7; 32])]).unwrap())
}

fn cache_on(store: &Store, settings: &Settings, clock: &Clock, shutdown: &Shutdown) -> Cache<Trouble> {
    Cache::new(settings, [acme(), globex()], (store, &ring()), clock, shutdown).unwrap()
}

fn cache(bench: &Bench) -> Cache<Trouble> {
    cache_on(&bench.store, &settings(), &bench.clock, &bench.shutdown)
}

/// Another process on the same store; on the file there is only one, so it is the same store with another cache.
fn other_replica(bench: &Bench) -> Cache<Trouble> {
    let store = match &bench.redis {
        Some(server) => Store::redis(&server.settings(), &bench.shutdown).unwrap(),
        None => bench.store.clone(),
    };
    cache_on(&store, &settings(), &bench.clock, &bench.shutdown)
}

async fn benches() -> [Bench; 2] {
    [Bench::file(), Bench::redis().await]
}

fn asks(tenant: &TenantId, whose: Whose<'_>, route: &str, parameters: &[&str], body: &str) -> Question {
    let parameters: Vec<String> = parameters.iter().map(|text| (*text).to_owned()).collect();
    Question::new(&Asked {
        tenant,
        whose,
        route: named(route).unwrap(),
        parameters: &parameters,
        query: None,
        body: body.as_bytes(),
        headers: (&HeaderMap::new(), &[]),
    })
}

const fn user(key: &str) -> Whose<'_> {
    Whose::User { key, role: Role::Member, generation: 0 }
}

/// Alice asks for task 1.
fn task() -> Question {
    asks(&acme(), user("alice"), "getTask", &["1"], "")
}

fn list() -> Question {
    asks(&acme(), user("alice"), "searchTasks", &[], r#"{"page":0}"#)
}

fn text(kept: &Kept) -> &str {
    std::str::from_utf8(&kept.body).unwrap()
}

impl Cache<Trouble> {
    /// The answer of a service that is read whole whoever asks.
    async fn through<A, F>(&self, question: &Question, ask: A) -> Result<Given, Trouble>
    where
        A: FnOnce() -> F + 'static,
        F: Future<Output = Outcome> + 'static,
    {
        let asked = |_: Wish| async { ask().await.map(Brought::<Infallible>::Whole) };
        let (answer, status) = self.answer(question, asked).await?;
        let Answer::Kept(kept) = answer;
        Ok((kept, status))
    }

    /// Body and status of an answer.
    async fn get(&self, question: &Question, service: &Service) -> (String, CacheStatus) {
        let (kept, status) = self.through(question, service.ask()).await.unwrap();
        (text(&kept).to_owned(), status)
    }

    async fn is_hit(&self, question: &Question) -> bool {
        let (_, status) = self.through(question, Service::saying("{}").ask()).await.unwrap();
        matches!(status, CacheStatus::Hit { ttl } if ttl >= 0)
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
