//! An answer as a record of the store, before it is sealed. Times in it are lengths, never instants: how old it is follows
//! from what the store has left for it, so that clocks of replicas may differ.
//!
//! Form 1, numbers big-endian: form (1 byte), epoch (8), the three times in milliseconds (8 each), status (2), number of
//! headers (2), each as length of the name (2), name, length of the value (4), value; then the body.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use zeroize::Zeroizing;

use super::kept::{Fetched, Kept};
use super::policy::Life;
use crate::platform::clock::Timestamp;

const FORM: u8 = 1;

/// The record of `kept`, asked for in this epoch of the store.
pub(super) fn write(kept: &Kept, epoch: u64) -> Zeroizing<Vec<u8>> {
    let mut out = Vec::with_capacity(64 + kept.headers.len() * 64 + kept.body.len());
    out.push(FORM);
    out.extend_from_slice(&epoch.to_be_bytes());
    for time in [kept.life.fresh, kept.life.meanwhile, kept.life.in_trouble] {
        out.extend_from_slice(&u64::try_from(time.as_millis()).unwrap_or(u64::MAX).to_be_bytes());
    }
    out.extend_from_slice(&kept.status.to_be_bytes());
    // Header names are at most 65535 bytes and values at most 2^32 by the library's own bounds.
    let count = u16::try_from(kept.headers.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    for (name, value) in kept.headers.iter().take(usize::from(count)) {
        out.extend_from_slice(&u16::try_from(name.as_str().len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(&kept.body);
    Zeroizing::new(out)
}

/// Reads a record for which the store has `left`. `None` when it is of another epoch, or no record of this form.
pub(super) fn read(plain: &[u8], epoch: u64, left: Duration, now: Timestamp) -> Option<Kept> {
    let mut rest = plain;
    if take::<1>(&mut rest)? != [FORM] || u64::from_be_bytes(take(&mut rest)?) != epoch {
        return None;
    }
    let mut time = || Some(Duration::from_millis(u64::from_be_bytes(take(&mut rest)?)));
    let life = Life { fresh: time()?, meanwhile: time()?, in_trouble: time()? };
    let status = u16::from_be_bytes(take(&mut rest)?);
    let count = u16::from_be_bytes(take(&mut rest)?);
    let mut headers = HeaderMap::new();
    for _ in 0..count {
        let name = u16::from_be_bytes(take(&mut rest)?);
        let name = HeaderName::from_bytes(slice(&mut rest, usize::from(name))?).ok()?;
        let value = u32::from_be_bytes(take(&mut rest)?);
        let value = HeaderValue::from_bytes(slice(&mut rest, usize::try_from(value).ok()?)?).ok()?;
        headers.append(name, value);
    }
    let age = i64::try_from(life.whole().saturating_sub(left).as_millis()).unwrap_or(i64::MAX);
    let fetched = Fetched { status, headers, body: Bytes::copy_from_slice(rest) };
    Some(Kept::new(fetched, (Timestamp(now.0.saturating_sub(age)), now), life))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk::<N>()?;
    *rest = left;
    Some(*taken)
}

fn slice<'r>(rest: &mut &'r [u8], length: usize) -> Option<&'r [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_with_its_age_and_not_in_another_epoch_or_cut() {
        let mut headers = HeaderMap::new();
        headers.append("content-type", HeaderValue::from_static("application/json"));
        headers.append("x-a", HeaderValue::from_static("1"));
        headers.append("x-a", HeaderValue::from_bytes(b"\xe4").unwrap());
        let life = Life { fresh: Duration::from_secs(30), meanwhile: Duration::from_secs(5), in_trouble: Duration::from_mins(1) };
        let now = Timestamp(1_000_000);
        let kept = Kept::new(Fetched { status: 200, headers, body: Bytes::from_static(b"{\"a\":1}") }, (now, now), life);
        let plain = write(&kept, 7);
        // Another clock, which is an hour ahead: the store has 80 of 90 seconds left.
        let there = Timestamp(4_600_000);
        let back = read(&plain, 7, Duration::from_secs(80), there).unwrap();
        assert_eq!((back.status, &back.headers, &back.body, back.etag()), (200, &kept.headers, &kept.body, kept.etag()));
        assert_eq!((back.life, back.age(there)), (life, Duration::from_secs(10)));
        assert!(read(&plain, 8, Duration::from_secs(80), there).is_none());
        let head = plain.len() - kept.body.len();
        assert!((0..head).all(|end| read(&plain[..end], 7, Duration::from_secs(80), there).is_none()));
    }
}
