//! Pages of a draft: where to begin, the frame around every step, and the step of names.

use askama::Template;

use super::layout::Chrome;
use super::notice::Notice;
use super::words::{When, address, count};
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
    /// Why the step is shown once more.
    pub(in crate::gateway) notice: Option<Notice>,
}

impl Frame {
    pub(in crate::gateway) fn new(held: &Held, step: Step, notice: Option<Notice>) -> Self {
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
            notice,
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
    sha256: String,
    file: String,
    service: String,
    target: String,
    problems: AboutProblems,
}

/// What was typed into that step.
pub(in crate::gateway) struct Typed {
    pub(in crate::gateway) project: String,
    pub(in crate::gateway) problem: Option<&'static str>,
    pub(in crate::gateway) artifacts: Vec<TypedName>,
}

/// What was typed for one artifact.
#[derive(Default)]
pub(in crate::gateway) struct TypedName {
    /// The SHA-256 of its file.
    pub(in crate::gateway) file: String,
    pub(in crate::gateway) service: String,
    pub(in crate::gateway) target: String,
    pub(in crate::gateway) problems: AboutProblems,
}

#[derive(Template)]
#[template(path = "drafts/options.html")]
pub(in crate::gateway) struct Options {
    chrome: Chrome,
    frame: Frame,
    project: String,
    problem: Option<&'static str>,
    artifacts: Vec<Named>,
    /// Names that were typed for files that are in the draft no longer.
    left: Vec<String>,
    longest: usize,
}

impl Options {
    /// `typed` is what was refused; none shows what is kept.
    pub(in crate::gateway) fn new(page: &Page, held: &Held, notice: Option<Notice>, typed: Option<Typed>) -> Self {
        let notice = notice.map(|notice| if typed.is_some() { notice.beside(now(&held.draft)) } else { notice });
        let Typed { project, problem, artifacts: mut typed } = typed.unwrap_or_else(|| as_kept(&held.draft));
        let mut named = Vec::new();
        for artifact in &held.draft.artifacts {
            let at = typed.iter().position(|one| one.file == artifact.sha256.as_str());
            let TypedName { service, target, problems, .. } = at.map_or_else(|| kept(artifact), |at| typed.remove(at));
            let (sha256, file) = (artifact.sha256.as_str().to_owned(), artifact.file_name.short(120));
            named.push(Named { sha256, file, service, target, problems });
        }
        let left = typed.into_iter().flat_map(|one| [one.service, one.target]).filter(|text| !text.trim().is_empty());
        Self {
            chrome: chrome(page, Step::Options, notice.is_some()),
            frame: Frame::new(held, Step::Options, notice),
            project,
            problem,
            artifacts: named,
            left: left.map(|text| Hostile::from(text).short(200)).collect(),
            longest: MAX_SERVICE_NAME,
        }
    }
}

/// What the draft has now.
fn now(draft: &Draft) -> Vec<(&'static str, String)> {
    let names = draft.artifacts.iter().filter(|one| !one.service.is_empty() || one.target.is_some()).map(|one| {
        let target = one.target.as_deref().map(|target| format!(" at {}", address(target, 200))).unwrap_or_default();
        format!("{}: {}{target}", one.file_name.short(80), one.service.short(MAX_SERVICE_NAME))
    });
    let services = names.collect::<Vec<_>>().join(", ");
    let mut now = vec![("Project name now", draft.project.short(200))];
    if !services.is_empty() {
        now.push(("Services now", services));
    }
    now
}

fn kept(artifact: &Artifact) -> TypedName {
    TypedName {
        file: artifact.sha256.as_str().to_owned(),
        service: artifact.service.raw().to_owned(),
        target: artifact.target.clone().unwrap_or_default(),
        problems: AboutProblems::default(),
    }
}

fn as_kept(draft: &Draft) -> Typed {
    Typed { project: draft.project.raw().to_owned(), problem: None, artifacts: draft.artifacts.iter().map(kept).collect() }
}
