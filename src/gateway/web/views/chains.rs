//! Exploit chains of a task: the list, and one chain.

use askama::Template;

use super::chain_body::ChainBody;
use super::findings::more;
use super::layout::Chrome;
use super::pager::{Extent, Pager, grouped};
use super::task_tabs::{Here, Tabs};
use super::tasks::project;
use super::words::SeverityView;
use crate::contract::results;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::filter::FindingFilter;
use crate::gateway::domain::finding_filter::Reached;
use crate::gateway::domain::task::Task;
use crate::gateway::services::chains::{ChainList, OpenedChain, PAGE};
use crate::gateway::web::urls;

/// Fields that have a place of their own on the page.
const SHOWN: [&str; 23] = [
    "vulId",
    "chainId",
    "id",
    "taskId",
    "title",
    "name",
    "category",
    "severity",
    "cweId",
    "cwe",
    "description",
    "impact",
    "precondition",
    "fixSuggestion",
    "fix_suggestion",
    "vulIds",
    "steps",
    "chain",
    "nodes",
    "stages",
    "stepCount",
    "createdAt",
    "createTime",
];

/// What a chain is called.
pub(in crate::gateway) fn title(chain: &Chain, limit: usize) -> String {
    let named = [&chain.title, &chain.category].into_iter().find(|text| !text.is_empty());
    named.map_or_else(|| "Chain without a title".to_owned(), |text| text.short(limit))
}

/// A chain in a list.
pub(in crate::gateway) struct Row {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) title: String,
    pub(in crate::gateway) severity: SeverityView,
    /// `GET /orders/{id}`, else the method that is called first.
    pub(in crate::gateway) entry: String,
    pub(in crate::gateway) steps: String,
    pub(in crate::gateway) findings: String,
}

impl Row {
    pub(in crate::gateway) fn new(chain: &Chain, href: String) -> Self {
        let entry = chain.entry().map(|step| {
            let api = format!("{} {}", step.api_method.short(10), step.api_path.short(160)).trim().to_owned();
            let place = super::finding_body::flow_step(&step.place).place;
            if api.is_empty() { crate::platform::hostile::Hostile::new(place).short(160) } else { api }
        });
        Self {
            href,
            title: title(chain, 200),
            severity: SeverityView::of(&chain.severity),
            entry: entry.unwrap_or_default(),
            steps: grouped(chain.steps.len() as u64),
            findings: grouped(chain.leads_to().count() as u64),
        }
    }
}

/// Where in the list a page is; None where there is no list.
pub(in crate::gateway) fn extent(found: &ChainList, page: u32) -> Option<Extent> {
    found.listed.as_ref().map(|listed| Extent { total: listed.total, complete: listed.complete, page, size: PAGE })
}

#[derive(Template)]
#[template(path = "chains/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    tabs: Tabs,
    task_href: String,
    short: String,
    project: String,
    offered: bool,
    done: bool,
    /// The findings that are reached; a chain may be missing although there are some.
    reachable_href: String,
    rows: Vec<Row>,
    pager: Pager,
}

impl List {
    pub(in crate::gateway) fn new(chrome: Chrome, page: u32, found: &ChainList) -> Self {
        let (task, id): (&Task, _) = (&found.task, &found.task.id);
        let extent = extent(found, page).unwrap_or(Extent { total: 0, complete: true, page: 1, size: PAGE });
        let reachable = FindingFilter { reached: vec![Reached(results::Reachability::Reachable)], ..FindingFilter::default() };
        let rows = found.listed.iter().flat_map(|listed| &listed.items);
        Self {
            chrome,
            tabs: Tabs::new(task, None, &found.parts, Here::Chains),
            task_href: urls::task(id),
            short: project(task, 60),
            project: project(task, 200),
            offered: found.listed.is_some(),
            done: task.status == crate::gateway::domain::task::Status::Done,
            reachable_href: urls::with_query(urls::findings(id), &reachable.query(1)),
            rows: rows.map(|chain| Row::new(chain, urls::chain(id, &chain.id))).collect(),
            pager: Pager::new(extent, "exploit chain", "exploit chains", |page| urls::page(urls::chains(id), page)),
        }
    }
}

#[derive(Template)]
#[template(path = "chains/show.html")]
pub(in crate::gateway) struct ChainPage {
    chrome: Chrome,
    tabs: Tabs,
    task_href: String,
    list_href: String,
    short: String,
    title: String,
    body: ChainBody,
    /// Where the findings it leads to are shared with it; none where it leads to none.
    share: Option<String>,
    more: Vec<(String, String)>,
}

impl ChainPage {
    pub(in crate::gateway) fn new(chrome: Chrome, opened: &OpenedChain) -> Self {
        let (task, chain) = (&opened.task, &opened.chain);
        Self {
            chrome,
            tabs: Tabs::inside(task, &opened.parts, Here::Chains),
            task_href: urls::task(&task.id),
            list_href: urls::chains(&task.id),
            short: project(task, 60),
            title: title(chain, 300),
            body: ChainBody::new(chain, &opened.findings, |vul| Some(urls::finding(&task.id, vul))),
            share: share(task, chain),
            more: more(&chain.raw, &SHOWN),
        }
    }
}

/// A share of the findings a chain leads to: it comes along with them.
fn share(task: &Task, chain: &Chain) -> Option<String> {
    let findings: Vec<_> = chain.leads_to().cloned().collect();
    (!findings.is_empty()).then(|| urls::share_new(&task.id, &findings))
}
