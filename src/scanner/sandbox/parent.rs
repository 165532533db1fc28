//! The service's side: starts the process, listens to it, ends it when it is no longer wanted.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::{Bounds, Broken, COMMAND, Line, Order, Work};
use crate::config::scanner::{Analysis as Settings, Archive, Isolation};
use crate::platform::clock::Clock;
use crate::scanner::engine::composition::{self, Poms, Refused};
use crate::scanner::engine::finding::{Analysis, Watch};
use crate::scanner::engine::{self, AdvisoryDatabase, AnalyzeError, Job};

/// This program, also after its file was replaced.
const ITSELF: &str = "/proc/self/exe";
/// An archive is read within its own limit; how much longer its process may live.
const TIME_MORE: Duration = Duration::from_secs(30);
/// What is kept of its last words.
const LAST_WORDS: u64 = 4096;
/// Signals, as wait(2) tells them.
const ABORTED: i32 = 6;
const OUT_OF_TIME: i32 = 24;

/// Runs analyses. Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Sandbox(Arc<Inner>);

struct Inner {
    settings: Settings,
    limits: Archive,
    folder: PathBuf,
    advisories: Arc<AdvisoryDatabase>,
    clock: Clock,
}

impl Sandbox {
    /// `folder` is where `advisories` were read from.
    pub(in crate::scanner) fn new(
        settings: Settings,
        limits: Archive,
        folder: PathBuf,
        advisories: Arc<AdvisoryDatabase>,
        clock: Clock,
    ) -> Self {
        Self(Arc::new(Inner { settings, limits, folder, advisories, clock }))
    }

    /// Analyses an archive; ends soon after [`Watch::stop`]. Dropping it ends the process too.
    pub(in crate::scanner) async fn analyze(&self, job: Job, watch: Arc<Watch>) -> Result<Analysis, Broken<AnalyzeError>> {
        if self.0.settings.own_process {
            let bounds = Bounds { memory_bytes: self.0.settings.memory_bytes, seconds: self.0.limits.seconds };
            return self.apart(Work::Archive(job), bounds, TIME_MORE, &watch).await;
        }
        let inner = Arc::clone(&self.0);
        here(move || engine::analyze(&job, &inner.advisories.current(), &inner.limits, &inner.clock, &watch)).await
    }

    /// Analyses poms; gives the zip that answers. Dropping it ends the process too.
    pub(in crate::scanner) async fn compose(&self, poms: Poms) -> Result<Vec<u8>, Broken<Refused>> {
        if self.0.settings.own_process {
            let sources = &self.0.limits.sources;
            let bounds = Bounds { memory_bytes: sources.memory_bytes, seconds: sources.seconds };
            let zip: String = self.apart(Work::Poms(poms), bounds, Duration::ZERO, &Watch::default()).await?;
            return STANDARD.decode(zip).map_err(|_| Broken::Crashed);
        }
        let inner = Arc::clone(&self.0);
        here(move || {
            let advisories = inner.advisories.current();
            composition::analyze(&poms, &advisories, &inner.limits)?.into_zip(&advisories)
        })
        .await
    }

