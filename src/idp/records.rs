//! Sessions and grants, and the rules by which codes and tokens are good. Pure: time comes in, tokens are kept as hashes.
//!
//! Every code and token is `{grant}.{random}`: it leads to its grant, so that a used one is known for as long as the grant lives,
//! without keeping a list of all that ever were.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::platform::clock::Timestamp;
use crate::platform::digest::{hex, same, sha256};
use crate::platform::random;
use crate::platform::secret::Secret;

/// A code must be used within this time.
const CODE_LIFETIME: Duration = Duration::from_mins(1);
/// A person stays signed in at the provider for this long.
const SESSION_LIFETIME: Duration = Duration::from_hours(12);

/// Everything that survives a restart.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Records {
    /// Private key in PKCS #8, base64.
    pub(super) signing_key: String,
    /// By the hash of the cookie.
    sessions: BTreeMap<String, Session>,
    /// By id.
    grants: BTreeMap<String, Grant>,
}

/// A person signed in at the provider.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Session {
    /// `sid` of id tokens.
    pub(super) id: String,
    pub(super) user: String,
    pub(super) signed_in: Timestamp,
    expires: Timestamp,
}

/// What a person gave a client.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) user: String,
    pub(super) scope: String,
    pub(super) nonce: Option<String>,
    pub(super) session: String,
    pub(super) signed_in: Timestamp,
    redirect_uri: String,
    challenge: Option<String>,
    code: String,
    code_expires: Timestamp,
    expires: Timestamp,
    /// None until the code was exchanged.
    refresh: Option<String>,
    previous: Option<Previous>,
    access: Vec<Access>,
}

/// The refresh token before the present one.
#[derive(Clone, Serialize, Deserialize)]
struct Previous {
    hash: String,
    used: Timestamp,
}

#[derive(Clone, Serialize, Deserialize)]
struct Access {
    hash: String,
    expires: Timestamp,
}

/// What a client asked for at the login page.
pub(super) struct Request {
    pub(super) client: String,
    pub(super) redirect_uri: String,
    pub(super) scope: String,
    pub(super) challenge: Option<String>,
    pub(super) nonce: Option<String>,
}

/// How long tokens live.
#[derive(Clone, Copy)]
pub(super) struct Lifetimes {
    pub(super) access: Duration,
    pub(super) refresh: Duration,
    pub(super) grace: Duration,
}

/// New tokens of a grant.
#[derive(Clone)]
pub(super) struct Issued {
    pub(super) access: Secret,
    pub(super) refresh: Secret,
    pub(super) grant: Grant,
}

/// Why a code or refresh token is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Unknown, over, of another client, or with another verifier or address.
    NotGood,
    /// Used before: the grant is gone now.
    Replayed,
    /// Used a moment ago: what it gave then is the answer.
    JustUsed,
    /// No randomness.
    Unavailable,
}

impl From<random::Unavailable> for Refusal {
    fn from(_: random::Unavailable) -> Self {
        Self::Unavailable
    }
}

fn hash(token: &str) -> String {
    hex(&sha256(token.as_bytes()))
}

fn is(hashed: &str, token: &str) -> bool {
    same(hashed.as_bytes(), hash(token).as_bytes())
}

fn new_token(grant: &str) -> Result<Secret, random::Unavailable> {
    Ok(Secret::new(format!("{grant}.{}", random::token()?)))
}

fn grant_of(token: &str) -> &str {
    token.split_once('.').map_or("", |(grant, _)| grant)
}

impl Records {
    /// Signs a person in; gives the content of the cookie.
    pub(super) fn sign_in(&mut self, user: &str, now: Timestamp) -> Result<(Secret, Session), random::Unavailable> {
        let cookie = Secret::new(random::token()?);
        let session = Session { id: random::id()?, user: user.to_owned(), signed_in: now, expires: now.after(SESSION_LIFETIME) };
        self.sessions.insert(hash(cookie.expose()), session.clone());
        Ok((cookie, session))
    }

    /// The session of a cookie.
    pub(super) fn session(&self, cookie: &str, now: Timestamp) -> Option<&Session> {
        self.sessions.get(&hash(cookie)).filter(|session| now < session.expires)
    }

    /// Forgets the session of a cookie that is replaced; what was granted in it stays.
    pub(super) fn forget_session(&mut self, cookie: &str) {
        self.sessions.remove(&hash(cookie));
    }

    /// Ends the session of a cookie and all grants that came of it.
    pub(super) fn sign_out(&mut self, cookie: &str) {
        if let Some(session) = self.sessions.remove(&hash(cookie)) {
            self.grants.retain(|_, grant| grant.session != session.id);
        }
    }

