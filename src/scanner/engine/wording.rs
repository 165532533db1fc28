//! Puts a match into words: title, description, evidence, fix. Claims nothing that was not seen.

use super::ecosystem::Ecosystem;
use super::finding::Finding;
use super::identity::Identified;
use super::matching::Match;
use super::metadata::Coordinates;
use super::upgrade::{self, Target};
use crate::contract::results::{CodeExample, Component, Confidence, Evidence, FixReference, FixSuggestion, Reachability};
use crate::platform::digest;

const CATEGORY: &str = "Vulnerable Component";
/// Weaknesses so broad that the catalogue itself discourages naming them.
const BROAD: [&str; 8] = ["CWE-20", "CWE-74", "CWE-119", "CWE-200", "CWE-264", "CWE-284", "CWE-400", "CWE-668"];

/// Words for one flaw of one component. `lacks_classes` when the advisory names classes and none of them is in the archive.
pub(super) fn finding(found: &Identified, hit: &Match<'_>, lacks_classes: bool) -> Finding {
    let coordinates = &found.coordinates;
    let package = coordinates.package();
    let version = &coordinates.version;
    let id = hit.advisory.ids.first().map_or("", String::as_str);
    let what = if hit.advisory.title.is_empty() { "a known vulnerability" } else { hit.advisory.title.as_str() };
    let (cve_ids, aliases): (Vec<String>, Vec<String>) = hit.advisory.ids.iter().cloned().partition(|id| id.starts_with("CVE-"));
    Finding {
        fingerprint: fingerprint(found, id),
        category: CATEGORY.to_owned(),
        title: format!("{} {version}: {what}", coordinates.artifact),
        description: description(found, hit, id, what),
        severity: hit.advisory.severity,
        cwe_id: weakness(&hit.advisory.cwes),
        references: hit.advisory.ids.iter().filter_map(|id| address(id)).collect(),
        cve_ids,
        aliases,
        component: Component { purl: coordinates.purl(), name: package, version: version.clone(), path: found.path.clone() },
        affected_range: hit.range.clone(),
        fixed_version: hit.fixed.map(|fixed| coordinates.ecosystem.shown(fixed)),
        fix: fix(found, hit),
        evidence: evidence(found, hit, id, lacks_classes),
        published: hit.advisory.published.clone(),
        confidence: confidence(found, hit, lacks_classes),
        flow: Vec::new(),
        reachability: lacks_classes.then_some(Reachability::NotPresent),
    }
}

/// The first weakness that says something; the broad ones only when there is no other.
pub(super) fn weakness(cwes: &[String]) -> String {
    let telling = cwes.iter().find(|cwe| !BROAD.contains(&cwe.as_str()));
    telling.or(cwes.first()).map(|cwe| cwe.to_ascii_lowercase()).unwrap_or_default()
}

/// Stable when the artifact is called something else: the part of the path before the first `!` does not count.
fn fingerprint(found: &Identified, id: &str) -> String {
    let inside = found.path.split_once('!').map_or("", |(_, inside)| inside);
    let parts = [found.coordinates.package().as_str(), found.coordinates.version.as_str(), inside, id].join("\0");
    digest::hex(&digest::sha256(parts.as_bytes()))
}

/// Ends the description of a finding until it is known whether it can be reached.
pub(super) const UNEXAMINED: &str = " Whether the application uses the vulnerable part was not examined.";

fn description(found: &Identified, hit: &Match<'_>, id: &str, what: &str) -> String {
    let c = &found.coordinates;
    let ending = if hit.is_end_unknown {
        " The advisory does not say which version is the last affected one, so a recent version may be free of it."
    } else {
        ""
    };
    let how = found.evidence.first().map_or("its contents", |evidence| evidence.kind.as_str());
    format!(
        "{} {} has {id}: {what}. Affected: {}.{ending} It was found at {} and identified by {how}.{UNEXAMINED}",
        c.package(),
        c.version,
        hit.range,
        found.path,
    )
}

