//! Opens what the settings name: the keys that seal, and the store. For a gateway that starts, and for commands that only look.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::StartError;
use super::keyring::{self, KeyCounts};
use super::store::{Layout, OpenError, RedisSettings, Store};
use crate::config::gateway::{Backend, Gateway as Settings, Store as StoreSettings};
use crate::platform::clock::Clock;
use crate::platform::seal::Ring;
use crate::platform::shutdown::Shutdown;

/// The sealing keys, newest first.
pub(in crate::gateway) fn ring(settings: &Settings) -> Result<Ring, StartError> {
    let wrong = |words: String| StartError::Settings(words);
    let keys = settings.keys.iter().map(|key| {
        let bytes =
            STANDARD.decode(key.key.expose().trim()).map_err(|_| wrong(format!("sealing key {} is not base64", key.id)))?;
        Ok((key.id.clone(), bytes))
    });
    Ring::new(keys.collect::<Result<Vec<_>, StartError>>()?).map_err(|error| wrong(error.to_string()))
}

/// The store, on which nothing was asked yet.
pub(in crate::gateway) fn store(settings: &Settings, clock: &Clock, shutdown: &Shutdown) -> Result<Store, StartError> {
    let opened = match (settings.store.backend, &settings.store.redis_url) {
        (Backend::Embedded, _) => Store::embedded(&settings.store.path, clock.clone()).inspect(|store| store.hurry_at(shutdown)),
        (Backend::Redis, None) => return Err(StartError::Settings("the Redis store needs redis_url".to_owned())),
        (Backend::Redis, Some(url)) => {
            let redis = RedisSettings {
                url: url.clone(),
                layout: layout(&settings.store),
                roots: settings.store.redis_roots.clone(),
                prefix: settings.store.redis_prefix.clone(),
                connect_timeout: Duration::from_millis(settings.store.connect_timeout_ms),
                response_timeout: Duration::from_millis(settings.store.response_timeout_ms),
            };
            Store::redis(&redis, shutdown)
        }
    };
    opened.map_err(|error| match error {
        OpenError::InUse(_) => StartError::StoreInUse(error.to_string()),
        _ => StartError::Store(error.to_string()),
    })
}

/// How long the file of the store is, for those that only look: opening it would make one where there is none or an empty one.
/// Anything but 0 for a store that is no file.
pub(in crate::gateway) fn looked_at(settings: &Settings) -> Option<u64> {
    match settings.store.backend {
        Backend::Embedded => settings.store.path.metadata().ok().map(|file| file.len()),
        Backend::Redis => Some(u64::MAX),
    }
}

/// What stands under which sealing key.
pub(in crate::gateway) async fn key_counts(
    settings: &Settings,
    clock: &Clock,
    shutdown: &Shutdown,
) -> Result<KeyCounts, StartError> {
    let path = settings.store.path.display();
    match looked_at(settings) {
        Some(0) => return Err(StartError::Store(format!("{path} is empty, and no store"))),
        None => return Err(StartError::Store(format!("there is no store at {path} yet"))),
        Some(_) => {}
    }
    let ids = ring(settings)?.ids().map(str::to_owned).collect();
    let store = store(settings, clock, shutdown)?;
    keyring::count(&store, ids).await.map_err(|error| StartError::Store(error.to_string()))
}

fn layout(store: &StoreSettings) -> Layout {
    match (store.redis_sentinels.is_empty(), store.redis_cluster.is_empty()) {
        (false, _) => Layout::Sentinels { sentinels: store.redis_sentinels.clone(), master: store.redis_master.clone() },
        (true, false) => Layout::Cluster(store.redis_cluster.clone()),
        (true, true) => Layout::One,
    }
}
