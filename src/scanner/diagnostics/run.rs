//! One run: its stages one after the other, each with its time, until one fails or all have passed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use url::Url;

use super::stage::{Ended, Outcome, Stage};
use super::{hops, network, secure};
use crate::config::scanner::Diagnostics as Settings;
use crate::contract::diagnostics::{DiagnosticsStage, StageStatus};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::hostile::Hostile;
use crate::scanner::fetch::Fetch;

/// A run, on its way or ended.
pub(super) struct Run {
    pub(super) account: String,
    target: String,
    /// The target without user information.
    pub(super) shown: String,
    pub(super) stages: &'static [Stage],
    clock: Clock,
    progress: Mutex<Progress>,
}

/// How far a run has come.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) current: Option<Stage>,
    pub(super) stages: Vec<DiagnosticsStage>,
    pub(super) ended: Option<Timestamp>,
}

impl Run {
    pub(super) fn new(account: &str, target: &str, clock: Clock) -> Self {
        let url = Url::parse(target.trim()).ok();
        let stages = match &url {
            Some(url) if url.scheme() == "http" => Stage::WITHOUT_TLS,
            _ => Stage::WITH_TLS,
        };
        let progress = Progress { current: stages.first().copied(), ..Progress::default() };
        Self {
            account: account.to_owned(),
            target: target.trim().to_owned(),
            shown: url.map_or_else(|| Hostile::from(target).text(), network::without_user),
            stages,
            clock,
            progress: Mutex::new(progress),
        }
    }

    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing comes any more. A run that has ended stays as it is.
    pub(super) fn end(&self) {
        let now = self.clock.now();
        self.progress().ended.get_or_insert(now);
    }

    /// Goes through the stages.
    pub(super) async fn go(&self, fetch: &Fetch, settings: &Settings) {
        // A failed stage has noted itself; nothing comes after it.
        let _ = self.all(&Pace::new(settings), fetch).await;
    }

    async fn all(&self, pace: &Pace, fetch: &Fetch) -> Option<()> {
        let dialer = fetch.dialer();
        let target = self.pass(pace, Stage::Address, async { network::address(&self.target) }).await?;
        self.pass(pace, Stage::Policy, network::policy(dialer, &target)).await?;
        let found = self.pass(pace, Stage::Dns, network::names(dialer, &target)).await?;
        let to = self.pass(pace, Stage::Tcp, network::connections(dialer, &target, &found)).await?;
        if target.url.scheme() == "https" {
            self.pass(pace, Stage::Tls, secure::handshake(fetch, &target, to)).await?;
        }
        let answer = self.pass(pace, Stage::Http, hops::first(fetch, &target, to, pace.http())).await?;
        self.pass(pace, Stage::Redirects, hops::follow(fetch, &target, answer, pace.http())).await
    }

    /// Runs one stage within its time and notes how it ended.
    async fn pass<T>(&self, pace: &Pace, stage: Stage, work: impl Future<Output = Ended<T>>) -> Option<T> {
        self.progress().current = Some(stage);
        let started_at = self.clock.now().rfc3339();
        let begun = Instant::now();
        let within = pace.stage.min(pace.end.saturating_duration_since(begun));
        let ended = match tokio::time::timeout(within, work).await {
            Ok(ended) => ended,
            Err(_) => Err(too_long(stage, begun.elapsed())),
        };
        let (status, outcome, value) = match ended {
            Ok((value, outcome)) => (StageStatus::Pass, outcome, Some(value)),
            Err(outcome) => (StageStatus::Fail, outcome, None),
        };
        let noted = DiagnosticsStage {
            stage_name: stage.as_str().to_owned(),
            description: outcome.description,
            status,
            result_info: outcome.seen,
            hint: outcome.hint,
            duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            started_at,
        };
        let is_last = value.is_none() || self.stages.last() == Some(&stage);
        let now = self.clock.now();
        let mut progress = self.progress();
        progress.stages.push(noted);
        // In one step with the stage: whoever sees a failed one sees a finished run.
        if is_last {
            progress.ended = Some(now);
        }
        value
    }
}

/// Times of a run.
struct Pace {
    end: Instant,
    stage: Duration,
}

impl Pace {
    fn new(settings: &Settings) -> Self {
        Self { end: Instant::now() + Duration::from_secs(settings.seconds), stage: Duration::from_secs(settings.stage_seconds) }
    }

    /// For one answer: a stage may need two of them, and what was late is told better than a stage cut off.
    fn http(&self) -> Duration {
        self.stage.mul_f64(0.45)
    }
}

fn too_long(stage: Stage, waited: Duration) -> Outcome {
    let what = match stage {
        Stage::Address | Stage::Policy => "This check",
        Stage::Dns => "The look-up of the name",
        Stage::Tcp => "The connection",
        Stage::Tls => "The TLS handshake",
        Stage::Http => "The answer of the server",
        Stage::Redirects => "Following the redirects",
    };
    let seen = format!("{what} did not come to its end within {} s.", waited.as_secs().max(1));
    let hint = "The target or the way to it is very slow, or a firewall holds the connection. Check the target, then try again.";
    Outcome::new(format!("{what} took too long"), seen, hint)
}
