//! Reads what a build leaves in an archive: `pom.properties`, `pom.xml`, `MANIFEST.MF`. All of it may be forged or broken.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::ecosystem::Ecosystem;
use super::xml_text::decoded;

/// A pom nested deeper than this is none.
const MAX_DEPTH: usize = 32;
/// A property may stand for another property, and so on.
const MAX_STEPS: usize = 8;

/// What a component is called in its package world, with plausible characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Coordinates {
    pub(super) ecosystem: Ecosystem,
    /// Maven's; empty elsewhere.
    pub(super) group: String,
    pub(super) artifact: String,
    pub(super) version: String,
}

impl Coordinates {
    /// Of Maven. `None` when a part is empty or holds what no repository would take.
    pub(super) fn new(group: &str, artifact: &str, version: &str) -> Option<Self> {
        // Letters of any script: repositories take ASCII only, but what a build names itself is not for us to judge.
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        let name = |text: &str| (1..=200).contains(&text.len()) && text.chars().all(plain);
        let usable = name(group) && name(artifact) && is_version(version);
        usable.then(|| Self {
            ecosystem: Ecosystem::Maven,
            group: group.to_owned(),
            artifact: artifact.to_owned(),
            version: version.to_owned(),
        })
    }

    /// Of any world; Maven's name is `group:artifact`. `None` when name or version cannot be one.
    pub(super) fn of(ecosystem: Ecosystem, package: &str, version: &str) -> Option<Self> {
        if ecosystem == Ecosystem::Maven {
            let (group, artifact) = package.split_once(':')?;
            return Self::new(group, artifact, version);
        }
        let version = version.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '~' | '!');
        let usable =
            (1..=200).contains(&version.len()) && version.chars().all(plain) && version.contains(|c: char| c.is_ascii_digit());
        let artifact = ecosystem.package(package).filter(|_| usable)?;
        Some(Self { ecosystem, group: String::new(), artifact, version: version.to_owned() })
    }

    /// As advisories name it: `group:artifact` in Maven, the name elsewhere.
    pub(super) fn package(&self) -> String {
        match self.ecosystem {
            Ecosystem::Maven => format!("{}:{}", self.group, self.artifact),
            _ => self.artifact.clone(),
        }
    }

    /// The package URL.
    pub(super) fn purl(&self) -> String {
        self.ecosystem.purl(&self.package(), &self.version)
    }
}

/// Whether `text` can be a version.
pub(super) fn is_version(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '~');
    (1..=100).contains(&text.len()) && text.chars().all(plain) && text.contains(|c: char| c.is_ascii_digit())
}

/// Reads `META-INF/maven/…/pom.properties`.
pub(super) fn pom_properties(content: &[u8]) -> Option<Coordinates> {
    let text = String::from_utf8_lossy(content);
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(['=', ':'])?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    Coordinates::new(&value("groupId")?, &value("artifactId")?, &value("version")?)
}

/// Reads `META-INF/maven/…/pom.xml`: own coordinates, the parent's where the own are missing, properties where they are used.
pub(super) fn pom_xml(content: &[u8]) -> Option<Coordinates> {
    let (values, _) = leaves(content);
    let own = |name: &str| {
        values
            .get(&format!("project/{name}"))
            .or_else(|| values.get(&format!("project/parent/{name}")))
            .map(|raw| resolve(raw, &values))
    };
    Coordinates::new(&own("groupId")?, &values.get("project/artifactId").map(|raw| resolve(raw, &values))?, &own("version")?)
}

/// Said of a pom that uses entities; completes the sentence "x …".
pub(super) const OWN_ENTITIES: &str = "uses entities of its own, which are never expanded";

/// Why a `pom.xml` tells less than it should; completes the sentence "x …". None when only its parent is missing.
pub(super) fn pom_xml_fault(content: &[u8]) -> Option<&'static str> {
    leaves(content).1
}

/// The text of the elements that matter, by path, and what is wrong. Stops at the first thing that is no XML.
fn leaves(content: &[u8]) -> (BTreeMap<String, String>, Option<&'static str>) {
    let text = decoded(content);
    let mut reader = Reader::from_str(&text);
    let mut fault = None;
    let mut path: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(start)) if path.len() < MAX_DEPTH => {
                path.push(start.local_name().as_ref().to_owned());
            }
            Ok(Event::End(_)) => {
                path.pop();
            }
            Ok(Event::Text(text)) if is_wanted(&path) => {
                found.entry(path.join("/")).or_default().push_str(text.trim());
            }
            Ok(Event::GeneralRef(reference)) if is_own(&reference) => fault = Some(OWN_ENTITIES),
            Ok(Event::Start(_)) => return (found, Some("is nested too deep")),
            Ok(Event::Eof) if path.is_empty() => return (found, fault),
            Ok(Event::Eof) | Err(_) => return (found, Some("is not XML, or cut off")),
            Ok(_) => {}
        }
    }
}

/// Whether an entity is one that XML itself does not have.
fn is_own(entity: &str) -> bool {
    !entity.starts_with('#') && !matches!(entity, "lt" | "gt" | "amp" | "quot" | "apos")
}

