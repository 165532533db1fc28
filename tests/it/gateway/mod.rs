//! The gateway from outside: the built binary over sockets.

mod oidc;
mod refresh;
mod restart;
mod return_to;
mod security;
mod signin;
mod signin_answers;
mod signout;
mod tenants;
mod upload;
