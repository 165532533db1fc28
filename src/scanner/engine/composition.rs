//! The analysis of Maven projects by their poms alone, for the operations that answer at once: poms in, a zip with the list
//! of issues out. Beside it lies what could not be resolved.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zip::write::SimpleFileOptions;

use super::advisories::{Advisories, cvss};
use super::archive::{EntryError, Source, ZipFile};
use super::matching::{self, Match};
use super::maven_project::{self, Dependency, PomFile, Project, Resolution, Unresolved};
use super::metadata::Coordinates;
use super::notes::short;
use super::sources::described;
use super::upgrade::{self, Target};
use super::wording::{self, weakness};
use crate::config::scanner::Archive;
use crate::contract::composition::{DATA_TYPE, ISSUE_TYPE, Issue, IssueData, IssueReference, PRODUCT};
use crate::contract::results::Severity;
use crate::platform::digest;

/// The list comes first: clients take the first `.json` they see.
const ISSUES: &str = "issues.json";
const UNRESOLVED: &str = "unresolved.json";

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::scanner) enum Upload {
    Pom,
    Zip,
}

/// What to analyse.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct Poms {
    pub(in crate::scanner) upload: Upload,
    pub(in crate::scanner) path: PathBuf,
}

/// Why there is no answer. Each is one plain sentence for whoever sent the file.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub(in crate::scanner) enum Refused {
    #[error("The file is empty. Send a pom.xml.")]
    Empty,
    #[error("The file is no pom: it {0}.")]
    NoPom(String),
    #[error("The file is not a zip file, or it is cut off. Send a zip of pom.xml files with their paths.")]
    NoZip,
    #[error("The zip has no pom.xml in it. Send a zip of pom.xml files with their paths.")]
    NoPomInZip,
    #[error("The zip has {0}, more than is taken.")]
    TooMuch(String),
    /// Not the sender's fault.
    #[error("{0}")]
    Internal(String),
}

