//! Every operation of the interface through this room's client against the reference service: that it works, and that each
//! documented error is read as what it is. The service runs in this process, behind its facade and a socket.

use std::collections::BTreeSet;
use std::time::Instant;

use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use tempfile::TempDir;
use url::Url;

use super::super::{Call, Credential, Kind, ScanningService, Transport, UpstreamError};
use super::jar::{archive, library};
use super::shop::shop;
use super::{Fake, PATIENCE, Reply, call, head_and, limits, service};
use crate::config::gateway::{PublicAuth, Upstream};
use crate::config::{self, Sources};
use crate::contract::ids::{Sha256, ShareId, TaskId, VulId};
use crate::contract::reports::ReportType;
use crate::contract::shares::{CreateShare, ShareType, UpdateShare};
use crate::contract::tasks::{CreateTask, GroupArtifact, Search};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::share::Opened;
use crate::platform::clock::Clock;
use crate::platform::digest::{hex, sha256};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;
use crate::platform::shutdown::Shutdown;
use crate::scanner::Scanner;

const ACME: &str = "a-server-key-of-acme";
const GLOBEX: &str = "a-server-key-of-globex";
const CODE: &str = "open-sesame";

/// What a call told, when it was no error.
type Told = Result<&'static str, Kind>;

/// One operation and what it tells about things that are unknown, and to another account; none where nothing is named.
struct Row {
    /// The constant of `contract::paths`; behind a `+` a variant of the call.
    name: &'static str,
    unknown: Option<Told>,
    foreign: Option<Told>,
}

const fn row(name: &'static str, unknown: Option<Told>, foreign: Option<Told>) -> Row {
    Row { name, unknown, foreign }
}

const MISSING: Option<Told> = Some(Err(Kind::NotFound));
const REFUSED: Option<Told> = Some(Err(Kind::Invalid));
const NOTHING: Option<Told> = Some(Ok("nothing"));
const GONE: Option<Told> = Some(Ok("gone"));

const ROWS: &[Row] = &[
    row("TASKS_CREATE", REFUSED, REFUSED),
    row("TASKS_CREATE_GROUP", REFUSED, REFUSED),
    row("TASKS_SEARCH", None, NOTHING),
    row("TASK", MISSING, MISSING),
    row("TASKS_TERMINATE", MISSING, MISSING),
    row("RESULTS_STAT", MISSING, MISSING),
    row("RESULTS_SEARCH", MISSING, MISSING),
    row("RESULT", MISSING, MISSING),
    row("CHAINS_SEARCH", MISSING, MISSING),
    row("REPORT", MISSING, MISSING),
    row("FILES_UPLOAD", None, None),
    row("FILES_CHECK_EXIST", NOTHING, NOTHING),
    row("DIAGNOSTICS", None, None),
    row("DIAGNOSTICS_NEXT", MISSING, MISSING),
    row("DOMAIN_CONTENT", None, None),
    row("DOMAIN_VERIFY", None, None),
    row("BROWSERS", None, None),
    row("PUBLISHABLE_KEY", None, None),
    row("COMPONENTS_SEARCH", MISSING, MISSING),
    row("SCA_MAVEN", None, None),
    row("SCA_MAVEN_ZIP", None, None),
    row("SHARES_GENERATE_ID", None, None),
    row("SHARES", MISSING, MISSING),
    row("SHARES_SEARCH", None, NOTHING),
    row("SHARE", MISSING, MISSING),
    row("SHARE_PUBLIC", GONE, None),
    row("SHARE_PUBLIC+code", GONE, None),
    row("SHARE_PUBLIC_VUL", GONE, None),
    row("SHARE_PUBLIC_VUL+code", GONE, None),
    row("SHARE_PUBLIC_CHAIN+code", GONE, None),
    row("SHARES_DELETE", MISSING, MISSING),
    row("TASKS_DELETE", MISSING, MISSING),
];

impl Row {
    fn constant(&self) -> &'static str {
        self.name.split('+').next().unwrap()
    }

    /// Whether it carries no person's credential.
    fn is_open(&self) -> bool {
        self.name.starts_with("SHARE_PUBLIC") || self.name == "PUBLISHABLE_KEY"
    }
}

/// Everything calls name.
#[derive(Clone)]
struct Names {
    hash: Sha256,
    task: TaskId,
    /// Has not ended.
    running: TaskId,
    doomed: TaskId,
    vul: VulId,
    chain: VulId,
    open: ShareId,
    locked: ShareId,
    ended: ShareId,
    fresh: ShareId,
    diagnosis: String,
    target: Url,
    content: String,
}

