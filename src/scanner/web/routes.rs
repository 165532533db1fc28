//! Every path of the interface and who answers it. A path that is not here is 404, a method that is not here is 405.

use actix_web::{Resource, Route, web};

use super::error::Failure;
use super::{
    bootstrap, browsers, chains, components, composition, diagnostics, domains, files, public_shares, reports, results, shares,
    task_groups, tasks,
};
use crate::contract::paths;

/// What is served by GET is served by HEAD (RFC 9110, 9.1).
macro_rules! read {
    ($handler:path) => {
        [web::get().to($handler), web::head().to($handler)]
    };
}

/// The prefix older clients use.
const LEGACY_PREFIX: &str = "/oxpecker";

pub(super) fn all(to: &mut web::ServiceConfig, legacy: bool) {
    to.service(on("/healthz", "GET, HEAD", read!(bootstrap::health)));
    to.service(on(paths::PUBLISHABLE_KEY, "GET, HEAD", read!(bootstrap::publishable_key)));
    to.service(web::scope(paths::PREFIX).configure(operations));
    if legacy {
        to.service(web::scope(LEGACY_PREFIX).configure(operations));
    }
    to.service(on("/browsers/assets/remote-browser.js", "GET, HEAD", read!(browsers::script)));
    to.service(on("/browsers/assets/remote-browser.css", "GET, HEAD", read!(browsers::style)));
    to.service(on("/browsers/{id}", "GET, HEAD", read!(browsers::page)));
    to.service(on("/browsers/{id}/link", "GET, HEAD", read!(browsers::link)));
    to.default_service(web::to(no_operation));
}

/// Fixed paths stand before those with a placeholder that would match them.
fn operations(to: &mut web::ServiceConfig) {
    to.service(on(paths::FILES_UPLOAD, "POST", [web::post().to(files::upload)]))
        .service(on(paths::FILES_CHECK_EXIST, "POST", [web::post().to(files::check_exist)]))
        .service(on(paths::TASKS_CREATE, "POST", [web::post().to(tasks::create)]))
        .service(on(paths::TASKS_CREATE_GROUP, "POST", [web::post().to(task_groups::create)]))
        .service(on(paths::TASKS_SEARCH, "POST", [web::post().to(tasks::search)]))
        .service(on(paths::TASKS_TERMINATE, "POST", [web::post().to(tasks::terminate)]))
        .service(on(paths::TASKS_DELETE, "POST", [web::post().to(tasks::delete)]))
        .service(on(paths::TASK, "GET, HEAD", read!(tasks::get)))
        .service(on(paths::RESULTS_STAT, "POST", [web::post().to(results::stat)]))
        .service(on(paths::RESULTS_SEARCH, "POST", [web::post().to(results::search)]))
        .service(on(paths::RESULT, "GET, HEAD", read!(results::get)))
        .service(on(paths::COMPONENTS_SEARCH, "POST", [web::post().to(components::search)]))
        .service(on(paths::SCA_MAVEN, "POST", [web::post().to(composition::pom)]))
        .service(on(paths::SCA_MAVEN_ZIP, "POST", [web::post().to(composition::poms)]))
        .service(on(paths::CHAINS_SEARCH, "POST", [web::post().to(chains::search)]))
        .service(on(paths::REPORT, "GET, HEAD", read!(reports::get)))
        .service(on(paths::SHARES, "POST", [web::post().to(shares::create)]))
        .service(on(paths::SHARES_SEARCH, "POST", [web::post().to(shares::search)]))
        .service(on(paths::SHARES_GENERATE_ID, "POST", [web::post().to(shares::generate_id)]))
        .service(on(paths::SHARES_DELETE, "POST", [web::post().to(shares::delete)]))
        .service(on(paths::SHARE, "PATCH", [web::patch().to(shares::update)]));
    to.service(on(paths::BROWSERS, "POST", [web::post().to(browsers::create)]));
    let public = [web::get().to(public_shares::get), web::head().to(public_shares::get), web::post().to(public_shares::extract)];
    let finding = [
        web::get().to(public_shares::get_finding),
        web::head().to(public_shares::get_finding),
        web::post().to(public_shares::extract_finding),
    ];
    to.service(on(paths::SHARE_PUBLIC, "GET, HEAD, POST", public))
        .service(on(paths::SHARE_PUBLIC_VUL, "GET, HEAD, POST", finding))
        .service(on(paths::SHARE_PUBLIC_CHAIN, "POST", [web::post().to(public_shares::extract_chain)]));
    to.service(on(paths::DIAGNOSTICS, "POST", [web::post().to(diagnostics::create)]))
        .service(on(paths::DIAGNOSTICS_NEXT, "GET, HEAD", read!(diagnostics::next_stage)))
        .service(on(paths::DOMAIN_CONTENT, "GET, HEAD", read!(domains::content)))
        .service(on(paths::DOMAIN_VERIFY, "POST", [web::post().to(domains::verify)]));
}

fn on(path: &'static str, methods: &'static str, routes: impl IntoIterator<Item = Route>) -> Resource {
    let refuse = move || async move { Err::<&'static str, _>(Failure::wrong_method(methods)) };
    routes.into_iter().fold(web::resource(path), Resource::route).default_service(web::to(refuse))
}

async fn no_operation() -> Result<&'static str, Failure> {
    Err(Failure::no_operation())
}
