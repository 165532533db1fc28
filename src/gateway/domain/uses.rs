//! How often something was used, day by day.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::platform::clock::Timestamp;

/// How often something was used, and when last; both about, because it is written down now and then only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Uses {
    pub(in crate::gateway) last: Option<Timestamp>,
    /// By day, counted from 1970-01-01 UTC.
    pub(in crate::gateway) by_day: BTreeMap<i64, u64>,
}

/// Who used a key in the last seven days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Origins {
    /// The most frequent first.
    pub(in crate::gateway) all: Vec<Origin>,
    /// Calls beyond those that are told apart.
    pub(in crate::gateway) others: u64,
}

/// For whom a server key is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum KeyUser<'a> {
    /// A program, by the id of its API key.
    ApiKey(&'a str),
    /// People who open shares.
    Recipients,
    /// Whoever calls what everybody may call.
    Anybody,
    /// An administrator who tests the key.
    Test,
}

impl<'a> KeyUser<'a> {
    /// One word.
    pub(in crate::gateway) fn written(self) -> String {
        match self {
            Self::ApiKey(id) => format!("api-key:{id}"),
            Self::Recipients => "recipients".to_owned(),
            Self::Anybody => "anybody".to_owned(),
            Self::Test => "test".to_owned(),
        }
    }

    /// From that word.
    pub(in crate::gateway) fn read(word: &'a str) -> Self {
        match word {
            "recipients" => Self::Recipients,
            "test" => Self::Test,
            _ => word.strip_prefix("api-key:").map_or(Self::Anybody, Self::ApiKey),
        }
    }
}

/// Calls of one operation from one network, or with a server key for one user of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Origin {
    /// As in the route table.
    pub(in crate::gateway) operation: String,
    /// IPv4 /24, IPv6 /48; of a server key what [`KeyUser`] writes.
    pub(in crate::gateway) network: String,
    pub(in crate::gateway) count: u64,
}

impl Uses {
    /// The day something happened on.
    pub(in crate::gateway) const fn day(at: Timestamp) -> i64 {
        at.seconds().div_euclid(86_400)
    }

    /// One more, now.
    pub(in crate::gateway) fn note(&mut self, now: Timestamp) {
        self.last = self.last.max(Some(now));
        *self.by_day.entry(Self::day(now)).or_default() += 1;
    }

    /// Takes in what was counted elsewhere.
    pub(in crate::gateway) fn merge(&mut self, other: &Self) {
        self.last = self.last.max(other.last);
        for (day, count) in &other.by_day {
            *self.by_day.entry(*day).or_default() += count;
        }
    }

    pub(in crate::gateway) fn total(&self) -> u64 {
        self.by_day.values().sum()
    }
}
