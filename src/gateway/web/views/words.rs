//! How values read on pages: times, sizes, states, severities. One wording for all pages.

use std::time::Duration;

use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::contract::results;
use crate::gateway::domain::finding::{Reachability, Severity};
use crate::gateway::domain::finding_filter::Reached;
use crate::gateway::domain::task::Status;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

const DAY_AND_TIME: &[BorrowedFormatItem<'_>] =
    format_description!("[day padding:none] [month repr:short] [year], [hour]:[minute] UTC");

/// A point in time for people and for programs.
#[derive(Clone, Debug, Default)]
pub(in crate::gateway) struct When {
    /// `28 Nov 2026, 01:10 UTC`; a dash when unknown.
    pub(in crate::gateway) words: String,
    /// RFC 3339; empty when unknown.
    pub(in crate::gateway) machine: String,
}

impl When {
    pub(in crate::gateway) fn of(at: Option<Timestamp>) -> Self {
        at.map_or_else(
            || Self { words: "–".to_owned(), machine: String::new() },
            |at| Self { words: at.utc().format(DAY_AND_TIME).unwrap_or_default(), machine: at.rfc3339() },
        )
    }
}

/// A state as a badge: CSS class and word.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Badge {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: String,
}

impl Badge {
    pub(in crate::gateway) fn of(status: &Status) -> Self {
        let (kind, word) = match status {
            Status::Created => ("created", "Waiting".to_owned()),
            Status::Running => ("running", "Running".to_owned()),
            Status::Done => ("done", "Finished".to_owned()),
            Status::Failed => ("failed", "Failed".to_owned()),
            Status::Terminated => ("terminated", "Stopped".to_owned()),
            Status::Other(word) => ("other", word.short(30)),
        };
        Self { kind, word }
    }
}

/// A severity: CSS class and word.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct SeverityView {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: String,
}

impl SeverityView {
    pub(in crate::gateway) fn of(severity: &Severity) -> Self {
        let (kind, word) = match severity {
            Severity::Known(results::Severity::Critical) => ("critical", "Critical".to_owned()),
            Severity::Known(results::Severity::High) => ("high", "High".to_owned()),
            Severity::Known(results::Severity::Medium) => ("medium", "Medium".to_owned()),
            Severity::Known(results::Severity::Low) => ("low", "Low".to_owned()),
            Severity::Other(word) => ("unknown", word.short(30)),
        };
        Self { kind, word }
    }
}

/// How well vulnerable code is reached: CSS class, word, and what the word means.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct ReachView {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: String,
    pub(in crate::gateway) meaning: &'static str,
}

impl ReachView {
    pub(in crate::gateway) fn of(reachability: &Reachability) -> Self {
        let (kind, word, meaning) = match reachability {
            Reachability::Known(known) => {
                let (kind, meaning) = match known {
                    results::Reachability::Reachable => (
                        "reachable",
                        "A path of calls leads from an entry point of the artifact to the vulnerable code. It was read from the \
bytecode; nothing was executed.",
                    ),
                    results::Reachability::PresentNoPath => (
                        "no-path",
                        "The vulnerable code is in the artifact, and no path of calls to it was seen. There may be one all the same: \
calls made by reflection or by configuration cannot be seen.",
                    ),
                    results::Reachability::Unknown => (
                        "unknown",
                        "Nothing can be said: classes are loaded while the program runs, could not be read, or a limit of the \
analysis was reached. Treat it as reachable.",
                    ),
                    results::Reachability::NotPresent => (
                        "cleared",
                        "The class that makes this version vulnerable is not in the artifact. The finding is cleared: it is listed \
last and counted apart.",
                    ),
                };
                (kind, Reached(*known).word().to_owned(), meaning)
            }
            Reachability::Other(word) => ("other", word.short(40), "This portal does not know this word of the service."),
        };
        Self { kind, word, meaning }
    }
}

