//! The target of a scan and its network check, stage by stage.

use askama::Template;

use super::drafts::{Frame, chrome};
use super::layout::Chrome;
use super::notice::Notice;
use super::words::address;
use crate::gateway::domain::diagnosis::{Diagnosis, Outcome, Stage, State};
use crate::gateway::domain::draft::Step;
use crate::gateway::services::diagnostics::Look;
use crate::gateway::services::drafts::Held;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// What was typed as a target, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Typed {
    pub(in crate::gateway) url: String,
    pub(in crate::gateway) login_url: String,
    pub(in crate::gateway) url_problem: Option<&'static str>,
    pub(in crate::gateway) login_problem: Option<&'static str>,
}

/// One stage that has ended.
pub(in crate::gateway) struct StageRow {
    name: String,
    question: String,
    kind: &'static str,
    word: &'static str,
    seen: String,
    took: String,
    hint: String,
}

impl StageRow {
    fn of(stage: &Stage) -> Self {
        let (kind, word) = match stage.outcome {
            Outcome::Pass => ("done", "Passed"),
            Outcome::Fail => ("failed", "Failed"),
            Outcome::Pending => ("created", "Waiting"),
        };
        let took = stage.took.map(|took| format!("{} ms", took.as_millis())).unwrap_or_default();
        let hint = stage.hint.short(600);
        Self {
            name: stage.name.short(40),
            question: stage.description.short(200),
            kind,
            word,
            seen: stage.info.code(),
            took,
            hint,
        }
    }
}

/// The part of the page that is asked for again while a check runs.
pub(in crate::gateway) struct Stages {
    /// `none`, `running`, `passed`, `failed`, `gone` or `trouble`: what the script decides by.
    state: &'static str,
    badge: &'static str,
    word: &'static str,
    words: String,
    rows: Vec<StageRow>,
    done: usize,
    total: usize,
}

impl Stages {
    pub(in crate::gateway) fn of(look: &Look) -> Self {
        let plain = |state, badge, word, words: &str| Self {
            state,
            badge,
            word,
            words: words.to_owned(),
            rows: Vec::new(),
            done: 0,
            total: 0,
        };
        match look {
            Look::None => plain("none", "created", "Not checked", "This address was not checked yet."),
            Look::Gone => plain(
                "gone",
                "created",
                "Not kept",
                "The result of the last check is no longer kept. Check again to see how things are now.",
            ),
            Look::Trouble => plain(
                "trouble",
                "other",
                "No answer",
                "The scanning service did not tell how the check stands. Looking again may help.",
            ),
            Look::Seen(diagnosis) => Self::seen(diagnosis),
        }
    }

    fn seen(diagnosis: &Diagnosis) -> Self {
        let failed = diagnosis.stages.iter().any(|stage| stage.outcome == Outcome::Fail);
        let (state, badge, word, words) = match &diagnosis.state {
            State::InProgress => ("running", "running", "Running", now(diagnosis)),
            State::Finished if diagnosis.is_reached() => {
                ("passed", "done", "Reachable", "The scanning service reaches the target.".to_owned())
            }
            State::Finished if failed => {
                ("failed", "failed", "Not reachable", "The scanning service does not reach the target yet.".to_owned())
            }
            State::Finished => ("failed", "failed", "Not complete", "The check ended before all of its stages did.".to_owned()),
            State::Other(said) => ("gone", "other", "Not known", format!("The scanning service says: {}", said.short(60))),
        };
        let total = usize::try_from(diagnosis.stage_count).unwrap_or(0).max(diagnosis.stages.len());
        let rows: Vec<StageRow> = diagnosis.stages.iter().map(StageRow::of).collect();
        Self { state, badge, word, words, done: rows.len(), total, rows }
    }

    fn is_running(&self) -> bool {
        matches!(self.state, "running" | "trouble")
    }
}

/// That part alone, as the script gets it.
#[derive(Template)]
#[template(path = "diagnostics/stages.html")]
pub(in crate::gateway) struct StagesAlone {
    stages: Stages,
}

impl StagesAlone {
    pub(in crate::gateway) fn of(look: &Look) -> Self {
        Self { stages: Stages::of(look) }
    }
}

fn now(diagnosis: &Diagnosis) -> String {
    if diagnosis.next_stage.is_empty() {
        return "The check is running.".to_owned();
    }
    format!("Now: {}", diagnosis.next_stage.short(40))
}

#[derive(Template)]
#[template(path = "diagnostics/target.html")]
pub(in crate::gateway) struct Target {
    chrome: Chrome,
    frame: Frame,
    typed: Typed,
    /// A target is kept, so it can be checked.
    is_kept: bool,
    stages: Stages,
    stages_at: String,
    repeat_at: String,
    check_at: String,
}

impl Target {
    /// `typed` is what was refused; none shows what is kept.
    pub(in crate::gateway) fn new(page: &Page, held: &Held, notice: Option<Notice>, look: &Look, typed: Option<Typed>) -> Self {
        let notice = notice.map(|notice| if typed.is_some() { notice.beside(kept_now(held)) } else { notice });
        let kept = || {
            let target = held.draft.target.clone();
            let login_url = target.as_ref().and_then(|target| target.login_url.clone()).unwrap_or_default();
            Typed { url: target.map(|target| target.url).unwrap_or_default(), login_url, ..Typed::default() }
        };
        Self {
            chrome: chrome(page, Step::Target, notice.is_some()),
            frame: Frame::new(held, Step::Target, notice),
            typed: typed.unwrap_or_else(kept),
            is_kept: held.draft.target.is_some(),
            stages: Stages::of(look),
            stages_at: urls::draft(urls::DRAFT_TARGET_STAGES, &held.draft.id),
            repeat_at: urls::draft(urls::DRAFT_TARGET_REPEAT, &held.draft.id),
            check_at: urls::draft(urls::DRAFT_TARGET_CHECK, &held.draft.id),
        }
    }
}

/// What the draft has now.
fn kept_now(held: &Held) -> Vec<(&'static str, String)> {
    let target = held.draft.target.as_ref();
    let shown = |url: Option<&String>| url.map(|url| address(url, 200)).unwrap_or_default();
    vec![
        ("Target address now", shown(target.map(|target| &target.url))),
        ("Sign-in address now", shown(target.and_then(|target| target.login_url.as_ref()))),
    ]
}