impl From<std::io::Error> for Refused {
    fn from(error: std::io::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

/// What the poms gave.
#[derive(Debug)]
pub(in crate::scanner) struct Composition {
    /// By severity, then CVE descending.
    pub(in crate::scanner) issues: Vec<Issue>,
    pub(in crate::scanner) unresolved: Vec<Unresolved>,
    pub(in crate::scanner) notes: Vec<String>,
}

/// Analyses uploaded poms. Blocks.
///
/// # Errors
/// See [`Refused`]. A pom among others that cannot be read is no error but a note.
pub(in crate::scanner) fn analyze(poms: &Poms, advisories: &Advisories, limits: &Archive) -> Result<Composition, Refused> {
    let resolution = match poms.upload {
        Upload::Pom => single(&poms.path, limits)?,
        Upload::Zip => zipped(&poms.path, limits)?,
    };
    let Resolution { projects, unresolved, mut notes } = resolution;
    let (most, mut upgrades, mut issues) = (limits.sources.issues, HashMap::new(), Vec::new());
    for project in &projects {
        of_project(project, advisories, &mut upgrades, &mut issues);
        if issues.len() as u64 > most {
            issues.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            notes.push(format!("There are more than {most} issues: from {} on, some were left out.", short(&project.path)));
            break;
        }
    }
    issues.sort_by(|left, right| {
        let by_place = left.affected_file_path.cmp(&right.affected_file_path);
        let by_name = || left.additional_data.name.cmp(&right.additional_data.name).then_with(|| left.id.cmp(&right.id));
        left.severity.cmp(&right.severity).then_with(|| right.cves.cmp(&left.cves)).then(by_place).then_with(by_name)
    });
    Ok(Composition { issues, unresolved, notes })
}

fn single(path: &Path, limits: &Archive) -> Result<Resolution, Refused> {
    let mut content = Vec::new();
    File::open(path)?.take(limits.sources.pom_bytes.saturating_add(1)).read_to_end(&mut content)?;
    if content.iter().all(u8::is_ascii_whitespace) {
        return Err(Refused::Empty);
    }
    let mut resolution = maven_project::resolve(vec![PomFile { path: "pom.xml".to_owned(), content }], &limits.sources);
    if resolution.projects.is_empty() {
        let said = resolution.notes.pop().unwrap_or_default();
        let said = said.strip_prefix("pom.xml was not read: ").unwrap_or(&said);
        return Err(Refused::NoPom(said.strip_prefix("it ").unwrap_or(said).trim_end_matches('.').to_owned()));
    }
    Ok(resolution)
}

fn zipped(path: &Path, limits: &Archive) -> Result<Resolution, Refused> {
    let zip = ZipFile::open(Source::file(File::open(path)?)?).map_err(|_| Refused::NoZip)?;
    let mut buffer = ZipFile::buffer();
    let mut entries = zip.entries(&mut buffer);
    let (mut poms, mut notes, mut count, mut inflated) = (Vec::new(), Vec::new(), 0_u64, 0_u64);
    while let Some(entry) = entries.next().map_err(|_| Refused::NoZip)? {
        count += 1;
        if count > limits.entries {
            return Err(Refused::TooMuch(format!("more than {} entries", limits.entries)));
        }
        let is_pom = entry
            .name
            .rsplit('/')
            .next()
            .is_some_and(|file| file == "pom.xml" || file.rsplit_once('.').is_some_and(|(_, ending)| ending == "pom"));
        if entry.is_folder || !is_pom {
            continue;
        }
        if poms.len() as u64 >= limits.sources.poms {
            return Err(Refused::TooMuch(format!("more than {} poms", limits.sources.poms)));
        }
        let mut content = Vec::new();
        let outcome = zip.inflate(&entry, &mut |chunk| {
            inflated = inflated.saturating_add(chunk.len() as u64);
            content.extend_from_slice(chunk);
            let too_much = content.len() as u64 > limits.sources.pom_bytes || inflated > limits.sources.upload_bytes;
            if too_much { Err(EntryError::Refused("larger than the limits for poms")) } else { Ok(()) }
        });
        if inflated > limits.sources.upload_bytes {
            return Err(Refused::TooMuch(format!("poms of more than {} bytes together", limits.sources.upload_bytes)));
        }
        match outcome {
            Ok(()) => poms.push(PomFile { path: entry.name, content }),
            Err(error) => notes.push(format!("{} was not read: {error}.", short(&entry.name))),
        }
    }
    if poms.is_empty() && notes.is_empty() {
        return Err(Refused::NoPomInZip);
    }
    let mut resolution = maven_project::resolve(poms, &limits.sources);
    resolution.notes.splice(0..0, notes);
    if resolution.projects.is_empty() {
        let said = resolution.notes.into_iter().next().unwrap_or_default();
        return Err(Refused::NoPom(format!("has no readable one in it ({})", said.trim_end_matches('.'))));
    }
    Ok(resolution)
}

/// Adds the issues of one project to `all`. The way out of a version is worked out once for all projects.
fn of_project<'a>(
    project: &'a Project,
    advisories: &Advisories,
    upgrades: &mut HashMap<&'a Coordinates, Option<Target>>,
    all: &mut Vec<Issue>,
) {
    // The same dependency in two profiles is one.
    let mut seen: HashSet<&Coordinates> = HashSet::new();
    for dependency in project.dependencies.iter().filter(|one| seen.insert(&one.coordinates)) {
        let coordinates = &dependency.coordinates;
        let package = coordinates.package();
        let hits = matching::matches(advisories, &package, coordinates);
        if hits.is_empty() {
            continue;
        }
        let upgrade = upgrades.entry(coordinates).or_insert_with(|| upgrade::target(coordinates, advisories)).as_ref();
        all.extend(hits.iter().map(|hit| issue(project, dependency, hit, upgrade)));
    }
}

fn issue(project: &Project, dependency: &Dependency, hit: &Match<'_>, upgrade: Option<&Target>) -> Issue {
    let coordinates = &dependency.coordinates;
    let (package, version) = (coordinates.package(), &coordinates.version);
    let advisory = hit.advisory;
    let id = advisory.ids.first().cloned().unwrap_or_default();
    let what = if advisory.title.is_empty() { "a known vulnerability" } else { advisory.title.as_str() };
    let title = format!("{package} {version}: {what}");
    let from = vec![project.name.clone(), format!("{package}@{version}")];
    let target = hit.fixed.map(|fixed| upgrade.cloned().unwrap_or_else(|| upgrade::fix(coordinates, hit, fixed)));
    let to = |target: &Target| vec![project.name.clone(), format!("{package}@{}", target.version)];
    let upgrade_path = target.as_ref().map(to).unwrap_or_default();
    let remediation = match target {
        Some(target) => format!("Upgrade {package} from {version} to {}.", target.words()),
        None => format!("No fixed version of {package} is known: replace it, or keep untrusted input away from it."),
    };
    let description = format!("{what}. Affected: {}. In {}: {}.", hit.range, project.path, described(dependency));
    let key = [project.path.as_str(), &package, version, &id].join("\0");
    let reference = |id: &String| Some(IssueReference { title: id.clone(), url: wording::address(id)? });
    let data = IssueData {
        kind: DATA_TYPE.to_owned(),
        key: digest::hex(&digest::sha256(key.as_bytes())),
        title: title.clone(),
        name: package.clone(),
        version: version.clone(),
        package_manager: "maven".to_owned(),
        package_name: package,
        from,
        fixed_in: hit.fixed.map(str::to_owned).into_iter().collect(),
        is_upgradable: !upgrade_path.is_empty(),
        upgrade_path,
        cvss_v3: advisory.cvss.clone(),
        cvss_score: cvss::score(&advisory.cvss),
        exploit: String::new(),
        is_patchable: false,
        description,
        references: advisory.ids.iter().filter_map(reference).collect(),
        remediation,
    };
    Issue {
        severity: number(advisory.severity),
        issue_type: ISSUE_TYPE,
        is_ignored: false,
        is_new: false,
        formatted_message: format!("{id}: {title}. {}", data.remediation),
        message: title,
        affected_file_path: project.path.clone(),
        product: PRODUCT.to_owned(),
        ecosystem: coordinates.ecosystem.as_str().to_owned(),
        cves: advisory.ids.iter().filter(|id| id.starts_with("CVE-")).cloned().collect(),
        cwes: weaknesses(&advisory.cwes),
        additional_data: data,
        id,
    }
}

/// All of them, the most telling one first.
fn weaknesses(cwes: &[String]) -> Vec<String> {
    let first = weakness(cwes).to_ascii_uppercase();
    let rest = cwes.iter().filter(|cwe| **cwe != first).cloned();
    Some(first.clone()).filter(|first| !first.is_empty()).into_iter().chain(rest).collect()
}

const fn number(severity: Severity) -> u8 {
    match severity {
        Severity::Critical => 1,
        Severity::High => 2,
        Severity::Medium => 3,
        Severity::Low => 4,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Beside<'a> {
    unresolved: &'a [Unresolved],
    notes: &'a [String],
    advisory_date: &'a str,
    advisory_count: u64,
}

impl Composition {
    /// The answer: a zip with the list of issues, then what could not be resolved.
    ///
    /// # Errors
    /// Only when it cannot be written to memory.
    pub(in crate::scanner) fn into_zip(self, advisories: &Advisories) -> Result<Vec<u8>, Refused> {
        let internal = |error: &dyn std::fmt::Display| Refused::Internal(error.to_string());
        let beside = Beside {
            unresolved: &self.unresolved,
            notes: &self.notes,
            advisory_date: advisories.newest(),
            advisory_count: advisories.count(),
        };
        let files = [(ISSUES, serde_json::to_vec(&self.issues)), (UNRESOLVED, serde_json::to_vec(&beside))];
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            zip.start_file(name, SimpleFileOptions::default()).map_err(|error| internal(&error))?;
            zip.write_all(&text.map_err(|error| internal(&error))?)?;
        }
        Ok(zip.finish().map_err(|error| internal(&error))?.into_inner())
    }
}
