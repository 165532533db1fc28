//! Pages as plain data for the templates: no I/O, no decisions beyond what to show. The only room that knows askama.

pub(in crate::gateway) mod errors;
pub(in crate::gateway) mod layout;
pub(in crate::gateway) mod signin;
pub(in crate::gateway) mod words;
