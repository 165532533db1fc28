//! Lists of shares and what becomes of several. A share is named by its short id; working links and codes stand on the page of a
//! share just made and nowhere else.

use std::time::Duration;

use askama::Template;

use super::layout::Chrome;
use super::pager::{Extent, Pager};
use super::words::{Badge, When, count};
use crate::contract::shares::ShareType;
use crate::gateway::domain::share::Kind;
use crate::gateway::domain::share::ShareRow;
use crate::gateway::domain::share_entry::{Entry, Mark, State};
use crate::gateway::domain::share_filter::{ShareFilter, Shown};
use crate::gateway::services::shares::{Elsewhere, Ended, NotEnded, PAGE_SIZE, Seen, ShareList, Sheet, Standing};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// Shares of the company.
#[derive(Template)]
#[template(path = "shares/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    rows: Vec<Row>,
    pager: Pager,
    states: Vec<Choice>,
    own: bool,
    /// Carried by the form that ends several, so that one comes back here.
    state: &'static str,
    page: u32,
    is_all: bool,
    /// Whether any row can be chosen.
    can_end: bool,
}

/// A state one can look for.
struct Choice {
    value: &'static str,
    word: &'static str,
    chosen: bool,
}

struct Row {
    mark: String,
    project: String,
    task: String,
    short_id: String,
    /// Its page; none where it is somebody else's.
    page: Option<String>,
    what: String,
    badge: Badge,
    code: &'static str,
    ends: When,
    has_end: bool,
    created: When,
    created_by: String,
    views: String,
    opened: When,
    was_opened: bool,
    /// Where it ends; none where it is over or somebody else's.
    end: Option<String>,
}

/// How many rows there are of this list, and where one is.
pub(in crate::gateway) fn extent<T>(filter: ShareFilter, listed: &crate::gateway::services::lists::Listed<T>) -> Extent {
    Extent { total: listed.total, complete: listed.complete, page: filter.page, size: PAGE_SIZE }
}

impl List {
    pub(in crate::gateway) fn new(page: &Page, filter: ShareFilter, list: &ShareList) -> Self {
        let rows: Vec<Row> = list.items.iter().map(Row::of).collect();
        Self {
            chrome: page.chrome(title(filter), "shares"),
            can_end: rows.iter().any(|row| row.end.is_some()),
            rows,
            pager: pager(filter, extent(filter, list)),
            states: states(filter),
            own: filter.own,
            state: filter.shown.map_or("", Shown::as_str),
            page: filter.page,
            is_all: filter.is_all(),
        }
    }
}

fn title(filter: ShareFilter) -> String {
    if filter.page > 1 { format!("Shares, page {}", filter.page) } else { "Shares".to_owned() }
}

fn pager(filter: ShareFilter, extent: Extent) -> Pager {
    Pager::new(extent, "share", "shares", |number| urls::shares(&filter.query(number)))
}

fn states(filter: ShareFilter) -> Vec<Choice> {
    let choice = |shown: Shown| Choice { value: shown.as_str(), word: word(shown), chosen: filter.shown == Some(shown) };
    Shown::ALL.into_iter().map(choice).collect()
}

const fn word(shown: Shown) -> &'static str {
    match shown {
        Shown::Open => "Open",
        Shown::Locked => "Locked",
        Shown::ByPolicy => "Closed by the policy",
        Shown::CodeDead => "Code worthless",
        Shown::UsedUp => "All views spent",
        Shown::Expired => "Expired",
        Shown::Ended => "Ended",
        Shown::Elsewhere => "Made elsewhere",
    }
}

/// A state as a badge.
pub(in crate::gateway) fn badge(standing: Standing) -> Badge {
    let (kind, word) = match standing {
        Standing::Is(State::Open) => ("done", "Open".to_owned()),
        Standing::Is(State::CodeDead) => ("failed", "Code worthless".to_owned()),
        Standing::Is(State::UsedUp) => ("terminated", "All views spent".to_owned()),
        Standing::Is(State::Expired) => ("terminated", "Expired".to_owned()),
        Standing::Is(State::Ended) => ("terminated", "Ended".to_owned()),
        Standing::Locked(wait) => ("failed", format!("Locked for {}", minutes(wait))),
        Standing::ByPolicy => ("failed", "Closed by the policy".to_owned()),
    };
    Badge { kind, word }
}

pub(in crate::gateway) fn minutes(wait: Duration) -> String {
    count(wait.as_secs().div_ceil(60).max(1), "minute", "minutes")
}

/// What is shared, in words.
pub(in crate::gateway) fn what(entry: &Entry) -> String {
    match entry.kind {
        ShareType::Report if entry.hides_evidence => "All findings, without the report".to_owned(),
        ShareType::Report => "All findings and the report".to_owned(),
        ShareType::Vul if entry.finding_count() == 0 => "Chosen findings".to_owned(),
        ShareType::Vul => count(entry.finding_count(), "finding", "findings"),
    }
}

/// What it is called, where it is called anything.
pub(in crate::gateway) fn project(project: &Hostile, limit: usize) -> String {
    if project.is_empty() { "Without a name".to_owned() } else { project.short(limit) }
}

/// `2 of 5`, `2`.
pub(in crate::gateway) fn views(entry: &Entry) -> String {
    entry.most_views.map_or_else(|| entry.views.to_string(), |most| format!("{} of {most}", entry.views))
}

const fn code(needs_code: bool) -> &'static str {
    if needs_code { "Yes" } else { "No: the link alone opens it" }
}

