//! A new scan while it is prepared: what a person has entered, step by step, and the pure rules of the steps. Where it is
//! kept is not known here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use url::Url;

use super::account::Account;
use super::group::GroupId;
use crate::contract::ids::{Sha256, TaskId};
use crate::contract::limits::MAX_PROJECT_NAME;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// What the service scans now: compiled Java archives.
pub(crate) const LANGUAGE: &str = "JAVA";
/// File names it takes as artifacts.
pub(crate) const ENDINGS: [&str; 3] = [".jar", ".war", ".ear"];
/// File names it takes as source code.
const SOURCE_ENDINGS: [&str; 1] = [".zip"];
/// The longest name of a service of a group, in characters.
pub(crate) const MAX_SERVICE_NAME: usize = 80;
const MAX_ADDRESS: usize = 2000;

/// Names a draft: 22 URL-safe characters, 128 random bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct DraftId(String);

impl DraftId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for DraftId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let fits = text.len() == 22 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if fits { Ok(Self(text)) } else { Err("this is no id of a draft") }
    }
}

impl From<DraftId> for String {
    fn from(id: DraftId) -> Self {
        id.0
    }
}

/// The steps of a new scan, in order; each is an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Step {
    Artifact,
    Target,
    Ownership,
    Source,
    Accounts,
    Options,
    Check,
}

impl Step {
    pub(crate) const ALL: [Self; 7] =
        [Self::Artifact, Self::Target, Self::Ownership, Self::Source, Self::Accounts, Self::Options, Self::Check];

    /// The last part of its address.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Target => "target",
            Self::Ownership => "ownership",
            Self::Source => "source",
            Self::Accounts => "accounts",
            Self::Options => "options",
            Self::Check => "check",
        }
    }

    /// Whether a scan can do without it.
    pub(crate) const fn may_be_skipped(self) -> bool {
        !matches!(self, Self::Artifact | Self::Check)
    }

    /// The step after it.
    pub(crate) fn next(self) -> Self {
        Self::ALL.into_iter().find(|step| *step > self).unwrap_or(Self::Check)
    }
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepState {
    Open,
    Done,
    Skipped,
}

/// A file to scan. Several make a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Artifact {
    pub sha256: Sha256,
    pub file_name: Hostile,
    /// Empty when not named.
    pub service: Hostile,
    /// Its own target where that is not the scan's.
    pub target: Option<String>,
    /// Why no scan of it was started when the others were.
    pub refused: Option<Hostile>,
}

/// Where the application runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub url: String,
    pub login_url: Option<String>,
}

/// Which half of an application a source archive holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum SourceKind {
    Backend,
    Frontend,
}

impl SourceKind {
    /// As it stands on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Backend => "BACKEND",
            Self::Frontend => "FRONTEND",
        }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        [Self::Backend, Self::Frontend].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Source code that goes along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub sha256: Sha256,
    pub file_name: Hostile,
    pub kind: SourceKind,
}

/// A task that was made from this draft while others were not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Started {
    pub file_name: Hostile,
    pub task: TaskId,
}

/// What a draft has become once all of it was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Became {
    pub project: Hostile,
    /// The first task.
    pub task: TaskId,
    /// None: there is only that one.
    pub group: Option<GroupId>,
}

/// What a person has entered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Draft {
    pub id: DraftId,
    pub project: Hostile,
    pub created: Timestamp,
    pub ends: Timestamp,
    pub artifacts: Vec<Artifact>,
    pub target: Option<Target>,
    pub sources: Vec<Source>,
    pub accounts: Vec<Account>,
    pub skipped: BTreeSet<Step>,
    pub options_seen: bool,
    pub started: Vec<Started>,
}

/// What the portal notes on the way; nobody's entry, so it makes no tab stale.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    pub check: Option<NotedCheck>,
    pub challenge: Option<NotedChallenge>,
    /// Origins that were proved, and when.
    pub verified: Vec<(String, Timestamp)>,
    /// The remote browser the sessions were captured in.
    pub box_id: Option<Hostile>,
}

