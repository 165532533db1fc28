//! Drafts on both backends: sealed to tenant, person and draft, changed by one of many at once, over on time.

use std::collections::HashSet;

use super::*;
use crate::contract::ids::Sha256;
use crate::gateway::domain::account::{Account, from_browser};
use crate::gateway::domain::draft::{Artifact, NotedCheck};
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::session::LoginId;
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;

fn actor(tenant: TenantId, subject: &str) -> Actor {
    let principal = Principal {
        tenant,
        issuer: "https://id.example".to_owned(),
        subject: subject.to_owned(),
        name: "Alice".into(),
        email: "".into(),
        role: Role::Member,
    };
    Actor { principal, login: LoginId::new().unwrap(), request_id: "r".to_owned(), network: "192.0.2.0/24".to_owned() }
}

fn drafts(bench: &Bench) -> Drafts {
    let ring = Arc::new(Ring::new([("k".to_owned(), vec![7; 32])]).unwrap());
    let settings =
        Settings { days: 14, started_days: 2, per_person: 3, files: 5, accounts: 5, session_bytes: 1024, poll_memory_ms: 0 };
    Drafts::new(bench.store.clone(), ring, bench.clock.clone(), settings)
}

fn artifact(at: u8) -> Artifact {
    let sha256: Sha256 = format!("{at:064x}").parse().unwrap();
    Artifact { sha256, file_name: "a.jar".into(), service: "".into(), target: None, refused: None }
}

on_both! {
    of_many_changes_to_one_version_one_is_made
    a_draft_belongs_to_one_person_of_one_tenant
    notes_make_no_page_stale
    nothing_of_a_captured_session_is_at_rest
    a_deleted_draft_is_gone_with_its_notes
    a_started_draft_is_started_by_one
}

async fn of_many_changes_to_one_version_one_is_made(bench: Bench) {
    let (drafts, alice) = (drafts(&bench), actor(acme(), "alice"));
    let id = drafts.create(&alice, "Shop".into()).await.unwrap();
    let version = drafts.get(&alice, &id).await.unwrap().version;
    let changes = (0..8).map(|at| {
        let (drafts, alice, id, version) = (drafts.clone(), alice.clone(), id.clone(), version.clone());
        async move {
            drafts
                .change(&alice, (&id, &version), |draft| {
                    draft.artifacts.push(artifact(at));
                    Ok(())
                })
                .await
        }
    });
    let outcomes = futures_util::future::join_all(changes).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    assert!(outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).all(|error| matches!(error, Error::Stale(_))));
    let after = drafts.get(&alice, &id).await.unwrap();
    assert_eq!(after.draft.artifacts.len(), 1);
    let refused = drafts.change(&alice, (&id, &after.version), |draft| {
        draft.artifacts.clear();
        Err::<(), _>(Error::Invalid("no".to_owned()))
    });
    assert!(matches!(refused.await, Err(Error::Invalid(_))));
    assert_eq!(drafts.get(&alice, &id).await.unwrap().draft.artifacts.len(), 1, "what was refused was not written");
}

async fn a_draft_belongs_to_one_person_of_one_tenant(bench: Bench) {
    let drafts = drafts(&bench);
    let (alice, bob, carol) = (actor(acme(), "alice"), actor(acme(), "bob"), actor(globex(), "alice"));
    let id = drafts.create(&alice, "Shop".into()).await.unwrap();
    for other in [&bob, &carol] {
        assert!(matches!(drafts.get(other, &id).await, Err(Error::NoDraft(None))));
        assert!(matches!(drafts.delete(other, &id).await, Err(Error::NoDraft(None))));
        assert!(drafts.list(other).await.unwrap().is_empty());
    }
    // Even a record that was moved under another name does not open.
    let own = bench.store.get(&key(&alice, RECORD, &id)).await.unwrap().unwrap();
    bench.store.put(&key(&bob, RECORD, &id), own.value, None).await.unwrap();
    assert!(matches!(drafts.get(&bob, &id).await, Err(Error::Internal(_))));
    assert_eq!(drafts.list(&alice).await.unwrap().len(), 1);
    let mut ids = HashSet::from([id]);
    for _ in 0..2 {
        assert!(ids.insert(drafts.create(&alice, "".into()).await.unwrap()));
    }
    assert!(matches!(drafts.create(&alice, "".into()).await, Err(Error::Conflict(_))));
    assert_eq!(drafts.list(&alice).await.unwrap().len(), 3);
}

