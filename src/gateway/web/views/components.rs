//! Components of a task: the list with what is known about each, and the plan of upgrades.

use askama::Template;

use super::downloads::{Inventory, inventories};
use super::findings::title;
use super::layout::Chrome;
use super::pager::{Extent, Pager, grouped};
use super::task_tabs::{Here, Tabs};
use super::tasks::project;
use super::words::{ReachView, SeverityView, breakable, count};
use crate::contract::ids::TaskId;
use crate::contract::results::{self, Severity as Band};
use crate::gateway::domain::component::ComponentRow;
use crate::gateway::domain::component_filter::ComponentFilter;
use crate::gateway::domain::filter::FindingFilter;
use crate::gateway::domain::finding::Severity;
use crate::gateway::domain::finding_filter::Reached;
use crate::gateway::domain::upgrade::Upgrade;
use crate::gateway::services::components::{ComponentPage, PAGE};
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// Findings without a fix that are named in one row.
const NAMED: usize = 8;
/// Places of one component that are named in one row.
const PLACES: usize = 5;

/// `title, page 3`.
pub(in crate::gateway) fn paged(title: String, page: u32) -> String {
    if page > 1 { format!("{title}, page {page}") } else { title }
}

/// Where in the list a page is; None where there is no list.
pub(in crate::gateway) fn extent<T>(found: &ComponentPage<T>, page: u32) -> Option<Extent> {
    found.listed.as_ref().map(|listed| Extent { total: listed.total, complete: listed.complete, page, size: PAGE })
}

#[derive(Template)]
#[template(path = "components/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    tabs: Tabs,
    task_href: String,
    here: String,
    plan_href: String,
    short: String,
    project: String,
    offered: bool,
    name: String,
    ecosystems: Vec<Ecosystem>,
    vulnerable: bool,
    active: Vec<String>,
    rows: Vec<Row>,
    pager: Pager,
    inventories: Vec<Inventory>,
}

/// A box to tick.
struct Ecosystem {
    id: usize,
    value: String,
    word: String,
    checked: bool,
}

struct Row {
    name: Vec<String>,
    version: String,
    ecosystem: String,
    path: String,
    identified_by: String,
    counts: Vec<CountLink>,
    /// `2 cleared`, with the list of them.
    cleared: Option<(String, String)>,
    reach: Option<ReachView>,
    fix: Option<FixWords>,
}

/// How many findings of one severity, and where they are listed.
struct CountLink {
    href: String,
    severity: SeverityView,
    number: String,
    words: String,
}

/// What an upgrade does, in words.
struct FixWords {
    /// `Upgrade to 2.17.1`; empty when nothing helps.
    target: String,
    /// `clears all 5 findings`, `clears 3 of 5 findings`, `no version clears any of 2 findings`.
    effect: String,
    /// Findings without a fix: name and address.
    without: Vec<(String, String)>,
    /// How many more there are.
    more: usize,
}

fn ecosystems(filter: &ComponentFilter) -> Vec<Ecosystem> {
    let known = ComponentFilter::ECOSYSTEMS;
    let typed =
        filter.ecosystems.iter().map(String::as_str).filter(|one| !known.iter().any(|name| name.eq_ignore_ascii_case(one)));
    let all: Vec<&str> = known.into_iter().chain(typed).collect();
    let choice = |(id, value): (usize, &str)| Ecosystem {
        id,
        value: value.to_owned(),
        word: Hostile::from(value).short(40),
        checked: filter.ecosystems.iter().any(|one| one.eq_ignore_ascii_case(value)),
    };
    all.into_iter().enumerate().map(choice).collect()
}

impl List {
    pub(in crate::gateway) fn new(chrome: Chrome, filter: &ComponentFilter, found: &ComponentPage<Upgrade>) -> Self {
        let (task, id) = (&found.task, &found.task.id);
        let extent = extent(found, filter.page).unwrap_or(Extent { total: 0, complete: true, page: 1, size: PAGE });
        Self {
            chrome,
            tabs: Tabs::new(task, None, &found.parts, Here::Components),
            task_href: urls::task(id),
            here: urls::components(id),
            plan_href: urls::upgrades(id),
            short: project(task, 60),
            project: project(task, 200),
            offered: found.listed.is_some(),
            name: filter.name.clone(),
            ecosystems: ecosystems(filter),
            vulnerable: filter.vulnerable,
            active: filter.words(),
            rows: found.listed.iter().flat_map(|listed| &listed.items).map(|one| Row::new(id, one)).collect(),
            pager: Pager::new(extent, "component", "components", |page| {
                urls::with_query(urls::components(id), &filter.query(page))
            }),
            inventories: inventories(task, &found.parts),
        }
    }
}

impl Row {
    fn new(task: &TaskId, one: &Upgrade) -> Self {
        let row = &one.row;
        Self {
            name: breakable(&name(row)),
            version: row.part.version.short(60),
            ecosystem: row.ecosystem.short(40),
            path: row.part.path.short(400),
            identified_by: row.identified_by.short(80),
            counts: counts(task, row, true),
            cleared: cleared(task, row),
            reach: row.reachability.as_ref().map(ReachView::of),
            fix: FixWords::of(task, one),
        }
    }
}

fn name(row: &ComponentRow) -> String {
    let named = [&row.part.name, &row.part.purl].into_iter().find(|text| !text.is_empty());
    named.map_or_else(|| "Component without a name".to_owned(), |text| text.short(200))
}

