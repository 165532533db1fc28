//! Pages for people without an account. No navigation, no sign-in; every value of the share is untrusted.

use askama::Template;

use super::chain_body::ChainBody;
use super::chains;
use super::finding_body::{ChainLink, FindingBody};
use super::layout::Chrome;
use super::settings::text_of;
use super::words::{ReachView, SeverityView, When, count};
use crate::contract::ids::VulId;
use crate::contract::reports::ReportType;
use crate::contract::results;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow, Severity};
use crate::gateway::domain::share::{Kind, PublicShare, Spot};
use crate::gateway::domain::task::Counts;
use crate::gateway::services::share_page::Visit;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// Where the links of shared pages lead: behind a door, or to a preview.
pub(in crate::gateway) trait Ways {
    fn view(&self) -> String;
    fn finding(&self, vul: &VulId) -> String;
    fn chain(&self, chain: &VulId) -> String;
    /// None: there is nothing to download, and the page says so.
    fn report(&self, form: ReportType) -> Option<String>;
    /// Where "I am done" is sent. None: nobody is inside, this is a preview.
    fn close(&self) -> Option<String>;
}

impl Ways for Spot {
    fn view(&self) -> String {
        urls::share_view(self)
    }

    fn finding(&self, vul: &VulId) -> String {
        urls::share_finding(self, vul)
    }

    fn chain(&self, chain: &VulId) -> String {
        urls::share_chain(self, chain)
    }

    fn report(&self, form: ReportType) -> Option<String> {
        Some(urls::share_report(self, form))
    }

    fn close(&self) -> Option<String> {
        Some(urls::share_close(self))
    }
}

/// What a page tells about the share itself.
pub(in crate::gateway) struct About {
    /// Who shared it.
    pub(in crate::gateway) by: Hostile,
    /// None: no end.
    pub(in crate::gateway) ends: Option<Timestamp>,
    /// Views that are left after this one; none when there is no limit.
    pub(in crate::gateway) left: Option<u32>,
    /// Until when it stays open without another view.
    pub(in crate::gateway) until: Option<Timestamp>,
    /// From whoever shared it.
    pub(in crate::gateway) note: Hostile,
    pub(in crate::gateway) hides_evidence: bool,
}

impl About {
    pub(in crate::gateway) fn of(visit: &Visit) -> Self {
        let entry = &visit.entry;
        let (by, note) = (entry.maker.name.clone(), entry.note.clone());
        let until = entry.ends.map_or(visit.until, |ends| ends.min(visit.until));
        let (ends, left) = (entry.ends, entry.left());
        Self { by, ends, left, until: Some(until), note, hides_evidence: visit.hides_evidence }
    }
}

/// The same as `share_page/about.html` and `share_page/head.html` show it.
struct AboutView {
    by: String,
    ends: When,
    has_end: bool,
    left: String,
    until: Option<When>,
    note: String,
    hides_evidence: bool,
    close: Option<String>,
}

impl AboutView {
    fn of(about: &About, ways: &impl Ways) -> Self {
        Self {
            by: about.by.short(80),
            ends: When::of(about.ends),
            has_end: about.ends.is_some(),
            left: about.left.map_or_else(String::new, |left| match left {
                0 => "None after this one".to_owned(),
                left => format!("{} after this one", count(u64::from(left), "view", "views")),
            }),
            until: about.until.map(|at| When::of(Some(at))),
            note: about.note.code(),
            hides_evidence: about.hides_evidence,
            close: ways.close(),
        }
    }
}

/// What was shared.
#[derive(Template)]
#[template(path = "share_page/view.html")]
pub(in crate::gateway) struct View {
    chrome: Chrome,
    project: String,
    about: AboutView,
    what: &'static str,
    lang: String,
    total: String,
    counts: Vec<CountView>,
    cleared: String,
    rows: Vec<Row>,
    /// Whether reachability is told of any.
    has_reach: bool,
    chains: Vec<chains::Row>,
    reports: Vec<ReportLink>,
}

/// Number of findings of one severity.
pub(in crate::gateway) struct CountView {
    pub(in crate::gateway) severity: SeverityView,
    pub(in crate::gateway) number: u64,
}

struct Row {
    href: String,
    title: String,
    severity: SeverityView,
    category: String,
    component: String,
    reach: Option<ReachView>,
    is_cleared: bool,
}

struct ReportLink {
    href: String,
    label: &'static str,
}

