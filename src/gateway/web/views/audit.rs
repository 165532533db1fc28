//! The audit log as administrators see it. All of it is text of ours or was made by our own rules, except people's names; it is
//! treated like any other text all the same.

use askama::Template;

use super::admin::Tabs;
use super::layout::Chrome;
use super::pager::grouped;
use super::words::{When, ago, count};
use crate::gateway::domain::audit::{Deed, Event, Outcome, Written};
use crate::gateway::domain::audit_filter::{AuditFilter, USUAL_DAYS};
use crate::gateway::domain::filter::day_text;
use crate::gateway::services::audit::{Check, Found, Line, Shown};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// Events that the page of a key shows.
pub(in crate::gateway) const KEY_EVENTS: usize = 10;
/// Characters of a person's mark that stand for it on pages.
const MARK: usize = 8;

/// The log.
#[derive(Template)]
#[template(path = "audit/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    tabs: Tabs,
    rows: Vec<Row>,
    caption: String,
    typed: Typed,
    acts: Vec<Choice>,
    results: Vec<Choice>,
    is_filtered: bool,
    /// What was left out because anybody can cause it, and the page that shows it.
    left_out: Option<(String, String)>,
    looked: Option<String>,
    next: Option<String>,
    newest: Option<String>,
    csv: String,
    json: String,
    check: CheckView,
    log: &'static str,
    usual_days: u64,
}

/// The fields of the filter as they were sent.
struct Typed {
    from: String,
    to: String,
    actor: String,
    object: String,
    network: String,
    request: String,
    all: bool,
}

struct Choice {
    value: &'static str,
    word: String,
    selected: bool,
}

struct Row {
    /// Something is not there: its words, in place of everything else.
    missing: Option<String>,
    at: When,
    who: String,
    who_href: String,
    what: String,
    object: String,
    object_href: String,
    outcome: &'static str,
    is_refused: bool,
    network: String,
    network_href: String,
    request: String,
}

/// The last check of the trail, in words.
struct CheckView {
    words: String,
    /// A modifier of the class `note`.
    style: &'static str,
    is_running: bool,
    action: &'static str,
}

impl List {
    pub(in crate::gateway) fn new(page: &Page, filter: &AuditFilter, before: Option<u64>, shown: &Shown, now: Timestamp) -> Self {
        let rows: Vec<Row> = shown.lines.iter().map(|line| Row::of(line, shown, filter)).collect();
        let title = if before.is_some() { "Audit, older events" } else { "Audit" };
        let query = filter.query(None);
        let is_filtered = !query.is_empty();
        let everything = AuditFilter { all: true, ..filter.clone() };
        Self {
            chrome: page.chrome(title, "audit"),
            tabs: Tabs::at(urls::AUDIT),
            caption: format!("{}, newest first", count(rows.len() as u64, "event", "events")),
            rows,
            typed: Typed::of(filter),
            acts: Deed::ALL
                .map(|deed| Choice { value: deed.name(), word: act(deed), selected: filter.deed == Some(deed) })
                .into(),
            results: Outcome::ALL
                .map(|one| Choice { value: one.name(), word: outcome(one).to_owned(), selected: filter.outcome == Some(one) })
                .into(),
            is_filtered,
            left_out: left_out(shown).map(|words| (words, urls::audit(&everything.query(before)))),
            looked: shown.looked_back_to.map(|back| {
                let through = grouped(shown.looked_through as u64);
                format!("Looked through {through} events, back to {}. Older ones may fit too.", When::of(Some(back)).words)
            }),
            next: shown.next.map(|number| urls::audit(&filter.query(Some(number)))),
            newest: before.map(|_| urls::audit(&query)),
            csv: urls::with_query(urls::AUDIT_CSV.to_owned(), &query),
            json: urls::with_query(urls::AUDIT_JSON.to_owned(), &query),
            check: CheckView::of(shown.check.as_ref(), now),
            log: urls::AUDIT,
            usual_days: USUAL_DAYS,
        }
    }
}

impl Typed {
    fn of(filter: &AuditFilter) -> Self {
        let short = |text: &str| Hostile::from(text).short(200);
        Self {
            from: filter.from.map(day_text).unwrap_or_default(),
            to: filter.to.map(day_text).unwrap_or_default(),
            actor: short(&filter.actor),
            object: short(&filter.object),
            network: short(&filter.network),
            request: short(&filter.request),
            all: filter.all,
        }
    }
}

impl Row {
    fn of(line: &Line, shown: &Shown, filter: &AuditFilter) -> Self {
        match line {
            Line::Event(written) => Self::event(written, shown, filter),
            Line::Missing { first, last, how } => Self { missing: Some(missing(*first, *last, how)), ..Self::empty() },
        }
    }

    fn event(written: &Written, shown: &Shown, filter: &AuditFilter) -> Self {
        let Written { at, event, .. } = written;
        let narrowed = |narrow: &dyn Fn(&mut AuditFilter)| {
            let mut narrower = filter.clone();
            narrow(&mut narrower);
            urls::audit(&narrower.query(None))
        };
        let text = |known: &Option<String>| known.clone().unwrap_or_default();
        let (user, object, network) = (text(&event.user), event.object().unwrap_or_default().to_owned(), text(&event.network));
        Self {
            missing: None,
            at: When::of(Some(*at)),
            who: who(event, shown),
            who_href: if user.is_empty() { String::new() } else { narrowed(&|filter| filter.actor.clone_from(&user)) },
            what: what(event),
            object_href: if object.is_empty() { String::new() } else { narrowed(&|filter| filter.object.clone_from(&object)) },
            object: Hostile::from(object.clone()).short(60),
            outcome: outcome(event.outcome()),
            is_refused: event.outcome() == Outcome::Refused,
            network_href: if network.is_empty() {
                String::new()
            } else {
                narrowed(&|filter| filter.network.clone_from(&network))
            },
            network: network.clone(),
            request: text(&event.request_id),
        }
    }

