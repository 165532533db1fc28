//! Decides which component an archive is, and which are inside it, from what the walk saw. The strongest evidence decides.

use super::advisories::Advisories;
use super::file_name::FileName;
use super::metadata::{Coordinates, Manifest, is_version};
use super::seen::{Pom, PomKind, Seen};
use crate::contract::results::{Confidence, Evidence};

/// A component and why it is believed to be there.
#[derive(Clone, Debug)]
pub(super) struct Identified {
    pub(super) coordinates: Coordinates,
    /// The archive, or the folder of the pom in it.
    pub(super) path: String,
    /// Whether it is a part of another archive.
    pub(super) is_embedded: bool,
    pub(super) confidence: Confidence,
    pub(super) evidence: Vec<Evidence>,
}

/// What one archive turned out to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Identity {
    pub(super) components: Vec<Identified>,
    /// Why it is not known, when it should be.
    pub(super) unknown: Option<String>,
}

/// Identifies one archive.
pub(super) fn identify(seen: &Seen, advisories: &Advisories) -> Identity {
    let file = FileName::of(&seen.path);
    if file.classifier.is_some() && (!file.without_classes || seen.packages.is_empty()) {
        return Identity::default();
    }
    let poms = poms(seen);
    let own = own_pom(&poms, &file);
    let mut components: Vec<Identified> = poms
        .iter()
        .enumerate()
        .map(|(at, pom)| if own == Some(at) { own_component(seen, pom, &file) } else { embedded_component(seen, pom) })
        .collect();
    let mut unknown = None;
    if own.is_none() {
        match by_name(seen, &file, advisories) {
            Ok(component) => components.push(component),
            Err(reason) => unknown = Some(reason),
        }
    }
    let should_be_known = components.is_empty() && !seen.packages.is_empty() && seen.nested == 0;
    Identity { components, unknown: unknown.filter(|_| should_be_known) }
}

/// The poms that count: properties, and `pom.xml` only where its properties are missing.
fn poms(seen: &Seen) -> Vec<&Pom> {
    let has_properties = |entry: &str| {
        let folder = entry.rsplit_once('/').map(|(folder, _)| folder);
        seen.poms
            .iter()
            .any(|pom| pom.kind == PomKind::Properties && pom.entry.rsplit_once('/').map(|(other, _)| other) == folder)
    };
    let mut found: Vec<&Pom> =
        seen.poms.iter().filter(|pom| pom.kind == PomKind::Properties || !has_properties(&pom.entry)).collect();
    found.sort_by(|left, right| (&left.coordinates, &left.entry).cmp(&(&right.coordinates, &right.entry)));
    found.dedup_by(|left, right| left.coordinates == right.coordinates);
    found
}

/// The pom of the archive itself: the one its file is named after, or the only one.
fn own_pom(poms: &[&Pom], file: &FileName) -> Option<usize> {
    let named = poms.iter().enumerate().filter_map(|(at, pom)| {
        let version = file.version_of(&pom.coordinates.artifact)?;
        Some((pom.coordinates.artifact.len(), version == pom.coordinates.version, at))
    });
    named.max().map(|(_, _, at)| at).or((poms.len() == 1).then_some(0))
}

fn own_component(seen: &Seen, pom: &Pom, file: &FileName) -> Identified {
    let mut evidence = vec![pom_evidence(seen, pom)];
    let named = file.version_of(&pom.coordinates.artifact).filter(|version| !version.is_empty());
    let contradicts = named.filter(|version| *version != pom.coordinates.version);
    if let Some(version) = contradicts {
        let detail = format!(
            "The file name says version {version}, the pom inside says {}; the pom was believed.",
            pom.coordinates.version
        );
        evidence.push(Evidence { kind: "note".to_owned(), path: seen.path.clone(), detail });
    }
    let confidence = if contradicts.is_some() { Confidence::Medium } else { Confidence::High };
    Identified { coordinates: pom.coordinates.clone(), path: seen.path.clone(), is_embedded: false, confidence, evidence }
}

