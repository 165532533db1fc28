//! What a company has chosen for itself: how it shares, what it keeps, how it looks and what its members may take. The
//! settings say what holds where it says nothing, and what it can take at most.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::share_policy::SharePolicy;

/// The choices of one tenant, all of them in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct TenantPolicy {
    pub(in crate::gateway) shares: SharePolicy,
    pub(in crate::gateway) retention: Retention,
    pub(in crate::gateway) branding: Branding,
    pub(in crate::gateway) limits: Limits,
}

/// How long what is written down stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Retention {
    /// Days a person stays in the list of users after their last sign-in.
    pub(in crate::gateway) user_days: u32,
}

/// How pages look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Branding {
    /// Shown in headings.
    pub(in crate::gateway) name: String,
    /// `#rrggbb`.
    pub(in crate::gateway) accent: String,
    /// Where there is no logo, the first letter of the name stands in its place.
    pub(in crate::gateway) shows_logo: bool,
}

/// What members may take at most; never more than the settings give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Limits {
    /// Sessions of a person at once.
    pub(in crate::gateway) sessions_per_user: u32,
    /// API calls in a window; 0 counts nothing.
    pub(in crate::gateway) calls_of_tenant: u64,
    pub(in crate::gateway) calls_of_caller: u64,
    pub(in crate::gateway) calls_of_network: u64,
}

impl TenantPolicy {
    /// What was kept, read over `given`: what the record does not know is as given, what nobody knows any more is left out, and
    /// limits are never above what is given now. `None` for a record that says something else than a policy.
    pub(in crate::gateway) fn read(kept: &Value, given: &Self) -> Option<Self> {
        let mut all = serde_json::to_value(given).ok()?;
        lay_over(&mut all, kept);
        let read: Self = serde_json::from_value(all).ok()?;
        let most = given.limits;
        let limits = Limits {
            sessions_per_user: read.limits.sessions_per_user.clamp(1, most.sessions_per_user.max(1)),
            calls_of_tenant: tightened(read.limits.calls_of_tenant, most.calls_of_tenant),
            calls_of_caller: tightened(read.limits.calls_of_caller, most.calls_of_caller),
            calls_of_network: tightened(read.limits.calls_of_network, most.calls_of_network),
        };
        Some(Self { limits, ..read })
    }
}

/// Of two bounds the narrower one; 0 is none.
pub(in crate::gateway) const fn tightened(own: u64, given: u64) -> u64 {
    if given == 0 || (own != 0 && own < given) { own } else { given }
}

/// Puts what is in `above` in the place of what is in `below`, field by field, where both know the field.
fn lay_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (name, value) in below {
                if let Some(above) = above.get(name) {
                    lay_over(value, above);
                }
            }
        }
        (below, above) => *below = above.clone(),
    }
}

#[cfg(test)]
pub(in crate::gateway) mod tests {
    use serde_json::json;

    use super::*;
    use crate::gateway::domain::share_policy::tests::GIVEN;

    /// What settings may give.
    pub(in crate::gateway) fn given() -> TenantPolicy {
        TenantPolicy {
            shares: GIVEN,
            retention: Retention { user_days: 400 },
            branding: Branding { name: "Acme".to_owned(), accent: "#2457d6".to_owned(), shows_logo: true },
            limits: Limits { sessions_per_user: 20, calls_of_tenant: 60_000, calls_of_caller: 0, calls_of_network: 24_000 },
        }
    }

    #[test]
    fn a_record_is_read_over_what_is_given_and_never_loosens_a_limit() {
        let kept = json!({
            "shares": {"most_days": 30, "forgotten_rule": 7},
            "limits": {"sessions_per_user": 100, "calls_of_tenant": 10, "calls_of_caller": 50, "calls_of_network": 0},
            "a section nobody knows": 1,
        });
        let read = TenantPolicy::read(&kept, &given()).unwrap();
        assert_eq!((read.shares.most_days, read.shares.usual_days), (30, 7));
        assert_eq!(
            read.limits,
            Limits { sessions_per_user: 20, calls_of_tenant: 10, calls_of_caller: 50, calls_of_network: 24_000 }
        );
        assert_eq!(read.branding, given().branding);
        assert_eq!(TenantPolicy::read(&json!({}), &given()).unwrap(), given());
        assert_eq!(TenantPolicy::read(&json!({"shares": "none"}), &given()), None);
        assert_eq!(TenantPolicy::read(&json!({"shares": {"most_days": -1}}), &given()), None);
    }
}
