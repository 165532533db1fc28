//! The filter of the audit log, as it stands in an address: read strictly, written back the same, and checked against events.

use std::time::Duration;

use time::Date;
use url::form_urlencoded;

use super::audit::{Deed, Outcome, Written};
use super::filter::{Refused, contains, day, day_text, end, start, text, unknown};
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// What is shown unless days are named.
pub(in crate::gateway) const USUAL_DAYS: u64 = 31;
const USUAL: Duration = Duration::from_hours(24 * USUAL_DAYS);

/// Which events. Everything that is empty lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct AuditFilter {
    /// First day, in UTC; without one the last [`USUAL_DAYS`].
    pub(in crate::gateway) from: Option<Date>,
    /// Last day, in UTC.
    pub(in crate::gateway) to: Option<Date>,
    /// The beginning of a person's mark ([`Principal::key`](super::principal::Principal::key)), or part of their name.
    pub(in crate::gateway) actor: String,
    pub(in crate::gateway) deed: Option<Deed>,
    /// What it was done to, by its whole id; or the session it was done in or to.
    pub(in crate::gateway) object: String,
    pub(in crate::gateway) outcome: Option<Outcome>,
    pub(in crate::gateway) request: String,
    /// As it is written: IPv4 /24, IPv6 /48.
    pub(in crate::gateway) network: String,
    /// With what people without a session can cause.
    pub(in crate::gateway) all: bool,
}

impl AuditFilter {
    /// Everything that was ever done to one thing.
    pub(in crate::gateway) fn of(object: &str) -> Self {
        Self { object: object.to_owned(), from: Some(Date::MIN), all: true, ..Self::default() }
    }

