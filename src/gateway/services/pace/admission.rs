//! How many API calls are taken: of a tenant, of one caller, from one network. Counting happens here, without asking anybody;
//! in the background replicas tell each other through the store what they counted. While the store is away each counts for
//! itself.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt as _;
use http::{HeaderName, HeaderValue};
use metrics::counter;
use tokio::time::{MissedTickBehavior, interval};

use super::quota::{Moment, Used};
use super::shelves::{Shelves, lock};
use crate::config::gateway::Rate as Settings;
use crate::gateway::domain::network;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::tenant_policy::tightened;
use crate::gateway::policies::Policies;
use crate::gateway::store::{Key, Store};
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;

/// Kind of the counters in the store.
const KIND: &str = "rate";
/// Counters that are on their way to the store at the same time.
const FLYING: usize = 64;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// What comes of a call.
#[derive(Debug)]
pub(in crate::gateway) enum Verdict {
    Admitted(Quota),
    Refused { quota: Quota, retry_after: Duration },
}

/// What callers are told of their allowance (draft-ietf-httpapi-ratelimit-headers, revision 10): all that apply, and how the
/// one stands that is nearest to its end.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Quota {
    policy: Option<HeaderValue>,
    state: Option<HeaderValue>,
}

impl Quota {
    /// `RateLimit-Policy` and `RateLimit`; nothing where nothing is limited.
    pub(in crate::gateway) fn headers(self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let policy = self.policy.map(|value| (RATE_LIMIT_POLICY, value));
        policy.into_iter().chain(self.state.map(|value| (RATE_LIMIT, value)))
    }
}

/// Which allowance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Network,
    Caller,
    Tenant,
}

impl By {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Caller => "caller",
            Self::Tenant => "tenant",
        }
    }
}

/// The allowances of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Admission(Arc<Inner>);

struct Inner {
    settings: Settings,
    window: Duration,
    clock: Clock,
    store: Store,
    books: HashMap<TenantId, Book>,
    /// Where a tenant says that it wants less; none: all is as the settings say.
    policies: Option<Policies>,
}

/// What holds in a tenant, with what callers are told of it.
#[derive(Debug)]
struct Bounds {
    /// Of the tenant's policy.
    version: u64,
    rate: Settings,
    /// For members, and for callers without a credential.
    told: [Option<HeaderValue>; 2],
}

impl Bounds {
    fn new(version: u64, rate: Settings) -> Self {
        Self { version, rate, told: [policy(&rate, true), policy(&rate, false)] }
    }
}

/// A call that its network may make.
#[must_use = "say who calls"]
pub(in crate::gateway) struct Arrived<'b> {
    book: Option<(&'b Book, Arc<Bounds>)>,
    network: u128,
    now: Moment,
    /// What is left for the network.
    least: Option<(By, u64)>,
}

/// The allowances of one tenant.
struct Book {
    bounds: RwLock<Arc<Bounds>>,
    /// All members together.
    members: Mutex<Used>,
    /// All callers without a credential together.
    strangers: Mutex<Used>,
    callers: Shelves<str>,
    networks: Shelves<u128>,
}

impl Admission {
    /// Nobody has called yet. Counts are shared in the background until `shutdown`.
    pub(in crate::gateway) fn new(
        tenants: impl IntoIterator<Item = TenantId>,
        (settings, policies): (Settings, Option<Policies>),
        (store, clock): (Store, Clock),
        shutdown: &Shutdown,
    ) -> Self {
        let shares = store.is_shared();
        let book = || Book {
            bounds: RwLock::new(Arc::new(Bounds::new(0, settings))),
            members: Mutex::default(),
            strangers: Mutex::default(),
            callers: Shelves::new(settings.tracked, shares),
            networks: Shelves::new(settings.tracked, shares),
        };
        let this = Self(Arc::new(Inner {
            settings,
            window: Duration::from_secs(settings.window_seconds),
            clock,
            store,
            books: tenants.into_iter().map(|tenant| (tenant, book())).collect(),
            policies,
        }));
        let sharing = this.clone();
        shutdown.spawn_until_begun(async move { sharing.go_on_sharing().await });
        this
    }

