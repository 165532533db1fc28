//! The service's side: starts the process, listens to it, ends it when it is no longer wanted.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::{Broken, COMMAND, Line, Order};
use crate::config::scanner::{Analysis as Settings, Archive, Isolation};
use crate::platform::clock::Clock;
use crate::scanner::engine::finding::{Analysis, Watch};
use crate::scanner::engine::{self, AdvisoryDatabase, AnalyzeError, Job};

/// This program, also after its file was replaced.
const ITSELF: &str = "/proc/self/exe";
/// How much longer than the archive's own limit the process may live.
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

    /// Analyses `job`; ends soon after [`Watch::stop`]. Dropping it ends the process too.
    pub(in crate::scanner) async fn analyze(&self, job: Job, watch: Arc<Watch>) -> Result<Analysis, Broken> {
        if self.0.settings.own_process { self.apart(job, &watch).await } else { self.here(job, watch).await }
    }

    async fn here(&self, job: Job, watch: Arc<Watch>) -> Result<Analysis, Broken> {
        let inner = Arc::clone(&self.0);
        let analysis = move || engine::analyze(&job, &inner.advisories.current(), &inner.limits, &inner.clock, &watch);
        match tokio::task::spawn_blocking(analysis).await {
            Ok(outcome) => outcome.map_err(Broken::Refused),
            Err(_) => Err(Broken::Crashed),
        }
    }

    async fn apart(&self, job: Job, watch: &Watch) -> Result<Analysis, Broken> {
        let not_started = |error: io::Error| {
            tracing::error!(%error, "the analysis process could not be started");
            Broken::NotStarted
        };
        let mut child = self.start().map_err(not_started)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
            return Err(not_started(io::ErrorKind::BrokenPipe.into()));
        };
        let order = self.order(job).map_err(not_started)?;
        // A process that died before it read its order is told about below.
        let _ = stdin.write_all(&order).await;
        drop(stdin);
        let within = Duration::from_secs(self.0.limits.seconds) + TIME_MORE;
        let heard = tokio::select! {
            () = watch.stopped() => Err(Broken::Refused(AnalyzeError::Stopped)),
            heard = tokio::time::timeout(within, self.listen(stdout, watch)) => heard.unwrap_or(Err(Broken::Time)),
        };
        if !matches!(heard, Ok(None)) {
            // It said all it has to say, or nobody wants to hear it.
            let _ = child.kill().await;
        }
        match heard? {
            Some(analysis) => Ok(analysis),
            None => Err(self.end(child, stderr).await),
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

    fn order(&self, job: Job) -> io::Result<Vec<u8>> {
        let order = Order {
            job,
            advisories: self.0.folder.clone(),
            limits: self.0.limits.clone(),
            memory_bytes: self.0.settings.memory_bytes,
            is_isolation_required: self.0.settings.isolation == Isolation::Required,
        };
        let mut text = serde_json::to_vec(&order)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Listens until the outcome; `None` when the process went silent before it.
    async fn listen(&self, stdout: ChildStdout, watch: &Watch) -> Result<Option<Analysis>, Broken> {
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
            match serde_json::from_slice(&line) {
                Ok(Line::Progress(percent)) => watch.set_progress(percent),
                Ok(Line::Done(analysis)) => return Ok(Some(*analysis)),
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

    /// Why the process ended without an outcome.
    async fn end(&self, mut child: Child, stderr: ChildStderr) -> Broken {
        let mut last_words = Vec::new();
        // Whatever can be read of it helps.
        let _ = stderr.take(LAST_WORDS).read_to_end(&mut last_words).await;
        let status = child.wait().await.ok();
        let last_words = String::from_utf8_lossy(&last_words);
        let signal = status.and_then(|status: ExitStatus| status.signal());
        tracing::error!(?status, last_words = %last_words.escape_debug(), "an analysis process ended without an outcome");
        match signal {
            Some(OUT_OF_TIME) => Broken::Time,
            Some(ABORTED) if last_words.contains("memory allocation") => Broken::Memory(self.0.settings.memory_bytes),
            _ => Broken::Crashed,
        }
    }
}
