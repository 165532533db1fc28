//! What the rest of the portal sees of a session: who is signed in, and the two ways to change that.

use std::collections::HashMap;
use std::fmt;
use std::future::{Ready, ready};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_session::{Session, SessionExt as _};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};
use serde::{Deserialize, Serialize};

use super::ending::Tether;
use super::login::LoginId;
use super::scope::{Leave, Owner, Scope};
use super::standing::Standing;
use crate::gateway::domain::ending::Ending;
use crate::gateway::domain::principal::Principal;
use crate::platform::clock::Timestamp;
use crate::platform::digest::same;
use crate::platform::random;

/// The session's state as actix-session carries it.
pub(super) type State = HashMap<String, String>;

/// The one entry of the state.
const SIGNED_IN: &str = "signed-in";

/// A user's sign-in, as every page of theirs knows it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct SignedIn {
    pub(in crate::gateway) principal: Principal,
    /// Key to the tokens.
    pub(in crate::gateway) login: LoginId,
    csrf: String,
    pub(in crate::gateway) started_at: Timestamp,
    #[serde(default)]
    generation: u64,
    #[serde(skip)]
    key: Once,
    /// When the person showed the provider last who they are, as far as that is known; a sign-in that the provider gave because
    /// it knew the browser does not count.
    #[serde(default)]
    proved_at: Option<Timestamp>,
}

/// [`Principal::key`], made when it is first asked for; says nothing that the principal does not.
#[derive(Clone, Default)]
struct Once(OnceLock<Arc<str>>);

impl PartialEq for Once {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Once {}

impl SignedIn {
    /// [`Principal::key`] of the user.
    pub(in crate::gateway) fn user_key(&self) -> Arc<str> {
        Arc::clone(self.key.0.get_or_init(|| self.principal.key().into()))
    }

    /// The token that this session's forms carry.
    pub(in crate::gateway) fn csrf(&self) -> &str {
        &self.csrf
    }

    /// Authorization generation: grows with every change of the user's role. What is kept under an older one is not theirs
    /// any more.
    pub(in crate::gateway) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether a form carried the right token; takes the same time wherever it differs.
    pub(in crate::gateway) fn csrf_matches(&self, token: &str) -> bool {
        same(self.csrf.as_bytes(), token.as_bytes())
    }
}

impl fmt::Debug for SignedIn {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tenant, user) = (&self.principal.tenant, self.principal.key());
        out.debug_struct("SignedIn")
            .field("tenant", tenant)
            .field("user", &user)
            .field("login", &self.login)
            .finish_non_exhaustive()
    }
}

/// The session of a request. An extractor that never fails: without a session nobody is signed in.
pub(in crate::gateway) struct Portal {
    session: Session,
    scope: Option<Rc<Scope>>,
}

impl FromRequest for Portal {
    type Error = actix_web::Error;
    type Future = Ready<Result<Self, Self::Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self::of(request)))
    }
}

impl Portal {
    /// The session of `request`, for middleware and other extractors.
    pub(in crate::gateway) fn of(request: &HttpRequest) -> Self {
        let scope = request.extensions().get::<Rc<Scope>>().cloned();
        Self { session: request.get_session(), scope }
    }

    /// Who is signed in on this request's host.
    pub(in crate::gateway) fn signed_in(&self) -> Option<SignedIn> {
        let scope = self.scope.as_ref()?;
        let found = self.session.get::<SignedIn>(SIGNED_IN).ok().flatten()?;
        (scope.tenant.as_ref() == Some(&found.principal.tenant)).then_some(found)
    }

    /// Starts a session with a new handle and a new anti-forgery token. One that the browser presented ends, with its
    /// tokens. It is written, and the cookie set, when the request ends; the tokens of `login` must be stored by then.
    /// `proved_at`: when the person showed who they are, `None` where nobody knows.
    ///
    /// # Errors
    /// Without randomness, and when the request is for another tenant than the principal's, nobody is signed in.
    pub(in crate::gateway) fn sign_in(
        &self,
        principal: Principal,
        login: LoginId,
        proved_at: Option<Timestamp>,
    ) -> Result<SignedIn, NotSignedIn> {
        let scope = self.scope.as_ref().filter(|scope| scope.tenant.as_ref() == Some(&principal.tenant)).ok_or(NotSignedIn)?;
        let csrf = random::token().map_err(|_| NotSignedIn)?;
        let signed_in =
            SignedIn { principal, login, csrf, started_at: scope.now, generation: 0, proved_at, key: Once::default() };
        scope.leave.set(Leave::NewSignIn);
        self.session.clear();
        self.session.insert(SIGNED_IN, &signed_in).map_err(|_| NotSignedIn)?;
        self.session.renew();
        Ok(signed_in)
    }

    /// Ends the session, with its tokens, when the request ends: the cookie is taken back, and copies of it are dead.
    /// Without an answer of the store the request ends in 503 and the session lives on.
    pub(in crate::gateway) fn sign_out(&self) {
        if let Some(scope) = &self.scope {
            scope.leave.set(Leave::SignOut);
        }
        self.session.purge();
    }