    /// A new grant; gives its code.
    pub(super) fn grant(&mut self, request: Request, session: &Session, now: Timestamp) -> Result<Secret, random::Unavailable> {
        let id = random::id()?;
        let code = new_token(&id)?;
        let grant = Grant {
            client: request.client,
            user: session.user.clone(),
            scope: request.scope,
            nonce: request.nonce,
            session: session.id.clone(),
            signed_in: session.signed_in,
            redirect_uri: request.redirect_uri,
            challenge: request.challenge,
            code: hash(code.expose()),
            code_expires: now.after(CODE_LIFETIME),
            expires: now.after(CODE_LIFETIME),
            refresh: None,
            previous: None,
            access: Vec::new(),
        };
        self.grants.insert(id, grant);
        Ok(code)
    }

    /// Turns a code into tokens. A second use ends the grant (RFC 6749 4.1.2). `challenge` is what the verifier hashes to.
    pub(super) fn exchange(
        &mut self,
        (client, code): (&str, &str),
        redirect_uri: &str,
        challenge: Option<&str>,
        now: Timestamp,
        lives: Lifetimes,
    ) -> Result<Issued, Refusal> {
        let id = grant_of(code).to_owned();
        let grant = self.grants.get(&id).filter(|grant| grant.client == client && is(&grant.code, code));
        let grant = grant.ok_or(Refusal::NotGood)?;
        let replayed = grant.refresh.is_some();
        let fits = now < grant.code_expires && grant.redirect_uri == redirect_uri && grant.challenge.as_deref() == challenge;
        if replayed || !fits {
            self.grants.remove(&id);
            return Err(if replayed { Refusal::Replayed } else { Refusal::NotGood });
        }
        self.issue(&id, now, lives)
    }

    /// Turns a refresh token into new tokens. The one before the present is forgiven for the grace time; any other use of an
    /// old one ends the grant.
    pub(super) fn refresh(&mut self, client: &str, token: &str, now: Timestamp, lives: Lifetimes) -> Result<Issued, Refusal> {
        let id = grant_of(token).to_owned();
        let grant = self.grants.get(&id).filter(|grant| grant.client == client && now < grant.expires);
        let grant = grant.ok_or(Refusal::NotGood)?;
        if grant.refresh.as_deref().is_some_and(|present| is(present, token)) {
            return self.issue(&id, now, lives);
        }
        let forgiven = grant.previous.as_ref().filter(|previous| is(&previous.hash, token));
        if forgiven.is_some_and(|previous| now.since(previous.used) < lives.grace) {
            return Err(Refusal::JustUsed);
        }
        self.grants.remove(&id);
        Err(Refusal::Replayed)
    }

    /// New tokens although the refresh token was just used: what it gave then was lost with a restart.
    pub(super) fn issue_again(&mut self, token: &str, now: Timestamp, lives: Lifetimes) -> Result<Issued, Refusal> {
        self.issue(grant_of(token), now, lives)
    }

    fn issue(&mut self, id: &str, now: Timestamp, lives: Lifetimes) -> Result<Issued, Refusal> {
        let (access, refresh) = (new_token(id)?, new_token(id)?);
        let grant = self.grants.get_mut(id).ok_or(Refusal::NotGood)?;
        let used = grant.refresh.replace(hash(refresh.expose()));
        grant.previous = used.map(|hash| Previous { hash, used: now });
        grant.expires = now.after(lives.refresh);
        grant.access.retain(|access| now < access.expires);
        grant.access.push(Access { hash: hash(access.expose()), expires: now.after(lives.access) });
        Ok(Issued { access, refresh, grant: grant.clone() })
    }

    /// The grant an access token speaks for.
    pub(super) fn bearer(&self, token: &str, now: Timestamp) -> Option<&Grant> {
        let grant = self.grants.get(grant_of(token))?;
        grant.access.iter().any(|access| now < access.expires && is(&access.hash, token)).then_some(grant)
    }

    /// Ends what a token of this client stands for: the grant for a refresh token, itself for an access token. An unknown
    /// token changes nothing (RFC 7009 2.2).
    pub(super) fn revoke(&mut self, client: &str, token: &str) {
        let id = grant_of(token);
        let Some(grant) = self.grants.get_mut(id).filter(|grant| grant.client == client) else {
            return;
        };
        let before = grant.access.len();
        grant.access.retain(|access| !is(&access.hash, token));
        if grant.access.len() == before {
            self.grants.remove(id);
        }
    }

    /// Forgets what is over.
    pub(super) fn tidy(&mut self, now: Timestamp) {
        self.sessions.retain(|_, session| now < session.expires);
        self.grants.retain(|_, grant| now < grant.expires);
    }
}
