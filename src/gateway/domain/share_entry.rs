//! One share as the gateway itself knows it: who made it, how long and how often it opens, who came. Neither its code nor
//! anything it shows is here.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::ids::{ShareId, TaskId, VulId};
use crate::contract::shares::ShareType;
use crate::gateway::domain::api_key;
use crate::gateway::domain::device::Device;
use crate::gateway::domain::extraction_code::Spelling;
use crate::gateway::domain::tenant::TenantId;
use crate::platform::clock::Timestamp;
use crate::platform::digest::{hex, keyed, same, sha256};
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// What stands for a share where its id must not: in addresses of signed-in pages, names of records, logs and audit events. 64
/// hexadecimal characters, a hash of tenant and id; it opens nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::gateway) struct Mark(String);

impl Mark {
    /// That of a share, of one that does not exist as well.
    pub(in crate::gateway) fn of(tenant: &TenantId, id: &ShareId) -> Self {
        Self(hex(&sha256(format!("{tenant}\0share\0{id}").as_bytes())))
    }

    /// That of no share at all: what has to be written somewhere about ids that are not there is written there.
    pub(in crate::gateway) fn stand_in(tenant: &TenantId) -> Self {
        Self(hex(&sha256(format!("{tenant}\0no share").as_bytes())))
    }

    /// One from an address.
    pub(in crate::gateway) fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(text.to_owned()))
    }

    pub(in crate::gateway) fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten characters: enough for people to tell the shares of a company apart.
    pub(in crate::gateway) fn short(&self) -> &str {
        self.0.get(..10).unwrap_or_default()
    }
}

/// Who made a share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Maker {
    /// `Principal::key`, or the public id of the API key.
    pub(in crate::gateway) key: String,
    pub(in crate::gateway) name: Hostile,
}

impl Maker {
    /// Whether it was an API key: its id is shorter than any hash that stands for a person or an access token.
    pub(in crate::gateway) const fn is_a_program(&self) -> bool {
        self.key.len() == api_key::ID
    }
}

/// What tells a right code from a wrong one without asking the service, which slows everybody down when somebody guesses. The
/// code itself cannot be read from it, and it stands only inside a sealed entry.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct CodeCheck {
    salt: [u8; 16],
    /// Of the normal form, where there is a spelling or the service knows just that.
    hash: [u8; 32],
    /// How the service has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spelling: Option<Spelling>,
}

impl CodeCheck {
    /// `salt` comes from the system's random source, `code` is as the service has it.
    pub(in crate::gateway) fn new(salt: [u8; 16], code: &Secret) -> Self {
        let spelled = Spelling::of(code.expose()).filter(|(normal, _)| !code.matches(normal));
        let (hash, spelling) = match spelled {
            Some((normal, spelling)) => (keyed(&salt, normal.as_bytes()), Some(spelling)),
            None => (keyed(&salt, code.expose().as_bytes()), None),
        };
        Self { salt, hash, spelling }
    }

    /// The code as the service has it, where `reading` is it. To find out takes the same time for every reading of a length.
    pub(in crate::gateway) fn opened_by(&self, reading: &Secret) -> Option<Secret> {
        let fits = same(&keyed(&self.salt, reading.expose().as_bytes()), &self.hash);
        fits.then(|| self.spelling.as_ref().map_or_else(|| reading.clone(), |spelling| spelling.spell(reading)))
    }
}

impl std::fmt::Debug for CodeCheck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("CodeCheck")
    }
}

/// An entry of the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own, in a record that is at rest like this")]
pub(in crate::gateway) struct Entry {
    /// A capability where there is no code: never shown but to the maker.
    pub(in crate::gateway) id: ShareId,
    pub(in crate::gateway) task: TaskId,
    pub(in crate::gateway) project: Hostile,
    pub(in crate::gateway) kind: ShareType,
    /// The findings of a share of findings.
    pub(in crate::gateway) findings: Vec<VulId>,
    pub(in crate::gateway) maker: Maker,
    pub(in crate::gateway) made: Timestamp,
    /// None: no end (only shares that were made through the API).
    pub(in crate::gateway) ends: Option<Timestamp>,
    pub(in crate::gateway) needs_code: bool,
    /// That of its code as the service knows it. None: not known here, so the service is asked.
    #[serde(default)]
    pub(in crate::gateway) check: Option<CodeCheck>,
    /// Opens at most this often.
    pub(in crate::gateway) most_views: Option<u32>,
    pub(in crate::gateway) views: u32,
    pub(in crate::gateway) last_opened: Option<Timestamp>,
    /// Evidence and proof-of-concept text stay hidden.
    pub(in crate::gateway) hides_evidence: bool,
    /// For the recipient.
    pub(in crate::gateway) note: Hostile,
    /// BCP 47.
    pub(in crate::gateway) language: String,
    /// Rises with every new code and with the end: what was granted before is void. A grant
    /// asks for the end of the share besides, so another end needs no other version.
    pub(in crate::gateway) version: u64,
    /// When it was ended by hand, and by whom.
    pub(in crate::gateway) ended: Option<(Timestamp, Hostile)>,
    /// Its code was guessed at too often and opens nothing until there is a new one.
    pub(in crate::gateway) code_dead: bool,
    /// Codes it had before the one it has: wrong codes are counted by it, so nothing but a new code begins these counts anew.
    #[serde(default)]
    pub(in crate::gateway) codes: u64,
    /// It was ended here, and the service was not told yet.
    #[serde(default)]
    pub(in crate::gateway) untold: bool,
    /// Findings it was of, once their list is dropped.
    #[serde(default)]
    pub(in crate::gateway) dropped: u32,
    /// Days it stays in the list when it is over.
    pub(in crate::gateway) kept_days: u32,
}

