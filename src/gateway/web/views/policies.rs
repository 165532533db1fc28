//! The policy of a company: the form with every rule, what was wrong with it, and the versions there were.

use std::collections::HashMap;

use askama::Template;

use super::admin::Tabs;
use super::layout::Chrome;
use super::words::When;
use crate::gateway::domain::policy_rules::{Change, Form, Problem, RULES, Rule, Section, changes};
use crate::gateway::domain::tenant_policy::TenantPolicy;
use crate::gateway::services::policies::{Shown, Version};
use crate::gateway::web::urls;
use crate::platform::hostile::Hostile;

/// The longest text that is shown of what somebody typed.
const SHOWN: usize = 200;

/// A form that was sent and not saved.
pub(in crate::gateway) struct Entered<'f> {
    pub(in crate::gateway) form: &'f HashMap<String, String>,
    pub(in crate::gateway) problems: &'f [Problem],
    /// Somebody else saved since the page was made.
    pub(in crate::gateway) is_stale: bool,
    /// The version the form was made from.
    pub(in crate::gateway) looked_at: u64,
}

#[derive(Template)]
#[template(path = "admin/policy.html")]
pub(in crate::gateway) struct Policy {
    chrome: Chrome,
    tabs: Tabs,
    sections: Vec<SectionView>,
    /// The form is of this version.
    version: u64,
    saved: Option<SavedView>,
    problems: Vec<ProblemView>,
    /// What differs from what holds now, when somebody else saved.
    stale: Option<Vec<Difference>>,
    history: Vec<VersionView>,
    action: &'static str,
}

struct SavedView {
    number: u64,
    at: When,
    by: String,
}

struct ProblemView {
    href: String,
    label: &'static str,
    words: String,
}

struct Difference {
    label: &'static str,
    typed: String,
    now: String,
}

struct VersionView {
    saved: SavedView,
    changes: Vec<String>,
}

/// Rules about one thing.
pub(super) struct SectionView {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) lead: &'static str,
    pub(super) rules: Vec<RuleView>,
}

/// One rule, as a field and as words.
pub(super) struct RuleView {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: String,
    pub(super) kind: &'static str,
    pub(super) value: String,
    pub(super) told: String,
    pub(super) problem: String,
}

impl RuleView {
    pub(super) fn is_flag(&self) -> bool {
        self.kind == "flag"
    }

    pub(super) fn is_checked(&self) -> bool {
        self.value == "on"
    }

    pub(super) fn is_number(&self) -> bool {
        self.kind == "number"
    }

    fn of(rule: &Rule, policy: &TenantPolicy, given: &TenantPolicy, entered: Option<&Entered<'_>>) -> Self {
        let typed = |entered: &Entered<'_>| {
            entered.form.get(rule.name).map(|text| Hostile::from(text.as_str()).short(SHOWN)).unwrap_or_default()
        };
        let problem = entered.and_then(|entered| entered.problems.iter().find(|problem| problem.rule == rule.name));
        let (told, usual) = (rule.told(policy), rule.told(given));
        let usual = if told == usual { String::new() } else { format!("The settings of this portal say {usual}.") };
        let hint =
            [rule.hint, &rule.bounds(given), &usual].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        Self {
            name: rule.name,
            label: rule.label,
            hint,
            kind: match rule.form {
                Form::Flag { .. } => "flag",
                Form::Number { .. } | Form::Optional { .. } | Form::Given { .. } => "number",
                Form::Name { .. } | Form::Colour { .. } => "text",
            },
            value: entered.map_or_else(|| rule.typed(policy), typed),
            told,
            problem: problem.map(|problem| problem.words.clone()).unwrap_or_default(),
        }
    }
}

