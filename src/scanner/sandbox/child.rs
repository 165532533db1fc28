//! The process's own side: takes the order, gives up what it does not need, analyses, answers.

use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::parent_id;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::isolation;
use super::{Line, Order, Work};
use crate::platform::clock::Clock;
use crate::scanner::engine::finding::Watch;
use crate::scanner::engine::{self, Advisories, AdvisoryDatabase, composition};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Nothing but progress, or why it did not begin.
type Word = Line<(), ()>;

/// Serves one order from standard input and ends.
#[must_use]
pub fn serve() -> ExitCode {
    // Before anything takes time: whoever is the parent later may have taken over an orphan.
    let service = parent_id();
    let mut text = String::new();
    if io::stdin().lock().read_line(&mut text).is_err() {
        return ExitCode::FAILURE;
    }
    let said = match serde_json::from_str::<Order>(&text) {
        Ok(order) => work(order, service),
        Err(error) => text_of(&Word::Unfit(format!("the order cannot be read: {error}"))),
    };
    match said.and_then(|line| say(&line)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(order: Order, service: u32) -> io::Result<Vec<u8>> {
    let watch = Arc::new(Watch::default());
    let is_over = Arc::new(AtomicBool::new(false));
    // The one other thread runs before the process gives up the right to start any, and memory for it.
    let begun = Arc::new(Barrier::new(2));
    let telling = {
        let (watch, is_over, begun) = (Arc::clone(&watch), Arc::clone(&is_over), Arc::clone(&begun));
        thread::spawn(move || {
            begun.wait();
            tell(&watch, &is_over, service);
        })
    };
    begun.wait();
    let line = match isolated(&order) {
        Ok(advisories) => outcome(order, &advisories, &watch),
        Err(why) => text_of(&Word::Unfit(why)),
    };
    is_over.store(true, Ordering::Relaxed);
    // A thread that tells nothing any more changes nothing about the outcome.
    let _ = telling.join();
    line
}

/// Gives everything up that is not needed; then opens the advisories.
fn isolated(order: &Order) -> Result<Arc<Advisories>, String> {
    isolation::bounds(order.bounds.memory_bytes, order.bounds.seconds)?;
    match isolation::isolate() {
        Err(why) if order.is_isolation_required => return Err(why),
        _ => {}
    }
    AdvisoryDatabase::open(&order.advisories).map(|database| database.current()).map_err(|error| error.to_string())
}

fn outcome(order: Order, advisories: &Advisories, watch: &Watch) -> io::Result<Vec<u8>> {
    let limits = &order.limits;
    match order.work {
        Work::Archive(job) => text_of(&Line::from(engine::analyze(&job, advisories, limits, &Clock::system(), watch))),
        Work::Poms(poms) => {
            let zip = composition::analyze(&poms, advisories, limits).and_then(|found| found.into_zip(advisories));
            text_of(&Line::from(zip.map(|zip| STANDARD.encode(zip))))
        }
    }
}

impl<A, R> From<Result<A, R>> for Line<A, R> {
    fn from(outcome: Result<A, R>) -> Self {
        outcome.map_or_else(Self::Refused, Self::Done)
    }
}

/// Tells how far the analysis is. Ends it when nobody listens any more, or the process `service` is gone.
fn tell(watch: &Watch, is_over: &AtomicBool, service: u32) {
    let mut told = 0;
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(TELL_EVERY);
        if parent_id() != service {
            // The service is gone: nobody wants the outcome, and the analysis may be deep inside one entry.
            process::exit(1);
        }
        let progress = watch.progress();
        if progress != told {
            told = progress;
            if text_of(&Word::Progress(progress)).and_then(|line| say(&line)).is_err() {
                watch.stop();
                return;
            }
        }
    }
}

fn text_of(line: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
    text.push(b'\n');
    Ok(text)
}

fn say(line: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line)?;
    out.flush()
}
