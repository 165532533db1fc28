//! Reads the settings of shares.

use crate::config::gateway::Shares;
use crate::config::section::Section;

pub(super) fn read(section: &mut Section<'_>) -> Shares {
    let shares = Shares {
        without_code: section.flag("without_code"),
        usual_days: section.number("usual_days", 1..=366),
        most_days: section.number("most_days", 1..=366),
        most_views: section.number("most_views", 0..=100_000),
        evidence: section.flag("evidence"),
        grant_minutes: section.number("grant_minutes", 1..=1440),
        wrong_by_network: section.number("wrong_by_network", 1..=1000),
        network_minutes: section.number("network_minutes", 1..=10_080),
        wrong_anywhere: section.number("wrong_anywhere", 1..=100_000),
        anywhere_minutes: section.number("anywhere_minutes", 1..=10_080),
        locked_minutes: section.number("locked_minutes", 1..=10_080),
        wrong_in_life: section.number("wrong_in_life", 1..=1_000_000),
        pdf_bytes: section.number("pdf_bytes", 1024..=1_073_741_824),
        pdfs_at_once: section.number("pdfs_at_once", 1..=1000),
        pdf_wait_seconds: section.number("pdf_wait_seconds", 0..=300),
        wrong_over_all: section.number("wrong_over_all", 1..=1_000_000),
        over_all_minutes: section.number("over_all_minutes", 1..=10_080),
        turn_ms: section.number("turn_ms", 0..=60_000),
        kept_days: section.number("kept_days", 0..=3660),
        sweep_minutes: section.number("sweep_minutes", 1..=10_080),
        findings: section.number("findings", 1..=500),
        views: section.number("views", 1..=100_000),
        note_characters: section.number("note_characters", 0..=4000),
        ended_at_once: section.number("ended_at_once", 1..=500),
    };
    if shares.usual_days > shares.most_days {
        section.problem("usual_days", "is more than most_days", "a share may not usually live longer than it may at most");
    }
    shares
}