/// The longest that an opened share may stay open for its recipient, by any policy: so long after its last view nobody is inside
/// of a share whose views are spent.
pub(in crate::gateway) const LONGEST_VISIT: Duration = Duration::from_hours(24);

/// Whether a share opens now. Lock-outs are beside this: they pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum State {
    Open,
    /// The code was guessed at too often.
    CodeDead,
    UsedUp,
    Expired,
    Ended,
}

impl State {
    /// Why a share in this state cannot be changed any more, for whoever wants to.
    pub(in crate::gateway) const fn why_final(self) -> Option<&'static str> {
        match self {
            Self::Open | Self::CodeDead => None,
            Self::UsedUp => Some("All views of this share are spent. Make a new share instead."),
            Self::Expired | Self::Ended => Some("This share is over. Make a new one instead."),
        }
    }
}

impl Entry {
    /// A new share of everything, without a code, an end, a limit of views, or words for recipients; whoever makes it says what is
    /// otherwise.
    pub(in crate::gateway) fn new(
        id: ShareId,
        task: TaskId,
        kind: ShareType,
        maker: Maker,
        made: Timestamp,
        kept_days: u32,
    ) -> Self {
        Self {
            id,
            task,
            project: Hostile::default(),
            kind,
            findings: Vec::new(),
            maker,
            made,
            ends: None,
            needs_code: false,
            check: None,
            most_views: None,
            views: 0,
            last_opened: None,
            hides_evidence: false,
            note: Hostile::default(),
            language: "en".to_owned(),
            version: 1,
            ended: None,
            code_dead: false,
            codes: 0,
            untold: false,
            dropped: 0,
            kept_days,
        }
    }

    pub(in crate::gateway) fn state(&self, now: Timestamp) -> State {
        if self.ended.is_some() {
            State::Ended
        } else if self.ends.is_some_and(|ends| ends <= now) {
            State::Expired
        } else if self.most_views.is_some_and(|most| self.views >= most) {
            State::UsedUp
        } else if self.code_dead {
            State::CodeDead
        } else {
            State::Open
        }
    }

    /// Another code from now on: what was granted before is void, and wrong codes are counted anew.
    pub(in crate::gateway) fn renew_code(&mut self, check: CodeCheck) {
        self.needs_code = true;
        self.check = Some(check);
        self.code_dead = false;
        self.codes += 1;
        self.version += 1;
    }

    /// No code from now on: the link alone opens it.
    pub(in crate::gateway) fn remove_code(&mut self) {
        self.needs_code = false;
        self.check = None;
        self.code_dead = false;
        self.codes += 1;
        self.version += 1;
    }

    /// Ends it for good. False when somebody did before.
    pub(in crate::gateway) fn end(&mut self, now: Timestamp, by: &Hostile) -> bool {
        if self.ended.is_some() {
            return false;
        }
        self.ended = Some((now, by.clone()));
        self.untold = true;
        self.version += 1;
        self.drop_content();
        true
    }

    /// What recipients were told and shown goes; what stays tells that there was a share, of what kind, who made it, who came and
    /// how it ended. False when there was nothing to drop.
    pub(in crate::gateway) fn drop_content(&mut self) -> bool {
        if self.note.is_empty() && self.findings.is_empty() {
            return false;
        }
        self.dropped = self.dropped.max(u32::try_from(self.findings.len()).unwrap_or(u32::MAX));
        self.findings.clear();
        self.note = Hostile::default();
        true
    }

    /// Whether nobody is inside any more, nor ever can be again: it was ended, its time is over, or its views are spent and the
    /// last of them is over by any policy.
    pub(in crate::gateway) fn is_over(&self, now: Timestamp) -> bool {
        match self.state(now) {
            State::Ended | State::Expired => true,
            State::UsedUp => self.last_opened.is_none_or(|at| now.since(at) > LONGEST_VISIT),
            State::Open | State::CodeDead => false,
        }
    }

    /// Findings it is of; none for a share of everything.
    pub(in crate::gateway) fn finding_count(&self) -> u64 {
        (self.findings.len() as u64).max(u64::from(self.dropped))
    }

    /// Views that are left; none when there is no limit.
    pub(in crate::gateway) fn left(&self) -> Option<u32> {
        self.most_views.map(|most| most.saturating_sub(self.views))
    }

    /// When it is over at the latest. A share without an end is looked at as one of ten years.
    pub(in crate::gateway) fn over_at(&self) -> Timestamp {
        let never = Timestamp(self.made.0.saturating_add(10 * 366 * 24 * 3_600_000));
        let ended = self.ended.as_ref().map(|(at, _)| *at);
        ended.or(self.ends).unwrap_or(never)
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::gateway) enum Outcome {
    Opened,
    WrongCode,
    /// The code was right, but the share is over, its views are spent, or too many wrong ones were tried.
    TooLate,
    /// Wrong codes closed the door for everybody.
    Locked,
    /// A wrong code, after which its network waits. The number is that of [`Entry::codes`]: with a new code nobody waits.
    NetworkWaits {
        until: Timestamp,
        codes: u64,
    },
    /// While its network waits, so nobody looked at what was typed.
    TurnedAway,
    /// The company's policy allows no share without a code, and this one has none.
    ByPolicy,
    CodeDead,
    Report,
    Left,
}

/// One access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Access {
    pub(in crate::gateway) at: Timestamp,
    pub(in crate::gateway) outcome: Outcome,
    /// /24 or /48.
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) device: Device,
}
