//! Tasks: create, search, get, terminate, delete. Deleting a running task terminates it first.

use actix_web::{HttpResponse, web};
use serde_json::{Map, Value, json};
use url::Url;

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search::{self, Field, Kind, Row};
use crate::contract::ids::{Sha256, TaskId};
use crate::contract::limits::MAX_PROJECT_NAME;
use crate::contract::tasks::{
    CreateTask, CreateTaskResponse, DeleteTasks, ResultsStat, Search, TaskDetail, TaskParams, TaskRow, TaskStatus, TerminateTask,
};
use crate::platform::{digest, random};
use crate::scanner::identity::Caller;
use crate::scanner::store::files::FileRecord;
use crate::scanner::store::tasks::{TaskRecord, Terminated};

/// What the composition analysis reads: languages whose builds are Java archives, and those whose lock files it knows.
const LANGUAGES: [&str; 10] =
    ["JAVA", "KOTLIN", "SCALA", "GROOVY", "CLOJURE", "JAVASCRIPT", "TYPESCRIPT", "PYTHON", "RUST", "GO"];

/// `POST /tasks` (v2).
pub(super) async fn create(app: web::Data<App>, caller: Caller, Body(body): Body<CreateTask>) -> Result<HttpResponse, Failure> {
    let artifact = check(&body)?;
    let (account, sha256) = (caller.account.clone(), artifact);
    let file = app.store.run(move |store| store.file(&account, &sha256)).await.map_err(Failure::internal)?;
    let file = file.ok_or_else(Failure::unknown_file)?;
    let request = request_hash(&caller, &body)?;
    let task = app.tasks.create(request, record(&app, caller, &body, file)?).await.map_err(Failure::internal)?;
    let created_at = task.created_at.rfc3339();
    Ok(HttpResponse::Ok().json(CreateTaskResponse { task_id: task.id, status: task.status, created_at }))
}

/// `POST /tasks/search`.
pub(super) async fn search(app: web::Data<App>, caller: Caller, Body(body): Body<Search>) -> Result<HttpResponse, Failure> {
    let mut tasks = app.store.run(move |store| store.tasks(&caller.account)).await.map_err(Failure::internal)?;
    tasks.sort_by(|left, right| right.created_at.cmp(&left.created_at).then_with(|| left.id.cmp(&right.id)));
    let page = search::page(tasks, &body)?;
    let data: Vec<TaskRow> = page.data.into_iter().map(row).collect();
    Ok(HttpResponse::Ok().json(json!({"data": data, "total": page.total})))
}

/// `GET /tasks/{taskId}`.
pub(super) async fn get(app: web::Data<App>, caller: Caller, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let task = find(&app, &caller, &path).await?;
    let id = task.id.clone();
    let summary = app.store.run(move |store| store.summary(&id)).await.map_err(Failure::internal)?;
    let detail = TaskDetail {
        progress: app.tasks.progress(&task),
        executed_at: task.executed_at.map(crate::platform::clock::Timestamp::rfc3339),
        ended_at: task.ended_at.map(crate::platform::clock::Timestamp::rfc3339),
        created_by: task.created_by.clone(),
        enable_static_verification: true,
        params: TaskParams { origin_request_data: task.origin.clone() },
        group_task_ids: Vec::new(),
        accounts: Vec::new(),
        summary,
        row: row(task),
    };
    Ok(HttpResponse::Ok().json(detail))
}

/// `POST /tasks/terminate`.
pub(super) async fn terminate(
    app: web::Data<App>,
    caller: Caller,
    Body(body): Body<TerminateTask>,
) -> Result<HttpResponse, Failure> {
    match app.tasks.terminate(caller.account, body.task_id, caller.name).await.map_err(Failure::internal)? {
        Terminated::Done => Ok(HttpResponse::Ok().finish()),
        Terminated::AlreadyEnded(status) => Err(Failure::bad(format!("The task has already ended: it is {}.", status.as_str()))),
        Terminated::Unknown => Err(Failure::not_found("task")),
    }
}

/// `POST /tasks/delete`: all or nothing, with findings and shares.
pub(super) async fn delete(app: web::Data<App>, caller: Caller, Body(body): Body<DeleteTasks>) -> Result<HttpResponse, Failure> {
    if body.task_ids.is_empty() {
        return Err(Failure::bad("taskIds names no task."));
    }
    let mut ids = body.task_ids;
    ids.sort();
    ids.dedup();
    match app.tasks.delete(caller.account, ids).await.map_err(Failure::internal)? {
        None => Ok(HttpResponse::Ok().finish()),
        Some(_) => Err(Failure::not_found("task; none was deleted")),
    }
}

/// A task of the caller.
pub(super) async fn find(app: &App, caller: &Caller, id: &str) -> Result<TaskRecord, Failure> {
    let id: TaskId = id.parse().map_err(Failure::bad_id)?;
    let account = caller.account.clone();
    let task = app.store.run(move |store| store.task(&account, &id)).await.map_err(Failure::internal)?;
    task.ok_or_else(|| Failure::not_found("task"))
}

