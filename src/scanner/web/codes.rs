//! Extraction codes: slow hashes, and guessing made slow. Wrong codes are counted for each share; after the free ones
//! each further try has to wait, twice as long every time. Tries count before they are checked, so that many at once
//! gain nothing, and a right code takes its own try back without wiping the wrong ones. The same code at once is one try: of a
//! link that many open in the same moment nobody is kept out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use moka::future::Cache;
use tokio::sync::Semaphore;

use crate::config::scanner::Shares as Settings;
use crate::contract::ids::ShareId;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;
use crate::platform::{digest, random};

/// Each hash takes about 19 MiB while it is made.
const HASHES_AT_ONCE: usize = 2;
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// A recipient who turns pages sends the code each time: a code that was right is not hashed again for this long.
const RIGHT_FOR: Duration = Duration::from_mins(10);
/// Right codes remembered at most.
const REMEMBERED: u64 = 1000;

/// What came of a try.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Try {
    Right,
    Wrong,
    /// Not even looked at: come back after this.
    Wait(Duration),
}

/// A code could not be hashed or checked.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::scanner) enum CodeError {
    #[error(transparent)]
    Random(#[from] random::Unavailable),
    #[error("an extraction code could not be hashed: {0}")]
    Hash(argon2::password_hash::Error),
    #[error("a hashing thread ended early")]
    Thread,
}

/// Why a code is not known to be right.
#[derive(Clone)]
enum NotRight {
    Wrong,
    Wait(Duration),
    Failed(CodeError),
}

impl From<CodeError> for NotRight {
    fn from(error: CodeError) -> Self {
        Self::Failed(error)
    }
}

pub(super) struct Codes {
    clock: Clock,
    free_tries: u64,
    window: Duration,
    tries: Mutex<HashMap<ShareId, Tries>>,
    hashing: Semaphore,
    /// Makes what is remembered useless outside this process.
    key: [u8; 32],
    right: Cache<[u8; 32], ()>,
}

#[derive(Clone, Copy)]
struct Tries {
    wrong: u64,
    last: Timestamp,
    blocked_until: Timestamp,
}

impl Codes {
    pub(super) fn new(settings: &Settings, clock: Clock) -> Result<Self, CodeError> {
        Ok(Self {
            clock,
            free_tries: settings.free_tries,
            window: Duration::from_secs(settings.window_seconds),
            tries: Mutex::default(),
            hashing: Semaphore::new(HASHES_AT_ONCE),
            key: random::bytes()?,
            right: Cache::builder().max_capacity(REMEMBERED).time_to_live(RIGHT_FOR).build(),
        })
    }

    /// The code as a PHC string (argon2id).
    pub(super) async fn hash(&self, code: Secret) -> Result<String, CodeError> {
        let salt: [u8; 16] = random::bytes()?;
        self.slow(move || {
            let hash = Argon2::default().hash_password_with_salt(code.expose().as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(CodeError::Hash)
        })
        .await
    }

    /// Whether `code` belongs to `hash`. Does not count: for the owner.
    pub(super) async fn verify(&self, code: Secret, hash: String) -> Result<bool, CodeError> {
        self.slow(move || {
            let parsed = PasswordHash::new(&hash).map_err(|_| CodeError::Hash(argon2::password_hash::Error::PasswordInvalid))?;
            Ok(Argon2::default().verify_password(code.expose().as_bytes(), &parsed).is_ok())
        })
        .await
    }

    /// A recipient tries `code` on a share.
    pub(super) async fn attempt(&self, share: &ShareId, code: Secret, hash: &str) -> Result<Try, CodeError> {
        let memory = digest::keyed(&self.key, format!("{share}\0{hash}\0{}", code.expose()).as_bytes());
        // Whoever was let in stays in, however many others guess meanwhile; who comes with the same code waits for its check.
        match self.right.try_get_with(memory, self.look(share, code, hash)).await.map_err(Arc::unwrap_or_clone) {
            Ok(()) => Ok(Try::Right),
            Err(NotRight::Wrong) => Ok(Try::Wrong),
            Err(NotRight::Wait(wait)) => Ok(Try::Wait(wait)),
            Err(NotRight::Failed(error)) => Err(error),
        }
    }

    async fn look(&self, share: &ShareId, code: Secret, hash: &str) -> Result<(), NotRight> {
        let before = self.begin(share).map_err(NotRight::Wait)?;
        if !self.verify(code, hash.to_owned()).await? {
            return Err(NotRight::Wrong);
        }
        self.take_back(share, before);
        Ok(())
    }

    /// Counts a try as wrong in advance; gives how things stood before, or how long to wait.
    fn begin(&self, share: &ShareId) -> Result<Option<Tries>, Duration> {
        let now = self.clock.now();
        let mut tries = self.tries();
        tries.retain(|_, entry| now.since(entry.last) < self.window || entry.blocked_until > now);
        let before = tries.get(share).copied();
        if let Some(entry) = before
            && entry.blocked_until > now
        {
            return Err(entry.blocked_until.since(now));
        }
        let wrong = before.map_or(0, |entry| entry.wrong).saturating_add(1);
        let blocked_until = now.after(self.wait_after(wrong));
        tries.insert(share.clone(), Tries { wrong, last: now, blocked_until });
        Ok(before)
    }

    /// No wait below the free tries, then 1 s, 2 s, 4 s and so on.
    fn wait_after(&self, wrong: u64) -> Duration {
        let Some(beyond) = wrong.checked_sub(self.free_tries) else { return Duration::ZERO };
        let seconds = 1_u64.checked_shl(u32::try_from(beyond).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
        Duration::from_secs(seconds).min(LONGEST_WAIT)
    }

    /// The try was right. Tries that came in between keep their count.
    fn take_back(&self, share: &ShareId, before: Option<Tries>) {
        let mut tries = self.tries();
        let Some(entry) = tries.get_mut(share) else { return };
        let others = entry.wrong.saturating_sub(1);
        match before {
            Some(before) if before.wrong == others => *entry = before,
            None if others == 0 => {
                tries.remove(share);
            }
            _ => entry.wrong = others,
        }
    }

    async fn slow<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, CodeError> + Send + 'static,
    ) -> Result<T, CodeError> {
        let _permit = self.hashing.acquire().await.map_err(|_| CodeError::Thread)?;
        tokio::task::spawn_blocking(work).await.map_err(|_| CodeError::Thread)?
    }

    fn tries(&self) -> MutexGuard<'_, HashMap<ShareId, Tries>> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
