//! The gateway from outside: the built binary over sockets.

mod at_rest;
mod failover;
mod keyring;
mod oidc;
mod outage;
mod refresh;
mod restart;
mod security;
mod tenants;
mod upload;
