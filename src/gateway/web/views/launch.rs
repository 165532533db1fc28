//! The last step: everything that will be sent, with a way to change each of it, and the button that starts it.

use askama::Template;

use super::accounts::role;
use super::artifacts::kind;
use super::drafts::{Frame, chrome, name};
use super::layout::Chrome;
use super::notice::Notice;
use super::words::{When, address};
use crate::gateway::domain::draft::{Artifact, Step, origin};
use crate::gateway::services::diagnostics::Look;
use crate::gateway::services::drafts::Held;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// A part of the summary.
pub(in crate::gateway) struct Part {
    id: &'static str,
    title: &'static str,
    change: String,
    lines: Vec<String>,
    /// Shown instead of lines when there are none.
    none: &'static str,
    badge: Option<(&'static str, &'static str)>,
}

/// A scan that was started before others were refused.
pub(in crate::gateway) struct StartedRow {
    file: String,
    href: String,
}

/// An artifact that was refused, and why.
pub(in crate::gateway) struct RefusedRow {
    file: String,
    words: String,
}

#[derive(Template)]
#[template(path = "launch/check.html")]
pub(in crate::gateway) struct Check {
    chrome: Chrome,
    frame: Frame,
    parts: Vec<Part>,
    started: Vec<StartedRow>,
    refused: Vec<RefusedRow>,
    has_artifact: bool,
    artifact_step: String,
    /// Empty without a target.
    target: String,
    button: String,
    confirmed: Confirmed,
}

/// What a person says before the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Confirmed {
    /// The target is no production system.
    pub(in crate::gateway) sure: bool,
    /// That was to be said and was not.
    pub(in crate::gateway) missing: bool,
}

impl Check {
    pub(in crate::gateway) fn new(page: &Page, held: &Held, notice: Option<Notice>, look: &Look, confirmed: Confirmed) -> Self {
        let draft = &held.draft;
        let refused = |artifact: &Artifact| {
            artifact.refused.as_ref().map(|words| RefusedRow { file: artifact.file_name.short(120), words: words.short(300) })
        };
        let started = draft.started.iter().map(|one| StartedRow { file: one.file_name.short(120), href: urls::task(&one.task) });
        let count = draft.artifacts.len();
        let targets: Vec<String> = draft.targets().into_iter().map(|url| address(url, 200)).collect();
        Self {
            chrome: chrome(page, Step::Check, notice.is_some()),
            frame: Frame::new(held, Step::Check, notice),
            parts: Step::ALL.into_iter().filter_map(|step| part(held, step, look)).collect(),
            started: started.collect(),
            refused: draft.artifacts.iter().filter_map(refused).collect(),
            has_artifact: count > 0,
            artifact_step: urls::step(&draft.id, Step::Artifact),
            target: targets.join(", "),
            button: if count > 1 { format!("Start {count} scans as a group") } else { "Start the scan".to_owned() },
            confirmed,
        }
    }
}

fn part(held: &Held, step: Step, look: &Look) -> Option<Part> {
    let draft = &held.draft;
    let plain = |text: &str| address(text, 200);
    let (title, lines, none) = match step {
        Step::Artifact => ("What is scanned", draft.artifacts.iter().map(artifact).collect(), "No file yet."),
        Step::Target => {
            let mut lines: Vec<String> = draft.target.iter().map(|target| plain(&target.url)).collect();
            lines.extend(
                draft
                    .target
                    .iter()
                    .filter_map(|target| target.login_url.as_deref())
                    .map(|url| format!("Sign-in page: {}", plain(url))),
            );
            ("Target", lines, "None: the files alone are looked through.")
        }
        Step::Ownership => {
            let line = |url: &str| {
                let origin = origin(url);
                let at = held.notes.proved(&origin)?;
                Some(format!("{} was verified {}", plain(&origin), When::of(Some(at)).words))
            };
            ("Ownership", draft.targets().into_iter().filter_map(line).collect(), "Not verified in this draft.")
        }
        Step::Source => {
            let line = |source: &crate::gateway::domain::draft::Source| {
                format!("{} ({})", source.file_name.short(120), kind(source.kind))
            };
            ("Source code", draft.sources.iter().map(line).collect(), "None.")
        }
        Step::Accounts => {
            let line = |account: &crate::gateway::domain::account::Account| {
                format!("{} at {}", role(&account.role), plain(&account.url))
            };
            ("Accounts", draft.accounts.iter().map(line).collect(), "None: nobody is signed in during the scan.")
        }
        Step::Options => ("Project", vec![name(draft, 200), "Language: Java".to_owned()], ""),
        Step::Check => return None,
    };
    let badge = (step == Step::Target).then(|| reached(look)).flatten();
    Some(Part { id: step.as_str(), title, change: urls::step(&draft.id, step), lines, none, badge })
}

fn artifact(artifact: &Artifact) -> String {
    let mut line = artifact.file_name.short(120);
    if !artifact.service.is_empty() {
        line = format!("{line}, service {}", artifact.service.short(80));
    }
    if let Some(target) = &artifact.target {
        line = format!("{line}, target {}", address(target, 200));
    }
    line
}

fn reached(look: &Look) -> Option<(&'static str, &'static str)> {
    match look {
        Look::Seen(diagnosis) if diagnosis.is_reached() => Some(("done", "Reachable")),
        Look::Seen(diagnosis) if diagnosis.state == crate::gateway::domain::diagnosis::State::InProgress => {
            Some(("running", "Check running"))
        }
        Look::Seen(_) => Some(("failed", "Not reachable")),
        Look::None | Look::Gone | Look::Trouble => None,
    }
}
