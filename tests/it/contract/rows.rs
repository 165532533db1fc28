//! The table: every operation of the interface, in its order, then those added.

use reqwest::Method;
use serde_json::{Value, json};

use super::operation::{Ask, Cause, Foreign, Gives, Operation, Sends};
use super::world::{CODE, World};
use crate::support::jar;
use crate::support::scanner::ACME;

const NO_ID: &str = "the request names nothing that could be missing";
const NO_INPUT: &str = "the request holds nothing that could be wrong";
const ANYBODY: &str = "anybody may ask";
const INSIDE: &str = "needs a fault inside the service; that one is a 500 with an ErrorResponse is tested beside the guard";
const OF_ANY_FORM: &str = "an id of any form is unknown, so that ids cannot be told apart";

const ROW: &[&str] = &["taskId", "lang", "projectName", "taskStatus", "createdAt", "updatedAt", "resultsStat"];
const VUL_ROW: &[&str] = &["ovId", "vulId", "category", "description", "cweId", "taskId", "purchaseStatus", "price", "severity"];
const VUL: &[&str] = &[
    "ovId",
    "vulId",
    "taskId",
    "category",
    "description",
    "cweId",
    "severity",
    "purchaseStatus",
    "taskLang",
    "location",
    "verifyResult",
    "pocScript",
    "pocScriptOutput",
    "fixSuggestion",
    "codeFlow",
    "codeSnippet",
    "componentTask",
];
const CREATED: &[&str] = &["taskId", "status", "createdAt"];
const STAT: &[&str] = &["total", "lowCount", "mediumCount", "highCount", "criticalCount", "purchased", "detail"];
const PUBLIC_SHARE: &[&str] =
    &["shareId", "shareType", "projectName", "lang", "taskId", "needExtractionCode", "resultsStat", "vuls", "exploitChains"];
const CHAIN: &[&str] = &["vulId", "taskId", "title", "category", "severity", "description", "stepCount", "vulIds", "steps"];

