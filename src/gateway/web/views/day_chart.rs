//! Uses by day: bars drawn on the server with presentation attributes only, and the table that says the same.

use super::pager::grouped;
use super::words::{When, count};
use crate::gateway::domain::uses::Uses;
use crate::platform::clock::Timestamp;

/// The picture, in its own units: what all bars together are wide, how high the highest is, and where they stand.
const WIDTH: u64 = 600;
const HEIGHT: u64 = 90;
const TOP: u64 = 20;
const DAY_MS: i64 = 86_400_000;

/// What `partials/day_chart.html` shows.
pub(in crate::gateway) struct DayChart {
    pub(super) bars: Vec<Bar>,
    /// Days with at least one use, newest first.
    pub(super) rows: Vec<Row>,
    /// The same in one sentence.
    pub(super) words: String,
    /// The most on one day.
    pub(super) most: String,
    pub(super) first: String,
    pub(super) last: String,
    pub(super) base_y: u64,
    pub(super) text_y: u64,
}

pub(super) struct Bar {
    pub(super) x: u64,
    pub(super) y: u64,
    pub(super) width: u64,
    pub(super) height: u64,
}

pub(super) struct Row {
    /// `2026-11-28`.
    pub(super) day: String,
    pub(super) count: String,
}

impl DayChart {
    /// The last `days` days up to the day of `now`, in UTC.
    pub(in crate::gateway) fn new(uses: &Uses, days: u32, now: Timestamp) -> Self {
        let today = Uses::day(now);
        let first = today - i64::from(days.max(1)) + 1;
        let shown = || (first..=today).map(|day| (day, uses.by_day.get(&day).copied().unwrap_or(0)));
        let most = shown().map(|(_, count)| count).max().unwrap_or(0);
        let step = WIDTH / u64::from(days.max(1));
        let bars = shown().zip(0_u64..).filter(|((_, count), _)| *count > 0).map(|((_, count), at)| {
            let height = height(count, most);
            // A gap of a fifth, and never narrower than one can see.
            Bar { x: at * step, y: TOP + HEIGHT - height, width: (step * 4 / 5).max(1), height }
        });
        let mut rows: Vec<Row> =
            shown().filter(|(_, count)| *count > 0).map(|(day, count)| Row { day: day_of(day), count: grouped(count) }).collect();
        rows.reverse();
        let total: u64 = shown().fold(0, |sum, (_, count)| sum.saturating_add(count));
        Self {
            bars: bars.collect(),
            words: format!(
                "{} in {}, on {}.",
                count(total, "call", "calls"),
                count(u64::from(days), "day", "days"),
                count(rows.len() as u64, "day", "different days"),
            ),
            rows,
            most: grouped(most),
            first: day_of(first),
            last: day_of(today),
            base_y: TOP + HEIGHT,
            text_y: TOP + HEIGHT + 20,
        }
    }
}

fn day_of(day: i64) -> String {
    let machine = When::of(Some(Timestamp(day.saturating_mul(DAY_MS)))).machine;
    machine.split('T').next().unwrap_or_default().to_owned()
}

/// In proportion to the most, and never invisible when there is something.
fn height(count: u64, most: u64) -> u64 {
    let exact = u128::from(count) * u128::from(HEIGHT) / u128::from(most.max(1));
    u64::try_from(exact).unwrap_or(HEIGHT).max(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_has_its_bar_and_its_row_and_older_days_have_none() {
        let now = Timestamp(1_795_828_230_250);
        let today = Uses::day(now);
        let by_day = [(today, 1), (today - 3, 1000), (today - 29, 7), (today - 30, 5)].into_iter().collect();
        let chart = DayChart::new(&Uses { last: None, by_day }, 30, now);
        assert_eq!(chart.bars.iter().map(|bar| (bar.x, bar.height)).collect::<Vec<_>>(), [(0, 3), (520, 90), (580, 3)]);
        let rows: Vec<_> = chart.rows.iter().map(|row| (row.day.as_str(), row.count.as_str())).collect();
        assert_eq!(rows, [("2026-11-28", "1"), ("2026-11-25", "1,000"), ("2026-10-30", "7")]);
        assert_eq!(chart.words, "1008 calls in 30 days, on 3 different days.");
    }

    #[test]
    fn any_number_of_days_and_uses_stays_inside_the_picture() {
        let now = Timestamp(1_795_828_230_250);
        for days in [0, 1, 30, 366] {
            let by_day = (0..400).map(|back| (Uses::day(now) - back, u64::MAX)).collect();
            let chart = DayChart::new(&Uses { last: None, by_day }, days, now);
            assert!(chart.bars.iter().all(|bar| bar.x + bar.width <= WIDTH && bar.height <= HEIGHT && bar.width > 0), "{days}");
        }
        assert!(DayChart::new(&Uses::default(), 30, now).rows.is_empty());
    }
}
