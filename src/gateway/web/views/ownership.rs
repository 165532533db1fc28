//! Proof of control over the target's domain: the content, where to put it, until when, and how it went.

use askama::Template;

use super::drafts::{Frame, chrome};
use super::layout::Chrome;
use super::notice::Notice;
use super::words::When;
use crate::gateway::domain::draft::{NotedChallenge, Step, origin};
use crate::gateway::services::drafts::Held;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// What to host.
pub(in crate::gateway) struct Content {
    text: String,
    /// Letters, digits and dashes only: it can stand in the snippets of servers as it is.
    is_plain: bool,
    expires: When,
    download: String,
}

/// How a look for the content went.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct Looked {
    /// The content was not found; the service's words may follow.
    pub(in crate::gateway) not_yet: Option<Hostile>,
    /// The service refused to start without proof.
    pub(in crate::gateway) is_missing: bool,
}

/// A domain to prove.
pub(in crate::gateway) struct Place {
    origin: String,
    host: String,
    /// The host is a name, not an address: it can have records.
    is_named: bool,
    file_url: String,
    /// When it was proved in this draft.
    verified: Option<When>,
}

#[derive(Template)]
#[template(path = "ownership/show.html")]
pub(in crate::gateway) struct Show {
    chrome: Chrome,
    frame: Frame,
    target_step: String,
    places: Vec<Place>,
    content: Option<Content>,
    not_yet: Option<String>,
    /// The service refused to start without proof.
    is_missing: bool,
}

impl Show {
    pub(in crate::gateway) fn new(
        page: &Page,
        held: &Held,
        notice: Option<Notice>,
        challenge: Option<&NotedChallenge>,
        looked: Looked,
    ) -> Self {
        let place = |url: &str| {
            let origin = origin(url);
            let url = url::Url::parse(url).ok();
            let host = url.as_ref().and_then(url::Url::host_str).unwrap_or_default().to_owned();
            let is_named = url.is_some_and(|url| url.domain().is_some());
            let verified = held.notes.proved(&origin).map(|at| When::of(Some(at)));
            Place { file_url: format!("{origin}/.well-known/hash.txt"), origin, host, is_named, verified }
        };
        let content = challenge.map(|challenge| Content {
            text: challenge.content.short(500),
            is_plain: challenge.content.raw().bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')),
            expires: When::of(Some(challenge.expires)),
            download: urls::draft(urls::DRAFT_OWNERSHIP_FILE, &held.draft.id),
        });
        let wrong = looked.not_yet.is_some() || notice.is_some();
        Self {
            chrome: chrome(page, Step::Ownership, wrong),
            frame: Frame::new(held, Step::Ownership, notice),
            places: held.draft.targets().into_iter().map(place).collect(),
            target_step: urls::step(&held.draft.id, Step::Target),
            content,
            not_yet: looked.not_yet.map(|words| words.short(400)),
            is_missing: looked.is_missing,
        }
    }
}
