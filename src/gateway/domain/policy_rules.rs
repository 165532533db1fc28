//! The rules a company can set, one by one: what each is called, what it may be, how it is read from a form and told to people.
//! The form, the check of what was typed, the list of changes and the pages that only show a policy all go by this table.

use std::collections::HashMap;

use super::branding::Colour;
use super::tenant_policy::TenantPolicy;
use crate::platform::digits::whole;

/// The longest name of a company, in characters.
const LONGEST_NAME: usize = 60;

/// What rules are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Section {
    Shares,
    Doors,
    Retention,
    Branding,
    Limits,
}

impl Section {
    pub(in crate::gateway) const ALL: [Self; 5] = [Self::Shares, Self::Doors, Self::Retention, Self::Branding, Self::Limits];
}

/// One rule.
pub(in crate::gateway) struct Rule {
    /// Of the form's field and in the audit trail.
    pub(in crate::gateway) name: &'static str,
    pub(in crate::gateway) section: Section,
    pub(in crate::gateway) label: &'static str,
    pub(in crate::gateway) hint: &'static str,
    pub(in crate::gateway) form: Form,
}

/// What a rule's value is, and where it stands in a policy.
pub(in crate::gateway) enum Form {
    Flag {
        get: fn(&TenantPolicy) -> bool,
        set: fn(&mut TenantPolicy, bool),
    },
    Number {
        least: u64,
        most: u64,
        get: fn(&TenantPolicy) -> u64,
        set: fn(&mut TenantPolicy, u64),
    },
    /// Nothing typed is no bound.
    Optional {
        most: u64,
        get: fn(&TenantPolicy) -> Option<u64>,
        set: fn(&mut TenantPolicy, Option<u64>),
    },
    /// At most what the settings give; 0 there and here is no bound where `may_be_none`.
    Given {
        may_be_none: bool,
        get: fn(&TenantPolicy) -> u64,
        set: fn(&mut TenantPolicy, u64),
    },
    Name {
        get: fn(&TenantPolicy) -> &str,
        set: fn(&mut TenantPolicy, String),
    },
    Colour {
        get: fn(&TenantPolicy) -> &str,
        set: fn(&mut TenantPolicy, String),
    },
}

/// Something about a form that keeps it from being saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Problem {
    /// The rule's name.
    pub(in crate::gateway) rule: &'static str,
    pub(in crate::gateway) words: String,
}

/// A rule that is not as it was.
#[derive(Clone)]
pub(in crate::gateway) struct Change {
    pub(in crate::gateway) rule: &'static Rule,
    pub(in crate::gateway) from: String,
    pub(in crate::gateway) to: String,
}

macro_rules! number {
    ($name:literal, $section:ident, $label:literal, $hint:literal, $least:literal..=$most:literal, $($path:ident).+) => {
        Rule {
            name: $name, section: Section::$section, label: $label, hint: $hint,
            form: Form::Number {
                least: $least, most: $most,
                get: |policy| u64::from(policy.$($path).+),
                set: |policy, value| policy.$($path).+ = u32::try_from(value).unwrap_or(u32::MAX),
            },
        }
    };
}

macro_rules! flag {
    ($name:literal, $section:ident, $label:literal, $hint:literal, $($path:ident).+) => {
        Rule {
            name: $name, section: Section::$section, label: $label, hint: $hint,
            form: Form::Flag { get: |policy| policy.$($path).+, set: |policy, value| policy.$($path).+ = value },
        }
    };
}

macro_rules! calls {
    ($name:literal, $label:literal, $hint:literal, $field:ident) => {
        Rule {
            name: $name,
            section: Section::Limits,
            label: $label,
            hint: $hint,
            form: Form::Given {
                may_be_none: true,
                get: |policy| policy.limits.$field,
                set: |policy, value| policy.limits.$field = value,
            },
        }
    };
}