    /// Reads the query of an address. Unknown names are passed over, unknown values are refused.
    ///
    /// # Errors
    /// Words for the person who typed it.
    pub(in crate::gateway) fn read(query: &str) -> Result<Self, Refused> {
        let mut filter = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            match name.as_ref() {
                "from" => filter.from = day("from", value)?,
                "to" => filter.to = day("to", value)?,
                "actor" => filter.actor = text("actor", value)?,
                "act" if !value.is_empty() => filter.deed = Some(Deed::named(value).ok_or_else(|| unknown("act", value))?),
                "object" => filter.object = text("object", value)?,
                "result" if !value.is_empty() => {
                    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == value);
                    filter.outcome = Some(outcome.ok_or_else(|| unknown("result", value))?);
                }
                "request" => filter.request = text("request", value)?,
                "network" => filter.network = text("network", value)?,
                "all" => filter.all = value == "1",
                _ => {}
            }
        }
        if filter.from.zip(filter.to).is_some_and(|(from, to)| from > to) {
            return Err(Refused("The first day lies after the last day.".to_owned()));
        }
        Ok(filter)
    }

    /// As a query, with the place to go on below; empty for the first view.
    pub(in crate::gateway) fn query(&self, before: Option<u64>) -> String {
        let mut out = form_urlencoded::Serializer::new(String::new());
        let before = before.map(|number| number.to_string()).unwrap_or_default();
        let texts = [
            ("from", self.from.map(day_text).unwrap_or_default()),
            ("to", self.to.map(day_text).unwrap_or_default()),
            ("actor", self.actor.clone()),
            ("act", self.deed.map_or("", Deed::name).to_owned()),
            ("object", self.object.clone()),
            ("result", self.outcome.map_or("", Outcome::name).to_owned()),
            ("request", self.request.clone()),
            ("network", self.network.clone()),
            ("all", if self.all { "1".to_owned() } else { String::new() }),
            ("before", before),
        ];
        for (name, value) in texts.iter().filter(|(_, value)| !value.is_empty()) {
            out.append_pair(name, value);
        }
        out.finish()
    }

    /// The first and the last moment.
    pub(in crate::gateway) fn range(&self, now: Timestamp) -> (Timestamp, Timestamp) {
        let last = self.to.map_or(Timestamp(i64::MAX), end);
        let until = self.to.map_or(now, end);
        let usual = || Timestamp(until.0.saturating_sub(i64::try_from(USUAL.as_millis()).unwrap_or(0)));
        (self.from.map_or_else(usual, start), last)
    }

    /// Whether the event is left out because anybody can cause it. Who asks for such a deed by name gets it.
    pub(in crate::gateway) fn hides(&self, written: &Written) -> bool {
        self.hides_deed(written.event.deed)
    }

    fn hides_deed(&self, deed: Deed) -> bool {
        let is_strangers = deed.is_strangers() || deed == Deed::LeftOut;
        is_strangers && !self.all && self.deed != Some(deed)
    }

    /// Every deed of which events are left out because anybody can cause them.
    pub(in crate::gateway) fn hidden(&self) -> impl Iterator<Item = Deed> {
        Deed::ALL.into_iter().filter(|deed| self.hides_deed(*deed))
    }

    /// Whether somebody has to be known by name to say whether an event of theirs fits.
    pub(in crate::gateway) const fn asks_names(&self) -> bool {
        !self.actor.is_empty()
    }

    /// Whether the event is one of those asked for, whenever it was; `name` is the actor's, where it is known.
    pub(in crate::gateway) fn fits(&self, written: &Written, name: Option<&Hostile>) -> bool {
        let event = &written.event;
        let user = event.user.as_deref().unwrap_or_default();
        let actor = self.actor.is_empty()
            || (!user.is_empty() && user.starts_with(&self.actor))
            || name.is_some_and(|name| contains(name, &self.actor));
        // An event about a session may be looked for by the session, which is no object of its own.
        let object =
            self.object.is_empty() || event.object() == Some(&self.object) || event.session.as_ref() == Some(&self.object);
        let is = |wanted: &str, known: &Option<String>| wanted.is_empty() || known.as_deref() == Some(wanted);
        actor
            && object
            && self.deed.is_none_or(|deed| deed == event.deed)
            && self.outcome.is_none_or(|outcome| outcome == event.outcome())
            && is(&self.request, &event.request_id)
            && is(&self.network, &event.network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::domain::audit::Event;

    const NOW: Timestamp = Timestamp(1_795_828_230_250);

    fn written(deed: Deed, detail: &str) -> Written {
        let event = Event::new(deed, detail).by("aabbccdd", "5e55").from("192.0.2.0/24", "0123");
        Written { number: 7, at: NOW, event }
    }

    #[test]
    fn a_filter_is_written_as_it_was_read_and_odd_values_are_refused() {
        let query = "from=2026-11-01&to=2026-11-28&actor=Al+ice&act=api_key&object=abc&result=refused&request=0123&network=192.0.2.0%2F24&all=1";
        let filter = AuditFilter::read(query).unwrap();
        assert_eq!((filter.query(None).as_str(), filter.query(Some(9))), (query, format!("{query}&before=9")));
        assert_eq!(AuditFilter::read("act=&result=&from=&x=1").unwrap(), AuditFilter::default());
        for odd in [
            "act=steal",
            "result=maybe",
            "from=yesterday",
            "from=2026-11-02&to=2026-11-01",
            &format!("object={}", "x".repeat(2000)),
        ] {
            assert!(AuditFilter::read(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn the_first_view_is_of_the_last_days_and_a_day_is_a_whole_one() {
        let (first, last) = AuditFilter::default().range(NOW);
        assert_eq!((NOW.since(first), last), (Duration::from_hours(24 * 31), Timestamp(i64::MAX)));
        let one = AuditFilter::read("from=2026-11-28&to=2026-11-28").unwrap().range(NOW);
        assert_eq!((one.0.rfc3339().as_str(), one.1.since(one.0)), ("2026-11-28T00:00:00Z", Duration::from_millis(86_399_999)));
        let until = AuditFilter::read("to=2026-10-31").unwrap().range(NOW);
        assert_eq!(until.1.since(until.0), Duration::from_hours(24 * 31));
    }

    #[test]
    fn each_field_lets_through_what_it_names_and_nothing_else() {
        let event = written(Deed::ApiKey, "refused_expired k1");
        let fits = |query: &str| AuditFilter::read(query).unwrap().fits(&event, Some(&Hostile::from("Alice")));
        for yes in
            ["", "actor=aabb", "actor=alic", "act=api_key", "object=k1", "result=refused", "request=0123", "network=192.0.2.0/24"]
        {
            assert!(fits(yes), "{yes}");
        }
        for no in ["actor=bbcc", "actor=bob", "act=sign_in", "object=k", "result=done", "request=012", "network=192.0.2.0"] {
            assert!(!fits(no), "{no}");
        }
    }

    #[test]
    fn what_anybody_can_cause_is_hidden_unless_it_is_asked_for() {
        let refused = written(Deed::SignInRefused, "wrong_nonce");
        let hides = |query: &str| AuditFilter::read(query).unwrap().hides(&refused);
        assert_eq!(
            (hides(""), hides("all=1"), hides("act=sign_in_refused"), hides("act=cross_site")),
            (true, false, false, true)
        );
        assert!(AuditFilter::default().hides(&written(Deed::LeftOut, "cross_site 3")));
        assert!(!AuditFilter::default().hides(&written(Deed::SignIn, "")));
    }
}
