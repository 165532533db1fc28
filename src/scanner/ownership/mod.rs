//! Whether a target belongs to an account: it puts a random content, which only this account was given, on the target's web
//! server or into its DNS. A proof by file is for one host and port, a proof by DNS for the host on every port; both hold for
//! some days. Looks over the guarded dialer only.

mod look;

use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::dialer::Allowance;
use super::fetch::Fetch;
use super::store::ownership::{ContentRecord, ProofRecord};
use super::store::{Store, StoreError};
use crate::config::scanner::Ownership as Settings;
use crate::contract::domains::{FILE_NAMES, OwnershipContent};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::{digest, random};

const HOUR: Duration = Duration::from_hours(1);

/// Why a target is not verified; texts are for people.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum NotVerified {
    /// The address is not one that can be verified.
    #[error("{0}")]
    Address(&'static str),
    /// The content is of somebody else, of nobody, or has expired.
    #[error("the content is not a current one of this account")]
    Content,
    /// The account asked too often: when to come back.
    #[error("too many checks in a minute")]
    TooMany(Duration),
    /// It was looked for and not found: what was tried, what was seen, what to do.
    #[error("{0}")]
    Missing(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A content could not be made.
#[derive(Debug, thiserror::Error)]
pub(in crate::scanner) enum NoContent {
    #[error(transparent)]
    Random(#[from] random::Unavailable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Cheap to clone.
#[derive(Clone)]
pub(in crate::scanner) struct Ownership(Arc<Inner>);

struct Inner {
    settings: Settings,
    fetch: Fetch,
    store: Store,
    clock: Clock,
    allowance: Allowance,
}

impl Ownership {
    pub(in crate::scanner) fn new(settings: Settings, fetch: Fetch, store: Store, clock: Clock) -> Self {
        let allowance = Allowance::new(settings.checks_per_minute, clock.clone());
        Self(Arc::new(Inner { settings, fetch, store, clock, allowance }))
    }

    /// Whether tasks with a target need a proof.
    pub(in crate::scanner) fn is_required(&self) -> bool {
        self.0.settings.required
    }

    /// The content an account has to put on its targets: the same one until it expires.
    pub(in crate::scanner) async fn content(&self, account: &str) -> Result<OwnershipContent, NoContent> {
        let now = self.0.clock.now();
        let life = HOUR.saturating_mul(u32::try_from(self.0.settings.content_hours).unwrap_or(u32::MAX));
        let fresh = ContentRecord { content: digest::hex(&random::bytes::<32>()?), expires_at: now.after(life) };
        let account = account.to_owned();
        let known = self.0.store.run(move |store| store.ownership_content(&account, fresh, now)).await?;
        Ok(OwnershipContent {
            content: known.content,
            expired_at: known.expires_at.rfc3339(),
            file_name: FILE_NAMES.first().copied().unwrap_or_default().to_owned(),
        })
    }

    /// Looks for the content on the target, and keeps the proof when it is there.
    pub(in crate::scanner) async fn verify(
        &self,
        (account, name): (&str, &str),
        address: &str,
        content: &str,
    ) -> Result<(), NotVerified> {
        let place = Place::of(address).map_err(NotVerified::Address)?;
        self.0.allowance.take(account).map_err(NotVerified::TooMany)?;
        let owner = account.to_owned();
        let given = self.0.store.run(move |store| store.given_content(&owner)).await?;
        let now = self.0.clock.now();
        let is_current =
            |given: &ContentRecord| given.expires_at > now && digest::same(given.content.as_bytes(), content.trim().as_bytes());
        let given = given.filter(is_current).ok_or(NotVerified::Content)?;
        let within = Duration::from_secs(self.0.settings.check_seconds);
        let key = match look::look(&self.0.fetch, &place, &given.content, within).await {
            Ok(look::Found::File) => place.with_port(),
            Ok(look::Found::Record) => place.host.clone(),
            Err(seen) => return Err(NotVerified::Missing(seen)),
        };
        tracing::info!(account, place = key, "a target was verified");
        let proof = ProofRecord { verified_at: self.0.clock.now(), verified_by: name.to_owned() };
        let (owner, oldest) = (account.to_owned(), self.oldest());
        Ok(self.0.store.run(move |store| store.keep_proof(&owner, &key, &proof, oldest)).await?)
    }

    /// Whether an account has a proof for the host and port of an address that still holds. What is no address is not verified.
    pub(in crate::scanner) async fn is_verified(&self, account: &str, address: &str) -> Result<bool, StoreError> {
        let Ok(place) = Place::of(address) else { return Ok(false) };
        let (account, oldest) = (account.to_owned(), self.oldest());
        let keys = [place.with_port(), place.host];
        self.0
            .store
            .run(move |store| {
                for key in keys {
                    if store.proof(&account, &key)?.is_some_and(|proof| proof.verified_at > oldest) {
                        return Ok(true);
                    }
                }
                Ok(false)
            })
            .await
    }

    /// Proofs from before this do not hold any more.
    fn oldest(&self) -> Timestamp {
        let life = (HOUR * 24).saturating_mul(u32::try_from(self.0.settings.verified_days).unwrap_or(u32::MAX));
        let life = i64::try_from(life.as_millis()).unwrap_or(i64::MAX);
        Timestamp(self.0.clock.now().0.saturating_sub(life))
    }
}

/// What of an address is verified.
struct Place {
    /// The address without path, query, fragment and user information.
    root: Url,
    /// Lower case, ASCII, without a trailing dot.
    host: String,
    port: u16,
}

impl Place {
    fn of(address: &str) -> Result<Self, &'static str> {
        const WRONG: &str = "url must be an http or https address such as https://shop.example.com/.";
        let url = Url::parse(address.trim()).map_err(|_| WRONG)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WRONG);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("url must hold no user name and no password.");
        }
        let host = url.host_str().ok_or(WRONG)?.trim_end_matches('.').to_owned();
        let port = url.port_or_known_default().ok_or(WRONG)?;
        let root = url.join("/").map_err(|_| WRONG)?;
        if host.is_empty() { Err(WRONG) } else { Ok(Self { root, host, port }) }
    }

    fn with_port(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}
