//! Reads what package managers lock: which versions a build takes. Each reader is a pure function of the bytes of one file;
//! what it cannot read it says. Knows no archives and no advisories.

mod go;
mod npm;
mod python;
mod rust;
#[cfg(test)]
mod tests;
mod yarn;

use super::ecosystem::Ecosystem;
use super::metadata::Coordinates;

/// A kind of lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::scanner) enum Kind {
    /// `package-lock.json` and `npm-shrinkwrap.json`, versions 1 to 3.
    PackageLock,
    Shrinkwrap,
    /// Version 1, and the later ones that are YAML.
    YarnLock,
    CargoLock,
    PoetryLock,
    UvLock,
    PipfileLock,
    Requirements,
    GoMod,
    /// Counts only where there is no `go.mod` beside it.
    GoSum,
}

impl Kind {
    pub(in crate::scanner) const ALL: [Self; 10] = [
        Self::PackageLock,
        Self::Shrinkwrap,
        Self::YarnLock,
        Self::CargoLock,
        Self::PoetryLock,
        Self::UvLock,
        Self::PipfileLock,
        Self::Requirements,
        Self::GoMod,
        Self::GoSum,
    ];

    /// What a file of this name locks.
    pub(in crate::scanner) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "package-lock.json" => Self::PackageLock,
            "npm-shrinkwrap.json" => Self::Shrinkwrap,
            "yarn.lock" => Self::YarnLock,
            "Cargo.lock" => Self::CargoLock,
            "poetry.lock" => Self::PoetryLock,
            "uv.lock" => Self::UvLock,
            "Pipfile.lock" => Self::PipfileLock,
            "go.mod" => Self::GoMod,
            "go.sum" => Self::GoSum,
            other => {
                let middle = other.strip_prefix("requirements").and_then(|rest| rest.strip_suffix(".txt"))?;
                return (middle.is_empty() || middle.starts_with(['-', '_', '.'])).then_some(Self::Requirements);
            }
        })
    }

    /// As people call it; also the kind of the evidence.
    pub(in crate::scanner) const fn as_str(self) -> &'static str {
        match self {
            Self::PackageLock => "package-lock.json",
            Self::Shrinkwrap => "npm-shrinkwrap.json",
            Self::YarnLock => "yarn.lock",
            Self::CargoLock => "Cargo.lock",
            Self::PoetryLock => "poetry.lock",
            Self::UvLock => "uv.lock",
            Self::PipfileLock => "Pipfile.lock",
            Self::Requirements => "requirements.txt",
            Self::GoMod => "go.mod",
            Self::GoSum => "go.sum",
        }
    }
}

/// Whether a file of this name locks versions in a form that is not read here.
pub(in crate::scanner) fn is_unread(name: &str) -> bool {
    matches!(
        name,
        "pnpm-lock.yaml" | "bun.lock" | "bun.lockb" | "pdm.lock" | "gradle.lockfile" | "composer.lock" | "Gemfile.lock"
    )
}

/// What one file locks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::scanner) struct Locked {
    /// Each once, in a fixed order.
    pub(in crate::scanner::engine) packages: Vec<Package>,
    /// Entries that name no version of the public registry: paths, repositories, open ranges.
    pub(in crate::scanner::engine) unversioned: u64,
}

/// A locked package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::scanner::engine) struct Package {
    pub(in crate::scanner::engine) coordinates: Coordinates,
    /// The build of the application itself takes it, not only its development.
    pub(in crate::scanner::engine) is_runtime: bool,
}

impl Locked {
    /// Keeps a package, or counts that its name or version cannot be looked up.
    fn add(&mut self, ecosystem: Ecosystem, name: &str, version: &str, is_runtime: bool) {
        match Coordinates::of(ecosystem, name, version) {
            Some(coordinates) => self.packages.push(Package { coordinates, is_runtime }),
            None => self.unversioned += 1,
        }
    }

    /// Sorts and joins what is there several times; what runs somewhere runs.
    fn tidy(mut self) -> Self {
        self.packages.sort_by(|left, right| (&left.coordinates, !left.is_runtime).cmp(&(&right.coordinates, !right.is_runtime)));
        self.packages.dedup_by(|left, right| left.coordinates == right.coordinates);
        self
    }
}

/// Why a file gave nothing. Completes the sentence "x …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum BadLock {
    #[error("is no valid JSON, or not of the form this lock file has")]
    Json,
    #[error("is no valid TOML, or not of the form this lock file has")]
    Toml,
    #[error("is no text, or not of the form this lock file has")]
    Text,
}

/// Reads one lock file.
pub(in crate::scanner) fn read(kind: Kind, content: &[u8]) -> Result<Locked, BadLock> {
    let locked = match kind {
        Kind::PackageLock | Kind::Shrinkwrap => npm::read(content),
        Kind::YarnLock => yarn::read(text(content)?),
        Kind::CargoLock => rust::read(text(content)?),
        Kind::PoetryLock | Kind::UvLock => python::locked(text(content)?),
        Kind::PipfileLock => python::pipfile(content),
        Kind::Requirements => Ok(python::requirements(text(content)?)),
        Kind::GoMod => Ok(go::module(text(content)?)),
        Kind::GoSum => Ok(go::sums(text(content)?)),
    };
    locked.map(Locked::tidy)
}

fn text(content: &[u8]) -> Result<&str, BadLock> {
    std::str::from_utf8(content).map(|text| text.trim_start_matches('\u{feff}')).map_err(|_| BadLock::Text)
}
