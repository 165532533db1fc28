//! What the provider holds together: settings, clock, signing key, records and their file. All changes of the records go
//! through [`Provider::change`], one at a time, and are on disk before anybody hears of them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::config::idp::{Client, Idp as Settings, User};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::secret::Secret;

use super::StartError;
use super::attempts::Attempts;
use super::records::{Grant, Issued, Lifetimes, Records, Refusal};
use super::signer::Signer;
use super::state_file::StateFile;

/// The running provider.
pub(super) struct Provider {
    pub(super) settings: Settings,
    pub(super) clock: Clock,
    pub(super) signer: Signer,
    held: Mutex<Held>,
    file: Option<StateFile>,
}

/// Records, and what a restart may forget.
#[derive(Default)]
pub(super) struct Held {
    pub(super) records: Records,
    pub(super) attempts: Attempts,
    /// What a refresh token gave when it was used, kept for the grace time so that it can give the same again.
    given: HashMap<String, (Issued, Timestamp)>,
    version: u64,
}

/// The change could not be kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotKept;

impl Provider {
    /// Reads the state file, or begins one.
    pub(super) async fn open(settings: Settings, clock: Clock) -> Result<Self, StartError> {
        let (file, records) = match &settings.state_file {
            None => (None, None),
            Some(path) => {
                let (file, records) = StateFile::open(path.clone())?;
                (Some(file), records)
            }
        };
        let is_new = records.is_none();
        let mut records = records.unwrap_or_default();
        if is_new {
            records.signing_key = STANDARD.encode(Signer::generate().ok_or(StartError::Key)?.as_slice());
        }
        let key = zeroize::Zeroizing::new(STANDARD.decode(&records.signing_key).map_err(|_| StartError::Key)?);
        let signer = Signer::new(&key).ok_or(StartError::Key)?;
        let held = Mutex::new(Held { records, ..Held::default() });
        let provider = Self { settings, clock, signer, held, file };
        if provider.change(|_, _| ()).await.is_err() {
            let path = provider.settings.state_file.clone().unwrap_or_default();
            return Err(StartError::State { path, reason: "it cannot be written".to_owned() });
        }
        Ok(provider)
    }

    /// A look at what is held.
    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change and writes it down.
    pub(super) async fn change<T>(&self, work: impl FnOnce(&mut Held, Timestamp) -> T) -> Result<T, NotKept> {
        let now = self.clock.now();
        let (made, version, content) = {
            let mut held = self.held();
            let made = work(&mut held, now);
            held.records.tidy(now);
            held.given.retain(|_, (_, until)| now < *until);
            held.version += 1;
            let content = self.file.as_ref().map(|_| serde_json::to_vec(&held.records));
            (made, held.version, content)
        };
        if let (Some(file), Some(content)) = (self.file.clone(), content) {
            let content = content.map_err(|_| NotKept)?;
            let write = tokio::task::spawn_blocking(move || file.write(version, &content));
            if let Err(error) = write.await.map_err(std::io::Error::other).and_then(|written| written) {
                tracing::error!(%error, "the state of the identity provider cannot be written");
                return Err(NotKept);
            }
        }
        Ok(made)
    }

    pub(super) const fn lifetimes(&self) -> Lifetimes {
        Lifetimes {
            access: Duration::from_secs(self.settings.access_token_seconds),
            refresh: Duration::from_secs(self.settings.refresh_token_days.saturating_mul(86_400)),
            grace: Duration::from_secs(self.settings.rotation_grace_seconds),
        }
    }

    /// The client of these credentials. An unknown client takes as long as a wrong secret.
    pub(super) fn client(&self, id: &str, secret: &str) -> Option<&Client> {
        let client = self.settings.clients.get(id);
        let nobody = Secret::new("");
        let right = client.map_or(&nobody, |client| &client.secret).matches(secret);
        client.filter(|client| right && !client.secret.expose().is_empty())
    }

    /// The person of this name and password. An unknown name takes as long as a wrong password.
    pub(super) fn user(&self, name: &str, password: &str) -> Option<(&str, &User)> {
        let user = self.settings.users.get_key_value(name.trim());
        let nobody = Secret::new("");
        let right = user.map_or(&nobody, |(_, user)| &user.password).matches(password);
        user.filter(|(_, user)| right && !user.password.expose().is_empty()).map(|(name, user)| (name.as_str(), user))
    }

    /// An id token for a grant when it covers `openid`. `nonce` only right after the login page.
    pub(super) fn id_token(&self, grant: &Grant, with_nonce: bool) -> Option<String> {
        if !grant.scope.split(' ').any(|scope| scope == "openid") {
            return None;
        }
        let now = self.clock.now().seconds();
        let lifetime = i64::try_from(self.settings.access_token_seconds).unwrap_or(i64::MAX);
        let mut claims = json!({
            "iss": self.settings.issuer,
            "sub": grant.user,
            "aud": grant.client,
            "iat": now,
            "exp": now.saturating_add(lifetime),
            "auth_time": grant.signed_in.seconds(),
            "sid": grant.session,
        });
        if let (Some(nonce), true, Value::Object(map)) = (&grant.nonce, with_nonce, &mut claims) {
            map.insert("nonce".to_owned(), Value::from(nonce.clone()));
        }
        self.signer.sign(&claims)
    }
}

impl Held {
    /// Turns a refresh token into tokens: new ones, or the same again within the grace time.
    pub(super) fn refresh(&mut self, client: &str, token: &str, now: Timestamp, lives: Lifetimes) -> Result<Issued, Refusal> {
        let issued = match self.records.refresh(client, token, now, lives) {
            Err(Refusal::JustUsed) => match self.given.get(token) {
                Some((issued, _)) => return Ok(issued.clone()),
                None => self.records.issue_again(token, now, lives)?,
            },
            other => other?,
        };
        self.given.insert(token.to_owned(), (issued.clone(), now.after(lives.grace)));
        Ok(issued)
    }
}
