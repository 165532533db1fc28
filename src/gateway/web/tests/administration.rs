//! Administration: policy, users, shares of all, the overview, and what those who run the platform see.

use super::bench::{Answer, Bench, Browser, Site, XSS, alice, signed_in};
use crate::config::gateway::Subject;
use crate::gateway::domain::principal::Principal;
use crate::gateway::domain::role::Role;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::until;

/// Sends the policy form of a page as a browser would, with some fields changed; `None` unticks one.
pub(super) async fn save(browser: &mut Browser, portal: &Site, page: &Answer, changes: &[(&str, Option<&str>)]) -> Answer {
    let form = page.body.split("action=\"/admin/policy\"").nth(1).unwrap().split("</form>").next().unwrap();
    let attribute = |tag: &str, name: &str| {
        let value = tag.split(&format!(" {name}=\"")).nth(1).map(|rest| rest.split('"').next().unwrap());
        value.map(|value| value.replace("&#38;", "&").replace("&#60;", "<").replace("&#62;", ">"))
    };
    let mut fields: Vec<(String, String)> = Vec::new();
    for tag in form.split("<input").skip(1).map(|tag| tag.split('>').next().unwrap()) {
        let name = attribute(tag, "name").unwrap();
        let ticked = !tag.contains("checkbox") || tag.contains(" checked");
        if ticked && !changes.iter().any(|(changed, _)| *changed == name) {
            fields.push((name, attribute(tag, "value").unwrap_or_else(|| "on".to_owned())));
        }
    }
    fields.extend(changes.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.to_owned()))));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(portal, "/admin/policy", &fields).await
}

/// Somebody who has signed in for real, as far as the list of users goes.
pub(super) async fn entered(bench: &Bench, tenant: &str, name: &str, role: Role) -> String {
    let who = Principal {
        tenant: TenantId::parse(tenant).unwrap(),
        issuer: "https://id.example".to_owned(),
        subject: name.to_owned(),
        name: name.into(),
        email: format!("{name}@example.com").into(),
        role,
    };
    assert!(bench.services.administration.users.enter(&who).await.unwrap());
    who.key()
}

#[actix_web::test]
async fn members_get_nothing_of_it() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut bob, csrf) = signed_in(&portal, "acme.example", "bob", "member").await;
    let user = entered(&bench, "acme", "alice", Role::Administrator).await;
    for page in ["", "/users", &format!("/users/{user}"), "/policy", "/shares", "/shares/end?maker=x"] {
        assert_eq!(bob.get(&portal, &format!("/admin{page}")).await.status, 403, "{page}");
    }
    for form in ["/policy", &format!("/users/{user}/disable"), &format!("/users/{user}/enable"), "/shares/end"] {
        let fields = [("csrf", csrf.as_str()), ("version", "0"), ("reason", "x"), ("maker", "x")];
        assert_eq!(bob.post(&portal, &format!("/admin{form}"), &fields).await.status, 403, "{form}");
    }
    assert_eq!(bob.get(&portal, "/operator").await.status, 404);
}

#[actix_web::test]
async fn a_policy_is_saved_whole_holds_at_once_and_is_written_down() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let page = alice.get(&portal, "/admin/policy").await;
    page.is_clean();
    assert!(page.body.contains("Nothing was saved yet") && page.body.contains("acme &#38; Sons"), "{}", page.body);
    let unchanged = save(&mut alice, &portal, &page, &[]).await;
    assert_eq!(unchanged.status, 303);
    assert!(alice.get(&portal, "/admin/policy").await.body.contains("Nothing was saved yet"));

    let changes = [
        ("most_days", Some("30")),
        ("without_code", None),
        ("name", Some("Acme <b>West</b>")),
        ("accent", Some("#C00000")),
        ("sessions_per_user", Some("2")),
    ];
    let before = alice.get(&portal, "/s/any").await;
    let saved = save(&mut alice, &portal, &page, &changes).await;
    assert_eq!((saved.status.as_u16(), saved.header("location").as_str()), (303, "/admin/policy"), "{}", saved.body);
    let page = alice.get(&portal, "/admin/policy").await;
    page.is_clean();
    for words in ["Version 1, saved by alice", "90 → 30", "yes → no", "Acme &#60;b&#62;West&#60;/b&#62; security portal"] {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    assert!(!page.body.contains("<b>West"));
    let after = alice.get(&portal, "/s/any").await;
    assert!(before.body != after.body && after.body.contains("Acme &#60;b&#62;West"), "{}", after.body);
    let theme = after.body.split("href=\"/assets/theme.").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let theme = alice.get(&portal, &format!("/assets/theme.{theme}")).await;
    assert!(theme.status == 200 && theme.body.contains("--brand:#c00000"), "{}", theme.body);
    assert!(alice.get(&portal, "/account/sessions").await.body.contains("You can have 2 sessions at once"));
    let mut carol = Browser::new("globex.example");
    assert!(carol.get(&portal, "/s/any").await.body.contains("globex &#38; Sons"), "another tenant's stays");

    let wanted = "version 1: without_code yes -> no; most_days 90 -> 30; name changed; accent #0b5c57 -> #c00000; \
                  sessions_per_user 20 -> 2";
    until("the audit trail", async || bench.written("policy_changed").await == [wanted]).await;
    let old = alice.post(&portal, "/admin/policy", &[("csrf", &csrf), ("name", "x")]).await;
    assert_eq!(old.status, 400, "a form without its version");
    assert_eq!(save(&mut alice, &portal, &page, &[("csrf", Some("forged"))]).await.status, 403);
}

