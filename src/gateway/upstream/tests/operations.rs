//! Every operation of the interface: what goes out, with which credential, and that what comes back is read.

use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use url::Url;

use super::super::{Credential, Kind};
use super::{Fake, Reply, call, head_and, service, user};
use crate::config::gateway::PublicAuth;
use crate::contract::ids::{Sha256, ShareId, TaskId, VulId};
use crate::contract::reports::ReportType;
use crate::contract::shares::{CreateShare, ShareType, UpdateShare};
use crate::contract::tasks::{CreateTask, Search};
use crate::gateway::domain::ownership::Verdict;
use crate::gateway::domain::share::Opened;
use crate::gateway::domain::task::Status;
use crate::platform::digest::{hex, sha256};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn answer(line: &str) -> Reply {
    let file = hex(&sha256(b"the artifact"));
    let body = match line.split('?').next().unwrap() {
        line if line.ends_with("/report") => return Reply::Raw(head_and(200, "application/pdf", b"%PDF")),
        line if line.ends_with("delete") || line.ends_with("terminate") || line.ends_with("verify") => {
            return Reply::Raw(head_and(200, "text/plain", b""));
        }
        line if line.starts_with("PATCH") => return Reply::Raw(head_and(200, "text/plain", b"")),
        line if line.contains("/check-exist/") => json!(file),
        line if line.ends_with("/upload") => json!({ "sha256": file }),
        line if line.ends_with("/network-diagnostics") => json!({ "id": "d/1" }),
        line if line.ends_with("/next-stage") => json!({ "status": "FINISHED", "stages": [{ "status": "PASS" }] }),
        line if line.ends_with("/random-content") => json!({ "content": "abc" }),
        line if line.ends_with("/browsers") => json!({ "url": "https://browser.example/x", "browserBoxId": 7 }),
        line if line.ends_with("/publishable-key") => json!({ "publishableKey": "pk" }),
        line if line.ends_with("/generate-id") => json!({ "shareId": "s 1" }),
        line if line.contains("/sca/") => json!([{ "ID": 1 }]),
        line if line.ends_with("/search") => json!({ "data": [], "total": 0 }),
        _ => json!({ "taskId": "t 1", "vulId": "v/1", "shareId": "s 1", "taskStatus": "RUNNING", "status": "CREATED" }),
    };
    Reply::Json(200, body)
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "the table of the interface, in its order")]
async fn every_operation_goes_to_its_own_address() {
    let fake = Fake::new(|_, seen| answer(&seen.line)).await;
    let (service, user) = (fake.service(), user());
    let (task, vul, share): (TaskId, VulId, ShareId) = (id("t 1"), id("v/1"), id("s 1"));
    let file: Sha256 = id(&hex(&sha256(b"the artifact")));
    let body = || stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"the artifact"))]);
    let code = Secret::new("code");

    assert_eq!(service.create_task(&user, &CreateTask::default()).await.unwrap().status, Status::Created);
    assert_eq!(service.create_task_group(&user, &CreateTask::default()).await.unwrap().ids, std::slice::from_ref(&task));
    assert_eq!(service.search_tasks(&user, &Search::default()).await.unwrap().total, 0);
    assert_eq!(service.task(&user, &task).await.unwrap().status, Status::Running);
    service.terminate_task(&user, &task).await.unwrap();
    service.delete_tasks(&user, vec![task.clone()]).await.unwrap();
    service.results_stat(&user, &task).await.unwrap();
    service.search_results(&user, &task, &Search::default()).await.unwrap();
    assert_eq!(service.result(&user, &task, &vul).await.unwrap().row.id, vul);
    service.search_chains(&user, &task, &Search::default()).await.unwrap();
    assert_eq!(service.search_components(&user, &task, &Search::default()).await.unwrap().total, 0);
    assert_eq!(service.report(&user, &task, ReportType::Html).await.unwrap().length, Some(4));
    assert!(service.file_exists(&user, &file).await.unwrap());
    assert_eq!(service.upload(&user, &Hostile::from("a \"b\".jar"), Some(&file), true, body()).await.unwrap().size, 12);
    assert_eq!(service.create_diagnosis(&user, "https://t.example").await.unwrap(), "d/1");
    assert!(service.diagnosis(&user, "d/1").await.unwrap().is_reached());
    assert_eq!(service.ownership_content(&user).await.unwrap().content.raw(), "abc");
    let target = Url::parse("https://t.example:8443/app").unwrap();
    assert_eq!(service.verify_ownership(&user, &target, "abc").await.unwrap(), Verdict::Verified);
    assert_eq!(service.create_browser(&user).await.unwrap().box_id, Some(Hostile::from("7")));
    assert_eq!(service.publishable_key(&user).await.unwrap().raw(), "pk");
    assert_eq!(service.analyze_pom(&user, Bytes::from_static(b"<project/>")).await.unwrap().len(), 1);
    assert_eq!(service.analyze_poms(&user, Bytes::from_static(b"PK")).await.unwrap().len(), 1);
    assert_eq!(service.generate_share_id(&user).await.unwrap(), share);
    let new = CreateShare {
        share_id: share.clone(),
        task_id: task,
        share_type: ShareType::Report,
        vul_ids: vec![],
        extraction_code: None,
        expired_at: None,
    };
    assert_eq!(service.create_share(&user, &new).await.unwrap().id, share);
    service.search_shares(&user, &Search::default()).await.unwrap();
    let change = UpdateShare { expired_at: None, extraction_code: Some(None) };
    service.update_share(&user, &share, &change).await.unwrap();
    service.delete_shares(&user, vec![share.clone()]).await.unwrap();
    assert!(matches!(service.public_share(&user, &share, None).await.unwrap(), Opened::Open(_)));
    assert!(matches!(service.public_share(&user, &share, Some(&code)).await.unwrap(), Opened::Open(_)));
    assert!(matches!(service.public_finding(&user, &share, &vul, None).await.unwrap(), Opened::Open(_)));
    assert!(matches!(service.public_finding(&user, &share, &vul, Some(&code)).await.unwrap(), Opened::Open(_)));
    assert!(matches!(service.public_chain(&user, &share, &vul, Some(&code)).await.unwrap(), Opened::Open(_)));

    let seen = fake.seen();
    let lines: Vec<&str> = seen.iter().map(|seen| seen.line.as_str()).collect();
    let upload = format!("POST /scanner/api/v1/files/upload?sha256={file}&forceUpload=true");
    let exist = format!("POST /scanner/api/v1/files/check-exist/{file}");
    assert_eq!(
        lines,
        [
            "POST /scanner/api/v2/tasks",
            "POST /scanner/api/v2/tasks/create-group",
            "POST /scanner/api/v1/tasks/search",
            "GET /scanner/api/v1/tasks/t%201",
            "POST /scanner/api/v1/tasks/terminate",
            "POST /scanner/api/v1/tasks/delete",
            "POST /scanner/api/v1/tasks/t%201/results/stat",
            "POST /scanner/api/v1/tasks/t%201/results/search",
            "GET /scanner/api/v1/tasks/t%201/results/v%2F1",
            "POST /scanner/api/v1/tasks/t%201/exploit-chains/search",
            "POST /scanner/api/v1/tasks/t%201/components/search",
            "GET /scanner/api/v2/tasks/t%201/report?type=html",
            exist.as_str(),
            upload.as_str(),
            "POST /scanner/api/v1/network-diagnostics",
            "GET /scanner/api/v1/network-diagnostics/d%2F1/next-stage",
            "GET /scanner/api/v1/domain-ownership/random-content",
            "POST /scanner/api/v1/domain-ownership/verify",
            "POST /scanner/api/v1/browsers",
            "GET /biz/api/v1/auth/clerk/publishable-key",
            "POST /scanner/api/v1/sca/static-analyze/mvn",
            "POST /scanner/api/v1/sca/static-analyze/mvn/zip",
            "POST /scanner/api/v1/shares/generate-id",
            "POST /scanner/api/v1/shares",
            "POST /scanner/api/v1/shares/search",
            "PATCH /scanner/api/v1/shares/s%201",
            "POST /scanner/api/v1/shares/delete",
            "GET /scanner/api/v1/shares/public/s%201",
            "POST /scanner/api/v1/shares/public/s%201",
            "GET /scanner/api/v1/shares/public/s%201/vuls/v%2F1",
            "POST /scanner/api/v1/shares/public/s%201/vuls/v%2F1",
            "POST /scanner/api/v1/shares/public/s%201/exploit-chains/v%2F1",
        ]
    );
    assert_eq!(seen[4].json(), json!({ "taskId": "t 1", "taskIds": ["t 1"] }));
    assert_eq!(seen[17].json()["domain"], "t.example:8443");
    assert!(seen[18].body.is_empty() && !seen[18].headers.contains_key("content-type"));
    assert_eq!(seen[25].json(), json!({ "extractionCode": Value::Null }));
    assert_eq!(seen[28].json(), json!({ "extractionCode": "code" }));
    for (at, seen) in seen.iter().enumerate() {
        let open = at == 19 || at >= 27;
        assert_eq!(seen.headers.get("authorization").map(String::as_str), (!open).then_some("Bearer a-user-token"), "{at}");
        assert_eq!((&*seen.headers["x-request-id"], &*seen.headers["x-user-language"]), ("ours", "zh"));
        assert!(seen.headers["user-agent"].starts_with("cardea/"));
        assert!(!seen.line.contains("code") || !seen.line.contains("extraction"));
    }
}