/// The network check that was started last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotedCheck {
    pub id: String,
    pub target: String,
}

/// The content to host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotedChallenge {
    pub content: Hostile,
    pub expires: Timestamp,
}

impl Notes {
    /// When an origin was proved.
    pub(crate) fn proved(&self, origin: &str) -> Option<Timestamp> {
        self.verified.iter().find(|(proved, _)| proved == origin).map(|(_, at)| *at)
    }
}

impl Draft {
    pub(crate) const fn new(id: DraftId, project: Hostile, created: Timestamp, ends: Timestamp) -> Self {
        Self {
            id,
            project,
            created,
            ends,
            artifacts: Vec::new(),
            target: None,
            sources: Vec::new(),
            accounts: Vec::new(),
            skipped: BTreeSet::new(),
            options_seen: false,
            started: Vec::new(),
        }
    }

    /// The project's name as the scan gets it: the first file's where none was given.
    pub(crate) fn named(&self) -> Hostile {
        let first = || self.artifacts.first().map(|artifact| artifact.file_name.clone()).unwrap_or_default();
        if self.project.is_empty() { first() } else { self.project.clone() }
    }

    /// Where `step` stands.
    pub(crate) fn state(&self, step: Step, notes: &Notes) -> StepState {
        let done = match step {
            Step::Artifact => !self.artifacts.is_empty(),
            Step::Target => self.target.is_some(),
            Step::Ownership => self.is_verified(notes),
            Step::Source => !self.sources.is_empty(),
            Step::Accounts => !self.accounts.is_empty(),
            Step::Options => self.options_seen,
            Step::Check => false,
        };
        match (done, self.skipped.contains(&step)) {
            (true, _) => StepState::Done,
            (false, true) => StepState::Skipped,
            (false, false) => StepState::Open,
        }
    }

    /// Where to go on: the first step that is open; the summary when all are settled.
    pub(crate) fn open_step(&self, notes: &Notes) -> Step {
        Step::ALL.into_iter().find(|step| self.state(*step, notes) == StepState::Open).unwrap_or(Step::Check)
    }

    /// Addresses the scan aims at, one for each origin: the target first, then those of single artifacts.
    pub(crate) fn targets(&self) -> Vec<&str> {
        let main = self.target.iter().map(|target| target.url.as_str());
        let own = self.artifacts.iter().filter_map(|artifact| artifact.target.as_deref());
        let mut seen = BTreeSet::new();
        main.chain(own).filter(|url| seen.insert(origin(url))).collect()
    }

    /// Whether every domain the scan aims at was proved in this draft.
    pub(crate) fn is_verified(&self, notes: &Notes) -> bool {
        let targets = self.targets();
        !targets.is_empty() && targets.into_iter().all(|url| notes.proved(&origin(url)).is_some())
    }
}

/// Scheme, host and port of a checked address.
pub(crate) fn origin(address: &str) -> String {
    Url::parse(address).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// A web address as it was typed; none for nothing.
pub(crate) fn address(text: &str) -> Result<Option<String>, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    if text.len() > MAX_ADDRESS {
        return Err("The address is longer than 2,000 characters.");
    }
    let wrong = "Use a complete address such as https://staging.example.com/app.";
    let url = Url::parse(text).map_err(|_| wrong)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("Leave user name and password out of the address; accounts have a step of their own.");
    }
    Ok(Some(url.to_string()))
}

/// A project's name as it was typed; may be empty.
pub(crate) fn project(text: &str) -> Result<Hostile, &'static str> {
    let text = text.trim();
    if text.chars().count() > MAX_PROJECT_NAME {
        return Err("Use at most 200 characters for the project name.");
    }
    Ok(Hostile::from(text))
}

