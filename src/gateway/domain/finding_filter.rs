//! The filter of a list of findings.

use url::form_urlencoded;

use super::filter::{Refused, add, contains, one, page, paged, text, unknown};
use super::finding::{Component, FindingRow, Reachability, Severity};
use crate::contract::results;
use crate::contract::tasks::{Filter, Operator};
use crate::platform::hostile::Hostile;

/// Characters of a package URL or of a path that are taken from an address.
const LONGEST: usize = 2000;

/// How well vulnerable code is reached, as it stands in an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Reached(pub(in crate::gateway) results::Reachability);

impl Reached {
    /// All, the worst first.
    pub(in crate::gateway) const ALL: [Self; 4] = [
        Self(results::Reachability::Reachable),
        Self(results::Reachability::PresentNoPath),
        Self(results::Reachability::Unknown),
        Self(results::Reachability::NotPresent),
    ];

    pub(in crate::gateway) const fn as_str(self) -> &'static str {
        match self.0 {
            results::Reachability::Reachable => "reachable",
            results::Reachability::PresentNoPath => "no-path",
            results::Reachability::Unknown => "unknown",
            results::Reachability::NotPresent => "cleared",
        }
    }

    /// As it reads on a page.
    pub(in crate::gateway) const fn word(self) -> &'static str {
        match self.0 {
            results::Reachability::Reachable => "Reachable",
            results::Reachability::PresentNoPath => "Present, no path seen",
            results::Reachability::Unknown => "Unknown",
            results::Reachability::NotPresent => "Not present, cleared",
        }
    }

    const fn wire(self) -> &'static str {
        match self.0 {
            results::Reachability::Reachable => "REACHABLE",
            results::Reachability::PresentNoPath => "PRESENT_NO_PATH",
            results::Reachability::Unknown => "UNKNOWN",
            results::Reachability::NotPresent => "NOT_PRESENT",
        }
    }
}

/// Which findings, and which page of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct FindingFilter {
    /// Empty for all.
    pub(in crate::gateway) severities: Vec<results::Severity>,
    /// Empty for all; findings the service says nothing about are in none of them.
    pub(in crate::gateway) reached: Vec<Reached>,
    /// Package URL, or name and version, of the one component looked at.
    pub(in crate::gateway) component: String,
    /// Where that component lies; empty for all places.
    pub(in crate::gateway) place: String,
    /// Part of title, category, weakness, CVE or component, in any case; empty for all.
    pub(in crate::gateway) text: String,
    /// From 1.
    pub(in crate::gateway) page: u32,
}

impl Default for FindingFilter {
    fn default() -> Self {
        Self {
            severities: Vec::new(),
            reached: Vec::new(),
            component: String::new(),
            place: String::new(),
            text: String::new(),
            page: 1,
        }
    }
}

impl FindingFilter {
    /// Everything about one component, in one of its places when one is given. What is too long for an address is left out.
    pub(in crate::gateway) fn of_component(part: &Component, place: &str) -> Self {
        let short = |text: &str| if text.chars().count() > LONGEST { String::new() } else { text.trim().to_owned() };
        Self { component: short(&part.key()), place: short(place), ..Self::default() }
    }

