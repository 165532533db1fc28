//! What recipients of a share would see: their own pages, with addresses of the preview in place of theirs.

use super::share_page::{SharedChain, SharedFinding, View};
use crate::contract::ids::ShareId;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::Finding;
use crate::gateway::domain::share::PublicShare;
use crate::gateway::services::shares::{Chosen, ShownChain};
use crate::gateway::web::page::Page;

fn id() -> ShareId {
    "preview".parse().unwrap_or_else(|_| unreachable!())
}

pub(in crate::gateway) fn view(page: &Page, _: &Chosen, share: &PublicShare) -> View {
    View::new(page, &share.id, share)
}

pub(in crate::gateway) fn finding(page: &Page, _: &Chosen, finding: &Finding, chains: &[Chain]) -> SharedFinding {
    SharedFinding::new(page, &id(), finding, chains)
}

pub(in crate::gateway) fn chain(page: &Page, _: &Chosen, shown: &ShownChain) -> SharedChain {
    SharedChain::new(page, &id(), &shown.chain, &shown.findings)
}
