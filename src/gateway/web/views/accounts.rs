//! Accounts of a scan. Of what a session holds, only counts are ever shown.

use askama::Template;

use super::drafts::{Frame, chrome};
use super::layout::Chrome;
use super::notice::Notice;
use super::words::{When, bare_address, count};
use crate::gateway::domain::account::{Account, MAX_ROLE};
use crate::gateway::domain::draft::{Draft, Step};
use crate::gateway::services::accounts::{Problems, Typed};
use crate::gateway::services::drafts::Held;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// An account in the table.
pub(in crate::gateway) struct Row {
    index: usize,
    url: String,
    has_query: bool,
    role: String,
    holds: String,
    way: &'static str,
    at: When,
}

impl Row {
    fn of(index: usize, account: &Account) -> Self {
        let (url, has_query) = bare_address(&account.url, 120);
        Self {
            index,
            url,
            has_query,
            role: role(&account.role),
            holds: holds(account),
            way: if account.typed { "typed in" } else { "from the browser" },
            at: When::of(Some(account.at)),
        }
    }
}

/// A role in words.
pub(in crate::gateway) fn role(role: &Hostile) -> String {
    match role.raw() {
        "admin" => "Administrator".to_owned(),
        "normal" => "Normal user".to_owned(),
        _ => role.short(MAX_ROLE),
    }
}

fn holds(account: &Account) -> String {
    let number = |of: usize| of as u64;
    let mut parts = Vec::new();
    for (have, one, many) in [
        (account.holds.cookies, "cookie", "cookies"),
        (account.holds.headers, "header", "headers"),
        (account.holds.stored, "stored entry", "stored entries"),
    ] {
        if have > 0 {
            parts.push(count(number(have), one, many));
        }
    }
    parts.join(", ")
}

/// The table of accounts.
pub(in crate::gateway) struct Table {
    csrf: String,
    version: String,
    remove: String,
    rows: Vec<Row>,
}

impl Table {
    pub(in crate::gateway) fn new(chrome: &Chrome, held: &Held) -> Self {
        Self {
            csrf: chrome.csrf.clone(),
            version: held.version.clone(),
            remove: urls::draft(urls::DRAFT_ACCOUNT_REMOVE, &held.draft.id),
            rows: held.draft.accounts.iter().enumerate().map(|(index, account)| Row::of(index, account)).collect(),
        }
    }
}

/// The table alone: what a saved session answers with.
#[derive(Template)]
#[template(path = "accounts/table.html")]
pub(in crate::gateway) struct TableAlone {
    table: Table,
}

impl TableAlone {
    pub(in crate::gateway) fn new(chrome: &Chrome, held: &Held) -> Self {
        Self { table: Table::new(chrome, held) }
    }
}

#[derive(Template)]
#[template(path = "accounts/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    frame: Frame,
    table: Table,
    start: String,
    open_at: String,
    save_at: String,
    form: Form,
}

/// The form for cookies and headers.
pub(in crate::gateway) struct Form {
    role: String,
    own_role: String,
    url: String,
    cookies: String,
    headers: String,
    role_problem: Option<&'static str>,
    url_problem: Option<&'static str>,
    cookie_problems: Vec<String>,
    header_problems: Vec<String>,
    /// It holds what was just typed.
    is_typed: bool,
}

impl List {
    /// `refused` is what was just typed and cannot be used; it is shown this once and was not kept.
    pub(in crate::gateway) fn new(page: &Page, held: &Held, notice: Option<Notice>, refused: Option<&(Typed, Problems)>) -> Self {
        let chrome = chrome(page, Step::Accounts, notice.is_some());
        Self {
            frame: Frame::new(held, Step::Accounts, notice),
            table: Table::new(&chrome, held),
            start: start(&held.draft),
            open_at: urls::draft(urls::DRAFT_BROWSER, &held.draft.id),
            save_at: urls::draft(urls::DRAFT_SESSION, &held.draft.id),
            form: Form::new(&held.draft, refused),
            chrome,
        }
    }
}

impl Form {
    fn new(draft: &Draft, refused: Option<&(Typed, Problems)>) -> Self {
        let Some((typed, problems)) = refused else {
            return Self {
                role: "admin".to_owned(),
                own_role: String::new(),
                url: start(draft),
                cookies: String::new(),
                headers: String::new(),
                role_problem: None,
                url_problem: None,
                cookie_problems: Vec::new(),
                header_problems: Vec::new(),
                is_typed: false,
            };
        };
        let lines = |field: &str| {
            let own = problems.lines.iter().filter(|problem| problem.field == field);
            own.map(|problem| format!("Line {}: {}", problem.line, problem.words)).collect()
        };
        let known = matches!(&*typed.role, "admin" | "normal");
        Self {
            cookie_problems: lines("cookies"),
            header_problems: lines("headers"),
            own_role: if known { String::new() } else { typed.role.clone() },
            role: if known { typed.role.clone() } else { "own".to_owned() },
            url: typed.url.clone(),
            cookies: typed.cookies.clone(),
            headers: typed.headers.clone(),
            role_problem: problems.role,
            url_problem: problems.url,
            is_typed: true,
        }
    }
}

/// Where a person signs in: the login address, else the target; empty without one.
fn start(draft: &Draft) -> String {
    let target = draft.target.as_ref();
    target.map(|target| target.login_url.clone().unwrap_or_else(|| target.url.clone())).unwrap_or_default()
}