struct Reference {
    service: ScanningService,
    names: Names,
    _folder: TempDir,
    /// Userinfo, and a target.
    _others: [Fake; 2],
    tasks: Shutdown,
}

impl Drop for Reference {
    fn drop(&mut self) {
        self.tasks.begin();
    }
}

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn key(key: &str) -> Call {
    call(Credential::ServerKey(Secret::new(key)))
}

fn token(token: &str) -> Call {
    call(Credential::UserToken(Secret::new(token)))
}

/// An archive that takes an analysis a good while.
fn slow() -> Vec<u8> {
    let libraries: Vec<(String, Vec<u8>)> =
        (0..4000).map(|n| (format!("WEB-INF/lib/lib-{n}.jar"), library("com.example", &format!("lib-{n}"), "1.0"))).collect();
    archive(&libraries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect::<Vec<_>>())
}

/// Vouches for nobody's organization, and breaks when asked about `broken`.
async fn userinfo() -> Fake {
    Fake::new(|_, seen| match seen.headers.get("authorization").map(String::as_str) {
        Some("Bearer nobody") => Reply::Json(200, json!({"sub": "7"})),
        Some("Bearer broken") => Reply::Json(500, json!({})),
        _ => Reply::Json(401, json!({})),
    })
    .await
}

impl Reference {
    async fn start() -> Self {
        let (folder, userinfo, tasks) = (tempfile::tempdir().unwrap(), userinfo().await, Shutdown::default());
        // Tests run as root, too, where Chromium's sandbox cannot be had.
        let own = json!({"scanner": {
            "analysis": {"own_process": false}, "outbound": {"allow": ["127.0.0.0/8"]}, "browser": {"sandbox": false},
            "listen": "127.0.0.1:0", "data": folder.path(), "scan_workers": 1, "publishable_key": "pk",
            "userinfo_url": format!("{}/userinfo", userinfo.base),
            "accounts": {"acme": {"server_keys": [ACME]}, "globex": {"server_keys": [GLOBEX]}}
        }});
        let sources = Sources { own: Some(toml::Table::try_from(own).unwrap()), ..Sources::default() };
        let settings = config::load(config::Kind::Scanner, &sources).unwrap().scanner.unwrap();
        let running = Scanner::start(settings, Clock::system(), &tasks).await.unwrap();
        let mut service = service(&format!("http://{}", running.address()), PublicAuth::None);
        let patient = Upstream { timeout_ms: 60_000, idle_timeout_ms: 60_000, max_answer_bytes: 8 << 20, ..limits() };
        service.transport = Transport::new(&patient).unwrap();
        let site = Fake::new(|_, _| Reply::Raw(head_and(200, "text/plain", b"a page"))).await;
        let names = names(&service, Url::parse(&site.base).unwrap()).await;
        Self { service, names, _folder: folder, _others: [userinfo, site], tasks }
    }
}

/// Makes everything that calls name, as acme.
async fn names(service: &ScanningService, target: Url) -> Names {
    // Made on a thread of its own: a connection that ends meanwhile has to be noticed.
    let slow = tokio::task::spawn_blocking(slow).await.unwrap();
    let acme = &key(ACME);
    let hash = upload(service, "shop.war", shop()).await;
    let task = service.create_task(acme, &create(&hash, "shop")).await.unwrap().id;
    let small = upload(service, "old.jar", library("com.example", "old", "1.0")).await;
    let doomed = service.create_task(acme, &create(&small, "old")).await.unwrap().id;
    for id in [&task, &doomed] {
        let started = Instant::now();
        while !service.task(acme, id).await.unwrap().status.has_ended() {
            assert!(started.elapsed() < 6 * PATIENCE, "a scan never ended");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    let large = upload(service, "slow.war", slow).await;
    let mut running = task.clone();
    for number in 0..6 {
        running = service.create_task(acme, &create(&large, &format!("slow {number}"))).await.unwrap().id;
    }
    let vul = service.search_results(acme, &task, &Search::default()).await.unwrap().items[0].id.clone();
    let open = share(service, &task, None).await;
    let locked = share(service, &task, Some(CODE)).await;
    let ended = share(service, &task, None).await;
    let fresh = service.generate_share_id(acme).await.unwrap();
    let content = service.ownership_content(acme).await.unwrap().content.raw().to_owned();
    let diagnosis = service.create_diagnosis(acme, target.as_str()).await.unwrap();
    let chain = service.search_chains(acme, &task, &Search::default()).await.unwrap().items[0].id.clone();
    Names { hash, task, running, doomed, vul, chain, open, locked, ended, fresh, diagnosis, target, content }
}

async fn upload(service: &ScanningService, name: &str, bytes: Vec<u8>) -> Sha256 {
    let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from(bytes))]);
    service.upload(&key(ACME), &Hostile::from(name), None, false, body).await.unwrap().sha256
}

