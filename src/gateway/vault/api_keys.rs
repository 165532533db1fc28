//! API keys that are issued here. Their text leaves once, in the answer to whoever created or rotated one; kept is a hash of
//! its secret part under a random key of its own, inside of a sealed record.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::origins::OriginBook;
use super::shelf::Shelf;
use super::usage::{Ledger, Usage};
use super::{Parts, VaultError};
use crate::gateway::domain::api_key::{AllowList, ApiKey, ID, KeyRefusal, KeyText, SECRET, Scopes};
use crate::gateway::domain::network::neighbourhood;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::Origins;
use crate::gateway::store::Unavailable;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digest::{keyed, same};
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::secret::Secret;

const KIND: &str = "api-keys";
const CHANGED: &str = "api-keys-changed";
/// How often it is looked at most whether a key still stands, where copies live shorter.
const LOOK: Duration = Duration::from_millis(250);
/// Texts of one key that are good at the same time.
const MOST_TEXTS: usize = 4;

/// What a new key is to be.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct NewApiKey {
    pub(in crate::gateway) label: Hostile,
    pub(in crate::gateway) scopes: Scopes,
    pub(in crate::gateway) networks: AllowList,
    /// How long each of its texts is good for.
    pub(in crate::gateway) days: u32,
}

/// Why a key was refused, and which it is when its text was right.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Refused {
    pub(in crate::gateway) why: KeyRefusal,
    pub(in crate::gateway) key: Option<Arc<ApiKey>>,
}

/// The API keys of all tenants. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct IssuedKeys {
    shelf: Shelf<Held, Issued>,
    usage: Usage,
    origins: OriginBook,
    clock: Clock,
    most: usize,
}

/// A key as it is at rest.
#[derive(Clone, Serialize, Deserialize)]
struct Held {
    about: ApiKey,
    proofs: Vec<Proof>,
}

/// A key as it is in memory.
struct Issued {
    about: Arc<ApiKey>,
    proofs: Vec<Proof>,
}

/// What a secret is told by. It is random, 256 bits: nothing slower than a keyed hash is needed.
#[derive(Clone, Serialize, Deserialize)]
struct Proof {
    /// The [`Edition`](crate::gateway::domain::api_key::Edition) it belongs to.
    number: u32,
    key: [u8; 32],
    hash: [u8; 32],
    /// What its uses are counted under, by [`use_of`]; made when it is read.
    #[serde(skip)]
    used_as: String,
}

impl Proof {
    fn of(secret: &str, number: u32) -> Result<Self, Unavailable> {
        let key = random::bytes::<32>().map_err(no_randomness)?;
        Ok(Self { number, key, hash: keyed(&key, secret.as_bytes()), used_as: String::new() })
    }

    fn fits(&self, secret: &str) -> bool {
        same(&keyed(&self.key, secret.as_bytes()), &self.hash)
    }
}

impl From<Held> for Issued {
    fn from(held: Held) -> Self {
        let id = &held.about.id;
        let proofs = held.proofs.into_iter().map(|proof| Proof { used_as: use_of(id, proof.number), ..proof }).collect();
        Self { about: Arc::new(held.about), proofs }
    }
}

impl IssuedKeys {
    pub(in crate::gateway) fn new(parts: &Parts) -> Self {
        Self {
            shelf: Shelf::new(KIND, CHANGED, parts),
            usage: Usage::new("api-key-use", parts),
            origins: OriginBook::new("api-key-origins", parts),
            clock: parts.clock.clone(),
            most: parts.settings.api_keys,
        }
    }

