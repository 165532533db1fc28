//! The recorder behind the macros of `metrics` and its page in the text format of Prometheus. There is one for the whole
//! process; it is started by the first gateway that has an operations listener.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{BuildError, PrometheusBuilder, PrometheusHandle};

use super::catalog::{self, Kind, Metric};
use super::process;
use crate::platform::clock::Timestamp;
use crate::platform::shutdown::Shutdown;

/// Upper bounds of all histograms, in seconds.
const BOUNDS: [f64; 12] = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// How often times are moved into their histograms, so that they do not pile up where nobody asks.
const UPKEEP: Duration = Duration::from_secs(5);

static INSTALLED: Mutex<Option<PrometheusHandle>> = Mutex::new(None);

/// All metrics as they stand. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct MetricsPage(PrometheusHandle);

impl MetricsPage {
    /// Begins to keep what is measured in this process.
    ///
    /// # Errors
    /// When something else in the process keeps metrics already.
    pub(in crate::gateway) fn start(now: Timestamp, shutdown: &Shutdown) -> Result<Self, BuildError> {
        let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = &*installed {
            return Ok(Self(handle.clone()));
        }
        let handle = PrometheusBuilder::new().set_buckets(&BOUNDS)?.install_recorder()?;
        *installed = Some(handle.clone());
        catalog::METRICS.iter().for_each(register);
        gauge!("cardea_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
        gauge!("process_start_time_seconds").set(now.since(Timestamp(0)).as_secs_f64());
        let (kept, end) = (handle.clone(), shutdown.clone());
        shutdown.spawn(async move {
            while end.pause(UPKEEP).await {
                kept.run_upkeep();
            }
        });
        Ok(Self(handle))
    }

    /// The page, in the text format of Prometheus, version 0.0.4.
    pub(in crate::gateway) fn text(&self) -> String {
        process::measure();
        self.0.render()
    }
}

/// Describes a metric and starts it at zero, with each value of its label: what never happened is 0, not missing.
fn register(metric: &'static Metric) {
    let Metric { name, kind, labels, help } = metric;
    match kind {
        Kind::Counter => describe_counter!(*name, *help),
        Kind::Gauge => describe_gauge!(*name, *help),
        Kind::Histogram => describe_histogram!(*name, *help),
    }
    match (kind, *labels) {
        (Kind::Counter, []) => counter!(*name).increment(0),
        (Kind::Counter, [label]) => label.values.iter().for_each(|value| counter!(*name, label.name => *value).increment(0)),
        (Kind::Gauge, []) => gauge!(*name).set(0.0),
        // Registered by being named; it has no times yet.
        (Kind::Histogram, []) => drop(histogram!(*name)),
        _ => {}
    }
}
