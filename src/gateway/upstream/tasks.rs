//! Tasks at the service: create, create-group, search, one, terminate, delete.

use reqwest::Method;
use serde_json::json;

use crate::contract::ids::TaskId;
use crate::contract::paths;
use crate::contract::tasks::{CreateTask, DeleteTasks, Search};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::task::{Created, Task};

use super::credential::Call;
use super::error::UpstreamError;
use super::reading;
use super::service::{NOTHING, ScanningService, Send, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v2/tasks`. Never repeated by itself.
    pub(crate) async fn create_task(&self, call: &Call, task: &CreateTask) -> Result<Created, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::TASKS_CREATE), Send::Json(task), Repeat::Never).await?;
        needed(reading::created(&answer))
    }

    /// `POST /api/v2/tasks/create-group`: `task` holds the first artifact, `primary_source_codes` the others.
    pub(crate) async fn create_task_group(&self, call: &Call, task: &CreateTask) -> Result<Created, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::TASKS_CREATE_GROUP), Send::Json(task), Repeat::Never).await?;
        needed(reading::created(&answer))
    }

    /// `POST /api/v1/tasks/search`.
    pub(crate) async fn search_tasks(&self, call: &Call, search: &Search) -> Result<Listing<Task>, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::TASKS_SEARCH), Send::Json(search), Repeat::Safe).await?;
        Ok(reading::list(&answer, &["tasks"]).read(reading::task))
    }

    /// `GET /api/v1/tasks/{taskId}`.
    pub(crate) async fn task(&self, call: &Call, id: &TaskId) -> Result<Task, UpstreamError> {
        let answer = self.ask(call, (Method::GET, &paths::task(id)), NOTHING, Repeat::Safe).await?;
        needed(reading::task(&answer))
    }

    /// `POST /api/v1/tasks/terminate`. The id is sent in both forms services are known to read.
    pub(crate) async fn terminate_task(&self, call: &Call, id: &TaskId) -> Result<(), UpstreamError> {
        let body = json!({ "taskId": id, "taskIds": [id] });
        self.ask(call, (Method::POST, paths::TASKS_TERMINATE), Send::Json(&body), Repeat::Never).await.map(drop)
    }

    /// `POST /api/v1/tasks/delete`: all of them or none.
    pub(crate) async fn delete_tasks(&self, call: &Call, ids: Vec<TaskId>) -> Result<(), UpstreamError> {
        let body = DeleteTasks { task_ids: ids };
        self.ask(call, (Method::POST, paths::TASKS_DELETE), Send::Json(&body), Repeat::Never).await.map(drop)
    }
}