/// Says what is wrong with a create, or which file it is about.
fn check(body: &CreateTask) -> Result<Sha256, Failure> {
    let name = body.project_name.trim();
    if name.is_empty() || name.chars().count() > MAX_PROJECT_NAME {
        return Err(Failure::bad(format!("projectName must have 1 to {MAX_PROJECT_NAME} characters.")));
    }
    let lang = body.lang.trim();
    if lang.is_empty() {
        return Err(Failure::bad("lang is missing: name the language, such as JAVA."));
    }
    if !LANGUAGES.iter().any(|known| known.eq_ignore_ascii_case(lang)) {
        let known = LANGUAGES.join(", ");
        return Err(Failure::bad(format!(
            "This service scans Java archives and source archives with lock files: lang must be one of {known}."
        )));
    }
    for (field, value) in
        [("sandboxHomePageUrl", &body.sandbox_home_page_url), ("sandboxTargetServiceUrl", &body.sandbox_target_service_url)]
    {
        if value.as_deref().is_some_and(|address| !address.is_empty() && web_address(address).is_none()) {
            return Err(Failure::bad(format!("{field} must be an http or https address.")));
        }
    }
    let artifact = body.primary_source_code.as_deref().or(body.java_package.as_deref());
    let artifact = artifact.ok_or_else(|| Failure::bad("primarySourceCode is missing: upload a file and name its sha256."))?;
    artifact.to_ascii_lowercase().parse().map_err(|error| Failure::bad(format!("primarySourceCode: {error}.")))
}

fn web_address(text: &str) -> Option<Url> {
    Url::parse(text.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Who asked and for what, as a hash: the body may hold secrets.
fn request_hash(caller: &Caller, body: &CreateTask) -> Result<String, Failure> {
    let text = serde_json::to_vec(&(&caller.account, &caller.name, body)).map_err(Failure::internal)?;
    Ok(digest::hex(&digest::sha256(&text)))
}

fn record(app: &App, caller: Caller, body: &CreateTask, file: FileRecord) -> Result<TaskRecord, Failure> {
    let now = app.clock.now();
    Ok(TaskRecord {
        id: random::hex_id().map_err(Failure::internal)?.parse().map_err(Failure::internal)?,
        account: caller.account,
        project_name: body.project_name.trim().to_owned(),
        lang: body.lang.trim().to_owned(),
        origin: origin(body, &file),
        artifact: file.sha256,
        file_name: file.name,
        status: TaskStatus::Created,
        progress: 0,
        created_by: caller.name,
        created_at: now,
        updated_at: now,
        executed_at: None,
        ended_at: None,
        err_code: None,
        err_detail: None,
        stat: ResultsStat::default(),
    })
}

/// What of a create body is kept and echoed. A closed list, so that captured sessions and whatever else a client adds
/// never reach the disk; user information is taken out of addresses.
fn origin(body: &CreateTask, file: &FileRecord) -> Map<String, Value> {
    let address = |text: &Option<String>| {
        text.as_deref().and_then(web_address).map(|mut url| {
            // Both only fail for addresses without a host, which are no web addresses.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            Value::from(String::from(url))
        })
    };
    let sources = body.source_code_infos.as_ref().and_then(Value::as_array).map(|list| list.iter().map(source).collect());
    let fields = [
        ("projectName", Some(Value::from(body.project_name.trim()))),
        ("lang", Some(Value::from(body.lang.trim()))),
        ("primarySourceCode", Some(Value::from(file.sha256.as_str()))),
        ("primarySourceCodeFileName", Some(Value::from(file.name.as_str()))),
        ("javaPackage", body.java_package.as_ref().map(|_| Value::from(file.sha256.as_str()))),
        ("sandboxHomePageUrl", address(&body.sandbox_home_page_url)),
        ("sandboxTargetServiceUrl", address(&body.sandbox_target_service_url)),
        ("sourceCodeInfos", sources.map(Value::Array)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn source(info: &Value) -> Value {
    let kept = ["type", "sourceCode", "fileName"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), info.get(name)?.as_str()?.into())));
    Value::Object(kept.collect())
}

fn row(task: TaskRecord) -> TaskRow {
    TaskRow {
        task_id: task.id,
        lang: task.lang,
        project_name: task.project_name,
        task_status: task.status,
        created_at: task.created_at.rfc3339(),
        updated_at: task.updated_at.rfc3339(),
        err_code: task.err_code,
        err_detail: task.err_detail,
        results_stat: task.stat,
        group_id: None,
        service_name: None,
    }
}

impl Row for TaskRecord {
    const FIELDS: &'static [(&'static str, Kind)] = &[
        ("taskId", Kind::Text),
        ("projectName", Kind::Text),
        ("lang", Kind::Text),
        ("taskStatus", Kind::Text),
        ("createdBy", Kind::Text),
        ("createdAt", Kind::Time),
        ("updatedAt", Kind::Time),
    ];

    fn field(&self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "taskId" => Field::Text(self.id.as_str().into()),
            "projectName" => Field::Text(self.project_name.as_str().into()),
            "lang" => Field::Text(self.lang.as_str().into()),
            "taskStatus" => Field::Text(self.status.as_str().into()),
            "createdBy" => Field::Text(self.created_by.as_str().into()),
            "createdAt" => Field::Time(self.created_at),
            "updatedAt" => Field::Time(self.updated_at),
            _ => return None,
        })
    }
}
