//! The key that seals what must not lie open: given by the settings, or made at the first start and kept in the data folder,
//! readable for its owner only. Whoever takes the whole data folder takes that key along; one from the settings is elsewhere.

use std::io::ErrorKind;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::StoreError;
use crate::platform::seal::Ring;
use crate::platform::secret::Secret;
use crate::platform::{digest, private, random};

const FILE: &str = "seal.key";

/// The ring of the service. A key of the data folder stays in it behind one of the settings, so that nothing sealed before
/// is lost when a key is given.
pub(super) fn ring(folder: &Path, given: Option<&Secret>) -> Result<Ring, StoreError> {
    let path = folder.join(FILE);
    let kept = match std::fs::read_to_string(&path) {
        Ok(text) => Some(decode(text.trim()).ok_or_else(|| StoreError::SealKey(path.clone()))?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(StoreError::file(&path)(error)),
    };
    let given = given.map(|key| decode(key.expose()).ok_or_else(|| StoreError::SealKey("seal_key".into()))).transpose()?;
    let mut keys: Vec<Zeroizing<Vec<u8>>> = given.into_iter().chain(kept).collect();
    if keys.is_empty() {
        let key = Zeroizing::new(random::bytes::<32>().map_err(|_| StoreError::SealKey(path.clone()))?);
        let text = Zeroizing::new(STANDARD.encode(key.as_slice()));
        private::write(&path, text.as_bytes()).map_err(StoreError::file(&path))?;
        keys.push(Zeroizing::new(key.to_vec()));
    }
    let named = keys.into_iter().map(|key| (name(&key), key.to_vec()));
    Ring::new(named).map_err(|_| StoreError::SealKey(path))
}

fn decode(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    STANDARD.decode(text).ok().map(Zeroizing::new).filter(|key| key.len() == 32)
}

/// Tells keys apart without telling anything of them.
fn name(key: &[u8]) -> String {
    digest::hex(&digest::keyed(key, b"name of a sealing key")).chars().take(16).collect()
}
