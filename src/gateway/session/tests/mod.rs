//! Sessions, flows and tokens on both backends: a small portal behind a socket, and the rules for what lies at rest.

mod at_rest;
mod copies;
mod flows;
mod portal;
mod refresh;
mod replicas;
mod sessions;