fn embedded_component(seen: &Seen, pom: &Pom) -> Identified {
    let folder = pom.entry.rsplit_once('/').map_or(pom.entry.as_str(), |(folder, _)| folder);
    Identified {
        coordinates: pom.coordinates.clone(),
        path: format!("{}!/{folder}", seen.path),
        is_embedded: true,
        confidence: Confidence::High,
        evidence: vec![pom_evidence(seen, pom)],
    }
}

fn pom_evidence(seen: &Seen, pom: &Pom) -> Evidence {
    let Coordinates { group, artifact, version, .. } = &pom.coordinates;
    let kind = match pom.kind {
        PomKind::Properties => "pom.properties",
        PomKind::Xml => "pom.xml",
    };
    let detail = format!("groupId={group}, artifactId={artifact}, version={version}");
    Evidence { kind: kind.to_owned(), path: format!("{}!/{}", seen.path, pom.entry), detail }
}

/// Identifies an archive that has no pom of its own, by its file name, its classes and its manifest.
fn by_name(seen: &Seen, file: &FileName, advisories: &Advisories) -> Result<Identified, String> {
    let nothing = Manifest::default();
    let manifest = seen.manifest.as_ref().unwrap_or(&nothing);
    let mut readings: Vec<(&str, &str, Option<&str>)> =
        file.readings().into_iter().map(|(artifact, version)| (artifact, version, None)).collect();
    if let Some((attribute, version)) = manifest.version().filter(|_| readings.is_empty()) {
        readings.push((&file.stem, version, Some(attribute)));
    }
    let mut doubt = None;
    for (artifact, version, attribute) in &readings {
        let groups = advisories.groups_of(artifact);
        match choose_group(groups, artifact, seen, manifest) {
            Some((group, reason)) => {
                if let Some(coordinates) = Coordinates::new(group, artifact, version) {
                    return Ok(named(seen, coordinates, *attribute, &reason));
                }
            }
            None if !groups.is_empty() => {
                doubt = Some(format!("its name suggests {artifact} {version}, but nothing inside confirms whose"));
            }
            None => {}
        }
    }
    by_manifest(seen, file, manifest).ok_or_else(|| doubt.unwrap_or_else(|| reason(file, manifest)))
}

fn reason(file: &FileName, manifest: &Manifest) -> String {
    let inside = if *manifest == Manifest::default() {
        "it has no pom and its manifest names nothing"
    } else {
        "it has no pom and its manifest does not name a component"
    };
    match file.usual() {
        Some((artifact, version)) => format!("{inside}; its name suggests {artifact} {version}"),
        None => format!("{inside}; its name has no version"),
    }
}

fn named(seen: &Seen, coordinates: Coordinates, attribute: Option<&str>, reason: &str) -> Identified {
    let Coordinates { artifact, version, .. } = &coordinates;
    let mut evidence =
        vec![Evidence { kind: "file name".to_owned(), path: seen.path.clone(), detail: format!("artifact {artifact}") }];
    match attribute {
        None => evidence.iter_mut().for_each(|one| one.detail = format!("artifact {artifact}, version {version}")),
        Some(attribute) => evidence.push(manifest_evidence(seen, format!("{attribute}: {version}"))),
    }
    evidence.push(Evidence {
        kind: "note".to_owned(),
        path: seen.path.clone(),
        detail: format!("The group {} was chosen because {reason}.", coordinates.group),
    });
    Identified { coordinates, path: seen.path.clone(), is_embedded: false, confidence: Confidence::Medium, evidence }
}

fn manifest_evidence(seen: &Seen, detail: String) -> Evidence {
    Evidence { kind: "manifest".to_owned(), path: format!("{}!/META-INF/MANIFEST.MF", seen.path), detail }
}

