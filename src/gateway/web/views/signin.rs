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
}

/// A sign-in that did not work, and a way on.
#[derive(Template)]
#[template(path = "signin/failed.html")]
pub(in crate::gateway) struct Failed {
    pub(in crate::gateway) chrome: Chrome,
    pub(in crate::gateway) words: &'static str,
    pub(in crate::gateway) hint: &'static str,
    pub(in crate::gateway) again: &'static str,
}