    /// Takes a call from `address`, before anybody is asked who calls: a network that calls too often costs no look-up.
    ///
    /// # Errors
    /// Says when to come back.
    pub(in crate::gateway) fn arrive(&self, tenant: &TenantId, address: IpAddr) -> Result<Arrived<'_>, (Quota, Duration)> {
        let (now, network) = (Moment::at(self.0.clock.now(), self.0.window), network::block(address));
        let book = self.0.books.get(tenant).map(|book| (book, self.bounds(tenant, book)));
        let mut least = None;
        if let Some((book, bounds)) = book.as_ref().filter(|(_, bounds)| bounds.rate.per_network > 0) {
            match book.networks.with(&network, |used| used.take(bounds.rate.per_network, now)) {
                Ok(left) => nearer(&mut least, By::Network, left),
                Err(wait) => return Err((refused(By::Network, (bounds, None, now)), wait)),
            }
        }
        Ok(Arrived { book, network, now, least })
    }

    /// Takes what has arrived from `caller` (a user or key of the tenant, by an id of its own; `None`: without a credential that is
    /// known), or says when to come back. A call that is refused by one allowance uses up none of the others.
    pub(in crate::gateway) fn admit(arrived: Arrived<'_>, caller: Option<&str>) -> Verdict {
        let Arrived { book: Some((book, bounds)), network, now, mut least } = arrived else {
            return Verdict::Admitted(Quota::default());
        };
        let settings = &bounds.rate;
        let give_back = || {
            if settings.per_network > 0 {
                book.networks.with(&network, Used::give_back);
            }
        };
        if let Some(caller) = caller.filter(|_| settings.per_caller > 0) {
            match book.callers.with(caller, |used| used.take(settings.per_caller, now)) {
                Ok(left) => nearer(&mut least, By::Caller, left),
                Err(retry_after) => {
                    give_back();
                    return Verdict::Refused { quota: refused(By::Caller, (&bounds, Some(caller), now)), retry_after };
                }
            }
        }
        if settings.per_tenant > 0 {
            let together = if caller.is_some() { &book.members } else { &book.strangers };
            let outcome = lock(together).take(settings.per_tenant, now);
            match outcome {
                Ok(left) => nearer(&mut least, By::Tenant, left),
                Err(retry_after) => {
                    give_back();
                    if let Some(caller) = caller.filter(|_| settings.per_caller > 0) {
                        book.callers.with(caller, Used::give_back);
                    }
                    return Verdict::Refused { quota: refused(By::Tenant, (&bounds, caller, now)), retry_after };
                }
            }
        }
        Verdict::Admitted(quota(least, (&bounds, caller, now)))
    }

    /// What holds in a tenant now: of the settings and its own policy the narrower.
    fn bounds(&self, tenant: &TenantId, book: &Book) -> Arc<Bounds> {
        let known = Arc::clone(&book.bounds.read().unwrap_or_else(PoisonError::into_inner));
        let held = self.0.policies.as_ref().and_then(|policies| policies.last(tenant));
        let Some(held) = held.filter(|held| held.version != known.version) else { return known };
        let (limits, given) = (held.policy.limits, self.0.settings);
        let rate = Settings {
            per_tenant: tightened(limits.calls_of_tenant, given.per_tenant),
            per_caller: tightened(limits.calls_of_caller, given.per_caller),
            per_network: tightened(limits.calls_of_network, given.per_network),
            ..given
        };
        let bounds = Arc::new(Bounds::new(held.version, rate));
        *book.bounds.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&bounds);
        bounds
    }

    async fn go_on_sharing(&self) {
        let mut ticks = interval(Duration::from_millis(self.0.settings.share_ms));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut swept = 0;
        loop {
            ticks.tick().await;
            let now = Moment::at(self.0.clock.now(), self.0.window).window;
            if now != swept {
                self.0.books.values().for_each(|book| book.forget_before(now.saturating_sub(1)));
                swept = now;
            }
            if self.0.store.is_shared() {
                self.share().await;
            }
        }
    }

    /// Tells the other replicas what was counted since the last time, and learns what they counted.
    async fn share(&self) {
        let away = Arc::new(AtomicBool::new(false));
        let due: Vec<Due> = self.0.books.iter().flat_map(|(tenant, book)| book.due(tenant)).collect();
        let told = futures_util::stream::iter(due).map(|due| self.clone().tell(due, Arc::clone(&away)));
        told.buffer_unordered(FLYING).collect::<()>().await;
    }

    /// Tells one of them; nobody is asked any more once the store was `away`.
    async fn tell(self, due: Due, away: Arc<AtomicBool>) {
        let mut total = None;
        if !away.load(Ordering::Relaxed) {
            // Twice the window: it still counts in the next one.
            match self.0.store.count_by(&due.key(), due.sent.1, self.0.window * 2).await {
                Ok(count) => total = Some(count.value),
                Err(error) if !away.swap(true, Ordering::Relaxed) => {
                    tracing::warn!(%error, "call rates are counted without the other replicas for now");
                }
                Err(_) => {}
            }
        }
        if let Some(book) = self.0.books.get(&due.tenant) {
            book.arrived(&due, total);
        }
    }
}

