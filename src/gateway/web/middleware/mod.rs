//! One concern a file; none calls a service. The chain, outermost first:
//!
//! 1. `request` gives the request its id, its caller and its log line: everything below happens inside its span.
//! 2. `headers` puts the security headers on every answer, errors included, so it stands outside all that can refuse.
//! 3. `error_page` turns every refusal from below into a page or a problem document.
//! 4. `head` refuses what is larger than the settings allow.
//! 5. `tenant` finds the site of the Host, or ends with 421.
//! 6. `csrf` refuses changes that another site started.
//! 7. the session (`gateway::session`), because only requests that got here need the store.
//! 8. `handle` gives a session a new handle when its user has another role now.
//! 9. `error_page` again, which notes who reads the page of a refusal while the session is still there.
//!
//! actix-web runs the last registered middleware first: `web::app` registers them in the opposite order.
//! A middleware never returns an error of its own upwards: it answers, so that the layers above see every answer.

pub(in crate::gateway) mod csrf;
pub(in crate::gateway) mod error_page;
pub(in crate::gateway) mod handle;
pub(in crate::gateway) mod head;
pub(in crate::gateway) mod headers;
pub(in crate::gateway) mod request;
pub(in crate::gateway) mod tenant;
