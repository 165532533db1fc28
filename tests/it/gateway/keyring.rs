//! Sealing keys come and go while people work: two gateways on one Redis, restarted one after the other; and the commands
//! for those who run them.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::client::Browser;
use crate::support::demo::{Demo, cardea, data_folder};
use crate::support::eventually;
use crate::support::replicas::{Replica, Replicas, SEALING_KEY, Setup};

const NEW_KEY: &str = "[[gateway.keys]]\nid = \"k2\"\nkey = \"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\"\n";

/// Gives a gateway other sealing keys and starts it again.
async fn restart_with(replica: &mut Replica, before: &str, keys: &str) {
    let file = replica.folder().join("cardea.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(before));
    fs::write(&file, text.replace(before, keys)).unwrap();
    replica.finish().await;
    replica.resume().await;
}

fn status(folder: &Path) -> Output {
    cardea().args(["keys", "status", "--config", "cardea.toml"]).current_dir(folder).output().unwrap()
}

/// The line of `keys status` about a key.
fn line(replica: &Replica, id: &str) -> String {
    let output = status(replica.folder());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let start = format!("  {id}: ");
    text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {id} in {text}")).to_owned()
}

async fn all_are_signed_in(replicas: &Replicas, browsers: &mut [Browser]) {
    for (number, browser) in browsers.iter_mut().enumerate() {
        for replica in &replicas.all {
            let page = browser.get(&format!("{}/tasks", replica.url)).await;
            assert_eq!(page.status, 200, "browser {number}: {}", page.text());
        }
    }
}

#[tokio::test]
async fn a_key_is_replaced_on_one_gateway_after_the_other_and_nobody_has_to_sign_in_again() {
    let mut replicas = Replicas::on_redis_with(2, Setup { store: "replica_seconds = 1\n".to_owned(), ..Setup::default() }).await;
    let mut browsers = vec![replicas.signed_in().await, replicas.signed_in().await];
    let both = format!("{NEW_KEY}{SEALING_KEY}");
    assert!(line(&replicas.all[0], "k1").contains("; seals"), "{}", line(&replicas.all[0], "k1"));

    restart_with(&mut replicas.all[0], SEALING_KEY, &both).await;
    all_are_signed_in(&replicas, &mut browsers).await;
    // Signed in at the gateway that has the new key, and at home on the one that has not.
    browsers.push(replicas.signed_in().await);
    all_are_signed_in(&replicas, &mut browsers).await;
    assert!(line(&replicas.all[0], "k2").contains("0 records; seals as soon as"), "{}", line(&replicas.all[0], "k2"));

    restart_with(&mut replicas.all[1], SEALING_KEY, &both).await;
    eventually("the new key to seal", async || line(&replicas.all[0], "k2").contains("; seals").then_some(())).await;
    browsers.push(replicas.signed_in().await);
    eventually("everything that is used to be sealed anew", async || {
        all_are_signed_in(&replicas, &mut browsers).await;
        let old = line(&replicas.all[0], "k1");
        (!old.contains("session ") && !old.contains("tokens ") && !old.contains("(audit ")).then_some(())
    })
    .await;

    for replica in &mut replicas.all {
        restart_with(replica, &both, NEW_KEY).await;
    }
    let codes = replicas.provider.seen().codes;
    all_are_signed_in(&replicas, &mut browsers).await;
    assert_eq!(replicas.provider.seen().codes, codes, "nobody had to sign in again");
    assert!(replicas.logs().contains("key_rotation"), "it is in the audit trail");
    let verify = ["audit", "verify", "--tenant", "acme", "--config", "cardea.toml"];
    let checked = cardea().args(verify).current_dir(replicas.all[0].folder()).output().unwrap();
    let told = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && told.contains("acme: whole, events 1 to"), "without the old key: {checked:?}");
}