fn create(hash: &Sha256, project: &str) -> CreateTask {
    CreateTask {
        project_name: project.to_owned(),
        lang: "JAVA".to_owned(),
        primary_source_code: Some(hash.to_string()),
        ..CreateTask::default()
    }
}

fn group(hash: &Sha256) -> CreateTask {
    let further = GroupArtifact {
        source_code: hash.clone(),
        file_name: None,
        service_name: Some("second".to_owned()),
        sandbox_target_service_url: None,
    };
    CreateTask { primary_source_codes: Some(vec![further]), ..create(hash, "group") }
}

fn new_share(id: &ShareId, task: &TaskId, code: Option<&str>) -> CreateShare {
    CreateShare {
        share_id: id.clone(),
        task_id: task.clone(),
        share_type: ShareType::Report,
        vul_ids: vec![],
        extraction_code: code.map(str::to_owned),
        expired_at: None,
    }
}

async fn share(service: &ScanningService, task: &TaskId, code: Option<&str>) -> ShareId {
    let acme = &key(ACME);
    let id = service.generate_share_id(acme).await.unwrap();
    service.create_share(acme, &new_share(&id, task, code)).await.unwrap().id
}

fn listed<T>(listing: &Listing<T>) -> &'static str {
    if listing.items.is_empty() { "nothing" } else { "done" }
}

fn opened<T>(opened: &Opened<T>) -> &'static str {
    match opened {
        Opened::Open(_) => "done",
        Opened::CodeNeeded => "code needed",
        Opened::WrongCode => "wrong code",
        Opened::Gone => "gone",
    }
}

