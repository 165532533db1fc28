//! Pages of a draft: where to begin, the frame around every step, and the step of names.

use askama::Template;

use super::layout::Chrome;
use super::words::{When, count};
use crate::gateway::domain::draft::{Artifact, Draft, MAX_SERVICE_NAME, Step, StepState};
use crate::gateway::services::artifacts::Problems as AboutProblems;
use crate::gateway::services::drafts::Held;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// What a step is called.
pub(in crate::gateway) const fn title(step: Step) -> &'static str {
    match step {
        Step::Artifact => "Artifact",
        Step::Target => "Target",
        Step::Ownership => "Ownership",
        Step::Source => "Source code",
        Step::Accounts => "Accounts",
        Step::Options => "Names",
        Step::Check => "Check and start",
    }
}

/// A step in the list of steps.
pub(in crate::gateway) struct StepLink {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) title: &'static str,
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: &'static str,
    pub(in crate::gateway) current: bool,
    pub(in crate::gateway) number: usize,
}

/// What every step shares.
pub(in crate::gateway) struct Frame {
    pub(in crate::gateway) title: &'static str,
    pub(in crate::gateway) step: &'static str,
    pub(in crate::gateway) number: usize,
    pub(in crate::gateway) steps: Vec<StepLink>,
    pub(in crate::gateway) version: String,
    pub(in crate::gateway) ends: When,
    /// This page.
    pub(in crate::gateway) here: String,
    pub(in crate::gateway) next: String,
    pub(in crate::gateway) skip: String,
    pub(in crate::gateway) may_skip: bool,
    /// The last step.
    pub(in crate::gateway) check: String,
    pub(in crate::gateway) has_accounts: bool,
    /// Something was entered in this step.
    pub(in crate::gateway) done: bool,
}

impl Frame {
    pub(in crate::gateway) fn new(held: &Held, step: Step) -> Self {
        let Held { draft, notes, version } = held;
        let number = |step: Step| Step::ALL.into_iter().position(|one| one == step).unwrap_or_default() + 1;
        let link = |one: Step| {
            let (kind, word) = match draft.state(one, notes) {
                StepState::Done => ("done", "Done"),
                StepState::Skipped => ("skipped", "Skipped"),
                StepState::Open if one == Step::Check => ("open", "Last step"),
                StepState::Open if one.may_be_skipped() => ("open", "Open, can be skipped"),
                StepState::Open => ("open", "Open"),
            };
            let (href, title, current) = (urls::step(&draft.id, one), title(one), one == step);
            StepLink { href, title, kind, word, current, number: number(one) }
        };
        Self {
            title: title(step),
            step: step.as_str(),
            number: number(step),
            steps: Step::ALL.into_iter().map(link).collect(),
            version: version.clone(),
            ends: When::of(Some(draft.ends)),
            here: urls::step(&draft.id, step),
            next: urls::step(&draft.id, step.next()),
            skip: urls::draft(urls::DRAFT_SKIP, &draft.id),
            check: urls::step(&draft.id, Step::Check),
            has_accounts: !draft.accounts.is_empty(),
            may_skip: step.may_be_skipped(),
            done: draft.state(step, notes) == StepState::Done,
        }
    }
}

/// The frame of the page around a step.
pub(in crate::gateway) fn chrome(page: &Page, step: Step, wrong: bool) -> Chrome {
    let error = if wrong { "Error: " } else { "" };
    page.chrome(format!("{error}{} – New scan", title(step)), "tasks")
}

/// A draft in the list.
pub(in crate::gateway) struct DraftRow {
    project: String,
    href: String,
    where_to: &'static str,
    holds: String,
    created: When,
    ends: When,
    delete: String,
}

#[derive(Template)]
#[template(path = "drafts/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    rows: Vec<DraftRow>,
    project: String,
    problem: String,
    days: u64,
}

impl List {
    pub(in crate::gateway) fn new(page: &Page, drafts: &[Held], days: u64, project: &str, problem: &str) -> Self {
        let row = |held: &Held| {
            let Held { draft, notes, .. } = held;
            let step = draft.open_step(notes);
            DraftRow {
                project: name(draft, 80),
                href: urls::step(&draft.id, step),
                where_to: title(step),
                holds: holds(draft),
                created: When::of(Some(draft.created)),
                ends: When::of(Some(draft.ends)),
                delete: urls::draft(urls::DRAFT_DELETE, &draft.id),
            }
        };
        let error = if problem.is_empty() { "" } else { "Error: " };
        Self {
            chrome: page.chrome(format!("{error}New scan"), "tasks"),
            rows: drafts.iter().map(row).collect(),
            project: project.to_owned(),
            problem: problem.to_owned(),
            days,
        }
    }
}

/// The project's name, or words for a draft that has none yet.
pub(in crate::gateway) fn name(draft: &Draft, limit: usize) -> String {
    let named = draft.named();
    if named.is_empty() { "Scan without a name".to_owned() } else { named.short(limit) }
}

fn holds(draft: &Draft) -> String {
    let number = |of: usize| of as u64;
    let mut parts = vec![count(number(draft.artifacts.len()), "file", "files")];
    if draft.target.is_some() {
        parts.push("a target".to_owned());
    }
    if !draft.accounts.is_empty() {
        parts.push(count(number(draft.accounts.len()), "account", "accounts"));
    }
    parts.join(", ")
}

/// One artifact in the step of names.
pub(in crate::gateway) struct Named {
    file: String,
    service: String,
    target: String,
    problems: AboutProblems,
}

/// What was typed into that step.
pub(in crate::gateway) struct Typed {
    pub(in crate::gateway) project: String,
    pub(in crate::gateway) problem: Option<&'static str>,
    /// Service, own target, and what is wrong with them, in the order of the artifacts.
    pub(in crate::gateway) artifacts: Vec<(String, String, AboutProblems)>,
}

#[derive(Template)]
#[template(path = "drafts/options.html")]
pub(in crate::gateway) struct Options {
    chrome: Chrome,
    frame: Frame,
    project: String,
    problem: Option<&'static str>,
    artifacts: Vec<Named>,
    longest: usize,
    wrong: bool,
}

impl Options {
    pub(in crate::gateway) fn new(page: &Page, held: &Held, typed: Option<Typed>) -> Self {
        let wrong = typed.is_some();
        let Typed { project, problem, artifacts } = typed.unwrap_or_else(|| as_kept(&held.draft));
        let named = |(artifact, (service, target, problems)): (&Artifact, (String, String, AboutProblems))| Named {
            file: artifact.file_name.short(120),
            service,
            target,
            problems,
        };
        Self {
            chrome: chrome(page, Step::Options, wrong),
            frame: Frame::new(held, Step::Options),
            project,
            problem,
            artifacts: held.draft.artifacts.iter().zip(artifacts).map(named).collect(),
            longest: MAX_SERVICE_NAME,
            wrong,
        }
    }
}

fn as_kept(draft: &Draft) -> Typed {
    let about = |artifact: &Artifact| {
        let service = Hostile::raw(&artifact.service).to_owned();
        (service, artifact.target.clone().unwrap_or_default(), AboutProblems::default())
    };
    Typed { project: draft.project.raw().to_owned(), problem: None, artifacts: draft.artifacts.iter().map(about).collect() }
}
