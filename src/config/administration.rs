//! Settings of administration: what companies choose for themselves, the people they have, and who runs the platform.

/// Bounds of what administrators see and change.
#[derive(Clone, Copy, Debug)]
pub struct Administration {
    /// Versions of a company's policy that are kept beside the one in force.
    pub policy_versions: u64,
    /// How long a policy that was read is believed without looking again; 0 looks each time.
    pub policy_copy_ms: u64,
    /// Days a person stays in the list of users after their last sign-in, where a company says nothing else.
    pub user_days: u32,
    /// How long a probe of the scanning service or the identity provider may take.
    pub probe_ms: u64,
    /// An answer to a probe is good for this long.
    pub probe_memory_ms: u64,
    /// Keys that end within so many days are named on the first page.
    pub key_notice_days: u32,
}

/// People who run the platform.
#[derive(Clone, Debug, Default)]
pub struct Operator {
    pub subjects: Vec<Subject>,
}

/// One of them, as an identity provider names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The tenant they sign in at; empty: any of them.
    pub tenant: String,
    /// The issuer of the provider, or its address where it has no issuer.
    pub issuer: String,
    pub subject: String,
}