#[actix_web::test]
async fn a_policy_with_faults_is_shown_with_all_of_them_and_nothing_is_saved() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    let page = alice.get(&portal, "/admin/policy").await;
    let changes = [("most_days", Some("0")), ("sessions_per_user", Some("1000")), ("name", Some(XSS)), ("usual_days", Some("5"))];
    let refused = save(&mut alice, &portal, &page, &changes).await;
    refused.is_clean();
    assert_eq!(refused.status, 422);
    for rule in ["most_days", "sessions_per_user", "name"] {
        assert!(
            refused.body.contains(&format!("href=\"#{rule}\"")) && refused.body.contains(&format!("id=\"{rule}-error\"")),
            "{rule}"
        );
    }
    assert_eq!(refused.body.matches("aria-invalid").count(), 3);
    assert!(refused.body.contains("name=\"usual_days\" value=\"5\""), "what was typed stays: {}", refused.body);
    assert!(alice.get(&portal, "/admin/policy").await.body.contains("Nothing was saved yet"));
    // What the page has now is a form that can be mended and sent.
    let mended = [("most_days", Some("9")), ("sessions_per_user", Some("3")), ("name", Some("Acme"))];
    assert_eq!(save(&mut alice, &portal, &refused, &mended).await.status, 303);
}

#[actix_web::test]
async fn the_second_of_two_administrators_is_told_and_loses_nothing_they_typed() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    let (mut dora, _) = signed_in(&portal, "acme.example", "dora", "admin").await;
    let (first, second) = (alice.get(&portal, "/admin/policy").await, dora.get(&portal, "/admin/policy").await);
    assert_eq!(save(&mut alice, &portal, &first, &[("most_days", Some("30"))]).await.status, 303);
    let late = save(&mut dora, &portal, &second, &[("kept_days", Some("10"))]).await;
    late.is_clean();
    assert_eq!(late.status, 409, "{}", late.body);
    assert!(late.body.contains("name=\"kept_days\" value=\"10\"") && late.body.contains("name=\"most_days\" value=\"90\""));
    assert!(late.body.contains("Version 1 is by alice") && late.body.contains("What differs"), "{}", late.body);
    let now = alice.get(&portal, "/admin/policy").await;
    assert!(now.body.contains("name=\"most_days\" value=\"30\"") && now.body.contains("name=\"kept_days\" value=\"180\""));
    let again = save(&mut dora, &portal, &late, &[]).await;
    assert_eq!(again.status, 303, "{}", again.body);
    let now = alice.get(&portal, "/admin/policy").await;
    assert!(now.body.contains("Version 2, saved by dora") && now.body.contains("name=\"kept_days\" value=\"10\""));
}

