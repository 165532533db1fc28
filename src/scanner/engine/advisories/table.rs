//! Reads the advisory table: CSV rows of id, published, title, `group:artifact`, introduced, fixed, severity, weaknesses.
//!
//! The table has no header and lost `last_affected`: a row without `fixed` has an unknown end.

use std::collections::HashMap;
use std::io::Read;

use super::model::{self, Advisory, Affected, Source};
use super::range::{End, Interval};
use crate::contract::results::Severity;
use crate::scanner::engine::ecosystem::Ecosystem;

/// What the table gave.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// One for each id, in the order of first appearance.
    pub(super) advisories: Vec<Advisory>,
    pub(super) read: u64,
    /// Why a row was left out, and its line or id.
    pub(super) skipped: Vec<(&'static str, String)>,
}

/// Reads all rows; a bad row is left out and named.
pub(super) fn read(input: impl Read) -> Rows {
    let mut rows = Rows::default();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(input);
    for row in reader.records() {
        rows.read += 1;
        let line = format!("row {}", rows.read);
        match row {
            Err(_) => rows.skipped.push(("not readable as CSV", line)),
            Ok(row) => match advisory(&row) {
                Err(reason) => rows.skipped.push((reason, line)),
                Ok(one) => {
                    let id = one.ids.first().cloned().unwrap_or_default();
                    if let Some(there) = known.get(&id).and_then(|at| rows.advisories.get_mut(*at)) {
                        join(there, one);
                    } else {
                        known.insert(id, rows.advisories.len());
                        rows.advisories.push(one);
                    }
                }
            },
        }
    }
    rows
}

fn advisory(row: &csv::StringRecord) -> Result<Advisory, &'static str> {
    let fields: Vec<&str> = row.iter().map(str::trim).collect();
    let [id, published, title, package, introduced, fixed, severity, cwes, ..] = fields[..] else {
        return Err("fewer than eight columns");
    };
    if !model::is_id(id) || !id.contains('-') {
        return Err("no usable id");
    }
    let package = Ecosystem::Maven.package(package).ok_or("no usable package name")?;
    let severity = Severity::read(severity).ok_or("no usable severity")?;
    let from = if introduced.is_empty() { "0" } else { introduced }.to_owned();
    let end = if fixed.is_empty() { End::Unknown } else { End::Fixed(fixed.to_owned()) };
    Ok(Advisory {
        ids: vec![id.to_owned()],
        title: model::title(title),
        severity,
        is_severity_guessed: false,
        cvss: String::new(),
        cwes: cwes.split(';').map(str::trim).filter(|cwe| model::is_id(cwe)).map(str::to_owned).collect(),
        published: model::day(published),
        classes: Vec::new(),
        reach: Vec::new(),
        is_configured: false,
        source: Source::Table,
        affected: vec![Affected {
            ecosystem: Ecosystem::Maven,
            package,
            record: id.to_owned(),
            source: Source::Table,
            modified: String::new(),
            intervals: vec![Interval { from, end }],
            versions: Vec::new(),
        }],
    })
}

/// A further row of the same id: another package or another interval.
fn join(there: &mut Advisory, row: Advisory) {
    for one in row.affected {
        match there.affected.iter_mut().find(|affected| affected.package == one.package) {
            Some(same) => same.intervals.extend(one.intervals),
            None => there.affected.push(one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, read};

    #[test]
    fn rows_of_one_id_become_one_advisory() {
        let rows = read(
            &b"CVE-2021-44228,2021-12-10T00:40:56Z,\"Remote code, \"\"injected\"\"\",g:a,2.0-beta9,2.3.1,CRITICAL,\"CWE-20;CWE-502\"\n\
              CVE-2021-44228,2021-12-10T00:40:56Z,\"x\",g:a,2.4,2.12.2,CRITICAL,\n\
              CVE-2021-44228,2021-12-10T00:40:56Z,\"x\",g:b,0,,CRITICAL,\n"[..],
        );
        assert_eq!((rows.read, rows.advisories.len(), rows.skipped.len()), (3, 1, 0));
        let advisory = &rows.advisories[0];
        assert_eq!(advisory.title, "Remote code, \"injected\"");
        assert_eq!(advisory.cwes, ["CWE-20", "CWE-502"]);
        let words: Vec<Vec<String>> =
            advisory.affected.iter().map(|one| one.intervals.iter().map(Interval::words).collect()).collect();
        assert_eq!(words, [vec![">= 2.0-beta9, < 2.3.1", ">= 2.4, < 2.12.2"], vec!["all versions, upper bound unknown"]]);
    }

    #[test]
    fn bad_rows_are_named_and_the_others_stay() {
        let rows = read(&b"id,published,summary,package,introduced,fixed,severity,cwes\nCVE-1-2,,t,g:a,0,1,LOW,\nCVE-1-3,,t,g,0,1,LOW,\nshort\n"[..]);
        let reasons: Vec<_> = rows.skipped.iter().map(|(reason, line)| format!("{line}: {reason}")).collect();
        assert_eq!(reasons, ["row 1: no usable id", "row 3: no usable package name", "row 4: fewer than eight columns"]);
        assert_eq!(rows.advisories.len(), 1);
    }
}
