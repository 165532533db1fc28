//! The process's own side: takes the order, gives up what it does not need, analyses, answers.

use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::parent_id;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use super::isolation;
use super::{Line, Order};
use crate::platform::clock::Clock;
use crate::scanner::engine::finding::Watch;
use crate::scanner::engine::{self, AdvisoryDatabase};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Serves one order from standard input and ends.
#[must_use]
pub fn serve() -> ExitCode {
    let mut text = String::new();
    if io::stdin().lock().read_line(&mut text).is_err() {
        return ExitCode::FAILURE;
    }
    let line = match serde_json::from_str::<Order>(&text) {
        Ok(order) => work(&order),
        Err(error) => Line::Unfit(format!("the order cannot be read: {error}")),
    };
    match say(&line) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(order: &Order) -> Line {
    let watch = Arc::new(Watch::default());
    let is_over = Arc::new(AtomicBool::new(false));
    // The one other thread runs before the process gives up the right to start any, and memory for it.
    let begun = Arc::new(Barrier::new(2));
    let telling = {
        let (watch, is_over, begun) = (Arc::clone(&watch), Arc::clone(&is_over), Arc::clone(&begun));
        thread::spawn(move || {
            begun.wait();
            tell(&watch, &is_over);
        })
    };
    begun.wait();
    let line = isolated(order, &watch);
    is_over.store(true, Ordering::Relaxed);
    // A thread that tells nothing any more changes nothing about the outcome.
    let _ = telling.join();
    line
}

fn isolated(order: &Order, watch: &Watch) -> Line {
    if let Err(why) = isolation::bounds(order.memory_bytes, order.limits.seconds) {
        return Line::Unfit(why);
    }
    match isolation::isolate() {
        Err(why) if order.is_isolation_required => return Line::Unfit(why),
        _ => {}
    }
    let database = match AdvisoryDatabase::open(&order.advisories) {
        Ok(database) => database,
        Err(error) => return Line::Unfit(error.to_string()),
    };
    match engine::analyze(&order.job, &database.current(), &order.limits, &Clock::system(), watch) {
        Ok(analysis) => Line::Done(Box::new(analysis)),
        Err(error) => Line::Refused(error),
    }
}

/// Tells how far the analysis is. Ends it when nobody listens any more.
fn tell(watch: &Watch, is_over: &AtomicBool) {
    let (mut told, service) = (0, parent_id());
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(TELL_EVERY);
        if parent_id() != service {
            // The service is gone: nobody wants the outcome, and the analysis may be deep inside one entry.
            process::exit(1);
        }
        let progress = watch.progress();
        if progress != told {
            told = progress;
            if say(&Line::Progress(progress)).is_err() {
                watch.stop();
                return;
            }
        }
    }
}

fn say(line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text)?;
    out.flush()
}
