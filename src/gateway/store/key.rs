//! Names of entries. Every name carries its tenant; nothing secret is ever a name.

use crate::gateway::domain::tenant::TenantId;
use crate::platform::digest::{hex, sha256};

/// Name of an entry: tenant, kind, id. The same key may name a record, a set, a counter and a lease side by side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::gateway) struct Key {
    tenant: TenantId,
    kind: &'static str,
    id: String,
}

impl Key {
    /// A key whose id is no secret. Ids of other than `A-Z a-z 0-9 . _ -` or of more than 128 bytes are replaced by their hash.
    pub(in crate::gateway) fn new(tenant: &TenantId, kind: &'static str, id: &str) -> Self {
        let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        let id = if plain && (1..=128).contains(&id.len()) { id.to_owned() } else { digest(tenant, kind, id) };
        Self { tenant: tenant.clone(), kind, id }
    }

    /// A key by something secret (a handle, a state, an extraction code): only its hash becomes part of the name.
    pub(in crate::gateway) fn hashed(tenant: &TenantId, kind: &'static str, secret: &str) -> Self {
        Self { tenant: tenant.clone(), kind, id: digest(tenant, kind, secret) }
    }

    /// Text that is different for every key: for the associated data of what is sealed under it.
    pub(in crate::gateway) fn context(&self) -> String {
        format!("{}/{}/{}", self.tenant, self.kind, self.id)
    }

    /// Whose entry it names.
    pub(in crate::gateway) const fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// The last part of the name.
    pub(in crate::gateway) fn id(&self) -> &str {
        &self.id
    }

    /// The name in the embedded file.
    pub(super) fn in_file(&self, shape: char) -> String {
        format!("{}/{}/{}#{shape}", self.tenant, self.kind, self.id)
    }

    /// The name in Redis. Tenant and id are the hash tag, so that all entries about one thing share a slot of a cluster.
    pub(super) fn in_redis(&self, prefix: &str, shape: char) -> String {
        format!("{prefix}{{{}:{}}}:{}:{shape}", self.tenant, self.id, self.kind)
    }
}

/// What a name is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts<'n> {
    pub(super) tenant: &'n str,
    pub(super) kind: &'n str,
    pub(super) id: &'n str,
}

impl<'n> Parts<'n> {
    /// Those of a name that [`Key::in_file`] made for this shape.
    pub(super) fn in_file(name: &'n str, shape: char) -> Option<Self> {
        let (tenant, rest) = name.strip_suffix(shape)?.strip_suffix('#')?.split_once('/')?;
        rest.split_once('/').map(|(kind, id)| Self { tenant, kind, id })
    }

    /// Those of a name that [`Key::in_redis`] made for this shape.
    pub(super) fn in_redis(name: &'n str, prefix: &str, shape: char) -> Option<Self> {
        let rest = name.strip_prefix(prefix)?.strip_suffix(shape)?.strip_suffix(':')?;
        let (whose, kind) = rest.strip_prefix('{')?.split_once("}:")?;
        whose.split_once(':').map(|(tenant, id)| Self { tenant, kind, id })
    }
}

fn digest(tenant: &TenantId, kind: &str, id: &str) -> String {
    hex(&sha256(format!("{tenant}\0{kind}\0{id}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_carries_its_tenant_and_never_what_was_hashed() {
        let (acme, globex) = (TenantId::parse("acme").unwrap(), TenantId::parse("globex").unwrap());
        let key = Key::hashed(&acme, "session", "handle");
        assert!(!key.context().contains("handle") && key.context().starts_with("acme/session/"));
        assert_ne!(key.id(), Key::hashed(&globex, "session", "handle").id());
        assert_ne!(key.id(), Key::hashed(&acme, "flow", "handle").id());
        assert_eq!(Key::new(&acme, "task", "4f").in_redis("cardea:", 'r'), "cardea:{acme:4f}:task:r");
        let parts = Parts { tenant: "acme", kind: "session", id: key.id() };
        assert_eq!(Parts::in_redis(&key.in_redis("cardea:", 'r'), "cardea:", 'r'), Some(parts));
        assert_eq!(Parts::in_redis(&key.in_redis("cardea:", 's'), "cardea:", 'r'), None);
        assert_eq!(Parts::in_redis(&key.in_redis("other:", 'r'), "cardea:", 'r'), None);
        assert_eq!((Parts::in_file(&key.in_file('r'), 'r'), Parts::in_file(&key.in_file('c'), 'r')), (Some(parts), None));
        for odd in ["", "a}b", "a/b", "ä", &"x".repeat(129)] {
            assert_eq!(Key::new(&acme, "task", odd).id().len(), 64, "{odd:?}");
        }
    }
}
