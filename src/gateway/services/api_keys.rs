//! API keys of a tenant: its administrators issue, rotate and revoke them; programs come in with them. Every change, and every
//! key that is refused although its text is right, is written down.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::Actor;
use super::error::Error;
use super::once::{Sent, is_complete, once};
use crate::config::gateway::Vault as Settings;
use crate::gateway::audit::Audit;
use crate::gateway::domain::api_key::{AllowList, ApiKey, Edition, Group, KeyRefusal, KeyText, Overlap, Scopes};
use crate::gateway::domain::audit::{Deed, Event};
use crate::gateway::domain::network::neighbourhood;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::domain::uses::{Origins, Uses};
use crate::gateway::store::Store;
use crate::gateway::vault::{IssuedKeys, NewApiKey, Refused, use_of};
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::digits::whole;
use crate::platform::hostile::Hostile;
use crate::platform::random;
use crate::platform::secret::Secret;

/// The longest label, in characters.
pub(in crate::gateway) const LONGEST_LABEL: usize = 60;
/// A key that ends within this time is told of.
pub(in crate::gateway) const SOON: Duration = Duration::from_hours(24 * 30);
/// What its forms are called in the store.
const FORM: &str = "api-key-form";

/// The use cases. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct ApiKeys {
    issued: IssuedKeys,
    store: Store,
    clock: Clock,
    audit: Audit,
    allowance: Arc<DefaultKeyedRateLimiter<TenantId>>,
    bounds: Bounds,
}

/// What a new key may be at most.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Bounds {
    pub(in crate::gateway) days: u32,
    pub(in crate::gateway) networks: usize,
    /// Days of which uses are counted.
    pub(in crate::gateway) use_days: u32,
}

/// A key as it was asked for.
pub(in crate::gateway) struct Wanted {
    pub(in crate::gateway) label: String,
    pub(in crate::gateway) groups: Vec<Group>,
    /// Single operations by name.
    pub(in crate::gateway) operations: Vec<String>,
    /// As typed.
    pub(in crate::gateway) networks: String,
    pub(in crate::gateway) days: String,
    /// Different for each form.
    pub(in crate::gateway) once: String,
}

/// What became of a form.
pub(in crate::gateway) enum Outcome {
    /// The key and its text, which is nowhere else.
    Made(Box<ApiKey>, Secret),
    /// The form was sent before; its text was shown then.
    AlreadyMade,
    /// The form was sent before, and that is not over or came to no end: whether it made a text is not known.
    Begun,
}

/// A key with what is known of its use.
pub(in crate::gateway) struct Listed {
    pub(in crate::gateway) key: ApiKey,
    /// Of all its texts together.
    pub(in crate::gateway) uses: Uses,
    /// Earlier texts that still work, and when each was last used.
    pub(in crate::gateway) overlapping: Vec<(Edition, Option<Timestamp>)>,
    pub(in crate::gateway) is_over: bool,
}

/// Whether what works until then still works and ends within [`SOON`].
pub(in crate::gateway) fn ends_soon(ends: Timestamp, now: Timestamp) -> bool {
    ends > now && ends.since(now) <= SOON
}

/// Those that still work and end within [`SOON`], the first to end first.
pub(in crate::gateway) fn ending(listed: &[Listed], now: Timestamp) -> Vec<&Listed> {
    let mut ending: Vec<&Listed> = listed.iter().filter(|listed| ends_soon(listed.key.ends(), now)).collect();
    ending.sort_by_key(|listed| listed.key.ends());
    ending
}

impl ApiKeys {
    pub(in crate::gateway) fn new(issued: IssuedKeys, (store, clock): (Store, Clock), audit: Audit, settings: &Settings) -> Self {
        let allowance = Arc::new(RateLimiter::keyed(Quota::per_minute(settings.refusals_per_minute)));
        let Settings { api_key_days: days, api_key_networks: networks, use_days, .. } = *settings;
        let bounds = Bounds { days, networks, use_days };
        Self { issued, store, clock, audit, allowance, bounds }
    }

    /// Whether a bearer credential wants to be an API key.
    pub(in crate::gateway) fn looks_like_one(text: &str) -> bool {
        KeyText::looks_like_one(text)
    }

    /// The key of this text, if it is good now and from this address. Its use is noted. A key that was revoked on any replica is
    /// unknown within a second.
    pub(in crate::gateway) async fn verify(
        &self,
        tenant: &TenantId,
        text: &Secret,
        address: IpAddr,
    ) -> Result<Arc<ApiKey>, KeyRefusal> {
        let verified = self.issued.verify(tenant, text, address).await;
        let outcome = verified.as_ref().map_or_else(|refused| refused.why.name(), |_| "accepted");
        metrics::counter!("cardea_api_key_total", "outcome" => outcome).increment(1);
        verified.map_err(|Refused { why, key }| {
            if let Some(key) = key.filter(|_| self.allowance.check_key(tenant).is_ok()) {
                let event = Event::new(Deed::ApiKey, &format!("refused_{outcome} {}", key.id));
                self.audit.record(tenant, Event { network: Some(neighbourhood(address)), ..event });
            }
            why
        })
    }