    fn empty() -> Self {
        Self {
            missing: None,
            at: When::default(),
            who: String::new(),
            who_href: String::new(),
            what: String::new(),
            object: String::new(),
            object_href: String::new(),
            outcome: "",
            is_refused: false,
            network: String::new(),
            network_href: String::new(),
            request: String::new(),
        }
    }
}

/// The log of everything that was done to something since it was made.
pub(super) fn whole_log(object: &str, made_at: Timestamp) -> String {
    let filter = AuditFilter { object: object.to_owned(), from: Some(made_at.utc().date()), ..AuditFilter::default() };
    urls::audit(&filter.query(None))
}

/// An event on the page of a key.
pub(super) struct KeyEvent {
    pub(super) at: When,
    pub(super) what: String,
    pub(super) who: String,
    pub(super) network: String,
}

impl KeyEvent {
    pub(super) fn all(shown: &Shown) -> Vec<Self> {
        let of = |line: &Line| {
            let Line::Event(Written { at, event, .. }) = line else { return None };
            Some(Self {
                at: When::of(Some(*at)),
                what: sentence(event.what()),
                who: who(event, shown),
                network: event.network.clone().unwrap_or_default(),
            })
        };
        shown.lines.iter().filter_map(of).collect()
    }
}

/// `Alice (5f3a09c1)`; the mark alone where nobody knows the name any more.
fn who(event: &Event, shown: &Shown) -> String {
    let Some(user) = &event.user else { return "–".to_owned() };
    let mark: String = user.chars().take(MARK).collect();
    // Of another company, so nobody here knows their name.
    if event.deed == Deed::OperatorLooked {
        return format!("Somebody who runs the platform ({mark})");
    }
    match shown.names.get(user).and_then(Option::as_ref).filter(|name| !name.is_empty()) {
        Some(name) => format!("{} ({mark})", name.short(60)),
        None => mark,
    }
}

/// `API key: rotated 24h`.
fn what(event: &Event) -> String {
    let detail = event.what();
    if detail.is_empty() { act(event.deed) } else { format!("{}: {}", act(event.deed), detail.replace('_', " ")) }
}

fn act(deed: Deed) -> String {
    sentence(deed.name())
}

/// `api_key` as `API key`.
fn sentence(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
    let sentence: String = first.chain(letters).collect();
    sentence.replace("Api ", "API ")
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "Done",
        Outcome::Refused => "Refused",
    }
}

fn missing(first: u64, last: u64, how: &str) -> String {
    if first == last {
        format!("Event {first} should be here: {how}.")
    } else {
        format!("Events {first} to {last} should be here: {how}.")
    }
}

fn left_out(shown: &Shown) -> Option<String> {
    let total: u64 = shown.left_out.values().sum();
    let each: Vec<String> =
        shown.left_out.iter().map(|(name, number)| format!("{} {}", sentence(name), grouped(*number))).collect();
    let events = count(total, "event", "events");
    (total > 0).then(|| format!("{events} that anybody can cause without an account are left out: {}.", each.join(", ")))
}

impl CheckView {
    fn of(check: Option<&Check>, now: Timestamp) -> Self {
        let (words, style) = match check {
            None => ("The trail was not checked from here yet.".to_owned(), ""),
            Some(Check { is_running: true, begun_at, .. }) => {
                (format!("A check is running; it began {}. Load the page again to see what it finds.", ago(*begun_at, now)), "")
            }
            Some(Check { ended: None, begun_at, .. }) => {
                (format!("The check of {} was broken off. Begin it again.", When::of(Some(*begun_at)).words), "warn")
            }
            Some(Check { ended: Some((at, found)), .. }) => {
                let (words, style) = verdict(found);
                (format!("Checked {} ({}): {words}", When::of(Some(*at)).words, ago(*at, now)), style)
            }
        };
        let is_running = check.is_some_and(|check| check.is_running);
        Self { words, style, is_running, action: urls::AUDIT_CHECK }
    }
}

fn verdict(found: &Found) -> (String, &'static str) {
    match found {
        Found::Whole { last: 0, .. } => ("nothing is written yet.".to_owned(), "good"),
        Found::Whole { first: 0, last } => (format!("all {last} events have run out, as they should."), "good"),
        Found::Whole { first, last } => (format!("every event from {first} to {last} is as it was written."), "good"),
        Found::EndUnknown { first, last } => {
            let words = "is as it was written, but the note of the end is gone: later events may have been cut off.";
            (format!("every event from {first} to {last} {words}"), "bad")
        }
        Found::Doubtful { first, last, number } => {
            let words = format!("but some may have been cut off before event {number}.");
            (format!("every event from {first} to {last} is as it was written, {words}"), "bad")
        }
        Found::Gone => ("the trail is gone, although other things of your company are here.".to_owned(), "bad"),
        Found::Broken { number, how } => {
            (format!("the trail is broken at event {number}: {}.", Hostile::from(how.as_str()).short(100)), "bad")
        }
        Found::Unreadable => ("the store did not answer, so nothing is known. Try again later.".to_owned(), "warn"),
    }
}