    /// Issues a key, made by whom [`Principal::key`](crate::gateway::domain::principal::Principal::key) and name say. Its text is in
    /// the answer and nowhere else.
    pub(in crate::gateway) async fn create(
        &self,
        tenant: &TenantId,
        new: NewApiKey,
        (maker, name): (String, Hostile),
    ) -> Result<(ApiKey, Secret), VaultError> {
        let (id, now) = (random::letters(ID).map_err(no_randomness)?, self.clock.now());
        let secret = random::letters(SECRET).map_err(no_randomness)?;
        let NewApiKey { label, scopes, networks, days } = new;
        let mut about = ApiKey {
            id: id.clone(),
            label,
            scopes,
            networks,
            days,
            created_at: now,
            created_by: name,
            maker,
            editions: Vec::new(),
        };
        let text = KeyText { id: &id, secret: &secret }.write();
        let proof = Proof::of(&secret, about.rotate(now, Duration::ZERO, last_four(&text)))?;
        let held = Held { about: about.clone(), proofs: vec![proof] };
        self.shelf
            .change(tenant, |all| {
                if all.len() >= self.most {
                    return Err(VaultError::Full { most: self.most, kind: "API" });
                }
                all.push(held.clone());
                Ok(())
            })
            .await?;
        Ok((about, text))
    }

    /// Makes another text for a key, good for as long as its first was, if its newest text is number `from` still. The earlier
    /// ones end after `overlap`.
    pub(in crate::gateway) async fn rotate(
        &self,
        tenant: &TenantId,
        id: &str,
        (from, overlap): (Option<u32>, Duration),
    ) -> Result<(ApiKey, Secret), VaultError> {
        let (secret, now) = (random::letters(SECRET).map_err(no_randomness)?, self.clock.now());
        let text = KeyText { id, secret: &secret }.write();
        let about = self
            .shelf
            .change(tenant, |all| {
                let held = find(all, id)?;
                if from.is_some_and(|from| from != held.about.newest()) {
                    return Err(VaultError::Rotated);
                }
                let number = held.about.rotate(now, overlap, last_four(&text));
                if held.about.editions.len() > MOST_TEXTS {
                    return Err(VaultError::ManyTexts);
                }
                let Held { about, proofs } = held;
                proofs.retain(|proof| about.editions.iter().any(|edition| edition.number == proof.number));
                proofs.insert(0, Proof::of(&secret, number)?);
                Ok(about.clone())
            })
            .await?;
        Ok((about, text))
    }

    /// Takes a key back for good, with all its texts.
    pub(in crate::gateway) async fn revoke(&self, tenant: &TenantId, id: &str) -> Result<ApiKey, VaultError> {
        self.shelf
            .change(tenant, |all| {
                let about = find(all, id)?.about.clone();
                all.retain(|other| other.about.id != id);
                Ok(about)
            })
            .await
    }

    /// The tenant's keys, oldest first.
    pub(in crate::gateway) async fn list(&self, tenant: &TenantId) -> Result<Vec<ApiKey>, VaultError> {
        Ok(self.shelf.read(tenant).await?.into_iter().map(|held| held.about).collect())
    }

    /// Uses of the tenant's keys, by [`use_of`].
    pub(in crate::gateway) async fn uses(&self, tenant: &TenantId) -> Result<Ledger, VaultError> {
        self.usage.of(tenant).await
    }

