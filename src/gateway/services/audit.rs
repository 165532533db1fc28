//! The audit log as administrators read it: by page with a filter, as a file, and whether it is whole. A trail has no index: a
//! page looks through a bounded number of records and says how far it came, a file is made while it is sent.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, Stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Actor;
use super::error::Error;
use super::users::Users;
use crate::config::gateway::Audit as Settings;
use crate::gateway::audit::Audit;
pub(in crate::gateway) use crate::gateway::audit::{Check, Found, Line};
use crate::gateway::domain::audit::{Deed, Event, Written};
use crate::gateway::domain::audit_filter::AuditFilter;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::Unavailable;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::hostile::Hostile;
use crate::platform::shutdown::Shutdown;

/// Records that are asked for at once.
const CHUNK: u64 = 100;
/// Events that waited for the store are written later than others; so much at most is believed.
const LATE: Duration = Duration::from_hours(24);

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct AuditLog {
    audit: Audit,
    users: Users,
    clock: Clock,
    shutdown: Shutdown,
    /// Places for files, for each tenant its own: one that reads slowly keeps nobody else waiting.
    files: Arc<Mutex<HashMap<TenantId, Arc<Semaphore>>>>,
    /// Files that are made at the same time for a tenant by this process.
    files_at_once: usize,
    /// Events on a page.
    events: usize,
    /// Records that one page looks through.
    most: usize,
}

/// What people are called, by their mark; `None` for those nobody remembers.
pub(in crate::gateway) type Names = HashMap<String, Option<Hostile>>;

/// One page of the log.
#[derive(Default)]
pub(in crate::gateway) struct Shown {
    /// Newest first.
    pub(in crate::gateway) lines: Vec<Line>,
    pub(in crate::gateway) names: Names,
    /// Below this number it goes on.
    pub(in crate::gateway) next: Option<u64>,
    /// The page ended because it had looked through as many records as it may: back to then.
    pub(in crate::gateway) looked_back_to: Option<Timestamp>,
    pub(in crate::gateway) looked_through: usize,
    /// What anybody can cause and was left out, by the deeds' names.
    pub(in crate::gateway) left_out: BTreeMap<&'static str, u64>,
    pub(in crate::gateway) check: Option<Check>,
}

/// In which form a file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Form {
    Csv,
    Json,
}

/// Some lines of a file, newest first, with what people in them are called.
pub(in crate::gateway) type Lines = Vec<(Line, Option<Hostile>)>;

/// How far a file is.
struct Progress {
    log: AuditLog,
    tenant: TenantId,
    filter: AuditFilter,
    range: (Timestamp, Timestamp),
    names: Names,
    /// Below this number it goes on; `None` at the beginning.
    before: Option<u64>,
    is_whole: bool,
    _place: OwnedSemaphorePermit,
}

impl AuditLog {
    pub(in crate::gateway) fn new(
        (audit, users): (Audit, Users),
        (clock, shutdown): (Clock, Shutdown),
        settings: &Settings,
    ) -> Self {
        let Settings { files_at_once, page_events: events, looked_through: most, .. } = *settings;
        Self { audit, users, clock, shutdown, files: Arc::default(), files_at_once, events, most }
    }

    /// A page of the log of the administrator's tenant, below an event or from its end.
    pub(in crate::gateway) async fn page(
        &self,
        actor: &Actor,
        filter: &AuditFilter,
        before: Option<u64>,
    ) -> Result<Shown, Error> {
        let tenant = &actor.principal.tenant;
        let mut shown = self.look(tenant, (filter, self.events), before).await?;
        shown.check = self.audit.last_check(tenant).await?;
        Ok(shown)
    }

    /// The newest events about one thing, as far as one page looks back.
    pub(in crate::gateway) async fn about(&self, actor: &Actor, object: &str, count: usize) -> Result<Shown, Error> {
        Ok(self.look(&actor.principal.tenant, (&AuditFilter::of(object), count), None).await?)
    }

    async fn look(
        &self,
        tenant: &TenantId,
        (filter, count): (&AuditFilter, usize),
        before: Option<u64>,
    ) -> Result<Shown, Unavailable> {
        let range = filter.range(self.clock.now());
        let (mut shown, mut at, mut last) = (Shown::default(), before, None);
        loop {
            let part = self.audit.part(tenant, at, CHUNK).await?;
            for line in part.lines {
                shown.looked_through += 1;
                let is_over = is_before(&line, range.0);
                if is_over {
                    return Ok(shown);
                }
                if !self.fits(tenant, (filter, range), &line, &mut shown).await? {
                    continue;
                }
                if shown.lines.len() == count {
                    shown.next = last;
                    return Ok(shown);
                }
                last = Some(first_of(&line));
                shown.lines.push(line);
            }
            at = part.next;
            if at.is_none() {
                return Ok(shown);
            }
            if shown.looked_through >= self.most {
                shown.looked_back_to = self.written_at(tenant, at).await?;
                shown.next = at;
                return Ok(shown);
            }
        }
    }

