//! Captured sessions of a task: live cookies and headers of somebody's login, sealed for their account and task. They live
//! as long as the task may need them: until it ends, is terminated or is deleted. Nothing of them is in any other table.

use redb::WriteTransaction;
use zeroize::Zeroizing;

use super::tasks::TaskRecord;
use super::{SESSIONS, Store, StoreError};
use crate::contract::ids::TaskId;
use crate::platform::digest;

/// What the seal is for; part of its associated data.
const PURPOSE: &str = "captured sessions";

impl Store {
    /// Keeps the sessions of a new task, sealed, in the transaction that keeps the task.
    pub(super) fn keep_sessions(
        &self,
        transaction: &WriteTransaction,
        task: &TaskRecord,
        sessions: Option<&Zeroizing<Vec<u8>>>,
    ) -> Result<(), StoreError> {
        let Some(sessions) = sessions else { return Ok(()) };
        let sealed = self.0.ring.seal(PURPOSE, &context(&task.account, &task.id), b"", sessions)?;
        transaction.open_table(SESSIONS)?.insert(task.id.as_str(), sealed.as_slice())?;
        Ok(())
    }

    /// Who asked and for what, as a keyed hash: what was asked holds secrets, some of them easy to guess.
    pub(in crate::scanner) fn request_hash(&self, request: &[u8]) -> String {
        digest::hex(&digest::keyed(self.0.ring.derive("repeated create").as_slice(), request))
    }
}

/// Forgets the sessions of a task that nothing needs any more.
pub(super) fn forget(transaction: &WriteTransaction, id: &TaskId) -> Result<(), StoreError> {
    transaction.open_table(SESSIONS)?.remove(id.as_str())?;
    Ok(())
}

/// Account and task: sessions that were copied to another task do not open there.
fn context(account: &str, id: &TaskId) -> String {
    format!("{account}/{id}")
}

#[cfg(test)]
mod tests {
    use redb::ReadableDatabase as _;

    use super::*;
    use crate::contract::tasks::TaskStatus;
    use crate::platform::clock::Timestamp;
    use crate::scanner::store::tasks::{NewTask, Outcome};

    fn task(account: &str, id: &str) -> TaskRecord {
        serde_json::from_value(serde_json::json!({
            "id": id, "account": account, "project_name": "p", "lang": "JAVA", "artifact": "0".repeat(64), "file_name": "a.jar",
            "origin": {}, "status": "CREATED", "progress": 0, "created_by": "acme", "created_at": 1, "updated_at": 1,
            "executed_at": null, "ended_at": null, "err_code": null, "err_detail": null, "stat": {},
        }))
        .unwrap()
    }

    fn kept(store: &Store, id: &str) -> Option<Vec<u8>> {
        let table = store.0.database.begin_read().unwrap().open_table(SESSIONS).unwrap();
        table.get(id).unwrap().map(|guard| guard.value().to_vec())
    }

    fn with_sessions(store: &Store, id: &str) {
        let new = NewTask { record: task("acme", id), sessions: Some(Zeroizing::new(b"sid=live".to_vec())) };
        store.create_task(id, new).unwrap();
    }

    #[test]
    fn sessions_open_for_their_account_and_task_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), None).unwrap();
        with_sessions(&store, "t1");
        let sealed = kept(&store, "t1").unwrap();
        assert!(!sealed.windows(8).any(|window| window == b"sid=live"));
        let open = |account: &str, id: &str| {
            store.0.ring.open(PURPOSE, &context(account, &id.parse().unwrap()), b"", &sealed).map(|plain| plain.to_vec())
        };
        assert_eq!(open("acme", "t1").unwrap(), b"sid=live");
        assert!(open("globex", "t1").is_err() && open("acme", "t2").is_err());
    }

    #[test]
    fn sessions_go_when_the_task_ends_is_terminated_or_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), None).unwrap();
        for id in ["ends", "terminated", "deleted", "stays"] {
            with_sessions(&store, id);
        }
        let id = |text: &str| text.parse::<TaskId>().unwrap();
        let failed = Outcome::Failed { code: 4000, words: "no archive".to_owned() };
        store.end_task("acme", &id("ends"), failed, Timestamp(2)).unwrap();
        store.terminate_task("acme", &id("terminated"), "acme", Timestamp(2)).unwrap();
        store.delete_tasks("acme", &[id("deleted")]).unwrap();
        store.start_task("acme", &id("stays"), Timestamp(2)).unwrap();
        assert!(["ends", "terminated", "deleted"].iter().all(|id| kept(&store, id).is_none()));
        assert!(kept(&store, "stays").is_some());
    }

    #[test]
    fn a_task_kept_before_groups_and_sessions_were_known_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), None).unwrap();
        let old = task("acme", "old");
        assert_eq!((old.status, old.group_id, old.service_name, old.accounts.len()), (TaskStatus::Created, None, None, 0));
        let mut bare = serde_json::to_value(task("acme", "bare")).unwrap();
        for field in ["group_id", "service_name", "accounts"] {
            bare.as_object_mut().unwrap().remove(field);
        }
        store
            .write(|transaction| {
                let mut tasks = transaction.open_table(super::super::tasks::TASKS)?;
                tasks.insert(("acme", "bare"), bare.to_string().as_bytes())?;
                Ok(())
            })
            .unwrap();
        assert_eq!(store.unfinished_tasks().unwrap().len(), 1);
        assert_eq!(store.unfinished_tasks().unwrap()[0].group_id, None);
        assert_eq!(store.task("acme", &"bare".parse().unwrap()).unwrap().unwrap().project_name, "p");
    }

    #[test]
    fn the_hash_of_a_request_depends_on_the_key_and_outlives_a_restart() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let hash = |folder: &std::path::Path| Store::open(folder, None).unwrap().request_hash(b"pin=1234");
        let first = hash(one.path());
        assert_eq!(first, hash(one.path()));
        assert_ne!(first, hash(other.path()));
        assert_ne!(first, digest::hex(&digest::sha256(b"pin=1234")));
    }
}