fn refused(by: By, asked: (&Bounds, Option<&str>, Moment)) -> Quota {
    counter!("cardea_api_refused_total", "reason" => by.as_str()).increment(1);
    quota(Some((by, 0)), asked)
}

fn quota(nearest: Option<(By, u64)>, (bounds, caller, now): (&Bounds, Option<&str>, Moment)) -> Quota {
    let [members, strangers] = &bounds.told;
    let left = now.left().as_millis().div_ceil(1000);
    let state = nearest.and_then(|(by, rest)| HeaderValue::try_from(format!("\"{}\";r={rest};t={left}", by.as_str())).ok());
    Quota { policy: if caller.is_some() { members.clone() } else { strangers.clone() }, state }
}

/// Notes an allowance when less of it is left than of those before.
fn nearer(least: &mut Option<(By, u64)>, by: By, left: u64) {
    if least.is_none_or(|(_, less)| left < less) {
        *least = Some((by, left));
    }
}

fn policy(settings: &Settings, with_caller: bool) -> Option<HeaderValue> {
    let caller = if with_caller { settings.per_caller } else { 0 };
    let all = [(By::Network, settings.per_network), (By::Caller, caller), (By::Tenant, settings.per_tenant)];
    let one = |(by, limit): &(By, u64)| format!("\"{}\";q={limit};w={}", by.as_str(), settings.window_seconds);
    let texts: Vec<String> = all.iter().filter(|(_, limit)| *limit > 0).map(one).collect();
    (!texts.is_empty()).then(|| HeaderValue::try_from(texts.join(", ")).ok()).flatten()
}

/// Who used what of a book.
enum Who {
    Members,
    Strangers,
    Caller(Box<str>),
    Network(u128),
}

/// Something that the other replicas do not know yet.
struct Due {
    tenant: TenantId,
    who: Who,
    sent: (u64, u64),
}

impl Due {
    fn key(&self) -> Key {
        let window = self.sent.0;
        match &self.who {
            Who::Members => Key::new(&self.tenant, KIND, &format!("members-{window}")),
            Who::Strangers => Key::new(&self.tenant, KIND, &format!("strangers-{window}")),
            // Who calls, and from where, is nobody's who reads the names of entries.
            Who::Caller(caller) => Key::hashed(&self.tenant, KIND, &format!("caller-{window}-{caller}")),
            Who::Network(network) => Key::hashed(&self.tenant, KIND, &format!("network-{window}-{network:x}")),
        }
    }
}

