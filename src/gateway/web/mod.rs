//! The HTTP edge: the only room that knows actix-web. A handler extracts typed arguments, calls one service and answers
//! with a view or a redirect; everything all requests share stands in `middleware`.

pub(in crate::gateway) mod api;
mod assets;
mod attachment;
mod context;
mod door_urls;
mod error;
mod extract;
mod failures;
mod handlers;
mod listener;
pub(in crate::gateway) mod middleware;
pub(in crate::gateway) mod operations;
mod page;
mod routes;
pub(in crate::gateway) mod server;
mod share_urls;
pub(in crate::gateway) mod site;
mod spreadsheet;
mod urls;
mod views;

#[cfg(test)]
mod tests;
