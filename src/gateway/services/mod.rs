//! Use cases and decisions of the portal: who may do what, with which credential, in which order. No HTTP framework, no
//! Redis, no HTTP client, no templates.

pub(in crate::gateway) mod credentials;
pub(in crate::gateway) mod directory;
pub(in crate::gateway) mod error;
pub(in crate::gateway) mod health;
pub(in crate::gateway) mod signin;

use crate::gateway::domain::principal::Principal;
use crate::gateway::session::LoginId;

/// Who acts: a signed-in person in their tenant, in one request.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Actor {
    pub(in crate::gateway) principal: Principal,
    pub(in crate::gateway) login: LoginId,
    pub(in crate::gateway) request_id: String,
}

/// Everything the web may ask for. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Services {
    pub(in crate::gateway) health: health::Health,
    pub(in crate::gateway) signin: signin::SignIn,
}
