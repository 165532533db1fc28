//! Accounts: the embedded browser from allowed origins only, captured and typed sessions, and that none of them is seen again.

use serde_json::json;

use super::scan_bench::Bench;

const SECRET: &str = "s3cr3t-of-a-session";

fn capture(bench: &Bench, draft: &str, role: &str, info: &serde_json::Value) -> super::scan_bench::Answer {
    let version = bench.get(&format!("{draft}/artifact")).version();
    let body = json!({"v": version, "role": role, "url": "https://a.example/home", "sessionInfo": info}).to_string();
    bench.script(&format!("{draft}/accounts/session"), &bench.csrf, &body)
}

#[test]
fn a_browser_of_an_allowed_origin_is_embedded_on_this_page_only() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let service = "http://127.0.0.1:";
    let page = bench.get(&format!("{draft}/accounts"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains(&format!("; frame-src {service}")) && !policy.contains("frame-src *"), "{policy}");
    assert!(!bench.get(&format!("{draft}/target")).header("content-security-policy").contains("frame-src"));
    let foreign = bench.script(&format!("{draft}/accounts/browser"), &bench.csrf, "");
    assert!(
        foreign.status == 200 && foreign.text().contains("browser_origins") && !foreign.text().contains("sig=x"),
        "{}",
        foreign.text()
    );
    let own = policy.split("frame-src ").nth(1).unwrap().to_owned();
    *bench.service.browser_answer.lock().unwrap() =
        Some((200, json!({"url": format!("{own}/b/1?sig=x"), "browserBoxId": "box-1"})));
    let opened = bench.script(&format!("{draft}/accounts/browser"), &bench.csrf, "");
    assert_eq!(opened.text(), json!({"url": format!("{own}/b/1?sig=x"), "origin": own}).to_string());
    for (status, code, words) in [(404, 4042, "has no browser"), (429, 4290, "in use")] {
        *bench.service.browser_answer.lock().unwrap() = Some((status, json!({"message": "x", "data": {"errCode": code}})));
        let none = bench.script(&format!("{draft}/accounts/browser"), &bench.csrf, "");
        assert!(none.status == 200 && none.text().contains(words), "{}", none.text());
    }
    *bench.service.browser_answer.lock().unwrap() = Some((200, json!({"url": "javascript:alert(1)"})));
    assert_eq!(bench.script(&format!("{draft}/accounts/browser"), &bench.csrf, "").status, 502);
}

#[test]
fn a_captured_session_goes_to_the_service_and_nowhere_else() {
    let bench = Bench::new();
    let draft = bench.draft("");
    bench.add_file(&draft, "artifact", "a.jar", b"a", &[]);
    let own =
        bench.get(&format!("{draft}/accounts")).header("content-security-policy").split("frame-src ").nth(1).unwrap().to_owned();
    *bench.service.browser_answer.lock().unwrap() = Some((200, json!({"url": format!("{own}/b"), "browserBoxId": "box-1"})));
    bench.script(&format!("{draft}/accounts/browser"), &bench.csrf, "");
    let info = json!({"cookies": [{"name": "sid", "value": SECRET, "httpOnly": true}], "localStorage": {"token": SECRET},
        "headers": [{"url": "https://a.example", "method": "GET", "requestHeaders": {"Authorization": SECRET}}]});
    let saved = capture(&bench, &draft, "admin", &info);
    assert_eq!(saved.status, 200, "{}", saved.text());
    assert!(
        saved.text().contains("Administrator") && saved.text().contains("1 cookie, 1 header, 1 stored entry"),
        "{}",
        saved.text()
    );
    assert!(!saved.text().contains("<html") && saved.text().contains("data-version="));
    for step in ["artifact", "target", "ownership", "source", "accounts", "options", "check"] {
        assert!(!bench.get(&format!("{draft}/{step}")).text().contains(SECRET), "{step}");
    }
    let rest = bench.at_rest();
    assert!(!rest.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()), "sealed at rest");
    bench.step(&draft, "check", "");
    let sent = bench.service.created.lock().unwrap()[0].clone();
    let data = &sent["sandboxAuthInfos"][0]["originRequestData"];
    assert_eq!(sent["browserBoxId"], json!("box-1"));
    assert_eq!((&data["cookies"][0]["value"], &data["cookies"][0]["httpOnly"]), (&json!(SECRET), &json!(true)));
    assert_eq!(data["headers"][0]["requestHeaders"], json!([{"name": "Authorization", "value": SECRET}]));
    assert_eq!((&data["localStorage"]["token"], &data["sessionStorage"]), (&json!(SECRET), &json!({})));
}