/// Every rule of a policy, by what it is about.
pub(super) fn sections(policy: &TenantPolicy, given: &TenantPolicy, entered: Option<&Entered<'_>>) -> Vec<SectionView> {
    let of = |section: Section| {
        let (id, title, lead) = named(section);
        let rules = RULES.iter().filter(|rule| rule.section == section);
        SectionView { id, title, lead, rules: rules.map(|rule| RuleView::of(rule, policy, given, entered)).collect() }
    };
    Section::ALL.into_iter().map(of).collect()
}

const fn named(section: Section) -> (&'static str, &'static str, &'static str) {
    match section {
        Section::Shares => (
            "shares",
            "What may be shared",
            "For shares that are made from now on. Those there are keep what they were made with, and the list of shares names what \
does not fit, with two exceptions that hold at once: where shares without a code are not allowed, the link of one opens nothing, \
and where evidence is not allowed, none shows any. Recipients whose share this concerns have to open it again.",
        ),
        Section::Doors => ("doors", "How doors are guarded", "For every share, at once."),
        Section::Retention => ("retention", "How long things are kept", ""),
        Section::Branding => ("branding", "How pages look", ""),
        Section::Limits => ("limits", "What members may take", "Less than this portal gives, never more."),
    }
}

impl Policy {
    pub(in crate::gateway) fn new(chrome: Chrome, shown: &Shown, entered: Option<&Entered<'_>>) -> Self {
        let (policy, given) = (&*shown.held.policy, &*shown.given);
        let label = |name: &str| RULES.iter().find(|rule| rule.name == name).map_or("", |rule| rule.label);
        let problem = |problem: &Problem| ProblemView {
            href: format!("#{}", problem.rule),
            label: label(problem.rule),
            words: problem.words.clone(),
        };
        let stale = entered.filter(|entered| entered.is_stale).map(|entered| differences(entered.form, policy));
        Self {
            chrome,
            tabs: Tabs::at(urls::POLICY),
            sections: sections(policy, given, entered),
            version: entered.filter(|entered| !entered.is_stale).map_or(shown.held.version, |entered| entered.looked_at),
            saved: shown.versions.first().map(SavedView::of),
            problems: entered.iter().flat_map(|entered| entered.problems.iter().map(problem)).collect(),
            stale,
            history: history(&shown.versions, given),
            action: urls::POLICY,
        }
    }
}

impl SavedView {
    fn of(version: &Version) -> Self {
        Self { number: version.number, at: When::of(Some(version.saved.at)), by: version.saved.by.name.short(80) }
    }
}

/// What a form asks for that does not hold now.
fn differences(form: &HashMap<String, String>, now: &TenantPolicy) -> Vec<Difference> {
    let typed = |rule: &Rule| form.get(rule.name).map(|text| Hostile::from(text.as_str()).short(SHOWN)).unwrap_or_default();
    let differing = RULES.iter().filter(|rule| typed(rule) != rule.typed(now));
    let differing = differing.map(|rule| Difference {
        label: rule.label,
        typed: match (&rule.form, typed(rule)) {
            (Form::Flag { .. }, text) => if text.is_empty() { "no" } else { "yes" }.to_owned(),
            (_, text) if text.is_empty() => "nothing".to_owned(),
            (_, text) => text,
        },
        now: rule.told(now),
    });
    differing.collect()
}

/// The versions, each with what it changed.
pub(super) fn told(change: &Change) -> String {
    format!("{}: {} → {}", change.rule.label, change.from, change.to)
}

fn history(versions: &[Version], given: &TenantPolicy) -> Vec<VersionView> {
    let older = versions.iter().skip(1).map(|version| Some(&version.policy)).chain([None]);
    let one = |(version, older): (&Version, Option<&TenantPolicy>)| {
        // The first was put in the place of what the settings give; of one whose elder is not kept nobody knows.
        let before = older.or((version.number == 1).then_some(given));
        let changes = before.map(|before| changes(before, &version.policy).iter().map(told).collect()).unwrap_or_default();
        VersionView { saved: SavedView::of(version), changes }
    };
    versions.iter().zip(older).map(one).collect()
}
