//! Shows a step of a draft: as it is kept, or once more when something kept it from being saved. The one way a step becomes
//! a page, so that what a person typed is in its fields whatever was wrong.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, RETRY_AFTER};

use crate::gateway::domain::draft::{DraftId, Step};
use crate::gateway::services::accounts::{Problems, Typed as TypedAccount};
use crate::gateway::services::drafts::Held;
use crate::gateway::services::error::Error;
use crate::gateway::services::{Actor, Services};
use crate::gateway::web::error::{Told, WebError};
use crate::gateway::web::page::{Frames, Page};
use crate::gateway::web::views::accounts::List as Accounts;
use crate::gateway::web::views::artifacts::{List as Artifacts, Sources, Typed as TypedFile};
use crate::gateway::web::views::diagnostics::{Target, Typed as TypedTarget};
use crate::gateway::web::views::drafts::{Options, Typed as TypedNames};
use crate::gateway::web::views::launch::{Check, Confirmed};
use crate::gateway::web::views::notice::{Entered, Notice};
use crate::gateway::web::views::ownership::{Looked, Show as Ownership};

/// A person at a step of their draft.
pub(super) struct At<'a> {
    pub(super) page: &'a Page,
    pub(super) services: &'a Services,
    pub(super) actor: &'a Actor,
    pub(super) id: &'a DraftId,
}

/// A step, and what was entered into it: shown in place of what is kept.
pub(super) enum Entry {
    Artifact(TypedFile),
    Target(Option<TypedTarget>),
    Ownership(Looked),
    Source(TypedFile),
    Accounts(Option<(TypedAccount, Problems)>),
    Options(Option<TypedNames>),
    Check(Confirmed),
}

impl Entry {
    /// A step into which nothing was typed.
    pub(super) fn none(step: Step) -> Self {
        match step {
            Step::Artifact => Self::Artifact(TypedFile::default()),
            Step::Target => Self::Target(None),
            Step::Ownership => Self::Ownership(Looked::default()),
            Step::Source => Self::Source(TypedFile::default()),
            Step::Accounts => Self::Accounts(None),
            Step::Options => Self::Options(None),
            Step::Check => Self::Check(Confirmed::default()),
        }
    }

    const fn step(&self) -> Step {
        match self {
            Self::Artifact(_) => Step::Artifact,
            Self::Target(_) => Step::Target,
            Self::Ownership(_) => Step::Ownership,
            Self::Source(_) => Step::Source,
            Self::Accounts(_) => Step::Accounts,
            Self::Options(_) => Step::Options,
            Self::Check(_) => Step::Check,
        }
    }

    /// What a person loses sight of unless the page says it.
    fn entered(&self) -> Entered {
        match self {
            Self::Artifact(typed) | Self::Source(typed) if typed.is_empty() => Entered::Nothing,
            Self::Artifact(typed) | Self::Source(typed) if typed.sha256.is_empty() => Entered::File,
            Self::Target(None) | Self::Ownership(_) | Self::Accounts(None) | Self::Options(None) => Entered::Nothing,
            _ => Entered::Fields,
        }
    }
}

impl At<'_> {
    /// The step as it is.
    pub(super) async fn show(&self, entry: Entry) -> Result<HttpResponse, WebError> {
        self.tell((StatusCode::OK, None), entry).await
    }

    /// The step once more, with the fields marked that cannot be used. A form of an older page is told that instead: the
    /// page it gets is one of the draft as it is now.
    pub(super) async fn mark(&self, version: &str, entry: Entry) -> Result<HttpResponse, WebError> {
        match self.services.drafts.seen(self.actor, (self.id, version)).await {
            Ok(_) => self.tell((StatusCode::UNPROCESSABLE_ENTITY, Some(Notice::fields())), entry).await,
            Err(error) => self.refuse(error, entry).await,
        }
    }

    /// The step once more, with what kept it from being saved. What this step cannot help with has a page of its own.
    pub(super) async fn refuse(&self, error: Error, entry: Entry) -> Result<HttpResponse, WebError> {
        let changed = if let Error::Stale(steps) = &error { Some(steps.clone()) } else { None };
        let refused = WebError::from(error);
        if refused.sign_in.is_some() || matches!(refused.status, StatusCode::NOT_FOUND | StatusCode::GONE) {
            return Err(refused);
        }
        let notice = match changed {
            Some(changed) => Notice::stale(entry.step(), &changed, entry.entered()),
            None => Notice::refused(self.words(&refused), entry.step(), entry.entered()),
        };
        let mut answer = self.tell((refused.status, Some(notice)), entry).await?;
        if let Some(seconds) = refused.retry_after {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer.extensions_mut().insert(Told(refused));
        Ok(answer)
    }

    /// What happened; for a fault of ours with the request's id, as on every page of such a fault.
    fn words(&self, refused: &WebError) -> String {
        if refused.status != StatusCode::INTERNAL_SERVER_ERROR {
            return refused.words.to_string();
        }
        format!("{} If you ask for help, name this request id: {}", refused.words, self.page.context.request_id)
    }

    /// The step with a notice above it.
    pub(super) async fn tell(
        &self,
        (status, notice): (StatusCode, Option<Notice>),
        entry: Entry,
    ) -> Result<HttpResponse, WebError> {
        let Self { page, services, actor, id } = *self;
        let held = services.drafts.get(actor, id).await?;
        let limits = (services.uploads.max_bytes(), services.drafts.settings().files);
        match entry {
            Entry::Artifact(typed) => page.show_as(status, &Artifacts::new(page, &held, notice, &typed, limits)),
            Entry::Source(typed) => page.show_as(status, &Sources::new(page, &held, notice, &typed, limits)),
            Entry::Target(typed) => {
                let look = services.diagnostics.look(actor, &held).await?;
                page.show_as(status, &Target::new(page, &held, notice, &look, typed))
            }
            Entry::Ownership(looked) => self.ownership((status, notice), &held, looked).await,
            Entry::Accounts(typed) => {
                let view = Accounts::new(page, &held, notice, typed.as_ref());
                let mut answer = page.show_as(status, &view)?;
                // Of all pages only this one may embed the browser.
                answer.extensions_mut().insert(Frames(services.browsers.origins(&actor.principal.tenant).to_vec()));
                Ok(answer)
            }
            Entry::Options(typed) => page.show_as(status, &Options::new(page, &held, notice, typed)),
            Entry::Check(confirmed) => {
                let look = services.diagnostics.look(actor, &held).await?;
                page.show_as(status, &Check::new(page, &held, notice, &look, confirmed))
            }
        }
    }

    async fn ownership(
        &self,
        (status, mut notice): (StatusCode, Option<Notice>),
        held: &Held,
        looked: Looked,
    ) -> Result<HttpResponse, WebError> {
        let mut challenge = None;
        if !held.draft.targets().is_empty() {
            match self.services.ownership.challenge(self.actor, held).await {
                Ok(content) => challenge = Some(content),
                // The step says what is missing; other errors have pages of their own.
                Err(error @ (Error::Upstream(_) | Error::Unusable(_))) => {
                    let refused = WebError::from(error);
                    if refused.sign_in.is_some() {
                        return Err(refused);
                    }
                    notice = notice.or_else(|| Some(Notice::trouble(&refused.words)));
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.page.show_as(status, &Ownership::new(self.page, held, notice, challenge.as_ref(), looked))
    }
}
