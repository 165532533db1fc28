//! Pages of the owner of shares. Working links and codes stand on the page of a share just made and nowhere else.

use askama::Template;

use super::layout::Chrome;
use super::share_page::{CountView, counts};
use super::words::{Badge, SeverityView, When, count};
use crate::contract::ids::{TaskId, VulId};
use crate::gateway::domain::extraction_code::{Code, SHORTEST};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::share::Kind;
use crate::gateway::services::shares::{Days, ListedShare, MOST_DAYS, NewLink, PAGE_SIZE, Preview};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// My shares.
#[derive(Template)]
#[template(path = "shares/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    rows: Vec<Row>,
    total: String,
    newer: Option<String>,
    older: Option<String>,
    here: String,
}

struct Row {
    project: String,
    task: Option<String>,
    short_id: String,
    kind: String,
    code: &'static str,
    ends: When,
    has_end: bool,
    created: When,
    created_by: String,
    end: String,
}

impl List {
    /// `number` counts from 1.
    pub(in crate::gateway) fn new(page: &Page, number: u32, shares: &Listing<ListedShare>) -> Self {
        let pages = shares.total.div_ceil(u64::from(PAGE_SIZE)).max(1);
        let at = |number: u32| format!("{}?{}", urls::SHARES, urls::pair("page", &number.to_string()));
        let title = if number > 1 { format!("Shares, page {number}") } else { "Shares".to_owned() };
        Self {
            chrome: page.chrome(title, "shares"),
            rows: shares.items.iter().map(Row::of).collect(),
            total: count(shares.total, "share", "shares"),
            newer: (number > 1).then(|| at(number - 1)),
            older: (u64::from(number) < pages).then(|| at(number.saturating_add(1))),
            here: format!("Page {number} of {pages}"),
        }
    }
}

impl Row {
    fn of(share: &ListedShare) -> Self {
        let row = &share.row;
        let short_id: String = row.id.as_str().chars().take(4).collect();
        Self {
            project: if row.project.is_empty() { "Without a name".to_owned() } else { row.project.short(120) },
            task: row.task.as_ref().map(urls::task),
            short_id: format!("{}…", Hostile::from(short_id).text()),
            kind: match &row.kind {
                Kind::Report => "All findings and the report".to_owned(),
                Kind::Findings => count(row.findings.len() as u64, "finding", "findings"),
                Kind::Other(word) => word.short(40),
            },
            code: if row.needs_code { "Yes" } else { "No: the link alone opens it" },
            ends: When::of(row.expires),
            has_end: row.expires.is_some(),
            created: When::of(row.created),
            created_by: row.created_by.short(60),
            end: urls::share_end(&share.handle),
        }
    }
}

/// What was chosen in the form.
pub(in crate::gateway) struct Choices {
    pub(in crate::gateway) what: String,
    pub(in crate::gateway) code: String,
    pub(in crate::gateway) last_day: String,
}

impl Choices {
    pub(in crate::gateway) fn usual(is_finding: bool, days: &Days) -> Self {
        let what = if is_finding { "finding" } else { "report" };
        Self { what: what.to_owned(), code: "made".to_owned(), last_day: days.usual.clone() }
    }

    fn is(&self, code: &str) -> bool {
        self.code == code
    }
}

/// A new share.
#[derive(Template)]
#[template(path = "shares/new.html")]
pub(in crate::gateway) struct NewPage {
    chrome: Chrome,
    problem: String,
    choices: Choices,
    task: String,
    task_href: String,
    project: String,
    status: Badge,
    total: String,
    counts: Vec<CountView>,
    finding: Option<FindingChoice>,
    has_key: bool,
    is_administrator: bool,
    days: DaysView,
    once: String,
    shortest: usize,
    most_days: i64,
}

struct FindingChoice {
    id: String,
    title: String,
    severity: SeverityView,
}

struct DaysView {
    first: String,
    last: String,
}

impl NewPage {
    pub(in crate::gateway) fn new(page: &Page, preview: &Preview, choices: Choices, problem: String) -> Self {
        let task = &preview.task;
        let chrome = page.chrome(if problem.is_empty() { "New share" } else { "Error: new share" }, "shares");
        let finding = preview.finding.as_ref().map(|finding| FindingChoice {
            id: finding.row.id.as_str().to_owned(),
            title: if finding.row.title.is_empty() { "Finding without a title".to_owned() } else { finding.row.title.short(200) },
            severity: SeverityView::of(&finding.row.severity),
        });
        Self {
            is_administrator: chrome.user.as_ref().is_some_and(|user| user.is_administrator),
            chrome,
            problem,
            choices,
            task: task.id.as_str().to_owned(),
            task_href: urls::task(&task.id),
            project: if task.project.is_empty() { "Without a name".to_owned() } else { task.project.short(200) },
            status: Badge::of(&task.status),
            total: count(preview.counts.total, "finding", "findings"),
            counts: counts(&preview.counts),
            finding,
            has_key: preview.has_key,
            days: DaysView { first: preview.days.first.clone(), last: preview.days.last.clone() },
            once: preview.once.clone(),
            shortest: SHORTEST,
            most_days: MOST_DAYS,
        }
    }
}

/// A share just made: link and code, this once.
#[derive(Template)]
#[template(path = "shares/created.html")]
pub(in crate::gateway) struct Created {
    chrome: Chrome,
    link: String,
    code: Option<String>,
    ends: When,
    link_message: String,
    code_message: String,
    both: String,
}

impl Created {
    pub(in crate::gateway) fn new(page: &Page, link: &NewLink) -> Self {
        let address = format!("{}{}", page.site.public_url, urls::entrance(&link.id, link.code.is_some()));
        let code = link.code.as_ref().map(Code::grouped);
        let ends = When::of(Some(link.ends));
        let company = &page.site.name;
        let needs = if code.is_some() {
            "You need a code, which comes in a message of its own.\n"
        } else {
            "You need no code and no account.\n"
        };
        let link_message = format!(
            "Hello,\n\n{company} shares results of a security scan with you:\n\n{address}\n\n{needs}The link works until {}.\n",
            ends.words
        );
        let code_message = code
            .as_ref()
            .map(|code| format!("Hello,\n\nhere is the code for the link I sent you:\n\n{code}\n"))
            .unwrap_or_default();
        let both = code.as_ref().map_or_else(|| format!("{address}\n"), |code| format!("{address}\nCode: {code}\n"));
        Self { chrome: page.chrome("Share created", "shares"), link: address, code, ends, link_message, code_message, both }
    }
}

/// The form was sent before.
#[derive(Template)]
#[template(path = "shares/already_made.html")]
pub(in crate::gateway) struct AlreadyMade {
    chrome: Chrome,
    again: String,
    list: &'static str,
}

impl AlreadyMade {
    pub(in crate::gateway) fn new(page: &Page, task: &TaskId, vul: Option<&VulId>) -> Self {
        Self { chrome: page.chrome("Share already created", "shares"), again: urls::share_new(task, vul), list: urls::SHARES }
    }
}
