//! Leaves the scanning service of one tenant alone for a while when it fails, so that callers do not wait for what will not
//! come and the service can get up again. One call then tries; the others are told when to come back. What counts is how a call
//! ended, not how often it was tried for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::StatusCode;
use metrics::{counter, gauge};

use super::tally::{Kind, Tally};
use crate::config::gateway::Breaker as Settings;
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::shutdown::Shutdown;

/// How often the state is measured where nothing changes it.
const PACE: Duration = Duration::from_secs(5);
/// While one call tries, others are told to come back after this.
const TRYING: Duration = Duration::from_secs(1);

/// Whether an answer of this status says that the service fails, and not that the caller asked something wrong.
pub(in crate::gateway) const fn is_trouble(status: StatusCode) -> bool {
    matches!(status.as_u16(), 502..=504)
}

/// One circuit for each tenant's service. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway) struct Breakers(Arc<HashMap<TenantId, Circuit>>);

struct Circuit {
    tenant: TenantId,
    settings: Settings,
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    /// Grows with each change of the phase; calls of an earlier phase say nothing about this one.
    turn: u64,
    in_a_row: u32,
    tally: Tally,
    /// How long the next pause is.
    pause: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Closed,
    Open {
        until: Timestamp,
    },
    /// Calls are on their way to find out. When the next one may go, by what it sends: whoever does not come to an end keeps
    /// nobody waiting for longer than that.
    Trying {
        whole: Timestamp,
        stream: Timestamp,
    },
}

/// What a call sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sends {
    /// Nothing, or what is here already.
    Whole,
    /// A body that comes at the pace of its sender: that may take hours, while the service is well.
    Stream,
}

impl Breakers {
    /// Circuits that are closed.
    pub(in crate::gateway) fn new(tenants: impl IntoIterator<Item = TenantId>, settings: Settings, clock: &Clock) -> Self {
        let circuit = |tenant: TenantId| (tenant.clone(), Circuit::new(tenant, settings, clock.clone()));
        Self(Arc::new(tenants.into_iter().map(circuit).collect()))
    }

    /// Measures all of them until `shutdown`, also where nothing changes.
    pub(in crate::gateway) async fn watch(self, shutdown: Shutdown) {
        loop {
            self.0.values().for_each(|circuit| circuit.measure(&circuit.state()));
            if !shutdown.pause(PACE).await {
                return;
            }
        }
    }

    /// Lets a call through; say how it ended with [`Pass::done`]. `Err`: the service is left alone, try again after this.
    pub(in crate::gateway) fn pass(&self, tenant: &TenantId) -> Result<Pass, Duration> {
        self.let_through(tenant, Sends::Whole)
    }

    /// The same for a call whose body streams. When the service is tried, it may go as well, but no other call waits for it.
    pub(in crate::gateway) fn pass_streaming(&self, tenant: &TenantId) -> Result<Pass, Duration> {
        self.let_through(tenant, Sends::Stream)
    }

    fn let_through(&self, tenant: &TenantId, sends: Sends) -> Result<Pass, Duration> {
        let Some(circuit) = self.0.get(tenant) else { return Ok(Pass { of: None }) };
        let (turn, is_try) =
            circuit.begin(sends).inspect_err(|_| counter!("cardea_api_refused_total", "reason" => "breaker").increment(1))?;
        Ok(Pass { of: Some(Begun { breakers: self.clone(), tenant: tenant.clone(), turn, is_try }) })
    }
}

/// A call that was let through. Dropped without a word it says nothing about the service: the caller went away.
#[must_use = "say how the call ended"]
pub(in crate::gateway) struct Pass {
    of: Option<Begun>,
}

struct Begun {
    breakers: Breakers,
    tenant: TenantId,
    turn: u64,
    is_try: bool,
}

impl Pass {
    /// Whether the call may be tried once more: it is not the one that finds out, and the service was not left alone meanwhile.
    pub(in crate::gateway) fn may_retry(&self) -> bool {
        let Some(begun) = &self.of else { return true };
        let circuit = begun.breakers.0.get(&begun.tenant);
        !begun.is_try && circuit.is_none_or(|circuit| circuit.state().turn == begun.turn)
    }

