//! Addresses of the pages of whoever makes shares, and what stands in their queries; a part of `urls`. Recipients' addresses are
//! no part of it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::urls::{pair, with_query};
use crate::contract::ids::{TaskId, VulId};
use crate::contract::paths::fill;
use crate::gateway::domain::share_entry::Mark;

/// What is encoded in ids that stand in fields: usual ones stay as they are.
const NAMES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub(in crate::gateway) const SHARES: &str = "/shares";
pub(in crate::gateway) const SHARES_NEW: &str = "/shares/new";
/// Asks before several are ended, and ends them.
pub(in crate::gateway) const SHARES_END: &str = "/shares/end";
pub(in crate::gateway) const SHARE_PREVIEW: &str = "/shares/preview";
pub(in crate::gateway) const SHARE_PREVIEW_FINDING: &str = "/shares/preview/findings/{vul}";
pub(in crate::gateway) const SHARE_PREVIEW_CHAIN: &str = "/shares/preview/chains/{chain}";
/// `mark` stands for the id: an address of a signed-in page never holds a working share id.
pub(in crate::gateway) const SHARE: &str = "/shares/{mark}";
pub(in crate::gateway) const SHARE_EXTEND: &str = "/shares/{mark}/extend";
pub(in crate::gateway) const SHARE_CODE: &str = "/shares/{mark}/code";
pub(in crate::gateway) const SHARE_END: &str = "/shares/{mark}/end";

/// A new share of these findings, or of the whole task.
pub(in crate::gateway) fn share_new(task: &TaskId, findings: &[VulId]) -> String {
    with_query(SHARES_NEW.to_owned(), &share_of(task, findings))
}

/// What a share is of, as a query.
fn share_of(task: &TaskId, findings: &[VulId]) -> String {
    let task = pair("task", &written(task.as_str()));
    findings.iter().fold(task, |query, vul| format!("{query}&{}", pair("vul", &written(vul.as_str()))))
}

/// An id for the field of a form: of letters, digits and `%` alone, whatever the service calls its things.
pub(in crate::gateway) fn written(id: &str) -> String {
    utf8_percent_encode(id, NAMES).to_string()
}

/// The id that a field holds.
pub(in crate::gateway) fn read(field: &str) -> String {
    percent_decode_str(field).decode_utf8_lossy().into_owned()
}

/// A page of the preview of a share; `typed` names what was typed into its form, empty where nothing was.
pub(in crate::gateway) fn share_preview(
    path: &str,
    (task, findings): (&TaskId, &[VulId]),
    hides_evidence: bool,
    typed: &str,
) -> String {
    let hides = if hides_evidence { "&hide=1" } else { "" };
    let typed = if typed.is_empty() { String::new() } else { format!("&{}", pair("typed", typed)) };
    with_query(path.to_owned(), &format!("{}{hides}{typed}", share_of(task, findings)))
}

pub(in crate::gateway) fn share_preview_finding(vul: &VulId) -> String {
    fill(SHARE_PREVIEW_FINDING, &[vul.as_str()])
}

pub(in crate::gateway) fn share_preview_chain(chain: &VulId) -> String {
    fill(SHARE_PREVIEW_CHAIN, &[chain.as_str()])
}

/// The list of shares for a query; empty for all.
pub(in crate::gateway) fn shares(query: &str) -> String {
    with_query(SHARES.to_owned(), query)
}

pub(in crate::gateway) fn share(mark: &Mark) -> String {
    fill(SHARE, &[mark.as_str()])
}

pub(in crate::gateway) fn share_extend(mark: &Mark) -> String {
    fill(SHARE_EXTEND, &[mark.as_str()])
}

pub(in crate::gateway) fn share_code(mark: &Mark) -> String {
    fill(SHARE_CODE, &[mark.as_str()])
}

pub(in crate::gateway) fn share_end(mark: &Mark) -> String {
    fill(SHARE_END, &[mark.as_str()])
}

/// A mail without a recipient. Mail programs take blanks as `%20` only, and lines as RFC 6068 has them.
pub(in crate::gateway) fn mail(subject: &str, text: &str) -> String {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    format!("mailto:?subject={}&body={}", encoded(subject), encoded(&text.replace('\n', "\r\n")))
}