    async fn apart<A, R>(&self, work: Work, bounds: Bounds, more: Duration, watch: &Watch) -> Result<A, Broken<R>>
    where
        A: DeserializeOwned,
        R: DeserializeOwned,
    {
        let not_started = |error: io::Error| {
            tracing::error!(%error, "the analysis process could not be started");
            Broken::NotStarted
        };
        let mut child = self.start().map_err(not_started)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err(not_started(io::ErrorKind::BrokenPipe.into()));
        };
        let order = self.order(work, bounds).map_err(not_started)?;
        let within = Duration::from_secs(bounds.seconds) + more;
        let hear = async {
            // A process that died before it read its order is told about below.
            let _ = stdin.write_all(&order).await;
            drop(stdin);
            self.listen(stdout, watch).await
        };
        let heard = tokio::select! {
            () = watch.stopped() => Err(Broken::Stopped),
            heard = tokio::time::timeout(within, hear) => heard.unwrap_or(Err(Broken::Time(bounds.seconds))),
        };
        if !matches!(heard, Ok(None)) {
            // It said all it has to say, or nobody wants to hear it.
            let _ = child.kill().await;
        }
        match heard? {
            Some(outcome) => Ok(outcome),
            None => Err(end(child, stderr, bounds).await),
        }
    }

    fn start(&self) -> io::Result<Child> {
        let program = self.0.settings.executable.clone().unwrap_or_else(|| PathBuf::from(ITSELF));
        let mut command = Command::new(program);
        // The allocator takes memory only when it is needed: what it took before the bound was set would not count.
        command.arg(COMMAND).env_clear().env("MIMALLOC_ARENA_EAGER_COMMIT", "0").env("MIMALLOC_EAGER_COMMIT", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command.spawn()
    }

    fn order(&self, work: Work, bounds: Bounds) -> io::Result<Vec<u8>> {
        let order = Order {
            work,
            advisories: self.0.folder.clone(),
            limits: self.0.limits.clone(),
            bounds,
            is_isolation_required: self.0.settings.isolation == Isolation::Required,
        };
        let mut text = serde_json::to_vec(&order)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Listens until the outcome; `None` when the process went silent before it.
    async fn listen<A, R>(&self, stdout: ChildStdout, watch: &Watch) -> Result<Option<A>, Broken<R>>
    where
        A: DeserializeOwned,
        R: DeserializeOwned,
    {
        let most = self.0.settings.answer_bytes;
        let mut stdout = BufReader::new(stdout);
        loop {
            let mut line = Vec::new();
            let read = (&mut stdout).take(most.saturating_add(1)).read_until(b'\n', &mut line).await;
            if !matches!(read, Ok(1..)) {
                return Ok(None);
            }
            if line.len() as u64 > most {
                tracing::error!(most, "an analysis gave more than it may");
                return Err(Broken::Crashed);
            }
            match serde_json::from_slice::<Line<A, R>>(&line) {
                Ok(Line::Progress(percent)) => watch.set_progress(percent),
                Ok(Line::Done(outcome)) => return Ok(Some(outcome)),
                Ok(Line::Refused(error)) => return Err(Broken::Refused(error)),
                Ok(Line::Unfit(error)) => {
                    tracing::error!(%error, "the analysis process could not begin");
                    return Err(Broken::NotStarted);
                }
                // Cut off in the middle of a line: how it ended is told below.
                Err(_) => return Ok(None),
            }
        }
    }
}

/// Inside the service: for looking for faults only, as nothing bounds it there.
async fn here<A, R>(work: impl FnOnce() -> Result<A, R> + Send + 'static) -> Result<A, Broken<R>>
where
    A: Send + 'static,
    R: Send + 'static,
{
    tokio::task::spawn_blocking(work).await.map_or(Err(Broken::Crashed), |outcome| outcome.map_err(Broken::Refused))
}

/// Why the process ended without an outcome.
async fn end<R>(mut child: Child, stderr: ChildStderr, bounds: Bounds) -> Broken<R> {
    let mut last_words = Vec::new();
    // Whatever can be read of it helps.
    let _ = stderr.take(LAST_WORDS).read_to_end(&mut last_words).await;
    let status = child.wait().await.ok();
    let last_words = String::from_utf8_lossy(&last_words);
    let signal = status.and_then(|status: ExitStatus| status.signal());
    tracing::error!(?status, last_words = %last_words.escape_debug(), "an analysis process ended without an outcome");
    match signal {
        Some(OUT_OF_TIME) => Broken::Time(bounds.seconds),
        Some(ABORTED) if last_words.contains("memory allocation") => Broken::Memory(bounds.memory_bytes),
        _ => Broken::Crashed,
    }
}
