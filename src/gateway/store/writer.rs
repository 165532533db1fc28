//! The one thread that writes the embedded file. It puts what waits into one commit, so that many writers share one flush,
//! and between commits it deletes what ran out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Unavailable;
use super::entries::Entries;
use super::file::File;
use crate::platform::clock::Clock;

/// Relaxed commits reach the disk after at most this long.
const FLUSH: Duration = Duration::from_millis(100);
/// Entries that ran out are deleted this often.
const SWEEP: Duration = Duration::from_secs(1);
/// At most this many jobs share a commit.
const BATCH: usize = 256;
/// At most this many entries are swept in one commit.
const SWEPT: usize = 1000;

/// Handle of the writing thread. Dropping it waits for the last flush.
pub(super) struct Writer {
    jobs: Option<Sender<Job>>,
    file: Arc<File>,
    thread: Mutex<Option<JoinHandle<()>>>,
    hurries: Arc<AtomicBool>,
}

struct Job {
    /// Whether its commit must be on the disk before it is answered.
    durable: bool,
    work: Work,
}

type Work = Box<dyn FnOnce(&mut Entries<'_>) -> Done + Send>;

/// A job that was done in a transaction which is not committed yet.
struct Done {
    /// A job that failed half-way takes its whole transaction with it.
    failed: Option<Unavailable>,
    /// Tells whoever waits, with the reason when nothing was committed.
    answer: Box<dyn FnOnce(Result<(), Unavailable>) + Send>,
}

impl Writer {
    pub(super) fn start(file: Arc<File>, clock: Clock) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let (hurries, now) = (Arc::new(AtomicBool::new(false)), Instant::now());
        let (for_pen, at) = (Arc::clone(&hurries), Arc::clone(&file));
        let pen = Pen { file: at, clock, unflushed: false, flushed: now, swept: now, hurries: for_pen };
        let thread = std::thread::Builder::new().name("store-writer".to_owned()).spawn(move || pen.run(&queue))?;
        Ok(Self { jobs: Some(jobs), file, thread: Mutex::new(Some(thread)), hurries })
    }

    /// Puts on the disk whatever was written; what is written from now on is there when it is answered.
    pub(super) async fn hurry(&self) -> Result<(), Unavailable> {
        self.hurries.store(true, Ordering::Release);
        self.write(true, |_| Ok(())).await
    }

    /// Has the thread do `work` and waits for the commit. When the caller goes away, the work is done all the same.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        durable: bool,
        work: impl FnOnce(&mut Entries<'_>) -> Result<T, Unavailable> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let closed = || self.file.closed();
        let (reply, wait) = oneshot::channel();
        let work = Box::new(move |entries: &mut Entries<'_>| {
            let result = work(entries);
            let failed = result.as_ref().err().cloned();
            let answer = Box::new(move |committed: Result<(), Unavailable>| {
                let _ = reply.send(committed.and(result));
            });
            Done { failed, answer }
        });
        self.jobs.as_ref().ok_or_else(closed)?.send(Job { durable, work }).map_err(|_| closed())?;
        wait.await.map_err(|_| closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// What the writing thread owns.
struct Pen {
    file: Arc<File>,
    clock: Clock,
    /// Whether a relaxed commit waits for a flush.
    unflushed: bool,
    flushed: Instant,
    swept: Instant,
    /// Whether no commit is relaxed any more.
    hurries: Arc<AtomicBool>,
}

impl Pen {
    fn run(mut self, queue: &Receiver<Job>) {
        loop {
            let mut jobs = Vec::new();
            match queue.recv_timeout(if self.unflushed { FLUSH } else { SWEEP }) {
                Ok(first) => {
                    jobs.push(first);
                    jobs.extend(queue.try_iter().take(BATCH - 1));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let overdue = self.unflushed && self.flushed.elapsed() >= FLUSH;
            if overdue || !jobs.is_empty() {
                self.commit(jobs, overdue);
            }
            if self.swept.elapsed() >= SWEEP {
                self.sweep();
                self.swept = Instant::now();
            }
        }
        if self.unflushed {
            self.commit(Vec::new(), true);
        }
    }

    /// Does the jobs in one transaction and answers them when it is committed, or abandoned.
    fn commit(&mut self, jobs: Vec<Job>, flush: bool) {
        let durable = flush || self.hurries.load(Ordering::Acquire) || jobs.iter().any(|job| job.durable);
        let mut answers = Vec::with_capacity(jobs.len());
        let outcome = self.transact(durable, |entries| {
            let mut outcome = Ok(());
            for job in jobs {
                let done = (job.work)(entries);
                answers.push(done.answer);
                if let Some(error) = done.failed {
                    outcome = Err(error);
                }
            }
            outcome
        });
        if let Err(error) = &outcome {
            tracing::error!(%error, "a commit of the embedded store failed");
        }
        for answer in answers {
            answer(outcome.clone());
        }
    }

    fn sweep(&mut self) {
        let mut swept = SWEPT;
        while swept == SWEPT {
            let outcome = self.transact(false, |entries| {
                swept = entries.sweep(SWEPT)?;
                Ok(())
            });
            if let Err(error) = outcome {
                tracing::error!(%error, "the embedded store could not delete what ran out");
                return;
            }
        }
    }

    fn transact(
        &mut self,
        durable: bool,
        work: impl FnOnce(&mut Entries<'_>) -> Result<(), Unavailable>,
    ) -> Result<(), Unavailable> {
        self.file.write((durable, self.clock.now()), work)?;
        self.unflushed = !durable;
        if durable {
            self.flushed = Instant::now();
        }
        Ok(())
    }
}
