//! Tasks: create, search, get, terminate, delete. Deleting a running task terminates it first.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::App;
use super::admission;
use super::error::Failure;
use super::extract::Body;
use super::search;
use crate::contract::error::codes;
use crate::contract::ids::TaskId;
use crate::contract::tasks::{
    CreateTask, CreateTaskResponse, DeleteTasks, Search, TaskDetail, TaskParams, TaskRow, TerminateFailure, TerminateTask,
    TerminateTasksResponse,
};
use crate::scanner::identity::Caller;
use crate::scanner::store::tasks::{TaskRecord, Terminated};

/// Tasks of one terminate at most.
const MOST_AT_ONCE: usize = 200;

/// `POST /tasks` (v2).
pub(super) async fn create(app: web::Data<App>, caller: Caller, Body(body): Body<CreateTask>) -> Result<HttpResponse, Failure> {
    let order = admission::order(&app, body)?;
    let artifact = admission::admit(&app, &caller, &order, &order.first()).await?;
    let request = admission::request_hash(&app, &caller, "create", &order.body)?;
    let new = admission::new_task(&app, &caller, &order, artifact, None)?;
    let task = app.tasks.create(request, new).await.map_err(Failure::internal)?;
    let created_at = task.created_at.rfc3339();
    Ok(HttpResponse::Ok().json(CreateTaskResponse { task_id: task.id, status: task.status, created_at }))
}

/// `POST /tasks/search`.
pub(super) async fn search(app: web::Data<App>, caller: Caller, Body(body): Body<Search>) -> Result<HttpResponse, Failure> {
    let query = search::query::<TaskRecord>(&body)?;
    let page = app.store.run(move |store| store.page::<TaskRecord>(&caller.account, &query)).await.map_err(Failure::internal)?;
    let data: Vec<TaskRow> = page.data.into_iter().map(row).collect();
    Ok(HttpResponse::Ok().json(json!({"data": data, "total": page.total})))
}

/// `GET /tasks/{taskId}`.
pub(super) async fn get(app: web::Data<App>, caller: Caller, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let task = find(&app, &caller, &path).await?;
    let (id, account, group) = (task.id.clone(), caller.account, task.group_id.clone());
    let known = app.store.run(move |store| {
        let together = group.map_or_else(|| Ok(Vec::new()), |group| store.group_tasks(&account, &group))?;
        Ok((store.summary(&id)?, together))
    });
    let (summary, group_task_ids) = known.await.map_err(Failure::internal)?;
    let detail = TaskDetail {
        progress: app.tasks.progress(&task),
        executed_at: task.executed_at.map(crate::platform::clock::Timestamp::rfc3339),
        ended_at: task.ended_at.map(crate::platform::clock::Timestamp::rfc3339),
        created_by: task.created_by.clone(),
        enable_static_verification: true,
        params: TaskParams { origin_request_data: task.origin.clone() },
        group_task_ids,
        accounts: task.accounts.clone(),
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
    let mut ids: Vec<TaskId> = body.task_id.into_iter().chain(body.task_ids).collect();
    ids.sort();
    ids.dedup();
    if ids.is_empty() || ids.len() > MOST_AT_ONCE {
        return Err(Failure::bad(format!("Name the task in taskId, or 1 to {MOST_AT_ONCE} tasks in taskIds.")));
    }
    let (mut terminated, mut refused) = (Vec::new(), Vec::new());
    for id in ids {
        match app.tasks.terminate(caller.account.clone(), id.clone(), caller.name.clone()).await.map_err(Failure::internal)? {
            Terminated::Done => terminated.push(id),
            Terminated::AlreadyEnded(status) => {
                refused.push((id, Failure::bad(format!("The task has already ended: it is {}.", status.as_str()))));
            }
            Terminated::Unknown => refused.push((id, Failure::not_found("task"))),
        }
    }
    if terminated.is_empty() {
        return Err(none_ended(refused));
    }
    if refused.is_empty() {
        return Ok(HttpResponse::Ok().finish());
    }
    let told = |(task_id, failure): (TaskId, Failure)| TerminateFailure {
        task_id,
        err_code: failure.code(),
        err_detail: failure.to_string(),
    };
    let failures = refused.into_iter().map(told).collect();
    Ok(HttpResponse::Ok().json(TerminateTasksResponse { terminated, failures }))
}

/// Nothing was ended: the one reason, 404 when none of them is there, or 400.
fn none_ended(mut refused: Vec<(TaskId, Failure)>) -> Failure {
    if refused.iter().all(|(_, failure)| failure.code() == codes::NOT_FOUND) {
        return Failure::not_found("task");
    }
    if let (1, Some((_, failure))) = (refused.len(), refused.pop()) {
        return failure;
    }
    Failure::bad("None of these tasks runs: each has ended, or there is no such task.")
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
        group_id: task.group_id,
        service_name: task.service_name,
    }
}