#[tokio::test]
async fn trails_are_sealed_anew_as_fast_as_is_set() {
    let mut both = Vec::new();
    for lines in ["resealed_per_minute = 1\n", ""] {
        let extra = format!("[gateway.audit]\n{lines}");
        let setup = Setup { extra, store: "replica_seconds = 1\n".to_owned(), ..Setup::default() };
        let mut replicas = Replicas::embedded_with(setup).await;
        for _ in 0..3 {
            replicas.signed_in().await;
        }
        restart_with(&mut replicas.all[0], SEALING_KEY, &format!("{NEW_KEY}{SEALING_KEY}")).await;
        both.push(replicas);
    }
    eventually("a trail that is sealed anew", async || {
        both[1].logs().contains("of the audit trails are sealed anew").then_some(())
    })
    .await;
    // The slow one had more time for it.
    assert!(!both[0].logs().contains("of the audit trails are sealed anew"));
    for replicas in &mut both {
        replicas.all[0].finish().await;
    }
    let [slow, usual] = [0, 1].map(|place: usize| line(&both[place].all[0], "k1"));
    assert!(slow.contains("(audit 2,") && !usual.contains("(audit "), "{slow}\n{usual}");
}

#[tokio::test]
async fn status_of_an_embedded_store_in_use_says_so_and_counts_when_it_is_free() {
    let mut replicas = Replicas::embedded().await;
    let _browser = replicas.signed_in().await;
    let busy = status(replicas.all[0].folder());
    assert_eq!(busy.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&busy.stderr).contains("in use by another process"), "{busy:?}");
    replicas.all[0].finish().await;
    let line = line(&replicas.all[0], "k1");
    assert!(line.contains("session 1") && line.contains("tokens 1"), "{line}");
}

#[tokio::test]
async fn a_new_key_for_settings_of_ones_own_is_made_once_and_works() {
    let mut replicas = Replicas::embedded().await;
    let mut browser = replicas.signed_in().await;
    let folder = replicas.all[0].folder().to_owned();
    let rotate = || {
        let arguments = ["keys", "rotate", "--config", "cardea.toml", "--key-file", "new.key"];
        cardea().args(arguments).current_dir(&folder).output().unwrap()
    };
    let made = rotate();
    let text = String::from_utf8(made.stdout).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let key = fs::read_to_string(folder.join("new.key")).unwrap();
    assert!(!text.contains(&key), "a key is not printed");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(folder.join("new.key")).unwrap().permissions()) & 0o777,
        0o600
    );
    let again = rotate();
    assert_eq!(again.status.code(), Some(1), "a key is not written over");
    assert_eq!(fs::read_to_string(folder.join("new.key")).unwrap(), key);
    let nowhere = cardea().args(["keys", "rotate", "--config", "cardea.toml"]).current_dir(&folder).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));

    let lines: Vec<&str> = text.lines().skip_while(|line| *line != "[[gateway.keys]]").take(3).collect();
    let both = format!("{}\n{SEALING_KEY}", lines.join("\n"));
    restart_with(&mut replicas.all[0], SEALING_KEY, &both).await;
    assert_eq!(browser.get(&format!("{}/tasks", replicas.all[0].url)).await.status, 200);
}

#[tokio::test]
async fn the_demo_takes_a_new_key_between_two_starts_and_keeps_everybody_signed_in() {
    let folder = data_folder();
    let rotate = |folder: &Path| cardea().args(["keys", "rotate", "--data"]).arg(folder).output().unwrap();
    let demo = Demo::start_in(folder, 0, &[]);
    let port = demo.port();
    let mut alice = Browser::new();
    alice.sign_in(&demo.portal, "alice").await;
    assert_eq!(rotate(demo.data()).status.code(), Some(1), "not while it runs");
    demo.terminate();
    let (_, folder) = demo.ended().await;
    for _ in 0..2 {
        let made = rotate(folder.path());
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    let demo = Demo::start_in(folder, port, &[]);
    let page = alice.get(&format!("{}/tasks", demo.portal)).await;
    assert_eq!(page.status, 200, "{}", page.text());
    demo.terminate();
    let (_, folder) = demo.ended().await;
    let status = cardea().args(["keys", "status", "--data"]).arg(folder.path()).output().unwrap();
    let text = String::from_utf8(status.stdout).unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains("session 1") && lines[1].contains("; seals"), "{text}");
    assert!(lines[3].starts_with("  demo: ") && !lines[3].contains("session "), "{text}");
}
