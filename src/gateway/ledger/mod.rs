//! What the gateway itself knows about shares and the service does not: who made one and for whom, how often it may open and
//! did, who tried, and which recipients are inside now. The service keeps the code and what is shown.
//!
//! A share is named by its [`Mark`]: a hash of its id, which is a capability and stands only inside sealed entries. Entries
//! change by compare-and-set alone, so a view that is taken is taken once, on whichever replica. An entry that is over loses what
//! it showed when it is read next, by whomever; the sweep reads those that nobody asks for.

mod accesses;
mod endings;
mod grants;
mod guard;
mod stand_in;
mod sweep;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use zeroize::Zeroizing;

pub(in crate::gateway) use self::grants::{Grants, Inside, Terms};
pub(in crate::gateway) use self::guard::{Admission, Brake, Guard, Locks, Reached, Try};
use self::stand_in::StandIn;
use crate::gateway::domain::share_entry::{CodeCheck, Entry, Mark, State};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::{Key, Lease, Store, Swap, Unavailable, Version};
use crate::platform::clock::Clock;
use crate::platform::random;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;

const ENTRY: &str = "share";
const INDEX: &str = "shares";
/// Changes by others that one change gives way to: more than recipients who post a code at once.
const TRIES: usize = 300;
/// Entries that are read at once: one after the other, a store on the network takes its time for each.
const AT_ONCE: usize = 64;
/// An entry outlives what it tells by this much, so that a listing that begins now can end.
const SLACK: Duration = Duration::from_hours(24);

/// A change that takes longer than this is given up on.
const CHANGE_TAKES: Duration = Duration::from_mins(2);

/// Why the ledger gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum LedgerError {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The entry does not open: it was altered, or its sealing key is gone.
    #[error("an entry of a share does not open with the sealing keys there are")]
    Sealed,
}

/// What taking a view gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum View {
    /// This view is the caller's; the entry as it is with it.
    Taken(Box<Entry>),
    /// All views are spent, the share is over, or it has another code by now.
    None,
}

/// The ledger of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Ledger {
    store: Store,
    ring: Arc<Ring>,
    clock: Clock,
    brake: Brake,
    stand_in: Arc<StandIn>,
}

impl Ledger {
    pub(in crate::gateway) fn new(store: Store, ring: Arc<Ring>, clock: Clock, brake: Brake) -> Self {
        Self { store, ring, clock, brake, stand_in: Arc::default() }
    }

    /// What to keep in an entry, in place of its code, which is `code` as the service knows it. For every new code:
    /// [`Entry::check`] of a new entry, [`Entry::renew_code`] of one that is there.
    pub(in crate::gateway) fn check_of(code: &Secret) -> Result<CodeCheck, LedgerError> {
        let salt = random::bytes().map_err(|error| Unavailable(error.to_string()))?;
        Ok(CodeCheck::new(salt, code))
    }

    /// Writes down a new share. False when there is an entry of that id already; it stays as it is.
    pub(in crate::gateway) async fn begin(&self, tenant: &TenantId, entry: &Entry) -> Result<bool, LedgerError> {
        let (mark, kept) = (Mark::of(tenant, &entry.id), self.kept(entry));
        // First the index: an entry that nobody finds would outlive every "end all".
        self.store.add(&index(tenant), mark.as_str(), Some(kept)).await?;
        let key = key(tenant, &mark);
        let sealed = self.seal(&key, entry)?;
        let is_new = self.store.insert(&key, sealed, Some(kept)).await?.is_some();
        // Once more: who listed between the two took the name for one whose entry ran out.
        self.store.add(&index(tenant), mark.as_str(), Some(kept)).await?;
        Ok(is_new)
    }

    /// The entry of a share, if there is one.
    pub(in crate::gateway) async fn entry(&self, tenant: &TenantId, mark: &Mark) -> Result<Option<Entry>, LedgerError> {
        Ok(self.read(&key(tenant, mark)).await?.map(|(entry, _)| entry))
    }

    /// Changes an entry, again when somebody else wrote meanwhile; `None` when there is none. What `work` refuses is not
    /// written.
    pub(in crate::gateway) async fn change<T, E: From<LedgerError>>(
        &self,
        tenant: &TenantId,
        mark: &Mark,
        mut work: impl FnMut(&mut Entry) -> Result<T, E>,
    ) -> Result<Option<(T, Entry)>, E> {
        let key = key(tenant, mark);
        for _ in 0..TRIES {
            let Some((mut entry, version)) = self.read(&key).await? else { return Ok(None) };
            let result = work(&mut entry)?;
            let (sealed, kept) = (self.seal(&key, &entry)?, self.kept(&entry));
            match self.store.compare_and_set(&key, version, sealed, Some(kept)).await.map_err(LedgerError::from)? {
                Swap::Done(_) => {
                    self.store.add(&index(tenant), mark.as_str(), Some(kept)).await.map_err(LedgerError::from)?;
                    return Ok(Some((result, entry)));
                }
                Swap::Conflict => tokio::task::yield_now().await,
                Swap::Gone => return Ok(None),
            }
        }
        Err(LedgerError::from(Unavailable("too many changes of one share at once".to_owned())).into())
    }