/// The list of findings of one component; in one place of it, or in all.
fn of_component(row: &ComponentRow, here_only: bool) -> FindingFilter {
    FindingFilter::of_component(&row.part, if here_only { row.part.path.raw() } else { "" })
}

fn counts(task: &TaskId, row: &ComponentRow, here_only: bool) -> Vec<CountLink> {
    let numbers = [
        (Band::Critical, row.counts.critical),
        (Band::High, row.counts.high),
        (Band::Medium, row.counts.medium),
        (Band::Low, row.counts.low),
    ];
    numbers
        .into_iter()
        .filter(|(_, number)| *number > 0)
        .map(|(band, number)| {
            let filter = FindingFilter { severities: vec![band], ..of_component(row, here_only) };
            let severity = SeverityView::of(&Severity::Known(band));
            CountLink {
                href: urls::with_query(urls::findings(task), &filter.query(1)),
                words: format!(
                    "{} {} {} of {}",
                    grouped(number),
                    severity.word,
                    if number == 1 { "finding" } else { "findings" },
                    name(row)
                ),
                number: grouped(number),
                severity,
            }
        })
        .collect()
}

fn cleared(task: &TaskId, row: &ComponentRow) -> Option<(String, String)> {
    let reached = vec![Reached(results::Reachability::NotPresent)];
    let filter = FindingFilter { reached, ..of_component(row, true) };
    (row.counts.cleared > 0)
        .then(|| (format!("{} cleared", grouped(row.counts.cleared)), urls::with_query(urls::findings(task), &filter.query(1))))
}

impl FixWords {
    /// None when there is nothing to fix.
    fn of(task: &TaskId, one: &Upgrade) -> Option<Self> {
        if one.of == 0 {
            return None;
        }
        let findings = count(one.of, "finding", "findings");
        let effect = match (one.target.is_some(), one.clears) {
            (false, _) | (true, 0) if one.of == 1 => "No version is known to clear its finding".to_owned(),
            (false, _) | (true, 0) => format!("No version is known to clear any of its {findings}"),
            (true, all) if all >= one.of && one.of == 1 => "clears its 1 finding".to_owned(),
            (true, all) if all >= one.of => format!("clears all {findings}"),
            (true, some) => format!("clears {} of {findings}", grouped(some)),
        };
        let named = one.without_fix.iter().take(NAMED).map(|row| {
            let cve = row.cves.first().filter(|cve| !cve.is_empty()).map(|cve| cve.short(40));
            (cve.unwrap_or_else(|| title(row, 80)), urls::finding(task, &row.id))
        });
        Some(Self {
            target: one.target.as_ref().map(|target| format!("Upgrade to {}", target.short(60))).unwrap_or_default(),
            effect,
            without: named.collect(),
            more: one.without_fix.len().saturating_sub(NAMED),
        })
    }
}

#[derive(Template)]
#[template(path = "components/upgrades.html")]
pub(in crate::gateway) struct Plan {
    chrome: Chrome,
    tabs: Tabs,
    task_href: String,
    list_href: String,
    short: String,
    project: String,
    offered: bool,
    rows: Vec<PlanRow>,
    pager: Pager,
}

struct PlanRow {
    name: Vec<String>,
    version: String,
    ecosystem: String,
    /// The version to go to; empty when there is none.
    to: String,
    counts: Vec<CountLink>,
    reach: Option<ReachView>,
    effect: String,
    without: Vec<(String, String)>,
    more: usize,
    places: Vec<String>,
    more_places: usize,
}

impl Plan {
    pub(in crate::gateway) fn new(chrome: Chrome, page: u32, found: &ComponentPage<Upgrade>) -> Self {
        let (task, id) = (&found.task, &found.task.id);
        let extent = extent(found, page).unwrap_or(Extent { total: 0, complete: true, page: 1, size: PAGE });
        Self {
            chrome,
            tabs: Tabs::inside(task, &found.parts, Here::Components),
            task_href: urls::task(id),
            list_href: urls::components(id),
            short: project(task, 60),
            project: project(task, 200),
            offered: found.listed.is_some(),
            rows: found.listed.iter().flat_map(|listed| &listed.items).map(|one| PlanRow::new(id, one)).collect(),
            pager: Pager::new(extent, "component to change", "components to change", |page| urls::page(urls::upgrades(id), page)),
        }
    }
}

impl PlanRow {
    fn new(task: &TaskId, one: &Upgrade) -> Self {
        let fix = FixWords::of(task, one);
        let (effect, without, more) =
            fix.map_or_else(|| (String::new(), Vec::new(), 0), |fix| (fix.effect, fix.without, fix.more));
        Self {
            name: breakable(&name(&one.row)),
            version: one.row.part.version.short(60),
            ecosystem: one.row.ecosystem.short(40),
            to: one.target.as_ref().map(|target| target.short(60)).unwrap_or_default(),
            counts: counts(task, &one.row, one.places.len() == 1),
            reach: one.row.reachability.as_ref().map(ReachView::of),
            effect,
            without,
            more,
            places: one.places.iter().filter(|place| !place.is_empty()).take(PLACES).map(|place| place.short(300)).collect(),
            more_places: one.places.len().saturating_sub(PLACES),
        }
    }
}
