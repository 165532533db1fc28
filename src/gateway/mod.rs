//! The gateway: a company portal in front of the scanning service. All modules are private behind one facade; never
//! imports the reference scanner or the identity provider. Arrows run one way:
//! `web -> services -> {session, vault, cache, upstream} -> store -> domain/contract/platform`.

mod domain;
mod services;
mod session;
mod store;
mod upstream;
mod vault;
mod web;
