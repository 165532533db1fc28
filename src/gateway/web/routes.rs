//! Binds addresses to handlers: one function a feature. Whatever is not here is 404; another method is 405.

use actix_web::http::Method;
use actix_web::web::{self, ServiceConfig};
use actix_web::{Resource, Route, guard};

use super::handlers::{
    accounts, admin, all_shares, api_keys, artifacts, assets, audit, backchannel, chains, components, description, diagnostics,
    drafts, findings, groups, home, keys, launch, live, new_share, operator, ops, ownership, policies, reports, sessions,
    share_page, shares, signin, tasks, uploads, users,
};
use super::urls;
use crate::gateway::domain::share::Doorway;

/// What is read. `HEAD` is the same without a body (RFC 9110, 9.3.2); what starts something, streams, or is noted as a download
/// answers to `GET` alone.
fn page() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

/// All routes of the portal.
pub(in crate::gateway) fn all(config: &mut ServiceConfig) {
    operations(config);
    sign_in(config);
    drafts(config);
    scans(config);
    results(config);
    parts(config);
    groups(config);
    sharing(config);
    shared(config);
    server_keys(config);
    issued_keys(config);
    audit_log(config);
    own_and_all_sessions(config);
    administration(config);
    description(config);
}

fn operations(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::LIVEZ).route(page().to(ops::live)))
        .service(web::resource(urls::HEALTHZ).route(page().to(ops::live)))
        .service(web::resource(urls::READYZ).route(page().to(ops::ready)))
        .service(web::resource(urls::ASSET).route(page().to(assets::show)));
}

fn description(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::DESCRIPTION).route(page().to(description::document)))
        .service(web::resource(urls::DEVELOPERS).route(page().to(description::page)));
}

fn sign_in(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::LOGIN).route(web::get().to(signin::begin)))
        .service(web::resource(urls::CALLBACK).route(web::get().to(signin::complete)))
        .service(web::resource(urls::LOGOUT).route(web::post().to(signin::sign_out)))
        .service(web::resource(urls::BACKCHANNEL_LOGOUT).route(web::post().to(backchannel::log_out)))
        .service(web::resource(urls::SIGNED_OUT).route(page().to(signin::signed_out)));
}

/// Fixed addresses stand before `/shares/{mark}`: the first that fits is taken.
fn sharing(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::SHARES).route(page().to(shares::list)).route(web::post().to(new_share::create)))
        .service(web::resource(urls::SHARES_NEW).route(page().to(new_share::show)))
        .service(
            web::resource(urls::SHARE_PREVIEW)
                .route(page().to(new_share::preview))
                .route(web::post().to(new_share::preview_form)),
        )
        .service(web::resource(urls::SHARE_PREVIEW_FINDING).route(page().to(new_share::preview_finding)))
        .service(web::resource(urls::SHARE_PREVIEW_CHAIN).route(page().to(new_share::preview_chain)))
        .service(
            web::resource(urls::SHARES_END).route(page().to(shares::ask_end_several)).route(web::post().to(shares::end_several)),
        )
        .service(web::resource(urls::SHARE).route(page().to(shares::show)))
        .service(web::resource(urls::SHARE_EXTEND).route(web::post().to(shares::extend)))
        .service(web::resource(urls::SHARE_CODE).route(web::post().to(shares::new_code)))
        .service(web::resource(urls::SHARE_END).route(web::post().to(shares::end)));
}

/// For people without an account: the same behind both doors.
fn shared(config: &mut ServiceConfig) {
    config.service(web::resource(urls::ROBOTS).route(page().to(assets::robots)));
    config.service(door(urls::DOOR).route(web::post().to(share_page::open_with_code)));
    config.service(door(urls::OPEN_DOOR).route(web::post().to(share_page::open_without_code)));
    for doorway in Doorway::ALL {
        let [view, finding, chain, report, close] = urls::behind(doorway);
        config
            .service(web::resource(view).route(page().to(share_page::view)))
            .service(web::resource(finding).route(page().to(share_page::finding)))
            .service(web::resource(chain).route(page().to(share_page::chain)))
            .service(web::resource(report).route(web::get().to(share_page::report)))
            .service(web::resource(close).route(web::post().to(share_page::close)));
    }
}