    /// Reads the query of an address. Unknown names are passed over, unknown values are refused.
    pub(in crate::gateway) fn read(query: &str) -> Result<Self, Refused> {
        let mut filter = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            match name.as_ref() {
                "severity" if !value.is_empty() => {
                    let severity = results::Severity::ALL.into_iter().find(|severity| severity.as_str() == value);
                    add(&mut filter.severities, severity.ok_or_else(|| unknown("severity", value))?);
                }
                "reach" if !value.is_empty() => {
                    let reached = Reached::ALL.into_iter().find(|reached| reached.as_str() == value);
                    add(&mut filter.reached, reached.ok_or_else(|| unknown("reach", value))?);
                }
                "component" => filter.component = bounded("component", value)?,
                "place" => filter.place = bounded("place", value)?,
                "q" => filter.text = text("q", value)?,
                "page" => filter.page = page(value)?,
                _ => {}
            }
        }
        Ok(filter)
    }

    /// The query of an address for `page`, without the question mark; empty for the first page of everything.
    pub(in crate::gateway) fn query(&self, page: u32) -> String {
        let mut out = form_urlencoded::Serializer::new(String::new());
        for severity in &self.severities {
            out.append_pair("severity", severity.as_str());
        }
        for reached in &self.reached {
            out.append_pair("reach", reached.as_str());
        }
        for (name, value) in [("component", &self.component), ("place", &self.place), ("q", &self.text)] {
            if !value.is_empty() {
                out.append_pair(name, value);
            }
        }
        paged(out, page)
    }

    /// Whether it narrows anything.
    pub(in crate::gateway) fn is_active(&self) -> bool {
        *self != Self { page: self.page, ..Self::default() }
    }

    /// The filter in words, one for each part that narrows.
    pub(in crate::gateway) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.severities.is_empty() {
            let severities: Vec<&str> = self.severities.iter().map(|severity| severity.as_str()).collect();
            words.push(format!("severity is {}", severities.join(" or ")));
        }
        if !self.reached.is_empty() {
            let reached: Vec<&str> = self.reached.iter().map(|reached| reached.word()).collect();
            words.push(format!("reachability is {}", reached.join(" or ")));
        }
        if !self.component.is_empty() {
            words.push(format!("component is {}", Hostile::from(self.component.as_str()).short(120)));
        }
        if !self.place.is_empty() {
            words.push(format!("it lies in {}", Hostile::from(self.place.as_str()).short(200)));
        }
        if !self.text.is_empty() {
            words.push(format!("text contains “{}”", Hostile::from(self.text.as_str()).short(80)));
        }
        words
    }

    /// The part of it that services understand: severity and reachability. All else is looked for in several fields, which no
    /// service is known to do.
    pub(in crate::gateway) fn wire(&self) -> Vec<Filter> {
        let mut filters = Vec::new();
        if !self.severities.is_empty() {
            let words: Vec<&str> = self.severities.iter().map(|severity| severity.as_str()).collect();
            filters.push(one("severity", Operator::In, words));
        }
        if !self.reached.is_empty() {
            let words: Vec<&str> = self.reached.iter().map(|reached| reached.wire()).collect();
            filters.push(one("reachability", Operator::In, words));
        }
        filters
    }

    /// Whether [`FindingFilter::wire`] leaves nothing out.
    pub(in crate::gateway) const fn is_all_wire(&self) -> bool {
        self.text.is_empty() && self.component.is_empty() && self.place.is_empty()
    }

    /// Whether a row is one of those asked for.
    pub(in crate::gateway) fn fits(&self, row: &FindingRow) -> bool {
        let severity = self.severities.is_empty()
            || matches!(&row.severity, Severity::Known(severity) if self.severities.contains(severity));
        let reached = self.reached.is_empty()
            || matches!(&row.reachability, Some(Reachability::Known(word)) if self.reached.contains(&Reached(*word)));
        let part = self.component.is_empty() || row.component.as_ref().is_some_and(|part| part.key() == self.component);
        let place = self.place.is_empty() || row.component.as_ref().is_some_and(|part| part.path.raw().trim() == self.place);
        severity && reached && part && place && (self.text.is_empty() || self.says(row))
    }

    fn says(&self, row: &FindingRow) -> bool {
        let component = row.component.iter().flat_map(|part| [&part.name, &part.version, &part.path]);
        let mut texts = [&row.title, &row.category, &row.cwe].into_iter().chain(&row.cves).chain(component);
        texts.any(|text| contains(text, &self.text))
    }
}

fn bounded(name: &str, value: &str) -> Result<String, Refused> {
    if value.chars().count() > LONGEST {
        return Err(Refused(format!("The filter “{name}” takes at most {LONGEST} characters.")));
    }
    Ok(value.to_owned())
}
