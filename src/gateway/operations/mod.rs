//! What operators measure: the catalog of all metrics, the recorder that keeps them, and the page that gives them out.
//!
//! Whoever measures does so where it happens, with the macros of `metrics`, and knows nothing of this room. Nothing is kept
//! unless the operations listener is on. A label never holds a user, an id or text from outside; of tenants only
//! whether their service is left alone.

mod catalog;
mod process;
mod recorder;

pub(in crate::gateway) use self::recorder::MetricsPage;
