//! A share just made, or just given a new code: its link and code, this once.

use askama::Template;

use super::layout::Chrome;
use super::qr::Qr;
use super::words::{When, count};
use crate::contract::ids::{TaskId, VulId};
use crate::gateway::domain::extraction_code::{Code, code_message, one_word, whole_message};
use crate::gateway::services::shares::NewLink;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// Link and code.
#[derive(Template)]
#[template(path = "shares/created.html")]
pub(in crate::gateway) struct Created {
    chrome: Chrome,
    /// False: the share was there, and its code is new.
    is_new: bool,
    page: String,
    link: String,
    code: Option<String>,
    ends: When,
    has_end: bool,
    views: Option<String>,
    qr: Option<Qr>,
    link_message: String,
    code_message: String,
    both: String,
    /// Opens the reader's mail program with the message that holds the link, never the code.
    mail: String,
}

impl Created {
    pub(in crate::gateway) fn new(page: &Page, link: &NewLink) -> Self {
        Self::of(page, link, true)
    }

    pub(in crate::gateway) fn with_new_code(page: &Page, link: &NewLink) -> Self {
        Self::of(page, link, false)
    }

    fn of(page: &Page, link: &NewLink, is_new: bool) -> Self {
        let address = format!("{}{}", page.site.public_url, urls::entrance(&link.id, link.code.is_some()));
        let grouped = link.code.as_ref().map(Code::grouped);
        let typed = link.typed.as_ref().map(|typed| typed.expose().to_owned());
        let code = typed.or(grouped);
        let sent = code.as_deref().map(one_word);
        let ends = When::of(link.ends);
        let company = &page.site.name;
        let needs = if code.is_some() {
            "You need a code, which comes in a message of its own.\n"
        } else {
            "You need no code and no account.\n"
        };
        let until = link.ends.map(|_| format!("The link works until {}.\n", ends.words)).unwrap_or_default();
        let views = link.views.map(|views| count(u64::from(views), "time", "times"));
        let often = views.as_ref().map(|views| format!("It opens {views}.\n")).unwrap_or_default();
        let link_message =
            format!("Hello,\n\n{company} shares results of a security scan with you:\n\n{address}\n\n{needs}{until}{often}");
        let code_message = sent.as_deref().map(code_message).unwrap_or_default();
        let both = sent.map_or_else(|| format!("{address}\n"), |code| whole_message(&address, &code));
        let subject = format!("Results of a security scan, shared by {company}");
        Self {
            chrome: page.chrome(if is_new { "Share created" } else { "New code set" }, "shares"),
            is_new,
            page: urls::share(&link.mark),
            qr: Qr::of(&address),
            link: address,
            code,
            ends,
            has_end: link.ends.is_some(),
            views,
            mail: urls::mail(&subject, &link_message),
            link_message,
            code_message,
            both,
        }
    }
}

/// The form was sent before.
#[derive(Template)]
#[template(path = "shares/already_made.html")]
pub(in crate::gateway) struct AlreadyMade {
    chrome: Chrome,
    is_new: bool,
    again: String,
    list: &'static str,
}

impl AlreadyMade {
    pub(in crate::gateway) fn new(page: &Page, task: &TaskId, findings: &[VulId]) -> Self {
        let chrome = page.chrome("Share already created", "shares");
        Self { chrome, is_new: true, again: urls::share_new(task, findings), list: urls::SHARES }
    }

    /// The same for a new code of a share, whose page is `share`.
    pub(in crate::gateway) fn of_code(page: &Page, share: String) -> Self {
        Self { chrome: page.chrome("New code already set", "shares"), is_new: false, again: share, list: urls::SHARES }
    }
}