/// `about 3 minutes ago`, in the largest unit.
pub(in crate::gateway) fn ago(at: Timestamp, now: Timestamp) -> String {
    let minutes = now.since(at).as_secs() / 60;
    match minutes {
        0 => "less than a minute ago".to_owned(),
        1..=59 => format!("about {} ago", count(minutes, "minute", "minutes")),
        60..=2879 => format!("about {} ago", count(minutes / 60, "hour", "hours")),
        _ => format!("about {} ago", count(minutes / 1440, "day", "days")),
    }
}

/// `5 days`, `23 hours and 59 minutes`: what is left of a time, in words that count down.
pub(in crate::gateway) fn left(time: Duration) -> String {
    let minutes = time.as_secs().div_ceil(60);
    let two = |(many, one): (String, u64), word: (&str, &str)| {
        if one == 0 { many } else { format!("{many} and {}", count(one, word.0, word.1)) }
    };
    match minutes {
        0..=59 => count(minutes, "minute", "minutes"),
        60..=1439 => two((count(minutes / 60, "hour", "hours"), minutes % 60), ("minute", "minutes")),
        1440..=4319 => two((count(minutes / 1440, "day", "days"), minutes % 1440 / 60), ("hour", "hours")),
        _ => count(minutes / 1440, "day", "days"),
    }
}

/// `1 finding`, `7 findings`.
pub(in crate::gateway) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// An address for eyes: without its query and fragment, which may hold secrets, and with a word where there is one.
pub(in crate::gateway) fn address(address: &str, limit: usize) -> String {
    let (shown, is_cut) = bare_address(address, limit);
    if is_cut { format!("{shown} (with a query that is not shown)") } else { shown }
}

/// The same in two parts: the address, and whether it has more than is shown.
pub(in crate::gateway) fn bare_address(address: &str, limit: usize) -> (String, bool) {
    let bare = address.split(['?', '#']).next().unwrap_or_default();
    (Hostile::from(bare).short(limit), bare.len() < address.len())
}

/// A name in pieces between which a line may break: after colons and slashes.
pub(in crate::gateway) fn breakable(name: &str) -> Vec<String> {
    name.split_inclusive([':', '/']).map(str::to_owned).collect()
}

/// `512 bytes`, `1.4 MB`; decimal units.
pub(in crate::gateway) fn bytes(number: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    units.into_iter().find(|(_, size)| number >= *size).map_or_else(
        || count(number, "byte", "bytes"),
        |(unit, size)| {
            let tenths = number.saturating_mul(10) / size;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_name_their_zone_and_sizes_their_unit() {
        assert_eq!(When::of(Some(Timestamp(1_795_828_230_250))).words, "28 Nov 2026, 01:10 UTC");
        assert_eq!(When::of(None).words, "–");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_450_000), "1.4 MB");
        assert_eq!(count(1, "finding", "findings"), "1 finding");
    }

    #[test]
    fn what_was_is_told_roughly_and_what_is_left_to_the_minute() {
        let at = |seconds: i64| ago(Timestamp(0), Timestamp(seconds * 1000));
        assert_eq!(
            (at(59), at(60), at(200)),
            ("less than a minute ago".into(), "about 1 minute ago".into(), "about 3 minutes ago".into())
        );
        assert_eq!(
            (at(3600), at(47 * 3600), at(72 * 3600)),
            ("about 1 hour ago".into(), "about 47 hours ago".into(), "about 3 days ago".into())
        );
        assert_eq!(ago(Timestamp(5000), Timestamp(0)), "less than a minute ago", "clocks differ");
        let left = |minutes: u64| left(Duration::from_mins(minutes));
        assert_eq!((left(1), left(60), left(1439)), ("1 minute".into(), "1 hour".into(), "23 hours and 59 minutes".into()));
        assert_eq!((left(1440), left(1501), left(10_080)), ("1 day".into(), "1 day and 1 hour".into(), "7 days".into()));
    }

    #[test]
    fn an_address_is_shown_without_what_may_be_secret_in_it() {
        assert_eq!(address("https://a.example/app", 40), "https://a.example/app");
        for secret in ["?token=s3cr3t", "#s3cr3t", "?a=1#s3cr3t"] {
            let shown = address(&format!("https://a.example/app{secret}"), 40);
            assert_eq!(shown, "https://a.example/app (with a query that is not shown)");
        }
    }
}