#[actix_web::test]
async fn users_are_found_disabled_and_enabled() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let own = entered(&bench, "acme", "alice", Role::Administrator).await;
    let (mut bob, _) = signed_in(&portal, "acme.example", "bob", "member").await;
    let user = entered(&bench, "acme", "bob", Role::Member).await;
    entered(&bench, "acme", XSS, Role::Member).await;
    let carol = entered(&bench, "globex", "carol", Role::Member).await;
    let list = alice.get(&portal, "/admin/users").await;
    list.is_clean();
    assert!(
        list.body.contains("3 people") && list.body.contains("bob@example.com") && !list.body.contains("carol"),
        "{}",
        list.body
    );
    let found = alice.get(&portal, "/admin/users?q=BOB&show=members").await;
    assert!(found.body.contains("1 person") && found.body.contains(&format!("/admin/users/{user}")), "{}", found.body);
    assert!(alice.get(&portal, "/admin/users?show=administrators").await.body.contains("1 person"));
    assert!(alice.get(&portal, "/admin/users?q=nobody").await.body.contains("Nobody fits"));

    let (show, off, on) =
        (format!("/admin/users/{user}"), format!("/admin/users/{user}/disable"), format!("/admin/users/{user}/enable"));
    let page = alice.get(&portal, &show).await;
    page.is_clean();
    assert!(page.body.contains("1 session now") && page.body.contains("Disable this person"), "{}", page.body);
    let refused = alice.post(&portal, &off, &[("csrf", &csrf), ("reason", " ")]).await;
    assert!(refused.status == 422 && refused.body.contains("reason-error"), "{}", refused.body);
    assert_eq!(alice.post(&portal, &off, &[("csrf", "forged"), ("reason", "x")]).await.status, 403);
    assert_eq!(bob.get(&portal, "/shares").await.status, 200, "nothing happened yet");
    let done = alice.post(&portal, &off, &[("csrf", &csrf), ("reason", XSS)]).await;
    assert_eq!((done.status.as_u16(), done.header("location")), (303, show.clone()));
    let page = alice.get(&portal, &show).await;
    page.is_clean();
    assert!(
        page.body.contains("Disabled") && page.body.contains("by alice") && page.body.contains("0 sessions now"),
        "{}",
        page.body
    );
    let told = bob.get(&portal, "/shares").await;
    assert!(told.status == 401 && told.body.contains("has disabled your account in this portal"), "{}", told.body);
    // A sign-in that was under way when it happened begins no session either.
    let mut late = Browser::new("acme.example");
    late.get(&portal, "/test/sign-in/bob/member").await;
    assert_eq!(late.get(&portal, "/shares").await.status, 303, "to the sign-in");
    assert!(alice.get(&portal, "/admin/users?show=disabled").await.body.contains("1 person"));

    assert_eq!(alice.post(&portal, &on, &[("csrf", &csrf)]).await.status, 303);
    let mut back = Browser::new("acme.example");
    back.get(&portal, "/test/sign-in/bob/member").await;
    assert_eq!(back.get(&portal, "/shares").await.status, 200);
    for (address, status) in [(format!("/admin/users/{carol}"), 404), (format!("/admin/users/{own}/disable"), 303)] {
        assert_eq!(alice.get(&portal, &address).await.status, status, "{address}");
    }
    for foreign in [&carol, &"0".repeat(64)] {
        let form = format!("/admin/users/{foreign}/disable");
        assert_eq!(alice.post(&portal, &form, &[("csrf", &csrf), ("reason", "x")]).await.status, 404);
    }
    let own = alice.post(&portal, &format!("/admin/users/{own}/disable"), &[("csrf", &csrf), ("reason", "x")]).await;
    assert!(own.status == 409 && own.body.contains("You cannot disable yourself"), "{}", own.body);
    let wanted = [format!("disabled {user}"), format!("enabled {user}")];
    until("the audit trail", async || bench.written("user_access").await == wanted).await;
}

#[actix_web::test]
async fn a_grant_that_a_policy_made_void_does_not_come_back_with_the_policy_before() {
    let bench = Bench::new();
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    let mut visitor = Browser::new("acme.example");
    visitor.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await;
    assert_eq!(visitor.get(&portal, "/s/coded/view").await.status, 200);
    // The share shows evidence.
    for evidence in [None, Some("yes")] {
        let page = alice.get(&portal, "/admin/policy").await;
        assert_eq!(save(&mut alice, &portal, &page, &[("evidence", evidence)]).await.status, 303, "{evidence:?}");
        assert_eq!(visitor.get(&portal, "/s/coded/view").await.status, 303, "{evidence:?}");
    }
}

