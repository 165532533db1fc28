//! The gateway from outside: the built binary over sockets.

mod at_rest;
mod audit;
mod callers;
mod connections;
mod cross_site;
mod description;
mod ended;
mod failover;
mod hosts;
mod keyring;
mod oidc;
mod operations;
mod outage;
mod proxying;
mod refresh;
mod restart;
mod return_to;
mod roles;
mod security;
mod sessions;
mod signin;
mod signin_answers;
mod signout;
mod streams;
mod tenants;
mod upload;
