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

/// What is looked at, and under which conditions.
pub(in crate::gateway) struct Preview {
    pub(in crate::gateway) chosen: Chosen,
    pub(in crate::gateway) terms: Terms,
    /// Where what was typed is kept; empty: nothing was.
    pub(in crate::gateway) typed: String,
}

impl Preview {
    fn at(&self, path: &str) -> String {
        urls::share_preview(path, (&self.chosen.task, &self.chosen.findings), self.chosen.hides_evidence, &self.typed)
    }

    fn about(&self) -> About {
        let terms = &self.terms;
        About {
            by: terms.by.clone(),
            ends: terms.ends,
            left: terms.views.map(|views| views.saturating_sub(1)),
            until: Some(terms.until),
            note: terms.note.clone(),
            hides_evidence: terms.hides_evidence,
        }
    }
}

impl Ways for Preview {
    fn view(&self) -> String {
        self.at(urls::SHARE_PREVIEW)
    }

    fn finding(&self, vul: &VulId) -> String {
        self.at(&urls::share_preview_finding(vul))
    }

    fn chain(&self, chain: &VulId) -> String {
        self.at(&urls::share_preview_chain(chain))
    }

    /// The task's own: recipients get the same with a line that names their share.
    fn report(&self, form: ReportType) -> Option<String> {
        Some(urls::task_report(&self.chosen.task, form))
    }

    fn close(&self) -> Option<String> {
        None
    }
}

/// What was chosen.
pub(in crate::gateway) fn view(page: &Page, preview: &Preview, share: &PublicShare) -> View {
    View::new(page, preview, &preview.about(), share)
}

/// One finding of it.
pub(in crate::gateway) fn finding(page: &Page, preview: &Preview, shown: (&Finding, &[Chain])) -> SharedFinding {
    SharedFinding::new(page, preview, &preview.about(), shown)
}

/// One chain of it.
pub(in crate::gateway) fn chain(page: &Page, preview: &Preview, shown: &ShownChain) -> SharedChain {
    SharedChain::new(page, preview, &preview.about(), (&shown.chain, &shown.findings))
}