/// Every rule, in the order of the form.
pub(in crate::gateway) static RULES: &[Rule] = &[
    flag!(
        "without_code",
        Shares,
        "Shares may be made without a code",
        "Then everybody who has the link can open them, whoever it was sent to.",
        shares.without_code
    ),
    flag!(
        "evidence",
        Shares,
        "Shares may show evidence and proof-of-concept text",
        "Their maker can still hide it, share by share.",
        shares.evidence
    ),
    number!("usual_days", Shares, "Days until a share ends, unless its maker says otherwise", "", 1..=366, shares.usual_days),
    number!("most_days", Shares, "Days until a share ends at the latest", "", 1..=366, shares.most_days),
    Rule {
        name: "most_views",
        section: Section::Shares,
        label: "A share opens at most this often",
        hint: "Leave it empty to let its maker decide. Reading again within the time below is no further opening.",
        form: Form::Optional {
            most: 100_000,
            get: |policy| policy.shares.most_views.map(u64::from),
            set: |policy, value| policy.shares.most_views = value.and_then(|value| u32::try_from(value).ok()),
        },
    },
    number!("grant_minutes", Doors, "Minutes an opened share stays open for its recipient", "", 1..=1440, shares.grant_minutes),
    number!(
        "wrong_by_network",
        Doors,
        "Wrong codes from one network before it has to wait",
        "A network is a whole office; the right code from another one still opens the share.",
        1..=1000,
        shares.wrong_by_network
    ),
    number!(
        "network_minutes",
        Doors,
        "Minutes those count, and that the network then waits",
        "",
        1..=10_080,
        shares.network_minutes
    ),
    number!(
        "wrong_anywhere",
        Doors,
        "Wrong codes from all networks together before everybody has to wait",
        "",
        1..=100_000,
        shares.wrong_anywhere
    ),
    number!("anywhere_minutes", Doors, "Minutes those count", "", 1..=10_080, shares.anywhere_minutes),
    number!("locked_minutes", Doors, "Minutes everybody then waits", "", 1..=10_080, shares.locked_minutes),
    number!(
        "wrong_in_life",
        Doors,
        "Wrong codes in the life of a code before it opens nothing any more",
        "Its owner is told and can set a new one.",
        1..=1_000_000,
        shares.wrong_in_life
    ),
    number!(
        "kept_days",
        Retention,
        "Days a share that is over stays in the list",
        "Without what it showed and without its code: times, counts and who came. Holds for shares that are made from now on.",
        0..=3660,
        shares.kept_days
    ),
    number!(
        "user_days",
        Retention,
        "Days a person stays in the list of users after their last sign-in",
        "Who is disabled stays until they are enabled again. Holds for each person from their next sign-in on.",
        1..=3660,
        retention.user_days
    ),
    Rule {
        name: "name",
        section: Section::Branding,
        label: "Name of the company",
        hint: "In the heading of every page, also of those for recipients of shares. At most 60 characters.",
        form: Form::Name { get: |policy| &policy.branding.name, set: |policy, value| policy.branding.name = value },
    },
    Rule {
        name: "accent",
        section: Section::Branding,
        label: "Accent colour",
        hint: "Such as #2457d6. Pages use the nearest tone of it that reads well on light and on dark.",
        form: Form::Colour { get: |policy| &policy.branding.accent, set: |policy, value| policy.branding.accent = value },
    },
    flag!(
        "shows_logo",
        Branding,
        "Show the logo from the settings, where there is one",
        "Else the first letter of the name stands in its place.",
        branding.shows_logo
    ),
    Rule {
        name: "sessions_per_user",
        section: Section::Limits,
        label: "Sessions a person may have at once",
        hint: "With one more the oldest ends.",
        form: Form::Given {
            may_be_none: false,
            get: |policy| u64::from(policy.limits.sessions_per_user),
            set: |policy, value| policy.limits.sessions_per_user = u32::try_from(value).unwrap_or(u32::MAX),
        },
    },
    calls!("calls_of_tenant", "API calls of the whole company in a window", "What is more is refused with 429.", calls_of_tenant),
    calls!("calls_of_caller", "API calls of one person or key in a window", "", calls_of_caller),
    calls!("calls_of_network", "API calls from one address in a window", "", calls_of_network),
];

impl Rule {
    /// The value as a field holds it.
    pub(in crate::gateway) fn typed(&self, policy: &TenantPolicy) -> String {
        match &self.form {
            Form::Flag { get, .. } => if get(policy) { "on" } else { "" }.to_owned(),
            Form::Number { get, .. } | Form::Given { get, .. } => get(policy).to_string(),
            Form::Optional { get, .. } => get(policy).map(|value| value.to_string()).unwrap_or_default(),
            Form::Name { get, .. } | Form::Colour { get, .. } => get(policy).to_owned(),
        }
    }