/// Calls one operation.
#[expect(clippy::too_many_lines, reason = "one line for each operation")]
async fn ask(row: &Row, service: &ScanningService, call: &Call, at: &Names, code: &str) -> Result<&'static str, UpstreamError> {
    let (all, secret) = (Search::default(), Secret::new(code));
    let file = || stream::iter([Ok::<_, std::io::Error>(Bytes::from(library("com.example", "new", "1.0")))]);
    match row.name {
        "TASKS_CREATE" => service.create_task(call, &create(&at.hash, "new")).await?,
        "TASKS_CREATE_GROUP" => {
            let created = service.create_task_group(call, &group(&at.hash)).await?;
            assert_eq!((created.ids.len(), created.ids.first()), (2, Some(&created.id)));
            created
        }
        "TASKS_SEARCH" => return service.search_tasks(call, &all).await.map(|list| listed(&list)),
        "TASK" => return service.task(call, &at.task).await.map(|task| if task.id == at.task { "done" } else { "another" }),
        "TASKS_TERMINATE" => return service.terminate_task(call, &at.running).await.map(|()| "done"),
        "TASKS_DELETE" => return service.delete_tasks(call, vec![at.doomed.clone()]).await.map(|()| "done"),
        "RESULTS_STAT" => {
            let stat = service.results_stat(call, &at.task).await?;
            assert!(stat.counts.total > 0 && !stat.groups.is_empty());
            return Ok("done");
        }
        "RESULTS_SEARCH" => return service.search_results(call, &at.task, &all).await.map(|list| listed(&list)),
        "RESULT" => return service.result(call, &at.task, &at.vul).await.map(|_| "done"),
        "CHAINS_SEARCH" => return service.search_chains(call, &at.task, &all).await.map(|list| listed(&list)),
        "REPORT" => return service.report(call, &at.task, ReportType::Html).await.map(|_| "done"),
        "FILES_UPLOAD" => return service.upload(call, &Hostile::from("new.jar"), None, false, file()).await.map(|_| "done"),
        "FILES_CHECK_EXIST" => {
            return service.file_exists(call, &at.hash).await.map(|there| if there { "done" } else { "nothing" });
        }
        "DIAGNOSTICS" => return service.create_diagnosis(call, at.target.as_str()).await.map(|_| "done"),
        "DIAGNOSTICS_NEXT" => return service.diagnosis(call, &at.diagnosis).await.map(|_| "done"),
        "DOMAIN_CONTENT" => return service.ownership_content(call).await.map(|_| "done"),
        "DOMAIN_VERIFY" => return service.verify_ownership(call, &at.target, &at.content).await.map(|_| "done"),
        "BROWSERS" => return service.create_browser(call).await.map(|_| "done"),
        "PUBLISHABLE_KEY" => return service.publishable_key(call).await.map(|_| "done"),
        "COMPONENTS_SEARCH" => {
            return service.search_components(call, &at.task, &all).await.map(|list| listed(&list));
        }
        "SCA_MAVEN" => return service.analyze_pom(call, Bytes::from_static(POM)).await.map(|_| "done"),
        "SCA_MAVEN_ZIP" => return service.analyze_poms(call, archive(&[("pom.xml", POM)]).into()).await.map(|_| "done"),
        "SHARES_GENERATE_ID" => return service.generate_share_id(call).await.map(|_| "done"),
        "SHARES" => return service.create_share(call, &new_share(&at.fresh, &at.task, None)).await.map(|_| "done"),
        "SHARES_SEARCH" => return service.search_shares(call, &all).await.map(|list| listed(&list)),
        "SHARE" => {
            let change = UpdateShare { expired_at: None, extraction_code: None };
            return service.update_share(call, &at.ended, &change).await.map(|()| "done");
        }
        "SHARES_DELETE" => return service.delete_shares(call, vec![at.ended.clone()]).await.map(|()| "done"),
        "SHARE_PUBLIC" => return service.public_share(call, &at.open, None).await.map(|answer| opened(&answer)),
        "SHARE_PUBLIC+code" => {
            return service.public_share(call, &at.locked, Some(&secret)).await.map(|answer| opened(&answer));
        }
        "SHARE_PUBLIC_VUL" => return service.public_finding(call, &at.open, &at.vul, None).await.map(|answer| opened(&answer)),
        "SHARE_PUBLIC_VUL+code" => {
            return service.public_finding(call, &at.locked, &at.vul, Some(&secret)).await.map(|answer| opened(&answer));
        }
        "SHARE_PUBLIC_CHAIN+code" => {
            return service.public_chain(call, &at.locked, &at.chain, Some(&secret)).await.map(|answer| opened(&answer));
        }
        name => panic!("{name} has no call"),
    };
    Ok("done")
}

const POM: &[u8] = b"<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>";

/// Calls an operation with something that is not right; none where nothing can be wrong.
async fn ask_wrong(row: &Row, service: &ScanningService, at: &Names) -> Option<Result<(), UpstreamError>> {
    let call = &key(ACME);
    let too_many = Search { size: Some(201), ..Search::default() };
    let unsorted = Search { sorts: vec!["nothing".to_owned()], ..Search::default() };
    Some(match row.name {
        "TASKS_CREATE" => service.create_task(call, &CreateTask::default()).await.map(drop),
        "TASKS_CREATE_GROUP" => service.create_task_group(call, &CreateTask::default()).await.map(drop),
        "TASKS_SEARCH" => service.search_tasks(call, &too_many).await.map(drop),
        "TASKS_TERMINATE" => service.terminate_task(call, &at.task).await,
        "TASKS_DELETE" => service.delete_tasks(call, vec![]).await,
        "RESULTS_SEARCH" => service.search_results(call, &at.task, &unsorted).await.map(drop),
        "CHAINS_SEARCH" => service.search_chains(call, &at.task, &unsorted).await.map(drop),
        "REPORT" => service.report(call, &at.running, ReportType::Html).await.map(drop),
        "FILES_UPLOAD" => {
            let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"another"))]);
            service.upload(call, &Hostile::from("a.jar"), Some(&at.hash), false, body).await.map(drop)
        }
        "DIAGNOSTICS" => service.create_diagnosis(call, "").await.map(drop),
        "SCA_MAVEN_ZIP" => service.analyze_poms(call, Bytes::from_static(b"no archive")).await.map(drop),
        "SHARES" => service.create_share(call, &new_share(&at.fresh, &at.running, None)).await.map(drop),
        "SHARES_SEARCH" => service.search_shares(call, &too_many).await.map(drop),
        "SHARE" => {
            let change = UpdateShare { expired_at: Some(Some("tomorrow".to_owned())), extraction_code: None };
            service.update_share(call, &at.ended, &change).await
        }
        "SHARES_DELETE" => service.delete_shares(call, vec![]).await,
        _ => return None,
    })
}