fn is_wanted(path: &[String]) -> bool {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(
        names[..],
        ["project", "groupId" | "artifactId" | "version"]
            | ["project", "parent", "groupId" | "artifactId" | "version"]
            | ["project", "properties", _]
    )
}

/// Puts values in the place of `${…}`; what has none stays as it is and then is no valid coordinate.
fn resolve(raw: &str, values: &BTreeMap<String, String>) -> String {
    let mut text = raw.to_owned();
    for _ in 0..MAX_STEPS {
        let Some((before, rest)) = text.split_once("${") else { break };
        let Some((name, after)) = rest.split_once('}') else { break };
        let own = name.strip_prefix("project.").or_else(|| name.strip_prefix("pom."));
        let value = match own {
            Some(own) => {
                let own = own.replace('.', "/");
                values.get(&format!("project/{own}")).or_else(|| values.get(&format!("project/parent/{own}")))
            }
            None => values.get(&format!("project/properties/{name}")),
        };
        match value {
            Some(value) if value.len() <= 200 => text = format!("{before}{value}{after}"),
            _ => break,
        }
    }
    text
}

/// The main section of `META-INF/MANIFEST.MF`, as far as it tells what an archive is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest(BTreeMap<String, String>);

impl Manifest {
    /// Attributes that are kept.
    const KEPT: [&'static str; 9] = [
        "Automatic-Module-Name",
        "Bundle-SymbolicName",
        "Bundle-Version",
        "Extension-Name",
        "Implementation-Title",
        "Implementation-Vendor-Id",
        "Implementation-Version",
        "Specification-Title",
        "Specification-Version",
    ];

    /// Reads the main section; lines that begin with a blank continue the one before.
    pub(super) fn read(content: &[u8]) -> Self {
        let text = String::from_utf8_lossy(content).replace("\r\n", "\n").replace("\n ", "");
        let main = text.split("\n\n").next().unwrap_or_default();
        let attribute = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let value = value.trim();
            let kept = Self::KEPT.contains(&name) && !value.is_empty() && value.len() <= 300;
            kept.then(|| (name.to_owned(), value.to_owned()))
        };
        Self(main.lines().filter_map(attribute).collect())
    }

    /// The value of one of the kept attributes.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The OSGi name without its directives.
    pub(super) fn symbolic_name(&self) -> Option<&str> {
        self.get("Bundle-SymbolicName")?.split(';').next().map(str::trim)
    }

    /// The version it gives, and the attribute that gives it.
    pub(super) fn version(&self) -> Option<(&'static str, &str)> {
        ["Implementation-Version", "Bundle-Version", "Specification-Version"]
            .into_iter()
            .find_map(|name| self.get(name).filter(|version| is_version(version)).map(|version| (name, version)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Coordinates, Manifest, pom_properties, pom_xml};

    fn coordinates(group: &str, artifact: &str, version: &str) -> Option<Coordinates> {
        Coordinates::new(group, artifact, version)
    }

    #[test]
    fn properties_are_read_in_every_usual_form() {
        let text = b"#Generated by Maven\r\n#Mon\r\nversion=1.27\r\ngroupId = org.yaml\r\nartifactId: snakeyaml\r\n";
        assert_eq!(pom_properties(text), coordinates("org.yaml", "snakeyaml", "1.27"));
        assert_eq!(pom_properties(b"groupId=a\nartifactId=b\n"), None);
        assert_eq!(pom_properties(b"groupId=<script>\nartifactId=b\nversion=1\n"), None);
        assert_eq!(pom_properties(b"groupId=a\nartifactId=b\nversion=${project.version}\n"), None);
    }

    #[test]
    fn a_pom_takes_from_its_parent_and_its_properties() {
        let text = b"<project xmlns='x'><parent><groupId>org.p</groupId><version>1.0</version></parent>
            <artifactId>a-${flavour}</artifactId><properties><revision>2</revision><flavour>b</flavour></properties>
            <version>${revision}.${project.parent.version}</version>
            <dependencies><dependency><artifactId>other</artifactId><version>9</version></dependency></dependencies></project>";
        assert_eq!(pom_xml(text), coordinates("org.p", "a-b", "2.1.0"));
    }

    #[test]
    fn a_pom_that_explains_itself_by_itself_ends() {
        let text = b"<project><groupId>g</groupId><artifactId>a</artifactId><version>${project.version}</version></project>";
        assert_eq!(pom_xml(text), None);
        assert_eq!(pom_xml(b"<project><groupId>g</groupId><artifactId>"), None);
        assert_eq!(pom_xml("<a>".repeat(100_000).as_bytes()), None);
    }

    #[test]
    fn a_manifest_is_read_up_to_its_first_section() {
        let text = b"Manifest-Version: 1.0\r\nBundle-SymbolicName: org.exam\r\n ple;singleton:=true\r\nBundle-Version: 1.2\r\n\r\nName: x\r\nImplementation-Version: 9\r\n";
        let manifest = Manifest::read(text);
        assert_eq!(manifest.symbolic_name(), Some("org.example"));
        assert_eq!(manifest.version(), Some(("Bundle-Version", "1.2")));
    }
}
