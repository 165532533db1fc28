//! The gateway from outside: the built binary over sockets.

mod restart;
mod security;
mod tenants;
mod upload;
