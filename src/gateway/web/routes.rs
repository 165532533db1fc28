//! Binds addresses to handlers: one function a feature. Whatever is not here is 404.

use actix_web::web::{self, ServiceConfig};

use super::handlers::{assets, findings, home, live, ops, reports, signin, tasks, uploads};
use super::urls;

/// All routes of the portal.
pub(in crate::gateway) fn all(config: &mut ServiceConfig) {
    operations(config);
    sign_in(config);
    scans(config);
    results(config);
}

fn operations(config: &mut ServiceConfig) {
    config
        .route(urls::LIVEZ, web::get().to(ops::live))
        .route(urls::HEALTHZ, web::get().to(ops::live))
        .route(urls::READYZ, web::get().to(ops::ready))
        .route(urls::ASSET, web::get().to(assets::show));
}

fn sign_in(config: &mut ServiceConfig) {
    config
        .route(urls::LOGIN, web::get().to(signin::begin))
        .route(urls::CALLBACK, web::get().to(signin::complete))
        .route(urls::LOGOUT, web::post().to(signin::sign_out))
        .route(urls::SIGNED_OUT, web::get().to(signin::signed_out));
}

/// `/tasks/new` stands before `/tasks/{task}`: the first that fits is taken.
fn scans(config: &mut ServiceConfig) {
    config
        .route(urls::HOME, web::get().to(home::show))
        .route(urls::TASKS, web::get().to(tasks::list))
        .route(urls::TASKS, web::post().to(tasks::create))
        .route(urls::TASKS_NEW, web::get().to(tasks::new))
        .route(urls::TASKS_NEW, web::post().to(tasks::upload_and_create))
        .route(urls::TASK, web::get().to(tasks::show))
        .route(urls::TASK_LIVE, web::get().to(live::watch))
        .route(urls::TASK_TERMINATE, web::post().to(tasks::terminate))
        .route(urls::TASK_DELETE, web::get().to(tasks::ask_delete))
        .route(urls::TASK_DELETE, web::post().to(tasks::delete))
        .route(urls::UPLOADS, web::post().to(uploads::store))
        .route(urls::UPLOAD, web::get().to(uploads::exists));
}

fn results(config: &mut ServiceConfig) {
    config
        .route(urls::TASK_REPORT, web::get().to(reports::download))
        .route(urls::FINDINGS, web::get().to(findings::list))
        .route(urls::FINDING, web::get().to(findings::show));
}