    /// Writes down what the provider says about the user now. Login and start stay; with another role the session goes on
    /// under a new handle and the presented one is dead. Lost without harm when the session ends or changes meanwhile.
    pub(in crate::gateway) fn update(&self, principal: Principal) {
        let Some((scope, old)) = self.scope.as_ref().zip(self.signed_in()) else { return };
        if old.principal.key() != principal.key() || old.principal == principal {
            return;
        }
        let moves = old.principal.role != principal.role;
        self.rewrite(scope, SignedIn { principal, key: Once::default(), ..old }, moves);
    }

    /// After a change of the role that came with a refresh: the session goes on under a new handle, and the presented one is
    /// dead.
    pub(in crate::gateway) fn outgrow(&self) {
        let Some((scope, user)) = self.scope.as_ref().filter(|scope| scope.is_outgrown.get()).zip(self.signed_in()) else {
            return;
        };
        self.rewrite(scope, user, true);
    }

    /// The session as its user is now; where it `moves`, under a new handle.
    fn rewrite(&self, scope: &Scope, user: SignedIn, moves: bool) {
        // It was serializable before.
        let _ = self.session.insert(SIGNED_IN, user);
        if moves {
            scope.leave.set(Leave::Move);
            self.session.renew();
        }
    }

    /// Why the session that the browser presents has ended; `None` when it has not, or is not known.
    pub(in crate::gateway) fn ended_by(&self) -> Option<Ending> {
        self.scope.as_ref()?.ended.get()
    }

    /// When the session ends unless it is used, and when it ends in any case. `None` without one.
    pub(in crate::gateway) fn deadlines(&self) -> Option<Deadlines> {
        let scope = self.scope.as_ref()?;
        let loaded = scope.loaded.borrow();
        let loaded = loaded.as_ref()?;
        let settings = &scope.parts.settings;
        let absolute = loaded.started_at.after(settings.absolute);
        // A request that counts as use gives the session its full idle time when it ends, to about a minute.
        let left = if scope.quiet.get() || !loaded.is_due { loaded.left } else { settings.idle };
        Some(Deadlines { idle: scope.now.after(left).min(absolute), absolute })
    }

    /// Until when the person counts as having shown lately who they are, which changes of keys need (`step_up`); `None` when
    /// they do not.
    pub(in crate::gateway) fn proved_until(&self) -> Option<Timestamp> {
        let scope = self.scope.as_ref()?;
        let until = self.signed_in()?.proved_at?.after(scope.parts.settings.step_up);
        (until > scope.now).then_some(until)
    }

    /// How long that lasts.
    pub(in crate::gateway) fn step_up(&self) -> Option<Duration> {
        self.scope.as_ref().map(|scope| scope.parts.settings.step_up)
    }

    /// For a stream that must not outlive the session; `None` without one.
    pub(in crate::gateway) fn tether(&self) -> Option<Tether> {
        Tether::of(self.scope.as_ref()?)
    }

    /// This request does not count as use: for what pages ask by themselves.
    pub(in crate::gateway) fn quiet(&self) {
        if let Some(scope) = &self.scope {
            scope.quiet.set(true);
        }
    }
}

/// The two ends of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Deadlines {
    pub(in crate::gateway) idle: Timestamp,
    pub(in crate::gateway) absolute: Timestamp,
}

/// The request cannot sign anybody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this request cannot sign that user in")]
pub(in crate::gateway) struct NotSignedIn;

/// Who the session in `state` belongs to.
pub(super) fn owner(state: &State) -> Option<Owner> {
    who(state).map(|(principal, login)| Owner { user: principal.key(), login })
}

/// The user and the sign-in in `state`.
pub(super) fn who(state: &State) -> Option<(Principal, LoginId)> {
    let signed_in: SignedIn = serde_json::from_str(state.get(SIGNED_IN)?).ok()?;
    Some((signed_in.principal, signed_in.login))
}

/// Puts what the provider says of the user now into `state`. Another user's claims change nothing.
pub(super) fn restate(state: &mut State, standing: Standing) {
    let Some(old) = state.get(SIGNED_IN).and_then(|text| serde_json::from_str::<SignedIn>(text).ok()) else { return };
    let Standing { principal, generation, .. } = standing;
    if old.principal.key() == principal.key()
        && let Ok(text) = serde_json::to_string(&SignedIn { principal, generation, key: Once::default(), ..old })
    {
        state.insert(SIGNED_IN.to_owned(), text);
    }
}

/// The sign-in in `state`.
pub(super) fn signed_in(state: &State) -> Option<SignedIn> {
    serde_json::from_str(state.get(SIGNED_IN)?).ok()
}

/// When the sign-in in `state` was.
pub(super) fn started_at(state: &State) -> Option<Timestamp> {
    let signed_in: SignedIn = serde_json::from_str(state.get(SIGNED_IN)?).ok()?;
    Some(signed_in.started_at)
}
