//! The page of one share: how it stands, what is enforced by whom, what can be changed, who came.

use askama::Template;

use super::layout::Chrome;
use super::new_share::{Refusal, Told};
use super::shares::{badge, minutes, project, views, what};
use super::words::{Badge, When, count};
use crate::contract::reports::ReportLanguage;
use crate::contract::shares::ShareType;
use crate::gateway::domain::extraction_code::SHORTEST;
use crate::gateway::domain::share_entry::{Access, Outcome, State};
use crate::gateway::domain::share_policy::SharePolicy;
use crate::gateway::services::shares::{AtService, OneShare, Seen, Standing};
use crate::gateway::web::page::Page;
use crate::gateway::web::urls;

/// A share.
#[derive(Template)]
#[template(path = "shares/show.html")]
pub(in crate::gateway) struct SharePage {
    chrome: Chrome,
    told: Told,
    short_id: String,
    project: String,
    task: String,
    what: String,
    badge: Badge,
    /// What the state means and what can be done, where that needs words.
    news: String,
    at_service: &'static str,
    made: When,
    made_by: String,
    ends: When,
    has_end: bool,
    ended: Option<(When, String)>,
    views: String,
    opened: Option<When>,
    /// Wrong codes; none where it has no code.
    wrong: Option<String>,
    /// Networks that wait, where others do not.
    waiting: Vec<Waiting>,
    note: String,
    rules: Vec<Rule>,
    accesses: Vec<AccessView>,
    /// Forms for whoever made it, while it can be changed.
    changes: Option<Changes>,
    /// Ends it, or tells the service once more.
    end: Option<End>,
}

/// A network from which nobody gets in for now.
struct Waiting {
    network: String,
    until: When,
}

/// What is enforced, and by whom.
struct Rule {
    what: &'static str,
    value: String,
    by: &'static str,
}

struct AccessView {
    at: When,
    word: &'static str,
    network: String,
    device: String,
}

struct Changes {
    extend: String,
    code: String,
    first: String,
    last: String,
    day: String,
    most_days: u32,
    once: String,
    shortest: usize,
    has_code: bool,
    /// The form comes back, and a code of one's own was chosen in it.
    has_own: bool,
}

struct End {
    action: String,
    /// It is over here, and the service still has it.
    again: bool,
}

const BY_BOTH: &str = "The scanning service, and this portal at the door";
const BY_PORTAL: &str = "This portal, at the door";

impl SharePage {
    /// With `refusal`, what came back; `has_own`: with a code of its sender's own.
    pub(in crate::gateway) fn new(page: &Page, share: &OneShare, refusal: Refusal, has_own: bool) -> Self {
        let (seen, entry) = (&share.seen, &share.seen.entry);
        let title = format!("Share {}", seen.mark.short());
        let is_over = matches!(seen.standing, Standing::Is(State::Ended | State::Expired));
        let can_change = seen.is_own && !is_over && seen.standing != Standing::Is(State::UsedUp);
        let at_service = share.at_service == AtService::Known;
        Self {
            chrome: page.chrome(if refusal.is_none() { title } else { format!("Error: {title}") }, "shares"),
            told: Told::new(refusal, has_own),
            short_id: seen.mark.short().to_owned(),
            project: project(&entry.project, 200),
            task: urls::task(&entry.task),
            what: what(entry),
            badge: badge(seen.standing),
            news: news(seen.standing, seen.is_own),
            at_service: at_service_words(share.at_service, is_over),
            made: When::of(Some(entry.made)),
            made_by: entry.maker.name.short(80),
            ends: When::of(entry.ends),
            has_end: entry.ends.is_some() && entry.ended.is_none(),
            ended: entry.ended.as_ref().map(|(at, by)| (When::of(Some(*at)), by.short(80))),
            views: views(entry),
            opened: entry.last_opened.map(|at| When::of(Some(at))),
            wrong: entry.needs_code.then(|| count(seen.wrong, "wrong code", "wrong codes")),
            waiting: if seen.standing == Standing::Is(State::Open) { waiting(share) } else { Vec::new() },
            note: if is_over { String::new() } else { entry.note.code() },
            rules: if is_over { Vec::new() } else { rules(seen, &share.policy) },
            accesses: share.accesses.iter().map(AccessView::of).collect(),
            changes: can_change.then(|| Changes::of(share, has_own)),
            end: (!is_over || at_service).then(|| End { action: urls::share_end(&seen.mark), again: is_over }),
        }
    }
}

/// The networks that wait now, each once.
fn waiting(share: &OneShare) -> Vec<Waiting> {
    let mut waiting: Vec<Waiting> = Vec::new();
    for access in &share.accesses {
        if let Outcome::NetworkWaits { until, codes } = access.outcome
            && until > share.now
            && codes == share.seen.entry.codes
            && !waiting.iter().any(|known| known.network == access.network)
        {
            waiting.push(Waiting { network: access.network.clone(), until: When::of(Some(until)) });
        }
    }
    waiting
}

