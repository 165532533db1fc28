//! A scanning service that answers as told and remembers what it was asked.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use crate::platform::digest::Running;

/// What the service holds and what was asked of it.
#[derive(Default)]
pub(super) struct Service {
    pub(super) tasks: Mutex<Vec<Value>>,
    pub(super) findings: Mutex<Vec<Value>>,
    /// None: an older service without such an operation.
    pub(super) components: Mutex<Option<Vec<Value>>>,
    /// None: as above.
    pub(super) chains: Mutex<Option<Vec<Value>>>,
    /// Paths of searches, and of reports with their query.
    pub(super) asked: Mutex<Vec<String>>,
    /// Hashes of files that arrived whole.
    pub(super) files: Mutex<Vec<String>>,
    /// Bytes of files that arrived, whole or not.
    pub(super) received: AtomicU64,
    pub(super) created: Mutex<Vec<Value>>,
    /// Media type and body of a report.
    pub(super) report: Mutex<(String, String)>,
    /// Passes over filters, as a service that does not know them.
    pub(super) plain: AtomicBool,
    /// Believes no token.
    pub(super) refuses: AtomicBool,
    /// Answer of next-stage; how often it was asked.
    pub(super) diagnosis: Mutex<Value>,
    pub(super) looks: AtomicU64,
    /// Milliseconds an answer of next-stage takes.
    pub(super) look_takes: AtomicU64,
    /// Bodies of diagnostics, of verifications.
    pub(super) diagnoses: Mutex<Vec<Value>>,
    pub(super) verifications: Mutex<Vec<Value>>,
    /// Whether the content is found; how many contents were given.
    pub(super) owned: AtomicBool,
    pub(super) contents: AtomicU64,
    /// Status and body of create and create-group, of a browser, of a started diagnosis.
    pub(super) create_answer: Mutex<Option<(u16, Value)>>,
    pub(super) browser_answer: Mutex<Option<(u16, Value)>>,
    pub(super) diagnosis_answer: Mutex<Option<(u16, Value)>>,
}

fn told(answer: &Mutex<Option<(u16, Value)>>, usual: Value) -> HttpResponse {
    let (status, body) = answer.lock().unwrap().clone().unwrap_or((200, usual));
    HttpResponse::build(actix_web::http::StatusCode::from_u16(status).unwrap()).json(body)
}

async fn diagnose(body: web::Json<Value>, service: Data<Service>) -> HttpResponse {
    let mut made = service.diagnoses.lock().unwrap();
    made.push(body.into_inner());
    told(&service.diagnosis_answer, json!({"id": format!("d{}", made.len())}))
}

async fn next_stage(service: Data<Service>) -> HttpResponse {
    service.looks.fetch_add(1, Ordering::SeqCst);
    let takes = std::time::Duration::from_millis(service.look_takes.load(Ordering::SeqCst));
    actix_web::rt::time::sleep(takes).await;
    let answer = service.diagnosis.lock().unwrap().clone();
    if answer.is_null() { HttpResponse::NotFound().finish() } else { HttpResponse::Ok().json(answer) }
}

async fn content(service: Data<Service>) -> HttpResponse {
    let number = service.contents.fetch_add(1, Ordering::SeqCst);
    HttpResponse::Ok().json(json!({"content": format!("{number:064x}"), "fileName": "hash.txt"}))
}

async fn verify(body: web::Json<Value>, service: Data<Service>) -> HttpResponse {
    service.verifications.lock().unwrap().push(body.into_inner());
    if service.owned.load(Ordering::SeqCst) {
        return HttpResponse::Ok().finish();
    }
    HttpResponse::BadRequest().json(json!({"message": "Neither <file> nor record", "data": {"errCode": 4002}}))
}

async fn browser(service: Data<Service>) -> HttpResponse {
    told(&service.browser_answer, json!({"url": "http://127.0.0.1:1/b/1?sig=x", "browserBoxId": "box-1"}))
}

async fn search(request: HttpRequest, body: Bytes, service: Data<Service>) -> HttpResponse {
    if service.refuses.load(Ordering::SeqCst) {
        return HttpResponse::Unauthorized().json(json!({"message": "no"}));
    }
    let sent: Value = serde_json::from_slice(&body).unwrap();
    service.asked.lock().unwrap().push(request.path().to_owned());
    let listed = match request.path().rsplit('/').nth(1).unwrap() {
        "results" => Some(service.findings.lock().unwrap().clone()),
        "components" => service.components.lock().unwrap().clone(),
        "exploit-chains" => service.chains.lock().unwrap().clone(),
        _ => Some(service.tasks.lock().unwrap().clone()),
    };
    let Some(mut rows) = listed else { return HttpResponse::NotFound().json(json!({"message": "no such operation"})) };
    if !service.plain.load(Ordering::SeqCst) {
        for filter in sent["filters"].as_array().unwrap() {
            let field = filter["field"].as_str().unwrap();
            rows.retain(|row| match (filter["operator"].as_str().unwrap(), &row[field]) {
                ("IN", Value::String(have)) => filter["value"].as_array().unwrap().iter().any(|one| one == have),
                ("EQ", have) => *have == filter["value"],
                ("LIKE", Value::String(have)) => have.contains(filter["value"].as_str().unwrap()),
                _ => true,
            });
        }
    }
    let (page, size) = (sent["page"].as_u64().unwrap(), sent["size"].as_u64().unwrap());
    let (total, first) = (rows.len(), usize::try_from(page * size).unwrap());
    let mut data: Vec<Value> = rows.into_iter().skip(first).take(usize::try_from(size).unwrap()).collect();
    // Rows of a list do not tell what a task was created with.
    for row in data.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("params");
    }
    HttpResponse::Ok().json(json!({ "data": data, "total": total }))
}

