//! Why there is no token, or no word on whose it is.

/// Why the provider gave no new token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum RefreshError {
    /// `invalid_grant`: this refresh token is used up, expired or revoked.
    #[error("the identity provider refused the refresh token")]
    Refused,
    /// Everything else: no connection, a timeout, an error of the provider, an answer that makes no sense.
    #[error("the identity provider did not answer")]
    Trouble,
}

/// Why it is not known whose the new tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum CheckError {
    /// They are not the user's: the sign-in is over.
    #[error("the tokens are not for this user")]
    NotTheirs,
    /// The user may not come in any more: all their sign-ins are over.
    #[error("the user may not come in any more")]
    NotAdmitted,
    /// The provider did not answer, or not with anything that can be believed. Asked again a little later.
    #[error("the identity provider did not say whose the tokens are")]
    Trouble,
}

/// Why there is no access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::gateway) enum TokenError {
    /// The sign-in is over; only the user can help.
    #[error("the sign-in is over")]
    SignInAgain,
    /// The store or the provider does not answer. Nobody is signed out; asking again later may help.
    #[error("no access token at the moment")]
    Unavailable,
    /// A token that was renewed a moment ago because of this was refused again: another one would not help.
    #[error("the service does not believe fresh tokens")]
    NotBelieved,
}
