//! What is written down for good: who did what, from where, and what was refused with its reason. Never a token, a code, a
//! name or an e-mail address.

use serde::{Deserialize, Serialize};

use crate::platform::clock::Timestamp;

/// What happened. Written by its name, so a name is never given another meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::gateway) enum Deed {
    /// Somebody signed in.
    SignIn,
    /// A sign-in came to nothing; the detail says why.
    SignInRefused,
    /// A refresh that changed something: tokens renewed, or the sign-in ended. The detail is the outcome.
    Refresh,
    /// A session ended because its user said so. The detail is the kind: here, at the provider, all others.
    SignOut,
    /// A session was ended by somebody else or by a rule: an administrator, the provider, a limit. The detail says which, with the
    /// key of the user whose it was where somebody else ended it.
    SessionEnded,
    /// A cookie, record or callback of one tenant on the host of another.
    TenantMismatch,
    /// The claims of a user changed and with them the role.
    RoleChanged,
    /// A change that another site started was refused.
    CrossSite,
    /// An API key was created, rotated, revoked, or refused although its text was right; the detail says which, with its id.
    ApiKey,
    /// A server key was added, made active or inactive, or removed; the detail says which, with its id.
    ServerKey,
    /// A share was made, extended, given a new code, or ended; the detail says which, with its short id.
    Share,
    /// Wrong codes closed a share for a while or made its code worthless; the detail says which, with its short id.
    ShareGuarded,
    /// A company's policy was changed; the detail says what from what to what.
    PolicyChanged,
    /// A user was disabled, or enabled again; the detail says which, with the user's key.
    UserAccess,
    /// All shares of somebody were ended by an administrator; the detail counts them, with the maker's key. Each has a line of its
    /// own besides.
    SharesEnded,
    /// A task was deleted with what it found; the detail has its id.
    Task,
    /// Somebody who runs the platform looked at this company's policy and counts.
    OperatorLooked,
    /// A change that needs a recent sign-in was held back until the person signs in once more.
    StepUp,
    /// The audit trail was exported or checked; the detail says which and what came of it.
    AuditTrail,
    /// Another sealing key seals from now on, or records were sealed anew.
    KeyRotation,
    /// Events of strangers that were not written down one by one; the detail counts them by name.
    LeftOut,
}

impl Deed {
    /// Every one.
    pub(in crate::gateway) const ALL: [Self; 21] = [
        Self::SignIn,
        Self::SignInRefused,
        Self::Refresh,
        Self::SignOut,
        Self::SessionEnded,
        Self::TenantMismatch,
        Self::RoleChanged,
        Self::CrossSite,
        Self::Share,
        Self::ShareGuarded,
        Self::ApiKey,
        Self::ServerKey,
        Self::PolicyChanged,
        Self::UserAccess,
        Self::SharesEnded,
        Self::Task,
        Self::OperatorLooked,
        Self::StepUp,
        Self::AuditTrail,
        Self::KeyRotation,
        Self::LeftOut,
    ];

