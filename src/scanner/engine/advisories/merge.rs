//! Joins advisories of all sources, so that a flaw counts once whatever it is called. Only the rules of joining.

use std::collections::HashMap;

use super::model::{Advisory, Affected, Source, sort_ids};

/// Advisories that share no name with each other.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// A hole stays where an advisory was joined into another.
    list: Vec<Option<Advisory>>,
    by_id: HashMap<String, usize>,
}

impl Collection {
    /// Takes an advisory in: joined with those that share a name, instead of what the same record said before.
    pub(super) fn add(&mut self, advisory: Advisory) {
        let mut known: Vec<usize> = advisory.ids.iter().filter_map(|id| self.by_id.get(id).copied()).collect();
        known.sort_unstable();
        known.dedup();
        let mut joined = known.iter().filter_map(|at| self.list.get_mut(*at).and_then(Option::take)).reduce(join_known);
        joined = Some(match joined {
            Some(there) => absorb(there, advisory),
            None => advisory,
        });
        let at = known.first().copied().unwrap_or(self.list.len());
        for id in joined.iter().flat_map(|advisory| &advisory.ids) {
            self.by_id.insert(id.clone(), at);
        }
        match self.list.get_mut(at) {
            Some(place) => *place = joined,
            None => self.list.push(joined),
        }
    }

    /// Forgets what the record `id` said; `true` when it said something.
    pub(super) fn withdraw(&mut self, id: &str) -> bool {
        let Some(place) = self.by_id.get(id).and_then(|at| self.list.get_mut(*at)) else { return false };
        let Some(advisory) = place else { return false };
        let before = advisory.affected.len();
        advisory.affected.retain(|affected| affected.record != id);
        let said = advisory.affected.len() < before;
        if advisory.affected.is_empty() {
            *place = None;
        }
        said
    }

    /// All of them, by their first name.
    pub(super) fn into_list(self) -> Vec<Advisory> {
        let mut list: Vec<Advisory> = self.list.into_iter().flatten().collect();
        list.sort_by(|left, right| left.ids.cmp(&right.ids));
        list
    }
}

/// Two that were apart until a third named both.
fn join_known(mut left: Advisory, right: Advisory) -> Advisory {
    left.affected.extend(right.affected.iter().cloned());
    take_names_and_facts(&mut left, right);
    left.affected = best(left.affected);
    left
}

fn absorb(mut there: Advisory, new: Advisory) -> Advisory {
    let newer = |old: &Affected| new.affected.iter().any(|one| one.record == old.record && one.source == old.source);
    let outdated = |one: &Affected| {
        there.affected.iter().any(|old| old.record == one.record && old.source == one.source && old.modified > one.modified)
    };
    let additions: Vec<Affected> = new.affected.iter().filter(|one| !outdated(one)).cloned().collect();
    if !additions.is_empty() {
        there.affected.retain(|old| !newer(old));
        there.affected.extend(additions);
    }
    take_names_and_facts(&mut there, new);
    there.affected = best(there.affected);
    there
}

/// Facts of the more trusted source win; a title in our own words stays.
fn take_names_and_facts(there: &mut Advisory, new: Advisory) {
    there.ids.extend(new.ids);
    sort_ids(&mut there.ids);
    if new.source == Source::Starter || there.title.is_empty() {
        there.title = new.title;
    } else if there.source == Source::Starter || new.title.is_empty() {
        // What is there reads better.
    } else if new.source >= there.source {
        there.title = new.title;
    }
    if there.classes.is_empty() {
        there.classes = new.classes;
    }
    let wins = new.source >= there.source;
    if there.is_severity_guessed || (wins && !new.is_severity_guessed) {
        there.severity = new.severity;
        there.is_severity_guessed = new.is_severity_guessed;
    }
    if there.cvss.is_empty() || (wins && !new.cvss.is_empty()) {
        there.cvss = new.cvss;
    }
    if wins {
        there.source = new.source;
    }
    if there.cwes.is_empty() || (wins && !new.cwes.is_empty()) {
        there.cwes = new.cwes;
    }
    if there.published.is_empty() || (wins && !new.published.is_empty()) {
        there.published = new.published;
    }
}

/// Of several words about one package only the most trusted stay, in a fixed order.
fn best(affected: Vec<Affected>) -> Vec<Affected> {
    let mut quality = HashMap::new();
    for one in &affected {
        let known = quality.entry((one.ecosystem, one.package.clone())).or_insert_with(|| one.quality());
        *known = (*known).max(one.quality());
    }
    let mut kept: Vec<Affected> = affected
        .into_iter()
        .filter(|one| quality.get(&(one.ecosystem, one.package.clone())).is_some_and(|best| *best == one.quality()))
        .collect();
    kept.sort_by(|left, right| {
        (left.ecosystem, &left.package, &left.record).cmp(&(right.ecosystem, &right.package, &right.record))
    });
    kept
}

