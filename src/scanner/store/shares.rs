//! Shares. The extraction code is here as a slow hash only.

use redb::ReadableTable as _;
use serde::{Deserialize, Serialize};

use super::query::{Field, Listed};
use super::{ACCOUNT_SHARES, SHARES, Store, StoreError, encode, record};
use crate::contract::ids::{ShareId, TaskId, VulId};
use crate::contract::searches::{self, Fields};
use crate::contract::shares::ShareType;
use crate::platform::clock::Timestamp;

/// A share as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct ShareRecord {
    pub(in crate::scanner) id: ShareId,
    pub(in crate::scanner) account: String,
    pub(in crate::scanner) task_id: TaskId,
    pub(in crate::scanner) project_name: String,
    pub(in crate::scanner) share_type: ShareType,
    pub(in crate::scanner) vul_ids: Vec<VulId>,
    /// The extraction code as a PHC string; none means open to whoever has the link.
    pub(in crate::scanner) code_hash: Option<String>,
    pub(in crate::scanner) expired_at: Option<Timestamp>,
    pub(in crate::scanner) created_at: Timestamp,
    pub(in crate::scanner) created_by: String,
}

impl ShareRecord {
    /// Whether the share has come to its end.
    pub(in crate::scanner) fn has_expired(&self, now: Timestamp) -> bool {
        self.expired_at.is_some_and(|end| end <= now)
    }
}

/// What happens to an optional field of a share.
pub(in crate::scanner) enum Change<T> {
    Keep,
    Set(T),
    Remove,
}

impl<T> Change<T> {
    fn apply(self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Set(value) => *field = Some(value),
            Self::Remove => *field = None,
        }
    }
}

/// A change of a share.
pub(in crate::scanner) struct ShareChange {
    pub(in crate::scanner) expired_at: Change<Timestamp>,
    pub(in crate::scanner) code_hash: Change<String>,
}

impl Store {
    /// Keeps a new share; gives the share that already has its id instead, whoever made it.
    pub(in crate::scanner) fn create_share(&self, share: &ShareRecord) -> Result<Option<ShareRecord>, StoreError> {
        self.write(|transaction| {
            let mut shares = transaction.open_table(SHARES)?;
            if let Some(known) = record(&shares, share.id.as_str())? {
                return Ok(Some(known));
            }
            shares.insert(share.id.as_str(), encode(share)?.as_slice())?;
            transaction.open_table(ACCOUNT_SHARES)?.insert((share.account.as_str(), share.id.as_str()), ())?;
            Ok(None)
        })
    }

    /// A share, whoever made it: recipients have no account.
    pub(in crate::scanner) fn share(&self, id: &ShareId) -> Result<Option<ShareRecord>, StoreError> {
        record(&self.reading()?.open_table(SHARES)?, id.as_str())
    }

    /// All shares of `account`, in no particular order.
    pub(in crate::scanner) fn shares(&self, account: &str) -> Result<Vec<ShareRecord>, StoreError> {
        let reading = self.reading()?;
        let shares = reading.open_table(SHARES)?;
        let mut all = Vec::new();
        for entry in reading.open_table(ACCOUNT_SHARES)?.range((account, "")..)? {
            let (key, _) = entry?;
            let (owner, id) = key.value();
            if owner != account {
                break;
            }
            all.extend(record::<_, ShareRecord>(&shares, id)?);
        }
        Ok(all)
    }

    /// Changes a share of `account`; false when there is none.
    pub(in crate::scanner) fn update_share(&self, account: &str, id: &ShareId, change: ShareChange) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let mut shares = transaction.open_table(SHARES)?;
            let Some(mut share) = record::<_, ShareRecord>(&shares, id.as_str())? else { return Ok(false) };
            if share.account != account {
                return Ok(false);
            }
            change.expired_at.apply(&mut share.expired_at);
            change.code_hash.apply(&mut share.code_hash);
            shares.insert(id.as_str(), encode(&share)?.as_slice())?;
            Ok(true)
        })
    }

    /// Deletes shares of `account`, all or nothing. Gives the first id that is unknown.
    pub(in crate::scanner) fn delete_shares(&self, account: &str, ids: &[ShareId]) -> Result<Option<ShareId>, StoreError> {
        self.write(|transaction| {
            let mut index = transaction.open_table(ACCOUNT_SHARES)?;
            for id in ids {
                if index.get((account, id.as_str()))?.is_none() {
                    return Ok(Some(id.clone()));
                }
            }
            let mut shares = transaction.open_table(SHARES)?;
            for id in ids {
                shares.remove(id.as_str())?;
                index.remove((account, id.as_str()))?;
            }
            Ok(None)
        })
    }
}

impl Listed for ShareRecord {
    const FIELDS: Fields = searches::SHARES;

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "shareId" => Field::Text(self.id.as_str()),
            "taskId" => Field::Text(self.task_id.as_str()),
            "projectName" => Field::Text(self.project_name.as_str()),
            "shareType" => Field::Text(if self.share_type == ShareType::Vul { "VUL" } else { "REPORT" }),
            "createdBy" => Field::Text(self.created_by.as_str()),
            "createdAt" => Field::Time(self.created_at),
            "expiredAt" => Field::Time(self.expired_at?),
            _ => return None,
        })
    }
}
