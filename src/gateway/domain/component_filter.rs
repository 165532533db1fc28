//! The filter of a list of components.

use url::form_urlencoded;

use super::component::ComponentRow;
use super::filter::{Refused, add, contains, one, page, paged, text, unknown};
use crate::contract::tasks::{Filter, Operator};
use crate::platform::hostile::Hostile;

/// Which components, and which page of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct ComponentFilter {
    /// Part of the name, in any case; empty for all.
    pub(in crate::gateway) name: String,
    /// In any case; empty for all.
    pub(in crate::gateway) ecosystems: Vec<String>,
    /// Only those with something open.
    pub(in crate::gateway) vulnerable: bool,
    /// From 1.
    pub(in crate::gateway) page: u32,
}

impl Default for ComponentFilter {
    fn default() -> Self {
        Self { name: String::new(), ecosystems: Vec::new(), vulnerable: false, page: 1 }
    }
}

impl ComponentFilter {
    /// Ecosystems that are offered; an address may name others.
    pub(in crate::gateway) const ECOSYSTEMS: [&'static str; 5] = ["Maven", "npm", "PyPI", "crates.io", "Go"];

    /// Everything with something open.
    pub(in crate::gateway) fn only_vulnerable() -> Self {
        Self { vulnerable: true, ..Self::default() }
    }

    /// Reads the query of an address. Unknown names are passed over, unknown values are refused.
    pub(in crate::gateway) fn read(query: &str) -> Result<Self, Refused> {
        let mut filter = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            match name.as_ref() {
                "name" => filter.name = text("name", value)?,
                "ecosystem" if !value.is_empty() => add(&mut filter.ecosystems, text("ecosystem", value)?),
                "vulnerable" if !value.is_empty() => {
                    filter.vulnerable = match value {
                        "1" | "yes" => true,
                        "0" | "no" => false,
                        _ => return Err(unknown("vulnerable", value)),
                    }
                }
                "page" => filter.page = page(value)?,
                _ => {}
            }
        }
        Ok(filter)
    }

    /// The query of an address for `page`, without the question mark; empty for the first page of everything.
    pub(in crate::gateway) fn query(&self, page: u32) -> String {
        let mut out = form_urlencoded::Serializer::new(String::new());
        if !self.name.is_empty() {
            out.append_pair("name", &self.name);
        }
        for ecosystem in &self.ecosystems {
            out.append_pair("ecosystem", ecosystem);
        }
        if self.vulnerable {
            out.append_pair("vulnerable", "1");
        }
        paged(out, page)
    }

    /// The filter in words, one for each part that narrows.
    pub(in crate::gateway) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.name.is_empty() {
            words.push(format!("name contains “{}”", Hostile::from(self.name.as_str()).short(80)));
        }
        if !self.ecosystems.is_empty() {
            let named: Vec<String> = self.ecosystems.iter().map(|one| Hostile::from(one.as_str()).short(40)).collect();
            words.push(format!("ecosystem is {}", named.join(" or ")));
        }
        if self.vulnerable {
            words.push("only with open findings".to_owned());
        }
        words
    }

    /// The part of it that services understand.
    pub(in crate::gateway) fn wire(&self) -> Vec<Filter> {
        let mut filters = Vec::new();
        if !self.name.is_empty() {
            filters.push(one("name", Operator::Like, self.name.as_str()));
        }
        if !self.ecosystems.is_empty() {
            filters.push(one("ecosystem", Operator::In, self.ecosystems.clone()));
        }
        filters
    }

    /// Whether [`ComponentFilter::wire`] leaves nothing out.
    pub(in crate::gateway) const fn is_all_wire(&self) -> bool {
        !self.vulnerable
    }

    /// Whether a row is one of those asked for.
    pub(in crate::gateway) fn fits(&self, row: &ComponentRow) -> bool {
        let name = self.name.is_empty() || contains(&row.part.name, &self.name);
        let ecosystem =
            self.ecosystems.is_empty() || self.ecosystems.iter().any(|one| one.eq_ignore_ascii_case(row.ecosystem.raw().trim()));
        name && ecosystem && (!self.vulnerable || row.is_vulnerable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_written_back_the_same() {
        let query = "name=log4j&ecosystem=Maven&ecosystem=Elsewhere&vulnerable=1&page=3";
        let filter = ComponentFilter::read(query).unwrap();
        assert_eq!(filter.query(3), query);
        assert_eq!(ComponentFilter::read("").unwrap(), ComponentFilter::default());
        for bad in ["vulnerable=perhaps", "page=0", "page=x"] {
            assert!(ComponentFilter::read(bad).is_err(), "{bad}");
        }
    }
}
