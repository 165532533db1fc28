//! Pages for people without an account. No navigation, no sign-in; every value of the share is untrusted.

use askama::Template;

use super::chain_body::ChainBody;
use super::chains;
use super::finding_body::{Audience, ChainLink, FindingBody};
use super::layout::Chrome;
use super::words::{ReachView, SeverityView, When, count};
use crate::contract::ids::{ShareId, VulId};
use crate::contract::reports::ReportType;
use crate::contract::results;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow, Severity};
use crate::gateway::domain::share::{Kind, PublicShare};
use crate::gateway::domain::task::Counts;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// What the door says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum DoorWords {
    Welcome,
    Empty,
    Refused,
    /// Seconds.
    Wait(u64),
}

/// The door: the same for any id.
#[derive(Template)]
#[template(path = "share_page/door.html")]
pub(in crate::gateway) struct Door {
    chrome: Chrome,
    /// Empty when there is nothing to say.
    problem: String,
}

impl Door {
    pub(in crate::gateway) fn new(page: &Page, words: DoorWords) -> Self {
        let (title, problem) = match words {
            DoorWords::Welcome => ("Open a shared result", String::new()),
            DoorWords::Empty => ("Error: open a shared result", "Type or paste the extraction code first.".to_owned()),
            DoorWords::Refused => ("Error: open a shared result", REFUSED.to_owned()),
            DoorWords::Wait(seconds) => ("Please wait: open a shared result", waiting(seconds)),
        };
        Self { chrome: page.bare_chrome(title), problem }
    }
}

const REFUSED: &str = "That did not open anything. The code may be mistyped, the link may be incomplete, or the share may have ended. \
Compare both with the message you were sent.";

fn waiting(seconds: u64) -> String {
    let minutes = count(seconds.div_ceil(60).max(1), "minute", "minutes");
    format!("There were too many wrong codes. Please try again in about {minutes}. A right code is not looked at before.")
}

/// Something was here, or nothing is to be had.
#[derive(Template)]
#[template(path = "share_page/closed.html")]
pub(in crate::gateway) struct Closed {
    chrome: Chrome,
    heading: &'static str,
    words: &'static str,
    hint: &'static str,
    back: Option<String>,
}

impl Closed {
    pub(in crate::gateway) fn over(page: &Page) -> Self {
        Self::new(
            page,
            "This share has ended",
            "What was shared here is not open any more.",
            "If you still need it, ask the person who sent you the link for a new one.",
        )
    }

    pub(in crate::gateway) fn done(page: &Page) -> Self {
        Self::new(
            page,
            "You are done",
            "Your access in this browser has ended. Files you saved stay on your computer.",
            "To look again, open the link you were sent and type the code again.",
        )
    }

    pub(in crate::gateway) fn no_key(page: &Page, share: &ShareId) -> Self {
        let words = "The report cannot be fetched at the moment, because the company has set up no access for downloads.";
        let hint = "The findings are still open to you. For the report, ask the person who sent you the link.";
        Self { back: Some(urls::share_view(share)), ..Self::new(page, "No report at the moment", words, hint) }
    }

    fn new(page: &Page, heading: &'static str, words: &'static str, hint: &'static str) -> Self {
        Self { chrome: page.bare_chrome(heading), heading, words, hint, back: None }
    }
}

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

impl Ways for ShareId {
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
    /// From whoever shared it.
    pub(in crate::gateway) note: Hostile,
    pub(in crate::gateway) hides_evidence: bool,
}

/// What was shared.
#[derive(Template)]
#[template(path = "share_page/view.html")]
pub(in crate::gateway) struct View {
    chrome: Chrome,
    project: String,
    what: &'static str,
    lang: String,
    ends: When,
    has_end: bool,
    total: String,
    counts: Vec<CountView>,
    cleared: String,
    rows: Vec<Row>,
    chains: Vec<chains::Row>,
    reports: Vec<ReportLink>,
    close: Option<String>,
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
            lang: share.lang.short(40),
            ends: When::of(about.ends),
            has_end: about.ends.is_some(),
            total: count(counted.total, "finding", "findings"),
            counts: counts(&counted),
            cleared: if counted.cleared == 0 { String::new() } else { format!("{} cleared", counted.cleared) },
            rows: findings.into_iter().map(|row| Row::of(ways, row)).collect(),
            chains: share.chains.iter().map(|chain| chains::Row::new(chain, ways.chain(&chain.id))).collect(),
            reports: forms.into_iter().filter(|_| has_report).filter_map(link).collect(),
            close: ways.close(),
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
    back: String,
    close: Option<String>,
}

impl SharedFinding {
    pub(in crate::gateway) fn new(
        page: &Page,
        ways: &impl Ways,
        _about: &About,
        (finding, chains): (&Finding, &[Chain]),
    ) -> Self {
        let title =
            if finding.row.title.is_empty() { "Finding without a title".to_owned() } else { finding.row.title.short(300) };
        Self {
            chrome: page.bare_chrome(title.clone()),
            title,
            body: FindingBody::new(
                finding,
                Audience::Recipients,
                chains.iter().map(|chain| ChainLink { href: ways.chain(&chain.id), title: chains::title(chain, 160) }).collect(),
            ),
            back: ways.view(),
            close: ways.close(),
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
    back: String,
    close: Option<String>,
}

impl SharedChain {
    /// Only `findings` are of the share: nothing leads to others.
    pub(in crate::gateway) fn new(
        page: &Page,
        ways: &impl Ways,
        _about: &About,
        (chain, findings): (&Chain, &[FindingRow]),
    ) -> Self {
        let title = chains::title(chain, 300);
        Self {
            chrome: page.bare_chrome(title.clone()),
            title,
            body: ChainBody::new(chain, findings, Audience::Recipients, |vul| {
                findings.iter().any(|row| row.id == *vul).then(|| ways.finding(vul))
            }),
            back: ways.view(),
            close: ways.close(),
        }
    }
}

fn title(project: &Hostile) -> String {
    if project.is_empty() { "Shared result".to_owned() } else { project.short(200) }
}
