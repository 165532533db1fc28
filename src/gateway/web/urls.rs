//! Every address of the portal: the patterns that routes are bound to and the builders pages and handlers use.
//! Knows no handler.

pub(in crate::gateway) use super::door_urls::{
    AGAIN, DOOR, DOORS, OPEN_DOOR, behind, door, door_again, doorway, entrance, is_recipients, share_chain, share_close,
    share_finding, share_report, share_view,
};
pub(in crate::gateway) use super::share_urls::{
    SHARE, SHARE_CODE, SHARE_END, SHARE_EXTEND, SHARE_PREVIEW, SHARE_PREVIEW_CHAIN, SHARE_PREVIEW_FINDING, SHARES, SHARES_END,
    SHARES_NEW, mail, read, share, share_code, share_end, share_extend, share_new, share_preview, share_preview_chain,
    share_preview_finding, shares, written,
};
use crate::contract::ids::{TaskId, VulId};
use crate::contract::paths::fill;
use crate::contract::reports::{ReportLanguage, ReportType};
use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::domain::group::GroupId;

pub(in crate::gateway) const HOME: &str = "/";
pub(in crate::gateway) const LOGIN: &str = "/auth/login";
/// For a session whose tokens are not good any more: asks the provider even though somebody is signed in.
pub(in crate::gateway) const LOGIN_AGAIN: &str = "/auth/login?again=1";
/// For what needs a person who showed lately who they are: the provider asks, although somebody is signed in.
pub(in crate::gateway) const LOGIN_STEP_UP: &str = "/auth/login?again=1&other=1";
pub(in crate::gateway) const CALLBACK: &str = "/auth/callback";
pub(in crate::gateway) const LOGOUT: &str = "/auth/logout";
pub(in crate::gateway) const SIGNED_OUT: &str = "/auth/signed-out";
/// For somebody whom the provider knows under another name too: asks for it.
pub(in crate::gateway) const LOGIN_OTHER: &str = "/auth/login?other=1";
/// Where providers end sessions. Registered there; programs only, no session, no cookie.
pub(in crate::gateway) const BACKCHANNEL_LOGOUT: &str = "/auth/backchannel-logout";
pub(in crate::gateway) const TASKS: &str = "/tasks";
pub(in crate::gateway) const TASKS_NEW: &str = "/tasks/new";
pub(in crate::gateway) const DRAFT_DELETE: &str = "/tasks/new/{draft}/delete";
pub(in crate::gateway) const DRAFT_SKIP: &str = "/tasks/new/{draft}/skip";
pub(in crate::gateway) const DRAFT_ARTIFACT: &str = "/tasks/new/{draft}/artifact";
pub(in crate::gateway) const DRAFT_ARTIFACT_REMOVE: &str = "/tasks/new/{draft}/artifact/remove";
pub(in crate::gateway) const DRAFT_TARGET: &str = "/tasks/new/{draft}/target";
pub(in crate::gateway) const DRAFT_TARGET_CHECK: &str = "/tasks/new/{draft}/target/check";
/// Asked and repeated by pages themselves: these two never keep a session alive.
pub(in crate::gateway) const DRAFT_TARGET_STAGES: &str = "/tasks/new/{draft}/target/stages";
pub(in crate::gateway) const DRAFT_TARGET_REPEAT: &str = "/tasks/new/{draft}/target/repeat";
pub(in crate::gateway) const DRAFT_OWNERSHIP: &str = "/tasks/new/{draft}/ownership";
pub(in crate::gateway) const DRAFT_OWNERSHIP_FILE: &str = "/tasks/new/{draft}/ownership/hash.txt";
pub(in crate::gateway) const DRAFT_SOURCE: &str = "/tasks/new/{draft}/source";
pub(in crate::gateway) const DRAFT_SOURCE_REMOVE: &str = "/tasks/new/{draft}/source/remove";
pub(in crate::gateway) const DRAFT_ACCOUNTS: &str = "/tasks/new/{draft}/accounts";
pub(in crate::gateway) const DRAFT_ACCOUNT_REMOVE: &str = "/tasks/new/{draft}/accounts/remove";
pub(in crate::gateway) const DRAFT_BROWSER: &str = "/tasks/new/{draft}/accounts/browser";
pub(in crate::gateway) const DRAFT_SESSION: &str = "/tasks/new/{draft}/accounts/session";
pub(in crate::gateway) const DRAFT_OPTIONS: &str = "/tasks/new/{draft}/options";
pub(in crate::gateway) const DRAFT_CHECK: &str = "/tasks/new/{draft}/check";
pub(in crate::gateway) const TASK: &str = "/tasks/{task}";
pub(in crate::gateway) const TASK_LIVE: &str = "/tasks/{task}/live";
pub(in crate::gateway) const TASK_TERMINATE: &str = "/tasks/{task}/terminate";
pub(in crate::gateway) const TASK_DELETE: &str = "/tasks/{task}/delete";
pub(in crate::gateway) const TASK_REPORT: &str = "/tasks/{task}/report";
pub(in crate::gateway) const TASK_DOWNLOADS: &str = "/tasks/{task}/downloads";
pub(in crate::gateway) const COMPONENTS: &str = "/tasks/{task}/components";
pub(in crate::gateway) const UPGRADES: &str = "/tasks/{task}/components/upgrades";
pub(in crate::gateway) const CHAINS: &str = "/tasks/{task}/chains";
pub(in crate::gateway) const CHAIN: &str = "/tasks/{task}/chains/{chain}";
pub(in crate::gateway) const GROUP: &str = "/groups/{group}";
pub(in crate::gateway) const GROUP_TERMINATE: &str = "/groups/{group}/terminate";
pub(in crate::gateway) const GROUP_DELETE: &str = "/groups/{group}/delete";
pub(in crate::gateway) const FINDINGS: &str = "/tasks/{task}/findings";
pub(in crate::gateway) const FINDING: &str = "/tasks/{task}/findings/{vul}";
pub(in crate::gateway) const UPLOADS: &str = "/uploads";
pub(in crate::gateway) const UPLOAD: &str = "/uploads/{sha256}";
pub(in crate::gateway) const ROBOTS: &str = "/robots.txt";
pub(in crate::gateway) const KEYS: &str = "/admin/keys";
pub(in crate::gateway) const KEY: &str = "/admin/keys/{key}";
pub(in crate::gateway) const KEY_TEST: &str = "/admin/keys/{key}/test";
pub(in crate::gateway) const KEY_ACTIVATE: &str = "/admin/keys/{key}/activate";
pub(in crate::gateway) const KEY_REMOVE: &str = "/admin/keys/{key}/remove";
pub(in crate::gateway) const KEY_DEACTIVATE: &str = "/admin/keys/{key}/deactivate";
pub(in crate::gateway) const API_KEYS: &str = "/admin/api-keys";
pub(in crate::gateway) const API_KEYS_NEW: &str = "/admin/api-keys/new";
pub(in crate::gateway) const API_KEY: &str = "/admin/api-keys/{key}";
pub(in crate::gateway) const API_KEY_ROTATE: &str = "/admin/api-keys/{key}/rotate";
pub(in crate::gateway) const API_KEY_REVOKE: &str = "/admin/api-keys/{key}/revoke";
pub(in crate::gateway) const AUDIT: &str = "/admin/audit";
pub(in crate::gateway) const AUDIT_CSV: &str = "/admin/audit.csv";
pub(in crate::gateway) const AUDIT_JSON: &str = "/admin/audit.json";
pub(in crate::gateway) const AUDIT_CHECK: &str = "/admin/audit/check";
/// `?touch=false` does not count as use.
pub(in crate::gateway) const SESSION: &str = "/session";
pub(in crate::gateway) const OWN_SESSIONS: &str = "/account/sessions";
pub(in crate::gateway) const OWN_SESSIONS_JSON: &str = "/account/sessions.json";
pub(in crate::gateway) const OWN_SESSIONS_END_OTHERS: &str = "/account/sessions/end-others";
pub(in crate::gateway) const OWN_SESSION_END: &str = "/account/sessions/{session}/end";
pub(in crate::gateway) const ALL_SESSIONS: &str = "/admin/sessions";
pub(in crate::gateway) const ANY_SESSION_END: &str = "/admin/sessions/{session}/end";
pub(in crate::gateway) const PERSON_END: &str = "/admin/sessions/people/{user}/end";
pub(in crate::gateway) const ADMIN: &str = "/admin";
pub(in crate::gateway) const USERS: &str = "/admin/users";
pub(in crate::gateway) const USER: &str = "/admin/users/{user}";
pub(in crate::gateway) const USER_DISABLE: &str = "/admin/users/{user}/disable";
pub(in crate::gateway) const USER_ENABLE: &str = "/admin/users/{user}/enable";
pub(in crate::gateway) const USER_END_ALL: &str = "/admin/users/{user}/sessions/end";
pub(in crate::gateway) const USER_END_ONE: &str = "/admin/users/{user}/sessions/{session}/end";
pub(in crate::gateway) const POLICY: &str = "/admin/policy";
pub(in crate::gateway) const ALL_SHARES: &str = "/admin/shares";
pub(in crate::gateway) const ALL_SHARES_END: &str = "/admin/shares/end";
/// For those who run the platform; nobody else has these.
pub(in crate::gateway) const OPERATOR: &str = "/operator";
pub(in crate::gateway) const OPERATOR_TENANT: &str = "/operator/tenants/{tenant}";
/// What programs are served, for programs and for people. Nobody has to be signed in.
pub(in crate::gateway) const DESCRIPTION: &str = "/openapi.json";
pub(in crate::gateway) const DEVELOPERS: &str = "/developers";
pub(in crate::gateway) const ASSET: &str = "/assets/{name}";
pub(in crate::gateway) const LIVEZ: &str = "/livez";
pub(in crate::gateway) const READYZ: &str = "/readyz";
pub(in crate::gateway) const HEALTHZ: &str = "/healthz";
/// On the operations listener only.
pub(in crate::gateway) const METRICS: &str = "/metrics";

