//! All tenants, as those who run the platform see them.

use askama::Template;

use super::admin::Stand;
use super::layout::Chrome;
use super::policies::{SectionView, sections};
use super::words::When;
use crate::gateway::services::operator::Listed;
use crate::gateway::services::policies::Shown;
use crate::gateway::web::urls;

#[derive(Template)]
#[template(path = "operator/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    rows: Vec<Row>,
}

struct Row {
    href: String,
    id: String,
    name: String,
    address: String,
    service: Stand,
    provider: Stand,
    users: String,
    sessions: String,
    shares: String,
    server_keys: String,
    api_keys: String,
    policy: String,
}

impl List {
    pub(in crate::gateway) fn new(chrome: Chrome, tenants: &[Listed]) -> Self {
        Self { chrome, rows: tenants.iter().map(Row::of).collect() }
    }
}

impl Row {
    fn of(listed: &Listed) -> Self {
        let known = |number: Option<usize>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
        let counts = listed.counts;
        Self {
            href: urls::operator_tenant(listed.tenant.as_str()),
            id: listed.tenant.to_string(),
            name: listed.named.name.clone(),
            address: listed.named.address.clone(),
            service: Stand::of(listed.reached.map(|reached| reached.service)),
            provider: Stand::of(listed.reached.map(|reached| reached.provider)),
            users: known(counts.users),
            sessions: match counts.sessions {
                Some((number, true)) => format!("more than {number}"),
                other => known(other.map(|(number, _)| number)),
            },
            shares: known(counts.shares),
            server_keys: known(counts.server_keys),
            api_keys: known(counts.api_keys),
            policy: match listed.version {
                Some(0) => "As the settings say".to_owned(),
                Some(version) => format!("Version {version}"),
                None => "?".to_owned(),
            },
        }
    }
}

#[derive(Template)]
#[template(path = "operator/tenant.html")]
pub(in crate::gateway) struct Show {
    chrome: Chrome,
    row: Row,
    sections: Vec<SectionView>,
    saved: Option<When>,
    list: &'static str,
}

impl Show {
    pub(in crate::gateway) fn new(chrome: Chrome, listed: &Listed, policy: &Shown) -> Self {
        Self {
            chrome,
            row: Row::of(listed),
            sections: sections(&policy.held.policy, &policy.given, None),
            // Who saved it is the tenant's own matter.
            saved: policy.held.saved.as_ref().map(|saved| When::of(Some(saved.at))),
            list: urls::OPERATOR,
        }
    }
}
