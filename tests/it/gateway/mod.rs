//! The gateway from outside: the built binary over sockets.

mod ended;
mod oidc;
mod refresh;
mod restart;
mod return_to;
mod security;
mod sessions;
mod signin;
mod signin_answers;
mod signout;
mod streams;
mod tenants;
mod upload;
