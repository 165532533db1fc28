//! The `Page` extractor: everything a page needs besides its own content, and the one way a page becomes an answer.

use std::future::{Ready, ready};
use std::sync::Arc;

use actix_web::cookie::time::Duration as CookieDuration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest, HttpResponse};

use super::context::Context;
use super::error::WebError;
use super::site::Site;
use super::views::View;
use super::views::layout::{AssetLinks, Chrome, News, SiteView, UserView};
use crate::gateway::domain::principal::Principal;
use crate::gateway::services::Services;
use crate::gateway::session::Portal;
use crate::platform::clock::Timestamp;

/// The cookie that carries one line of news over a redirect. Its value is one of [`Flash`].
const FLASH_COOKIE: &str = "cardea-news";

/// Origins whose pages this one answer may embed; noted in its extensions, put into its policy by `middleware::headers`.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Frames(pub(in crate::gateway) Vec<String>);

impl Frames {
    /// For the end of a content security policy.
    pub(in crate::gateway) fn directive(&self) -> String {
        if self.0.is_empty() { String::new() } else { format!("; frame-src {}", self.0.join(" ")) }
    }
}

/// News after a redirect; a closed list, so that nobody can write into our pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Flash {
    TaskTerminated,
    TaskDeleted,
    GroupTerminated,
    GroupPartlyTerminated,
    GroupHadEnded,
    GroupDeleted,
    ShareEnded,
    ShareEndedHere,
    ShareExtended,
    NoShareChosen,
    KeyAdded,
    KeyNotAccepted,
    KeyUntested,
    KeyDeactivated,
    ApiKeyRevoked,
    KeyActivated,
    KeyRemoved,
    KeyWorks,
    DraftDeleted,
    OwnershipVerified,
    AccountSaved,
    ScansStarted,
    SessionEnded,
    SessionsEnded,
    SessionHadEnded,
    PolicySaved,
    PolicyUnchanged,
    UserDisabled,
    UserEnabled,
    SharesEnded,
    SharesEndedHere,
    CheckedLately,
    UserDisabledPartly,
}

impl Flash {
    const ALL: [(Self, &'static str, &'static str); 33] = [
        (Self::TaskTerminated, "task-terminated", "The task was told to stop."),
        (Self::TaskDeleted, "task-deleted", "The task, its findings and its shares were deleted."),
        (Self::GroupTerminated, "group-terminated", "Every task of the group that had not ended was told to stop."),
        (
            Self::GroupPartlyTerminated,
            "group-partly-terminated",
            "Some tasks of the group could not be told to stop. The list below shows which still run; try again in a moment.",
        ),
        (Self::GroupHadEnded, "group-had-ended", "Every task of the group had ended already, so there was nothing to stop."),
        (Self::GroupDeleted, "group-deleted", "All tasks of the group, their findings and their shares were deleted."),
        (Self::ShareEnded, "share-ended", "The share has ended. Its link opens nothing any more."),
        (
            Self::ShareEndedHere,
            "share-ended-here",
            "The share has ended here: its link opens nothing any more. The scanning service could not be told; its page offers to try again.",
        ),
        (Self::ShareExtended, "share-extended", "The share has a new last day."),
        (
            Self::NoShareChosen,
            "no-share-chosen",
            "No share was chosen, so there was nothing to end. Tick the ones that should end.",
        ),
        (Self::KeyAdded, "key-added", "The server key was added. It is kept sealed and is not shown again."),
        (
            Self::KeyNotAccepted,
            "key-not-accepted",
            "The server key was kept, but the scanning service does not accept it, so it is not active.",
        ),
        (
            Self::KeyUntested,
            "key-untested",
            "The server key was kept, but the scanning service could not be asked about it. Test it before you make it active.",
        ),
        (Self::KeyDeactivated, "key-deactivated", "The server key is no longer active."),
        (Self::ApiKeyRevoked, "api-key-revoked", "The API key was revoked. Within a second nothing lets it in any more."),
        (Self::KeyActivated, "key-activated", "The server key is now the active one."),
        (Self::KeyRemoved, "key-removed", "The server key was removed."),
        (Self::KeyWorks, "key-works", "The scanning service accepted the server key."),
        (Self::DraftDeleted, "draft-deleted", "The draft was deleted, with everything that was captured for it."),
        (Self::OwnershipVerified, "ownership-verified", "The domain is verified."),
        (Self::AccountSaved, "account-saved", "The account was saved. What it holds is kept sealed and is not shown again."),
        (Self::ScansStarted, "scans-started", "All scans of the group have started."),
        (Self::SessionEnded, "session-ended", "The session has ended. What it had open is closed within a second."),
        (Self::SessionsEnded, "sessions-ended", "The sessions have ended. What they had open is closed within a second."),
        (
            Self::PolicySaved,
            "policy-saved",
            "The policy was saved. It is in force everywhere within a second; how long things are kept holds for what comes from now on.",
        ),
        (Self::PolicyUnchanged, "policy-unchanged", "Everything is as it was, so nothing was saved."),
        (
            Self::UserDisabled,
            "user-disabled",
            "This person cannot sign in any more. Their sessions have ended, and what they had open is closed within a second.",
        ),
        (Self::UserEnabled, "user-enabled", "This person can sign in again."),
        (Self::SharesEnded, "shares-ended", "The shares have ended. Their links open nothing any more."),
        (
            Self::SharesEndedHere,
            "shares-ended-here",
            "The shares have ended, and their links open nothing here any more. The scanning service could not be told of all of \
them; there they stay until somebody ends them here once more, or they run out.",
        ),
        (
            Self::CheckedLately,
            "checked-lately",
            "Nothing was begun: a check is running, or one ended less than a minute ago. What it found is below; it can be begun again in a minute.",
        ),
        (
            Self::UserDisabledPartly,
            "user-disabled-partly",
            "This person cannot sign in any more, but not all of their sessions could be ended yet. The portal goes on with it by itself; load this page again to see whether some are left.",
        ),
        (Self::SessionHadEnded, "session-had-ended", "There was nothing to end any more."),
    ];