/// Every operation.
pub(super) fn all(world: &World) -> Vec<Operation> {
    [
        creates(world),
        tasks(world),
        results(world),
        files(world),
        targets(world),
        shares(world),
        public_shares(world),
        added(world),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// An operation of an account. `bad` are requests that are 400, `missing` one that is 404.
fn of_account(
    name: &'static str,
    (ask, gives): (Ask, Gives),
    bad: Vec<(Ask, u32)>,
    missing: Option<Ask>,
    foreign: Foreign,
) -> Operation {
    let as_acme = |status, ask, code| (status, Cause::Asked(Some(ACME), ask, code));
    let mut errors: Vec<(u16, Cause)> = bad.into_iter().map(|(ask, code)| as_acme(400, ask, code)).collect();
    if errors.is_empty() {
        errors.push((400, Cause::Never(NO_INPUT)));
    }
    errors.push(missing.map_or((404, Cause::Never(NO_ID)), |ask| as_acme(404, ask, 4040)));
    for (bearer, status, code) in
        [(None, 401, 4010), (Some("wrong"), 401, 4010), (Some("nobody"), 403, 4030), (Some("broken"), 500, 5001)]
    {
        errors.push((status, Cause::Asked(bearer, ask.clone(), code)));
    }
    Operation { name, ask, gives, errors, foreign, public: false }
}

/// An operation anybody may ask. `locked` asks for something that needs a code, `missing` for something unknown.
fn of_anybody(
    name: &'static str,
    (ask, gives): (Ask, Gives),
    bad: Option<Ask>,
    (locked, code): (Ask, u32),
    missing: Ask,
) -> Operation {
    let errors = vec![
        (400, bad.map_or(Cause::Never(OF_ANY_FORM), |ask| Cause::Asked(None, ask, 4000))),
        (401, Cause::Never(ANYBODY)),
        (403, Cause::Asked(None, locked, code)),
        (404, Cause::Asked(None, missing, 4040)),
        (500, Cause::Never(INSIDE)),
    ];
    Operation { name, ask, gives, errors, foreign: Foreign::Nothing, public: true }
}

fn creates(world: &World) -> Vec<Operation> {
    let (create, group) = ("/api/v2/tasks", "/api/v2/tasks/create-group");
    let body = json!({
        "projectName": "Shop", "lang": "JAVA", "primarySourceCode": world.hash, "sandboxAuthInfos": [], "sourceCodeInfos": []
    });
    let with = |field: &str, value: Value| {
        let mut body = body.clone();
        body[field] = value;
        body
    };
    let unknown = "0".repeat(64);
    let wrong_bodies = |path: &str| {
        vec![
            (Ask::new(Method::POST, path, Sends::Text("{")), 4000),
            (Ask::post(path, with("projectName", json!(""))), 4000),
            (Ask::post(path, with("lang", json!(7))), 4000),
            (Ask::post(path, with("sandboxAuthInfos", json!("x"))), 4000),
            (Ask::post(path, with("primarySourceCode", json!("x"))), 4000),
            (Ask::post(path, with("primarySourceCode", json!(unknown))), 4001),
        ]
    };
    let further = json!([{"sourceCode": world.hash, "fileName": "a.jar", "serviceName": "second"}]);
    vec![
        of_account(
            "TASKS_CREATE",
            (Ask::post(create, body.clone()), Gives::Object(CREATED)),
            wrong_bodies(create),
            None,
            Foreign::Refused(400, 4001),
        ),
        of_account(
            "TASKS_CREATE_GROUP",
            (
                Ask::post(group, with("primarySourceCodes", further)),
                Gives::Object(&["taskId", "status", "createdAt", "groupId", "taskIds"]),
            ),
            wrong_bodies(group),
            None,
            Foreign::Refused(400, 4001),
        ),
    ]
}

fn tasks(world: &World) -> Vec<Operation> {
    let (search, terminate, delete) = ("/api/v1/tasks/search", "/api/v1/tasks/terminate", "/api/v1/tasks/delete");
    let task = |id: &str| Ask::get(format!("/api/v1/tasks/{id}"));
    vec![
        of_account(
            "TASKS_SEARCH",
            (Ask::post(search, json!({"page": 0, "size": 10})), Gives::List(ROW)),
            vec![(Ask::post(search, json!({"size": 201})), 4000), (Ask::new(Method::POST, search, Sends::Text("[]")), 4000)],
            None,
            Foreign::EmptyList,
        ),
        of_account(
            "TASK",
            (task(&world.task), Gives::Object(ROW)),
            vec![(task(&"a".repeat(33)), 4000)],
            Some(task("unknown")),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "TASKS_TERMINATE",
            (Ask::post(terminate, json!({"taskId": world.running})), Gives::Empty),
            vec![(Ask::post(terminate, json!({"taskId": world.task})), 4000), (Ask::post(terminate, json!({})), 4000)],
            Some(Ask::post(terminate, json!({"taskId": "unknown"}))),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "TASKS_DELETE",
            (Ask::post(delete, json!({"taskIds": [world.doomed]})), Gives::Empty),
            vec![(Ask::post(delete, json!({"taskIds": []})), 4000), (Ask::post(delete, json!({})), 4000)],
            Some(Ask::post(delete, json!({"taskIds": [world.doomed, "unknown"]}))),
            Foreign::Refused(404, 4040),
        ),
    ]
}

fn results(world: &World) -> Vec<Operation> {
    let at = |id: &str, rest: &str| format!("/api/v1/tasks/{id}/results/{rest}");
    let report = |id: &str, kind: &str| Ask::get(format!("/api/v2/tasks/{id}/report?type={kind}"));
    let long = "a".repeat(33);
    vec![
        of_account(
            "RESULTS_STAT",
            (Ask::post_nothing(at(&world.task, "stat")), Gives::Object(STAT)),
            vec![(Ask::post_nothing(at(&long, "stat")), 4000)],
            Some(Ask::post_nothing(at("unknown", "stat"))),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "RESULTS_SEARCH",
            (
                Ask::post(at(&world.task, "search"), json!({"page": 0, "size": 100, "filters": [], "sorts": ["severity"]})),
                Gives::List(VUL_ROW),
            ),
            vec![(Ask::post(at(&world.task, "search"), json!({"sorts": ["nothing"]})), 4000)],
            Some(Ask::post(at("unknown", "search"), json!({}))),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "RESULT",
            (Ask::get(at(&world.task, &world.vul)), Gives::Object(VUL)),
            vec![(Ask::get(at(&long, &world.vul)), 4000)],
            Some(Ask::get(at(&world.task, "unknown"))),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "REPORT",
            (report(&world.task, "html"), Gives::Bytes(b"<!")),
            vec![(report(&world.task, "docx"), 4000), (report(&long, "html"), 4000), (report(&world.running, "html"), 4000)],
            Some(report("unknown", "html")),
            Foreign::Refused(404, 4040),
        ),
    ]
}

fn files(world: &World) -> Vec<Operation> {
    let upload = "/api/v1/files/upload";
    let file = || Sends::File("b.jar", jar::library("com.example", "b", "1.0"));
    let exists = |hash: &str| Ask::post_nothing(format!("/api/v1/files/check-exist/{hash}"));
    vec![
        of_account(
            "FILES_UPLOAD",
            (Ask::new(Method::POST, upload, file()), Gives::Object(&["sha256", "fileName", "size", "createdAt"])),
            vec![
                (Ask::new(Method::POST, format!("{upload}?sha256=short"), file()), 4000),
                (Ask::new(Method::POST, format!("{upload}?sha256={}", "0".repeat(64)), file()), 4000),
                (Ask::new(Method::POST, upload, Sends::OtherForm), 4000),
                (Ask::new(Method::POST, upload, Sends::Nothing), 4000),
            ],
            None,
            Foreign::Nothing,
        ),
        of_account(
            "FILES_CHECK_EXIST",
            (exists(&world.hash), Gives::Text),
            vec![(exists("short"), 4000)],
            Some(exists(&"0".repeat(64))),
            Foreign::Refused(404, 4040),
        ),
    ]
}

/// What is about a target: diagnostics, ownership, browsers.
fn targets(world: &World) -> Vec<Operation> {
    let (diagnostics, verify) = ("/api/v1/network-diagnostics", "/api/v1/domain-ownership/verify");
    let next = |id: &str| Ask::get(format!("/api/v1/network-diagnostics/{id}/next-stage"));
    vec![
        of_account(
            "DIAGNOSTICS",
            (Ask::post(diagnostics, json!({"testUrl": world.site})), Gives::Object(&["id"])),
            vec![(Ask::post(diagnostics, json!({})), 4000), (Ask::post(diagnostics, json!({"testUrl": "x".repeat(5000)})), 4000)],
            None,
            Foreign::Nothing,
        ),
        of_account(
            "DIAGNOSTICS_NEXT",
            (next(&world.diagnosis), Gives::Object(&["diagId", "testUrl", "status", "stageCount", "stages"])),
            vec![],
            Some(next("unknown")),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "DOMAIN_CONTENT",
            (Ask::get("/api/v1/domain-ownership/random-content"), Gives::Object(&["content", "expiredAt", "fileName"])),
            vec![],
            None,
            Foreign::Nothing,
        ),
        of_account(
            "DOMAIN_VERIFY",
            (Ask::post(verify, json!({"url": world.site, "content": world.content})), Gives::Empty),
            vec![
                (Ask::post(verify, json!({})), 4000),
                (Ask::post(verify, json!({"url": world.site, "content": "0".repeat(64)})), 4000),
                (Ask::post(verify, json!({"url": world.bare_site, "content": world.content})), 4002),
            ],
            None,
            Foreign::Refused(400, 4000),
        ),
        of_account(
            "BROWSERS",
            (Ask::post_nothing("/api/v1/browsers"), Gives::Object(&["url", "browserBoxId"])),
            vec![],
            None,
            Foreign::Nothing,
        ),
    ]
}

fn shares(world: &World) -> Vec<Operation> {
    let shares = "/api/v1/shares";
    let (search, delete) = ("/api/v1/shares/search", "/api/v1/shares/delete");
    let share = |id: &str, body: Value| Ask::new(Method::PATCH, format!("/api/v1/shares/{id}"), Sends::Json(body));
    let body = |id: &str, task: &str| json!({"shareId": id, "taskId": task, "shareType": "VUL", "vulIds": [world.vul]});
    vec![
        of_account(
            "SHARES",
            (Ask::post(shares, body(&world.fresh, &world.task)), Gives::Object(&["shareId"])),
            vec![(Ask::post(shares, json!({})), 4000), (Ask::post(shares, body(&world.fresh, &world.running)), 4000)],
            Some(Ask::post(shares, body(&world.fresh, "unknown"))),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "SHARES_SEARCH",
            (
                Ask::post(search, json!({})),
                Gives::List(&[
                    "shareId",
                    "taskId",
                    "projectName",
                    "shareType",
                    "vulIds",
                    "needExtractionCode",
                    "createdAt",
                    "createdBy",
                ]),
            ),
            vec![(Ask::post(search, json!({"size": 0})), 4000)],
            None,
            Foreign::EmptyList,
        ),
        of_account(
            "SHARES_GENERATE_ID",
            (Ask::post_nothing("/api/v1/shares/generate-id"), Gives::Object(&["shareId"])),
            vec![],
            None,
            Foreign::Nothing,
        ),
        of_account(
            "SHARE",
            (share(&world.changed, json!({"extractionCode": "another-code"})), Gives::Empty),
            vec![(share(&world.changed, json!({"expiredAt": "tomorrow"})), 4000)],
            Some(share("unknown", json!({}))),
            Foreign::Refused(404, 4040),
        ),
        of_account(
            "SHARES_DELETE",
            (Ask::post(delete, json!({"shareIds": [world.ended]})), Gives::Empty),
            vec![(Ask::post(delete, json!({"shareIds": []})), 4000)],
            Some(Ask::post(delete, json!({"shareIds": ["unknown"]}))),
            Foreign::Refused(404, 4040),
        ),
    ]
}

fn public_shares(world: &World) -> Vec<Operation> {
    let at = |id: &str, rest: &str| format!("/api/v1/shares/public/{id}{rest}");
    let (vul, chain) = (format!("/vuls/{}", world.vul), format!("/exploit-chains/{}", world.chain));
    let get = |id: &str, rest: &str| Ask::get(at(id, rest));
    let enter = |id: &str, rest: &str, code: &str| Ask::post(at(id, rest), json!({"extractionCode": code}));
    let garbage = |rest: &str| Some(Ask::new(Method::POST, at(&world.locked, rest), Sends::Text("{")));
    let locked = world.locked.as_str();
    let opened = |name, rest: &str, fields| {
        of_anybody(
            name,
            (enter(locked, rest, CODE), Gives::Object(fields)),
            garbage(rest),
            (enter(locked, rest, "wrong"), 4032),
            enter("unknown", rest, CODE),
        )
    };
    let seen = |name, rest: &str, fields| {
        of_anybody(name, (get(&world.open, rest), Gives::Object(fields)), None, (get(locked, rest), 4031), get("unknown", rest))
    };
    vec![
        seen("SHARE_PUBLIC", "", PUBLIC_SHARE),
        opened("SHARE_PUBLIC", "", PUBLIC_SHARE),
        seen("SHARE_PUBLIC_VUL", &vul, VUL),
        opened("SHARE_PUBLIC_VUL", &vul, VUL),
        opened("SHARE_PUBLIC_CHAIN", &chain, CHAIN),
    ]
}

/// Beside the interface's tables: the bootstrap, components, chains, composition analysis.
fn added(world: &World) -> Vec<Operation> {
    let at = |id: &str, what: &str| format!("/api/v1/tasks/{id}/{what}/search");
    let of_task = |name, what: &str, fields| {
        of_account(
            name,
            (Ask::post(at(&world.task, what), json!({})), Gives::List(fields)),
            vec![(Ask::post(at(&world.task, what), json!({"sorts": ["nothing"]})), 4000)],
            Some(Ask::post(at("unknown", what), json!({}))),
            Foreign::Refused(404, 4040),
        )
    };
    let pom = b"<project><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>".to_vec();
    let analyze = |name, path: &str, file: &'static str, bytes: Vec<u8>| {
        of_account(
            name,
            (Ask::new(Method::POST, path, Sends::File(file, bytes)), Gives::Bytes(b"PK")),
            vec![(Ask::new(Method::POST, path, Sends::OtherForm), 4000)],
            None,
            Foreign::Nothing,
        )
    };
    let key = Ask::get("/biz/api/v1/auth/clerk/publishable-key");
    let bootstrap = Operation {
        name: "PUBLISHABLE_KEY",
        gives: Gives::Object(&["publishableKey"]),
        errors: vec![
            (400, Cause::Never(NO_INPUT)),
            (401, Cause::Never(ANYBODY)),
            (403, Cause::Never(ANYBODY)),
            (404, Cause::Never("only without a configured key, which a test of its own has")),
            (500, Cause::Never(INSIDE)),
        ],
        ask: key,
        foreign: Foreign::Nothing,
        public: true,
    };
    vec![
        of_task("CHAINS_SEARCH", "exploit-chains", CHAIN),
        of_task("COMPONENTS_SEARCH", "components", &["name", "version", "purl", "path"]),
        analyze("SCA_MAVEN", "/api/v1/sca/static-analyze/mvn", "pom.xml", pom.clone()),
        analyze("SCA_MAVEN_ZIP", "/api/v1/sca/static-analyze/mvn/zip", "poms.zip", jar::archive(&[("pom.xml", &pom)])),
        bootstrap,
    ]
}
