//! Every path of the interface: the patterns the reference service serves and the builders the gateway calls.
//! Paths are given without the prefix (`/scanner` unless configured).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::ids::{Sha256, ShareId, TaskId, VulId};

/// The prefix of all paths but the front-end bootstrap (interface section 9).
pub const PREFIX: &str = "/scanner";
/// Front-end bootstrap; stands outside the prefix (interface section 4).
pub const PUBLISHABLE_KEY: &str = "/biz/api/v1/auth/clerk/publishable-key";

pub const TASKS_CREATE: &str = "/api/v2/tasks";
pub const TASKS_CREATE_GROUP: &str = "/api/v2/tasks/create-group";
pub const TASKS_SEARCH: &str = "/api/v1/tasks/search";
pub const TASKS_TERMINATE: &str = "/api/v1/tasks/terminate";
pub const TASKS_DELETE: &str = "/api/v1/tasks/delete";
pub const TASK: &str = "/api/v1/tasks/{taskId}";
pub const RESULTS_STAT: &str = "/api/v1/tasks/{taskId}/results/stat";
pub const RESULTS_SEARCH: &str = "/api/v1/tasks/{taskId}/results/search";
pub const RESULT: &str = "/api/v1/tasks/{taskId}/results/{vulId}";
pub const CHAINS_SEARCH: &str = "/api/v1/tasks/{taskId}/exploit-chains/search";
/// Components of a task: an addition to the interface.
pub const COMPONENTS_SEARCH: &str = "/api/v1/tasks/{taskId}/components/search";
pub const REPORT: &str = "/api/v2/tasks/{taskId}/report";
pub const FILES_UPLOAD: &str = "/api/v1/files/upload";
pub const FILES_CHECK_EXIST: &str = "/api/v1/files/check-exist/{sha256}";
pub const DIAGNOSTICS: &str = "/api/v1/network-diagnostics";
pub const DIAGNOSTICS_NEXT: &str = "/api/v1/network-diagnostics/{id}/next-stage";
pub const DOMAIN_CONTENT: &str = "/api/v1/domain-ownership/random-content";
pub const DOMAIN_VERIFY: &str = "/api/v1/domain-ownership/verify";
pub const BROWSERS: &str = "/api/v1/browsers";
pub const SHARES: &str = "/api/v1/shares";
pub const SHARES_SEARCH: &str = "/api/v1/shares/search";
pub const SHARES_GENERATE_ID: &str = "/api/v1/shares/generate-id";
pub const SHARES_DELETE: &str = "/api/v1/shares/delete";
pub const SHARE: &str = "/api/v1/shares/{shareId}";
pub const SHARE_PUBLIC: &str = "/api/v1/shares/public/{shareId}";
pub const SHARE_PUBLIC_VUL: &str = "/api/v1/shares/public/{shareId}/vuls/{vulId}";
pub const SHARE_PUBLIC_CHAIN: &str = "/api/v1/shares/public/{shareId}/exploit-chains/{vulId}";
/// Composition analysis of one pom.xml (WIRE 10; not in the interface's tables).
pub const SCA_MAVEN: &str = "/api/v1/sca/static-analyze/mvn";
/// Composition analysis of a zip of poms (WIRE 10).
pub const SCA_MAVEN_ZIP: &str = "/api/v1/sca/static-analyze/mvn/zip";

/// Everything but RFC 3986 unreserved characters is encoded inside a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Fills the placeholders of `pattern` from left to right, each encoded as one path segment.
#[must_use]
pub fn fill(pattern: &str, values: &[&str]) -> String {
    let mut out = String::with_capacity(pattern.len() + 64);
    let mut rest = pattern;
    let mut values = values.iter();
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        if let Some(value) = values.next() {
            out.extend(utf8_percent_encode(value, SEGMENT));
        }
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

#[must_use]
pub fn task(id: &TaskId) -> String {
    fill(TASK, &[id.as_str()])
}

#[must_use]
pub fn results_stat(id: &TaskId) -> String {
    fill(RESULTS_STAT, &[id.as_str()])
}

#[must_use]
pub fn results_search(id: &TaskId) -> String {
    fill(RESULTS_SEARCH, &[id.as_str()])
}

#[must_use]
pub fn result(id: &TaskId, vul: &VulId) -> String {
    fill(RESULT, &[id.as_str(), vul.as_str()])
}

#[must_use]
pub fn chains_search(id: &TaskId) -> String {
    fill(CHAINS_SEARCH, &[id.as_str()])
}

#[must_use]
pub fn components_search(id: &TaskId) -> String {
    fill(COMPONENTS_SEARCH, &[id.as_str()])
}

#[must_use]
pub fn report(id: &TaskId) -> String {
    fill(REPORT, &[id.as_str()])
}

#[must_use]
pub fn check_exist(sha256: &Sha256) -> String {
    fill(FILES_CHECK_EXIST, &[sha256.as_str()])
}

#[must_use]
pub fn diagnostics_next(id: &str) -> String {
    fill(DIAGNOSTICS_NEXT, &[id])
}

#[must_use]
pub fn share(id: &ShareId) -> String {
    fill(SHARE, &[id.as_str()])
}

#[must_use]
pub fn share_public(id: &ShareId) -> String {
    fill(SHARE_PUBLIC, &[id.as_str()])
}

#[must_use]
pub fn share_public_vul(id: &ShareId, vul: &VulId) -> String {
    fill(SHARE_PUBLIC_VUL, &[id.as_str(), vul.as_str()])
}

#[must_use]
pub fn share_public_chain(id: &ShareId, vul: &VulId) -> String {
    fill(SHARE_PUBLIC_CHAIN, &[id.as_str(), vul.as_str()])
}
