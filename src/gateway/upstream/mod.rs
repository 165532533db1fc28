//! The only room that sends HTTP: to the scanning service (one method per operation of the interface, [`ScanningService`])
//! and to identity providers ([`identity::IdentityProvider`]). Sessions, tenants' decisions and pages are not known here.
//!
//! One [`transport::Transport`] for all of them, one writer of `Authorization` ([`credential`]), one reading of errors
//! ([`error`]), tolerant reading of answers ([`reading`]). Every method fails with [`error::UpstreamError`], which carries
//! where the fault lies and whether trying again can help.
#![cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "one method per operation; pages come to use them feature by feature")
)]

mod bootstrap;
mod browsers;
mod coded;
mod components;
mod composition;
pub(crate) mod credential;
mod diagnostics;
mod domains;
pub(crate) mod error;
pub(crate) mod files;
pub(crate) mod identity;
mod presence;
pub(crate) mod proxy;
mod reading;
pub(crate) mod reports;
mod results;
mod service;
mod shares;
mod tasks;
pub(crate) mod transport;
mod tries;

#[cfg(test)]
mod tests;

pub(crate) use credential::{Call, Credential};
pub(crate) use error::{Kind, Origin, UpstreamError};
pub(crate) use files::Uploaded;
pub(crate) use presence::Presence;
pub(crate) use reports::Report;
pub(crate) use service::ScanningService;
pub(crate) use transport::Transport;
pub(crate) use tries::Tries;
