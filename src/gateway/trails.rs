//! The audit trails from outside of a running gateway: for the command line.

use std::fmt::{self, Write as _};

use super::audit::{Audit, Line, Listing, Verdict, Wanted};
use super::domain::audit::Deed;
use super::domain::tenant::TenantId;
use super::{Gateway, StartError, build, opening};
use crate::config::gateway::Gateway as Settings;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// Why a trail could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum TrailError {
    #[error("there is no store at {0}: no gateway has run with these settings yet")]
    NoStore(String),
    #[error("{0} is empty, and no store: what was in it is gone, or no gateway has got to the end of its first start yet")]
    EmptyStore(String),
    #[error("no tenant is called {0:?}; there are: {1}")]
    UnknownTenant(String, String),
    #[error("no event is called {0:?}; there are: {1}")]
    UnknownDeed(String, String),
    #[error("{0}")]
    Start(#[from] StartError),
    #[error("the audit trail of {0} cannot be read: {1}")]
    Unreadable(String, String),
}

/// Which events are listed.
#[derive(Clone, Copy, Debug)]
pub enum EventFilter<'f> {
    /// All but those that somebody without a session can cause, and counts of those.
    NoStrangers,
    /// Every one.
    All,
    /// Those of these names, e.g. `sign_in`.
    Named(&'f [String]),
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
            write!(out, "{line_end}{tenant}: ")?;
            match verdict {
                Verdict::Whole { last: 0, .. } => write!(out, "nothing is written yet")?,
                Verdict::Whole { first: 0, last } => write!(out, "all {last} events have run out")?,
                Verdict::Whole { first: first @ 1, last } => write!(out, "whole, events {first} to {last}")?,
                Verdict::Whole { first, last } => write!(out, "whole, events {first} to {last}; earlier ones have run out")?,
                Verdict::EndUnknown { first, last } => write!(
                    out,
                    "END UNKNOWN: the note of the last event is missing or does not open; events {first} to {last} are as they \
                     were written, later ones may have been cut off"
                )?,
                Verdict::Doubtful { first, last, number } => write!(
                    out,
                    "EVENTS MAY BE MISSING before event {number}: the note of the last event was gone when it was written; events \
                     {first} to {last} are as they were written"
                )?,
                Verdict::Gone => write!(
                    out,
                    "NO TRAIL: neither an event nor the note of the last one is in the store, and other things of this tenant are: \
                     the trail is gone, or no gateway that keeps one has run yet"
                )?,
                Verdict::Broken { number, how } => write!(out, "BROKEN at event {number}: {how}")?,
            }
        }
        Ok(())
    }
}

/// Events as people and scripts read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrailList {
    /// One JSON object on each line: an event, or `missing` with the numbers of those that should be there and are not.
    pub lines: String,
    /// For people: what is not among the lines, tenant by tenant.
    pub remarks: Vec<String>,
    /// Whether nothing is missing between the events and before them.
    pub is_whole: bool,
}

impl TrailList {
    fn take(&mut self, tenant: &TenantId, listing: &Listing, wanted: &Wanted) {
        for line in listing.lines.iter().rev() {
            let mut json = serde_json::json!({ "tenant": tenant.as_str() });
            let object = match line {
                Line::Missing { first, last, how } => {
                    self.is_whole = false;
                    serde_json::json!({ "missing": { "first": first, "last": last }, "how": how })
                }
                Line::Event(event) => {
                    json = serde_json::json!({ "tenant": tenant.as_str(), "time": event.at.rfc3339() });
                    serde_json::to_value(event).unwrap_or_default()
                }
            };
            if let (Some(json), serde_json::Value::Object(object)) = (json.as_object_mut(), object) {
                json.extend(object.into_iter().filter(|(name, value)| name != "at" && !value.is_null()));
            }
            let _ = writeln!(self.lines, "{json}");
        }
        if listing.lines.is_empty() && listing.left_out.is_empty() {
            self.remarks.push(format!("{tenant}: there are no events"));
        }
        if !listing.left_out.is_empty() {
            let total: u64 = listing.left_out.values().sum();
            let each: Vec<String> = listing.left_out.iter().map(|(name, count)| format!("{name} {count}")).collect();
            let hint = if *wanted == Wanted::NoStrangers { " that anybody can cause" } else { "" };
            let each = each.join(", ");
            self.remarks.push(format!("{tenant}: {total} more{hint} are left out of this list ({each}); --all lists them"));
        }
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

    /// The newest `last` events of one tenant, or of all, that pass the filter, oldest first. Must be called inside a tokio
    /// runtime.
    ///
    /// # Errors
    /// See [`TrailError`].
    pub async fn list_audit(
        settings: &Settings,
        clock: &Clock,
        tenant: Option<&str>,
        (filter, last): (EventFilter<'_>, usize),
    ) -> Result<TrailList, TrailError> {
        let wanted = wanted(filter)?;
        let (audit, tenants) = open(settings, clock, tenant)?;
        let mut shown = TrailList { is_whole: true, ..TrailList::default() };
        for tenant in tenants {
            let listing = audit.list(&tenant, &wanted, last).await;
            let listing = listing.map_err(|error| TrailError::Unreadable(tenant.to_string(), error.to_string()))?;
            shown.take(&tenant, &listing, &wanted);
        }
        Ok(shown)
    }
}

fn wanted(filter: EventFilter<'_>) -> Result<Wanted, TrailError> {
    let names = match filter {
        EventFilter::NoStrangers => return Ok(Wanted::NoStrangers),
        EventFilter::All => return Ok(Wanted::All),
        EventFilter::Named(names) => names,
    };
    let deed = |name: &String| {
        let all = || Deed::ALL.map(Deed::name).join(", ");
        Deed::ALL.into_iter().find(|deed| deed.name() == name).ok_or_else(|| TrailError::UnknownDeed(name.clone(), all()))
    };
    names.iter().map(deed).collect::<Result<_, _>>().map(Wanted::Only)
}

/// The tenant of this name, or all, where there is a store to look into.
pub(in crate::gateway) fn known(settings: &Settings, tenant: Option<&str>) -> Result<Vec<TenantId>, TrailError> {
    let path = || settings.store.path.display().to_string();
    match opening::looked_at(settings) {
        None => return Err(TrailError::NoStore(path())),
        Some(0) => return Err(TrailError::EmptyStore(path())),
        Some(_) => {}
    }
    let known: Vec<String> = settings.tenants.keys().cloned().collect();
    if let Some(tenant) = tenant.filter(|&tenant| !settings.tenants.contains_key(tenant)) {
        return Err(TrailError::UnknownTenant(tenant.to_owned(), known.join(", ")));
    }
    let all = build::tenants(settings)?.into_keys();
    Ok(all.filter(|id| tenant.is_none_or(|tenant| id.as_str() == tenant)).collect())
}

fn open(settings: &Settings, clock: &Clock, tenant: Option<&str>) -> Result<(Audit, Vec<TenantId>), TrailError> {
    let tenants = known(settings, tenant)?;
    Ok((build::trails(settings, clock, &Shutdown::default())?, tenants))
}
