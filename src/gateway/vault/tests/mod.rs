//! Both kinds of keys on both backends, on one replica and on two.

mod api_keys;
mod origins;
mod replicas;
mod server_keys;

use std::num::NonZeroU32;
use std::sync::Arc;

use super::Parts;
use crate::config::gateway::Vault as Settings;
use crate::gateway::store::tests::bench::Bench;
use crate::platform::seal::Ring;

pub(in crate::gateway) fn settings() -> Settings {
    Settings {
        copy_ms: 1000,
        use_seconds: 3600,
        use_days: 30,
        server_keys: 20,
        api_keys: 5,
        api_key_days: 365,
        api_key_networks: 20,
        use_origins: 3,
        refusals_per_minute: NonZeroU32::MIN,
    }
}

fn ring(ids: &[&str]) -> Arc<Ring> {
    Arc::new(Ring::new(ids.iter().map(|id| ((*id).to_owned(), vec![id.as_bytes()[1]; 32]))).unwrap())
}

/// What a replica is made with. Uses are written when a test says so.
pub(in crate::gateway) fn parts(bench: &Bench) -> Parts {
    parts_with(bench, &["k1"])
}

fn parts_with(bench: &Bench, keys: &[&str]) -> Parts {
    Parts {
        store: bench.store.clone(),
        ring: ring(keys),
        clock: bench.clock.clone(),
        settings: settings(),
        shutdown: bench.shutdown.clone(),
    }
}