/// A name of a service as it was typed; may be empty.
pub(crate) fn service(text: &str) -> Result<Hostile, &'static str> {
    let text = text.trim();
    if text.chars().count() > MAX_SERVICE_NAME {
        return Err("Use at most 80 characters for the name of a service.");
    }
    Ok(Hostile::from(text))
}

/// SHA-256 of no bytes at all.
const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// Words for a file without content.
pub(crate) const EMPTY_FILE: &str = "The file is empty: it has 0 bytes. Choose one with content.";

/// Whether this is the hash of an empty file.
pub(crate) fn is_of_nothing(sha256: &Sha256) -> bool {
    sha256.as_str() == OF_NOTHING
}

/// Whether a file can be scanned, by its name.
pub(crate) fn artifact_name(name: &str) -> Result<(), &'static str> {
    let lower = name.trim().to_ascii_lowercase();
    if lower.is_empty() {
        return Err("Choose a file.");
    }
    if ENDINGS.iter().any(|ending| lower.ends_with(ending)) { Ok(()) } else { Err("Choose a .jar, .war or .ear file.") }
}

/// Whether a file can go along as source code, by its name.
pub(crate) fn source_name(name: &str) -> Result<(), &'static str> {
    let lower = name.trim().to_ascii_lowercase();
    if lower.is_empty() {
        return Err("Choose a file.");
    }
    if SOURCE_ENDINGS.iter().any(|ending| lower.ends_with(ending)) { Ok(()) } else { Err("Choose a .zip file.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> Draft {
        let id = DraftId::try_from("a".repeat(22)).unwrap();
        Draft::new(id, Hostile::default(), Timestamp(0), Timestamp(1))
    }

    #[test]
    fn ids_of_drafts_are_22_url_safe_characters() {
        for bad in ["", "a", &"a".repeat(23), "aaaaaaaaaaaaaaaaaaaaa/", "aaaaaaaaaaaaaaaaaaaaä"] {
            assert!(DraftId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }

    #[test]
    fn steps_are_open_done_or_skipped_and_the_first_open_one_is_next() {
        let (mut draft, mut notes) = (draft(), Notes::default());
        assert_eq!(draft.open_step(&notes), Step::Artifact);
        let sha256: Sha256 = "0".repeat(64).parse().unwrap();
        draft.artifacts.push(Artifact { sha256, file_name: "a.jar".into(), service: "".into(), target: None, refused: None });
        assert_eq!((draft.open_step(&notes), draft.named().raw()), (Step::Target, "a.jar"));
        draft.target = Some(Target { url: "https://a.example/app".to_owned(), login_url: None });
        notes.verified.push(("https://b.example".to_owned(), Timestamp(0)));
        assert_eq!(draft.state(Step::Ownership, &notes), StepState::Open, "another domain was proved");
        notes.verified.push(("https://a.example".to_owned(), Timestamp(0)));
        assert_eq!(draft.state(Step::Ownership, &notes), StepState::Done);
        draft.artifacts[0].target = Some("https://c.example/".to_owned());
        assert_eq!((draft.targets().len(), draft.state(Step::Ownership, &notes)), (2, StepState::Open), "one more domain");
        draft.artifacts[0].target = Some("https://a.example/other".to_owned());
        draft.skipped.extend([Step::Source, Step::Accounts, Step::Options]);
        assert_eq!(draft.open_step(&notes), Step::Check);
        assert_eq!((Step::Artifact.next(), Step::Options.next(), Step::Check.next()), (Step::Target, Step::Check, Step::Check));
    }

    #[test]
    fn addresses_are_complete_and_hold_no_password() {
        assert_eq!(address(" https://a.example/app ").unwrap().unwrap(), "https://a.example/app");
        assert_eq!(address("  ").unwrap(), None);
        for bad in ["a.example", "ftp://a.example/", "javascript:alert(1)", "https://u:p@a.example/", "https://u@a.example"] {
            assert!(address(bad).is_err(), "{bad}");
        }
        assert_eq!(origin("https://a.example:8443/app?x"), "https://a.example:8443");
    }
}