fn news(standing: Standing, is_own: bool) -> String {
    match standing {
        Standing::ByPolicy => {
            let way = if is_own {
                " Set a code below: then it opens again, by another link."
            } else {
                " Whoever made it can set a code; then it opens again."
            };
            format!(
                "Your company allows no shares without a code any more, so this link opens nothing and whoever was inside is out.{way}"
            )
        }
        Standing::Locked(wait) => {
            let way = if is_own { " A new code unlocks it at once." } else { "" };
            format!(
                "Too many wrong codes were typed, from several networks. For {} only somebody who has not tried before is let in with \
the right code.{way}",
                minutes(wait)
            )
        }
        Standing::Is(State::CodeDead) => {
            let way = if is_own { " Set a new code below, or end the share." } else { "" };
            format!("The code opens nothing any more: it was guessed at too often, or changing it was cut off.{way}")
        }
        Standing::Is(State::UsedUp) => "Every view is spent. Whoever is inside stays until their time is over.".to_owned(),
        Standing::Is(State::Open | State::Expired | State::Ended) => String::new(),
    }
}

const fn at_service_words(at: AtService, is_over: bool) -> &'static str {
    match (at, is_over) {
        (AtService::Known, false) => "The scanning service has this share.",
        (AtService::Known, true) => "The scanning service still has this share; nothing opens it here.",
        (AtService::Missing, false) => {
            "The scanning service does not have this share any more, so it opens nothing. You can end it."
        }
        (AtService::Missing, true) => "The scanning service does not have it any more.",
        (AtService::Unknown, _) => "The scanning service does not say at the moment whether it has this share.",
    }
}

fn rules(seen: &Seen, policy: &SharePolicy) -> Vec<Rule> {
    let entry = &seen.entry;
    let mut rules = vec![
        Rule { what: "End", value: When::of(entry.ends).words, by: BY_BOTH },
        Rule {
            what: "Code",
            value: match (entry.needs_code, seen.standing) {
                (true, _) => "Needed".to_owned(),
                (false, Standing::ByPolicy) => "None, which your company does not allow: nothing opens it".to_owned(),
                (false, _) => "None: the link alone opens it".to_owned(),
            },
            by: if seen.standing == Standing::ByPolicy { BY_PORTAL } else { BY_BOTH },
        },
        Rule {
            what: "Views",
            value: entry.most_views.map_or_else(|| "As many as wanted".to_owned(), |most| format!("At most {most}")),
            by: BY_PORTAL,
        },
        Rule {
            what: "Time inside",
            value: format!("{} for one view", count(u64::from(policy.grant_minutes), "minute", "minutes")),
            by: BY_PORTAL,
        },
    ];
    if entry.needs_code {
        let SharePolicy { wrong_by_network, wrong_anywhere, locked_minutes, wrong_in_life, .. } = policy;
        rules.push(Rule {
            what: "Wrong codes",
            value: format!(
                "{wrong_by_network} from one network, then it waits; {wrong_anywhere} from all, then everybody waits {locked_minutes} \
minutes; {wrong_in_life} in all, then the code is worthless"
            ),
            by: BY_PORTAL,
        });
    }
    rules.push(Rule {
        what: "Evidence and proofs",
        value: if entry.hides_evidence || !policy.evidence { "Hidden".to_owned() } else { "Shown".to_owned() },
        by: BY_PORTAL,
    });
    if entry.kind == ShareType::Report {
        rules.push(Rule {
            what: "Language of the report",
            value: language(&entry.language).to_owned(),
            by: "The scanning service",
        });
    }
    rules
}

/// The name of a report's language.
pub(in crate::gateway) fn language(tag: &str) -> &'static str {
    match ReportLanguage::read(Some(tag)) {
        ReportLanguage::English => "English",
        ReportLanguage::Chinese => "Chinese",
    }
}

impl AccessView {
    fn of(access: &Access) -> Self {
        Self {
            at: When::of(Some(access.at)),
            word: match access.outcome {
                Outcome::Opened => "Opened",
                Outcome::WrongCode => "Wrong code",
                Outcome::TooLate => "Right code, but over or spent",
                Outcome::NetworkWaits { .. } => "Wrong code, the last of too many: this network waits",
                Outcome::TurnedAway => "Turned away: this network waits",
                Outcome::Locked => "Turned away: too many wrong codes",
                Outcome::ByPolicy => "Turned away: the policy allows no share without a code",
                Outcome::CodeDead => "Turned away: the code is worthless",
                Outcome::Report => "Report downloaded",
                Outcome::Left => "Ended their access",
            },
            network: access.network.clone(),
            device: access.device.words(),
        }
    }
}

impl Changes {
    fn of(share: &OneShare, has_own: bool) -> Self {
        let (mark, days) = (&share.seen.mark, &share.days);
        Self {
            extend: urls::share_extend(mark),
            code: urls::share_code(mark),
            first: days.first.clone(),
            last: days.last.clone(),
            day: share
                .seen
                .entry
                .ends
                .and_then(|ends| Some(ends.rfc3339().get(..10)?.to_owned()))
                .unwrap_or_else(|| days.usual.clone()),
            most_days: days.most,
            once: share.once.clone(),
            shortest: SHORTEST,
            has_code: share.seen.entry.needs_code,
            has_own,
        }
    }
}
