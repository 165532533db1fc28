//! The gateway from outside: the built binary over sockets.

mod security;
mod tenants;