    fn token(self) -> &'static str {
        Self::ALL.iter().find(|(flash, ..)| *flash == self).map_or("", |(_, token, _)| token)
    }

    fn news(token: &str) -> Option<News> {
        let (flash, _, words) = Self::ALL.iter().find(|(_, known, _)| *known == token)?;
        Some(News { words, style: flash.style() })
    }

    /// How the line looks: nothing is celebrated where nothing was done.
    const fn style(self) -> &'static str {
        match self {
            Self::SessionHadEnded | Self::GroupHadEnded | Self::PolicyUnchanged | Self::NoShareChosen | Self::CheckedLately => "",
            Self::GroupPartlyTerminated | Self::ShareEndedHere | Self::SharesEndedHere | Self::UserDisabledPartly => "warn",
            _ => "good",
        }
    }
}

/// What every page of one request shares.
pub(in crate::gateway) struct Page {
    pub(in crate::gateway) context: Context,
    pub(in crate::gateway) site: Arc<Site>,
    /// Asked when the page is made: the role may be found to have changed while the request runs.
    portal: Portal,
    /// Who runs the platform, as the settings say.
    services: Option<Data<Services>>,
    flash: Option<News>,
}

impl Page {
    /// The frame of a page with this title in this part of the navigation (`home`, `tasks`, `shares`, `keys`, `sessions`, `admin`, `audit`, `operator`, `account` or empty).
    pub(in crate::gateway) fn chrome(&self, title: impl Into<String>, part: &'static str) -> Chrome {
        let user = self.portal.signed_in();
        Chrome {
            title: title.into(),
            part,
            site: SiteView::of(&self.site),
            assets: AssetLinks::current(),
            user: user.as_ref().map(|user| UserView::of(&user.principal, self.runs_platform(&user.principal))),
            csrf: user.as_ref().map(|user| user.csrf().to_owned()).unwrap_or_default(),
            request_id: self.context.request_id.clone(),
            flash: self.flash,
            offers_sign_in: true,
        }
    }

    fn runs_platform(&self, who: &Principal) -> bool {
        self.services.as_ref().is_some_and(|services| services.administration.operators.has(who))
    }

    /// Until when whoever looks counts as having signed in lately; `None` when they do not.
    pub(in crate::gateway) fn proved_until(&self) -> Option<Timestamp> {
        self.portal.proved_until()
    }

    /// As [`Page::chrome`] for people without an account: no navigation, no sign-in.
    pub(in crate::gateway) fn bare_chrome(&self, title: impl Into<String>) -> Chrome {
        Chrome { user: None, csrf: String::new(), offers_sign_in: false, ..self.chrome(title, "") }
    }

    /// 200 with this page.
    pub(in crate::gateway) fn show(&self, view: &impl View) -> Result<HttpResponse, WebError> {
        self.show_as(StatusCode::OK, view)
    }

    /// `status` with this page. Pages are never stored.
    pub(in crate::gateway) fn show_as(&self, status: StatusCode, view: &impl View) -> Result<HttpResponse, WebError> {
        let body = view.render().map_err(|error| WebError::internal(format!("a page could not be made: {error}")))?;
        let mut answer = HttpResponse::build(status);
        answer.insert_header((CONTENT_TYPE, "text/html; charset=utf-8"));
        if self.flash.is_some() {
            let mut spent = flash_cookie("", self.site.is_secure());
            spent.make_removal();
            answer.cookie(spent);
        }
        Ok(answer.body(body))
    }

    /// 303 to `address` with one line of news there.
    pub(in crate::gateway) fn go_with_news(&self, address: &str, news: Flash) -> HttpResponse {
        let mut answer = super::error::see_other(address);
        // A cookie that cannot be added costs the news line only.
        let _ = answer.add_cookie(&flash_cookie(news.token(), self.site.is_secure()));
        answer
    }
}

fn flash_cookie(value: &str, secure: bool) -> Cookie<'_> {
    Cookie::build(FLASH_COOKIE, value)
        .path("/")
        .http_only(true)
        .secure(secure)
        .same_site(SameSite::Lax)
        .max_age(CookieDuration::minutes(1))
        .finish()
}

impl FromRequest for Page {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let context = Context::of(request);
        let Some(site) = context.site.clone() else {
            return ready(Err(WebError::misdirected()));
        };
        let flash = request.cookie(FLASH_COOKIE).and_then(|cookie| Flash::news(cookie.value()));
        let services = request.app_data::<Data<Services>>().cloned();
        ready(Ok(Self { context, site, portal: Portal::of(request), services, flash }))
    }
}
