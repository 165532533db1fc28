//! Reads shares (WIRE 18 #10 to #14).

use serde_json::Value;

use crate::contract::ids::ShareId;
use crate::gateway::domain::share::{CreatedShare, Kind, PublicShare, ShareRow};

use super::{chain, counts, field, finding_row, flag, id, ids, list, text, time, unwrapped, without_secrets};

const EXPIRY: [&str; 3] = ["expiredAt", "expireAt", "expiresAt"];

/// A row of the owner's list; None without a usable id.
pub(in crate::gateway::upstream) fn share_row(value: &Value) -> Option<ShareRow> {
    Some(ShareRow {
        id: id(value, &["shareId", "id"])?,
        task: id(value, &["taskId"]),
        project: text(value, &["projectName"]),
        kind: Kind::read(text(value, &["shareType", "type"]).raw()),
        findings: ids(value, &["vulIds"]),
        needs_code: flag(value, &["needExtractionCode"]).unwrap_or(false),
        expires: time(value, &EXPIRY),
        created: time(value, &["createdAt", "createTime"]),
        created_by: text(value, &["createdBy"]),
        raw: value.clone(),
    })
}

/// Answer to create; an answer without an id means the id that was sent.
pub(in crate::gateway::upstream) fn created_share(value: &Value, sent: &ShareId) -> CreatedShare {
    let answer = unwrapped(value);
    CreatedShare { id: id(answer, &["shareId", "id"]).unwrap_or_else(|| sent.clone()), expires: time(answer, &EXPIRY) }
}

/// What a recipient sees. `None` where nothing says that it is a share.
pub(in crate::gateway::upstream) fn public_share(value: &Value, asked: &ShareId) -> Option<PublicShare> {
    let raw = without_secrets(unwrapped(value).clone());
    let value = &raw;
    field(value, &["shareId", "id", "shareType", "type", "vuls", "vulnerabilities", "results"])?;
    Some(PublicShare {
        id: id(value, &["shareId", "id"]).unwrap_or_else(|| asked.clone()),
        kind: Kind::read(text(value, &["shareType", "type"]).raw()),
        project: text(value, &["projectName"]),
        lang: text(value, &["lang", "taskLang"]),
        task: id(value, &["taskId"]),
        expires: time(value, &EXPIRY),
        counts: field(value, &["resultsStat"]).filter(|stat| stat.is_object()).map(counts),
        findings: list(value, &["vuls", "vulnerabilities", "results"]).items.into_iter().filter_map(finding_row).collect(),
        chains: field(value, &["exploitChains", "chains"])
            .map(|chains| list(chains, &[]).items.into_iter().filter_map(chain).collect())
            .unwrap_or_default(),
        raw,
    })
}
