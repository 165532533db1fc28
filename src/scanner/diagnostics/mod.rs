//! Network diagnostics: can a target be reached, and if not, where does it end. A run goes through its stages once, in the
//! background, over the guarded dialer; callers look at it as often as they like. Shows nothing of a body and nothing of what
//! lies behind an address that is closed.

mod hops;
mod network;
mod run;
mod secure;
mod stage;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::dialer::Allowance;
use super::fetch::Fetch;
use crate::config::scanner::Diagnostics as Settings;
use crate::contract::diagnostics::{Diagnostics as View, DiagnosticsStatus};
use crate::platform::clock::Clock;
use crate::platform::random;
use crate::platform::shutdown::Shutdown;
use run::Run;

/// When to come back if too many runs of an account are on their way.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// Why a run is not started.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum NotStarted {
    #[error("too many runs in a minute")]
    TooMany(Duration),
    #[error("too many runs at the same time")]
    Busy(Duration),
    #[error(transparent)]
    Random(#[from] random::Unavailable),
}

/// All runs. Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Diagnostics(Arc<Inner>);

struct Inner {
    settings: Settings,
    fetch: Fetch,
    clock: Clock,
    shutdown: Shutdown,
    allowance: Allowance,
    runs: Mutex<Runs>,
}

type Runs = BTreeMap<String, Arc<Run>>;

impl Diagnostics {
    pub(in crate::scanner) fn new(settings: Settings, fetch: Fetch, clock: Clock, shutdown: Shutdown) -> Self {
        let allowance = Allowance::new(settings.per_minute, clock.clone());
        Self(Arc::new(Inner { settings, fetch, clock, shutdown, allowance, runs: Mutex::default() }))
    }

    /// Starts a run of `target`; gives the id to ask with.
    pub(in crate::scanner) fn start(&self, account: &str, target: &str) -> Result<String, NotStarted> {
        let id = random::hex_id()?;
        let run = Arc::new(Run::new(account, target, self.0.clock.clone()));
        self.admit(account, &id, &run)?;
        let (inner, shutdown) = (Arc::clone(&self.0), self.0.shutdown.clone());
        self.0.shutdown.spawn(async move {
            tokio::select! {
                () = run.go(&inner.fetch, &inner.settings) => {}
                () = shutdown.begun() => {}
            }
            run.end();
        });
        Ok(id)
    }

    /// How a run of the account stands; none when there is no such run.
    pub(in crate::scanner) fn look(&self, account: &str, id: &str) -> Option<View> {
        let now = self.0.clock.now();
        let long = Duration::from_mins(self.0.settings.kept_minutes);
        let run = self.runs().get(id).filter(|run| run.account == account).cloned()?;
        let is_over = run.progress().ended.is_some_and(|ended| now.since(ended) >= long);
        if is_over {
            return None;
        }
        let progress = run.progress();
        Some(View {
            diag_id: id.to_owned(),
            test_url: run.shown.clone(),
            status: if progress.ended.is_some() { DiagnosticsStatus::Finished } else { DiagnosticsStatus::InProgress },
            stage_count: u32::try_from(run.stages.len()).unwrap_or(u32::MAX),
            next_stage: progress.current.filter(|_| progress.ended.is_none()).map(|stage| stage.as_str().to_owned()),
            stages: progress.stages.clone(),
        })
    }

    /// Counts a start and keeps its run, if the limits allow it.
    fn admit(&self, account: &str, id: &str, run: &Arc<Run>) -> Result<(), NotStarted> {
        let mut runs = self.runs();
        self.forget_old(&mut runs);
        let running = runs.values().filter(|run| run.account == account && run.progress().ended.is_none()).count();
        if running >= self.0.settings.at_once {
            return Err(NotStarted::Busy(BUSY_WAIT));
        }
        self.0.allowance.take(account).map_err(NotStarted::TooMany)?;
        runs.insert(id.to_owned(), Arc::clone(run));
        Ok(())
    }

    /// Forgets runs that ended long ago, and the oldest of those that ended when too many are kept.
    fn forget_old(&self, runs: &mut Runs) {
        let now = self.0.clock.now();
        let long = Duration::from_mins(self.0.settings.kept_minutes);
        runs.retain(|_, run| run.progress().ended.is_none_or(|ended| now.since(ended) < long));
        while runs.len() >= self.0.settings.kept {
            let ended = runs.iter().filter_map(|(id, run)| Some((run.progress().ended?, id.clone()))).min();
            let Some((_, oldest)) = ended else { break };
            runs.remove(&oldest);
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
