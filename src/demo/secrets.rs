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

/// Everything secret in the demo, apart from the users' well-known passwords.
pub(super) struct Secrets {
    /// 32 bytes in base64.
    pub(super) sealing_key: Secret,
    pub(super) tenants: BTreeMap<String, TenantSecrets>,
}

pub(super) struct TenantSecrets {
    pub(super) client_secret: Secret,
    /// Server key of the tenant's account in the scanning service.
    pub(super) server_key: Secret,
}

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    sealing_key: Option<String>,
    #[serde(default)]
    tenants: BTreeMap<String, StoredTenant>,
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
        let damaged = |reason: String| DemoError::DamagedSecrets { path: path.clone(), reason };
        let mut stored = match folder.read(FILE)? {
            // The message of serde_json names a place, never a value.
            Some(content) => serde_json::from_slice(&content)
                .map_err(|error| damaged(format!("line {}, column {}", error.line(), error.column())))?,
            None => Stored::default(),
        };
        let no_randomness = |error: random::Unavailable| DemoError::Folder { path: path.clone(), reason: error.to_string() };
        let mut made = false;
        let mut keep = |slot: &mut Option<String>, make: &dyn Fn() -> Result<String, random::Unavailable>| {
            if slot.is_none() {
                *slot = Some(make()?);
                made = true;
            }
            Ok(Secret::new(slot.as_deref().unwrap_or_default()))
        };
        let sealing_key =
            keep(&mut stored.sealing_key, &|| Ok(STANDARD.encode(random::bytes::<32>()?))).map_err(no_randomness)?;
        let mut tenants = BTreeMap::new();
        for tenant in TENANTS {
            let slots = stored.tenants.entry(tenant.id.to_owned()).or_default();
            let client_secret = keep(&mut slots.client_secret, &random::token).map_err(no_randomness)?;
            let server_key = keep(&mut slots.sk, &|| Ok(format!("sk-{}", random::token()?))).map_err(no_randomness)?;
            tenants.insert(tenant.id.to_owned(), TenantSecrets { client_secret, server_key });
        }
        if made {
            let text = serde_json::to_string_pretty(&stored).map_err(|error| damaged(error.to_string()))?;
            folder.write(FILE, &text)?;
        }
        Ok(Self { sealing_key, tenants })
    }
}