    /// The value for eyes, and for the audit trail.
    pub(in crate::gateway) fn told(&self, policy: &TenantPolicy) -> String {
        match &self.form {
            Form::Flag { get, .. } => if get(policy) { "yes" } else { "no" }.to_owned(),
            Form::Optional { get, .. } => get(policy).map_or_else(|| "no bound".to_owned(), |value| value.to_string()),
            Form::Given { get, .. } if get(policy) == 0 => "no bound".to_owned(),
            _ => self.typed(policy),
        }
    }

    /// What may be typed, as a sentence; empty where there is nothing to say.
    pub(in crate::gateway) fn bounds(&self, given: &TenantPolicy) -> String {
        match &self.form {
            Form::Number { least, most, .. } => format!("{least} to {most}."),
            Form::Optional { most, .. } => format!("1 to {most}, or nothing."),
            Form::Given { get, may_be_none, .. } => match (get(given), may_be_none) {
                (0, _) => "0 is no bound.".to_owned(),
                (most, _) => format!("1 to {most}, which is what this portal gives."),
            },
            Form::Flag { .. } | Form::Name { .. } | Form::Colour { .. } => String::new(),
        }
    }

    /// Takes what was typed into `policy`, or says what is wrong with it.
    fn take(&self, typed: Option<&str>, (policy, given): (&mut TenantPolicy, &TenantPolicy)) -> Result<(), String> {
        let text = typed.unwrap_or_default().trim();
        let number = |least: u64, most: u64| {
            let words = || format!("Type a whole number from {least} to {most}.");
            whole(text).filter(|read| (least..=most).contains(read)).ok_or_else(words)
        };
        match &self.form {
            Form::Flag { set, .. } => set(policy, typed.is_some()),
            Form::Number { least, most, set, .. } => set(policy, number(*least, *most)?),
            Form::Optional { set, .. } if text.is_empty() => set(policy, None),
            Form::Optional { most, set, .. } => set(policy, Some(number(1, *most)?)),
            Form::Given { may_be_none, get, set } => match get(given) {
                0 => set(policy, number(u64::from(!may_be_none), u64::from(u32::MAX))?),
                most => set(policy, number(1, most)?),
            },
            Form::Name { set, .. } => set(policy, name(text)?),
            Form::Colour { set, .. } => {
                Colour::parse(text).ok_or("Type a colour as # and six of the digits 0 to 9 and a to f.")?;
                set(policy, text.to_ascii_lowercase());
            }
        }
        Ok(())
    }
}

fn name(text: &str) -> Result<String, String> {
    let shown = crate::platform::hostile::Hostile::from(text).text();
    if crate::platform::hostile::Hostile::from(text).is_empty() || text.chars().count() > LONGEST_NAME {
        return Err(format!("Type 1 to {LONGEST_NAME} characters."));
    }
    if shown != text {
        return Err("Type a name without line breaks and without characters that cannot be seen.".to_owned());
    }
    Ok(text.to_owned())
}

/// The policy that a form asks for, or everything that is wrong with it.
pub(in crate::gateway) fn read(
    form: &HashMap<String, String>,
    now: &TenantPolicy,
    given: &TenantPolicy,
) -> Result<TenantPolicy, Vec<Problem>> {
    let mut policy = now.clone();
    let mut problems = Vec::new();
    for rule in RULES {
        if let Err(words) = rule.take(form.get(rule.name).map(String::as_str), (&mut policy, given)) {
            problems.push(Problem { rule: rule.name, words });
        }
    }
    problems.extend(misfits(&policy).into_iter().filter(|problem| form_is_sound(&problems, problem)).collect::<Vec<_>>());
    if problems.is_empty() { Ok(policy) } else { Err(problems) }
}

/// Whether the fields that a misfit is about can be read at all.
fn form_is_sound(problems: &[Problem], misfit: &Problem) -> bool {
    let other = match misfit.rule {
        "usual_days" => "most_days",
        "wrong_anywhere" => "wrong_by_network",
        _ => "wrong_anywhere",
    };
    !problems.iter().any(|problem| [misfit.rule, other].contains(&problem.rule))
}