#[actix_web::test]
async fn shares_that_the_policy_does_not_allow_are_named_and_those_of_a_person_end() {
    let bench = Bench::new();
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    bench.share("open", "VUL", None).await;
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    let fitting = alice.get(&portal, "/admin/shares").await;
    fitting.is_clean();
    assert!(fitting.body.contains("2 shares") && !fitting.body.contains("Does not fit"), "{}", fitting.body);
    assert!(!fitting.body.contains("coded") && !fitting.body.contains("/s/"), "no id that opens something");
    let mut visitor = Browser::new("acme.example");
    assert_eq!(visitor.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await.status, 303);
    assert_eq!(visitor.get(&portal, "/s/coded/view").await.status, 200);

    let page = alice.get(&portal, "/admin/policy").await;
    save(&mut alice, &portal, &page, &[("without_code", None), ("evidence", None)]).await;
    assert_ne!(visitor.get(&portal, "/s/coded/view").await.status, 200, "a policy that concerns a share ends its grants");
    let list = alice.get(&portal, "/admin/shares?show=breaches").await;
    assert!(
        list.body.contains("2 shares are not as the policy says now") && list.body.contains("needs no code"),
        "{}",
        list.body
    );
    assert!(alice.get(&portal, "/admin").await.body.contains("are not as the policy says now"));

    let maker = list.body.split("/admin/shares/end?maker=").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let asks = alice.get(&portal, &format!("/admin/shares/end?maker={maker}")).await;
    asks.is_clean();
    assert!(asks.body.contains("End 2 shares"), "{}", asks.body);
    assert_eq!(alice.get(&portal, "/admin/shares/end?maker=nobody").await.status, 404);
    bench.fake.lock().unwrap().broken = Some(503);
    let done = alice.post(&portal, "/admin/shares/end", &[("csrf", &csrf), ("maker", &maker)]).await;
    assert_eq!(done.status, 303, "the service is down, and the doors are closed all the same");
    bench.fake.lock().unwrap().broken = None;
    let after = alice.get(&portal, "/admin/shares").await;
    assert!(after.body.contains("could not be told of all") && after.body.contains("Ended"), "{}", after.body);
    assert_ne!(visitor.post(&portal, "/s/coded", &[("code", "ABCDEFGH")]).await.status, 303);
    assert!(after.body.contains("was not told of the end of 2") && after.body.contains("Tell the service"), "{}", after.body);
    assert_eq!(bench.fake.lock().unwrap().shares.len(), 2);
    // Done again, the service is told; of one that it has lost meanwhile as well.
    bench.fake.lock().unwrap().shares.remove("open");
    let asks = alice.get(&portal, &format!("/admin/shares/end?maker={maker}")).await;
    asks.is_clean();
    assert!(asks.body.contains("Tell it again"), "{}", asks.body);
    assert_eq!(alice.post(&portal, "/admin/shares/end", &[("csrf", &csrf), ("maker", &maker)]).await.status, 303);
    assert!(bench.fake.lock().unwrap().shares.is_empty());
    let after = alice.get(&portal, "/admin/shares").await;
    assert!(!after.body.contains("was not told") && !after.body.contains("/admin/shares/end"), "{}", after.body);
    let twice = [format!("ended_2 {maker}"), format!("ended_2 {maker}")];
    until("the audit trail", async || bench.written("shares_ended").await == twice).await;
    let each = bench.written("share").await;
    assert_eq!(each.iter().filter(|what| what.starts_with("ended_here ")).count(), 2, "{each:?}");
    assert_eq!(each.iter().filter(|what| what.starts_with("ended ")).count(), 2, "{each:?}");
}

#[actix_web::test]
async fn the_overview_tells_what_answers_and_what_was_done() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, csrf) = alice(&portal).await;
    entered(&bench, "acme", "alice", Role::Administrator).await;
    let page = alice.get(&portal, "/admin/policy").await;
    save(&mut alice, &portal, &page, &[("most_days", Some("30"))]).await;
    // The trail is written behind, the event first and then where it ends.
    let mut page = alice.get(&portal, "/admin").await;
    for _ in 0..1000 {
        if page.body.contains("changed the policy") {
            break;
        }
        actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
        page = alice.get(&portal, "/admin").await;
    }
    page.is_clean();
    for words in
        ["Answers", "Away", "no connection", "No server key is active", "No API key ends within 30 days", "None is locked"]
    {
        assert!(page.body.contains(words), "{words}: {}", page.body);
    }
    assert!(
        page.body.contains("changed the policy, version 1: most_days 90 -&#62; 30") && page.body.contains(">alice<"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("href=\"/operator\""));
    let as_nobody = |(_, path, bearer, _): &&(String, String, String, String)| path.is_empty() && bearer.is_empty();
    assert_eq!(bench.fake.lock().unwrap().asked.iter().filter(as_nobody).count(), 1);
    let asked = bench.fake.lock().unwrap().asked.len();
    for _ in 0..5 {
        alice.get(&portal, "/admin").await;
    }
    assert_eq!(bench.fake.lock().unwrap().asked.len(), asked, "asked once for all who look");
    let key = [
        ("csrf", csrf.as_str()),
        ("label", XSS_LABEL),
        ("group", "read"),
        ("days", "20"),
        ("networks", ""),
        ("once", "a-form-of-its-own-1"),
    ];
    let made = alice.post(&portal, "/admin/api-keys", &key).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let page = alice.get(&portal, "/admin").await;
    page.is_clean();
    assert!(
        page.body.contains("API keys that end within 30 days") && page.body.contains("&#60;i&#62;build&#60;/i&#62;"),
        "{}",
        page.body
    );
}

