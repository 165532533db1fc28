//! The severity chart: bars drawn on the server with presentation attributes only, and the table that says the same.

use super::pager::grouped;
use crate::contract::results::Severity;
use crate::gateway::domain::task::Counts;

/// Width of the longest bar, and where bars begin.
const LONGEST: u64 = 150;
const LEFT: u64 = 72;
const ROW: u64 = 34;

/// What `partials/severity_chart.html` shows.
pub(in crate::gateway) struct Chart {
    pub(in crate::gateway) bars: Vec<Bar>,
    /// The same in one sentence.
    pub(in crate::gateway) words: String,
    pub(in crate::gateway) left: u64,
    pub(in crate::gateway) longest: u64,
}

/// One severity.
pub(in crate::gateway) struct Bar {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: &'static str,
    pub(in crate::gateway) count: String,
    /// The filtered list with just these findings; empty when there is none to show.
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) y: u64,
    /// Baseline of the words.
    pub(in crate::gateway) text_y: u64,
    pub(in crate::gateway) width: u64,
    /// Where the number stands.
    pub(in crate::gateway) number_x: u64,
}

impl Chart {
    /// `address` gives the list of one severity.
    pub(in crate::gateway) fn new(counts: &Counts, address: impl Fn(Severity) -> String) -> Self {
        let of = |severity: Severity| match severity {
            Severity::Critical => (counts.critical, "Critical"),
            Severity::High => (counts.high, "High"),
            Severity::Medium => (counts.medium, "Medium"),
            Severity::Low => (counts.low, "Low"),
        };
        let most = Severity::ALL.into_iter().map(|severity| of(severity).0).max().unwrap_or(0).max(1);
        let bars = Severity::ALL.into_iter().zip(0_u64..).map(|(severity, at)| {
            let (count, word) = of(severity);
            let width = width(count, most);
            let y = at * ROW + 4;
            Bar {
                kind: severity.as_str(),
                word,
                count: grouped(count),
                href: if count > 0 { address(severity) } else { String::new() },
                y,
                text_y: y + 17,
                width,
                number_x: LEFT + width + 8,
            }
        });
        let bars: Vec<Bar> = bars.collect();
        let parts: Vec<String> = bars.iter().map(|bar| format!("{} {}", bar.count, bar.word.to_lowercase())).collect();
        Self { words: format!("Findings by severity: {}.", parts.join(", ")), bars, left: LEFT, longest: LONGEST }
    }
}

/// In proportion to the most, and never invisible when there is something.
fn width(count: u64, most: u64) -> u64 {
    let exact = u128::from(count) * u128::from(LONGEST) / u128::from(most.max(1));
    u64::try_from(exact).unwrap_or(LONGEST).max(if count > 0 { 3 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_something_is_never_nothing() {
        let counts = Counts { total: 1003, critical: 1, high: 1000, medium: 2, low: 0, cleared: 7 };
        let chart = Chart::new(&counts, |severity| format!("?severity={}", severity.as_str()));
        let widths: Vec<u64> = chart.bars.iter().map(|bar| bar.width).collect();
        assert_eq!(widths, [3, 150, 3, 0]);
        assert_eq!(chart.words, "Findings by severity: 1 critical, 1,000 high, 2 medium, 0 low.");
        assert_eq!(chart.bars[1].href, "?severity=high");
        assert_eq!(chart.bars[3].href, "");
    }

    #[test]
    fn counts_without_bounds_draw_within_the_picture() {
        let counts = Counts { total: u64::MAX, critical: u64::MAX, high: 0, medium: 0, low: u64::MAX, cleared: 0 };
        let chart = Chart::new(&counts, |_| String::new());
        assert!(chart.bars.iter().all(|bar| bar.width <= LONGEST));
        let none = Chart::new(&Counts::default(), |_| String::new());
        assert!(none.bars.iter().all(|bar| bar.width == 0));
    }
}
