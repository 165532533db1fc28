//! All shares of a company as its administrators see them. A share is named by its short id, which opens nothing.

use askama::Template;

use super::admin::Tabs;
use super::layout::Chrome;
use super::pager::{Extent, Pager};
use super::shares::{badge, views, what};
use super::words::{Badge, When, count};
use crate::gateway::domain::share_breach::Breach;
use crate::gateway::services::all_shares::{Filter, Found, Listed, Maker, PAGE_SIZE};
use crate::gateway::web::urls;

#[derive(Template)]
#[template(path = "admin/shares.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    tabs: Tabs,
    rows: Vec<Row>,
    makers: Vec<MakerView>,
    choices: Vec<Choice>,
    is_filtered: bool,
    /// Those alone are shown that do not fit, so all of them are chosen already.
    is_breaching: bool,
    /// Whether any row can be chosen.
    can_end: bool,
    /// Carried by the form, so that one comes back here.
    show: &'static str,
    maker: String,
    page: u32,
    breaching: u64,
    breaches: String,
    pager: Pager,
    every: &'static str,
}

struct Row {
    short: String,
    page: String,
    /// For the box that chooses it; none where ending it does nothing.
    mark: Option<String>,
    project: String,
    what: String,
    maker: String,
    state: Badge,
    breaches: Vec<&'static str>,
    made: When,
    ends: When,
    has_end: bool,
    views: String,
    opened: Option<When>,
}

struct MakerView {
    key: String,
    name: String,
    living: String,
    is_chosen: bool,
    verb: &'static str,
    /// Where their shares are ended; none when there is none to end.
    end: Option<String>,
}

struct Choice {
    name: &'static str,
    word: &'static str,
    is_chosen: bool,
}

impl List {
    /// `page` counts from 1.
    pub(in crate::gateway) fn new(chrome: Chrome, found: &Found, filter: &Filter, page: u32) -> Self {
        let query = query(filter);
        let extent = Extent { total: found.total, complete: true, page, size: PAGE_SIZE };
        let everything = !filter.breaching && !filter.living;
        let rows: Vec<Row> = found.shares.iter().map(Row::of).collect();
        Self {
            chrome,
            tabs: Tabs::at(urls::ALL_SHARES),
            can_end: rows.iter().any(|row| row.mark.is_some()),
            rows,
            is_breaching: filter.breaching,
            show: show(filter),
            maker: filter.maker.clone().unwrap_or_default(),
            page,
            makers: found.makers.iter().map(|maker| MakerView::of(maker, filter)).collect(),
            choices: vec![
                Choice { name: "all", word: "Every share", is_chosen: everything },
                Choice { name: "living", word: "Those that are not over", is_chosen: filter.living },
                Choice { name: "breaches", word: "Those the policy does not allow", is_chosen: filter.breaching },
            ],
            is_filtered: *filter != Filter::default(),
            breaching: found.breaching,
            breaches: urls::all_shares("show=breaches", 1),
            pager: Pager::new(extent, "share", "shares", |page| urls::all_shares(&query, page)),
            every: urls::ALL_SHARES,
        }
    }
}

/// The word of an address.
const fn show(filter: &Filter) -> &'static str {
    match (filter.breaching, filter.living) {
        (true, _) => "breaches",
        (false, true) => "living",
        (false, false) => "",
    }
}

/// The query of the address of such a list.
pub(in crate::gateway) fn query(filter: &Filter) -> String {
    let show = Some(show(filter)).filter(|word| !word.is_empty()).map(|word| urls::pair("show", word)).unwrap_or_default();
    let maker = filter.maker.as_ref().map(|maker| urls::pair("maker", maker)).unwrap_or_default();
    [show, maker].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&")
}

impl Row {
    fn of(listed: &Listed) -> Self {
        let entry = &listed.entry;
        Self {
            page: urls::share(&listed.mark),
            mark: listed.is_endable().then(|| listed.mark.as_str().to_owned()),
            short: listed.mark.short().to_owned(),
            project: entry.project.short(80),
            what: what(entry),
            maker: entry.maker.name.short(60),
            state: badge(listed.standing),
            breaches: listed.breaches.iter().map(|breach| words(*breach)).collect(),
            made: When::of(Some(entry.made)),
            ends: When::of(entry.ends),
            has_end: entry.ends.is_some(),
            views: views(entry),
            opened: entry.last_opened.map(|at| When::of(Some(at))),
        }
    }
}

const fn words(breach: Breach) -> &'static str {
    match breach {
        Breach::NoCode => "needs no code",
        Breach::NoEnd => "never ends",
        Breach::TooLong => "ends too late",
        Breach::TooOften => "opens too often",
        Breach::ShowsEvidence => "shows evidence",
    }
}

impl MakerView {
    fn of(maker: &Maker, filter: &Filter) -> Self {
        Self {
            key: maker.key.clone(),
            name: name(maker),
            living: standing(maker),
            is_chosen: filter.maker.as_ref() == Some(&maker.key),
            verb: if maker.living > 0 { "End all" } else { "Tell the service" },
            end: (maker.living + maker.untold > 0).then(|| urls::all_shares_end(&maker.key)),
        }
    }
}

fn standing(maker: &Maker) -> String {
    let living = count(maker.living, "share is not over", "shares are not over");
    match maker.untold {
        0 => living,
        untold => format!("{living}; the scanning service was not told of the end of {untold}"),
    }
}

fn name(maker: &Maker) -> String {
    if maker.name.is_empty() { "Without a name".to_owned() } else { maker.name.short(80) }
}

/// Asks before all shares of somebody end.
#[derive(Template)]
#[template(path = "admin/shares_end.html")]
pub(in crate::gateway) struct AskEnd {
    chrome: Chrome,
    name: String,
    key: String,
    living: u64,
    /// Ended here, and the service does not know.
    untold: u64,
    shares: String,
    action: &'static str,
    list: &'static str,
}

impl AskEnd {
    pub(in crate::gateway) fn new(chrome: Chrome, maker: &Maker) -> Self {
        Self {
            chrome,
            name: name(maker),
            key: maker.key.clone(),
            living: maker.living,
            untold: maker.untold,
            shares: count(maker.living, "share", "shares"),
            action: urls::ALL_SHARES_END,
            list: urls::ALL_SHARES,
        }
    }
}