    /// When the record at which a page ended was written.
    async fn written_at(&self, tenant: &TenantId, at: Option<u64>) -> Result<Option<Timestamp>, Unavailable> {
        let part = self.audit.part(tenant, at.map(|number| number + 1), 1).await?;
        Ok(part.lines.iter().find_map(|line| if let Line::Event(written) = line { Some(written.at) } else { None }))
    }

    /// Whether a line belongs on the page. What people are called is found out on the way.
    async fn fits(
        &self,
        tenant: &TenantId,
        (filter, range): (&AuditFilter, (Timestamp, Timestamp)),
        line: &Line,
        shown: &mut Shown,
    ) -> Result<bool, Unavailable> {
        let Line::Event(written) = line else { return Ok(true) };
        if written.at < range.0 || written.at > range.1 {
            return Ok(false);
        }
        if !filter.asks_names() && !filter.fits(written, None) {
            return Ok(false);
        }
        let name = self.name(tenant, written, &mut shown.names).await?;
        if !filter.fits(written, name.as_ref()) {
            return Ok(false);
        }
        if filter.hides(written) {
            *shown.left_out.entry(written.event.deed.name()).or_default() += 1;
            return Ok(false);
        }
        Ok(true)
    }

    async fn name(&self, tenant: &TenantId, written: &Written, names: &mut Names) -> Result<Option<Hostile>, Unavailable> {
        let Some(user) = &written.event.user else { return Ok(None) };
        if let Some(known) = names.get(user) {
            return Ok(known.clone());
        }
        let name = self.users.name(tenant, user).await;
        names.insert(user.clone(), name.clone());
        Ok(name)
    }

    /// All events that pass the filter, some at a time, as they are read. That somebody took them is written down.
    ///
    /// # Errors
    /// [`Error::Busy`] while as many files are made as may be.
    pub(in crate::gateway) fn file(
        &self,
        actor: &Actor,
        (filter, form): (AuditFilter, Form),
    ) -> Result<impl Stream<Item = Result<Lines, Error>> + use<>, Error> {
        let place = self.places(&actor.principal.tenant).try_acquire_owned().map_err(|_| Error::Busy { retry_after: 10 })?;
        let what = if form == Form::Csv { "exported_csv" } else { "exported_json" };
        self.note(actor, what);
        let range = filter.range(self.clock.now());
        let tenant = actor.principal.tenant.clone();
        let begun = Progress {
            log: self.clone(),
            tenant,
            filter,
            range,
            names: Names::new(),
            before: None,
            is_whole: false,
            _place: place,
        };
        Ok(stream::try_unfold(begun, Progress::next))
    }

    fn places(&self, tenant: &TenantId) -> Arc<Semaphore> {
        let mut all = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(tenant.clone()).or_insert_with(|| Arc::new(Semaphore::new(self.files_at_once))))
    }

    /// Begins to check in the background whether the trail is whole. False when somebody does, or did just now.
    pub(in crate::gateway) async fn check(&self, actor: &Actor) -> Result<bool, Error> {
        let event = actor.did(Event::new(Deed::AuditTrail, "checked"));
        Ok(self.audit.check(&actor.principal.tenant, event, &self.shutdown).await?)
    }

    pub(in crate::gateway) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn note(&self, actor: &Actor, what: &str) {
        self.audit.record(&actor.principal.tenant, actor.did(Event::new(Deed::AuditTrail, what)));
    }
}

impl Progress {
    async fn next(mut self) -> Result<Option<(Lines, Self)>, Error> {
        if self.is_whole {
            return Ok(None);
        }
        let part = self.log.audit.part(&self.tenant, self.before, CHUNK).await?;
        (self.before, self.is_whole) = (part.next, part.next.is_none());
        let mut lines = Lines::new();
        let mut shown = Shown { names: std::mem::take(&mut self.names), ..Shown::default() };
        for line in part.lines {
            if is_before(&line, self.range.0) {
                self.is_whole = true;
                break;
            }
            if self.log.fits(&self.tenant, (&self.filter, self.range), &line, &mut shown).await? {
                let name = if let Line::Event(written) = &line {
                    self.log.name(&self.tenant, written, &mut shown.names).await?
                } else {
                    None
                };
                lines.push((line, name));
            }
        }
        self.names = shown.names;
        Ok(Some((lines, self)))
    }
}

/// Whether everything from this line on was before then.
fn is_before(line: &Line, then: Timestamp) -> bool {
    matches!(line, Line::Event(written) if written.at.after(LATE) < then)
}

/// The number below which a page goes on after this line.
const fn first_of(line: &Line) -> u64 {
    match line {
        Line::Event(written) => written.number,
        Line::Missing { first, .. } => *first,
    }
}
