//! `cardea users`: who the people of a company are, and letting somebody in again where no administrator could.

use std::process::{Command, Output};

use serde_json::Value;

use crate::support::client::Browser;
use crate::support::eventually;
use crate::support::provider::person;
use crate::support::replicas::{Replica, Replicas};

fn users(replica: &Replica, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardea"));
    command.arg("users").args(arguments).args(["--config", "cardea.toml"]).current_dir(replica.folder());
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn listed(replica: &Replica) -> Vec<Value> {
    let output = users(replica, &["list", "--tenant", "acme"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_locked_out_is_let_in_from_outside_while_gateways_run_and_the_trail_tells() {
    let replicas = Replicas::on_redis().await;
    let (here, there) = (&replicas.all[0].url, &replicas.all[1].url);
    replicas.signed_in_as(here, "8", "Bob", "administrator").await;
    let mut dora = replicas.signed_in_as(here, "7", "Dora", "administrator").await;
    let page = dora.get(&format!("{here}/admin/users?q=bob")).await;
    let page = dora.get(&page.link("href", "/admin/users/")).await;
    let (csrf, off) = (page.hidden("csrf"), page.link("action", "/disable"));
    assert_eq!(dora.post(&off, &[("csrf", &csrf), ("reason", "by mistake")]).await.status, 303);
    replicas.provider.state().person = person("8", "Bob", "administrator");
    assert_eq!(Browser::new().sign_in_at(there).await.status, 403);

    let people = listed(&replicas.all[1]);
    let names: Vec<&str> = people.iter().map(|person| person["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Bob", "Dora"]);
    assert_eq!((&people[0]["disabled"]["by"], &people[0]["disabled"]["reason"]), (&"Dora".into(), &"by mistake".into()));
    assert!(people[1]["disabled"].is_null() && people[1]["role"] == "administrator", "{}", people[1]);

    let nobody = users(&replicas.all[0], &["enable", "nobody@acme.example", "--tenant", "acme"]);
    assert!(nobody.status.code() == Some(1) && text(&nobody).contains("nobody of acme is known by"), "{}", text(&nobody));
    let foreign = users(&replicas.all[0], &["enable", "bob@acme.example", "--tenant", "globex"]);
    assert_eq!(foreign.status.code(), Some(1), "{}", text(&foreign));
    let unknown = users(&replicas.all[0], &["enable", "bob@acme.example", "--tenant", "nowhere"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown));

    let enabled = users(&replicas.all[0], &["enable", "bob@acme.example", "--tenant", "acme"]);
    assert!(enabled.status.code() == Some(0) && text(&enabled).contains("can sign in again"), "{}", text(&enabled));
    let mut back = Browser::new();
    assert_eq!(back.sign_in_at(there).await.status, 200);
    assert_eq!(back.session(here, "").await.status, 200);
    let mark = people[0]["user"].as_str().unwrap();
    eventually("the line of the trail", async || {
        let log = dora.get(&format!("{here}/admin/audit?act=user_access&object={mark}")).await.text();
        log.contains("User access: enabled by command").then_some(())
    })
    .await;
    let again = users(&replicas.all[0], &["enable", mark, "--tenant", "acme"]);
    assert!(again.status.code() == Some(0) && text(&again).contains("was not disabled"), "{}", text(&again));
    assert_eq!(dora.get(&format!("{here}/admin/users")).await.status, 200, "nothing else of the running gateways was touched");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedded_store_has_to_be_free_for_it() {
    let mut replicas = Replicas::embedded().await;
    replicas.signed_in_as(&replicas.all[0].url, "7", "Dora", "administrator").await;
    let busy = users(&replicas.all[0], &["list"]);
    assert!(busy.status.code() == Some(1) && text(&busy).contains("a gateway is running"), "{}", text(&busy));
    replicas.all[0].finish().await;
    assert_eq!(listed(&replicas.all[0])[0]["name"], "Dora");
}
