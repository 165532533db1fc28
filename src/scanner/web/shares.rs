//! The owner's side of shares: ids, create, search, change, delete. Any member of the account manages them.

use actix_web::{HttpResponse, web};
use serde_json::json;

use super::App;
use super::error::Failure;
use super::extract::Body;
use super::search;
use super::tasks;
use crate::contract::ids::{ShareId, VulId};
use crate::contract::shares::{CreateShare, CreatedShare, DeleteShares, GeneratedShareId, ShareRow, ShareType, UpdateShare};
use crate::contract::tasks::{Search, TaskStatus};
use crate::platform::clock::Timestamp;
use crate::platform::random;
use crate::platform::secret::Secret;
use crate::scanner::identity::Caller;
use crate::scanner::store::lists;
use crate::scanner::store::shares::{Change, ShareChange, ShareRecord};
use crate::scanner::store::tasks::TaskRecord;

/// Length of a generated id; shorter ones could be guessed and are refused.
const SHORTEST_ID: usize = 22;
/// Characters of an extraction code.
const CODE_LENGTH: std::ops::RangeInclusive<usize> = 6..=128;

/// `POST /shares/generate-id`.
pub(super) async fn generate_id(_: Caller) -> Result<HttpResponse, Failure> {
    let share_id = random::id().map_err(Failure::internal)?.parse().map_err(Failure::internal)?;
    Ok(HttpResponse::Ok().json(GeneratedShareId { share_id }))
}

/// `POST /shares`. The same create again, id and code included, gets the same answer.
pub(super) async fn create(app: web::Data<App>, caller: Caller, Body(body): Body<CreateShare>) -> Result<HttpResponse, Failure> {
    let task = tasks::find(&app, &caller, body.task_id.as_str()).await?;
    let share = check(&app, caller, &body, task).await?;
    let code = body.extraction_code.as_deref().map(code).transpose()?;
    let code_hash = match code.clone() {
        Some(code) => Some(app.codes.hash(code).await.map_err(Failure::internal)?),
        None => None,
    };
    let share = ShareRecord { code_hash, ..share };
    let wanted = share.clone();
    let known = app.store.run(move |store| store.create_share(&share)).await.map_err(Failure::internal)?;
    if let Some(known) = known
        && !is_repeated(&app, &wanted, known, code).await?
    {
        return Err(Failure::bad("This shareId is taken. Ask generate-id for a new one."));
    }
    let expired_at = wanted.expired_at.map(Timestamp::rfc3339);
    Ok(HttpResponse::Ok().json(CreatedShare { share_id: wanted.id, expired_at }))
}

/// `POST /shares/search`.
pub(super) async fn search(app: web::Data<App>, caller: Caller, Body(body): Body<Search>) -> Result<HttpResponse, Failure> {
    let mut shares = app.store.run(move |store| store.shares(&caller.account)).await.map_err(Failure::internal)?;
    shares.sort_by(|left, right| right.created_at.cmp(&left.created_at).then_with(|| left.id.cmp(&right.id)));
    let page = lists::page(shares, &search::query::<ShareRecord>(&body)?);
    let data: Vec<ShareRow> = page.data.into_iter().map(row).collect();
    Ok(HttpResponse::Ok().json(json!({"data": data, "total": page.total})))
}

/// `PATCH /shares/{shareId}`.
pub(super) async fn update(
    app: web::Data<App>,
    caller: Caller,
    path: web::Path<String>,
    Body(body): Body<UpdateShare>,
) -> Result<HttpResponse, Failure> {
    let id: ShareId = path.parse().map_err(|_| Failure::not_found("share"))?;
    let expired_at = match body.expired_at {
        Some(Some(end)) => Change::Set(future(&app, &end)?),
        Some(None) => Change::Remove,
        None => Change::Keep,
    };
    let code_hash = match body.extraction_code {
        Some(Some(text)) => Change::Set(app.codes.hash(code(&text)?).await.map_err(Failure::internal)?),
        Some(None) => Change::Remove,
        None => Change::Keep,
    };
    let change = ShareChange { expired_at, code_hash };
    let changed =
        app.store.run(move |store| store.update_share(&caller.account, &id, change)).await.map_err(Failure::internal)?;
    if changed { Ok(HttpResponse::Ok().finish()) } else { Err(Failure::not_found("share")) }
}

