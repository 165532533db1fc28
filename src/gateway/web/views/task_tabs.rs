//! The ways between the pages of one finished task.

use super::pager::grouped;
use crate::gateway::domain::task::{Counts, Status, Task};
use crate::gateway::services::parts::{Part, Parts};
use crate::gateway::web::urls;

/// Where one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Here {
    Summary,
    Findings,
    Components,
    Chains,
    Report,
}

/// What `partials/task_tabs.html` shows; nothing before a task has finished.
pub(in crate::gateway) struct Tabs {
    pub(in crate::gateway) items: Vec<Tab>,
}

pub(in crate::gateway) struct Tab {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) word: &'static str,
    /// Empty when it is not known or there is nothing to count.
    pub(in crate::gateway) number: String,
    pub(in crate::gateway) is_here: bool,
    /// The page itself is this one; else one stands below it.
    pub(in crate::gateway) is_page: bool,
}

impl Tabs {
    /// `counts` may know more than the task itself does.
    pub(in crate::gateway) fn new(task: &Task, counts: Option<&Counts>, parts: &Parts, here: Here) -> Self {
        Self::below(task, counts, parts, here, true)
    }

    /// The same on a page below the one the tab leads to.
    pub(in crate::gateway) fn inside(task: &Task, parts: &Parts, here: Here) -> Self {
        Self::below(task, None, parts, here, false)
    }

    fn below(task: &Task, counts: Option<&Counts>, parts: &Parts, here: Here, is_page: bool) -> Self {
        if task.status != Status::Done {
            return Self { items: Vec::new() };
        }
        let id = &task.id;
        let findings = counts.or(task.counts.as_ref()).map_or(Part::Unknown, |counts| Part::Holds(counts.total));
        let all = [
            (Here::Summary, "Summary", urls::task(id), Part::Unknown),
            (Here::Findings, "Findings", urls::findings(id), findings),
            (Here::Components, "Components", urls::components(id), parts.components),
            (Here::Chains, "Exploit chains", urls::chains(id), parts.chains),
            (Here::Report, "Report", urls::task_downloads(id), Part::Unknown),
        ];
        let shown = all.into_iter().filter(|(tab, _, _, part)| *part != Part::NotOffered || *tab == here);
        let items = shown.map(|(tab, word, href, part)| Tab {
            href,
            word,
            number: if let Part::Holds(number) = part { grouped(number) } else { String::new() },
            is_here: tab == here,
            is_page,
        });
        Self { items: items.collect() }
    }
}
