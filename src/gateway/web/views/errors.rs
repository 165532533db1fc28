//! The one error page: what happened, what to do next, the request id.

use askama::Template;

use super::layout::Chrome;

#[derive(Template)]
#[template(path = "errors/page.html")]
pub(in crate::gateway) struct ErrorPage<'a> {
    pub(in crate::gateway) chrome: Chrome,
    pub(in crate::gateway) title: &'a str,
    pub(in crate::gateway) words: &'a str,
    pub(in crate::gateway) hint: &'a str,
    pub(in crate::gateway) retry_after: Option<u64>,
    pub(in crate::gateway) links: Vec<Link>,
}

/// A way on.
pub(in crate::gateway) struct Link {
    pub(in crate::gateway) label: &'static str,
    pub(in crate::gateway) href: String,
}
