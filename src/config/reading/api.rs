//! Reads how fast callers may be: of API calls, and on a connection.

use crate::config::gateway::{Api, Breaker, Connection, Gate, Rate, Retry};
use crate::config::section::Section;

pub(super) fn read(section: &mut Section<'_>) -> Api {
    Api {
        rate: section.table("rate", rate),
        breaker: section.table("breaker", breaker),
        gate: section.table("gate", gate),
        retry: section.table("retry", retry),
    }
}

fn rate(section: &mut Section<'_>) -> Rate {
    Rate {
        window_seconds: section.number("window_seconds", 1..=3600),
        per_tenant: section.number("per_tenant", 0..=1_000_000_000),
        per_caller: section.number("per_caller", 0..=1_000_000_000),
        per_network: section.number("per_network", 0..=1_000_000_000),
        share_ms: section.number("share_ms", 10..=60_000),
        tracked: section.number("tracked", 1..=10_000_000),
    }
}

fn breaker(section: &mut Section<'_>) -> Breaker {
    let breaker = Breaker {
        failures: section.number("failures", 1..=1_000_000),
        failed_percent: section.number("failed_percent", 1..=100),
        window_seconds: section.number("window_seconds", 1..=600),
        least_calls: section.number("least_calls", 1..=1_000_000),
        open_ms: section.number("open_ms", 1..=3_600_000),
        open_most_ms: section.number("open_most_ms", 1..=3_600_000),
    };
    if breaker.open_most_ms < breaker.open_ms {
        section.problem("open_most_ms", "is shorter than open_ms", "it is what open_ms grows to while a service stays away");
    }
    breaker
}

fn gate(section: &mut Section<'_>) -> Gate {
    Gate {
        at_once: section.number("at_once", 1..=100_000),
        at_once_per_caller: section.number("at_once_per_caller", 1..=100_000),
        strangers_at_once: section.number("strangers_at_once", 1..=100_000),
        waiting: section.number("waiting", 0..=100_000),
        wait_ms: section.number("wait_ms", 0..=60_000),
        proven_seconds: section.number("proven_seconds", 1..=86_400),
    }
}

fn retry(section: &mut Section<'_>) -> Retry {
    Retry {
        percent: section.number("percent", 0..=100),
        least: section.number("least", 0..=1_000_000),
        window_seconds: section.number("window_seconds", 1..=600),
        // Whoever is told to send an upload again does so within this time.
        refused_key_seconds: section.number("refused_key_seconds", 5..=3600),
    }
}

pub(super) fn connection(section: &mut Section<'_>) -> Connection {
    Connection {
        keep_alive_seconds: section.number("keep_alive_seconds", 1..=3600),
        head_seconds: section.number("head_seconds", 1..=600),
        // The HTTP library itself reads at most 128 KiB and 96 headers.
        uri_bytes: section.number("uri_bytes", 64..=65_536),
        head_bytes: section.number("head_bytes", 512..=131_072),
        head_fields: section.number("head_fields", 8..=96),
        stall_seconds: section.number("stall_seconds", 1..=3600),
        stall_bytes: section.number("stall_bytes", 1..=16_777_216),
    }
}