#[tokio::test]
async fn a_public_share_is_asked_with_the_server_key_only_where_the_tenant_says_so() {
    let fake = Fake::new(|_, seen| answer(&seen.line)).await;
    let key = call(Credential::ServerKey(Secret::new("sk")));
    for (setting, asker) in
        [(PublicAuth::Sk, &key), (PublicAuth::Sk, &user()), (PublicAuth::None, &key), (PublicAuth::None, &call(Credential::None))]
    {
        service(&fake.base, setting).public_share(asker, &id("s"), None).await.unwrap();
    }
    let sent: Vec<_> = fake.seen().iter().map(|seen| seen.headers.get("authorization").cloned()).collect();
    assert_eq!(sent, [Some("Bearer sk".to_owned()), None, None, None]);
}

#[tokio::test]
async fn refusals_of_a_share_are_told_as_what_they_mean_to_a_recipient() {
    let fake = Fake::new(|number, _| Reply::Json([401, 403, 400, 401, 403, 404, 404, 429, 500][number], json!({}))).await;
    let (service, nobody, share, code) = (fake.service(), call(Credential::None), id("s"), Secret::new("c"));
    for _ in 0..2 {
        assert_eq!(service.public_share(&nobody, &share, None).await.unwrap(), Opened::CodeNeeded);
    }
    for _ in 0..3 {
        assert_eq!(service.public_share(&nobody, &share, Some(&code)).await.unwrap(), Opened::WrongCode);
    }
    assert_eq!(service.public_share(&nobody, &share, Some(&code)).await.unwrap(), Opened::Gone);
    assert_eq!(service.public_share(&nobody, &share, None).await.unwrap(), Opened::Gone);
    let slowed = service.public_share(&nobody, &share, Some(&code)).await.unwrap_err();
    assert!(matches!(slowed.kind, Kind::TooMany { .. }) && slowed.retry);
    assert_eq!(service.public_share(&nobody, &share, Some(&code)).await.unwrap_err().kind, Kind::Unavailable);
    assert_eq!(fake.seen().len(), 9);
}

#[tokio::test]
async fn a_zipped_analysis_is_unpacked_and_a_bomb_is_not() {
    use std::io::{Cursor, Write as _};
    let zipped = |content: &[u8]| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("result.JSON", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
        zip.finish().unwrap().into_inner()
    };
    let bodies = [zipped(b"[{\"ID\":1},{\"ID\":2}]"), zipped(&vec![b' '; 5_000_000]), b"PK\x03\x04 broken".to_vec()];
    let fake = Fake::new(move |number, _| Reply::Raw(head_and(200, "application/zip", &bodies[number]))).await;
    let pom = || Bytes::from_static(b"<project/>");
    assert_eq!(fake.service().analyze_pom(&user(), pom()).await.unwrap().len(), 2);
    assert_eq!(fake.service().analyze_pom(&user(), pom()).await.unwrap_err().kind, Kind::Garbage);
    assert_eq!(fake.service().analyze_pom(&user(), pom()).await.unwrap_err().kind, Kind::Garbage);
}
