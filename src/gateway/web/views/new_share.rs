//! The form of a new share.

use askama::Template;

use super::layout::Chrome;
use super::share_page::{CountView, counts};
use super::words::{Badge, SeverityView, count};
use crate::contract::reports::ReportLanguage;
use crate::gateway::domain::extraction_code::SHORTEST;
use crate::gateway::domain::finding::FindingRow;
use crate::gateway::services::shares::{Field, Offer, Problem};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// What was chosen in the form. A chosen code is never sent back.
#[derive(Clone)]
pub(in crate::gateway) struct Choices {
    /// `findings` or `report`.
    pub(in crate::gateway) what: String,
    /// `made`, `own` or `none`.
    pub(in crate::gateway) code: String,
    pub(in crate::gateway) last_day: String,
    pub(in crate::gateway) views: String,
    pub(in crate::gateway) hides_evidence: bool,
    pub(in crate::gateway) note: String,
    pub(in crate::gateway) language: ReportLanguage,
}

impl Choices {
    pub(in crate::gateway) fn usual(offer: &Offer) -> Self {
        Self {
            what: if offer.findings.is_empty() { "report" } else { "findings" }.to_owned(),
            code: "made".to_owned(),
            last_day: offer.days.usual.clone(),
            views: String::new(),
            hides_evidence: !offer.policy.evidence,
            note: String::new(),
            language: ReportLanguage::English,
        }
    }
}

/// Why the form comes back.
#[derive(Default)]
pub(in crate::gateway) struct Refusal {
    /// What is about no field; empty when there is nothing of the kind.
    general: String,
    problems: Vec<Problem>,
}

impl Refusal {
    /// About the form as a whole.
    pub(in crate::gateway) fn because(words: &str) -> Self {
        Self { general: words.to_owned(), problems: Vec::new() }
    }

    pub(in crate::gateway) const fn of(problems: Vec<Problem>) -> Self {
        Self { general: String::new(), problems }
    }

    pub(super) const fn is_none(&self) -> bool {
        self.general.is_empty() && self.problems.is_empty()
    }
}

/// The same on the page: all of it above the form, and each beside its field.
pub(super) struct Told {
    pub(super) general: String,
    pub(super) all: Vec<ToldProblem>,
    what: String,
    pub(super) code: String,
    pub(super) own: String,
    day: String,
    views: String,
    note: String,
}

pub(super) struct ToldProblem {
    pub(super) href: &'static str,
    pub(super) label: &'static str,
    pub(super) words: String,
}

/// A code is a secret, and no secret is put back into a page: not even into the one it was typed on.
const NOT_PUT_BACK: &str = "Type your own code once more: a code is never put back into a page.";

impl Told {
    /// `has_own`: the form held a code of its sender's own.
    pub(super) fn new(refusal: Refusal, has_own: bool) -> Self {
        let mut problems = refusal.problems;
        if !problems.is_empty() && has_own {
            match problems.iter_mut().find(|problem| problem.field == Field::OwnCode) {
                Some(problem) => problem.words = format!("{} {NOT_PUT_BACK}", problem.words),
                None => problems.push(Problem { field: Field::OwnCode, words: NOT_PUT_BACK.to_owned() }),
            }
        }
        let of = |field| {
            problems.iter().find(|problem| problem.field == field).map(|problem| problem.words.clone()).unwrap_or_default()
        };
        Self {
            general: refusal.general,
            what: of(Field::What),
            code: of(Field::Code),
            own: of(Field::OwnCode),
            day: of(Field::LastDay),
            views: of(Field::Views),
            note: of(Field::Note),
            all: problems.into_iter().map(ToldProblem::of).collect(),
        }
    }

    pub(super) fn is_none(&self) -> bool {
        self.general.is_empty() && self.all.is_empty()
    }
}

impl ToldProblem {
    fn of(problem: Problem) -> Self {
        let (href, label) = match problem.field {
            Field::What => ("#what-report", "What will be visible"),
            Field::Code => ("#code-made", "Extraction code"),
            Field::OwnCode => ("#own", "Your own code"),
            Field::LastDay => ("#last-day", "Last day"),
            Field::Views => ("#views", "Views"),
            Field::Note => ("#note", "Note"),
            Field::Form => ("#code-made", "The form"),
        };
        Self { href, label, words: problem.words }
    }
}

/// A new share.
#[derive(Template)]
#[template(path = "shares/new.html")]
pub(in crate::gateway) struct NewPage {
    chrome: Chrome,
    told: Told,
    choices: Choices,
    task: String,
    task_href: String,
    project: String,
    status: Badge,
    total: String,
    counts: Vec<CountView>,
    findings: Vec<FindingChoice>,
    chosen: String,
    has_key: bool,
    is_administrator: bool,
    first_day: String,
    last_day: String,
    once: String,
    shortest: usize,
    most_days: u32,
    most_views: u32,
    allows: Allows,
    longest_note: usize,
    grant_minutes: String,
    is_chinese: bool,
}

/// What the company's policy leaves to whoever makes a share.
struct Allows {
    /// Any number of views.
    any_views: bool,
    /// Why a code is needed; empty where none is.
    why_code: &'static str,
    evidence: bool,
}

struct FindingChoice {
    id: String,
    title: String,
    severity: SeverityView,
}

impl FindingChoice {
    fn of(row: &FindingRow) -> Self {
        Self {
            id: urls::written(row.id.as_str()),
            title: if row.title.is_empty() { "Finding without a title".to_owned() } else { row.title.short(200) },
            severity: SeverityView::of(&row.severity),
        }
    }
}

impl NewPage {
    pub(in crate::gateway) fn new(page: &Page, offer: &Offer, choices: Choices, refusal: Refusal) -> Self {
        let (task, policy) = (&offer.task, &offer.policy);
        let chrome = page.chrome(if refusal.is_none() { "New share" } else { "Error: new share" }, "shares");
        Self {
            is_administrator: chrome.user.as_ref().is_some_and(|user| user.is_administrator),
            chrome,
            told: Told::new(refusal, choices.code == "own"),
            is_chinese: choices.language == ReportLanguage::Chinese,
            choices,
            task: urls::written(task.id.as_str()),
            task_href: urls::task(&task.id),
            project: super::shares::project(&task.project, 200),
            status: Badge::of(&task.status),
            total: count(offer.counts.total, "finding", "findings"),
            counts: counts(&offer.counts),
            findings: offer.findings.iter().map(FindingChoice::of).collect(),
            chosen: count(offer.findings.len() as u64, "chosen finding", "chosen findings"),
            has_key: offer.has_key,
            first_day: offer.days.first.clone(),
            last_day: offer.days.last.clone(),
            once: offer.once.clone(),
            shortest: SHORTEST,
            most_days: offer.days.most,
            most_views: offer.most_views,
            allows: Allows {
                any_views: policy.most_views.is_none(),
                why_code: policy.why_code().unwrap_or_default(),
                evidence: policy.evidence,
            },
            longest_note: offer.longest_note,
            grant_minutes: count(u64::from(policy.grant_minutes), "minute", "minutes"),
        }
    }
}
