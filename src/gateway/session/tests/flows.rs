//! Begun sign-ins.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::portal::ring;
use crate::gateway::domain::return_to::ReturnTo;
use crate::gateway::session::{Begun, Callback, FlowError, Flows};
use crate::gateway::store::Key;
use crate::gateway::store::tests::bench::{Bench, acme, globex, until};
use crate::gateway::store::tests::on_both;

on_both! {
    a_sign_in_comes_back_once_with_what_it_left
    a_reload_of_the_callback_leads_to_the_target_and_not_to_a_second_sign_in
    of_many_callbacks_at_once_one_goes_on
    any_number_of_tabs_sign_in_side_by_side
    another_browser_gets_nothing_and_takes_nothing_away
    an_unknown_or_late_or_foreign_state_is_refused
    a_late_state_is_refused_even_where_the_store_still_has_it
    every_sign_in_has_its_own_secrets
}

fn flows(bench: &Bench, lifetime: Duration) -> Flows {
    Flows::new(bench.store.clone(), Arc::clone(&ring(&["k1"])), bench.clock.clone(), lifetime)
}

fn target(text: &str) -> ReturnTo {
    ReturnTo::parse(text).unwrap()
}

async fn begin(flows: &Flows, binding: Option<&str>, to: &str) -> Begun {
    flows.begin(&acme(), binding, (target(to), false)).await.unwrap()
}

async fn finish(flows: &Flows, begun: &Begun) -> Callback {
    flows.finish(&acme(), begun.state.expose(), Some(begun.binding.expose())).await.unwrap()
}

async fn a_sign_in_comes_back_once_with_what_it_left(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let begun = begin(&flows, None, "/tasks?q=1").await;
    let Callback::First(flow) = finish(&flows, &begun).await else { panic!("the first callback") };
    assert_eq!(flow.verifier.expose(), begun.verifier.expose());
    assert_eq!(flow.nonce.expose(), begun.nonce.expose());
    assert_eq!(flow.return_to, target("/tasks?q=1"));
}

async fn a_reload_of_the_callback_leads_to_the_target_and_not_to_a_second_sign_in(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let begun = begin(&flows, None, "/tasks").await;
    finish(&flows, &begun).await;
    for _ in 0..2 {
        assert!(matches!(finish(&flows, &begun).await, Callback::Again(to) if to == target("/tasks")));
    }
    let stolen = flows.finish(&acme(), begun.state.expose(), Some(&"x".repeat(43))).await;
    assert_eq!(stolen.err(), Some(FlowError::OtherBrowser));
}

async fn of_many_callbacks_at_once_one_goes_on(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let begun = begin(&flows, None, "/tasks").await;
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let (flows, begun) = (flows.clone(), begun.clone());
        tasks.spawn(async move { matches!(finish(&flows, &begun).await, Callback::First(_)) });
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|first| *first).count(), 1);
}

async fn any_number_of_tabs_sign_in_side_by_side(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let first = begin(&flows, None, "/").await;
    let mut tabs = vec![first.clone()];
    for tab in 1..10 {
        tabs.push(begin(&flows, Some(first.binding.expose()), &format!("/tasks/{tab}")).await);
    }
    tabs.reverse();
    for (place, tab) in tabs.iter().enumerate() {
        assert_eq!(tab.binding.expose(), first.binding.expose());
        let Callback::First(flow) = finish(&flows, tab).await else { panic!("every tab is the first of its own") };
        let expected = if place == 9 { "/".to_owned() } else { format!("/tasks/{}", 9 - place) };
        assert_eq!(flow.return_to.as_str(), expected);
    }
}

async fn another_browser_gets_nothing_and_takes_nothing_away(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let begun = begin(&flows, None, "/tasks").await;
    let other = "y".repeat(43);
    for binding in [None, Some(""), Some("junk"), Some(other.as_str()), Some(begun.state.expose())] {
        let outcome = flows.finish(&acme(), begun.state.expose(), binding).await;
        assert_eq!(outcome.err(), Some(FlowError::OtherBrowser));
    }
    assert!(matches!(finish(&flows, &begun).await, Callback::First(_)));
}

async fn an_unknown_or_late_or_foreign_state_is_refused(bench: Bench) {
    let short = Duration::from_millis(300);
    let flows = flows(&bench, short);
    let begun = begin(&flows, None, "/tasks").await;
    let (state, binding) = (begun.state.expose(), Some(begun.binding.expose()));
    assert_eq!(flows.finish(&globex(), state, binding).await.err(), Some(FlowError::OtherTenant));
    let made_up = format!("acme.{}", "x".repeat(43));
    assert_eq!(flows.finish(&globex(), &made_up, binding).await.err(), Some(FlowError::Unknown));
    let record = bench.store.get(&Key::hashed(&acme(), "flow", state)).await.unwrap().unwrap();
    bench.store.put(&Key::hashed(&globex(), "flow", state), record.value, Some(short)).await.unwrap();
    assert_eq!(flows.finish(&globex(), state, binding).await.err(), Some(FlowError::OtherTenant));
    for junk in ["", "a", "../../x", &"z".repeat(43), &"z".repeat(100_000), "\u{0}"] {
        assert_eq!(flows.finish(&acme(), junk, binding).await.err(), Some(FlowError::Unknown));
    }
    bench.pass(short);
    until("the end of a flow", async || bench.store.get(&Key::hashed(&acme(), "flow", state)).await.unwrap().is_none()).await;
    assert_eq!(flows.finish(&acme(), state, binding).await.err(), Some(FlowError::Unknown));
}

async fn a_late_state_is_refused_even_where_the_store_still_has_it(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let begun = begin(&flows, None, "/tasks").await;
    let key = Key::hashed(&acme(), "flow", begun.state.expose());
    let record = bench.store.get(&key).await.unwrap().unwrap();
    bench.store.put(&key, record.value, None).await.unwrap();
    bench.pass(Duration::from_mins(10));
    let late = flows.finish(&acme(), begun.state.expose(), Some(begun.binding.expose())).await;
    assert_eq!(late.err(), Some(FlowError::Unknown));
}

async fn every_sign_in_has_its_own_secrets(bench: Bench) {
    let flows = flows(&bench, Duration::from_mins(10));
    let (one, two) = (begin(&flows, None, "/").await, begin(&flows, Some("not a binding of ours"), "/").await);
    assert!(one.state.expose().starts_with("acme."), "it names its tenant");
    let all = [&one.state, &one.verifier, &one.nonce, &one.binding, &two.state, &two.verifier, &two.nonce, &two.binding];
    for (place, secret) in all.iter().enumerate() {
        assert_eq!(secret.expose().trim_start_matches("acme.").len(), 43);
        assert!(all.iter().skip(place + 1).all(|other| !other.matches(secret.expose())));
    }
}
