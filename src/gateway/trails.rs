//! The audit trails from outside of a running gateway: for the command line.

use std::fmt::{self, Write as _};

use super::audit::{Audit, Verdict};
use super::domain::tenant::TenantId;
use super::{Gateway, StartError, build};
use crate::config::gateway::{Backend, Gateway as Settings};
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// Records that are read at once.
const PAGE: usize = 500;

/// Why a trail could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum TrailError {
    #[error("there is no store at {0}: no gateway has run with these settings yet")]
    NoStore(String),
    #[error("no tenant is called {0:?}; there are: {1}")]
    UnknownTenant(String, String),
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("the audit trail of {0} cannot be read: {1}")]
    Unreadable(String, String),
}

/// What a check found, tenant by tenant. Its text is one line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrailReport(Vec<(TenantId, Verdict)>);

impl TrailReport {
    /// Whether every trail is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.0.iter().all(|(_, verdict)| matches!(verdict, Verdict::Whole { .. }))
    }
}

impl fmt::Display for TrailReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (tenant, verdict)) in self.0.iter().enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            match verdict {
                Verdict::Whole { last: 0, .. } => write!(out, "{line_end}{tenant}: nothing is written yet")?,
                Verdict::Whole { first: 0, last } => write!(out, "{line_end}{tenant}: all {last} events have run out")?,
                Verdict::Whole { first: first @ 1, last } => {
                    write!(out, "{line_end}{tenant}: whole, events {first} to {last}")?;
                }
                Verdict::Whole { first, last } => {
                    write!(out, "{line_end}{tenant}: whole, events {first} to {last}; earlier ones have run out")?;
                }
                Verdict::EndUnknown { first, last } => write!(
                    out,
                    "{line_end}{tenant}: END UNKNOWN: the note of the last event is missing; events {first} to {last} are as they \
                     were written, later ones may have been cut off"
                )?,
                Verdict::Broken { number, how } => write!(out, "{line_end}{tenant}: BROKEN at event {number}: {how}")?,
            }
        }
        Ok(())
    }
}

impl Gateway {
    /// Checks the audit trail of one tenant, or of all. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When one of them cannot be read at all; see [`TrailError`].
    pub async fn verify_audit(settings: &Settings, clock: &Clock, tenant: Option<&str>) -> Result<TrailReport, TrailError> {
        let (audit, tenants) = open(settings, clock, tenant)?;
        let mut found = Vec::new();
        for tenant in tenants {
            let verdict = audit.verify(&tenant).await;
            let verdict = verdict.map_err(|error| TrailError::Unreadable(tenant.to_string(), error.to_string()))?;
            found.push((tenant, verdict));
        }
        Ok(TrailReport(found))
    }

    /// The newest `last` events of one tenant, or of all, oldest first: one JSON object with `tenant` and the event on each
    /// line. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// See [`TrailError`].
    pub async fn list_audit(settings: &Settings, clock: &Clock, tenant: Option<&str>, last: usize) -> Result<String, TrailError> {
        let (audit, tenants) = open(settings, clock, tenant)?;
        let mut lines = String::new();
        for tenant in tenants {
            let mut written = Vec::new();
            while written.len() < last {
                let before = written.last().map(|oldest: &super::domain::audit::Written| oldest.number);
                let page = audit.list(&tenant, before, PAGE.min(last - written.len())).await;
                let page = page.map_err(|error| TrailError::Unreadable(tenant.to_string(), error.to_string()))?;
                if page.is_empty() {
                    break;
                }
                written.extend(page);
            }
            for event in written.iter().rev() {
                let mut line = serde_json::json!({ "tenant": tenant.as_str(), "time": event.at.rfc3339() });
                if let (Some(line), Ok(serde_json::Value::Object(event))) = (line.as_object_mut(), serde_json::to_value(event)) {
                    line.extend(event.into_iter().filter(|(name, value)| name != "at" && !value.is_null()));
                }
                let line_end = if lines.is_empty() { "" } else { "\n" };
                let _ = write!(lines, "{line_end}{line}");
            }
        }
        Ok(lines)
    }
}

fn open(settings: &Settings, clock: &Clock, tenant: Option<&str>) -> Result<(Audit, Vec<TenantId>), TrailError> {
    // Opening would make an empty one.
    if settings.store.backend == Backend::Embedded && !settings.store.path.exists() {
        return Err(TrailError::NoStore(settings.store.path.display().to_string()));
    }
    let known: Vec<String> = settings.tenants.keys().cloned().collect();
    if let Some(tenant) = tenant.filter(|&tenant| !settings.tenants.contains_key(tenant)) {
        return Err(TrailError::UnknownTenant(tenant.to_owned(), known.join(", ")));
    }
    let (audit, tenants) = build::trails(settings, clock, &Shutdown::default())?;
    Ok((audit, tenants.into_iter().filter(|id| tenant.is_none_or(|tenant| id.as_str() == tenant)).collect()))
}