/// The group with the best support; `None` when none has any, or two have the same.
fn choose_group<'a>(groups: &'a [String], artifact: &str, seen: &Seen, manifest: &Manifest) -> Option<(&'a str, String)> {
    let mut scored: Vec<(usize, &str, String)> = groups
        .iter()
        .filter_map(|group| {
            support(group, artifact, seen, manifest, groups.len() == 1).map(|(score, why)| (score, group.as_str(), why))
        })
        .collect();
    scored.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    match &scored[..] {
        [(best, ..), (second, ..), ..] if best == second => None,
        _ => scored.into_iter().next().map(|(_, group, why)| (group, why)),
    }
}

/// How much speaks for a group, and what.
fn support(group: &str, artifact: &str, seen: &Seen, manifest: &Manifest, is_only: bool) -> Option<(usize, String)> {
    let names = [
        manifest.symbolic_name(),
        manifest.get("Implementation-Vendor-Id"),
        manifest.get("Automatic-Module-Name"),
        manifest.get("Extension-Name"),
    ];
    let dotted = format!("{group}.");
    if let Some(name) = names.into_iter().flatten().find(|name| *name == group || name.starts_with(&dotted)) {
        return Some((1000 + group.len(), format!("the manifest names {name}")));
    }
    let path = group.replace('.', "/");
    let below = format!("{path}/");
    if let Some(package) = seen.packages.iter().find(|package| **package == path || package.starts_with(&below)) {
        return Some((500 + group.len(), format!("it has classes in {package}")));
    }
    let parts: Vec<&str> = group.split(['.', '-']).collect();
    if let Some(package) = seen.packages.iter().find(|package| in_order(&parts, package)) {
        return Some((300, format!("it has classes in {package}")));
    }
    let host: Vec<&str> = group.split('.').take(2).collect();
    let related = |package: &&String| {
        let segments: Vec<&str> = package.split('/').collect();
        host.len() == 2 && segments.starts_with(&host) && segments.iter().skip(2).any(|segment| *segment == artifact)
    };
    if let Some(package) = seen.packages.iter().find(related) {
        return Some((200, format!("it has classes in {package}")));
    }
    let titles = [manifest.get("Implementation-Title"), manifest.symbolic_name()];
    let is_named = is_only && titles.into_iter().flatten().any(|title| title == artifact);
    is_named.then(|| (100, format!("the manifest names {artifact} and no other group is known to have it")))
}

/// Whether all `parts` are segments of `package`, in this order.
fn in_order(parts: &[&str], package: &str) -> bool {
    let mut segments = package.split('/');
    parts.iter().all(|part| segments.any(|segment| segment == *part))
}

/// Identifies an archive by the ids its manifest gives.
fn by_manifest(seen: &Seen, file: &FileName, manifest: &Manifest) -> Option<Identified> {
    let (named, file_version) = file.usual().map_or((file.stem.as_str(), None), |(artifact, version)| (artifact, Some(version)));
    let version =
        file_version.filter(|version| is_version(version)).or_else(|| manifest.version().map(|(_, version)| version))?;
    let vendor = manifest.get("Implementation-Vendor-Id").filter(|id| id.contains('.'));
    let module =
        [manifest.symbolic_name(), manifest.get("Automatic-Module-Name")].into_iter().flatten().find(|name| name.contains('.'));
    let (group, artifact, source) = match (vendor, module) {
        (Some(vendor), _) => (vendor, named, vendor),
        (None, Some(module)) => match module.strip_suffix(named).and_then(|group| group.strip_suffix('.')) {
            Some(group) => (group, named, module),
            None => module.rsplit_once('.').map(|(group, artifact)| (group, artifact, module))?,
        },
        (None, None) => return None,
    };
    let coordinates = Coordinates::new(group, artifact, version)?;
    let evidence = vec![manifest_evidence(seen, format!("{source}, version {version}"))];
    Some(Identified { coordinates, path: seen.path.clone(), is_embedded: false, confidence: Confidence::Medium, evidence })
}