impl Row {
    fn of(seen: &Seen) -> Self {
        let Seen { mark, entry, standing, is_kept, .. } = seen;
        let is_over = matches!(standing, Standing::Is(State::Ended | State::Expired));
        Self {
            mark: mark.as_str().to_owned(),
            project: project(&entry.project, 120),
            task: urls::task(&entry.task),
            short_id: mark.short().to_owned(),
            page: is_kept.then(|| urls::share(mark)),
            what: what(entry),
            badge: badge(*standing),
            code: if entry.needs_code { "with a code" } else { "no code: the link alone opens it" },
            ends: When::of(entry.ends),
            has_end: entry.ends.is_some(),
            created: When::of(Some(entry.made)),
            created_by: entry.maker.name.short(60),
            views: views(entry),
            opened: When::of(entry.last_opened),
            was_opened: entry.last_opened.is_some(),
            end: (*is_kept && !is_over).then(|| urls::share_end(mark)),
        }
    }
}

/// Shares that only the scanning service knows.
#[derive(Template)]
#[template(path = "shares/elsewhere.html")]
pub(in crate::gateway) struct ElsewherePage {
    chrome: Chrome,
    rows: Vec<Stranger>,
    pager: Pager,
    states: Vec<Choice>,
    own: bool,
    is_administrator: bool,
}

struct Stranger {
    project: String,
    task: Option<String>,
    short_id: String,
    what: String,
    code: &'static str,
    ends: When,
    has_end: bool,
    created: When,
    created_by: String,
    end: String,
}

impl ElsewherePage {
    pub(in crate::gateway) fn new(page: &Page, filter: ShareFilter, list: &Elsewhere) -> Self {
        let chrome = page.chrome(format!("{} made elsewhere", title(filter)), "shares");
        Self {
            is_administrator: chrome.user.as_ref().is_some_and(|user| user.is_administrator),
            chrome,
            rows: list.items.iter().map(|(mark, row)| Stranger::of(mark, row)).collect(),
            pager: pager(filter, extent(filter, list)),
            states: states(filter),
            own: filter.own,
        }
    }
}

impl Stranger {
    fn of(mark: &Mark, row: &ShareRow) -> Self {
        Self {
            project: project(&row.project, 120),
            task: row.task.as_ref().map(urls::task),
            short_id: mark.short().to_owned(),
            what: match &row.kind {
                Kind::Report => "All findings and the report".to_owned(),
                Kind::Findings => count(row.findings.len() as u64, "finding", "findings"),
                Kind::Other(word) => word.short(40),
            },
            code: code(row.needs_code),
            ends: When::of(row.expires),
            has_end: row.expires.is_some(),
            created: When::of(row.created),
            created_by: row.created_by.short(60),
            end: urls::share_end(mark),
        }
    }
}

/// Asks before several shares are ended.
#[derive(Template)]
#[template(path = "shares/end.html")]
pub(in crate::gateway) struct AskEnd {
    chrome: Chrome,
    rows: Vec<Row>,
    total: String,
}

impl AskEnd {
    pub(in crate::gateway) fn new(page: &Page, seen: &[Seen]) -> Self {
        Self {
            chrome: page.chrome("End these shares?", "shares"),
            rows: seen.iter().map(Row::of).collect(),
            total: count(seen.len() as u64, "share", "shares"),
        }
    }
}

/// What became of ending several.
#[derive(Template)]
#[template(path = "shares/sheet.html")]
pub(in crate::gateway) struct SheetPage {
    chrome: Chrome,
    lines: Vec<Line>,
    summary: String,
}

struct Line {
    short_id: String,
    project: String,
    page: Option<String>,
    badge: Badge,
    words: &'static str,
}

impl SheetPage {
    pub(in crate::gateway) fn new(page: &Page, sheet: &Sheet) -> Self {
        let ended = sheet.lines.iter().filter(|(_, _, outcome)| outcome.is_ok()).count();
        let rest = sheet.lines.len() - ended;
        let others = if rest == 0 { String::new() } else { format!("; {rest} not") };
        Self {
            chrome: page.chrome("Shares ended", "shares"),
            lines: sheet.lines.iter().map(|(mark, entry, outcome)| Line::of(mark, entry.as_ref(), *outcome)).collect(),
            summary: format!("{} ended{others}.", count(ended as u64, "share", "shares")),
        }
    }
}

impl Line {
    fn of(mark: &Mark, entry: Option<&Entry>, outcome: Result<Ended, NotEnded>) -> Self {
        let (kind, word, words) = match outcome {
            Ok(Ended::Everywhere) => ("done", "Ended", "Its link opens nothing any more."),
            Ok(Ended::HereOnly) => (
                "done",
                "Ended here",
                "Its link opens nothing any more. The scanning service could not be told; try again on its page.",
            ),
            Err(NotEnded::WasOver) => ("terminated", "Skipped", "It had been ended before."),
            Err(NotEnded::NotFound) => ("terminated", "Skipped", "There is no such share, or it is somebody else's."),
            Err(NotEnded::Failed) => ("failed", "Failed", "Something went wrong; nothing was changed. Try again in a moment."),
        };
        Self {
            short_id: mark.short().to_owned(),
            project: entry.map(|entry| project(&entry.project, 120)).unwrap_or_default(),
            page: entry.map(|_| urls::share(mark)),
            badge: Badge { kind, word: word.to_owned() },
            words,
        }
    }
}
