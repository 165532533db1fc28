//! The gateway from outside: the built binary over sockets.

mod oidc;
mod restart;
mod security;
mod tenants;
mod upload;