/// Names of nothing.
fn unknown(at: &Names) -> Names {
    let (task, vul, share): (TaskId, VulId, ShareId) = (id("unknown"), id("unknown"), id("unknown"));
    Names {
        hash: id(&hex(&sha256(b"never uploaded"))),
        task: task.clone(),
        running: task.clone(),
        doomed: task,
        vul: vul.clone(),
        chain: vul,
        open: share.clone(),
        locked: share.clone(),
        ended: share,
        diagnosis: "unknown".to_owned(),
        ..at.clone()
    }
}

/// What a row tells when it works. Without a chain in the artifact the one that is asked for is not there.
fn expected(row: &Row, names: &Names) -> &'static str {
    if row.constant() == "SHARE_PUBLIC_CHAIN" && names.chain == names.vul { "gone" } else { "done" }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_works_against_the_reference_service() {
    let reference = Reference::start().await;
    for row in ROWS {
        let told = ask(row, &reference.service, &key(ACME), &reference.names, CODE).await;
        if row.name == "BROWSERS" && told.as_ref().is_err_and(|error| error.code == Some(4042)) {
            // A machine without Chromium: the service says so, and nothing else is to be had.
            continue;
        }
        assert_eq!(told.map_err(|error| error.kind), Ok(expected(row, &reference.names)), "{}", row.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_error_of_the_reference_service_is_read_as_what_it_is() {
    let reference = Reference::start().await;
    let (service, names) = (&reference.service, &reference.names);
    let nowhere = unknown(names);
    for row in ROWS {
        for (bearer, kind, status, retry) in [
            ("expired", Kind::Unauthorized, 401, false),
            ("nobody", Kind::Forbidden, 403, false),
            ("broken", Kind::Unavailable, 500, true),
        ] {
            let told = ask(row, service, &token(bearer), names, CODE).await;
            if row.is_open() {
                assert_eq!(told.map_err(|error| error.kind), Ok(expected(row, names)), "{} shows its caller to nobody", row.name);
                continue;
            }
            if row.name == "DOMAIN_VERIFY" && status == 403 {
                assert!(told.is_ok(), "every refusal of a proof is a proof that is not there yet");
                continue;
            }
            let error = told.expect_err(row.name);
            assert_eq!((error.kind, error.status, error.retry), (kind, Some(status), retry), "{}", row.name);
            assert!(error.code.is_some() && !error.text.is_empty(), "{}", row.name);
        }
        if let Some(expected) = &row.unknown {
            let told = ask(row, service, &key(ACME), &nowhere, CODE).await.map_err(|error| error.kind);
            assert_eq!(&told, expected, "{} of something unknown", row.name);
        }
        if let Some(expected) = &row.foreign {
            let told = ask(row, service, &key(GLOBEX), names, CODE).await.map_err(|error| error.kind);
            assert_eq!(&told, expected, "{} of another account", row.name);
        }
        if let Some(told) = ask_wrong(row, service, names).await {
            let error = told.expect_err(row.name);
            assert_eq!((error.kind, error.status, error.retry), (Kind::Invalid, Some(400), false), "{}", row.name);
        }
        if row.name.ends_with("+code") {
            let told = ask(row, service, &key(ACME), names, "wrong").await.map_err(|error| error.kind);
            assert_eq!(told, Ok("wrong code"), "{}", row.name);
        }
    }
    let locked = Names { open: names.locked.clone(), ..names.clone() };
    for name in ["SHARE_PUBLIC", "SHARE_PUBLIC_VUL"] {
        let row = ROWS.iter().find(|row| row.name == name).unwrap();
        let told = ask(row, service, &key(ACME), &locked, CODE).await.map_err(|error| error.kind);
        assert_eq!(told, Ok("code needed"), "{name}");
    }
}

#[test]
fn every_path_of_the_interface_has_a_call() {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/contract/paths.rs")).unwrap();
    let paths: BTreeSet<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub const ")?.split_once(": &str").map(|(name, _)| name))
        .filter(|name| *name != "PREFIX")
        .collect();
    let called: BTreeSet<&str> = ROWS.iter().map(Row::constant).collect();
    assert_eq!(called, paths);
}
