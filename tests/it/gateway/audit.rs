//! The audit trail from outside: events are in the log and in the store, and whoever changes the store is found out.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use cardea::platform::clock::Clock;
use futures_util::future::join_all;
use serde_json::Value;

use super::operations::value;
use crate::support::client::{Browser, Manners};
use crate::support::demo::cardea;
use crate::support::eventually;
use crate::support::front::Front;
use crate::support::long_way::LongWay;
use crate::support::provider::{Grant, Provider, person};
use crate::support::redis::{RedisServer, free_port};
use crate::support::replicas::{Replica, Replicas, SEALING_KEY, Setup};
use crate::support::service::Service;

/// Runs `cardea audit` with the settings of a gateway.
fn audit(replica: &Replica, arguments: &[&str]) -> Output {
    let mut command = cardea();
    command.arg("audit").args(arguments).args(["--config", "cardea.toml"]).current_dir(replica.folder());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// The trail of a tenant, oldest first. The gateway must not run on an embedded store meanwhile.
pub(crate) fn events(replica: &Replica, tenant: &str) -> Vec<Value> {
    let output = audit(replica, &["list", "--all", "--tenant", tenant, "--last", "1000"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One of each event that this gateway can be brought to write.
async fn one_of_each(replicas: &Replicas) -> Browser {
    let portal = &replicas.all[0].url;
    let member = replicas.signed_in().await;
    replicas.provider.state().on_code = Grant::Say(400, "application/json", r#"{"error":"invalid_grant"}"#.to_owned());
    let refused = Browser::new().open(&format!("{portal}/auth/login")).await;
    assert!(refused.status.is_client_error() || refused.status.is_server_error(), "{}", refused.text());
    replicas.provider.state().on_code = Grant::Good;
    let foreign = Manners { fetch_site: Some("cross-site"), ..Manners::default() };
    assert_eq!(Browser::new().post_as(&format!("{portal}/auth/logout"), &[], &foreign).await.status, 403);
    member
}

fn text_of(output: &Output) -> String {
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

const DEEDS: [&str; 3] = ["sign_in", "sign_in_refused", "cross_site"];

#[tokio::test]
async fn every_event_is_one_line_of_the_log_and_one_record_of_the_trail() {
    let mut replicas = Replicas::embedded().await;
    let browser = one_of_each(&replicas).await;
    replicas.all[0].finish().await;
    let found = events(&replicas.all[0], "acme");
    let deeds: Vec<&str> = found.iter().map(|event| event["deed"].as_str().unwrap()).collect();
    assert_eq!(deeds, DEEDS);
    let log = replicas.all[0].log();
    for (index, event) in found.iter().enumerate() {
        assert_eq!((event["number"].as_u64(), event["tenant"].as_str()), (Some(index as u64 + 1), Some("acme")));
        assert!(event["time"].as_str().unwrap().ends_with('Z'), "{event}");
        assert_eq!((event["network"].as_str(), event["request_id"].as_str().unwrap().len()), (Some("127.0.0.0/24"), 32));
        let request_id = event["request_id"].as_str().unwrap();
        let lines = log.lines().filter(|line| line.contains("cardea::audit") && line.contains(request_id)).count();
        assert_eq!(lines, 1, "{event} in the log: {log}");
    }
    assert!(found[0]["user"].is_string() && found[0]["session"].is_string(), "{}", found[0]);
    let everything = found.iter().map(ToString::to_string).collect::<String>();
    let cookie = browser.cookie("localhost", "cardea").unwrap();
    for secret in
        ["Dora", "dora@acme.example", &cookie].into_iter().chain(replicas.provider.all_tokens().iter().map(|token| &**token))
    {
        assert!(!everything.contains(secret), "{secret}: {everything}");
    }
    assert!(events(&replicas.all[0], "globex").is_empty());
}

/// Every kind of event there is, by the names that are written.
/// What the suites of shares and of administration bring about.
const ELSEWHERE: [&str; 7] =
    ["operator_looked", "policy_changed", "share", "share_guarded", "shares_ended", "task", "user_access"];

fn kinds() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gateway/domain/audit.rs");
    let text = fs::read_to_string(source).unwrap();
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split_once(" => \"")?.1.strip_suffix("\","));
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn every_kind_of_event_is_written_by_a_gateway_that_runs() {
    let extra = "[gateway.audit]\nstrangers_per_minute = 2\n".to_owned();
    let mut replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let (portal, globex) = (replicas.all[0].url.clone(), replicas.all[0].globex.clone());
    let mut leaver = one_of_each(&replicas).await;
    leaver.issue_api_key(&portal, &[]).await;
    leaver.add_server_key(&portal, "main", "sk-of-the-audit-trail").await;
    assert_eq!(leaver.get(&format!("{portal}/admin/audit.json")).await.status, 200);
    // Somebody whom the provider let in without asking who it is.
    replicas.provider.state().remembers = true;
    replicas.provider.state().asked_at = 0;
    let mut known = replicas.signed_in().await;
    let csrf = known.get(&format!("{portal}/tasks/new")).await.hidden("csrf");
    assert_eq!(known.post(&format!("{portal}/admin/api-keys"), &[("csrf", &csrf)]).await.status, 401);
    replicas.provider.state().remembers = false;
    let csrf = leaver.get(&format!("{portal}/tasks/new")).await.hidden("csrf");
    assert_eq!(leaver.post(&format!("{portal}/auth/logout"), &[("csrf", &csrf)]).await.status, 303);

    // Tokens that are over at once are refreshed by the next page, with whatever the provider says of the person by then.
    replicas.provider.state().lifetime = Some(0);
    let mut member = replicas.signed_in().await;
    replicas.provider.state().lifetime = Some(3600);
    replicas.provider.state().person = person("7", "Dora", "member");
    assert_eq!(member.get(&format!("{portal}/tasks")).await.status, 200);

    let cookie = member.cookie("localhost", "cardea").unwrap();
    member.plant("globex.localhost", "cardea", &cookie);
    assert_eq!(member.get(&format!("{globex}/tasks")).await.status, 303);

    // More than strangers may have written down.
    let foreign = Manners { fetch_site: Some("cross-site"), ..Manners::default() };
    for _ in 0..4 {
        assert_eq!(Browser::new().post_as(&format!("{portal}/auth/logout"), &[], &foreign).await.status, 403);
    }

    // Whoever signs in anew ends the session the browser had.
    member.open(&format!("{portal}/auth/login?again=1")).await;

    replicas.all[0].finish().await;
    let settings = replicas.all[0].folder().join("cardea.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let second = SEALING_KEY.replace("k1", "k2").replace("AAAA=", "AAAE=");
    fs::write(&settings, text.replacen(SEALING_KEY, &format!("{second}{SEALING_KEY}"), 1)).unwrap();
    replicas.all[0].resume().await;
    eventually("the new key to seal", async || replicas.all[0].log().contains("key_rotation").then_some(())).await;
    replicas.all[0].finish().await;

    let everything: Vec<Value> = ["acme", "globex"].iter().flat_map(|tenant| events(&replicas.all[0], tenant)).collect();
    let written: BTreeSet<String> = everything.iter().map(|event| event["deed"].as_str().unwrap().to_owned()).collect();
    let elsewhere: BTreeSet<String> = ELSEWHERE.map(str::to_owned).into();
    assert_eq!(written, &kinds() - &elsewhere, "{everything:#?}");
    let checked = audit(&replicas.all[0], &["verify"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text_of(&checked));
}

#[tokio::test]
async fn a_trail_is_checked_while_nothing_else_has_its_file() {
    let mut replicas = Replicas::embedded().await;
    one_of_each(&replicas).await;
    let busy = audit(&replicas.all[0], &["verify"]);
    assert_eq!(busy.status.code(), Some(1), "{}", text(&busy.stdout));
    let words = text(&busy.stderr);
    assert!(words.contains("a gateway is running on gateway.redb") && words.contains("end it first"), "{words}");
    replicas.all[0].finish().await;
    let whole = audit(&replicas.all[0], &["verify"]);
    assert_eq!(text(&whole.stdout), "acme: whole, events 1 to 3\nglobex: nothing is written yet", "{}", text(&whole.stderr));
    assert_eq!(whole.status.code(), Some(0));
    let one = audit(&replicas.all[0], &["verify", "--tenant", "globex"]);
    assert_eq!(text(&one.stdout), "globex: nothing is written yet");
    let nobody = audit(&replicas.all[0], &["verify", "--tenant", "nobody"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(text(&nobody.stderr).contains("no tenant is called \"nobody\"; there are: acme, globex"), "{}", text(&nobody.stderr));
    fs::remove_file(replicas.all[0].folder().join("gateway.redb")).unwrap();
    let none = audit(&replicas.all[0], &["verify"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("there is no store at gateway.redb"), "{}", text(&none.stderr));
    assert!(!replicas.all[0].folder().join("gateway.redb").exists(), "looking makes no store");
}

#[tokio::test]
async fn whoever_changes_takes_out_or_cuts_off_a_record_is_found_out() {
    let replicas = Replicas::on_redis().await;
    one_of_each(&replicas).await;
    let (replica, redis) = (&replicas.all[1], replicas.redis.as_ref().unwrap());
    let verify = || {
        let output = audit(replica, &["verify", "--tenant", "acme"]);
        (output.status.code(), format!("{}{}", text(&output.stdout), text(&output.stderr)))
    };
    let whole = (Some(0), "acme: whole, events 1 to 3".to_owned());
    eventually("three events in the store, read through another gateway's settings", async || (verify() == whole).then_some(()))
        .await;
    let name = |number: u64| format!("cardea:{{acme:{number}}}:audit:r");
    for (number, how) in [(1, "is missing"), (2, "is missing"), (3, "is missing")] {
        let kept = redis.command(&["COPY", &name(number), "aside"]).await;
        assert!(kept.starts_with(":1"), "{kept}");
        redis.command(&["DEL", &name(number)]).await;
        let (code, told) = verify();
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains(&format!("BROKEN at event {number}: it {how}")), "{told}");
        redis.command(&["RENAME", "aside", &name(number)]).await;
        assert_eq!(verify(), whole);
    }
    // A record in the place of another is not the one that was written there.
    redis.command(&["COPY", &name(2), "aside"]).await;
    redis.command(&["COPY", &name(1), &name(2), "REPLACE"]).await;
    let (code, told) = verify();
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("BROKEN at event 2: it does not open"), "{told}");
    redis.command(&["RENAME", "aside", &name(2)]).await;
    assert_eq!(verify(), whole);
}

#[tokio::test]
async fn a_trail_that_cannot_be_reached_is_not_called_whole() {
    let mut replicas = Replicas::on_redis().await;
    one_of_each(&replicas).await;
    replicas.redis.as_mut().unwrap().kill();
    let away = audit(&replicas.all[0], &["verify"]);
    assert_eq!((away.status.code(), text(&away.stdout).as_str()), (Some(1), ""));
    assert!(text(&away.stderr).contains("the audit trail of acme cannot be read"), "{}", text(&away.stderr));
}

#[tokio::test]
async fn the_trail_of_a_demo_is_found_by_its_folder() {
    let demo = crate::support::demo::Demo::start();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    let verify = |folder: &Path| {
        let output = cardea().args(["audit", "verify", "--data"]).arg(folder).output().unwrap();
        (output.status.code(), format!("{}{}", text(&output.stdout), text(&output.stderr)))
    };
    let (code, told) = verify(demo.data());
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("a demo is running on") && told.contains("end it first"), "{told}");
    demo.terminate();
    let (_, folder) = demo.ended().await;
    let (code, told) = verify(folder.path());
    assert_eq!((code, told.as_str()), (Some(0), "acme: whole, events 1 to 1\nglobex: nothing is written yet"));
    let (code, told) = verify(&folder.path().join("nowhere"));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("no demo has run on"), "{told}");
    assert!(!folder.path().join("nowhere").exists(), "looking makes no folder");
}

#[tokio::test]
async fn callbacks_that_strangers_make_up_are_written_down_up_to_a_limit_and_one_of_another_tenant_once() {
    let extra = "[gateway.audit]\nstrangers_per_minute = 5\n".to_owned();
    let mut replicas = Replicas::embedded_with(Setup { extra, ..Setup::default() }).await;
    let (portal, globex) = (replicas.all[0].url.clone(), replicas.all[0].globex.clone());
    let mut browser = Browser::new();
    let callback = super::signin::callback(&portal, &mut browser, "/tasks").await;
    let elsewhere = format!("{globex}{}?{}", callback.path(), callback.query().unwrap());
    let refused = browser.get(&elsewhere).await;
    super::signin::refused(&refused, 400, "not known here");
    for number in 0..30 {
        let state = format!("acme.{}{number:02}", "A".repeat(41));
        let refused = Browser::new().get(&format!("{portal}/auth/callback?code=x&state={state}")).await;
        super::signin::refused(&refused, 400, "not known here");
    }
    assert_eq!(browser.get(callback.as_str()).await.status, 303, "whoever has begun a sign-in still gets in");
    replicas.all[0].finish().await;
    let deeds = |tenant: &str| {
        let all = events(&replicas.all[0], tenant);
        let told = all.iter().map(|event| format!("{} {}", event["deed"].as_str().unwrap(), event["detail"].as_str().unwrap()));
        told.collect::<Vec<_>>()
    };
    assert_eq!(deeds("globex"), ["tenant_mismatch callback"], "one callback is one event");
    let acme = deeds("acme");
    let refused = acme.iter().filter(|told| *told == "sign_in_refused unknown_or_used").count();
    assert!((5..10).contains(&refused), "{acme:#?}");
    assert!(acme.contains(&"sign_in ".to_owned()), "{acme:#?}");
    let counted = acme.iter().filter_map(|told| told.strip_prefix("left_out sign_in_refused ")?.parse::<usize>().ok());
    assert_eq!(refused + counted.sum::<usize>(), 30, "{acme:#?}");
}

#[tokio::test]
async fn a_trail_without_the_note_of_its_end_is_not_whole_and_a_restarted_gateway_goes_on_after_it() {
    let mut replicas = Replicas::on_redis_with(1, Setup::default()).await;
    one_of_each(&replicas).await;
    let verify = |replicas: &Replicas| {
        let output = audit(&replicas.all[0], &["verify", "--tenant", "acme"]);
        (output.status.code(), text_of(&output))
    };
    let whole = (Some(0), "acme: whole, events 1 to 3".to_owned());
    eventually("three events", async || (verify(&replicas) == whole).then_some(())).await;
    replicas.all[0].finish().await;
    let redis = replicas.redis.as_ref().unwrap();
    assert!(redis.command(&["DEL", "cardea:{acme:end}:audit-end:r"]).await.starts_with(":1"));
    let (code, told) = verify(&replicas);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("acme: END UNKNOWN") && told.contains("events 1 to 3 are as they were written"), "{told}");
    redis.command(&["DEL", "cardea:{acme:1}:audit:r"]).await;
    let (code, told) = verify(&replicas);
    assert!(code == Some(1) && told.contains("BROKEN at event 1: it is missing"), "{told}");
    replicas.all[0].resume().await;
    replicas.signed_in().await;
    let listed = eventually("the fourth event", async || {
        let listed = audit(&replicas.all[0], &["list", "--all", "--tenant", "acme"]);
        (text(&listed.stdout).lines().count() == 4).then_some(listed)
    })
    .await;
    assert_eq!(listed.status.code(), Some(1));
    assert!(text(&listed.stderr).contains("events are missing or do not open"), "{}", text(&listed.stderr));
    let listed: Vec<Value> = text(&listed.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&listed[0]["missing"]["first"], &listed[0]["missing"]["last"]), (&Value::from(1), &Value::from(1)), "{listed:?}");
    let numbers: Vec<u64> = listed.iter().filter_map(|event| event["number"].as_u64()).collect();
    assert_eq!(numbers, [2, 3, 4]);
    let (code, told) = verify(&replicas);
    assert!(code == Some(1) && told.contains("BROKEN at event 1: it is missing"), "{told}");
}

#[tokio::test]
async fn a_damaged_file_is_told_in_words_by_every_command_and_by_the_gateway() {
    let mut replicas = Replicas::embedded().await;
    one_of_each(&replicas).await;
    replicas.all[0].finish().await;
    let folder = replicas.all[0].folder().to_owned();
    let (path, whole) = (folder.join("gateway.redb"), fs::read(folder.join("gateway.redb")).unwrap());
    let run =
        |arguments: &[&str]| cardea().args(arguments).args(["--config", "cardea.toml"]).current_dir(&folder).output().unwrap();
    let mut told = 0;
    // The header, and the first byte of pages that are or were in use: it says what the page is.
    let pages = (1..whole.len() / 4096).map(|page| page * 4096).filter(|place| whole[*place] != 0);
    for place in [64, 128, 320].into_iter().chain(pages.take(16)) {
        let mut flipped = whole.clone();
        flipped[place] ^= 1;
        fs::write(&path, &flipped).unwrap();
        for arguments in [&["audit", "verify"][..], &["keys", "status"]] {
            let output = run(arguments);
            let words = text_of(&output);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{place} {arguments:?}: {output:?}");
            assert!(!words.contains("panicked") && !words.contains("unexpectedly"), "{place} {arguments:?}: {words}");
            told += usize::from(words.contains("damaged") && words.contains("restore it from a backup"));
        }
    }
    assert!(told > 0, "none of these places made it unreadable");
    let mut cut = whole.clone();
    cut.truncate(whole.len() / 2);
    fs::write(&path, &cut).unwrap();
    let output = run(&["serve"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text_of(&output).contains("is damaged or is no store of this program"), "{output:?}");
    assert!(!text_of(&output).contains("panicked") && !text_of(&output).contains("unexpectedly"), "{output:?}");
}

#[tokio::test]
async fn a_list_leaves_out_what_anybody_can_cause_unless_it_is_asked_for_and_says_how_much() {
    let mut replicas = Replicas::embedded().await;
    one_of_each(&replicas).await;
    replicas.all[0].finish().await;
    let list = |arguments: &[&str]| {
        let output = audit(&replicas.all[0], &[&["list", "--tenant", "acme"][..], arguments].concat());
        let lines = text(&output.stdout);
        let deeds = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["deed"].as_str().unwrap().to_owned());
        (output.status.code(), deeds.collect::<Vec<_>>(), text(&output.stderr))
    };
    let (code, deeds, words) = list(&[]);
    assert_eq!((code, deeds.as_slice()), (Some(0), &["sign_in".to_owned()][..]), "{words}");
    assert_eq!(
        words,
        "acme: 2 more that anybody can cause are left out of this list (cross_site 1, sign_in_refused 1); --all lists them"
    );
    assert_eq!(list(&["--all"]), (Some(0), DEEDS.map(str::to_owned).to_vec(), String::new()));
    let (code, deeds, words) = list(&["--deed", "cross_site", "--deed", "sign_in_refused"]);
    assert_eq!((code, deeds.as_slice()), (Some(0), &DEEDS.map(str::to_owned)[1..]), "{words}");
    assert!(words.contains("acme: 1 more are left out of this list (sign_in 1)"), "{words}");
    let (code, deeds, words) = list(&["--deed", "nonsense"]);
    assert_eq!((code, deeds.len()), (Some(2), 0));
    assert!(words.contains("no event is called \"nonsense\"; there are: sign_in, sign_in_refused"), "{words}");
    let none = audit(&replicas.all[0], &["list", "--tenant", "globex"]);
    assert_eq!((none.status.code(), none.stdout.as_slice()), (Some(0), &b""[..]));
    assert_eq!(text(&none.stderr), "globex: there are no events");
}

#[tokio::test]
async fn a_trail_that_was_wiped_is_not_called_empty_and_an_empty_file_is_left_as_it_is() {
    let mut replicas = Replicas::embedded().await;
    one_of_each(&replicas).await;
    replicas.all[0].finish().await;
    let path = replicas.all[0].folder().join("gateway.redb");
    fs::write(&path, b"").unwrap();
    for command in [&["audit", "verify"][..], &["audit", "list"], &["keys", "status"]] {
        let output =
            cardea().args(command).args(["--config", "cardea.toml"]).current_dir(replicas.all[0].folder()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(text_of(&output).contains("gateway.redb is empty, and no store"), "{}", text_of(&output));
        assert_eq!(fs::metadata(&path).unwrap().len(), 0, "looking makes no store of it");
    }

    let replicas = Replicas::on_redis_with(1, Setup::default()).await;
    let redis = replicas.redis.as_ref().unwrap();
    let verify = || {
        let output = audit(&replicas.all[0], &["verify"]);
        (output.status.code(), text_of(&output))
    };
    let new = (Some(0), "acme: nothing is written yet\nglobex: nothing is written yet".to_owned());
    assert_eq!(verify(), new, "server keys are in the store, and nobody has signed in");
    one_of_each(&replicas).await;
    let whole = (Some(0), "acme: whole, events 1 to 3\nglobex: nothing is written yet".to_owned());
    eventually("three events", async || (verify() == whole).then_some(())).await;
    redis.command(&["SET", "cardea:{acme:end}:audit-end:r", "12345678{\"number\":4,\"hash\":\"\",\"at\":0}"]).await;
    let (code, told) = verify();
    assert!(code == Some(1) && told.contains("acme: END UNKNOWN") && told.contains("events 1 to 3 are as"), "{told}");
    for name in ["{acme:1}:audit:r", "{acme:2}:audit:r", "{acme:3}:audit:r", "{acme:end}:audit-end:r"] {
        redis.command(&["DEL", &format!("cardea:{name}")]).await;
    }
    let (code, told) = verify();
    assert!(code == Some(1) && told.contains("acme: NO TRAIL") && told.contains("globex: nothing is written yet"), "{told}");
}

/// With these lines of `[gateway.audit]`.
fn with(lines: &str) -> Setup {
    Setup { extra: format!("[gateway.audit]\n{lines}"), ..Setup::default() }
}

/// Events of the log as they are exported, newest first.
async fn exported(browser: &mut Browser, portal: &str, query: &str) -> Vec<Value> {
    let file = browser.get(&format!("{portal}/admin/audit.json{query}")).await;
    assert_eq!(file.status, 200, "{}", file.text());
    let log: Value = serde_json::from_slice(&file.bytes).unwrap();
    log["events"].as_array().unwrap().clone()
}

/// Begins changes from another site, each of which is refused and an event that anybody can cause.
async fn strangers_try(portal: &str, times: usize) {
    let foreign = Manners { fetch_site: Some("cross-site"), ..Manners::default() };
    let mut stranger = Browser::new();
    for _ in 0..times {
        assert_eq!(stranger.post_as(&format!("{portal}/auth/logout"), &[], &foreign).await.status, 403);
    }
}

/// Asks for three files at the same time, while the store takes its time; how many were made.
async fn files_at_once(lines: &str) -> usize {
    let redis = RedisServer::start().await;
    let way = LongWay::to(redis.port).await;
    let at = RedisServer::elsewhere(format!("redis://127.0.0.1:{}", way.port));
    let replicas = Replicas::at_redis(at, 1, with(lines)).await;
    let dora = replicas.signed_in().await;
    let file = async |form: &str| {
        let url = format!("{}/admin/audit.{form}", replicas.all[0].url);
        dora.clone().get(&url).await
    };
    way.takes(Duration::from_millis(200));
    let answers = join_all(["csv", "json", "csv"].map(&file)).await;
    way.takes(Duration::ZERO);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "10"), "{}", refused.text());
    }
    assert_eq!(file("csv").await.status, 200, "those that were made have ended");
    answers.iter().filter(|answer| answer.status == 200).count()
}

#[tokio::test]
async fn as_many_files_of_the_log_are_made_at_once_as_is_set_and_who_comes_next_waits() {
    assert_eq!(files_at_once("files_at_once = 1\n").await, 1);
    assert_eq!(files_at_once("").await, 2);
}

/// With a clock that the test moves.
#[tokio::test]
async fn records_stay_for_as_many_days_as_is_set() {
    for (lines, kept) in [("days = 2\n", 1), ("", 2)] {
        let provider = Provider::start().await;
        let service = Service::start(&provider).await;
        let clock = Clock::manual(Clock::system().now());
        let extra = format!("[gateway.audit]\n{lines}");
        let front = Front::at(clock.clone(), (&service.base, &provider.issuer), &extra).await;
        let sign_ins_with_this_one = async || {
            let mut dora = Browser::new();
            assert_eq!(dora.sign_in_at(&front.base).await.status, 200);
            let now = clock.now().rfc3339_millis();
            eventually("the sign-in in the log", async || {
                let all = exported(&mut dora, &front.base, "?act=sign_in").await;
                all.first().is_some_and(|newest| newest["time"] == *now).then_some(all.len())
            })
            .await
        };
        assert_eq!(sign_ins_with_this_one().await, 1);
        clock.advance(Duration::from_hours(47));
        assert_eq!(sign_ins_with_this_one().await, 2, "{lines}");
        clock.advance(Duration::from_hours(2));
        assert_eq!(sign_ins_with_this_one().await, kept + 1, "{lines}");
    }
}

#[tokio::test]
async fn as_many_events_wait_for_a_store_that_is_away_as_is_set() {
    for (lines, left_out, waiting) in [("waiting = 4\n", 5.0, 2), ("", 0.0, 7)] {
        let port = free_port();
        let lines = format!("{lines}[gateway.operations]\nlisten = \"127.0.0.1:{port}\"\n");
        let mut replicas = Replicas::on_redis_with(1, with(&lines)).await;
        replicas.redis.as_mut().unwrap().kill();
        strangers_try(&replicas.all[0].url, 8).await;
        let operators = async |path: &str| Browser::new().get(&format!("http://127.0.0.1:{port}{path}")).await.text();
        // One is being written; strangers' have half of the room.
        eventually("those that wait", async || {
            let told: Value = serde_json::from_str(&operators("/readyz").await).unwrap();
            (told["audit_waiting"] == waiting).then_some(())
        })
        .await;
        let metrics = operators("/metrics").await;
        assert_eq!(value(&metrics, "cardea_audit_left_out_total"), Some(left_out), "{metrics}");
    }
}

#[tokio::test]
async fn strangers_have_as_many_events_a_day_as_is_set() {
    for (lines, written, left_out) in [("strangers_per_day = 3\n", 3, Some("cross_site 2")), ("", 5, None)] {
        let mut replicas = Replicas::embedded_with(with(lines)).await;
        strangers_try(&replicas.all[0].url, 5).await;
        replicas.all[0].finish().await;
        let all = events(&replicas.all[0], "acme");
        let of = |deed: &'static str| all.iter().filter(move |event| event["deed"] == deed);
        assert_eq!((of("cross_site").count(), of("left_out").count()), (written, usize::from(left_out.is_some())), "{all:#?}");
        assert_eq!(of("left_out").next().and_then(|event| event["detail"].as_str()), left_out);
    }
}

#[tokio::test]
async fn a_page_of_the_log_shows_and_looks_through_as_much_as_is_set() {
    for (lines, shown, is_found) in [("page_events = 3\nlooked_through = 100\n", 3, false), ("", 50, true)] {
        let replicas = Replicas::embedded_with(with(&format!("strangers_per_minute = 1000\n{lines}"))).await;
        let portal = &replicas.all[0].url;
        let mut dora = replicas.signed_in().await;
        strangers_try(portal, 120).await;
        eventually("all events", async || (exported(&mut dora, portal, "?act=cross_site").await.len() == 120).then_some(()))
            .await;
        let page = dora.get(&format!("{portal}/admin/audit?act=cross_site")).await;
        assert_eq!(page.text().matches("<code class=\"small\">").count(), shown, "{}", page.text());
        // The sign-in is older than all of them.
        let page = dora.get(&format!("{portal}/admin/audit?act=sign_in")).await;
        let text = page.text();
        assert_eq!(text.contains("<code class=\"small\">"), is_found, "{text}");
        assert_eq!(text.contains("Looked through 100 events"), !is_found, "{text}");
    }
}
