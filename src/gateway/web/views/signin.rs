//! Pages around signing in.

use askama::Template;

use super::layout::Chrome;

/// The first page for people who are not signed in.
#[derive(Template)]
#[template(path = "home/welcome.html")]
pub(in crate::gateway) struct Welcome {
    pub(in crate::gateway) chrome: Chrome,
}

#[derive(Template)]
#[template(path = "signin/signed_out.html")]
pub(in crate::gateway) struct SignedOut {
    pub(in crate::gateway) chrome: Chrome,
    /// The browser comes from the provider, which was asked to end its session too.
    pub(in crate::gateway) everywhere: bool,
}

/// Signed out here; the browser goes on to the provider by itself, or by the link.
#[derive(Template)]
#[template(path = "signin/leaving.html")]
pub(in crate::gateway) struct Leaving {
    pub(in crate::gateway) chrome: Chrome,
    pub(in crate::gateway) onward: String,
}

/// A sign-in that did not work, and a way on.
#[derive(Template)]
#[template(path = "signin/failed.html")]
pub(in crate::gateway) struct Failed {
    pub(in crate::gateway) chrome: Chrome,
    pub(in crate::gateway) words: &'static str,
    pub(in crate::gateway) hint: &'static str,
    /// Where the next try begins, and what the link to it says.
    pub(in crate::gateway) again: String,
    pub(in crate::gateway) label: &'static str,
}