/// Whatever asks for a door without opening it gets the same, and costs nothing.
fn door(pattern: &str) -> Resource {
    web::resource(pattern).route(page().to(share_page::door)).route(web::method(Method::OPTIONS).to(share_page::options))
}

fn server_keys(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::KEYS).route(page().to(keys::list)).route(web::post().to(keys::add)))
        .service(web::resource(urls::KEY).route(page().to(keys::one)))
        .service(web::resource(urls::KEY_TEST).route(web::post().to(keys::test)))
        .service(web::resource(urls::KEY_ACTIVATE).route(web::post().to(keys::activate)))
        .service(web::resource(urls::KEY_DEACTIVATE).route(web::post().to(keys::deactivate)))
        .service(web::resource(urls::KEY_REMOVE).route(web::post().to(keys::remove)));
}

/// Keys issued here, for programs; their list is on the page of the server keys.
fn issued_keys(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::API_KEYS).route(page().to(api_keys::list)).route(web::post().to(api_keys::create)))
        .service(web::resource(urls::API_KEYS_NEW).route(page().to(api_keys::new)))
        .service(web::resource(urls::API_KEY).route(page().to(api_keys::one)))
        .service(
            web::resource(urls::API_KEY_ROTATE).route(page().to(api_keys::ask_rotate)).route(web::post().to(api_keys::rotate)),
        )
        .service(
            web::resource(urls::API_KEY_REVOKE).route(page().to(api_keys::ask_revoke)).route(web::post().to(api_keys::revoke)),
        );
}

fn audit_log(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::AUDIT).route(page().to(audit::list)))
        .service(web::resource(urls::AUDIT_CSV).route(web::get().to(audit::csv)))
        .service(web::resource(urls::AUDIT_JSON).route(web::get().to(audit::json)))
        .service(web::resource(urls::AUDIT_CHECK).route(web::post().to(audit::check)));
}

fn own_and_all_sessions(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::SESSION).route(page().to(sessions::current)))
        .service(web::resource(urls::OWN_SESSIONS).route(page().to(sessions::own)))
        .service(web::resource(urls::OWN_SESSIONS_JSON).route(page().to(sessions::own_as_data)))
        .service(web::resource(urls::OWN_SESSIONS_END_OTHERS).route(web::post().to(sessions::end_others)))
        .service(web::resource(urls::OWN_SESSION_END).route(web::post().to(sessions::end_own)))
        .service(web::resource(urls::ALL_SESSIONS).route(page().to(sessions::all)))
        .service(web::resource(urls::PERSON_END).route(web::post().to(sessions::end_person)))
        .service(web::resource(urls::ANY_SESSION_END).route(web::post().to(sessions::end_any)));
}

/// For administrators, and for those who run the platform.
fn administration(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::ADMIN).route(page().to(admin::show)))
        .service(web::resource(urls::USERS).route(page().to(users::list)))
        .service(web::resource(urls::USER).route(page().to(users::show)))
        .service(web::resource(urls::USER_DISABLE).route(web::post().to(users::disable)))
        .service(web::resource(urls::USER_ENABLE).route(web::post().to(users::enable)))
        .service(web::resource(urls::USER_END_ALL).route(web::post().to(users::end_all)))
        .service(web::resource(urls::USER_END_ONE).route(web::post().to(users::end_one)))
        .service(web::resource(urls::POLICY).route(page().to(policies::show)).route(web::post().to(policies::save)))
        .service(web::resource(urls::ALL_SHARES).route(page().to(all_shares::list)))
        .service(web::resource(urls::ALL_SHARES_END).route(page().to(all_shares::ask_end)).route(web::post().to(all_shares::end)))
        .service(web::resource(urls::OPERATOR).route(page().to(operator::list)))
        .service(web::resource(urls::OPERATOR_TENANT).route(page().to(operator::show)));
}

