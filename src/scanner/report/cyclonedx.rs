//! The bill of materials as CycloneDX 1.6 JSON, with vulnerabilities and what is known about their reachability. Claims no
//! more than the scan saw: what may be exploitable is in triage.

use serde_json::{Value, json};

use super::Content;
use super::bill::{self, Flaw, Part};
use crate::contract::results::Reachability;
use crate::platform::hostile::Hostile;

const ARTIFACT: &str = "artifact";

/// The document of a task; the same task gives the same bytes.
pub(super) fn document(content: &Content) -> Value {
    let parts = bill::parts(content);
    let refs: Vec<String> = parts.iter().map(|part| reference(part.purl)).collect();
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": format!("urn:uuid:{}", bill::uuid(content, "cyclonedx")),
        "version": 1,
        "metadata": {
            "timestamp": bill::instant(content),
            "tools": {"components": [{"type": "application", "name": "Cardea", "version": env!("CARGO_PKG_VERSION")}]},
            "component": {
                "type": "application",
                "bom-ref": ARTIFACT,
                "name": text(&content.artifact_name),
                "hashes": [{"alg": "SHA-256", "content": content.artifact_sha256.as_str()}],
            },
            "properties": [
                {"name": "cardea:task", "value": content.task_id.as_str()},
                {"name": "cardea:project", "value": text(&content.project_name)},
                {"name": "cardea:advisoryDate", "value": text(&content.summary.advisory_date)},
            ],
        },
        "components": parts.iter().map(component).collect::<Vec<_>>(),
        "dependencies": [{"ref": ARTIFACT, "dependsOn": refs}],
        "compositions": [{"aggregate": aggregate(content), "assemblies": [ARTIFACT]}],
        "vulnerabilities": bill::flaws(content).iter().map(vulnerability).collect::<Vec<_>>(),
    })
}

/// Whether everything in the artifact is told: not when something could not be identified or read.
fn aggregate(content: &Content) -> &'static str {
    if content.summary.unidentified.is_empty() { "unknown" } else { "incomplete" }
}

fn reference(purl: &str) -> String {
    format!("component-{}", bill::short(purl))
}

fn component(part: &Part<'_>) -> Value {
    let (group, name) = split(part);
    let (technique, confidence) = match part.identified_by {
        "file name" => ("filename", 0.6),
        "manifest" => ("manifest-analysis", 0.6),
        _ => ("manifest-analysis", 1.0),
    };
    let occurrences: Vec<Value> = part.paths.iter().map(|path| json!({"location": text(path)})).collect();
    let mut value = json!({
        "type": "library",
        "bom-ref": reference(part.purl),
        "name": text(name),
        "version": text(part.version),
        "purl": part.purl,
        "evidence": {
            "identity": [{
                "field": "purl",
                "confidence": confidence,
                "methods": [{"technique": technique, "confidence": confidence, "value": text(part.identified_by)}],
            }],
            "occurrences": occurrences,
        },
    });
    if let (Some(group), Some(fields)) = (group, value.as_object_mut()) {
        fields.insert("group".to_owned(), text(group).into());
    }
    value
}

/// Maven's group and npm's scope are fields of their own.
fn split<'a>(part: &Part<'a>) -> (Option<&'a str>, &'a str) {
    let separator = if part.purl.starts_with("pkg:maven/") { ':' } else { '/' };
    let has_group = part.purl.starts_with("pkg:maven/") || part.name.starts_with('@');
    match part.name.split_once(separator) {
        Some((group, name)) if has_group => (Some(group), name),
        _ => (None, part.name),
    }
}

fn vulnerability(flaw: &Flaw<'_>) -> Value {
    let finding = flaw.finding;
    let row = &finding.row;
    let id = bill::id(finding);
    let others = row.cve_ids.iter().chain(&finding.aliases).filter(|other| *other != id);
    let cwes: Vec<u32> = row.cwe_id.rsplit('-').next().and_then(|number| number.parse().ok()).into_iter().collect();
    let links = finding.references.iter().filter_map(|address| Hostile::from(address.as_str()).link());
    let recommendation = match &row.fixed_version {
        Some(fixed) => format!("Upgrade {} to {}.", text(&row.component.name), text(fixed)),
        None => format!("No fixed version of {} is known.", text(&row.component.name)),
    };
    let mut value = json!({
        "bom-ref": format!("vulnerability-{}", bill::short(&format!("{id}\0{}", row.component.purl))),
        "id": id,
        "source": source(id),
        "references": others.map(|other| json!({"id": other, "source": source(other)})).collect::<Vec<_>>(),
        "ratings": [{"severity": row.severity.as_str(), "method": "other"}],
        "cwes": cwes,
        "description": text(&row.title),
        "detail": text(&row.description),
        "recommendation": recommendation,
        "advisories": links.map(|url| json!({"url": url})).collect::<Vec<_>>(),
        "affects": [{"ref": reference(&row.component.purl), "versions": [{"version": text(&row.component.version), "status": "affected"}]}],
        "analysis": analysis(flaw.reachability),
    });
    if let Some(fields) = value.as_object_mut().filter(|_| !finding.published.is_empty()) {
        fields.insert("published".to_owned(), format!("{}T00:00:00Z", finding.published).into());
    }
    value
}

fn source(id: &str) -> Value {
    if id.starts_with("CVE-") {
        json!({"name": "NVD", "url": format!("https://nvd.nist.gov/vuln/detail/{id}")})
    } else if id.starts_with("GHSA-") {
        json!({"name": "GitHub Advisories", "url": format!("https://github.com/advisories/{id}")})
    } else {
        json!({"name": "OSV", "url": format!("https://osv.dev/vulnerability/{id}")})
    }
}

/// Nothing was executed, so nothing is called exploitable.
fn analysis(reachability: Option<Reachability>) -> Value {
    let (state, detail) = match reachability {
        Some(Reachability::NotPresent) => {
            let detail = "The class that makes this version vulnerable is not in the artifact.";
            return json!({"state": "not_affected", "justification": "code_not_present", "detail": detail});
        }
        Some(Reachability::Reachable) => {
            ("in_triage", "Calls lead from an entry point to the vulnerable component. Derived from bytecode, not executed.")
        }
        Some(Reachability::PresentNoPath) => {
            ("in_triage", "The vulnerable component is present; no path of calls to it was seen.")
        }
        Some(Reachability::Unknown) => ("in_triage", "Dynamic loading or a limit: nothing can be said about reachability."),
        None => ("in_triage", "The version lies in an affected range. Reachability was not examined."),
    };
    json!({"state": state, "detail": detail})
}

fn text(hostile: &str) -> String {
    Hostile::from(hostile).text()
}
