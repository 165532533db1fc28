//! What recipients of a share, who have no account, see of it. Both rules stand here alone, for the share, its findings and its
//! chains: credentials are taken out of every text, and what proves a finding is left out where it is hidden. Patterns name every
//! field, so that one that is added is decided on here.

use std::collections::HashSet;

use serde_json::Value;

use super::chain::{Chain, Step, StepKind};
use super::finding::{
    Advice, Component, Evidence, Finding, FindingRow, Fix, Place, Poc, Purchase, Reachability, Reference, Severity, Suggestion,
    Taint, Text,
};
use super::masking::{masked, masked_place, masked_prose};
use super::share::{Kind, PublicShare};
use crate::contract::ids::VulId;
use crate::platform::hostile::Hostile;

/// Something that recipients are shown.
pub(in crate::gateway) trait Shown: Sized {
    /// Takes credentials out of each of its texts.
    fn drop_credentials(&mut self);

    /// Leaves out whatever proves a finding or shows the scanned program from inside: evidence, proofs, code, the way of the data, the
    /// places of steps. What it is, where the finding is, and what to do about it in words stay.
    fn drop_evidence(&mut self);

    /// Without what leads out of it; most things lead nowhere.
    fn bounded(self) -> Self {
        self
    }

    /// The same as recipients see it.
    fn for_recipients(self, hides_evidence: bool) -> Self {
        let mut shown = self.bounded();
        shown.drop_credentials();
        if hides_evidence {
            shown.drop_evidence();
        }
        shown
    }
}

impl Shown for PublicShare {
    /// A share of chosen findings shows no chains that lead to none of them.
    fn bounded(mut self) -> Self {
        if self.kind != Kind::Report {
            let shown: HashSet<&VulId> = self.findings.iter().map(|row| &row.id).collect();
            self.chains.retain(|chain| chain.leads_to().any(|id| shown.contains(id)));
        }
        self
    }

    fn drop_credentials(&mut self) {
        let Self { id: _, kind, project, lang, task: _, expires: _, counts: _, findings, chains, raw } = self;
        if let Kind::Other(word) = kind {
            prose([word]);
        }
        prose([project, lang]);
        findings.iter_mut().for_each(Shown::drop_credentials);
        chains.iter_mut().for_each(Shown::drop_credentials);
        *raw = Value::Null;
    }

    fn drop_evidence(&mut self) {
        self.findings.iter_mut().for_each(Shown::drop_evidence);
        self.chains.iter_mut().for_each(Shown::drop_evidence);
        self.raw = Value::Null;
    }
}

impl Shown for FindingRow {
    fn drop_credentials(&mut self) {
        let Self {
            id: _,
            task: _,
            severity,
            title,
            category,
            description,
            cwe,
            cves,
            component,
            fixed_version,
            confidence,
            reachability,
            purchase,
            raw,
        } = self;
        prose([title, category, description, cwe, confidence]);
        prose(cves.iter_mut().chain(fixed_version));
        if let Some(Component { name, version, purl, path }) = component {
            prose([name, version, purl]);
            places([path]);
        }
        if let Severity::Other(word) = severity {
            prose([word]);
        }
        if let Some(Reachability::Other(word)) = reachability {
            prose([word]);
        }
        if let Purchase::Other(word) = purchase {
            prose([word]);
        }
        *raw = Value::Null;
    }

    fn drop_evidence(&mut self) {
        self.raw = Value::Null;
    }
}

impl Shown for Finding {
    fn drop_credentials(&mut self) {
        let Self {
            row,
            lang,
            location,
            api_path,
            api_method,
            verify_result,
            aliases,
            affected_range,
            published,
            evidence,
            references,
            fix,
            poc,
            source,
            sink,
            flow,
            snippets,
        } = self;
        row.drop_credentials();
        prose([lang, api_path, api_method, verify_result, affected_range, published]);
        prose(aliases);
        places([location]);
        for Evidence { kind, path, detail } in evidence {
            prose([kind]);
            places([path]);
            code([detail]);
        }
        for Text { text, json } in [&mut poc.script, &mut poc.output] {
            code([text]);
            *json = None;
        }
        for Taint { file, method, message, place, snippet } in [source, sink].into_iter().flatten() {
            places([file, method]);
            prose([message]);
            code([snippet]);
            place.iter_mut().for_each(Shown::drop_credentials);
        }
        flow.iter_mut().for_each(Shown::drop_credentials);
        code(snippets);
        fix.drop_credentials();
        links(references);
    }