    /// Takes one view of a share that is open and has the code still that was looked at, [`Entry::codes`]: of any number of callers as
    /// many get one as there are left.
    pub(in crate::gateway) async fn take_view(&self, tenant: &TenantId, mark: &Mark, codes: u64) -> Result<View, LedgerError> {
        let now = self.clock.now();
        let taken = self
            .change(tenant, mark, |entry| {
                if entry.state(now) != State::Open || entry.codes != codes {
                    return Err(NoView::Spent);
                }
                entry.views = entry.views.saturating_add(1);
                entry.last_opened = Some(now);
                Ok(())
            })
            .await;
        match taken {
            Ok(Some(((), entry))) => Ok(View::Taken(Box::new(entry))),
            Ok(None) | Err(NoView::Spent) => Ok(View::None),
            Err(NoView::Trouble(error)) => Err(error),
        }
    }

    /// The right to change a share at the service and here, if nobody has it: such changes come one after the other, because of two
    /// new codes the one that is noted must be the one that opens. To be given back with [`Ledger::changed`].
    pub(in crate::gateway) async fn changing(&self, tenant: &TenantId, mark: &Mark) -> Result<Option<Lease>, LedgerError> {
        Ok(self.store.acquire(&Key::new(tenant, "share-change", mark.as_str()), CHANGE_TAKES).await?)
    }

    /// Ends what [`Ledger::changing`] began. A right that is not given back runs out by itself.
    pub(in crate::gateway) async fn changed(&self, lease: &Lease) {
        let _ = self.store.release(lease).await;
    }

    /// Takes back the entry of a share that was not made after all.
    pub(in crate::gateway) async fn forget(&self, tenant: &TenantId, mark: &Mark) -> Result<(), LedgerError> {
        self.store.delete(&key(tenant, mark)).await?;
        self.store.remove(&index(tenant), mark.as_str()).await?;
        Ok(())
    }

    /// Every entry of the tenant, newest first. One that does not open is left out and logged.
    pub(in crate::gateway) async fn all(&self, tenant: &TenantId) -> Result<Vec<(Mark, Entry)>, LedgerError> {
        let names = self.store.members(&index(tenant)).await?;
        let read = stream::iter(names).map(|name| self.listed(tenant, name)).buffer_unordered(AT_ONCE);
        let mut all: Vec<_> = read.try_filter_map(async |found| Ok(found)).try_collect().await?;
        all.sort_by(|(a, one), (b, other)| (other.made, b.as_str()).cmp(&(one.made, a.as_str())));
        Ok(all)
    }

    /// What a name in the index stands for.
    async fn listed(&self, tenant: &TenantId, name: String) -> Result<Option<(Mark, Entry)>, LedgerError> {
        let Some(mark) = Mark::parse(&name) else { return Ok(None) };
        match self.entry(tenant, &mark).await {
            Ok(Some(entry)) => Ok(Some((mark, entry))),
            // It ran out, or is being made.
            Ok(None) => {
                self.store.remove(&index(tenant), &name).await?;
                if self.store.get(&key(tenant, &mark)).await?.is_some() {
                    self.store.add(&index(tenant), &name, None).await?;
                }
                Ok(None)
            }
            Err(LedgerError::Sealed) => {
                tracing::error!(%tenant, share = mark.short(), "an entry of a share does not open");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn read(&self, key: &Key) -> Result<Option<(Entry, Version)>, LedgerError> {
        let Some(record) = self.store.get(key).await? else { return Ok(None) };
        let plain = self.ring.open(ENTRY, &key.context(), &[], &record.value).map_err(|_| LedgerError::Sealed)?;
        let renewed = self.ring.renew(ENTRY, &key.context(), &[], (&record.value, &plain));
        self.store.rewrap(key, record.version, renewed).await;
        let mut entry: Entry = serde_json::from_slice(&plain).map_err(|_| LedgerError::Sealed)?;
        let version = if entry.is_over(self.clock.now()) && entry.drop_content() {
            self.write_bare(key, record.version, &entry).await?
        } else {
            record.version
        };
        Ok(Some((entry, version)))
    }

    /// Writes a share that is over without its content. Where somebody wrote meanwhile, the next who reads does.
    async fn write_bare(&self, key: &Key, version: Version, entry: &Entry) -> Result<Version, LedgerError> {
        let sealed = self.seal(key, entry)?;
        Ok(match self.store.compare_and_set(key, version, sealed, Some(self.kept(entry))).await? {
            Swap::Done(written) => written,
            Swap::Conflict | Swap::Gone => version,
        })
    }

    fn seal(&self, key: &Key, entry: &Entry) -> Result<Vec<u8>, LedgerError> {
        let plain = Zeroizing::new(serde_json::to_vec(entry).map_err(|_| LedgerError::Sealed)?);
        self.ring.seal(ENTRY, &key.context(), &[], &plain).map_err(|_| LedgerError::Sealed)
    }

    /// How long an entry stays in the store: to its end, and as a tombstone behind it.
    fn kept(&self, entry: &Entry) -> Duration {
        let tombstone = Duration::from_hours(24 * u64::from(entry.kept_days));
        // From its end on, whenever it is written: what is touched as a tombstone does not stay longer.
        entry.over_at().after(tombstone.saturating_add(SLACK)).since(self.clock.now())
    }
}

/// Why a view was not taken.
enum NoView {
    Spent,
    Trouble(LedgerError),
}

impl From<LedgerError> for NoView {
    fn from(error: LedgerError) -> Self {
        Self::Trouble(error)
    }
}

fn key(tenant: &TenantId, mark: &Mark) -> Key {
    Key::new(tenant, ENTRY, mark.as_str())
}

fn index(tenant: &TenantId) -> Key {
    Key::new(tenant, INDEX, "all")
}
