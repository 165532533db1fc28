//! What to upgrade, and what that clears. Pure: made of the components and the findings of a task.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::component::ComponentRow;
use super::finding::{FindingRow, Reachability};
use crate::contract::results;
use crate::platform::hostile::Hostile;

/// One component to change, in all its places.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::gateway) struct Upgrade {
    /// The first of its places.
    pub(in crate::gateway) row: ComponentRow,
    /// All of its places.
    pub(in crate::gateway) places: Vec<Hostile>,
    /// None: none of its findings has a fix.
    pub(in crate::gateway) target: Option<Hostile>,
    /// Open findings that are gone with the target.
    pub(in crate::gateway) clears: u64,
    /// All open findings.
    pub(in crate::gateway) of: u64,
    /// Open findings no version is known to fix.
    pub(in crate::gateway) without_fix: Vec<FindingRow>,
}

/// The plan of all `rows`: one entry for each vulnerable component and version, what clears most first.
pub(in crate::gateway) fn plan(rows: Vec<ComponentRow>, findings: &[FindingRow]) -> Vec<Upgrade> {
    let known: HashMap<&str, &FindingRow> = findings.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut all: Vec<Upgrade> = Vec::new();
    let mut at: HashMap<(String, String, String), usize> = HashMap::new();
    for row in rows.into_iter().filter(ComponentRow::is_vulnerable) {
        let key = (row.ecosystem.raw().to_lowercase(), row.part.name.raw().to_owned(), row.part.version.raw().to_owned());
        let one = of(row, &known);
        if let Some(same) = at.get(&key).and_then(|at| all.get_mut(*at)) {
            same.join(one);
        } else {
            at.insert(key, all.len());
            all.push(one);
        }
    }
    all.sort_by_cached_key(|one| (std::cmp::Reverse((one.clears, one.of)), one.row.rank()));
    all
}

/// What upgrading one component in one place does.
pub(in crate::gateway) fn one(row: ComponentRow, findings: &[FindingRow]) -> Upgrade {
    of(row, &findings.iter().map(|row| (row.id.as_str(), row)).collect())
}

fn of(row: ComponentRow, known: &HashMap<&str, &FindingRow>) -> Upgrade {
    let open: Vec<&FindingRow> =
        row.findings.iter().filter_map(|id| known.get(id.as_str()).copied()).filter(|finding| !finding.is_cleared()).collect();
    let of = row.counts.total;
    let places = vec![row.part.path.clone()];
    if let Some(target) = row.upgrade_to.clone() {
        return Upgrade { row, places, target: Some(target), clears: of, of, without_fix: Vec::new() };
    }
    let fixes: Vec<&Hostile> = open.iter().filter_map(|finding| finding.fixed_version.as_ref()).collect();
    let target = fixes.iter().copied().max_by(|left, right| order(left.raw(), right.raw())).cloned();
    let without_fix = open.iter().filter(|finding| finding.fixed_version.is_none()).map(|finding| (*finding).clone()).collect();
    let clears = (fixes.len() as u64).min(of);
    Upgrade { row, places, target, clears, of, without_fix }
}

impl Upgrade {
    /// Adds the same component in another place.
    fn join(&mut self, other: Self) {
        self.places.extend(other.places);
        self.clears = self.clears.saturating_add(other.clears);
        self.of = self.of.saturating_add(other.of);
        self.row.counts = self.row.counts.plus(&other.row.counts);
        if strength(other.row.reachability.as_ref()) < strength(self.row.reachability.as_ref()) {
            self.row.reachability = other.row.reachability;
        }
        for finding in other.without_fix {
            if !self.without_fix.iter().any(|known| known.id == finding.id) {
                self.without_fix.push(finding);
            }
        }
        let higher = |other: &Hostile| self.target.as_ref().is_none_or(|own| order(other.raw(), own.raw()).is_gt());
        if other.target.as_ref().is_some_and(higher) {
            self.target = other.target;
        }
    }
}

/// 0 is the strongest; a word that is not known and nothing come last.
const fn strength(reachability: Option<&Reachability>) -> u8 {
    match reachability {
        Some(Reachability::Known(results::Reachability::Reachable)) => 0,
        Some(Reachability::Known(results::Reachability::PresentNoPath)) => 1,
        Some(Reachability::Known(results::Reachability::Unknown)) => 2,
        Some(Reachability::Known(results::Reachability::NotPresent)) => 3,
        Some(Reachability::Other(_)) => 4,
        None => 5,
    }
}

/// Which of two versions is the later one, as far as most ecosystems agree: numbers by value, a word after a number before
/// the same without it (`1.0-rc1` before `1.0`), all else by the alphabet. Only chooses among versions the service named.
fn order(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (pieces(left).into_iter(), pieces(right).into_iter());
    loop {
        let (one, two) = (left.next(), right.next());
        if one.is_none() && two.is_none() {
            return Ordering::Equal;
        }
        let order = one.unwrap_or(Piece::End).cmp(&two.unwrap_or(Piece::End));
        if order.is_ne() {
            return order;
        }
    }
}

/// In ascending order: a word, the end, a number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Word(String),
    End,
    /// Length without leading zeros, then the digits: of any size.
    Number(usize, String),
}

fn pieces(version: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = version.trim().trim_start_matches(['v', 'V']);
    while let Some(first) = rest.chars().next() {
        let kind = |c: char| (c.is_ascii_digit(), c.is_alphanumeric());
        let end = rest.find(|c| kind(c) != kind(first)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        if first.is_ascii_digit() {
            let digits = piece.trim_start_matches('0');
            out.push(Piece::Number(digits.len(), digits.to_owned()));
        } else if first.is_alphanumeric() {
            let word = piece.to_lowercase();
            // A release said in words is no pre-release.
            if !matches!(word.as_str(), "final" | "ga" | "release") {
                without_zeros(&mut out);
                out.push(Piece::Word(word));
            }
        }
    }
    without_zeros(&mut out);
    out
}

/// `1.0.0` is `1`, at the end and before a word.
fn without_zeros(pieces: &mut Vec<Piece>) {
    while matches!(pieces.last(), Some(Piece::Number(0, _))) {
        pieces.pop();
    }
}

#[cfg(test)]
#[path = "upgrade_tests.rs"]
mod tests;