    /// Notes that a call of this operation came with the key from this address.
    pub(in crate::gateway) fn note_origin(&self, tenant: &TenantId, key: &ApiKey, origin: (&'static str, IpAddr)) {
        self.issued.note_origin(tenant, &key.id, origin);
    }

    /// Who used a key of the tenant in the last seven days; about, as all counts of uses.
    pub(in crate::gateway) async fn origins(&self, actor: &Actor, id: &str) -> Result<Origins, Error> {
        Ok(self.issued.origins(&actor.principal.tenant, id).await?)
    }

    pub(in crate::gateway) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Resolves when a text that was good is so no more, for what goes on after its call was taken.
    pub(in crate::gateway) async fn ended(&self, tenant: &TenantId, text: &Secret) {
        self.issued.ended(tenant, text).await;
    }

    /// What a new key may be at most.
    pub(in crate::gateway) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The keys of the administrator's tenant, oldest first.
    pub(in crate::gateway) async fn list(&self, actor: &Actor) -> Result<Vec<Listed>, Error> {
        let tenant = &actor.principal.tenant;
        let (keys, uses) = (self.issued.list(tenant).await?, self.issued.uses(tenant).await?);
        let now = self.clock.now();
        let listed = keys.into_iter().map(|key| {
            let of = |edition: &Edition| uses.get(&use_of(&key.id, edition.number));
            let overlapping = key.overlapping(now).map(|edition| (edition.clone(), of(edition).and_then(|uses| uses.last)));
            let overlapping = overlapping.collect();
            let mut all = Uses::default();
            uses.iter().filter(|(id, _)| id.split('.').next() == Some(&key.id)).for_each(|(_, uses)| all.merge(uses));
            Listed { is_over: key.ends() <= now, uses: all, overlapping, key }
        });
        Ok(listed.collect())
    }

    /// One key of the tenant.
    pub(in crate::gateway) async fn one(&self, actor: &Actor, id: &str) -> Result<Listed, Error> {
        self.list(actor).await?.into_iter().find(|listed| listed.key.id == id).ok_or(Error::NotFound)
    }

    /// What a form carries so that it makes one key only.
    pub(in crate::gateway) fn form() -> Result<String, Error> {
        random::id().map_err(|error| Error::Internal(error.to_string()))
    }

    /// Issues a key, at most one for each form.
    pub(in crate::gateway) async fn create(&self, actor: &Actor, wanted: &Wanted) -> Result<Outcome, Error> {
        let new = self.understood(wanted)?;
        let by = (actor.principal.key(), actor.principal.name.clone());
        let sent = self.once(actor, &wanted.once, self.issued.create(&actor.principal.tenant, new, by)).await;
        self.told(actor, ("created", ""), sent)
    }

    /// Makes another text for a key whose newest is number `from`, at most one for each form. Earlier ones end after the overlap.
    pub(in crate::gateway) async fn rotate(
        &self,
        actor: &Actor,
        id: &str,
        (from, overlap): (u32, Overlap),
        once: &str,
    ) -> Result<Outcome, Error> {
        let work = self.issued.rotate(&actor.principal.tenant, id, (Some(from), overlap.time()));
        let what = if overlap == Overlap::None { "rotated_at_once".to_owned() } else { format!("rotated_{}", overlap.as_str()) };
        let sent = self.once(actor, once, work).await;
        self.told(actor, (&what, id), sent)
    }

    /// Takes a key back for good: within a second no replica lets it in.
    pub(in crate::gateway) async fn revoke(&self, actor: &Actor, id: &str) -> Result<(), Error> {
        let revoked = self.issued.revoke(&actor.principal.tenant, id).await.map_err(Error::from);
        match &revoked {
            Ok(revoked) => self.note(actor, "revoked", &revoked.id),
            Err(Error::Unavailable { .. }) => self.note(actor, "revoked_unsure", id),
            Err(_) => {}
        }
        revoked.map(drop)
    }

    /// Does `work` unless this form did it before.
    async fn once<T, E: Into<Error>>(
        &self,
        actor: &Actor,
        form: &str,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<Sent<T>, Error> {
        if !is_complete(form) {
            return Err(Error::Invalid("The form is not complete. Load its page again.".to_owned()));
        }
        once(&self.store, actor, (FORM, form), work).await
    }

    /// Writes down what a form did. A store that went away meanwhile may have done it: that is written down, too.
    fn told(
        &self,
        actor: &Actor,
        (what, id): (&str, &str),
        sent: Result<Sent<(ApiKey, Secret)>, Error>,
    ) -> Result<Outcome, Error> {
        match sent {
            Ok(Sent::Now((key, text))) => {
                self.note(actor, what, &key.id);
                Ok(Outcome::Made(Box::new(key), text))
            }
            Ok(Sent::Before) => Ok(Outcome::AlreadyMade),
            Ok(Sent::Begun) => Ok(Outcome::Begun),
            Err(error) => {
                if matches!(error, Error::Unavailable { .. }) {
                    self.note(actor, &format!("{what}_unsure"), id);
                }
                Err(error)
            }
        }
    }

    fn note(&self, actor: &Actor, what: &str, id: &str) {
        self.audit.record(&actor.principal.tenant, actor.did(Event::new(Deed::ApiKey, format!("{what} {id}").trim_end())));
    }

    fn understood(&self, wanted: &Wanted) -> Result<NewApiKey, Error> {
        let label = wanted.label.trim();
        if Hostile::from(label).is_empty() || label.chars().count() > LONGEST_LABEL {
            return Err(Error::Invalid(format!("A label needs 1 to {LONGEST_LABEL} characters.")));
        }
        let scopes = Scopes::of(&wanted.groups, wanted.operations.iter().map(String::as_str));
        if scopes.is_empty() {
            return Err(Error::Invalid("Choose at least one thing that the key may do.".to_owned()));
        }
        let most = self.bounds.days;
        let days = whole(wanted.days.trim()).filter(|days| (1..=most).contains(days));
        let days = days.ok_or_else(|| Error::Invalid(format!("A key can be good for 1 to {most} days.")))?;
        let networks = AllowList::parse(&wanted.networks, self.bounds.networks).map_err(Error::Invalid)?;
        Ok(NewApiKey { label: Hostile::from(label), scopes, networks, days })
    }
}