    /// The call has ended: with an answer that is no trouble ([`is_trouble`]), or with trouble.
    pub(in crate::gateway) fn done(mut self, good: bool) {
        if let Some(begun) = self.of.take()
            && let Some(circuit) = begun.breakers.0.get(&begun.tenant)
        {
            circuit.end(begun.turn, good);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if let Some(begun) = self.of.take().filter(|begun| begun.is_try)
            && let Some(circuit) = begun.breakers.0.get(&begun.tenant)
        {
            circuit.give_up(begun.turn);
        }
    }
}

impl Circuit {
    fn new(tenant: TenantId, settings: Settings, clock: Clock) -> Self {
        let state = State {
            phase: Phase::Closed,
            turn: 0,
            in_a_row: 0,
            tally: Tally::new(Duration::from_secs(settings.window_seconds)),
            pause: Duration::from_millis(settings.open_ms),
        };
        Self { tenant, settings, clock, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The turn of the call, and whether it is the one that tries.
    fn begin(&self, sends: Sends) -> Result<(u64, bool), Duration> {
        let (mut state, now) = (self.state(), self.clock.now());
        match state.phase {
            Phase::Closed => return Ok((state.turn, false)),
            Phase::Open { until } => {
                if let Some(left) = left(until, now, state.pause) {
                    return Err(left);
                }
                self.turn(&mut state, Phase::Trying { whole: now, stream: now });
            }
            Phase::Trying { .. } => {}
        }
        if let Phase::Trying { whole, stream } = &mut state.phase {
            let patience = Duration::from_millis(self.settings.open_ms);
            let next = if sends == Sends::Whole { *whole } else { *stream };
            if left(next, now, patience).is_some() {
                return Err(TRYING);
            }
            *stream = now.after(patience);
            if sends == Sends::Whole {
                *whole = *stream;
            }
        }
        // All who try do so in one turn: a service that takes its time is heard as well, unless another was heard before.
        Ok((state.turn, sends == Sends::Whole))
    }

    fn end(&self, turn: u64, good: bool) {
        let mut state = self.state();
        if turn != state.turn {
            return;
        }
        match (state.phase, good) {
            (Phase::Trying { .. }, true) => {
                state.pause = Duration::from_millis(self.settings.open_ms);
                state.in_a_row = 0;
                state.tally.clear();
                self.turn(&mut state, Phase::Closed);
                tracing::info!(tenant = %self.tenant, "the scanning service answers again");
            }
            (Phase::Trying { .. }, false) => {
                state.pause = (state.pause * 2).min(Duration::from_millis(self.settings.open_most_ms));
                self.open(&mut state);
            }
            (Phase::Closed, true) => {
                state.in_a_row = 0;
                state.tally.add(Kind::All, self.clock.now());
            }
            (Phase::Closed, false) => {
                state.in_a_row = state.in_a_row.saturating_add(1);
                state.tally.add(Kind::All, self.clock.now());
                state.tally.add(Kind::Marked, self.clock.now());
                if self.is_enough(&state) {
                    self.open(&mut state);
                    tracing::warn!(tenant = %self.tenant, "the scanning service fails and is left alone for a while");
                }
            }
            (Phase::Open { .. }, _) => {}
        }
    }

    /// The call that tried went away: the next one tries.
    fn give_up(&self, turn: u64) {
        let (mut state, now) = (self.state(), self.clock.now());
        if state.turn == turn && matches!(state.phase, Phase::Trying { .. }) {
            state.phase = Phase::Trying { whole: now, stream: now };
        }
    }

    fn is_enough(&self, state: &State) -> bool {
        let (all, failed) = state.tally.sums(self.clock.now());
        let share = u64::from(failed) * 100 >= u64::from(all) * u64::from(self.settings.failed_percent);
        state.in_a_row >= self.settings.failures || (all >= self.settings.least_calls && share)
    }

    fn open(&self, state: &mut State) {
        self.turn(state, Phase::Open { until: self.clock.now().after(state.pause) });
    }

    fn turn(&self, state: &mut State, phase: Phase) {
        state.phase = phase;
        state.turn += 1;
        self.measure(state);
    }

    fn measure(&self, state: &State) {
        let value = match state.phase {
            Phase::Closed => 0.0,
            Phase::Trying { .. } => 1.0,
            Phase::Open { .. } => 2.0,
        };
        gauge!("cardea_breaker_state", "tenant" => self.tenant.as_str().to_owned()).set(value);
    }
}

/// How long it is until then; `None` when it is over. It was `most` at the beginning: a clock that was put back makes no wait
/// longer.
fn left(until: Timestamp, now: Timestamp, most: Duration) -> Option<Duration> {
    let left = until.since(now);
    (!left.is_zero() && left <= most).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings =
        Settings { failures: 3, failed_percent: 50, window_seconds: 30, least_calls: 10, open_ms: 1000, open_most_ms: 3000 };

    fn tenant(id: &str) -> TenantId {
        TenantId::parse(id).unwrap()
    }

    fn breakers() -> (Breakers, Clock) {
        let clock = Clock::manual(Timestamp(1_800_000_000_000));
        (Breakers::new([tenant("acme"), tenant("globex")], SETTINGS, &clock), clock)
    }

    fn call(breakers: &Breakers, good: bool) -> Result<(), Duration> {
        breakers.pass(&tenant("acme")).map(|pass| pass.done(good))
    }

    #[test]
    fn failures_in_a_row_open_it_for_one_tenant_and_a_good_try_closes_it() {
        let (breakers, clock) = breakers();
        call(&breakers, false).unwrap();
        call(&breakers, false).unwrap();
        call(&breakers, true).unwrap();
        for _ in 0..3 {
            call(&breakers, false).unwrap();
        }
        assert_eq!(call(&breakers, true), Err(Duration::from_secs(1)));
        breakers.pass(&tenant("globex")).expect("another tenant's service").done(true);
        clock.advance(Duration::from_secs(1));
        let tried = breakers.pass(&tenant("acme")).expect("one may try");
        assert_eq!(call(&breakers, true), Err(TRYING), "and one only");
        tried.done(true);
        call(&breakers, false).unwrap();
        call(&breakers, true).unwrap();
    }

    #[test]
    fn a_try_that_fails_makes_the_pause_longer_up_to_a_bound() {
        let (breakers, clock) = breakers();
        for _ in 0..3 {
            call(&breakers, false).unwrap();
        }
        for pause in [1, 2, 3, 3] {
            let pause = Duration::from_secs(pause);
            assert_eq!(call(&breakers, false), Err(pause));
            clock.advance(pause);
            call(&breakers, false).expect("the pause is over");
        }
        clock.advance(Duration::from_secs(3));
        call(&breakers, true).unwrap();
        for _ in 0..3 {
            call(&breakers, false).unwrap();
        }
        assert_eq!(call(&breakers, false), Err(Duration::from_secs(1)), "after a good time it begins anew");
    }

    /// Open, and its pause is over.
    fn rested() -> (Breakers, Clock) {
        let (breakers, clock) = breakers();
        for _ in 0..SETTINGS.failures {
            call(&breakers, false).unwrap();
        }
        clock.advance(Duration::from_millis(SETTINGS.open_ms));
        (breakers, clock)
    }

    /// So many failures do not open it when it is closed and nothing is held against the service.
    fn is_as_new(breakers: &Breakers) -> bool {
        let forgiven = (1..SETTINGS.failures).all(|_| call(breakers, false).is_ok());
        forgiven && call(breakers, true).is_ok()
    }

    #[test]
    fn nobody_waits_for_a_body_that_streams_to_learn_whether_the_service_is_well() {
        let acme = tenant("acme");
        let (breakers, _) = rested();
        let upload = breakers.pass_streaming(&acme).expect("it may go");
        assert_eq!(breakers.pass_streaming(&acme).err(), Some(TRYING), "one of these at a time");
        let tried = breakers.pass(&acme).expect("whoever sends no stream tries at once");
        assert_eq!(breakers.pass(&acme).err(), Some(TRYING), "and one only");
        tried.done(true);
        upload.done(false);
        assert!(is_as_new(&breakers), "what the upload says comes too late");

        let (breakers, _) = rested();
        let _tried = breakers.pass(&acme).unwrap();
        assert_eq!(breakers.pass_streaming(&acme).err(), Some(TRYING), "the service is tried already");

        let (breakers, _) = rested();
        drop(breakers.pass_streaming(&acme).unwrap());
        assert_eq!(breakers.pass_streaming(&acme).err(), Some(TRYING), "one that was given up makes no room for another");

        let (breakers, _) = rested();
        breakers.pass_streaming(&acme).unwrap().done(true);
        assert!(is_as_new(&breakers), "where there are only uploads, they find out");

        let (breakers, clock) = rested();
        let _first = breakers.pass_streaming(&acme).unwrap();
        clock.advance(Duration::from_millis(SETTINGS.open_ms));
        breakers.pass_streaming(&acme).expect("another upload waits no longer than a pause").done(true);
        assert!(is_as_new(&breakers));
    }

    #[test]
    fn a_try_that_does_not_end_keeps_nobody_waiting_for_longer_than_a_pause_and_is_heard_until_another_was() {
        let acme = tenant("acme");
        for (second_is_good, late_is_good) in [(true, false), (false, true), (true, true), (false, false)] {
            let (breakers, clock) = rested();
            let slow = breakers.pass(&acme).unwrap();
            clock.advance(Duration::from_millis(SETTINGS.open_ms - 1));
            assert_eq!(breakers.pass(&acme).err(), Some(TRYING));
            clock.advance(Duration::from_millis(1));
            let second = breakers.pass(&acme).expect("the next one tries");
            assert_eq!(breakers.pass(&acme).err(), Some(TRYING), "and one only");
            second.done(second_is_good);
            slow.done(late_is_good);
            if second_is_good {
                assert!(is_as_new(&breakers), "late words do not open it");
            } else {
                let pause = Duration::from_millis(2 * SETTINGS.open_ms);
                assert_eq!(call(&breakers, true), Err(pause), "late words neither close it nor make the pause longer");
            }
        }
        let (breakers, clock) = rested();
        let slow = breakers.pass(&acme).unwrap();
        clock.advance(Duration::from_millis(SETTINGS.open_ms));
        let second = breakers.pass(&acme).unwrap();
        slow.done(true);
        assert!(is_as_new(&breakers), "a service that takes its time is well");
        second.done(false);
        assert!(is_as_new(&breakers));
    }

    #[test]
    fn a_share_of_failures_opens_it_when_there_were_enough_calls() {
        let (breakers, _) = breakers();
        for _ in 0..4 {
            call(&breakers, false).unwrap();
            call(&breakers, true).unwrap();
        }
        call(&breakers, true).unwrap();
        assert!(call(&breakers, false).is_ok(), "the tenth call opens it");
        assert!(call(&breakers, true).is_err());
    }

    #[test]
    fn a_try_whose_caller_goes_away_is_left_to_the_next_one_and_late_words_do_not_count() {
        let (breakers, clock) = breakers();
        let late: Vec<Pass> = (0..3).map(|_| breakers.pass(&tenant("acme")).unwrap()).collect();
        for _ in 0..3 {
            call(&breakers, false).unwrap();
        }
        for pass in late {
            pass.done(true);
        }
        assert!(call(&breakers, true).is_err(), "they were sent before it opened");
        clock.advance(Duration::from_secs(1));
        drop(breakers.pass(&tenant("acme")).unwrap());
        call(&breakers, true).expect("the next one tries");
        call(&breakers, true).unwrap();
        drop(breakers.pass(&tenant("acme")).unwrap());
        call(&breakers, true).unwrap();
    }

    #[test]
    fn a_call_is_tried_again_while_the_service_is_called_and_never_to_find_out() {
        let (breakers, clock) = breakers();
        let before = breakers.pass(&tenant("acme")).unwrap();
        assert!(before.may_retry());
        for _ in 0..3 {
            call(&breakers, false).unwrap();
        }
        assert!(!before.may_retry(), "it was left alone meanwhile");
        before.done(false);
        clock.advance(Duration::from_secs(1));
        let tries = breakers.pass(&tenant("acme")).unwrap();
        assert!(!tries.may_retry(), "one try is one try");
        tries.done(true);
        assert!(breakers.pass(&tenant("acme")).unwrap().may_retry());
    }

    #[test]
    fn only_answers_that_say_so_are_trouble() {
        let trouble = |status| is_trouble(StatusCode::from_u16(status).unwrap());
        assert!([502, 503, 504].into_iter().all(trouble));
        assert!(![200, 304, 400, 401, 404, 429, 500, 501, 505].into_iter().any(trouble));
    }
}
