//! Counts and times of answers. Each is looked up by its labels once for a worker: a look-up takes longer than counting, and
//! there are few of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use actix_web::http::{Method, StatusCode};
use metrics::{Counter, Histogram};

/// What one worker has looked up.
#[derive(Default)]
pub(super) struct Meters(RefCell<HashMap<Labels, Meter>>);

/// Operation, method, status; each of them one of a few.
type Labels = (&'static str, &'static str, u16);

struct Meter {
    answers: Counter,
    seconds: Histogram,
}

impl Meters {
    /// An answer to a call of `operation`.
    pub(super) fn measure(&self, operation: &'static str, method: &Method, status: StatusCode, took: Duration) {
        let method = match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::POST => "POST",
            Method::PATCH => "PATCH",
            // A method may be any word.
            _ => "other",
        };
        let mut all = self.0.borrow_mut();
        let meter = all.entry((operation, method, status.as_u16())).or_insert_with(|| Meter::new(operation, method, status));
        meter.answers.increment(1);
        meter.seconds.record(took);
    }
}

impl Meter {
    fn new(operation: &'static str, method: &'static str, status: StatusCode) -> Self {
        let labels = [("route", operation.to_owned()), ("method", method.to_owned()), ("status", status.as_str().to_owned())];
        Self {
            answers: metrics::counter!("cardea_http_requests_total", &labels),
            seconds: metrics::histogram!("cardea_http_request_seconds", "route" => operation, "method" => method),
        }
    }
}
