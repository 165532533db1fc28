//! From a draft to scans: one task, or a group of them. What could not be started stays in the draft with the reason.

use serde_json::Value;

use super::Actor;
use super::credentials::Credentials;
use super::drafts::Drafts;
use super::error::Error;
use crate::contract::error::codes;
use crate::contract::ids::TaskId;
use crate::contract::tasks::{AuthInfo, CreateTask, GroupArtifact};
use crate::gateway::domain::draft::{Artifact, Became, Draft, DraftId, LANGUAGE, Notes, Started};
use crate::gateway::domain::group::GroupId;
use crate::gateway::domain::route_table::Subject;
use crate::gateway::domain::task::Created;
use crate::gateway::upstream::Kind;
use crate::platform::hostile::Hostile;

/// The use case. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Launch {
    credentials: Credentials,
    drafts: Drafts,
}

/// Outcome of starting a draft.
#[derive(Debug)]
pub(in crate::gateway) enum Outcome {
    /// Every artifact is being scanned; the draft is gone.
    Started { first: TaskId, group: Option<GroupId> },
    /// Some are; the draft keeps the others and says why.
    Partly,
    /// Nothing was started: the target's domain has to be proved first.
    OwnershipMissing,
    /// Nothing was started; the service's words.
    Refused(Hostile),
}

impl Launch {
    pub(in crate::gateway) const fn new(credentials: Credentials, drafts: Drafts) -> Self {
        Self { credentials, drafts }
    }

    /// Starts the scans of a draft that is still as the person saw it. Two starts at once: the second is told.
    pub(in crate::gateway) async fn start(&self, actor: &Actor, at: (&DraftId, &str)) -> Result<Outcome, Error> {
        let Some(lease) = self.drafts.begin_start(actor, at.0).await? else {
            return Err(Error::Conflict("This scan is being started already, perhaps from another tab.".to_owned()));
        };
        let outcome = self.create(actor, at).await;
        self.drafts.end_start(&lease).await;
        outcome
    }

    async fn create(&self, actor: &Actor, (id, version): (&DraftId, &str)) -> Result<Outcome, Error> {
        let held = self.drafts.seen(actor, (id, version)).await?;
        let body = body(&held.draft, &held.notes)?;
        let is_group = held.draft.artifacts.len() > 1;
        let ask = self.credentials.changing(actor, Subject::BY_A_NEW_TASK, |service, call| {
            let body = body.clone();
            async move {
                if is_group { service.create_task_group(&call, &body).await } else { service.create_task(&call, &body).await }
            }
        });
        match ask.await {
            Ok(created) => self.settle(actor, &held.draft, &created).await,
            Err(Error::Upstream(error)) if error.code == Some(i64::from(codes::OWNERSHIP_MISSING)) => {
                Ok(Outcome::OwnershipMissing)
            }
            Err(Error::Upstream(error))
                if matches!(error.kind, Kind::Invalid | Kind::Conflict | Kind::NotFound | Kind::Forbidden) =>
            {
                Ok(Outcome::Refused(error.text))
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps what was refused; a draft of which nothing is left is deleted.
    async fn settle(&self, actor: &Actor, draft: &Draft, created: &Created) -> Result<Outcome, Error> {
        let refused = |index: usize| created.failures.iter().find(|failure| usize::try_from(failure.index) == Ok(index));
        let failing = (0..draft.artifacts.len()).filter(|index| refused(*index).is_some()).count();
        if failing == 0 {
            let group = created.group.clone().filter(|_| draft.artifacts.len() > 1);
            let became = Became { project: draft.named(), task: created.id.clone(), group };
            self.drafts.replace(actor, draft, &became).await?;
            return Ok(Outcome::Started { first: became.task, group: became.group });
        }
        let (mut started, mut left) = (Vec::new(), Vec::new());
        let mut tasks = created.ids.iter();
        for (index, artifact) in draft.artifacts.iter().enumerate() {
            match refused(index) {
                Some(failure) => left.push(Artifact { refused: Some(failure.words.clone()), ..artifact.clone() }),
                None => {
                    if let Some(task) = tasks.next() {
                        started.push(Started { file_name: artifact.file_name.clone(), task: task.clone() });
                    }
                }
            }
        }
        let settle = self.drafts.settle(actor, &draft.id, |kept| {
            kept.started.extend(started.iter().cloned());
            kept.artifacts.clone_from(&left);
        });
        settle.await?;
        Ok(Outcome::Partly)
    }
}

/// The body of create, or of create-group when there are several artifacts (WIRE 5.1, 18 #2).
fn body(draft: &Draft, notes: &Notes) -> Result<CreateTask, Error> {
    let Some((first, others)) = draft.artifacts.split_first() else {
        return Err(Error::Invalid("Add a file to scan first.".to_owned()));
    };
    let target = draft.target.as_ref().map(|target| target.url.clone());
    let mut body = CreateTask {
        project_name: draft.named().raw().to_owned(),
        lang: LANGUAGE.to_owned(),
        primary_source_code: Some(first.sha256.as_str().to_owned()),
        sandbox_home_page_url: target,
        sandbox_target_service_url: first.target.clone(),
        sandbox_auth_infos: auth_infos(draft)?,
        browser_box_id: notes
            .box_id
            .as_ref()
            .filter(|_| draft.accounts.iter().any(|account| !account.typed))
            .map(|id| id.raw().to_owned()),
        source_code_infos: sources(draft),
        ..CreateTask::default()
    };
    if !others.is_empty() {
        body.primary_source_codes = Some(others.iter().map(grouped).collect());
    }
    if !first.service.is_empty() {
        body.other.insert("serviceName".to_owned(), Value::String(first.service.raw().to_owned()));
    }
    Ok(body)
}

fn grouped(artifact: &Artifact) -> GroupArtifact {
    GroupArtifact {
        source_code: artifact.sha256.clone(),
        file_name: Some(artifact.file_name.raw().to_owned()),
        service_name: (!artifact.service.is_empty()).then(|| artifact.service.raw().to_owned()),
        sandbox_target_service_url: artifact.target.clone(),
    }
}

fn auth_infos(draft: &Draft) -> Result<Option<Value>, Error> {
    if draft.accounts.is_empty() {
        return Ok(None);
    }
    // What was captured must not get into an error.
    let damaged = || Error::Internal("a captured session cannot be read".to_owned());
    let mut infos = Vec::new();
    for account in &draft.accounts {
        let info = AuthInfo {
            role_name: account.role.raw().to_owned(),
            login_url: account.url.clone(),
            origin_request_data: account.captured.reveal().map_err(|_| damaged())?,
        };
        infos.push(serde_json::to_value(&info).map_err(|_| damaged())?);
    }
    Ok(Some(Value::Array(infos)))
}

fn sources(draft: &Draft) -> Option<Value> {
    let source = |source: &crate::gateway::domain::draft::Source| serde_json::json!({ "type": source.kind.as_str(), "sourceCode": source.sha256, "fileName": source.file_name.raw() });
    (!draft.sources.is_empty()).then(|| draft.sources.iter().map(source).collect())
}