async fn notes_make_no_page_stale(bench: Bench) {
    let (drafts, alice) = (drafts(&bench), actor(acme(), "alice"));
    let id = drafts.create(&alice, "".into()).await.unwrap();
    let held = drafts.get(&alice, &id).await.unwrap();
    let notes = (0..4).map(|at| {
        let check = NotedCheck { id: format!("d{at}"), target: "t".to_owned() };
        let (drafts, alice, draft) = (drafts.clone(), alice.clone(), held.draft.clone());
        async move { drafts.note(&alice, &draft, |notes| notes.check = Some(check.clone())).await }
    });
    assert!(futures_util::future::join_all(notes).await.iter().all(Result::is_ok));
    let after = drafts.get(&alice, &id).await.unwrap();
    assert!(after.notes.check.is_some() && after.version == held.version);
    drafts.settle(&alice, &id, |draft| draft.artifacts.push(artifact(1))).await.unwrap();
    assert_ne!(drafts.get(&alice, &id).await.unwrap().version, held.version);
}

async fn nothing_of_a_captured_session_is_at_rest(bench: Bench) {
    const SECRET: &str = "s3cr3t-of-a-session";
    let (drafts, alice) = (drafts(&bench), actor(acme(), "alice"));
    let id = drafts.create(&alice, "Hidden project".into()).await.unwrap();
    let (captured, holds) = from_browser(&serde_json::json!({"cookies": [{"name": "sid", "value": SECRET}]})).unwrap();
    let account = Account {
        role: "admin".into(),
        url: "https://a.example/".to_owned(),
        captured,
        holds,
        at: bench.clock.now(),
        typed: false,
    };
    drafts.settle(&alice, &id, |draft| draft.accounts.push(account.clone())).await.unwrap();
    let held = drafts.get(&alice, &id).await.unwrap();
    assert_eq!(held.draft.accounts[0].captured.reveal().unwrap().cookies[0]["value"], SECRET);
    assert!(!format!("{held:?}").contains(SECRET), "{held:?}");
    drop(drafts);
    let rest = bench.at_rest().await;
    for text in [SECRET, "Hidden project", "a.example"] {
        assert!(!rest.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
    }
}

async fn a_deleted_draft_is_gone_with_its_notes(bench: Bench) {
    let (drafts, alice) = (drafts(&bench), actor(acme(), "alice"));
    let id = drafts.create(&alice, "".into()).await.unwrap();
    let held = drafts.get(&alice, &id).await.unwrap();
    drafts.note(&alice, &held.draft, |notes| notes.box_id = Some("box".into())).await.unwrap();
    drafts.delete(&alice, &id).await.unwrap();
    assert!(bench.store.get(&key(&alice, NOTES, &id)).await.unwrap().is_none());
    assert!(matches!(drafts.delete(&alice, &id).await, Err(Error::NoDraft(None))));
    assert!(drafts.list(&alice).await.unwrap().is_empty());
    let late = drafts.change(&alice, (&id, &held.version), |_| Ok(())).await;
    assert!(matches!(late, Err(Error::NoDraft(None))), "a form that comes late makes no draft");
    let id = drafts.create(&alice, "".into()).await.unwrap();
    bench.pass(Duration::from_hours(14 * 24));
    until("the end of the draft", async || matches!(drafts.get(&alice, &id).await, Err(Error::NoDraft(None)))).await;
}

async fn a_started_draft_is_started_by_one(bench: Bench) {
    let (drafts, alice) = (drafts(&bench), actor(acme(), "alice"));
    let id = drafts.create(&alice, "".into()).await.unwrap();
    let lease = drafts.begin_start(&alice, &id).await.unwrap().unwrap();
    assert!(drafts.begin_start(&alice, &id).await.unwrap().is_none());
    drafts.end_start(&lease).await;
    assert!(drafts.begin_start(&alice, &id).await.unwrap().is_some());
}