    fn drop_evidence(&mut self) {
        let Self {
            row,
            evidence,
            fix,
            poc,
            source,
            sink,
            flow,
            snippets,
            // What it is and where it is.
            lang: _,
            location: _,
            api_path: _,
            api_method: _,
            verify_result: _,
            aliases: _,
            affected_range: _,
            published: _,
            references: _,
        } = self;
        row.drop_evidence();
        evidence.clear();
        snippets.clear();
        *poc = Poc::default();
        (*source, *sink) = (None, None);
        flow.clear();
        fix.drop_evidence();
    }
}

impl Shown for Chain {
    fn drop_credentials(&mut self) {
        let Self {
            id: _,
            title,
            category,
            severity,
            cwe,
            description,
            impact,
            precondition,
            fix,
            findings: _,
            steps,
            created: _,
            raw,
        } = self;
        prose([title, category, cwe, description, impact, precondition]);
        if let Severity::Other(word) = severity {
            prose([word]);
        }
        steps.iter_mut().for_each(Shown::drop_credentials);
        fix.drop_credentials();
        *raw = Value::Null;
    }

    fn drop_evidence(&mut self) {
        let Self {
            fix,
            steps,
            raw,
            // What it is and what it leads to.
            id: _,
            title: _,
            category: _,
            severity: _,
            cwe: _,
            description: _,
            impact: _,
            precondition: _,
            findings: _,
            created: _,
        } = self;
        steps.iter_mut().for_each(Shown::drop_evidence);
        fix.drop_evidence();
        *raw = Value::Null;
    }
}

impl Shown for Step {
    fn drop_credentials(&mut self) {
        let Self { kind, place, finding: _, category, severity, api_method, api_path, description, poc_script, poc_output } =
            self;
        if let StepKind::Other(word) = kind {
            prose([word]);
        }
        if let Severity::Other(word) = severity {
            prose([word]);
        }
        place.drop_credentials();
        prose([category, api_method, api_path, description]);
        code([poc_script, poc_output]);
    }

    fn drop_evidence(&mut self) {
        let Self {
            place,
            poc_script,
            poc_output,
            // What it does, in words, and its interface.
            kind: _,
            finding: _,
            category: _,
            severity: _,
            api_method: _,
            api_path: _,
            description: _,
        } = self;
        place.drop_evidence();
        (*poc_script, *poc_output) = (Hostile::default(), Hostile::default());
    }
}

impl Shown for Place {
    fn drop_credentials(&mut self) {
        let Self { file, class, method, archive, line: _, start_column: _, end_column: _ } = self;
        places([file, class, method, archive]);
    }

    fn drop_evidence(&mut self) {
        *self = Self::default();
    }
}

impl Shown for Fix {
    fn drop_credentials(&mut self) {
        match self {
            Self::None => {}
            Self::Text(text) => code([text]),
            Self::Suggestion(suggestion) => {
                let Suggestion {
                    principle,
                    method,
                    confidence: _,
                    before,
                    after,
                    explanation,
                    alternatives,
                    mitigations,
                    references,
                } = &mut **suggestion;
                prose([principle, method, explanation]);
                code([before, after]);
                for Advice { title, description, note } in alternatives.iter_mut().chain(mitigations) {
                    prose([title, description, note]);
                }
                links(references);
            }
        }
    }

    fn drop_evidence(&mut self) {
        if let Self::Suggestion(suggestion) = self {
            (suggestion.before, suggestion.after) = (Hostile::default(), Hostile::default());
        }
    }
}

fn prose<'t>(texts: impl IntoIterator<Item = &'t mut Hostile>) {
    texts.into_iter().for_each(|text| *text = masked_prose(text));
}

fn code<'t>(texts: impl IntoIterator<Item = &'t mut Hostile>) {
    texts.into_iter().for_each(|text| *text = masked(text));
}

fn places<'t>(texts: impl IntoIterator<Item = &'t mut Hostile>) {
    texts.into_iter().for_each(|text| *text = masked_place(text));
}