/// Pages a sign-in may return to. Everything else returns to the home page.
pub(in crate::gateway) const RETURN_TARGETS: &[&str] = &[
    HOME,
    TASKS,
    TASKS_NEW,
    DRAFT_ARTIFACT,
    DRAFT_TARGET,
    DRAFT_OWNERSHIP,
    DRAFT_SOURCE,
    DRAFT_ACCOUNTS,
    DRAFT_OPTIONS,
    DRAFT_CHECK,
    TASK,
    TASK_DELETE,
    FINDINGS,
    FINDING,
    SHARES,
    SHARES_NEW,
    SHARE,
    KEYS,
    KEY,
    API_KEYS_NEW,
    API_KEY,
    API_KEY_ROTATE,
    API_KEY_REVOKE,
    OWN_SESSIONS,
    AUDIT,
    ALL_SESSIONS,
    ADMIN,
    USERS,
    USER,
    POLICY,
    ALL_SHARES,
    ALL_SHARES_END,
    OPERATOR,
    OPERATOR_TENANT,
    DEVELOPERS,
    TASK_DOWNLOADS,
    COMPONENTS,
    UPGRADES,
    CHAINS,
    CHAIN,
    GROUP,
    GROUP_DELETE,
];

/// Forms whose page stands at no address above theirs.
pub(in crate::gateway) const PAGES_ELSEWHERE: [(&str, &str); 1] = [(API_KEYS, KEYS)];