/// `POST /shares/delete`: all or nothing.
pub(super) async fn delete(app: web::Data<App>, caller: Caller, Body(body): Body<DeleteShares>) -> Result<HttpResponse, Failure> {
    if body.share_ids.is_empty() {
        return Err(Failure::bad("shareIds names no share."));
    }
    let ids = body.share_ids;
    match app.store.run(move |store| store.delete_shares(&caller.account, &ids)).await.map_err(Failure::internal)? {
        None => Ok(HttpResponse::Ok().finish()),
        Some(_) => Err(Failure::not_found("share; none was deleted")),
    }
}

/// A share without its code, if everything about it is in order.
async fn check(app: &App, caller: Caller, body: &CreateShare, task: TaskRecord) -> Result<ShareRecord, Failure> {
    let id = &body.share_id;
    let url_safe = id.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if id.as_str().len() < SHORTEST_ID || !url_safe {
        return Err(Failure::bad("shareId must come from generate-id."));
    }
    if task.status != TaskStatus::Success {
        return Err(Failure::bad(format!("Only a finished task can be shared; this one is {}.", task.status.as_str())));
    }
    let vul_ids = match body.share_type {
        ShareType::Report => Vec::new(),
        ShareType::Vul => chosen(app, &task, &body.vul_ids).await?,
    };
    let expired_at = body.expired_at.as_deref().map(|end| future(app, end)).transpose()?;
    Ok(ShareRecord {
        id: id.clone(),
        account: caller.account,
        task_id: task.id,
        project_name: task.project_name,
        share_type: body.share_type,
        vul_ids,
        code_hash: None,
        expired_at,
        created_at: app.clock.now(),
        created_by: caller.name,
    })
}

/// The findings a share is about, each once.
async fn chosen(app: &App, task: &TaskRecord, ids: &[VulId]) -> Result<Vec<VulId>, Failure> {
    if ids.is_empty() {
        return Err(Failure::bad("vulIds names no finding. A share of type VUL needs at least one."));
    }
    let id = task.id.clone();
    let rows = app.store.run(move |store| store.finding_rows(&id)).await.map_err(Failure::internal)?;
    if ids.iter().any(|id| !rows.iter().any(|row| row.vul_id == *id)) {
        return Err(Failure::bad("vulIds names a finding that the task does not have."));
    }
    Ok(rows.into_iter().map(|row| row.vul_id).filter(|id| ids.contains(id)).collect())
}

async fn is_repeated(app: &App, wanted: &ShareRecord, known: ShareRecord, code: Option<Secret>) -> Result<bool, Failure> {
    let same = known.account == wanted.account
        && known.task_id == wanted.task_id
        && known.share_type == wanted.share_type
        && known.vul_ids == wanted.vul_ids
        && known.expired_at == wanted.expired_at;
    match (same, known.code_hash, code) {
        (true, None, None) => Ok(true),
        (true, Some(hash), Some(code)) => app.codes.verify(code, hash).await.map_err(Failure::internal),
        _ => Ok(false),
    }
}

fn code(text: &str) -> Result<Secret, Failure> {
    if CODE_LENGTH.contains(&text.chars().count()) {
        return Ok(Secret::new(text));
    }
    Err(Failure::bad(format!("extractionCode must have {} to {} characters.", CODE_LENGTH.start(), CODE_LENGTH.end())))
}

fn future(app: &App, text: &str) -> Result<Timestamp, Failure> {
    let end =
        Timestamp::parse_rfc3339(text).ok_or_else(|| Failure::bad("expiredAt must be a time such as 2026-01-31T12:00:00Z."))?;
    if end > app.clock.now() {
        Ok(end)
    } else {
        Err(Failure::bad("expiredAt must lie in the future. To end a share now, delete it."))
    }
}

fn row(share: ShareRecord) -> ShareRow {
    ShareRow {
        share_id: share.id,
        task_id: share.task_id,
        project_name: share.project_name,
        share_type: share.share_type,
        vul_ids: share.vul_ids,
        need_extraction_code: share.code_hash.is_some(),
        expired_at: share.expired_at.map(Timestamp::rfc3339),
        created_at: share.created_at.rfc3339(),
        created_by: share.created_by,
    }
}
