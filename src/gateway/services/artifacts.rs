//! Files of a draft: what is scanned, and source code that goes along. The bytes went to the service before; a draft keeps
//! their hashes.

use super::Actor;
use super::drafts::Drafts;
use super::error::Error;
use crate::contract::ids::Sha256;
use crate::gateway::domain::draft::{self, Artifact, Draft, DraftId, Source, SourceKind, Step};
use crate::platform::hostile::Hostile;

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Artifacts {
    drafts: Drafts,
}

/// An uploaded file.
pub(in crate::gateway) struct File {
    pub(in crate::gateway) sha256: Sha256,
    pub(in crate::gateway) name: Hostile,
}

/// What a person says about an artifact; checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct About {
    service: Hostile,
    target: Option<String>,
}

/// What is wrong with that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Problems {
    pub(in crate::gateway) file: Option<&'static str>,
    pub(in crate::gateway) service: Option<&'static str>,
    pub(in crate::gateway) target: Option<&'static str>,
}

impl Problems {
    pub(in crate::gateway) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl About {
    /// Checks a service's name and its own target as they were typed.
    pub(in crate::gateway) fn read(service: &str, target: &str) -> Result<Self, Problems> {
        match (draft::service(service), draft::address(target)) {
            (Ok(service), Ok(target)) => Ok(Self { service, target }),
            (service, target) => Err(Problems { file: None, service: service.err(), target: target.err() }),
        }
    }
}

impl Artifacts {
    pub(in crate::gateway) const fn new(drafts: Drafts) -> Self {
        Self { drafts }
    }

    /// Adds a file to scan. The same file twice stays one.
    pub(in crate::gateway) async fn add(
        &self,
        actor: &Actor,
        at: (&DraftId, &str),
        file: File,
        about: About,
    ) -> Result<(), Error> {
        let most = self.drafts.settings().files;
        self.drafts
            .change(actor, at, |draft: &mut Draft| {
                draft.artifacts.retain(|artifact| artifact.sha256 != file.sha256);
                room(draft.artifacts.len(), most)?;
                let About { service, target } = about;
                draft.artifacts.push(Artifact { sha256: file.sha256, file_name: file.name, service, target, refused: None });
                Ok(())
            })
            .await
    }

    /// Names the services of all artifacts anew, in their order.
    pub(in crate::gateway) async fn describe(
        &self,
        actor: &Actor,
        at: (&DraftId, &str),
        (project, about): (Hostile, Vec<About>),
    ) -> Result<(), Error> {
        self.drafts
            .change(actor, at, |draft: &mut Draft| {
                draft.project = project;
                draft.options_seen = true;
                draft.skipped.remove(&Step::Options);
                for (artifact, about) in draft.artifacts.iter_mut().zip(about) {
                    artifact.service = about.service;
                    artifact.target = about.target;
                }
                Ok(())
            })
            .await
    }

    /// Takes an artifact out.
    pub(in crate::gateway) async fn remove(&self, actor: &Actor, at: (&DraftId, &str), row: usize) -> Result<(), Error> {
        self.drafts.change(actor, at, |draft: &mut Draft| take(&mut draft.artifacts, row)).await
    }

    /// Adds source code.
    pub(in crate::gateway) async fn add_source(
        &self,
        actor: &Actor,
        at: (&DraftId, &str),
        file: File,
        kind: SourceKind,
    ) -> Result<(), Error> {
        let most = self.drafts.settings().files;
        self.drafts
            .change(actor, at, |draft: &mut Draft| {
                draft.sources.retain(|source| source.sha256 != file.sha256);
                room(draft.sources.len(), most)?;
                draft.skipped.remove(&Step::Source);
                draft.sources.push(Source { sha256: file.sha256, file_name: file.name, kind });
                Ok(())
            })
            .await
    }

    /// Takes source code out.
    pub(in crate::gateway) async fn remove_source(&self, actor: &Actor, at: (&DraftId, &str), row: usize) -> Result<(), Error> {
        self.drafts.change(actor, at, |draft: &mut Draft| take(&mut draft.sources, row)).await
    }
}

fn room(have: usize, most: usize) -> Result<(), Error> {
    if have < most { Ok(()) } else { Err(Error::Invalid(format!("A draft takes at most {most} files. Remove one first."))) }
}

/// A row that is not there is out already.
#[expect(clippy::unnecessary_wraps, reason = "a change of a draft may refuse")]
fn take<T>(rows: &mut Vec<T>, row: usize) -> Result<(), Error> {
    if row < rows.len() {
        rows.remove(row);
    }
    Ok(())
}