    /// Counts that a call of this operation came with the key from there.
    pub(in crate::gateway) fn note_origin(&self, tenant: &TenantId, id: &str, (operation, address): (&'static str, IpAddr)) {
        self.origins.note(tenant, id, (operation, &neighbourhood(address)));
    }

    /// Who used a key in the last seven days.
    pub(in crate::gateway) async fn origins(&self, tenant: &TenantId, id: &str) -> Result<Origins, VaultError> {
        self.origins.of(tenant, id).await
    }

    /// The key of this text, if it is good now and from this address; its use is counted then. At most a second behind any
    /// change, and without a look into the store most of the time, also for texts that are no key.
    pub(in crate::gateway) async fn verify(
        &self,
        tenant: &TenantId,
        text: &Secret,
        address: IpAddr,
    ) -> Result<Arc<ApiKey>, Refused> {
        let unknown = Refused { why: KeyRefusal::Unknown, key: None };
        let Some(text) = KeyText::read(text.expose()) else { return Err(unknown) };
        let all = self.copy(tenant).await.map_err(|error| {
            tracing::warn!(%tenant, %error, "API keys cannot be looked at");
            Refused { why: KeyRefusal::Unavailable, key: None }
        })?;
        let found = all.iter().find(|issued| issued.about.id == text.id);
        let Some((issued, proof)) = found.and_then(|issued| Some((issued, proof_of(issued, text.secret)?))) else {
            return Err(unknown);
        };
        let refused = |why| Err(Refused { why, key: Some(Arc::clone(&issued.about)) });
        let now = self.clock.now();
        if !issued.about.editions.iter().any(|edition| edition.number == proof.number && edition.ends > now) {
            return refused(KeyRefusal::Expired);
        }
        if !issued.about.networks.allows(address) {
            return refused(KeyRefusal::Network);
        }
        self.usage.note(tenant, &proof.used_as);
        Ok(Arc::clone(&issued.about))
    }

    /// Resolves when this text is good no more: its key is revoked, its overlap or its time ends. Word of a change comes from
    /// whoever makes it; where none comes, the record is looked at again and again, as often as copies of it end. While the
    /// store is away the end that was known holds.
    pub(in crate::gateway) async fn ended(&self, tenant: &TenantId, text: &Secret) {
        let Some(text) = KeyText::read(text.expose()) else { return };
        let mut word = self.shelf.copies.word(tenant);
        let mut known = None;
        loop {
            word.mark_unchanged();
            if let Ok(all) = self.copy(tenant).await {
                known = all.iter().find(|issued| issued.about.id == text.id).and_then(|issued| end_of(issued, text.secret));
                if known.is_none() {
                    return;
                }
            }
            let now = self.clock.now();
            let left = known.map(|end| Duration::from_millis(u64::try_from(end.0.saturating_sub(now.0)).unwrap_or(0)));
            if left.is_some_and(|left| left.is_zero()) {
                return;
            }
            let again = self.shelf.copies.life().max(LOOK);
            // An error would be that the copies are gone, and with them the process.
            let _ = timeout(left.map_or(again, |left| left.min(again)), word.changed()).await;
        }
    }

    async fn copy(&self, tenant: &TenantId) -> Result<Arc<Vec<Issued>>, VaultError> {
        self.shelf.copy(tenant, |held| held.into_iter().map(Issued::from).collect()).await
    }

    /// Writes counted uses down now.
    #[cfg(test)]
    pub(in crate::gateway) async fn flush(&self) {
        super::behind::Behind::flush(&self.usage).await;
        super::behind::Behind::flush(&self.origins).await;
    }
}

/// What uses of one text of a key are counted under.
pub(in crate::gateway) fn use_of(id: &str, number: u32) -> String {
    format!("{id}.{number}")
}

/// The end of a text that lists show. It is of the checksum, so nothing of the secret part is told but what follows from it.
fn last_four(text: &Secret) -> String {
    let text = text.expose();
    text.get(text.len().saturating_sub(4)..).unwrap_or_default().to_owned()
}

/// When a text of a key ends; `None` when it is none of its texts.
fn end_of(issued: &Issued, secret: &str) -> Option<Timestamp> {
    let number = proof_of(issued, secret)?.number;
    issued.about.editions.iter().find(|edition| edition.number == number).map(|edition| edition.ends)
}

fn proof_of<'i>(issued: &'i Issued, secret: &str) -> Option<&'i Proof> {
    issued.proofs.iter().find(|proof| proof.fits(secret))
}

fn find<'h>(all: &'h mut [Held], id: &str) -> Result<&'h mut Held, VaultError> {
    all.iter_mut().find(|held| held.about.id == id).ok_or(VaultError::Unknown)
}

fn no_randomness(error: random::Unavailable) -> Unavailable {
    Unavailable(error.to_string())
}