impl Book {
    fn due(&self, tenant: &TenantId) -> Vec<Due> {
        let (members, strangers) = (lock(&self.members).send(), lock(&self.strangers).send());
        let together = [(Who::Members, members), (Who::Strangers, strangers)];
        let callers = self.callers.send().into_iter().map(|(caller, sent)| (Who::Caller(caller), sent));
        let networks = self.networks.send().into_iter().map(|(network, sent)| (Who::Network(network), sent));
        let all = together.into_iter().chain(callers).chain(networks).filter(|(_, sent)| sent.1 > 0);
        all.map(|(who, sent)| Due { tenant: tenant.clone(), who, sent }).collect()
    }

    fn arrived(&self, due: &Due, total: Option<u64>) {
        let note = |used: &mut Used| used.arrived(due.sent, total);
        match &due.who {
            Who::Members => note(&mut lock(&self.members)),
            Who::Strangers => note(&mut lock(&self.strangers)),
            Who::Caller(caller) => self.callers.again(&**caller, note),
            Who::Network(network) => self.networks.again(network, note),
        }
    }

    fn forget_before(&self, window: u64) {
        self.callers.forget_before(window);
        self.networks.forget_before(window);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use super::*;
    use crate::gateway::store::tests::bench::{Bench, acme, globex, until};

    const SETTINGS: Settings =
        Settings { window_seconds: 60, per_tenant: 0, per_caller: 0, per_network: 0, share_ms: 20, tracked: 1000 };
    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    fn admission(bench: &Bench, settings: Settings) -> Admission {
        Admission::new([acme(), globex()], (settings, None), (bench.store.clone(), bench.clock.clone()), &bench.shutdown)
    }

    fn ask(admission: &Admission, tenant: &TenantId, caller: Option<&str>, address: IpAddr) -> Verdict {
        match admission.arrive(tenant, address) {
            Ok(arrived) => Admission::admit(arrived, caller),
            Err((quota, retry_after)) => Verdict::Refused { quota, retry_after },
        }
    }

    /// How many of a hundred calls are taken.
    fn taken(admission: &Admission, tenant: &TenantId, caller: Option<&str>, address: IpAddr) -> usize {
        let admitted = |_: &i32| matches!(ask(admission, tenant, caller, address), Verdict::Admitted(_));
        (0..100).filter(admitted).count()
    }

    fn shown(verdict: Verdict) -> (Vec<String>, Option<u64>) {
        let (quota, wait) = match verdict {
            Verdict::Admitted(quota) => (quota, None),
            Verdict::Refused { quota, retry_after } => (quota, Some(retry_after.as_secs())),
        };
        (quota.headers().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect(), wait)
    }

    #[tokio::test]
    async fn each_allowance_is_one_of_its_own() {
        let bench = Bench::file();
        let by_caller = admission(&bench, Settings { per_caller: 5, ..SETTINGS });
        assert_eq!(taken(&by_caller, &acme(), Some("user:alice"), HERE), 5);
        assert_eq!(taken(&by_caller, &acme(), Some("key:alice"), HERE), 5);
        assert_eq!(taken(&by_caller, &globex(), Some("user:alice"), HERE), 5);
        assert_eq!(taken(&by_caller, &acme(), None, HERE), 100);
        let by_tenant = admission(&bench, Settings { per_tenant: 5, ..SETTINGS });
        assert_eq!(taken(&by_tenant, &acme(), None, HERE), 5);
        assert_eq!(taken(&by_tenant, &acme(), Some("user:alice"), HERE), 5, "strangers do not use up what members have");
        assert_eq!(taken(&by_tenant, &acme(), Some("user:bob"), HERE), 0);
        assert_eq!(taken(&by_tenant, &globex(), Some("user:bob"), HERE), 5);
        bench.clock.advance(Duration::from_mins(2));
        assert_eq!(taken(&by_tenant, &acme(), Some("user:bob"), HERE), 5);
    }

    #[tokio::test]
    async fn a_tenant_that_wants_less_gets_less_and_never_more() {
        let bench = Bench::file();
        let policies = crate::gateway::policies::tests::with_calls_of_caller(&bench, (acme(), 5));
        let settings = Settings { per_caller: 5, ..SETTINGS };
        let shared = (bench.store.clone(), bench.clock.clone());
        let admission = Admission::new([acme(), globex()], (settings, Some(policies.clone())), shared, &bench.shutdown);
        assert_eq!(taken(&admission, &acme(), Some("user:alice"), HERE), 5, "nothing was saved yet");
        bench.clock.advance(Duration::from_mins(2));
        crate::gateway::policies::tests::save(&policies, &acme(), |policy| policy.limits.calls_of_caller = 3).await;
        assert_eq!(taken(&admission, &acme(), Some("user:alice"), HERE), 3);
        assert_eq!(taken(&admission, &globex(), Some("user:carol"), HERE), 5);
        crate::gateway::policies::tests::save(&policies, &acme(), |policy| policy.limits.calls_of_caller = 50).await;
        assert_eq!(taken(&admission, &acme(), Some("user:bob"), HERE), 5);
    }

    #[tokio::test]
    async fn a_network_is_an_ipv4_address_or_an_ipv6_64() {
        let bench = Bench::file();
        let admission = admission(&bench, Settings { per_network: 5, ..SETTINGS });
        let of = |address: &str| taken(&admission, &acme(), Some("u"), address.parse().unwrap());
        assert_eq!((of("192.0.2.1"), of("192.0.2.2"), of("::ffff:192.0.2.1")), (5, 5, 0));
        assert_eq!((of("2001:db8::1"), of("2001:db8::ffff:1:2:3"), of("2001:db8:0:1::1")), (5, 0, 5));
    }

    #[tokio::test]
    async fn what_one_allowance_refuses_uses_up_nothing_of_the_others() {
        let bench = Bench::file();
        let admission = admission(&bench, Settings { per_caller: 5, per_network: 10, per_tenant: 8, ..SETTINGS });
        assert_eq!(taken(&admission, &acme(), Some("user:alice"), HERE), 5);
        assert_eq!(taken(&admission, &acme(), Some("user:bob"), HERE), 3, "the tenant's");
        assert_eq!(taken(&admission, &acme(), None, HERE), 2, "the network's");
    }

    #[tokio::test]
    async fn those_of_unknown_address_share_one_allowance_and_take_nobodys() {
        let bench = Bench::file();
        let admission = admission(&bench, Settings { per_network: 5, ..SETTINGS });
        assert_eq!(taken(&admission, &acme(), Some("a"), network::UNKNOWN), 5);
        assert_eq!(taken(&admission, &acme(), Some("b"), "0.0.0.0".parse().unwrap()), 0);
        assert_eq!(taken(&admission, &acme(), Some("a"), HERE), 5);
        assert_eq!(taken(&admission, &acme(), Some("a"), "::1".parse().unwrap()), 5);
    }

    #[tokio::test]
    async fn callers_are_told_what_is_nearest_to_its_end_and_when_to_come_back() {
        let bench = Bench::file();
        // The clock of the bench stands at 1,700,000,000, 20 seconds into a minute.
        let admission = admission(&bench, Settings { per_caller: 2, per_network: 50, per_tenant: 100, ..SETTINGS });
        let policy = "ratelimit-policy: \"network\";q=50;w=60, \"caller\";q=2;w=60, \"tenant\";q=100;w=60".to_owned();
        let state = |text: &str| format!("ratelimit: {text}");
        let told = |caller| shown(ask(&admission, &acme(), caller, HERE));
        assert_eq!(told(Some("a")), (vec![policy.clone(), state("\"caller\";r=1;t=40")], None));
        assert_eq!(told(Some("a")), (vec![policy.clone(), state("\"caller\";r=0;t=40")], None));
        assert_eq!(told(Some("a")), (vec![policy, state("\"caller\";r=0;t=40")], Some(70)), "half of a window after this one");
        let policy = "ratelimit-policy: \"network\";q=50;w=60, \"tenant\";q=100;w=60".to_owned();
        assert_eq!(told(None), (vec![policy, state("\"network\";r=47;t=40")], None));
        let nothing = Admission::new([acme()], (SETTINGS, None), (bench.store.clone(), bench.clock.clone()), &bench.shutdown);
        assert_eq!(shown(ask(&nothing, &acme(), Some("a"), HERE)), (Vec::new(), None));
    }

    #[tokio::test]
    async fn more_callers_than_are_tracked_share_one_allowance() {
        let bench = Bench::file();
        let admission = admission(&bench, Settings { per_network: 1, tracked: 32, ..SETTINGS });
        let networks = (0..10_000_u128).map(|n| IpAddr::V6((n << 64).into()));
        let admitted =
            networks.filter(|&address| matches!(ask(&admission, &acme(), None, address), Verdict::Admitted(_))).count();
        assert!((32..=64).contains(&admitted), "{admitted}: those that are tracked, and one for all others of a shelf");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn replicas_count_together() {
        let bench = Bench::redis().await;
        let settings = Settings { per_caller: 100, per_tenant: 1000, per_network: 1000, ..SETTINGS };
        let replicas = [admission(&bench, settings), admission(&bench, settings)];
        let asks = |replica: &Admission| matches!(ask(replica, &acme(), Some("user:alice"), HERE), Verdict::Admitted(_));
        assert_eq!((0..60).filter(|_| asks(&replicas[0])).count(), 60);
        let mut there = 0;
        until("a word of the other replica", async || {
            there += usize::from(asks(&replicas[1]));
            !asks(&replicas[1])
        })
        .await;
        // What was taken before the word came is more than was left by a share interval at most.
        assert!(there <= 100, "{there}");
        until("both to know", async || !asks(&replicas[0])).await;
        let keys = bench.redis.as_ref().unwrap().command(&["KEYS", "*"]).await;
        let names = format!("{keys:?}");
        assert!(!names.contains("alice") && !names.contains("c0000201"), "{names}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn without_the_store_each_counts_for_itself_and_goes_on_together_when_it_is_back() {
        let mut bench = Bench::redis().await;
        let settings = Settings { per_caller: 60, ..SETTINGS };
        let replicas = [admission(&bench, settings), admission(&bench, settings)];
        bench.redis.as_mut().unwrap().kill();
        assert_eq!(taken(&replicas[0], &acme(), Some("user:alice"), HERE), 60);
        assert_eq!(taken(&replicas[1], &acme(), Some("user:bob"), HERE), 60);
        bench.redis.as_mut().unwrap().resume().await;
        let asks = |replica: &Admission| matches!(ask(replica, &acme(), Some("user:carol"), HERE), Verdict::Admitted(_));
        let mut asked = 0;
        until("a common count", async || {
            asked += 1;
            asks(&replicas[asked % 2]);
            !asks(&replicas[0]) && !asks(&replicas[1])
        })
        .await;
        assert_eq!(taken(&replicas[0], &acme(), Some("user:alice"), HERE), 0, "what was counted alone still counts");
    }

    #[tokio::test]
    #[ignore = "a figure for people: cargo test --release … --ignored"]
    async fn the_cost_of_a_call() {
        let bench = Bench::file();
        let limit = u64::MAX / 4;
        let settings = Settings { per_caller: limit, per_network: limit, per_tenant: limit, ..SETTINGS };
        let admission = admission(&bench, settings);
        let started = Instant::now();
        for _ in 0..1_000_000 {
            std::hint::black_box(ask(&admission, &acme(), Some("user:alice"), HERE));
        }
        eprintln!("{:?} for each call", started.elapsed() / 1_000_000);
    }
}