#[actix_web::test]
async fn the_log_names_people_long_after_their_sessions_are_over() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    entered(&bench, "acme", "alice", Role::Administrator).await;
    let page = alice.get(&portal, "/admin/policy").await;
    save(&mut alice, &portal, &page, &[("most_days", Some("30"))]).await;
    bench.clock.advance(std::time::Duration::from_hours(30));
    let (mut dora, _) = signed_in(&portal, "acme.example", "dora", "admin").await;
    for path in ["/admin/audit?act=policy_changed", "/admin/audit.json?act=policy_changed"] {
        let mut told = dora.get(&portal, path).await;
        let names = |body: &str| body.contains("most days") || body.contains("most_days");
        for _ in 0..1000 {
            if names(&told.body) {
                break;
            }
            actix_web::rt::time::sleep(std::time::Duration::from_millis(5)).await;
            told = dora.get(&portal, path).await;
        }
        assert!(names(&told.body) && told.body.contains("alice"), "{path}: {}", told.body);
    }
}

const XSS_LABEL: &str = "<i>build</i>";

#[actix_web::test]
async fn a_service_in_trouble_and_a_silent_one_are_told_apart() {
    let bench = Bench::with(|settings| settings.administration.probe_memory_ms = 0);
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    bench.fake.lock().unwrap().broken = Some(503);
    assert!(alice.get(&portal, "/admin").await.body.contains("In trouble"));
    bench.fake.lock().unwrap().broken = Some(404);
    assert!(!alice.get(&portal, "/admin").await.body.contains("In trouble"), "an answer is an answer");
}

#[actix_web::test]
async fn who_runs_the_platform_sees_all_tenants_and_nobody_else_does() {
    let subject = Subject { tenant: "acme".to_owned(), issuer: "https://id.example".to_owned(), subject: "olga".to_owned() };
    let bench = Bench::with(|settings| settings.operator.subjects.push(subject));
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let (mut alice, _) = alice(&portal).await;
    for page in ["/operator", "/operator/tenants/acme"] {
        assert_eq!(alice.get(&portal, page).await.status, 404, "an administrator of a tenant is nobody here");
    }
    // The same name at another tenant's provider is another person.
    let mut other = Browser::new("globex.example");
    other.get(&portal, "/test/sign-in/olga/admin").await;
    assert_eq!(other.get(&portal, "/operator").await.status, 404);
    let mut olga = Browser::new("acme.example");
    olga.get(&portal, "/test/sign-in/olga/member").await;
    let landed = olga.get(&portal, "/").await;
    assert!(landed.body.contains("href=\"/operator\""), "{}", landed.body);
    let list = olga.get(&portal, "/operator").await;
    list.is_clean();
    assert!(list.body.contains("globex &#38; Sons") && list.body.contains("https://acme.example"), "{}", list.body);
    let one = olga.get(&portal, "/operator/tenants/globex").await;
    one.is_clean();
    assert!(
        one.body.contains("As the settings say") && one.body.contains("Days until a share ends at the latest"),
        "{}",
        one.body
    );
    assert_eq!(olga.get(&portal, "/operator/tenants/nobody").await.status, 404);
    assert_eq!(olga.get(&portal, "/admin").await.status, 403, "she has no right in the company itself");
    olga.get(&portal, "/operator/tenants/acme").await;
    until("the audit trail", async || bench.written("operator_looked").await == ["policy and counts"]).await;
}
