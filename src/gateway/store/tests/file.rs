//! What only the embedded file has: restarts, damage, the lock, and the sweeping of what ran out.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use redb::{ReadableDatabase as _, ReadableTableMetadata as _};
use tempfile::TempDir;

use super::bench::{Bench, acme, until};
use crate::gateway::store::entries::{ENTRIES, EXPIRY};
use crate::gateway::store::{Key, OpenError, Store};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::shutdown::Shutdown;

const HOUR: Option<Duration> = Some(Duration::from_hours(1));

fn key(id: usize) -> Key {
    Key::new(&acme(), "thing", &id.to_string())
}

fn clock() -> Clock {
    Clock::manual(Timestamp(1_700_000_000_000))
}

#[tokio::test]
async fn everything_is_there_after_a_restart_and_lifetimes_go_on() {
    let folder = TempDir::new().unwrap();
    let (path, clock) = (folder.path().join("deep/store.redb"), clock());
    let store = Store::embedded(&path, clock.clone()).unwrap();
    let version = store.put(&key(1), b"one".to_vec(), HOUR).await.unwrap();
    store.add(&key(1), "m", None).await.unwrap();
    store.count(&key(1), HOUR.unwrap()).await.unwrap();
    store.touch(&key(1), HOUR.unwrap() * 2).await.unwrap();
    let lease = store.acquire(&key(1), Duration::from_secs(1)).await.unwrap().unwrap();
    drop(store);
    let store = Store::embedded(&path, clock.clone()).unwrap();
    let record = store.get(&key(1)).await.unwrap().unwrap();
    assert_eq!(
        (record.value.as_slice(), record.version, record.expires_in),
        (b"one".as_slice(), version, Some(HOUR.unwrap() * 2))
    );
    assert_eq!(store.members(&key(1)).await.unwrap(), ["m"]);
    assert_eq!(store.peek(&key(1)).await.unwrap().unwrap().value, 1);
    clock.advance(Duration::from_secs(1));
    assert!(store.acquire(&key(1), Duration::from_secs(1)).await.unwrap().unwrap().fence > lease.fence);
    clock.advance(HOUR.unwrap() * 2);
    assert_eq!(store.get(&key(1)).await.unwrap(), None);
}

/// A process may end before the last of those who hold the store let go of it.
#[tokio::test]
async fn when_the_end_has_begun_everything_is_on_the_disk_although_nobody_closes_the_store() {
    let (folder, clock, shutdown) = (TempDir::new().unwrap(), clock(), Shutdown::default());
    let path = folder.path().join("store.redb");
    let store = Store::embedded(&path, clock.clone()).unwrap();
    store.hurry_at(&shutdown);
    let left_behind = async |name: &str| {
        let copy = folder.path().join(name);
        std::fs::copy(&path, &copy).unwrap();
        Store::embedded(&copy, clock.clone()).unwrap().peek(&key(1)).await.unwrap().map(|count| count.value)
    };
    store.count(&key(1), HOUR.unwrap()).await.unwrap();
    shutdown.begin();
    shutdown.drain(Duration::from_mins(1)).await;
    assert_eq!(left_behind("before").await, Some(1), "it was counted before");
    store.count(&key(1), HOUR.unwrap()).await.unwrap();
    assert_eq!(left_behind("after").await, Some(2));
}

#[tokio::test]
async fn a_file_is_open_once_and_only_its_owner_reads_it() {
    let bench = Bench::file();
    let again = Store::embedded(&bench.path(), clock());
    assert!(matches!(again, Err(OpenError::InUse(_))));
    assert_eq!(std::fs::metadata(bench.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_cut_or_foreign_file_is_refused_in_words_and_left_as_it_is() {
    let bench = Bench::file();
    for id in 0..500 {
        bench.store.put(&key(id), vec![7; 3000], None).await.unwrap();
    }
    let path = bench.path();
    let whole = bench.at_rest().await;
    assert!(whole.len() > 1_000_000);
    let folder = TempDir::new().unwrap();
    drop(path);
    let cuts = [1, 100, 4096, whole.len() / 4, whole.len() / 2, whole.len() - 4096];
    let mut damaged: Vec<Vec<u8>> = cuts.iter().map(|length| whole.get(..*length).unwrap().to_vec()).collect();
    damaged.push(b"SQLite format 3\0 and then something else entirely".repeat(200));
    damaged.push(whole.iter().enumerate().map(|(place, byte)| if place < 512 { 0xff } else { *byte }).collect());
    for (number, bytes) in damaged.iter().enumerate() {
        let path = folder.path().join(format!("{number}.redb"));
        std::fs::write(&path, bytes).unwrap();
        let opened = Store::embedded(&path, clock());
        let error = opened.err().unwrap_or_else(|| panic!("the file cut to {} bytes was opened", bytes.len()));
        assert!(matches!(error, OpenError::Damaged(_)), "{number}: {error}");
        assert!(std::fs::read(&path).unwrap() == *bytes, "{number}: the file was changed");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_refused_in_words() {
    let error = Store::embedded(std::path::Path::new("/proc/none/store.redb"), clock()).err().unwrap();
    assert!(matches!(error, OpenError::Refused(..)), "{error}");
}

#[tokio::test]
async fn what_ran_out_is_deleted_from_the_file_and_nothing_else_is() {
    let folder = TempDir::new().unwrap();
    let (path, clock) = (folder.path().join("store.redb"), clock());
    let store = Store::embedded(&path, clock.clone()).unwrap();
    let mut writes = tokio::task::JoinSet::new();
    for id in 0..2500 {
        let (store, ttl) = (store.clone(), if id % 5 == 0 { None } else { HOUR });
        writes.spawn(async move { store.put(&key(id), vec![1], ttl).await.unwrap() });
    }
    writes.join_all().await;
    assert!(store.touch(&key(1), HOUR.unwrap() * 3).await.unwrap());
    clock.advance(HOUR.unwrap() * 2);
    // A commit wakes the writer, which sweeps when a second has passed.
    until("the sweep", async || {
        store.put(&key(9999), vec![1], None).await.unwrap();
        let store = store.clone();
        let crate::gateway::store::Backend::Embedded(file) = &store.0 else { panic!("it is a file") };
        file.entries().unwrap() == 500 + 1 + 1
    })
    .await;
    drop(store);
    let database = redb::Database::open(&path).unwrap();
    let transaction = database.begin_read().unwrap();
    assert_eq!(transaction.open_table(ENTRIES).unwrap().len().unwrap(), 502);
    assert_eq!(transaction.open_table(EXPIRY).unwrap().len().unwrap(), 1);
}

#[tokio::test]
async fn many_writers_share_a_flush() {
    let bench = Bench::file();
    let mut writes = tokio::task::JoinSet::new();
    for id in 0..2000 {
        let store = bench.store.clone();
        writes.spawn(async move { store.put(&key(id), vec![1; 200], None).await.unwrap() });
    }
    writes.join_all().await;
    for id in 0..2000 {
        assert!(bench.store.get(&key(id)).await.unwrap().is_some());
    }
}
