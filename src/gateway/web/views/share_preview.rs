//! What recipients of a share would see: their own pages, whose links lead to other pages of the preview.

use super::share_page::{About, SharedChain, SharedFinding, View, Ways};
use crate::contract::ids::VulId;
use crate::contract::reports::ReportType;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::Finding;
use crate::gateway::domain::share::PublicShare;
use crate::gateway::services::shares::{Chosen, ShownChain, Terms};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

impl Ways for Chosen {
    fn view(&self) -> String {
        urls::share_preview(urls::SHARE_PREVIEW, &self.task, &self.findings, self.hides_evidence)
    }

    fn finding(&self, vul: &VulId) -> String {
        urls::share_preview(&urls::share_preview_finding(vul), &self.task, &self.findings, self.hides_evidence)
    }

    fn chain(&self, chain: &VulId) -> String {
        urls::share_preview(&urls::share_preview_chain(chain), &self.task, &self.findings, self.hides_evidence)
    }

    /// The task's own: recipients get the same with a line that names their share.
    fn report(&self, form: ReportType) -> Option<String> {
        Some(urls::task_report(&self.task, form))
    }

    fn close(&self) -> Option<String> {
        None
    }
}

fn about(chosen: &Chosen, terms: &Terms) -> About {
    About {
        by: terms.by.clone(),
        ends: terms.ends,
        left: terms.views.map(|views| views.saturating_sub(1)),
        until: None,
        note: terms.note.clone(),
        hides_evidence: chosen.hides_evidence,
    }
}

/// What was chosen.
pub(in crate::gateway) fn view(page: &Page, (chosen, terms): (&Chosen, &Terms), share: &PublicShare) -> View {
    View::new(page, chosen, &about(chosen, terms), share)
}

/// One finding of it.
pub(in crate::gateway) fn finding(
    page: &Page,
    (chosen, terms): (&Chosen, &Terms),
    (finding, chains): (&Finding, &[Chain]),
) -> SharedFinding {
    SharedFinding::new(page, chosen, &about(chosen, terms), (finding, chains))
}

/// One chain of it.
pub(in crate::gateway) fn chain(page: &Page, (chosen, terms): (&Chosen, &Terms), shown: &ShownChain) -> SharedChain {
    SharedChain::new(page, chosen, &about(chosen, terms), (&shown.chain, &shown.findings))
}
