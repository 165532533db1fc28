//! Random contents that accounts were given, and which targets they have proved to be theirs. Both belong to the account.

use redb::ReadableTable as _;
use serde::{Deserialize, Serialize};

use super::{OWNERSHIP_CONTENTS, OWNERSHIP_PROOFS, Store, StoreError, encode, record};
use crate::platform::clock::Timestamp;

/// What an account was given to put on its targets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct ContentRecord {
    /// 64 lower-case hexadecimal characters.
    pub(in crate::scanner) content: String,
    pub(in crate::scanner) expires_at: Timestamp,
}

/// A proof. The later one replaces the earlier one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct ProofRecord {
    pub(in crate::scanner) verified_at: Timestamp,
    /// Who asked for it.
    pub(in crate::scanner) verified_by: String,
}

impl Store {
    /// The content of `account` that has not expired; `fresh` is kept when there is none.
    pub(in crate::scanner) fn ownership_content(
        &self,
        account: &str,
        fresh: ContentRecord,
        now: Timestamp,
    ) -> Result<ContentRecord, StoreError> {
        self.write(|transaction| {
            let mut contents = transaction.open_table(OWNERSHIP_CONTENTS)?;
            if let Some(known) = record::<_, ContentRecord>(&contents, account)?
                && known.expires_at > now
            {
                return Ok(known);
            }
            contents.insert(account, encode(&fresh)?.as_slice())?;
            Ok(fresh)
        })
    }

    /// The content `account` was given last.
    pub(in crate::scanner) fn given_content(&self, account: &str) -> Result<Option<ContentRecord>, StoreError> {
        record(&self.reading()?.open_table(OWNERSHIP_CONTENTS)?, account)
    }

    /// Keeps a proof of `account` for a place: `host:port`, or a host for all of its ports. Proofs from before `oldest` go.
    pub(in crate::scanner) fn keep_proof(
        &self,
        account: &str,
        place: &str,
        proof: &ProofRecord,
        oldest: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut proofs = transaction.open_table(OWNERSHIP_PROOFS)?;
            proofs.insert((account, place), encode(proof)?.as_slice())?;
            let mut over = Vec::new();
            for entry in proofs.range((account, "")..=(account, super::LAST))? {
                let (key, value) = entry?;
                let known: ProofRecord = super::decode(value.value())?;
                if known.verified_at < oldest {
                    over.push(key.value().1.to_owned());
                }
            }
            for place in over {
                proofs.remove((account, place.as_str()))?;
            }
            Ok(())
        })
    }

    /// The proof of `account` for a place.
    pub(in crate::scanner) fn proof(&self, account: &str, place: &str) -> Result<Option<ProofRecord>, StoreError> {
        record(&self.reading()?.open_table(OWNERSHIP_PROOFS)?, (account, place))
    }
}