#[test]
fn a_session_that_is_none_too_large_or_stale_is_refused_without_being_repeated() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let good = json!({"cookies": [{"name": "sid", "value": SECRET}]});
    for (role, info) in [("admin", json!(null)), ("admin", json!({})), ("", good.clone()), ("admin", json!({"cookies": SECRET}))]
    {
        let refused = capture(&bench, &draft, role, &info);
        assert!(refused.status == 400 && !refused.text().contains(SECRET), "{}", refused.text());
    }
    let large = capture(&bench, &draft, "admin", &json!({"cookies": [{"name": "sid", "value": SECRET.repeat(300)}]}));
    assert!(large.status == 413 && !large.text().contains(SECRET), "{}", large.text());
    let stale = json!({"v": "0", "role": "admin", "url": "https://a.example", "sessionInfo": good}).to_string();
    assert_eq!(bench.script(&format!("{draft}/accounts/session"), &bench.csrf, &stale).status, 409);
    assert_eq!(bench.script(&format!("{draft}/accounts/session"), &bench.csrf, SECRET).status, 400);
    for _ in 0..2 {
        assert_eq!(capture(&bench, &draft, "tester", &good).status, 200);
    }
    let full = capture(&bench, &draft, "tester", &good);
    assert!(full.status == 400 && full.text().contains("at most 2 accounts"), "{}", full.text());
    assert_eq!(bench.step(&draft, "accounts/remove", "row=0").status, 303);
    assert_eq!(bench.step(&draft, "accounts/remove", "row=7").status, 400);
    assert_eq!(bench.get(&format!("{draft}/accounts")).text().matches(">Saved<").count(), 1);
}

#[test]
fn typed_lines_are_read_strictly_and_a_wrong_one_is_named_with_nothing_lost() {
    let bench = Bench::new();
    let draft = bench.draft("");
    let form = "role=own&own_role=Auditor&url=https%3A%2F%2Fa.example&cookies=good%3D1%0D%0Ano+equals&headers=X-A%3A+%3Cb%3E%0D%0ACookie%3A+a%3Db";
    let wrong = bench.step(&draft, "accounts", form);
    assert_eq!(wrong.status, 422);
    let page = wrong.text();
    assert!(page.contains("Line 2: write name=value") && page.contains("Line 2: cookies go into their own field."), "{page}");
    assert!(
        page.contains("\ngood=1\r\nno equals</textarea>")
            && page.contains("X-A: &#60;b&#62;")
            && page.contains("value=\"Auditor\""),
        "{page}"
    );
    assert!(wrong.header("content-security-policy").contains("frame-src "));
    let saved = bench.step(
        &draft,
        "accounts",
        &format!("role=own&own_role=Auditor&url=https%3A%2F%2Fa.example&cookies=sid%3D{SECRET}&headers="),
    );
    assert_eq!((saved.status, saved.header("location")), (303, format!("{draft}/accounts")), "{}", saved.text());
    let page = bench.get(&format!("{draft}/accounts")).text();
    assert!(page.contains("Auditor") && page.contains("1 cookie, typed in") && !page.contains(SECRET), "{page}");
    assert!(!bench.at_rest().windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
    assert!(!bench.get(&format!("{draft}/artifact")).text().contains(SECRET));
}

#[test]
fn the_query_of_an_address_is_on_no_page_that_only_shows_it() {
    let bench = Bench::new();
    let draft = bench.draft("");
    bench.add_file(&draft, "artifact", "a.jar", b"a", &[("target", "https://own.example/?key=TOPSECRET")]);
    *bench.service.diagnosis.lock().unwrap() = json!({"status": "FINISHED", "stages": []});
    bench.step(&draft, "target", "url=https%3A%2F%2Fa.example%2F%3Fkey%3DTOPSECRET&login_url=https%3A%2F%2Fid.example%2Fin");
    let form = "role=admin&url=https%3A%2F%2Fid.example%2Fin%3Ftoken%3DTOPSECRET%23TOPSECRET&cookies=sid%3D1&headers=";
    assert_eq!(bench.step(&draft, "accounts", form).status, 303);
    for step in ["accounts", "check", "artifact", "ownership"] {
        let page = bench.get(&format!("{draft}/{step}")).text();
        assert!(!page.contains("TOPSECRET"), "{step}: {page}");
    }
    let page = bench.get(&format!("{draft}/accounts")).text();
    assert!(
        page.contains("https://id.example/in<br><span class=\"small quiet\">with a query that is not shown</span>"),
        "{page}"
    );
    let page = bench.get(&format!("{draft}/check")).text();
    assert!(page.contains("Administrator at https://id.example/in (with a query that is not shown)"), "{page}");
    bench.step(&draft, "check", "sure=yes");
    let sent = bench.service.created.lock().unwrap()[0].clone();
    assert_eq!(sent["sandboxAuthInfos"][0]["loginUrl"], json!("https://id.example/in?token=TOPSECRET#TOPSECRET"));
}
