//! The gateway from outside: the built binary over sockets.

mod oidc;
mod refresh;
mod restart;
mod security;
mod signin;
mod signout;
mod tenants;
mod upload;
