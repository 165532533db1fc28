//! Tasks: lists, one with what it found, create, stop, delete.

use super::Actor;
use super::credentials::Credentials;
use super::error::Error;
use super::lists::{self, Listed, Wanted};
use super::parts::Parts;
use crate::contract::ids::{Sha256, TaskId};
use crate::contract::limits::{MAX_PAGE_SIZE, MAX_PROJECT_NAME};
use crate::contract::tasks::{CreateTask, Search};
use crate::gateway::domain::filter::TaskFilter;
use crate::gateway::domain::finding::FindingRow;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::task::{Counts, Task};
use crate::gateway::upstream::Kind;

/// Rows on a page of the list.
pub(in crate::gateway) const PAGE: u32 = 50;
/// Findings on the page of a task.
const TOP: u32 = 5;
/// What the service scans now: compiled Java archives.
pub(in crate::gateway) const LANGUAGE: &str = "JAVA";
/// File names it takes.
pub(in crate::gateway) const ENDINGS: [&str; 3] = [".jar", ".war", ".ear"];

/// Use cases around tasks. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Tasks {
    pub(super) credentials: Credentials,
}

/// A scan to start. Made by [`NewTask::check`] only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct NewTask {
    project: String,
    sha256: Sha256,
}

/// What is wrong with the fields of a new scan; none is empty when there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Problems {
    pub(in crate::gateway) project: Option<&'static str>,
    pub(in crate::gateway) lang: Option<&'static str>,
    pub(in crate::gateway) file: Option<&'static str>,
}

impl Problems {
    pub(in crate::gateway) fn is_empty(&self) -> bool {
        self.project.is_none() && self.lang.is_none() && self.file.is_none()
    }

    /// Checks what can be checked before a file is sent. `file_name` stands in for an empty project name.
    pub(in crate::gateway) fn of(project: &str, lang: &str, file_name: &str) -> Self {
        let lower = file_name.trim().to_ascii_lowercase();
        let named = if project.trim().is_empty() { file_name.trim() } else { project.trim() };
        Self {
            project: (named.chars().count() > MAX_PROJECT_NAME).then_some("Use at most 200 characters for the project name."),
            lang: (!lang.eq_ignore_ascii_case(LANGUAGE)).then_some("Choose Java: the service scans nothing else yet."),
            file: if lower.is_empty() {
                Some("Choose a file.")
            } else if ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
                None
            } else {
                Some("Choose a .jar, .war or .ear file.")
            },
        }
    }
}

impl NewTask {
    /// A scan of an uploaded file. An empty project name becomes the file's.
    pub(in crate::gateway) fn check(project: &str, lang: &str, file_name: &str, sha256: Sha256) -> Result<Self, Problems> {
        let problems = Problems::of(project, lang, file_name);
        if !problems.is_empty() {
            return Err(problems);
        }
        let named = if project.trim().is_empty() { file_name.trim() } else { project.trim() };
        Ok(Self { project: named.to_owned(), sha256 })
    }
}

/// A task and the worst it found.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Overview {
    pub(in crate::gateway) task: Task,
    /// None until the task has finished.
    pub(in crate::gateway) counts: Option<Counts>,
    /// Most severe first.
    pub(in crate::gateway) top: Vec<FindingRow>,
    pub(in crate::gateway) parts: Parts,
}

impl Tasks {
    pub(in crate::gateway) const fn new(credentials: Credentials) -> Self {
        Self { credentials }
    }