async fn task(id: web::Path<String>, service: Data<Service>) -> HttpResponse {
    let tasks = service.tasks.lock().unwrap();
    let found = tasks.iter().find(|task| task["taskId"] == json!(*id));
    found.map_or_else(|| HttpResponse::NotFound().json(json!({"message": "no task"})), |task| HttpResponse::Ok().json(task))
}

async fn finding(path: web::Path<(String, String)>, service: Data<Service>) -> HttpResponse {
    let findings = service.findings.lock().unwrap();
    let found = findings.iter().find(|row| row["vulId"] == json!(path.1));
    found.map_or_else(|| HttpResponse::NotFound().finish(), |row| HttpResponse::Ok().json(row))
}

/// Reads the multipart body as it comes; the file lies between the first blank line and the last boundary.
async fn upload(request: HttpRequest, mut form: actix_multipart::Multipart, service: Data<Service>) -> HttpResponse {
    let mut part = form.next().await.unwrap().unwrap();
    let mut hash = Running::default();
    while let Some(chunk) = part.next().await {
        let Ok(chunk) = chunk else { return HttpResponse::BadRequest().finish() };
        service.received.fetch_add(chunk.len() as u64, Ordering::SeqCst);
        hash.update(&chunk);
    }
    drop(part);
    if form.next().await.is_some() {
        return HttpResponse::BadRequest().json(json!({"message": request.query_string()}));
    }
    let hash = hash.finish();
    service.files.lock().unwrap().push(hash.clone());
    HttpResponse::Ok().json(json!({ "sha256": hash, "fileName": "x", "size": 1, "createdAt": "2026-01-01T00:00:00Z" }))
}

async fn exists(hash: web::Path<String>, service: Data<Service>) -> HttpResponse {
    if service.files.lock().unwrap().contains(&hash) {
        HttpResponse::Ok().json(&*hash)
    } else {
        HttpResponse::NotFound().finish()
    }
}

async fn create(body: web::Json<Value>, service: Data<Service>) -> HttpResponse {
    service.created.lock().unwrap().push(body.into_inner());
    told(&service.create_answer, json!({"taskId": "new1", "status": "CREATED", "createdAt": "2026-01-01T00:00:00Z"}))
}

async fn change(request: HttpRequest, body: web::Json<Value>, service: Data<Service>) -> HttpResponse {
    if service.refuses.load(Ordering::SeqCst) {
        return HttpResponse::Unauthorized().json(json!({"message": "no"}));
    }
    let ids = body["taskIds"].as_array().unwrap();
    let mut tasks = service.tasks.lock().unwrap();
    if request.path().ends_with("/delete") {
        tasks.retain(|task| !ids.contains(&task["taskId"]));
        return HttpResponse::Ok().finish();
    }
    let Some(task) = tasks.iter_mut().find(|task| ids.contains(&task["taskId"])) else {
        return HttpResponse::NotFound().finish();
    };
    if task["stuck"] == json!(true) {
        return HttpResponse::InternalServerError().finish();
    }
    if task["taskStatus"] != "RUNNING" {
        return HttpResponse::BadRequest().json(json!({"message": "ended"}));
    }
    task["taskStatus"] = json!("TERMINATED");
    HttpResponse::Ok().finish()
}

async fn report(request: HttpRequest, service: Data<Service>) -> HttpResponse {
    service.asked.lock().unwrap().push(format!("{}?{}", request.path(), request.query_string()));
    let (media_type, body) = service.report.lock().unwrap().clone();
    HttpResponse::Ok()
        .content_type(media_type)
        .insert_header(("content-disposition", "attachment; filename=\"../r\r.exe\"".replace('\r', "")))
        .insert_header(("set-cookie", "theirs=1"))
        .body(body)
}

pub(super) fn serve(service: Arc<Service>) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let service = Data::from(service);
    std::thread::spawn(move || {
        let factory = move || {
            App::new()
                .app_data(service.clone())
                .route("/scanner/api/v1/tasks/search", web::post().to(search))
                .route("/scanner/api/v1/tasks/terminate", web::post().to(change))
                .route("/scanner/api/v1/tasks/delete", web::post().to(change))
                .route("/scanner/api/v1/tasks/{id}", web::get().to(task))
                .route("/scanner/api/v1/tasks/{id}/results/search", web::post().to(search))
                .route("/scanner/api/v1/tasks/{id}/results/{vul}", web::get().to(finding))
                .route("/scanner/api/v1/tasks/{id}/components/search", web::post().to(search))
                .route("/scanner/api/v1/tasks/{id}/exploit-chains/search", web::post().to(search))
                .route("/scanner/api/v2/tasks", web::post().to(create))
                .route("/scanner/api/v2/tasks/create-group", web::post().to(create))
                .route("/scanner/api/v1/network-diagnostics", web::post().to(diagnose))
                .route("/scanner/api/v1/network-diagnostics/{id}/next-stage", web::get().to(next_stage))
                .route("/scanner/api/v1/domain-ownership/random-content", web::get().to(content))
                .route("/scanner/api/v1/domain-ownership/verify", web::post().to(verify))
                .route("/scanner/api/v1/browsers", web::post().to(browser))
                .route("/scanner/api/v2/tasks/{id}/report", web::get().to(report))
                .route("/scanner/api/v1/files/upload", web::post().to(upload))
                .route("/scanner/api/v1/files/check-exist/{sha256}", web::post().to(exists))
        };
        actix_web::rt::System::new()
            .block_on(HttpServer::new(factory).workers(1).disable_signals().listen(listener).unwrap().run())
    });
    address
}
