//! What lies in the file or in a dump of Redis when everything has been used: no secret and nobody's address.

use std::time::Duration;

use super::portal::{Site, ring};
use crate::gateway::domain::api_key::{AllowList, Group, Scopes};
use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::session::Flows;
use crate::gateway::store::Key;
use crate::gateway::store::tests::bench::{Bench, acme, globex};
use crate::gateway::store::tests::on_both;
use crate::gateway::vault::tests::parts;
use crate::gateway::vault::{IssuedKeys, NewApiKey, ServerKeys};
use crate::platform::secret::Secret;

on_both! {
    no_secret_and_no_address_is_readable_at_rest
}

const SK: &str = "sk-planted-0123456789";

async fn no_secret_and_no_address_is_readable_at_rest(bench: Bench) {
    let site = Site::open(&bench);
    let mut planted = Vec::new();
    for (tenant, user) in [(acme(), "planted-alice"), (acme(), "planted-bob"), (globex(), "planted-carol")] {
        let answer = site.ask(&tenant, &format!("POST /portal/sign-in/{user}"), None).await;
        let cookie = answer.cookie().unwrap();
        let handle: String = cookie.chars().skip(cookie.len() - 43).collect();
        assert_eq!(site.me(&tenant, &cookie).await, 200);
        planted.extend([user.to_owned(), format!("{user}@mail.example"), handle, answer.body().to_owned()]);
        planted.extend(["access-of-", "refresh-of-", "id-of-"].map(|kind| format!("{kind}{user}")));
        planted.extend([format!("name of {user}"), "https://id.example".to_owned()]);
    }
    let flows = Flows::new(bench.store.clone(), ring(&["k1"]), bench.clock.clone(), Duration::from_mins(10));
    for finished in [true, false] {
        let begun = flows.begin(&acme(), None, (ReturnTo::parse("/planted-target").unwrap(), false)).await.unwrap();
        if finished {
            flows.finish(&acme(), begun.state.expose(), Some(begun.binding.expose())).await.unwrap();
        }
        planted.extend([&begun.state, &begun.verifier, &begun.nonce, &begun.binding].map(|secret| secret.expose().to_owned()));
    }
    planted.push("planted-target".to_owned());
    let keys = parts(&bench);
    let (vault, issued) = (ServerKeys::new(&keys), IssuedKeys::new(&keys));
    vault.add(&acme(), "planted-label".into(), Secret::new(SK), "planted-admin".into()).await.unwrap();
    planted.extend([SK, "planted-label", "planted-admin"].map(str::to_owned));
    let scopes = Scopes::of(&[Group::Read], []);
    let new =
        NewApiKey { label: "planted-program".into(), scopes, networks: AllowList::parse("203.0.113.77", 1).unwrap(), days: 1 };
    let (key, text) = issued.create(&acme(), new, ("planted-maker".to_owned(), "planted-admin".into())).await.unwrap();
    issued.verify(&acme(), &text, "203.0.113.77".parse().unwrap()).await.unwrap();
    issued.flush().await;
    planted.extend([key.id.clone(), "planted-program".to_owned(), "203.0.113.77".to_owned()]);
    planted.extend([text.expose().to_owned(), text.expose()[17..].to_owned()]);
    // Proof that the search would find something.
    bench.store.put(&Key::new(&acme(), "control", "a"), b"planted-control".to_vec(), None).await.unwrap();
    drop((site, flows, vault, issued));
    let bytes = bench.at_rest().await;
    let found = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(found("planted-control") && found("acme"));
    let readable: Vec<&String> = planted.iter().filter(|text| found(text)).collect();
    assert!(readable.is_empty(), "{readable:?}");
}
