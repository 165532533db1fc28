//! Why a session ended before its time.

use super::audit::Deed;

/// The reason, told to streams that are cut, to the audit trail and in metrics by [`Ending::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Ending {
    /// Its user signed out in it.
    SignOut,
    /// Its user ended it from another session.
    Elsewhere,
    /// An administrator of the tenant ended it.
    Administrator,
    /// An administrator of the tenant has disabled the user.
    Disabled,
    /// The user has more sessions than the tenant allows; this was the oldest.
    Limit,
    /// Somebody signed in anew in the same browser.
    NewSignIn,
    /// The identity provider said so.
    Provider,
    /// The identity provider gives no tokens for it any more.
    TokensRefused,
    /// Its new tokens turned out to be another user's.
    OtherUser,
    /// It was not used for too long, or its time was over; or it ended and nobody knows why.
    RanOut,
}

impl Ending {
    const ALL: [Self; 10] = [
        Self::SignOut,
        Self::Elsewhere,
        Self::Administrator,
        Self::Disabled,
        Self::Limit,
        Self::NewSignIn,
        Self::Provider,
        Self::TokensRefused,
        Self::OtherUser,
        Self::RanOut,
    ];

    /// One word of a closed list.
    pub(in crate::gateway) const fn name(self) -> &'static str {
        match self {
            Self::SignOut => "sign_out",
            Self::Elsewhere => "elsewhere",
            Self::Administrator => "administrator",
            Self::Disabled => "disabled",
            Self::Limit => "limit",
            Self::NewSignIn => "new_sign_in",
            Self::Provider => "provider",
            Self::TokensRefused => "tokens_refused",
            Self::OtherUser => "other_user",
            Self::RanOut => "ran_out",
        }
    }

    /// The reason of that name.
    pub(in crate::gateway) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }

    /// Whether whoever sat in the session could not know: they are told before they are led to a new sign-in.
    pub(in crate::gateway) const fn surprises(self) -> bool {
        matches!(self, Self::Elsewhere | Self::Administrator | Self::Disabled | Self::Limit)
    }

    /// Whether the next sign-in from there has to ask for the password, even where the provider still knows the browser: else
    /// the next page would bring back what was ended.
    pub(in crate::gateway) const fn wants_password(self) -> bool {
        matches!(self, Self::Elsewhere | Self::Administrator)
    }

    /// What is written down.
    pub(in crate::gateway) const fn deed(self) -> Deed {
        match self {
            Self::SignOut | Self::Elsewhere => Deed::SignOut,
            _ => Deed::SessionEnded,
        }
    }

    /// One sentence for whoever sat in the session.
    pub(in crate::gateway) const fn words(self) -> &'static str {
        match self {
            Self::SignOut => "You signed out.",
            Self::Elsewhere => "You ended this session from another one.",
            Self::Administrator => "An administrator of your company ended this session.",
            Self::Disabled => "An administrator of your company has disabled your account in this portal.",
            Self::Limit => "You signed in somewhere else, and this was the oldest of more sessions than your company allows.",
            Self::NewSignIn => "Somebody signed in anew in this browser.",
            Self::Provider => "Your company's sign-in page ended this session.",
            Self::TokensRefused => "Your company's sign-in page wants a new sign-in.",
            Self::OtherUser => "The answer of your company's sign-in page did not fit your session any more.",
            Self::RanOut => "Your session has ended.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_name() {
        for ending in Ending::ALL {
            assert_eq!(Ending::named(ending.name()), Some(ending));
            assert!(ending.words().ends_with('.'));
        }
        assert_eq!(Ending::named("else"), None);
    }
}
