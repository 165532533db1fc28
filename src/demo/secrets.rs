//! The demo's secrets: made at the first start, kept in the data folder. A file of an older version keeps working: what it
//! lacks is made and added.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::settings::TENANTS;
use super::{DemoError, Folder};
use crate::platform::random;
use crate::platform::secret::Secret;

const FILE: &str = "secrets.json";
/// Id of the sealing key that the first start makes.
const FIRST_KEY: &str = "demo";

/// Everything secret in the demo, apart from the users' well-known passwords.
pub(super) struct Secrets {
    /// Id and 32 bytes in base64, newest first.
    pub(super) sealing_keys: Vec<(String, Secret)>,
    pub(super) tenants: BTreeMap<String, TenantSecrets>,
}

pub(super) struct TenantSecrets {
    pub(super) client_secret: Secret,
    /// Server key of the tenant's account in the scanning service.
    pub(super) server_key: Secret,
}

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    /// The first one, whose id is [`FIRST_KEY`].
    sealing_key: Option<String>,
    /// Those that came later, newest first.
    #[serde(default)]
    newer_sealing_keys: Vec<StoredKey>,
    #[serde(default)]
    tenants: BTreeMap<String, StoredTenant>,
}

#[derive(Serialize, Deserialize)]
struct StoredKey {
    id: String,
    key: String,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct StoredTenant {
    client_secret: Option<String>,
    sk: Option<String>,
}

/// Whether a demo has kept its secrets in this folder.
pub(super) fn are_in(folder: &Path) -> bool {
    folder.join(FILE).is_file()
}

impl Secrets {
    /// Reads the secrets of the folder; makes what is not there and writes it back.
    pub(super) fn load_or_make(folder: &Folder) -> Result<Self, DemoError> {
        let path = folder.path().join(FILE);
        let mut stored = Stored::read(folder)?;
        let no_randomness = |error: random::Unavailable| DemoError::Folder { path: path.clone(), reason: error.to_string() };
        let mut made = false;
        let mut keep = |slot: &mut Option<String>, make: &dyn Fn() -> Result<String, random::Unavailable>| {
            if slot.is_none() {
                *slot = Some(make()?);
                made = true;
            }
            Ok(Secret::new(slot.as_deref().unwrap_or_default()))
        };
        let sealing_key = keep(&mut stored.sealing_key, &|| Ok(new_key()?.expose().to_owned())).map_err(no_randomness)?;
        let mut tenants = BTreeMap::new();
        for tenant in TENANTS {
            let slots = stored.tenants.entry(tenant.id.to_owned()).or_default();
            let client_secret = keep(&mut slots.client_secret, &random::token).map_err(no_randomness)?;
            let server_key = keep(&mut slots.sk, &|| Ok(format!("sk-{}", random::token()?))).map_err(no_randomness)?;
            tenants.insert(tenant.id.to_owned(), TenantSecrets { client_secret, server_key });
        }
        if made {
            stored.write(folder)?;
        }
        let newer = stored.newer_sealing_keys.iter().map(|key| (key.id.clone(), Secret::new(key.key.as_str())));
        let sealing_keys = newer.chain([(FIRST_KEY.to_owned(), sealing_key)]).collect();
        Ok(Self { sealing_keys, tenants })
    }

    /// Adds a sealing key whose id is the date, or the date and a number; gives the id.
    pub(super) fn add_sealing_key(folder: &Folder, today: &str) -> Result<String, DemoError> {
        let no_randomness =
            |error: random::Unavailable| DemoError::Folder { path: folder.path().join(FILE), reason: error.to_string() };
        let mut stored = Stored::read(folder)?;
        let id = free_key_id(today, |id| stored.newer_sealing_keys.iter().any(|key| key.id == id));
        let key = new_key().map_err(no_randomness)?.expose().to_owned();
        stored.newer_sealing_keys.insert(0, StoredKey { id: id.clone(), key });
        stored.write(folder)?;
        Ok(id)
    }
}

impl Stored {
    fn read(folder: &Folder) -> Result<Self, DemoError> {
        // The message of serde_json names a place, never a value.
        let damaged = |error: serde_json::Error| DemoError::DamagedSecrets {
            path: folder.path().join(FILE),
            reason: format!("line {}, column {}", error.line(), error.column()),
        };
        let content = folder.read(FILE)?;
        content.map_or_else(|| Ok(Self::default()), |content| serde_json::from_slice(&content).map_err(damaged))
    }

    fn write(&self, folder: &Folder) -> Result<(), DemoError> {
        let damaged =
            |error: serde_json::Error| DemoError::DamagedSecrets { path: folder.path().join(FILE), reason: error.to_string() };
        folder.write(FILE, &serde_json::to_string_pretty(self).map_err(damaged)?)
    }
}

/// A new sealing key: 32 bytes in base64.
///
/// # Errors
/// When the system gives no randomness.
pub fn new_key() -> Result<Secret, random::Unavailable> {
    Ok(Secret::new(STANDARD.encode(random::bytes::<32>()?)))
}

/// An id for a new sealing key: the date, with a number behind it when it is taken.
pub fn free_key_id(today: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u32..).map(|number| format!("{today}-{number}"));
    std::iter::once(today.to_owned()).chain(numbered).find(|id| !is_taken(id)).unwrap_or_else(|| today.to_owned())
}
