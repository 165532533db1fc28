//! The bill of materials as SPDX 2.3 JSON: the artifact contains its components. Licences are not looked at and say so.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::Content;
use super::bill::{self, Part};
use crate::platform::hostile::Hostile;

const DOCUMENT: &str = "SPDXRef-DOCUMENT";
const ARTIFACT: &str = "SPDXRef-Artifact";

/// The document of a task; the same task gives the same bytes.
pub(super) fn document(content: &Content) -> Value {
    let parts = bill::parts(content);
    let mut packages = vec![artifact(content)];
    let mut relationships = vec![relation(DOCUMENT, "DESCRIBES", ARTIFACT)];
    let mut links = links(content);
    for part in &parts {
        packages.push(package(part, links.remove(part.purl).unwrap_or_default()));
        relationships.push(relation(ARTIFACT, "CONTAINS", &reference(part.purl)));
    }
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": DOCUMENT,
        "name": text(&content.artifact_name),
        "documentNamespace": format!("https://spdx.org/spdxdocs/cardea-{}", bill::uuid(content, "spdx")),
        "creationInfo": {
            "created": bill::instant(content),
            "creators": [format!("Tool: cardea-{}", env!("CARGO_PKG_VERSION"))],
            "comment": format!("Task {}, advisories up to {}.", content.task_id, text(&content.summary.advisory_date)),
        },
        "documentDescribes": [ARTIFACT],
        "packages": packages,
        "relationships": relationships,
    })
}

fn artifact(content: &Content) -> Value {
    json!({
        "SPDXID": ARTIFACT,
        "name": text(&content.artifact_name),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "APPLICATION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": content.artifact_sha256.as_str()}],
    })
}

/// Where to read about the flaws of each component.
fn links(content: &Content) -> HashMap<&str, BTreeSet<String>> {
    let mut all: HashMap<&str, BTreeSet<String>> = HashMap::new();
    for finding in &content.findings {
        let links = finding.references.iter().filter_map(|address| Hostile::from(address.as_str()).link());
        all.entry(&finding.row.component.purl).or_default().extend(links);
    }
    all
}

fn package(part: &Part<'_>, links: BTreeSet<String>) -> Value {
    let mut external = vec![json!({
        "referenceCategory": "PACKAGE-MANAGER",
        "referenceType": "purl",
        "referenceLocator": part.purl,
    })];
    external.extend(
        links
            .into_iter()
            .map(|link| json!({"referenceCategory": "SECURITY", "referenceType": "advisory", "referenceLocator": link})),
    );
    let places: Vec<String> = part.paths.iter().map(|path| text(path)).collect();
    json!({
        "SPDXID": reference(part.purl),
        "name": text(part.name),
        "versionInfo": text(part.version),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "LIBRARY",
        "sourceInfo": format!("Identified by {} at {}", text(part.identified_by), places.join(", ")),
        "externalRefs": external,
    })
}

fn reference(purl: &str) -> String {
    format!("SPDXRef-Package-{}", bill::short(purl))
}

fn relation(from: &str, kind: &str, to: &str) -> Value {
    json!({"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to})
}

fn text(hostile: &str) -> String {
    Hostile::from(hostile).text()
}