fn links(references: &mut [Reference]) {
    for Reference { kind, title, url } in references {
        prose([kind, title, url]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that every field has, and that is taken out.
    const TEXT: &str = "Words. Cookie: sid=SECRET42";

    fn text() -> Hostile {
        Hostile::from(TEXT)
    }

    fn place() -> Place {
        Place { file: text(), class: text(), method: text(), archive: text(), line: 7, start_column: 0, end_column: 0 }
    }

    fn taint() -> Taint {
        Taint { file: text(), method: text(), message: text(), place: Some(place()), snippet: text() }
    }

    fn reference() -> Reference {
        Reference { kind: text(), title: text(), url: text() }
    }

    fn fix() -> Fix {
        let advice = || Advice { title: text(), description: text(), note: text() };
        Fix::Suggestion(Box::new(Suggestion {
            principle: text(),
            method: text(),
            confidence: None,
            before: text(),
            after: text(),
            explanation: text(),
            alternatives: vec![advice()],
            mitigations: vec![advice()],
            references: vec![reference()],
        }))
    }

    fn finding() -> Finding {
        Finding {
            row: FindingRow {
                id: "v1".parse().unwrap(),
                task: None,
                severity: Severity::Other(text()),
                title: text(),
                category: text(),
                description: text(),
                cwe: text(),
                cves: vec![text()],
                component: Some(Component { name: text(), version: text(), purl: text(), path: text() }),
                fixed_version: Some(text()),
                confidence: text(),
                reachability: Some(Reachability::Other(text())),
                purchase: Purchase::Other(text()),
                raw: Value::from(TEXT),
            },
            lang: text(),
            location: text(),
            api_path: text(),
            api_method: text(),
            verify_result: text(),
            aliases: vec![text()],
            affected_range: text(),
            published: text(),
            evidence: vec![Evidence { kind: text(), path: text(), detail: text() }],
            references: vec![reference()],
            fix: fix(),
            poc: Poc {
                script: Text { text: text(), json: Some(Value::from(TEXT)) },
                output: Text { text: text(), json: Some(Value::from(TEXT)) },
            },
            source: Some(taint()),
            sink: Some(taint()),
            flow: vec![place()],
            snippets: vec![text()],
        }
    }

    fn chain() -> Chain {
        Chain {
            id: "c1".parse().unwrap(),
            title: text(),
            category: text(),
            severity: Severity::Other(text()),
            cwe: text(),
            description: text(),
            impact: text(),
            precondition: text(),
            fix: fix(),
            findings: vec!["v1".parse().unwrap()],
            steps: vec![Step {
                kind: StepKind::Other(text()),
                place: place(),
                finding: None,
                category: text(),
                severity: Severity::Other(text()),
                api_method: text(),
                api_path: text(),
                description: text(),
                poc_script: text(),
                poc_output: text(),
            }],
            created: None,
            raw: Value::from(TEXT),
        }
    }

    #[test]
    fn credentials_are_in_no_text_of_what_recipients_see() {
        let share = PublicShare {
            id: "s".parse().unwrap(),
            kind: Kind::Other(text()),
            project: text(),
            lang: text(),
            task: None,
            expires: None,
            counts: None,
            findings: vec![finding().row],
            chains: vec![chain()],
            raw: Value::from(TEXT),
        };
        for hides in [false, true] {
            let shown = [
                format!("{:?}", share.clone().for_recipients(hides)),
                format!("{:?}", finding().for_recipients(hides)),
                format!("{:?}", chain().for_recipients(hides)),
            ];
            for shown in shown {
                assert!(!shown.contains("SECRET42") && shown.contains("Words. Cookie: [left out]"), "{shown}");
            }
        }
    }

    #[test]
    fn hidden_evidence_is_left_out_of_findings_and_chains_alike_and_the_rest_stays() {
        let (found, chained) = (finding().for_recipients(true), chain().for_recipients(true));
        assert_eq!((found.evidence.len(), found.snippets.len(), found.flow.len()), (0, 0, 0));
        assert_eq!((found.source, found.sink, found.poc), (None, None, Poc::default()));
        for step in &chained.steps {
            assert!(step.poc_script.is_empty() && step.poc_output.is_empty() && step.place == Place::default());
            assert!(!step.description.is_empty() && !step.api_path.is_empty());
        }
        for fix in [found.fix, chained.fix] {
            let Fix::Suggestion(fix) = fix else { panic!("the fix in words stays") };
            assert!(fix.before.is_empty() && fix.after.is_empty(), "code of the program");
            assert!(!fix.explanation.is_empty() && fix.alternatives.len() == 1);
        }
        assert!(!found.location.is_empty() && !found.row.description.is_empty() && !chained.description.is_empty());
    }

    #[test]
    fn a_share_of_chosen_findings_shows_only_chains_that_lead_to_them() {
        let share = |kind| PublicShare {
            id: "s".parse().unwrap(),
            kind,
            project: text(),
            lang: text(),
            task: None,
            expires: None,
            counts: None,
            findings: Vec::new(),
            chains: vec![chain()],
            raw: Value::Null,
        };
        assert!(share(Kind::Findings).for_recipients(false).chains.is_empty());
        assert_eq!(share(Kind::Report).for_recipients(false).chains.len(), 1);
    }
}
