//! The package worlds an advisory can be about: how a package is named there and addressed. Knows no versions.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

const MAX_NAME: usize = 256;
const PURL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// One package world, by its name in OSV records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(in crate::scanner::engine) enum Ecosystem {
    #[default]
    Maven,
    #[serde(rename = "npm")]
    Npm,
    #[serde(rename = "PyPI")]
    PyPi,
    #[serde(rename = "crates.io")]
    CratesIo,
    Go,
}

impl Ecosystem {
    pub(in crate::scanner::engine) const ALL: [Self; 5] = [Self::Maven, Self::Npm, Self::PyPi, Self::CratesIo, Self::Go];

    /// As OSV writes it.
    pub(in crate::scanner::engine) const fn as_str(self) -> &'static str {
        match self {
            Self::Maven => "Maven",
            Self::Npm => "npm",
            Self::PyPi => "PyPI",
            Self::CratesIo => "crates.io",
            Self::Go => "Go",
        }
    }

    /// Reads OSV's word; what follows a colon names a repository and is passed over.
    pub(in crate::scanner::engine) fn read(text: &str) -> Option<Self> {
        let word = text.split(':').next().unwrap_or_default();
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }

    /// The name of a package as it is looked up; `None` when no package can be called that.
    pub(in crate::scanner::engine) fn package(self, name: &str) -> Option<String> {
        let name = name.trim();
        let usable = !name.is_empty()
            && name.len() <= MAX_NAME
            && match self {
                Self::Maven => name.split_once(':').is_some_and(|(group, artifact)| is_part(group) && is_part(artifact)),
                Self::Npm => match name.strip_prefix('@') {
                    Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_npm(scope) && is_npm(name)),
                    None => is_npm(name),
                },
                Self::PyPi | Self::CratesIo => name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')),
                Self::Go => name.split('/').all(is_go_part),
            };
        usable.then(|| if self == Self::PyPi { pep503(name) } else { name.to_owned() })
    }

    /// A version as people of this world write it.
    pub(in crate::scanner::engine) fn shown(self, version: &str) -> String {
        let is_bare = self == Self::Go && version.starts_with(|c: char| c.is_ascii_digit());
        if is_bare { format!("v{version}") } else { version.to_owned() }
    }

    /// The package URL of a package of this world.
    pub(in crate::scanner::engine) fn purl(self, package: &str, version: &str) -> String {
        let kind = match self {
            Self::Maven => "maven",
            Self::Npm => "npm",
            Self::PyPi => "pypi",
            Self::CratesIo => "cargo",
            Self::Go => "golang",
        };
        let package = if self == Self::Go { package.to_ascii_lowercase() } else { package.to_owned() };
        let parts: Vec<String> = package.split([':', '/']).map(encoded).collect();
        format!("pkg:{kind}/{}@{}", parts.join("/"), encoded(version))
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PURL).to_string()
}

/// Letters of any script: repositories take ASCII only, but what a build names itself is not for us to judge.
fn is_part(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

fn is_npm(text: &str) -> bool {
    !text.is_empty()
        && text != "."
        && text != ".."
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~!'()*".contains(&b))
}

fn is_go_part(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~+!".contains(&b))
}

/// PEP 503: lower case, runs of `-`, `_` and `.` are one `-`.
fn pep503(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if matches!(c, '_' | '.') { '-' } else { c.to_ascii_lowercase() };
        if !(c == '-' && out.ends_with('-')) {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Ecosystem::{self, CratesIo, Go, Maven, Npm, PyPi};

    #[test]
    fn names_are_checked_and_brought_into_one_form() {
        assert_eq!(PyPi.package("Zope.Interface__x").as_deref(), Some("zope-interface-x"));
        assert_eq!(Npm.package("@babel/core").as_deref(), Some("@babel/core"));
        assert_eq!(Go.package("golang.org/x/net").as_deref(), Some("golang.org/x/net"));
        assert_eq!(Maven.package("g:a").as_deref(), Some("g:a"));
        for (ecosystem, name) in
            [(Npm, "@babel"), (Npm, "../x"), (Maven, "a"), (PyPi, "a b"), (Go, "a/../b"), (Go, ""), (CratesIo, "a/b")]
        {
            assert_eq!(ecosystem.package(name), None, "{name}");
        }
    }

    #[test]
    fn a_package_url_has_the_form_of_its_world() {
        assert_eq!(Npm.purl("@babel/core", "7.0.0"), "pkg:npm/%40babel/core@7.0.0");
        assert_eq!(Maven.purl("g.h:a", "1+x"), "pkg:maven/g.h/a@1%2Bx");
        assert_eq!(Go.purl("github.com/Azure/x", "v1.0.0+incompatible"), "pkg:golang/github.com/azure/x@v1.0.0%2Bincompatible");
    }

    #[test]
    fn the_words_of_osv_are_read() {
        assert!(Ecosystem::ALL.into_iter().all(|one| Ecosystem::read(one.as_str()) == Some(one)));
        assert_eq!(Ecosystem::read("Maven:https://repo.example"), Some(Maven));
        assert_eq!(Ecosystem::read("NuGet"), None);
    }
}
