//! Opening a door: with a typed code, or by a person's decision where a share needs none. A view is taken last, when nothing
//! else can refuse any more.

use std::time::Duration;

use super::content::named;
use super::{Entrance, Place, SharePages};
use crate::gateway::domain::extraction_code::readings;
use crate::gateway::domain::share::{Opened, PublicShare};
use crate::gateway::domain::share_breach::is_closed;
use crate::gateway::domain::share_entry::{self, CodeCheck, Mark, Outcome, State};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::ledger::{Admission, Inside, Ledger, Reached, Terms, Try, View};
use crate::gateway::services::error::Error;
use crate::gateway::upstream::{Call, Kind, ScanningService, UpstreamError};
use crate::platform::secret::Secret;

/// What a code that may be right is at the service.
enum Asked {
    Right(Secret),
    Wrong,
    /// Known to the service no more.
    Gone,
    /// Others guess there, so it looks at nothing for so many seconds.
    Slowed(u64),
}

impl SharePages {
    /// Tries a typed code.
    pub(in crate::gateway) async fn open_with_code(&self, place: &Place, typed: &str) -> Result<Entrance, Error> {
        let codes = readings(typed);
        if codes.is_empty() {
            return Ok(Entrance::NoCode);
        }
        let policy = self.policies.of(&place.tenant).await?;
        let mark = place.mark();
        let entry = self.ledger.sought(&place.tenant, &mark).await?;
        let attempt = Try::at((&place.tenant, &mark), entry.as_ref(), &place.network);
        let locked_for = match self.guard.admit(attempt, &policy, self.turn).await? {
            Admission::Look { locked_for } => locked_for,
            Admission::Wait { seconds, over } => {
                // The first while its network waits, then the second, the fourth, the eighth: whoever tries without end makes the
                // log forget nobody.
                if over.is_power_of_two() {
                    match entry {
                        Some(entry) if entry.needs_code && !entry.code_dead => self.log.note(place, &mark, Outcome::TurnedAway),
                        _ => self.log.pass_over(place),
                    }
                }
                return Ok(Entrance::Wait(seconds));
            }
        };
        let candidate = candidate(entry.as_ref(), &codes);
        if let (Some(entry), Some(codes)) = (&entry, candidate) {
            // A code that is known here to be right is no guess, whatever the service says, and holds up nobody behind it.
            if entry.check.is_some() {
                self.guard.clear(attempt).await?;
            }
            let entered = self.enter_with(place, (attempt, entry), &codes, &policy).await;
            if matches!(entered, Ok(Some(_))) && entry.check.is_none() {
                self.guard.clear(attempt).await?;
            }
            if let Some(entrance) = entered? {
                return Ok(entrance);
            }
        }
        self.count_wrong(place, (attempt, entry.as_ref()), &policy).await?;
        Ok(locked_for.map_or(Entrance::Refused, Entrance::Wait))
    }

