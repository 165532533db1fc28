//! What pages tell about how a share stands: to its owner, to administrators, to whoever was let in or turned away.

use std::time::Duration;

use super::bench::{Answer, Bench, Browser, Site, signed_in};
use crate::gateway::domain::share_entry::{Mark, Outcome};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::until;

fn page_of(id: &str) -> String {
    format!("/shares/{}", Mark::of(&TenantId::parse("acme").unwrap(), &id.parse().unwrap()).as_str())
}

/// Saves the policy of acme without one of its permissions.
async fn forbid(portal: &Site, alice: &mut Browser, csrf: &str, permission: &str) {
    let page = alice.get(portal, "/admin/policy").await;
    let form = page.body.split("action=\"/admin/policy\"").nth(1).unwrap().split("</form>").next().unwrap();
    let attribute =
        |tag: &str, name: &str| tag.split(&format!(" {name}=\"")).nth(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    let fields: Vec<(String, String)> = form
        .split("<input")
        .skip(1)
        .map(|tag| tag.split('>').next().unwrap())
        .filter(|tag| !tag.contains("checkbox") || tag.contains(" checked"))
        .map(|tag| (attribute(tag, "name").unwrap(), attribute(tag, "value").unwrap_or_else(|| "on".to_owned())))
        .map(|(name, value)| (name, value.replace("&#38;", "&")))
        .filter(|(name, _)| name != permission)
        .collect();
    assert!(fields.iter().any(|(name, value)| name == "csrf" && value == csrf));
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let saved = alice.post(portal, "/admin/policy", &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
}

async fn shown(portal: &Site, browser: &mut Browser, path: &str) -> Answer {
    let page = browser.get(portal, path).await;
    page.is_clean();
    assert_eq!(page.status, 200, "{path}: {}", page.body);
    page
}

#[actix_web::test]
async fn a_share_that_the_policy_closes_says_so_wherever_it_is_told_of_and_so_does_its_log() {
    let bench = Bench::new();
    bench.share("open", "REPORT", None).await;
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "admin").await;
    let mut visitor = Browser::new("acme.example");
    assert_eq!(visitor.post(&portal, "/o/open", &[("wanted", "yes")]).await.status, 303);
    assert!(shown(&portal, &mut alice, "/admin/policy").await.body.contains("with two exceptions that hold at once"));
    forbid(&portal, &mut alice, &csrf, "without_code").await;
    assert_eq!(visitor.post(&portal, "/o/open", &[("wanted", "yes")]).await.status, 403);
    bench.noted("open", &[Outcome::Opened, Outcome::ByPolicy]).await;

    for list in ["/shares", "/shares?state=by-policy", "/admin/shares"] {
        let list = shown(&portal, &mut alice, list).await;
        assert_eq!(list.body.matches("<span class=\"badge failed\">Closed by the policy</span>").count(), 1, "{}", list.body);
    }
    let open = shown(&portal, &mut alice, "/shares?state=open").await;
    assert!(open.body.contains(&page_of("coded")) && !open.body.contains(&page_of("open")), "{}", open.body);
    let page = shown(&portal, &mut alice, &page_of("open")).await;
    for words in ["allows no shares without a code any more", "nothing opens it", "Turned away: the policy allows no share"] {
        assert!(page.body.contains(words), "{words} in {}", page.body);
    }
    let all = shown(&portal, &mut alice, "/admin/shares").await;
    assert!(all.body.contains(&format!("href=\"{}\"", page_of("open"))) && !all.body.contains(" checked"), "{}", all.body);
    let breaching = shown(&portal, &mut alice, "/admin/shares?show=breaches").await;
    assert_eq!((breaching.body.matches(" checked").count(), breaching.body.contains(&page_of("coded"))), (1, false));
}

#[actix_web::test]
async fn who_chose_no_share_to_end_is_back_at_the_list_with_words() {
    let bench = Bench::new();
    bench.share("coded", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "admin").await;
    for (query, list) in [
        ("", "/shares"),
        ("?state=open&own=&page=1", "/shares?state=open&page=1"),
        ("?from=all&show=breaches&maker=a%26b", "/admin/shares?show=breaches&maker=a%26b"),
    ] {
        let back = alice.get(&portal, &format!("/shares/end{query}")).await;
        assert_eq!((back.status.as_u16(), back.header("location").as_str()), (303, list));
    }
    assert!(shown(&portal, &mut alice, "/shares").await.body.contains("No share was chosen"));
    let posted = alice.post(&portal, "/shares/end", &[("csrf", &csrf)]).await;
    assert_eq!((posted.status.as_u16(), posted.header("location").as_str()), (303, "/shares"));
}

#[actix_web::test]
async fn a_recipient_is_told_until_when_it_stays_open_and_the_door_says_why_one_is_back() {
    let bench = Bench::new();
    bench.share_with("once", "REPORT", Some("ABCDEFGH"), |entry| entry.most_views = Some(1)).await;
    let portal = bench.portal().await;
    let mut visitor = Browser::new("acme.example");
    assert_eq!(visitor.post(&portal, "/s/once", &[("code", "ABCDEFGH")]).await.status, 303);
    let told = bench.clock.now().after(Duration::from_mins(30)).rfc3339();
    for path in ["/s/once/view", "/s/once/view/findings/v1", "/s/once/view/chains/c1"] {
        let page = shown(&portal, &mut visitor, path).await;
        assert!(page.body.contains("Open for you") && page.body.contains(&told[..16]), "{told} in {}", page.body);
    }
    bench.clock.advance(Duration::from_mins(31));
    let back = visitor.get(&portal, "/s/once/view").await;
    assert_eq!((back.status.as_u16(), back.header("location").as_str()), (303, "/s/once?again"));
    let door = shown(&portal, &mut visitor, "/s/once?again").await;
    assert!(door.body.contains("behind this door"), "{}", door.body);
    assert_eq!(door.body, shown(&portal, &mut visitor, "/s/made-up?again").await.body);
    assert!(!shown(&portal, &mut visitor, "/s/once").await.body.contains("behind this door"));
    // A bookmark of the page that says good-bye leads to the door.
    let closed = visitor.get(&portal, "/s/once/close").await;
    assert_eq!((closed.status.as_u16(), closed.header("location").as_str()), (303, "/s/once"));
    let left = visitor.post(&portal, "/s/once/close", &[]).await;
    assert!(left.body.contains("type the code again") && left.body.contains("one more of them"), "{}", left.body);
    let open = visitor.post(&portal, "/o/once/close", &[]).await;
    assert!(!open.body.contains("type the code"), "{}", open.body);
}

#[actix_web::test]
async fn an_owner_sees_that_a_network_waits_and_how_often_it_was_turned_away_also_when_the_share_is_over() {
    let bench = Bench::new();
    bench.share("real", "REPORT", Some("ABCDEFGH")).await;
    let portal = bench.portal().await;
    let mut guesser = Browser::new("acme.example");
    for _ in 0..5 {
        assert_eq!(guesser.post(&portal, "/s/real", &[("code", "WRONGWRONG")]).await.status, 403);
    }
    let (mut alice, csrf) = signed_in(&portal, "acme.example", "alice", "admin").await;
    let tells =
        |page: &str| page.contains("nobody is let in from <code>192.0.2.0/24</code>") && page.contains("the last of too many");
    until("the line of the network that waits", async || bench.accesses("real").await.len() == 5).await;
    let page = shown(&portal, &mut alice, &page_of("real")).await;
    assert!(tells(&page.body), "{}", page.body);
    for _ in 0..5 {
        assert_eq!(guesser.post(&portal, "/s/real", &[("code", "ABCDEFGH")]).await.status, 429);
    }
    // The first, the second and the fourth are written down; the third and the fifth are not.
    until("lines of those who were turned away", async || {
        bench.accesses("real").await.iter().filter(|access| access.outcome == Outcome::TurnedAway).count() >= 3
    })
    .await;
    let page = shown(&portal, &mut alice, &page_of("real")).await;
    assert_eq!(page.body.matches("Turned away: this network waits").count(), 3, "{}", page.body);
    assert!(page.body.contains("5 wrong codes since the code was set"), "{}", page.body);
    bench.clock.advance(Duration::from_mins(16));
    assert!(!tells(&shown(&portal, &mut alice, &page_of("real")).await.body), "the wait is over");
    assert_eq!(alice.post(&portal, &format!("{}/end", page_of("real")), &[("csrf", &csrf)]).await.status, 303);
    let over = shown(&portal, &mut alice, &page_of("real")).await;
    assert!(over.body.contains("5 wrong codes since") && !over.body.contains("What is enforced"), "{}", over.body);
    assert!(!over.body.contains("<dt>Ends</dt>"), "{}", over.body);
}

#[actix_web::test]
async fn the_address_of_a_form_leads_to_the_page_it_belongs_to() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "admin").await;
    let share = page_of("any");
    for (form, page) in [
        ("/admin/api-keys", "/admin/keys"),
        ("/admin/audit/check", "/admin/audit"),
        (&*format!("{share}/end"), &*share),
        ("/tasks/t1/terminate", "/tasks/t1"),
        ("/o/any/close", "/o/any"),
    ] {
        let answer = alice.get(&portal, form).await;
        assert_eq!((answer.status.as_u16(), answer.header("location").as_str()), (303, page), "{form}");
    }
    assert_eq!(alice.get(&portal, "/auth/logout").await.status, 405, "nothing tells what was meant");
}

#[actix_web::test]
async fn what_answers_to_get_alone_tells_a_head_so_and_leads_it_nowhere() {
    let bench = Bench::new();
    let portal = bench.portal().await;
    bench.share("share-1", "REPORT", Some("ABCDEFGH")).await;
    let (mut alice, _) = signed_in(&portal, "acme.example", "alice", "admin").await;
    let mut guest = Browser::new("acme.example");
    assert_eq!(guest.post(&portal, "/s/share-1", &[("code", "abcd-efgh")]).await.status, 303);
    for (browser, path) in [(&mut guest, "/s/share-1/view/report"), (&mut alice, "/admin/audit.csv")] {
        let told = browser.head(&portal, path).await;
        let led = told.header("location");
        assert_eq!((told.status.as_u16(), led.as_str(), told.header("allow").as_str()), (405, "", "GET"), "{path}");
    }
    assert_eq!(guest.head(&portal, "/s/share-1/view").await.status, 200, "a page is read either way");
}