    /// One page of the tasks that fit, newest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor, filter: &TaskFilter, size: u32) -> Result<Listed<Task>, Error> {
        let wanted =
            Wanted { filters: filter.wire(), sorts: vec!["-createdAt".to_owned()], page: filter.page.saturating_sub(1), size };
        lists::page(wanted, |task| filter.fits(task), |search| self.search(actor, search)).await
    }

    async fn search(&self, actor: &Actor, search: Search) -> Result<Listing<Task>, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let search = search.clone();
            async move { service.search_tasks(&call, &search).await }
        });
        ask.await
    }

    /// One task.
    pub(in crate::gateway) async fn get(&self, actor: &Actor, id: &TaskId) -> Result<Task, Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = id.clone();
            async move { service.task(&call, &id).await }
        });
        ask.await
    }

    /// One task with its counts and its most severe findings.
    pub(in crate::gateway) async fn overview(&self, actor: &Actor, id: &TaskId) -> Result<Overview, Error> {
        let task = self.get(actor, id).await?;
        if task.status != crate::gateway::domain::task::Status::Done {
            return Ok(Overview { task, counts: None, top: Vec::new(), parts: Parts::default() });
        }
        // What is cleared may stand among the worst at the service, and is none of them here.
        let cleared = task.counts.map_or(0, |counts| u32::try_from(counts.cleared).unwrap_or(MAX_PAGE_SIZE));
        let wanted = TOP.saturating_add(cleared).min(MAX_PAGE_SIZE);
        let top = self.credentials.with_user(actor, |service, call| {
            let id = id.clone();
            let search = Search { page: Some(0), size: Some(wanted), filters: Vec::new(), sorts: vec!["severity".to_owned()] };
            async move { service.search_results(&call, &id, &search).await }
        });
        let (counts, top, parts) = futures_util::future::join3(self.counts(actor, &task), top, self.parts(actor, &task)).await;
        let mut top = top?.items;
        top.retain(|row| !row.is_cleared());
        top.sort_by_key(FindingRow::rank);
        top.truncate(TOP as usize);
        Ok(Overview { counts: Some(counts?), task, top, parts })
    }

    /// How many findings a task has: as the task tells, or as the statistics do.
    pub(super) async fn counts(&self, actor: &Actor, task: &Task) -> Result<Counts, Error> {
        if let Some(counts) = task.counts {
            return Ok(counts);
        }
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = task.id.clone();
            async move { service.results_stat(&call, &id).await }
        });
        Ok(ask.await?.counts)
    }

    /// Starts a scan. The service takes a repeated create within a minute for the same task.
    pub(in crate::gateway) async fn create(&self, actor: &Actor, new: &NewTask) -> Result<TaskId, Error> {
        let body = CreateTask {
            project_name: new.project.clone(),
            lang: LANGUAGE.to_owned(),
            primary_source_code: Some(new.sha256.as_str().to_owned()),
            ..CreateTask::default()
        };
        let ask = self.credentials.with_user(actor, |service, call| {
            let body = body.clone();
            async move { service.create_task(&call, &body).await }
        });
        Ok(ask.await?.id)
    }

    /// Stops a running task.
    pub(in crate::gateway) async fn terminate(&self, actor: &Actor, id: &TaskId) -> Result<(), Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let id = id.clone();
            async move { service.terminate_task(&call, &id).await }
        });
        match ask.await {
            Err(Error::Upstream(error)) if matches!(error.kind, Kind::Invalid | Kind::Conflict) => {
                Err(Error::Conflict("The task has ended already, so there is nothing to stop.".to_owned()))
            }
            other => other,
        }
    }

    /// Deletes a task with its findings and shares.
    pub(in crate::gateway) async fn delete(&self, actor: &Actor, id: &TaskId) -> Result<(), Error> {
        self.delete_all(actor, vec![id.clone()]).await
    }

    /// Deletes all of these, or none.
    pub(super) async fn delete_all(&self, actor: &Actor, ids: Vec<TaskId>) -> Result<(), Error> {
        let ask = self.credentials.with_user(actor, |service, call| {
            let ids = ids.clone();
            async move { service.delete_tasks(&call, ids).await }
        });
        ask.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_scan_needs_a_java_archive_and_takes_its_name() {
        let sha256: Sha256 = "0".repeat(64).parse().unwrap();
        let named = NewTask::check("  ", "java", "shop.WAR", sha256.clone()).unwrap();
        assert_eq!(named.project, "shop.WAR");
        assert_eq!(NewTask::check(" Shop ", "JAVA", "a.jar", sha256.clone()).unwrap().project, "Shop");
        assert!(NewTask::check("x", "PYTHON", "a.jar", sha256.clone()).unwrap_err().lang.is_some());
        assert!(NewTask::check("x", "JAVA", "a.zip", sha256.clone()).unwrap_err().file.is_some());
        assert!(NewTask::check("x", "JAVA", "", sha256.clone()).unwrap_err().file.is_some());
        assert!(NewTask::check(&"x".repeat(201), "JAVA", "a.jar", sha256).unwrap_err().project.is_some());
    }
}