/// An address below a draft, from its pattern.
pub(in crate::gateway) fn draft(pattern: &str, id: &DraftId) -> String {
    fill(pattern, &[id.as_str()])
}

/// The page of a step.
pub(in crate::gateway) fn step(id: &DraftId, step: Step) -> String {
    format!("{TASKS_NEW}/{}/{}", id.as_str(), step.as_str())
}

/// The list of tasks for a query; empty for all.
pub(in crate::gateway) fn tasks(query: &str) -> String {
    with_query(TASKS.to_owned(), query)
}

/// `path` with a query, which may be empty.
pub(in crate::gateway) fn with_query(path: String, query: &str) -> String {
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// A page of a list without filters.
pub(in crate::gateway) fn page(path: String, number: u32) -> String {
    if number > 1 { with_query(path, &pair("page", &number.to_string())) } else { path }
}

pub(in crate::gateway) fn task(id: &TaskId) -> String {
    fill(TASK, &[id.as_str()])
}

pub(in crate::gateway) fn task_live(id: &TaskId) -> String {
    fill(TASK_LIVE, &[id.as_str()])
}

pub(in crate::gateway) fn task_terminate(id: &TaskId) -> String {
    fill(TASK_TERMINATE, &[id.as_str()])
}

pub(in crate::gateway) fn task_delete(id: &TaskId) -> String {
    fill(TASK_DELETE, &[id.as_str()])
}

pub(in crate::gateway) fn task_report(id: &TaskId, form: ReportType) -> String {
    format!("{}?type={}", fill(TASK_REPORT, &[id.as_str()]), form.as_str())
}

/// The report of a task in a language.
pub(in crate::gateway) fn task_report_in(id: &TaskId, form: ReportType, language: ReportLanguage) -> String {
    format!("{}&lang={}", task_report(id, form), language.as_str())
}

pub(in crate::gateway) fn findings(id: &TaskId) -> String {
    fill(FINDINGS, &[id.as_str()])
}

pub(in crate::gateway) fn finding(id: &TaskId, vul: &VulId) -> String {
    fill(FINDING, &[id.as_str(), vul.as_str()])
}

pub(in crate::gateway) fn task_downloads(id: &TaskId) -> String {
    fill(TASK_DOWNLOADS, &[id.as_str()])
}

pub(in crate::gateway) fn components(id: &TaskId) -> String {
    fill(COMPONENTS, &[id.as_str()])
}

pub(in crate::gateway) fn upgrades(id: &TaskId) -> String {
    fill(UPGRADES, &[id.as_str()])
}

pub(in crate::gateway) fn chains(id: &TaskId) -> String {
    fill(CHAINS, &[id.as_str()])
}

pub(in crate::gateway) fn chain(id: &TaskId, chain: &VulId) -> String {
    fill(CHAIN, &[id.as_str(), chain.as_str()])
}

pub(in crate::gateway) fn group(id: &GroupId) -> String {
    fill(GROUP, &[id.as_str()])
}

pub(in crate::gateway) fn group_terminate(id: &GroupId) -> String {
    fill(GROUP_TERMINATE, &[id.as_str()])
}

pub(in crate::gateway) fn group_delete(id: &GroupId) -> String {
    fill(GROUP_DELETE, &[id.as_str()])
}

pub(in crate::gateway) fn key_test(id: &str) -> String {
    fill(KEY_TEST, &[id])
}

pub(in crate::gateway) fn key_activate(id: &str) -> String {
    fill(KEY_ACTIVATE, &[id])
}

pub(in crate::gateway) fn key_remove(id: &str) -> String {
    fill(KEY_REMOVE, &[id])
}

pub(in crate::gateway) fn key_deactivate(id: &str) -> String {
    fill(KEY_DEACTIVATE, &[id])
}

/// The page of a server key.
pub(in crate::gateway) fn key(id: &str) -> String {
    fill(KEY, &[id])
}

/// The page of an API key.
pub(in crate::gateway) fn api_key(id: &str) -> String {
    fill(API_KEY, &[id])
}

/// The audit log for a query; empty for its first view.
pub(in crate::gateway) fn audit(query: &str) -> String {
    with_query(AUDIT.to_owned(), query)
}

/// A sign-in that asks for the person and comes back to `path`.
pub(in crate::gateway) fn step_up(path: &str) -> String {
    format!("{LOGIN_STEP_UP}&{}", pair("return_to", path))
}

pub(in crate::gateway) fn api_key_rotate(id: &str) -> String {
    fill(API_KEY_ROTATE, &[id])
}

pub(in crate::gateway) fn api_key_revoke(id: &str) -> String {
    fill(API_KEY_REVOKE, &[id])
}

pub(in crate::gateway) fn own_session_end(id: &str) -> String {
    fill(OWN_SESSION_END, &[id])
}

pub(in crate::gateway) fn any_session_end(id: &str) -> String {
    fill(ANY_SESSION_END, &[id])
}

pub(in crate::gateway) fn person_end(user: &str) -> String {
    fill(PERSON_END, &[user])
}

/// The sessions of a company: of people that contain `wanted`, on a page.
pub(in crate::gateway) fn all_sessions(wanted: &str, page: u32) -> String {
    let mut query = Vec::new();
    if !wanted.is_empty() {
        query.push(pair("q", wanted));
    }
    if page > 1 {
        query.push(pair("page", &page.to_string()));
    }
    with_query(ALL_SESSIONS.to_owned(), &query.join("&"))
}

/// The list of users: of those who contain `wanted`, of one kind, on a page.
pub(in crate::gateway) fn users(wanted: &str, which: &str, page: u32) -> String {
    let number = page.to_string();
    let parts = [("q", wanted, !wanted.is_empty()), ("show", which, which != "all"), ("page", &number, page > 1)];
    let query: Vec<String> = parts.iter().filter(|(.., says)| *says).map(|(name, value, _)| pair(name, value)).collect();
    with_query(USERS.to_owned(), &query.join("&"))
}

/// An address of one user, from its pattern.
pub(in crate::gateway) fn of_user(pattern: &str, user: &str) -> String {
    fill(pattern, &[user])
}

pub(in crate::gateway) fn user_end_one(user: &str, session: &str) -> String {
    fill(USER_END_ONE, &[user, session])
}

/// All shares of a company for a query, on a page.
pub(in crate::gateway) fn all_shares(query: &str, page: u32) -> String {
    let number = pair("page", &page.to_string());
    let parts: Vec<&str> = [query, if page > 1 { &number } else { "" }].into_iter().filter(|part| !part.is_empty()).collect();
    with_query(ALL_SHARES.to_owned(), &parts.join("&"))
}

/// Asks before all shares of somebody end.
pub(in crate::gateway) fn all_shares_end(maker: &str) -> String {
    with_query(ALL_SHARES_END.to_owned(), &pair("maker", maker))
}

pub(in crate::gateway) fn operator_tenant(tenant: &str) -> String {
    fill(OPERATOR_TENANT, &[tenant])
}

/// `/auth/login` that comes back to `path`.
pub(in crate::gateway) fn login(path: &str) -> String {
    format!("{LOGIN}?{}", pair("return_to", path))
}

/// One query pair, encoded.
pub(in crate::gateway) fn pair(name: &str, value: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish()
}
