//! Uploads: whether a file is there, and a stream that is measured and hashed on its way to the service. One chunk is held
//! at a time, whatever the size.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use crate::contract::ids::Sha256;
use crate::gateway::upstream::Kind;
use crate::platform::digest::Running;
use crate::platform::hostile::Hostile;

/// Use cases around files. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Uploads {
    credentials: Credentials,
    max_bytes: u64,
}

/// Why a stream was cut on purpose. Nothing is stored then, because the service never sees its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum Cut {
    #[error("the file is larger than allowed")]
    TooLarge,
    #[error("the file is not the one that was announced")]
    Changed,
    /// The sender went away or was silent for too long.
    #[error("the sender stopped")]
    Stopped,
}

/// How an upload is to be taken.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Announced {
    pub(in crate::gateway) name: Hostile,
    /// What the sender says the file hashes to.
    pub(in crate::gateway) sha256: Option<Sha256>,
    /// Store again what is there already.
    pub(in crate::gateway) force: bool,
}

impl Uploads {
    /// `max_bytes` is the largest file that is taken.
    pub(in crate::gateway) const fn new(credentials: Credentials, max_bytes: u64) -> Self {
        Self { credentials, max_bytes }
    }

    /// The largest file that is taken.
    pub(in crate::gateway) const fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Whether the service has this file.
    pub(in crate::gateway) async fn exists(&self, actor: &Actor, sha256: &Sha256) -> Result<bool, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let sha256 = sha256.clone();
            async move { service.file_exists(&call, &sha256).await }
        });
        ask.await
    }

    /// Sends a file to the service as it arrives. The token is refreshed first, since an upload can be sent only once.
    pub(in crate::gateway) async fn store<S>(&self, actor: &Actor, announced: &Announced, body: S) -> Result<Sha256, Error>
    where
        S: Stream<Item = Result<Bytes, Cut>> + Send + 'static,
    {
        let reason = Reason::default();
        let body = watched(body, self.max_bytes, announced.sha256.clone(), reason.clone());
        let Announced { name, sha256, force } = announced.clone();
        let send = self.credentials.with_user_once(actor, |service, call| async move {
            service.upload(&call, &name, sha256.as_ref(), force, body).await
        });
        match send.await {
            Ok(stored) => Ok(stored.sha256),
            Err(Error::Upstream(error)) => match reason.get() {
                Some(Cut::TooLarge) => Err(Error::TooLarge(too_large(self.max_bytes))),
                Some(Cut::Changed) => Err(Error::Invalid(CHANGED.to_owned())),
                Some(Cut::Stopped) => Err(Error::Invalid(STOPPED.to_owned())),
                None if error.kind == Kind::HashMismatch => Err(Error::Invalid(CHANGED.to_owned())),
                None if error.broke_off_while_sending() => Err(Error::Unusable(REFUSED_MIDWAY)),
                None => Err(error.into()),
            },
            Err(error) => Err(error),
        }
    }
}

const CHANGED: &str = "The file changed on the way: it is not the one that was announced. Nothing was stored.";
const REFUSED_MIDWAY: &str = "The scanning service closed the connection before it had the whole file, and did not say why. It \
may take only smaller files than this one. Nothing was stored.";
const STOPPED: &str = "The upload stopped before it was whole. Nothing was stored.";

/// Words for a file above the limit.
pub(in crate::gateway) fn too_large(max_bytes: u64) -> String {
    format!("The file is larger than {} MB, which is the most that is taken here. Nothing was stored.", max_bytes / 1_000_000)
}

/// The first reason a stream was cut for, told over the boundary of the transport.
#[derive(Clone, Default)]
struct Reason(Arc<AtomicU8>);

impl Reason {
    fn set(&self, cut: Cut) -> Cut {
        let code = match cut {
            Cut::TooLarge => 1,
            Cut::Changed => 2,
            Cut::Stopped => 3,
        };
        let _ = self.0.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        cut
    }

    fn get(&self) -> Option<Cut> {
        match self.0.load(Ordering::Acquire) {
            1 => Some(Cut::TooLarge),
            2 => Some(Cut::Changed),
            3 => Some(Cut::Stopped),
            _ => None,
        }
    }
}

struct Watch<S> {
    body: std::pin::Pin<Box<S>>,
    left: u64,
    /// Only when a hash was announced.
    hash: Option<(Running, Sha256)>,
    reason: Reason,
}

/// Passes chunks on; ends in an error instead of an end when the file is too large or not the one announced.
fn watched<S>(body: S, max_bytes: u64, expected: Option<Sha256>, reason: Reason) -> impl Stream<Item = Result<Bytes, Cut>> + Send
where
    S: Stream<Item = Result<Bytes, Cut>> + Send + 'static,
{
    let hash = expected.map(|expected| (Running::default(), expected));
    let start = Watch { body: Box::pin(body), left: max_bytes, hash, reason };
    futures_util::stream::unfold(Some(start), |state| async move {
        let mut watch = state?;
        match watch.body.next().await {
            Some(Ok(chunk)) => {
                let Some(left) = watch.left.checked_sub(chunk.len() as u64) else {
                    return Some((Err(watch.reason.set(Cut::TooLarge)), None));
                };
                watch.left = left;
                if let Some((hash, _)) = &mut watch.hash {
                    hash.update(&chunk);
                }
                Some((Ok(chunk), Some(watch)))
            }
            Some(Err(cut)) => Some((Err(watch.reason.set(cut)), None)),
            None => {
                let (hash, expected) = watch.hash.take()?;
                (hash.finish() != expected.as_str()).then(|| (Err(watch.reason.set(Cut::Changed)), None))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pass(chunks: &[&'static str], max: u64, expected: Option<&str>) -> (Vec<Result<Bytes, Cut>>, Option<Cut>) {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect();
        let reason = Reason::default();
        let expected = expected.map(|hash| hash.parse().unwrap());
        let passed = watched(futures_util::stream::iter(chunks), max, expected, reason.clone()).collect().await;
        (passed, reason.get())
    }

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[tokio::test]
    async fn a_file_that_is_what_it_says_passes_unchanged() {
        let (passed, reason) = pass(&["a", "bc"], 3, Some(ABC)).await;
        assert_eq!(passed, [Ok(Bytes::from_static(b"a")), Ok(Bytes::from_static(b"bc"))]);
        assert_eq!(reason, None);
    }

    #[tokio::test]
    async fn another_file_ends_in_an_error_so_that_nothing_is_stored() {
        let (passed, reason) = pass(&["a", "bd"], 3, Some(ABC)).await;
        assert_eq!(passed.last(), Some(&Err(Cut::Changed)));
        assert_eq!(reason, Some(Cut::Changed));
    }

    #[tokio::test]
    async fn one_byte_too_many_is_not_passed_on() {
        let (passed, reason) = pass(&["abc", "d"], 3, None).await;
        assert_eq!(passed, [Ok(Bytes::from_static(b"abc")), Err(Cut::TooLarge)]);
        assert_eq!(reason, Some(Cut::TooLarge));
    }
}