fn evidence(found: &Identified, hit: &Match<'_>, id: &str, lacks_classes: bool) -> Vec<Evidence> {
    let mut all = found.evidence.clone();
    let note = |detail: String| Evidence { kind: "note".to_owned(), path: found.path.clone(), detail };
    let date = if hit.advisory.published.is_empty() { String::new() } else { format!(", published {}", hit.advisory.published) };
    let changed = hit.record.modified.get(..10).map(|day| format!(", last changed {day}")).unwrap_or_default();
    let said = format!("{id} ({}{date}{changed}) lists {} {}", hit.record.source.words(), hit.record.package, hit.range);
    all.push(Evidence { kind: "advisory".to_owned(), path: hit.record.record.clone(), detail: said });
    if hit.is_end_unknown {
        all.push(note(
            "The source of this advisory names no fixed version and lost the last affected one: upper bound unknown.".to_owned(),
        ));
    }
    if lacks_classes {
        let classes = hit.advisory.classes.join(", ");
        all.push(note(format!(
            "The vulnerable class was looked for and is not there: {classes}, in {} and in everything beside and inside it. \
             It was removed, or the distribution patched it out.",
            found.path
        )));
    }
    all
}

/// As sure as the identification; one step less for each doubt.
fn confidence(found: &Identified, hit: &Match<'_>, lacks_classes: bool) -> Confidence {
    match (found.confidence, hit.is_end_unknown) {
        _ if lacks_classes => Confidence::Low,
        (Confidence::High, false) => Confidence::High,
        (Confidence::High, true) | (Confidence::Medium, false) => Confidence::Medium,
        _ => Confidence::Low,
    }
}

fn fix(found: &Identified, hit: &Match<'_>) -> FixSuggestion {
    let c = &found.coordinates;
    let holder = found.path.rsplit_once("!/META-INF/").map_or(found.path.as_str(), |(holder, _)| holder);
    let principle = if found.is_embedded {
        format!(
            "The component is packed into {holder}: upgrade whatever brings it, or build it again with a version that has the fix."
        )
    } else {
        "Use a version of the component that has the fix. When another dependency brings it, override the version there."
            .to_owned()
    };
    let (fix_method, code_example) = match hit.fixed {
        Some(fixed) => {
            let target = upgrade::fix(c, hit, fixed);
            (format!("Upgrade {} from {} to {}", c.package(), c.version, target.words()), Some(example(c, &target)))
        }
        None => (format!("No fixed version of {} is known: replace it, or keep untrusted input away from it", c.package()), None),
    };
    let certainty = match (hit.fixed, hit.is_end_unknown, found.is_embedded) {
        (Some(_), _, false) => 0.9,
        (Some(_), _, true) => 0.7,
        (None, false, _) => 0.4,
        (None, true, _) => 0.3,
    };
    let references = hit
        .advisory
        .ids
        .iter()
        .filter_map(|id| Some(FixReference { kind: "advisory".to_owned(), title: id.clone(), url: address(id)? }));
    FixSuggestion { principle, fix_method, confidence: certainty, code_example, references: references.collect() }
}

fn example(c: &Coordinates, target: &Target) -> CodeExample {
    let package = c.package();
    let snippet = |version: &str| match c.ecosystem {
        Ecosystem::Maven => format!(
            "<dependency>\n  <groupId>{}</groupId>\n  <artifactId>{}</artifactId>\n  <version>{}</version>\n</dependency>",
            escape(&c.group),
            escape(&c.artifact),
            escape(version)
        ),
        Ecosystem::Npm => format!("\"{package}\": \"{version}\""),
        Ecosystem::PyPi => format!("{package}=={version}"),
        Ecosystem::CratesIo => format!("{package} = \"{version}\""),
        Ecosystem::Go => format!("require {package} {version}"),
    };
    let fixed = &target.version;
    let explanation = if target.is_exact {
        format!("{fixed} is the lowest version above {} that is named as fixed.", c.version)
    } else {
        format!(
            "{fixed} is named as fixed, and is of another variant than {}: take the first of your variant from there on.",
            c.version
        )
    };
    CodeExample { before: snippet(&c.version), after: snippet(fixed), explanation }
}

fn escape(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

/// Where an id is explained.
pub(super) fn address(id: &str) -> Option<String> {
    if id.starts_with("CVE-") {
        return Some(format!("https://nvd.nist.gov/vuln/detail/{id}"));
    }
    id.starts_with("GHSA-").then(|| format!("https://github.com/advisories/{id}"))
}
