//! Who is signed in.

use serde::{Deserialize, Serialize};

use super::role::Role;
use super::tenant::TenantId;
use crate::platform::digest::{hex, sha256};
use crate::platform::hostile::Hostile;

/// A user as the identity provider named them. The identity is (tenant, issuer, subject); name and e-mail are for
/// showing only and decide nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Principal {
    pub(in crate::gateway) tenant: TenantId,
    /// The issuer of the provider, or its address where it has no issuer.
    pub(in crate::gateway) issuer: String,
    pub(in crate::gateway) subject: String,
    pub(in crate::gateway) name: Hostile,
    pub(in crate::gateway) email: Hostile,
    pub(in crate::gateway) role: Role,
}

impl Principal {
    /// Whether this user keeps the tenant's server keys.
    pub(in crate::gateway) fn is_administrator(&self) -> bool {
        self.role == Role::Administrator
    }

    /// 64 hexadecimal characters that stand for this user in keys of the store and of caches: a hash over tenant, issuer
    /// and subject, each with its length so that no two users share it.
    pub(in crate::gateway) fn key(&self) -> String {
        let parts = [self.tenant.as_str(), &self.issuer, &self.subject];
        let joined = parts.iter().fold(String::new(), |out, part| format!("{out}{}:{part};", part.len()));
        hex(&sha256(joined.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(issuer: &str, subject: &str) -> Principal {
        Principal {
            tenant: TenantId::parse("acme").unwrap(),
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            name: "Alice".into(),
            email: "alice@acme.example".into(),
            role: Role::Member,
        }
    }

    #[test]
    fn the_key_depends_on_issuer_and_subject_and_on_nothing_shown() {
        let alice = user("https://id.example", "7");
        let renamed =
            Principal { name: "Bob".into(), email: "b@acme.example".into(), role: Role::Administrator, ..alice.clone() };
        assert_eq!(alice.key(), renamed.key());
        assert_ne!(alice.key(), user("https://id.example", "8").key());
        assert_ne!(user("a", "bc").key(), user("ab", "c").key());
        assert_ne!(user("a;1:b", "c").key(), user("a", "b;1:c").key());
    }
}
