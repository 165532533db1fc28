//! Steps with files: what is scanned, and source code that goes along.

use askama::Template;

use super::drafts::{Frame, chrome};
use super::layout::Chrome;
use super::notice::Notice;
use super::words::{self, address};
use crate::contract::ids::Sha256;
use crate::gateway::domain::draft::{SourceKind, Step};
use crate::gateway::services::artifacts::Problems;
use crate::gateway::services::drafts::Held;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// What was typed beside a file; kept when the form is shown again.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Typed {
    pub(in crate::gateway) service: String,
    pub(in crate::gateway) target: String,
    pub(in crate::gateway) kind: String,
    /// Of a file that is uploaded already; else empty.
    pub(in crate::gateway) sha256: String,
    pub(in crate::gateway) file_name: String,
    pub(in crate::gateway) problems: Problems,
}

impl Typed {
    /// Nothing was typed, and no file chosen.
    pub(in crate::gateway) fn is_empty(&self) -> bool {
        [&self.service, &self.target, &self.sha256, &self.file_name].into_iter().all(String::is_empty)
    }
}

/// A file of the draft.
pub(in crate::gateway) struct Row {
    index: usize,
    file: String,
    hash: String,
    /// Service, or kind of source.
    about: String,
    target: String,
    refused: String,
}

/// The form for one more file.
pub(in crate::gateway) struct UploadForm {
    sha256: String,
    file_name: String,
    uploaded: String,
    largest: String,
    max_bytes: u64,
    problems: Problems,
    /// Hashes of the files that are there, for the page's script.
    present: String,
}

impl UploadForm {
    fn new<'d>(typed: &Typed, max_bytes: u64, present: impl Iterator<Item = &'d Sha256>) -> Self {
        Self {
            present: present.map(Sha256::as_str).collect::<Vec<_>>().join(" "),
            sha256: typed.sha256.clone(),
            uploaded: Hostile::from(typed.file_name.as_str()).short(120),
            file_name: typed.file_name.clone(),
            largest: words::bytes(max_bytes),
            max_bytes,
            problems: typed.problems,
        }
    }
}

#[derive(Template)]
#[template(path = "artifacts/list.html")]
pub(in crate::gateway) struct List {
    chrome: Chrome,
    frame: Frame,
    rows: Vec<Row>,
    form: UploadForm,
    service: String,
    target: String,
    remove: String,
    most: usize,
}

impl List {
    pub(in crate::gateway) fn new(
        page: &Page,
        held: &Held,
        notice: Option<Notice>,
        typed: &Typed,
        (max_bytes, most): (u64, usize),
    ) -> Self {
        let row = |(index, artifact): (usize, &crate::gateway::domain::draft::Artifact)| Row {
            index,
            file: artifact.file_name.short(120),
            hash: artifact.sha256.as_str().chars().take(12).collect(),
            about: artifact.service.short(80),
            target: artifact.target.as_deref().map(|target| address(target, 200)).unwrap_or_default(),
            refused: artifact.refused.as_ref().map(|words| words.short(300)).unwrap_or_default(),
        };
        Self {
            chrome: chrome(page, Step::Artifact, notice.is_some()),
            frame: Frame::new(held, Step::Artifact, notice),
            rows: held.draft.artifacts.iter().enumerate().map(row).collect(),
            form: UploadForm::new(typed, max_bytes, held.draft.artifacts.iter().map(|one| &one.sha256)),
            service: typed.service.clone(),
            target: typed.target.clone(),
            remove: urls::draft(urls::DRAFT_ARTIFACT_REMOVE, &held.draft.id),
            most,
        }
    }
}

#[derive(Template)]
#[template(path = "artifacts/sources.html")]
pub(in crate::gateway) struct Sources {
    chrome: Chrome,
    frame: Frame,
    rows: Vec<Row>,
    form: UploadForm,
    kind: String,
    remove: String,
    most: usize,
}

impl Sources {
    pub(in crate::gateway) fn new(
        page: &Page,
        held: &Held,
        notice: Option<Notice>,
        typed: &Typed,
        (max_bytes, most): (u64, usize),
    ) -> Self {
        let row = |(index, source): (usize, &crate::gateway::domain::draft::Source)| Row {
            index,
            file: source.file_name.short(120),
            hash: source.sha256.as_str().chars().take(12).collect(),
            about: kind(source.kind).to_owned(),
            target: String::new(),
            refused: String::new(),
        };
        Self {
            chrome: chrome(page, Step::Source, notice.is_some()),
            frame: Frame::new(held, Step::Source, notice),
            rows: held.draft.sources.iter().enumerate().map(row).collect(),
            form: UploadForm::new(typed, max_bytes, held.draft.sources.iter().map(|one| &one.sha256)),
            kind: typed.kind.clone(),
            remove: urls::draft(urls::DRAFT_SOURCE_REMOVE, &held.draft.id),
            most,
        }
    }
}

/// A kind of source in words.
pub(in crate::gateway) const fn kind(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Backend => "Backend",
        SourceKind::Frontend => "Frontend",
    }
}