#[cfg(test)]
mod tests {
    use super::Collection;
    use crate::contract::results::Severity;
    use crate::scanner::engine::advisories::model::{Advisory, Affected, Source};
    use crate::scanner::engine::advisories::range::{End, Interval};
    use crate::scanner::engine::ecosystem::Ecosystem;

    fn advisory(ids: &[&str], source: Source, record: &str, modified: &str, end: End) -> Advisory {
        let affected = Affected {
            ecosystem: Ecosystem::Maven,
            package: "g:a".to_owned(),
            record: record.to_owned(),
            source,
            modified: modified.to_owned(),
            intervals: vec![Interval { from: "0".to_owned(), end }],
            versions: Vec::new(),
        };
        Advisory {
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            title: source.words().to_owned(),
            severity: Severity::High,
            is_severity_guessed: false,
            cvss: String::new(),
            cwes: Vec::new(),
            published: String::new(),
            classes: Vec::new(),
            reach: Vec::new(),
            is_configured: false,
            source,
            affected: vec![affected],
        }
    }

    fn fixed(version: &str) -> End {
        End::Fixed(version.to_owned())
    }

    fn words(list: &[Advisory]) -> Vec<String> {
        list.iter().flat_map(|one| one.affected.iter().flat_map(|a| a.intervals.iter().map(Interval::words))).collect()
    }

    #[test]
    fn a_flaw_counts_once_under_all_its_names() {
        let mut all = Collection::default();
        all.add(advisory(&["CVE-1-1"], Source::Table, "CVE-1-1", "", fixed("1")));
        all.add(advisory(&["GHSA-b"], Source::Osv, "GHSA-b", "2", fixed("2")));
        all.add(advisory(&["CVE-1-1", "GHSA-b"], Source::Osv, "GHSA-c", "2", fixed("3")));
        let list = all.into_list();
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].ids, ["CVE-1-1", "GHSA-b"]);
        assert_eq!(words(&list), ["< 2", "< 3"]);
    }

    #[test]
    fn the_full_record_wins_over_the_table_in_either_order() {
        let table = advisory(&["CVE-1-1"], Source::Table, "CVE-1-1", "", End::Unknown);
        let record = advisory(&["CVE-1-1", "GHSA-b"], Source::Osv, "GHSA-b", "2", End::Last("5".to_owned()));
        for order in [[table.clone(), record.clone()], [record, table]] {
            let mut all = Collection::default();
            for one in order {
                all.add(one);
            }
            assert_eq!(words(&all.into_list()), ["<= 5"]);
        }
    }

    #[test]
    fn a_row_without_end_does_not_replace_a_curated_bound() {
        let mut all = Collection::default();
        all.add(advisory(&["CVE-1-1"], Source::Table, "CVE-1-1", "", End::Unknown));
        all.add(advisory(&["CVE-1-1"], Source::Starter, "CVE-1-1", "", fixed("7")));
        let list = all.into_list();
        assert_eq!((words(&list), list[0].title.as_str()), (vec!["< 7".to_owned()], "starter pack"));
    }

    #[test]
    fn a_later_state_of_a_record_replaces_the_earlier_and_not_the_other_way() {
        let mut all = Collection::default();
        all.add(advisory(&["GHSA-b"], Source::Osv, "GHSA-b", "2024-01-02", fixed("2")));
        all.add(advisory(&["GHSA-b"], Source::Osv, "GHSA-b", "2024-01-03", fixed("3")));
        all.add(advisory(&["GHSA-b"], Source::Osv, "GHSA-b", "2024-01-01", fixed("1")));
        assert_eq!(words(&all.into_list()), ["< 3"]);
    }

    #[test]
    fn a_withdrawn_record_is_forgotten_and_what_others_said_stays() {
        let mut all = Collection::default();
        all.add(advisory(&["CVE-1-1"], Source::Table, "CVE-1-1", "", fixed("1")));
        assert!(!all.withdraw("GHSA-b"));
        all.add(advisory(&["GHSA-b"], Source::Osv, "GHSA-b", "", fixed("2")));
        assert!(all.withdraw("GHSA-b"));
        assert_eq!(words(&all.into_list()), ["< 1"]);
    }
}
