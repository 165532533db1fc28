//! The gateway from outside: the built binary over sockets.

mod audit;
mod cross_site;
mod hosts;
mod oidc;
mod operations;
mod refresh;
mod restart;
mod security;
mod tenants;
mod upload;