/// Rules that do not fit together.
fn misfits(policy: &TenantPolicy) -> Vec<Problem> {
    let shares = policy.shares;
    let all = [
        (shares.usual_days > shares.most_days, "usual_days", "This is longer than the longest time below."),
        (
            shares.wrong_anywhere < shares.wrong_by_network,
            "wrong_anywhere",
            "This is less than the wrong codes of one network, so one network could close the door for everybody.",
        ),
        (
            shares.wrong_in_life < shares.wrong_anywhere,
            "wrong_in_life",
            "This is less than the wrong codes from all networks, so a code would be dead before anybody has to wait.",
        ),
    ];
    let wrong = all.into_iter().filter(|(is_wrong, ..)| *is_wrong);
    wrong.map(|(_, rule, words)| Problem { rule, words: words.to_owned() }).collect()
}

/// What is different in `new`.
pub(in crate::gateway) fn changes(old: &TenantPolicy, new: &TenantPolicy) -> Vec<Change> {
    let changed = RULES.iter().filter(|rule| rule.typed(old) != rule.typed(new));
    changed.map(|rule| Change { rule, from: rule.told(old), to: rule.told(new) }).collect()
}

/// The changes for the audit trail: values are ours but for the name, which is not told.
pub(in crate::gateway) fn in_words(changes: &[Change]) -> String {
    let one = |change: &Change| match change.rule.form {
        Form::Name { .. } => format!("{} changed", change.rule.name),
        _ => format!("{} {} -> {}", change.rule.name, change.from, change.to),
    };
    changes.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::domain::tenant_policy::tests::given;

    fn form(policy: &TenantPolicy) -> HashMap<String, String> {
        let fields = RULES.iter().map(|rule| (rule.name.to_owned(), rule.typed(policy)));
        fields.filter(|(name, value)| !(value.is_empty() && name != "most_views")).collect()
    }

    fn with(changes: &[(&str, &str)]) -> HashMap<String, String> {
        let mut form = form(&given());
        form.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        form
    }

    #[test]
    fn what_a_form_shows_is_read_as_the_same_policy() {
        assert_eq!(read(&form(&given()), &given(), &given()).unwrap(), given());
        let changed = read(&with(&[("most_days", "30"), ("most_views", "5"), ("accent", "#ABCDEF")]), &given(), &given());
        let changed = changed.unwrap();
        assert_eq!((changed.shares.most_days, changed.shares.most_views), (30, Some(5)));
        assert_eq!(
            in_words(&changes(&given(), &changed)),
            "most_days 90 -> 30; most_views no bound -> 5; accent #2457d6 -> #abcdef"
        );
        let mut unticked = form(&given());
        unticked.remove("without_code");
        assert!(!read(&unticked, &given(), &given()).unwrap().shares.without_code);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let form = with(&[
            ("usual_days", "0"),
            ("most_days", "1e3"),
            ("most_views", "-1"),
            ("wrong_by_network", "30"),
            ("locked_minutes", ""),
            ("name", " "),
            ("accent", "red"),
            ("sessions_per_user", "21"),
            ("calls_of_tenant", "0"),
            ("calls_of_caller", "0"),
        ]);
        let problems = read(&form, &given(), &given()).unwrap_err();
        let named: Vec<&str> = problems.iter().map(|problem| problem.rule).collect();
        assert_eq!(
            named,
            [
                "usual_days",
                "most_days",
                "most_views",
                "locked_minutes",
                "name",
                "accent",
                "sessions_per_user",
                "calls_of_tenant",
                "wrong_anywhere"
            ]
        );
        let one = |changes: &[(&str, &str)]| read(&with(changes), &given(), &given()).unwrap_err()[0].rule;
        assert_eq!(one(&[("usual_days", "91")]), "usual_days");
        assert_eq!(one(&[("accent", "#+1+2+3")]), "accent");
        assert_eq!(one(&[("most_days", "+30")]), "most_days");
        assert_eq!(one(&[("wrong_in_life", "19")]), "wrong_in_life");
        assert_eq!(one(&[("name", &"x".repeat(61))]), "name");
        assert_eq!(one(&[("name", "a\u{202e}b")]), "name");
        assert!(read(&with(&[("name", "Größe & Söhne")]), &given(), &given()).is_ok());
    }

    #[test]
    fn rules_have_names_of_their_own_and_the_audit_trail_is_told_no_text_of_people() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        let mut renamed = given();
        renamed.branding.name = "Somebody else".to_owned();
        assert_eq!(in_words(&changes(&given(), &renamed)), "name changed");
    }
}
