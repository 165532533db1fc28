//! Binds addresses to handlers: one function a feature. Whatever is not here is 404.

use actix_web::web::{self, ServiceConfig};

use super::handlers::{assets, findings, home, keys, live, ops, reports, share_page, shares, signin, tasks, uploads};
use super::urls;

/// All routes of the portal.
pub(in crate::gateway) fn all(config: &mut ServiceConfig) {
    operations(config);
    sign_in(config);
    scans(config);
    results(config);
    sharing(config);
    shared(config);
    server_keys(config);
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

fn sharing(config: &mut ServiceConfig) {
    config
        .route(urls::SHARES, web::get().to(shares::list))
        .route(urls::SHARES, web::post().to(shares::create))
        .route(urls::SHARES_NEW, web::get().to(shares::new))
        .route(urls::SHARE_END, web::post().to(shares::end));
}

/// For people without an account.
fn shared(config: &mut ServiceConfig) {
    config
        .route(urls::DOOR, web::get().to(share_page::door))
        .route(urls::DOOR, web::head().to(share_page::door))
        .route(urls::DOOR, web::post().to(share_page::open))
        .route(urls::SHARE_VIEW, web::get().to(share_page::view))
        .route(urls::SHARE_FINDING, web::get().to(share_page::finding))
        .route(urls::SHARE_REPORT, web::get().to(share_page::report))
        .route(urls::SHARE_CLOSE, web::post().to(share_page::close));
}

fn server_keys(config: &mut ServiceConfig) {
    config
        .route(urls::KEYS, web::get().to(keys::list))
        .route(urls::KEYS, web::post().to(keys::add))
        .route(urls::KEY_TEST, web::post().to(keys::test))
        .route(urls::KEY_ACTIVATE, web::post().to(keys::activate))
        .route(urls::KEY_REMOVE, web::post().to(keys::remove));
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
