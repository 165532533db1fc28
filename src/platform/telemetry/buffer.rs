//! Lines of the log on their way to standard error. There is a line for every request, and writing each by itself costs more than
//! making it: lines of level INFO and below wait for each other a moment. Warnings and errors are written at once, with
//! everything before them, so that what matters survives a killed process.

use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// Lines are written when there are so many bytes of them.
const FULL: usize = 32 * 1024;

/// Where lines wait. Clones are the same place.
#[derive(Clone)]
pub(super) struct Buffer(Arc<Inner>);

struct Inner {
    waiting: Mutex<Vec<u8>>,
    /// Rung when the first line waits.
    bell: Condvar,
}

/// One line.
pub(super) struct Line<'b> {
    buffer: &'b Buffer,
    is_urgent: bool,
}

impl Buffer {
    /// Lines wait at most `wait`; none does when that is zero.
    pub(super) fn new(wait: Duration) -> Option<Self> {
        if wait.is_zero() {
            return None;
        }
        let buffer = Self(Arc::new(Inner { waiting: Mutex::default(), bell: Condvar::new() }));
        let writing = buffer.clone();
        let made = thread::Builder::new().name("log".to_owned()).spawn(move || writing.run(wait));
        made.is_ok().then_some(buffer)
    }

    fn run(&self, wait: Duration) {
        loop {
            let waiting = self.waiting();
            let first = self.0.bell.wait_while(waiting, |waiting| waiting.is_empty());
            drop(first);
            thread::sleep(wait);
            self.flush();
        }
    }

    /// Writes what waits.
    pub(super) fn flush(&self) {
        write_out(&mut self.waiting());
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nobody can be told that the log cannot be written.
fn write_out(waiting: &mut Vec<u8>) {
    let _ = io::stderr().lock().write_all(waiting);
    waiting.clear();
}

impl<'b> MakeWriter<'b> for Buffer {
    type Writer = Line<'b>;

    fn make_writer(&'b self) -> Self::Writer {
        Line { buffer: self, is_urgent: true }
    }

    fn make_writer_for(&'b self, about: &Metadata<'_>) -> Self::Writer {
        Line { buffer: self, is_urgent: *about.level() <= Level::WARN }
    }
}

impl io::Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.buffer.waiting();
        let is_first = waiting.is_empty();
        waiting.extend_from_slice(line);
        if self.is_urgent || waiting.len() >= FULL {
            write_out(&mut waiting);
        } else if is_first {
            self.buffer.0.bell.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