impl View {
    pub(in crate::gateway) fn new(page: &Page, ways: &impl Ways, about: &About, share: &PublicShare) -> Self {
        let project = title(&share.project);
        let what = match &share.kind {
            Kind::Report if about.hides_evidence => "All findings",
            Kind::Report => "All findings and the report",
            Kind::Findings => "Chosen findings",
            Kind::Other(_) => "A shared result",
        };
        let has_report = share.kind == Kind::Report && !about.hides_evidence;
        let forms = [(ReportType::Pdf, "Download the report (PDF)"), (ReportType::Html, "Download the report (HTML)")];
        let link = |(form, label)| Some(ReportLink { href: ways.report(form)?, label });
        let counted = counted(share);
        let mut findings: Vec<&FindingRow> = share.findings.iter().collect();
        findings.sort_by_key(|row| row.rank());
        Self {
            chrome: page.bare_chrome(project.clone()),
            project,
            what,
            about: AboutView::of(about, ways),
            lang: text_of(share.lang.raw()),
            total: count(counted.total, "finding", "findings"),
            counts: counts(&counted),
            cleared: if counted.cleared == 0 { String::new() } else { format!("{} cleared", counted.cleared) },
            has_reach: findings.iter().any(|row| row.reachability.is_some()),
            rows: findings.into_iter().map(|row| Row::of(ways, row)).collect(),
            chains: share.chains.iter().map(|chain| chains::Row::new(chain, ways.chain(&chain.id))).collect(),
            reports: forms.into_iter().filter(|_| has_report).filter_map(link).collect(),
        }
    }
}

/// The numbers of a share: of the findings it shows, unless it shows none and tells numbers all the same.
fn counted(share: &PublicShare) -> Counts {
    if share.findings.is_empty() {
        return share.counts.unwrap_or_default();
    }
    share.findings.iter().fold(Counts::default(), |sum, row| sum.plus(&row.as_counts()))
}

/// The severities that were found with their numbers, the most severe first.
pub(in crate::gateway) fn counts(counts: &Counts) -> Vec<CountView> {
    use results::Severity::{Critical, High, Low, Medium};
    [(Critical, counts.critical), (High, counts.high), (Medium, counts.medium), (Low, counts.low)]
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .map(|(severity, number)| CountView { severity: SeverityView::of(&Severity::Known(severity)), number })
        .collect()
}

impl Row {
    fn of(ways: &impl Ways, row: &FindingRow) -> Self {
        let component = row.component.as_ref().map(|part| format!("{} {}", part.name.short(80), part.version.short(40)));
        Self {
            href: ways.finding(&row.id),
            title: if row.title.is_empty() { "Finding without a title".to_owned() } else { row.title.short(200) },
            severity: SeverityView::of(&row.severity),
            category: row.category.short(80),
            component: component.unwrap_or_default(),
            reach: row.reachability.as_ref().map(ReachView::of),
            is_cleared: row.is_cleared(),
        }
    }
}

/// One finding of it.
#[derive(Template)]
#[template(path = "share_page/finding.html")]
pub(in crate::gateway) struct SharedFinding {
    chrome: Chrome,
    title: String,
    body: FindingBody,
    about: AboutView,
    back: String,
}

impl SharedFinding {
    pub(in crate::gateway) fn new(page: &Page, ways: &impl Ways, about: &About, (finding, chains): (&Finding, &[Chain])) -> Self {
        let title =
            if finding.row.title.is_empty() { "Finding without a title".to_owned() } else { finding.row.title.short(300) };
        Self {
            chrome: page.bare_chrome(title.clone()),
            title,
            body: FindingBody::new(
                finding,
                chains.iter().map(|chain| ChainLink { href: ways.chain(&chain.id), title: chains::title(chain, 160) }).collect(),
            ),
            about: AboutView::of(about, ways),
            back: ways.view(),
        }
    }
}

/// One exploit chain of it.
#[derive(Template)]
#[template(path = "share_page/chain.html")]
pub(in crate::gateway) struct SharedChain {
    chrome: Chrome,
    title: String,
    body: ChainBody,
    about: AboutView,
    back: String,
}

impl SharedChain {
    /// Only `findings` are of the share: nothing leads to others.
    pub(in crate::gateway) fn new(
        page: &Page,
        ways: &impl Ways,
        about: &About,
        (chain, findings): (&Chain, &[FindingRow]),
    ) -> Self {
        let title = chains::title(chain, 300);
        Self {
            chrome: page.bare_chrome(title.clone()),
            title,
            body: ChainBody::new(chain, findings, |vul| findings.iter().any(|row| row.id == *vul).then(|| ways.finding(vul))),
            about: AboutView::of(about, ways),
            back: ways.view(),
        }
    }
}

fn title(project: &Hostile) -> String {
    if project.is_empty() { "Shared result".to_owned() } else { project.short(200) }
}