    /// Lets somebody in whose code is right as far as it is known here; `None` when the service says that it is wrong.
    async fn enter_with(
        &self,
        place: &Place,
        (attempt, entry): (Try<'_>, &share_entry::Entry),
        codes: &[Secret],
        policy: &SharePolicy,
    ) -> Result<Option<Entrance>, Error> {
        let mark = attempt.mark;
        let state = entry.state(self.clock.now());
        if state != State::Open && entry.check.is_some() {
            self.seldom(place, attempt, (Outcome::TooLate, policy)).await?;
            return Ok(Some(Entrance::Over(state)));
        }
        match self.ask_in_turn(place, codes, entry.check.is_some()).await? {
            Asked::Right(code) => {
                self.learn(place, (mark, entry), &code).await?;
                self.enter(place, attempt, Some(code), policy).await.map(Some)
            }
            // It was ended or changed past this portal.
            Asked::Gone if entry.check.is_some() => {
                self.seldom(place, attempt, (Outcome::TooLate, policy)).await?;
                Ok(Some(Entrance::Over(State::Ended)))
            }
            Asked::Slowed(seconds) => Ok(Some(Entrance::Busy(seconds))),
            Asked::Wrong | Asked::Gone => Ok(None),
        }
    }

    /// Asks the service. A code that is known to be right waits its turn there, as long as that is soon.
    async fn ask_in_turn(&self, place: &Place, codes: &[Secret], is_right: bool) -> Result<Asked, Error> {
        let mut left = if is_right { self.turn } else { Duration::ZERO };
        loop {
            let asked = self.ask(place, codes).await?;
            let Asked::Slowed(seconds) = asked else { return Ok(asked) };
            let Some(rest) = left.checked_sub(Duration::from_secs(seconds)) else { return Ok(asked) };
            left = rest;
            tokio::time::sleep(Duration::from_secs(seconds)).await;
        }
    }

    /// Asks the service. Its own slowing down is for whoever guesses there; here it is met by right codes only.
    async fn ask(&self, place: &Place, codes: &[Secret]) -> Result<Asked, Error> {
        let mut asked = Asked::Gone;
        for code in codes {
            match self.public_share(place, Some(code)).await {
                Ok(Opened::Open(_)) => return Ok(Asked::Right(code.clone())),
                Ok(Opened::CodeNeeded | Opened::WrongCode) => asked = Asked::Wrong,
                Ok(Opened::Gone) => {}
                Err(Error::Upstream(UpstreamError { kind: Kind::TooMany { retry_after }, .. })) => {
                    return Ok(Asked::Slowed(retry_after.map_or(1, |wait| wait.as_secs().max(1))));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(asked)
    }

    pub(super) async fn public_share(&self, place: &Place, code: Option<&Secret>) -> Result<Opened<PublicShare>, Error> {
        let ask =
            |service: ScanningService, call: Call| async move { service.public_share(&call, &place.spot.share, code).await };
        let operation = named(code, ("getSharedContent", "extractSharedContent"));
        self.credentials.with_public(&place.tenant, (&place.request_id, operation), ask).await
    }

    /// Keeps what tells this code from wrong ones, where that is not known yet.
    pub(super) async fn learn(
        &self,
        place: &Place,
        (mark, entry): (&Mark, &share_entry::Entry),
        code: &Secret,
    ) -> Result<(), Error> {
        if entry.check.is_some() {
            return Ok(());
        }
        let check = Ledger::check_of(code)?;
        let learn = |current: &mut share_entry::Entry| -> Result<(), Error> {
            if current.codes == entry.codes {
                current.check = Some(check.clone());
            }
            Ok(())
        };
        self.ledger.change(&place.tenant, mark, learn).await.map(drop)
    }

    /// Takes a view and gives the grant for it.
    async fn enter(
        &self,
        place: &Place,
        attempt: Try<'_>,
        code: Option<Secret>,
        policy: &SharePolicy,
    ) -> Result<Entrance, Error> {
        let mark = attempt.mark;
        let View::Taken(entry) = self.ledger.take_view(&place.tenant, mark, attempt.codes).await? else {
            let entry = self.ledger.entry(&place.tenant, mark).await?;
            // Its code was changed while the service was asked, so what was typed is a wrong one by now.
            if entry.as_ref().is_some_and(|entry| entry.codes != attempt.codes || entry.code_dead) {
                return Ok(Entrance::Refused);
            }
            self.seldom(place, attempt, (Outcome::TooLate, policy)).await?;
            let state = entry.map_or(State::Ended, |entry| entry.state(self.clock.now()));
            // Between two looks it can only have been opened again.
            return Ok(Entrance::Over(if state == State::Open { State::UsedUp } else { state }));
        };
        let life = Duration::from_secs(60 * u64::from(policy.grant_minutes));
        let inside = Inside { code, version: entry.version, terms: Terms::of(&entry, policy, self.clock.now()) };
        let handle = self.grants.give(&place.tenant, mark, &inside, life).await?;
        self.log.note(place, mark, Outcome::Opened);
        Ok(Entrance::Granted(handle, life))
    }

    /// Somebody who would be let in, were the share not over or closed. Of a network the first is written down, then the second, the
    /// fourth, the eighth: whoever tries without end makes the log forget nobody.
    pub(super) async fn seldom(
        &self,
        place: &Place,
        attempt: Try<'_>,
        (outcome, policy): (Outcome, &SharePolicy),
    ) -> Result<(), Error> {
        if self.guard.late(attempt, policy).await? {
            self.log.note(place, attempt.mark, outcome);
        }
        Ok(())
    }

    /// A wrong code, at a share that exists or not.
    pub(super) async fn count_wrong(
        &self,
        place: &Place,
        (attempt, entry): (Try<'_>, Option<&share_entry::Entry>),
        policy: &SharePolicy,
    ) -> Result<(), Error> {
        let is_real = entry.is_some_and(|entry| entry.needs_code);
        let reached = self.guard.wrong(attempt, is_real, policy).await?;
        let Some(entry) = entry else {
            self.log.pass_over(place);
            return Ok(());
        };
        match reached {
            Some(Reached::Dead) if !entry.code_dead => {
                self.kill(place, (attempt.mark, entry.codes)).await?;
                self.log.alarm(place, attempt.mark, Outcome::CodeDead);
            }
            Some(Reached::Locked) => self.log.alarm(place, attempt.mark, Outcome::Locked),
            // Not even written down: strangers could make the log forget who really came.
            _ if entry.code_dead => self.log.pass_over(place),
            Some(Reached::NetworkWaits(wait)) if is_real => {
                let until = self.clock.now().after(wait);
                self.log.note(place, attempt.mark, Outcome::NetworkWaits { until, codes: entry.codes });
            }
            _ => self.log.note(place, attempt.mark, Outcome::WrongCode),
        }
        Ok(())
    }

    /// The code that was guessed at opens nothing any more. The version stays: whoever is inside is no stranger.
    async fn kill(&self, place: &Place, (mark, codes): (&Mark, u64)) -> Result<(), Error> {
        let dead = |entry: &mut share_entry::Entry| -> Result<(), Error> {
            entry.code_dead |= entry.codes == codes;
            Ok(())
        };
        self.ledger.change(&place.tenant, mark, dead).await.map(drop)
    }

    /// Tries a share that was made without a code. No code is tested, so nothing is counted; a share whose views are counted
    /// has a code.
    pub(in crate::gateway) async fn open_without_code(&self, place: &Place) -> Result<Entrance, Error> {
        let policy = self.policies.of(&place.tenant).await?;
        let mark = place.mark();
        let entry = self.ledger.sought(&place.tenant, &mark).await?;
        let fits = |entry: &share_entry::Entry| {
            !entry.needs_code && entry.most_views.is_none() && entry.state(self.clock.now()) == State::Open
        };
        let Some(entry) = entry.filter(fits) else { return Ok(Entrance::Refused) };
        let attempt = Try::at((&place.tenant, &mark), Some(&entry), &place.network);
        if is_closed(&entry, &policy) {
            self.seldom(place, attempt, (Outcome::ByPolicy, &policy)).await?;
            return Ok(Entrance::Refused);
        }
        match self.public_share(place, None).await? {
            Opened::Open(_) => self.enter(place, attempt, None, &policy).await,
            Opened::CodeNeeded | Opened::WrongCode | Opened::Gone => Ok(Entrance::Refused),
        }
    }
}

/// Which of the codes may be right, as the service has them. Where it is known which code is, only that one; `None` for wrong
/// ones, for dead ones, and for shares that have none or are not there. All take the same time.
pub(super) fn candidate(entry: Option<&share_entry::Entry>, codes: &[Secret]) -> Option<Vec<Secret>> {
    let usable = entry.filter(|entry| entry.needs_code && !entry.code_dead);
    let check = entry.and_then(|entry| entry.check.clone());
    let none = CodeCheck::new([0; 16], &Secret::new(""));
    let (known, check) = (check.is_some(), check.unwrap_or(none));
    let fitting: Vec<Secret> = codes.iter().filter_map(|code| check.opened_by(code)).collect();
    // The service is asked for as few as can be: the likeliest reading, and what was typed.
    let (first, last) = (codes.first(), codes.last().filter(|_| codes.len() > 1));
    let candidates = if known { fitting } else { first.into_iter().chain(last).cloned().collect() };
    usable.filter(|_| !candidates.is_empty()).map(|_| candidates)
}
