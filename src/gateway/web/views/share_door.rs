//! The doors of a share, and the pages of one that is closed. A door is the same for every id.

use askama::Template;

use super::layout::Chrome;
use super::words::count;
use crate::gateway::domain::share::{Doorway, Spot};
use crate::gateway::domain::share_entry::State;
use crate::gateway::services::share_page::Unmarked;
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// What a door says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum DoorWords {
    Welcome,
    /// Somebody came by an address behind the door, and is not inside.
    Again,
    /// What was sent can be no code, or no decision.
    Empty,
    Refused,
    /// The code is right, but this is so.
    Over(State),
    /// Seconds, because of wrong codes.
    Wait(u64),
    /// Seconds, because the service looks at no code now: nothing is said against this one.
    Busy(u64),
}

/// A door: the same for any id.
#[derive(Template)]
#[template(path = "share_page/door.html")]
pub(in crate::gateway) struct Door {
    chrome: Chrome,
    asks_code: bool,
    is_again: bool,
    /// Empty when there is nothing to say.
    problem: String,
    /// Whether another code could help.
    is_code: bool,
}

impl Door {
    pub(in crate::gateway) fn new(page: &Page, doorway: Doorway, words: DoorWords) -> Self {
        let asks_code = doorway == Doorway::Code;
        let (start, problem) = match words {
            DoorWords::Welcome | DoorWords::Again => ("", String::new()),
            DoorWords::Empty if asks_code => ("Error: ", EMPTY.to_owned()),
            DoorWords::Empty => ("Error: ", UNDECIDED.to_owned()),
            DoorWords::Refused if asks_code => ("Error: ", REFUSED.to_owned()),
            DoorWords::Refused => ("Error: ", NOTHING.to_owned()),
            DoorWords::Over(state) => ("Ended: ", over(state).to_owned()),
            DoorWords::Wait(seconds) => ("Please wait: ", waiting(seconds)),
            DoorWords::Busy(seconds) => ("Please wait: ", busy(seconds)),
        };
        let is_code = asks_code && matches!(words, DoorWords::Empty | DoorWords::Refused);
        let title = if start.is_empty() { "Open a shared result".to_owned() } else { format!("{start}open a shared result") };
        Self { chrome: page.bare_chrome(title), asks_code, is_again: words == DoorWords::Again, problem, is_code }
    }
}

const EMPTY: &str = "Type or paste the extraction code first. It has at least six characters.";
const UNDECIDED: &str = "Tick the box first. It keeps programs that follow links and press buttons out.";
const REFUSED: &str = "That did not open anything. The code may be mistyped, the link may be incomplete, or the share may have ended. \
Compare both with the message you were sent.";
const NOTHING: &str = "That did not open anything. The link may be incomplete, the share may need a code, or it may have ended. \
Compare the link with the message you were sent.";

const fn over(state: State) -> &'static str {
    match state {
        State::UsedUp => {
            "The code is right, but the share was opened as often as it may be. Ask the person who sent you the link for a new one."
        }
        State::Expired => {
            "The code is right, but the share has come to its end. Ask the person who sent you the link for a new one."
        }
        State::Open | State::CodeDead | State::Ended => {
            "The code is right, but the share was ended. Ask the person who sent you the link for a new one."
        }
    }
}

fn waiting(seconds: u64) -> String {
    let minutes = count(seconds.div_ceil(60).max(1), "minute", "minutes");
    format!(
        "There were too many wrong codes. Please try again in about {minutes}. A right code is not looked at before; \
from another network it may be."
    )
}

fn busy(seconds: u64) -> String {
    format!(
        "Many people are at the door of this share now, and your code was not looked at yet. Please press Open again in {}.",
        count(seconds.max(1), "second", "seconds")
    )
}

/// Something was here, or nothing is to be had.
#[derive(Template)]
#[template(path = "share_page/closed.html")]
pub(in crate::gateway) struct Closed {
    chrome: Chrome,
    heading: &'static str,
    words: &'static str,
    hint: &'static str,
    back: Option<String>,
}

impl Closed {
    pub(in crate::gateway) fn over(page: &Page) -> Self {
        Self::new(
            page,
            "This share has ended",
            "What was shared here is not open any more.",
            "If you still need it, ask the person who sent you the link for a new one.",
        )
    }

    pub(in crate::gateway) fn done(page: &Page, doorway: Doorway) -> Self {
        let hint = match doorway {
            Doorway::Code => {
                "To look again, open the link you were sent and type the code again. Where it opens only so many times, that is one \
more of them."
            }
            Doorway::Open => "To look again, open the link you were sent.",
        };
        Self::new(page, "You are done", "Your access in this browser has ended. Files you saved stay on your computer.", hint)
    }

    pub(in crate::gateway) fn no_key(page: &Page, spot: &Spot) -> Self {
        let words = "The report cannot be fetched at the moment, because the company has set up no access for downloads.";
        let hint = "The findings are still open to you. For the report, ask the person who sent you the link.";
        Self { back: Some(urls::share_view(spot)), ..Self::new(page, "No report at the moment", words, hint) }
    }

    pub(in crate::gateway) fn unmarked(page: &Page, spot: &Spot, why: Unmarked) -> Self {
        let (heading, words) = match why {
            Unmarked::Busy => ("One moment, please", "Many reports are being prepared just now. Please try again in a moment."),
            Unmarked::TooLarge => (
                "No PDF of this report",
                "The PDF is too large to have the share's name put on its pages, and without it no copy is given out.",
            ),
            Unmarked::Refused(_) => (
                "No PDF of this report",
                "The share's name could not be put on the pages of the PDF, and without it no copy is given out.",
            ),
        };
        let hint = "The report in HTML holds the same and can be downloaded from the page with the findings.";
        Self { back: Some(urls::share_view(spot)), ..Self::new(page, heading, words, hint) }
    }

    fn new(page: &Page, heading: &'static str, words: &'static str, hint: &'static str) -> Self {
        Self { chrome: page.bare_chrome(heading), heading, words, hint, back: None }
    }
}
