//! The recipient's side of shares: no account, no bearer. GET serves shares without a code, POST those with one; a
//! protected share tells nothing but that it wants its code, and unknown and ended shares look the same.

use actix_web::{HttpResponse, web};

use super::App;
use super::codes::Try;
use super::error::Failure;
use super::extract::Body;
use crate::contract::chains::ExploitChain;
use crate::contract::ids::VulId;
use crate::contract::shares::{ExtractShare, PublicShare, ShareType};
use crate::platform::clock::Timestamp;
use crate::platform::secret::Secret;
use crate::scanner::store::shares::ShareRecord;
use crate::scanner::tasks::count;

/// `GET /shares/public/{shareId}`.
pub(super) async fn get(app: web::Data<App>, path: web::Path<String>) -> Result<HttpResponse, Failure> {
    let share = open(&app, &path, None).await?;
    content(&app, share).await
}

/// `POST /shares/public/{shareId}`.
pub(super) async fn extract(
    app: web::Data<App>,
    path: web::Path<String>,
    Body(body): Body<ExtractShare>,
) -> Result<HttpResponse, Failure> {
    let share = open(&app, &path, Some(body)).await?;
    content(&app, share).await
}

/// `GET /shares/public/{shareId}/vuls/{vulId}`.
pub(super) async fn get_finding(app: web::Data<App>, path: web::Path<(String, String)>) -> Result<HttpResponse, Failure> {
    let share = open(&app, &path.0, None).await?;
    finding(&app, share, &path.1).await
}

/// `POST /shares/public/{shareId}/vuls/{vulId}`.
pub(super) async fn extract_finding(
    app: web::Data<App>,
    path: web::Path<(String, String)>,
    Body(body): Body<ExtractShare>,
) -> Result<HttpResponse, Failure> {
    let share = open(&app, &path.0, Some(body)).await?;
    finding(&app, share, &path.1).await
}

/// `POST /shares/public/{shareId}/exploit-chains/{vulId}`.
pub(super) async fn extract_chain(
    app: web::Data<App>,
    path: web::Path<(String, String)>,
    Body(body): Body<ExtractShare>,
) -> Result<HttpResponse, Failure> {
    let share = open(&app, &path.0, Some(body)).await?;
    let id: VulId = path.1.parse().map_err(|_| Failure::not_found("exploit chain"))?;
    let task = share.task_id.clone();
    let found = app.store.run(move |store| store.chain(&task, &id)).await.map_err(Failure::internal)?;
    let found = found.filter(|chain| shows(&share, chain));
    found.map(|chain| HttpResponse::Ok().json(chain)).ok_or_else(|| Failure::not_found("exploit chain"))
}

/// A chain shows every finding it leads to, so all of them have to be shared.
fn shows(share: &ShareRecord, chain: &ExploitChain) -> bool {
    share.share_type == ShareType::Report || chain.vul_ids.iter().all(|id| share.vul_ids.contains(id))
}

/// The share, if it stands and the code (when it has one) is right.
async fn open(app: &App, id: &str, extract: Option<ExtractShare>) -> Result<ShareRecord, Failure> {
    let id = id.parse().map_err(|_| Failure::no_share())?;
    let share = app.store.run(move |store| store.share(&id)).await.map_err(Failure::internal)?;
    let share = share.filter(|share| !share.has_expired(app.clock.now())).ok_or_else(Failure::no_share)?;
    let Some(hash) = &share.code_hash else { return Ok(share) };
    let code = extract.map(|body| body.extraction_code).filter(|code| !code.is_empty()).ok_or_else(Failure::code_needed)?;
    match app.codes.attempt(&share.id, Secret::new(code), hash).await.map_err(Failure::internal)? {
        Try::Right => Ok(share),
        Try::Wrong => Err(Failure::code_wrong()),
        Try::Wait(wait) => Err(Failure::too_many(wait)),
    }
}

/// What the share shows: the chosen findings, or all of the task for a report.
async fn content(app: &App, share: ShareRecord) -> Result<HttpResponse, Failure> {
    let (account, id) = (share.account.clone(), share.task_id.clone());
    let found = app
        .store
        .run(move |store| Ok((store.task(&account, &id)?, store.finding_rows(&id)?, store.chains(&id)?)))
        .await
        .map_err(Failure::internal)?;
    let (Some(task), mut vuls, mut chains) = found else { return Err(Failure::no_share()) };
    chains.retain(|chain| shows(&share, chain));
    if share.share_type == ShareType::Vul {
        vuls.retain(|row| share.vul_ids.contains(&row.vul_id));
    }
    Ok(HttpResponse::Ok().json(PublicShare {
        share_id: share.id,
        share_type: share.share_type,
        project_name: task.project_name,
        lang: task.lang,
        task_id: task.id,
        expired_at: share.expired_at.map(Timestamp::rfc3339),
        need_extraction_code: share.code_hash.is_some(),
        results_stat: count(vuls.iter()),
        vuls,
        exploit_chains: chains,
    }))
}

async fn finding(app: &App, share: ShareRecord, vul: &str) -> Result<HttpResponse, Failure> {
    let vul: VulId = vul.parse().map_err(|_| Failure::not_found("finding"))?;
    if share.share_type == ShareType::Vul && !share.vul_ids.contains(&vul) {
        return Err(Failure::not_found("finding"));
    }
    let found = app.store.run(move |store| store.finding(&share.task_id, &vul)).await.map_err(Failure::internal)?;
    found.map(|finding| HttpResponse::Ok().json(finding)).ok_or_else(|| Failure::not_found("finding"))
}
