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

/// The name of a project, and what is said about artifacts by the hash of their file.
pub(in crate::gateway) type Names = (Hostile, Vec<(Sha256, About)>);

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

    /// Whether the draft is as the person saw it and has room for one more file in `step`. Asked before a file is taken.
    pub(in crate::gateway) async fn ready(&self, actor: &Actor, at: (&DraftId, &str), step: Step) -> Result<Draft, Error> {
        let draft = self.drafts.seen(actor, at).await?.draft;
        let have = if step == Step::Source { draft.sources.len() } else { draft.artifacts.len() };
        room(have, self.drafts.settings().files)?;
        Ok(draft)
    }

    /// Adds a file to scan. The same file a second time is refused.
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
                once(draft, Step::Artifact, &file.sha256)?;
                room(draft.artifacts.len(), most)?;
                let About { service, target } = about;
                draft.artifacts.push(Artifact { sha256: file.sha256, file_name: file.name, service, target, refused: None });
                Ok(())
            })
            .await
    }

    /// Names the project and the services of artifacts anew; those that are not named stay as they are.
    pub(in crate::gateway) async fn describe(
        &self,
        actor: &Actor,
        at: (&DraftId, &str),
        (project, about): Names,
    ) -> Result<(), Error> {
        self.drafts
            .change(actor, at, |draft: &mut Draft| {
                draft.project = project;
                draft.options_seen = true;
                draft.skipped.remove(&Step::Options);
                for (sha256, about) in about {
                    let artifact = draft.artifacts.iter_mut().find(|artifact| artifact.sha256 == sha256).ok_or_else(no_row)?;
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
                once(draft, Step::Source, &file.sha256)?;
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

/// Words for a file that is there already.
pub(in crate::gateway) const TWICE: &str = "This file is in the draft already: its content is the same, whatever it is called.";

/// Whether a draft holds this file in a step with files.
pub(in crate::gateway) fn holds(draft: &Draft, step: Step, sha256: &Sha256) -> bool {
    match step {
        Step::Source => draft.sources.iter().any(|source| source.sha256 == *sha256),
        _ => draft.artifacts.iter().any(|artifact| artifact.sha256 == *sha256),
    }
}

fn once(draft: &Draft, step: Step, sha256: &Sha256) -> Result<(), Error> {
    if holds(draft, step, sha256) { Err(Error::Invalid(TWICE.to_owned())) } else { Ok(()) }
}

/// Takes a row out.
///
/// # Errors
/// [`Error::Invalid`] when there is no such row.
pub(super) fn take<T>(rows: &mut Vec<T>, row: usize) -> Result<(), Error> {
    if row >= rows.len() {
        return Err(no_row());
    }
    rows.remove(row);
    Ok(())
}

fn no_row() -> Error {
    Error::Invalid("The row that was named is not in this draft.".to_owned())
}