/// The steps of a new scan.
fn drafts(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::TASKS_NEW).route(page().to(drafts::list)).route(web::post().to(drafts::create)))
        .service(web::resource(urls::DRAFT_DELETE).route(web::post().to(drafts::delete)))
        .service(web::resource(urls::DRAFT_SKIP).route(web::post().to(drafts::skip)))
        .service(web::resource(urls::DRAFT_ARTIFACT).route(page().to(artifacts::list)).route(web::post().to(artifacts::add)))
        .service(web::resource(urls::DRAFT_ARTIFACT_REMOVE).route(web::post().to(artifacts::remove)))
        .service(web::resource(urls::DRAFT_TARGET).route(page().to(diagnostics::show)).route(web::post().to(diagnostics::save)))
        .service(web::resource(urls::DRAFT_TARGET_CHECK).route(web::post().to(diagnostics::check)))
        .service(web::resource(urls::DRAFT_TARGET_STAGES).route(web::get().to(diagnostics::stages)))
        .service(web::resource(urls::DRAFT_TARGET_REPEAT).route(web::post().to(diagnostics::repeat)))
        .service(web::resource(urls::DRAFT_OWNERSHIP).route(page().to(ownership::show)).route(web::post().to(ownership::verify)))
        .service(web::resource(urls::DRAFT_OWNERSHIP_FILE).route(page().to(ownership::file)))
        .service(
            web::resource(urls::DRAFT_SOURCE).route(page().to(artifacts::sources)).route(web::post().to(artifacts::add_source)),
        )
        .service(web::resource(urls::DRAFT_SOURCE_REMOVE).route(web::post().to(artifacts::remove_source)))
        .service(web::resource(urls::DRAFT_ACCOUNTS).route(page().to(accounts::list)).route(web::post().to(accounts::add)))
        .service(web::resource(urls::DRAFT_ACCOUNT_REMOVE).route(web::post().to(accounts::remove)))
        .service(web::resource(urls::DRAFT_BROWSER).route(web::post().to(accounts::open_browser)))
        .service(web::resource(urls::DRAFT_SESSION).route(web::post().to(accounts::capture)))
        .service(web::resource(urls::DRAFT_OPTIONS).route(page().to(drafts::options)).route(web::post().to(drafts::save_options)))
        .service(web::resource(urls::DRAFT_CHECK).route(page().to(launch::show)).route(web::post().to(launch::start)));
}

/// `/tasks/new` stands before `/tasks/{task}`: the first that fits is taken.
fn scans(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::HOME).route(page().to(home::show)))
        .service(web::resource(urls::TASKS).route(page().to(tasks::list)))
        .service(web::resource(urls::TASK).route(page().to(tasks::show)))
        .service(web::resource(urls::TASK_LIVE).route(web::get().to(live::watch)))
        .service(web::resource(urls::TASK_TERMINATE).route(web::post().to(tasks::terminate)))
        .service(web::resource(urls::TASK_DELETE).route(page().to(tasks::ask_delete)).route(web::post().to(tasks::delete)))
        .service(web::resource(urls::UPLOADS).route(web::post().to(uploads::store)))
        .service(web::resource(urls::UPLOAD).route(page().to(uploads::exists)));
}

fn results(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::TASK_REPORT).route(web::get().to(reports::download)))
        .service(web::resource(urls::FINDINGS).route(page().to(findings::list)))
        .service(web::resource(urls::FINDING).route(page().to(findings::show)));
}

/// What a task has beside its findings.
fn parts(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::TASK_DOWNLOADS).route(page().to(reports::offer)))
        .service(web::resource(urls::COMPONENTS).route(page().to(components::list)))
        .service(web::resource(urls::UPGRADES).route(page().to(components::upgrades)))
        .service(web::resource(urls::CHAINS).route(page().to(chains::list)))
        .service(web::resource(urls::CHAIN).route(page().to(chains::show)));
}

fn groups(config: &mut ServiceConfig) {
    config
        .service(web::resource(urls::GROUP).route(page().to(groups::show)))
        .service(web::resource(urls::GROUP_TERMINATE).route(web::post().to(groups::terminate)))
        .service(web::resource(urls::GROUP_DELETE).route(page().to(groups::ask_delete)).route(web::post().to(groups::delete)));
}
