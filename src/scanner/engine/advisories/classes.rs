//! The classes well-known flaws are in (`config/advisories/classes.toml`), by the id of the flaw: they hold for advisories of
//! every source. Facts only; nothing is judged here.

use std::collections::HashMap;

use serde::Deserialize;

use super::model::Advisory;

const TEXT: &str = include_str!("../../../../config/advisories/classes.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    flaw: Vec<Flaw>,
}

/// Where a flaw is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flaw {
    ids: Vec<String>,
    classes: Vec<String>,
    #[serde(default)]
    reach: Vec<String>,
    #[serde(default)]
    configured: bool,
}

/// Gives every advisory on the list its classes.
pub(super) fn apply(advisories: &mut [Advisory]) -> Result<(), String> {
    let list: List = toml::from_str(TEXT).map_err(|error| error.to_string())?;
    let by_id: HashMap<&str, &Flaw> =
        list.flaw.iter().flat_map(|flaw| flaw.ids.iter().map(move |id| (id.as_str(), flaw))).collect();
    for advisory in advisories {
        if let Some(flaw) = advisory.ids.iter().find_map(|id| by_id.get(id.as_str())) {
            advisory.classes.clone_from(&flaw.classes);
            advisory.reach = if flaw.reach.is_empty() { flaw.classes.clone() } else { flaw.reach.clone() };
            advisory.is_configured = flaw.configured;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{List, TEXT};

    #[test]
    fn the_list_names_each_flaw_once_and_every_class_by_its_full_name() {
        let list: List = toml::from_str(TEXT).unwrap();
        let mut seen = HashSet::new();
        for flaw in &list.flaw {
            assert!(flaw.ids.iter().all(|id| id.starts_with("CVE-") && seen.insert(id)), "{:?}", flaw.ids);
            assert!(!flaw.classes.is_empty());
            for name in flaw.classes.iter().chain(&flaw.reach) {
                assert!(name.contains('/') && !name.contains(".class") && !name.contains(' '), "{name}");
            }
        }
        assert!(seen.len() >= 80, "{} flaws", seen.len());
    }
}
