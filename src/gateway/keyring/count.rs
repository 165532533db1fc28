//! Counts what stands under which sealing key, so that people know when an old one can go.

use std::collections::BTreeMap;
use std::fmt;

use crate::gateway::store::{Store, Unavailable};
use crate::platform::seal::key_id;

/// Records that nobody misses: what does not open is asked for again.
const MADE_ANEW: &str = "cache";

/// How many records of which kind stand under each key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct KeyCounts {
    /// Ids of the ring, newest first.
    keys: Vec<String>,
    /// The key that the replicas seal with now; `None` before the first start.
    sealing: Option<String>,
    /// By key id, then by kind.
    found: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Looks at the whole store. `keys` are the ids of the ring, newest first.
pub(in crate::gateway) async fn count(store: &Store, keys: Vec<String>) -> Result<KeyCounts, Unavailable> {
    let everybody = super::everybody().map_err(|error| Unavailable(error.to_string()))?;
    let sealing = store.get(&super::sealing(&everybody)).await?;
    let sealing = sealing.and_then(|record| String::from_utf8(record.value).ok());
    let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    store
        .survey(&mut |record| {
            if let Some(id) = key_id(record.start) {
                *found.entry(id.to_owned()).or_default().entry(record.kind.to_owned()).or_default() += 1;
            }
        })
        .await?;
    Ok(KeyCounts { keys, sealing, found })
}

impl KeyCounts {
    fn of(&self, id: &str) -> (u64, String) {
        let Some(kinds) = self.found.get(id) else { return (0, String::new()) };
        let each: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        (kinds.values().sum(), each.join(", "))
    }

    fn advice(&self, place: usize, id: &str) -> &'static str {
        let sealing = self.sealing.as_deref().and_then(|sealing| self.keys.iter().position(|key| key == sealing));
        let sealing = sealing.unwrap_or(0);
        match self.found.get(id) {
            _ if place == sealing => "seals",
            _ if place < sealing => "seals as soon as every replica has it",
            None => "nothing needs it: it can be taken out of the settings",
            Some(kinds) if kinds.keys().all(|kind| kind == MADE_ANEW) => {
                "only kept answers need it, which are asked for again without it: it can be taken out of the settings"
            }
            Some(_) => {
                "is needed: a gateway that runs seals the audit trail anew, other records when they are used; the rest runs out"
            }
        }
    }
}

impl fmt::Display for KeyCounts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "Sealing keys, newest first:")?;
        for (place, id) in self.keys.iter().enumerate() {
            let (count, kinds) = self.of(id);
            let kinds = if kinds.is_empty() { String::new() } else { format!(" ({kinds})") };
            writeln!(out, "  {id}: {count} records{kinds}; {}", self.advice(place, id))?;
        }
        for id in self.found.keys().filter(|id| !self.keys.contains(id)) {
            let (count, kinds) = self.of(id);
            writeln!(out, "  {}: {count} records ({kinds}); not in the settings, so they do not open", id.escape_debug())?;
        }
        Ok(())
    }
}