    /// The one of this name.
    pub(in crate::gateway) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.name() == name)
    }

    /// The name it is written by.
    pub(in crate::gateway) const fn name(self) -> &'static str {
        match self {
            Self::SignIn => "sign_in",
            Self::SignInRefused => "sign_in_refused",
            Self::Refresh => "refresh",
            Self::SignOut => "sign_out",
            Self::SessionEnded => "session_ended",
            Self::TenantMismatch => "tenant_mismatch",
            Self::RoleChanged => "role_changed",
            Self::CrossSite => "cross_site",
            Self::ApiKey => "api_key",
            Self::ServerKey => "server_key",
            Self::Share => "share",
            Self::ShareGuarded => "share_guarded",
            Self::PolicyChanged => "policy_changed",
            Self::UserAccess => "user_access",
            Self::SharesEnded => "shares_ended",
            Self::Task => "task",
            Self::OperatorLooked => "operator_looked",
            Self::StepUp => "step_up",
            Self::AuditTrail => "audit_trail",
            Self::KeyRotation => "key_rotation",
            Self::LeftOut => "left_out",
        }
    }

    /// Whether somebody without a session can cause it, again and again: how much of it is written down is limited.
    pub(in crate::gateway) const fn is_strangers(self) -> bool {
        match self {
            Self::SignInRefused | Self::TenantMismatch | Self::CrossSite | Self::ShareGuarded => true,
            // Each needs a session, an account, a key, the provider's signature or an operator; a count comes once a minute.
            Self::SignIn
            | Self::Refresh
            | Self::SignOut
            | Self::SessionEnded
            | Self::RoleChanged
            | Self::ApiKey
            | Self::ServerKey
            | Self::Share
            | Self::PolicyChanged
            | Self::UserAccess
            | Self::SharesEnded
            | Self::Task
            | Self::OperatorLooked
            | Self::StepUp
            | Self::AuditTrail
            | Self::KeyRotation
            | Self::LeftOut => false,
        }
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Outcome {
    Done,
    Refused,
}

impl Outcome {
    pub(in crate::gateway) const ALL: [Self; 2] = [Self::Done, Self::Refused];

    /// As it stands in addresses and exports.
    pub(in crate::gateway) const fn name(self) -> &'static str {
        if matches!(self, Self::Done) { "done" } else { "refused" }
    }
}

/// One thing to write down. Everything but the deed may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Event {
    pub(in crate::gateway) deed: Deed,
    /// Outcome or reason in one word of ours, e.g. `wrong_nonce`; where it was done to something, its public id follows after a
    /// blank. Never text from outside.
    pub(in crate::gateway) detail: String,
    /// Who did it: [`Principal::key`](super::principal::Principal::key).
    pub(in crate::gateway) user: Option<String>,
    /// Whose session it was, by its public id.
    pub(in crate::gateway) session: Option<String>,
    /// From where: IPv4 /24, IPv6 /48.
    pub(in crate::gateway) network: Option<String>,
    pub(in crate::gateway) request_id: Option<String>,
}

impl Event {
    /// An event of which nothing else is known yet.
    pub(in crate::gateway) fn new(deed: Deed, detail: &str) -> Self {
        Self { deed, detail: detail.to_owned(), user: None, session: None, network: None, request_id: None }
    }

    /// What was done in particular: the detail without the object.
    pub(in crate::gateway) fn what(&self) -> &str {
        self.object().map_or(&self.detail, |_| self.detail.split(' ').next().unwrap_or_default())
    }

    /// The public id of what it was done to, where that is told.
    pub(in crate::gateway) fn object(&self) -> Option<&str> {
        let (_, object) = self.detail.split_once(' ').filter(|_| self.deed != Deed::LeftOut)?;
        Some(object).filter(|object| !object.contains([' ', ',']))
    }

    /// Whether it was done, or somebody was kept from it.
    pub(in crate::gateway) fn outcome(&self) -> Outcome {
        let refused = matches!(self.deed, Deed::SignInRefused | Deed::TenantMismatch | Deed::CrossSite | Deed::StepUp);
        if refused || self.detail.starts_with("refused") { Outcome::Refused } else { Outcome::Done }
    }

    /// The same, done by this user in this session.
    pub(in crate::gateway) fn by(self, user: &str, session: &str) -> Self {
        Self { user: Some(user.to_owned()), session: Some(session.to_owned()), ..self }
    }

    /// The same, from this network in this request.
    pub(in crate::gateway) fn from(self, network: &str, request_id: &str) -> Self {
        Self { network: Some(network.to_owned()), request_id: Some(request_id.to_owned()), ..self }
    }
}

/// An event as it was written: when, and after which other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Written {
    /// 1 for the first of the tenant; without gaps.
    pub(in crate::gateway) number: u64,
    pub(in crate::gateway) at: Timestamp,
    #[serde(flatten)]
    pub(in crate::gateway) event: Event,
}
