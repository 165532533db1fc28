//! A chain's own content, the same on signed-in pages and on shared ones: the steps as a list, which is the content, and a drawing
//! of them made here. Every text came from a scan.

use super::finding_body::{FixView, fix_view, flow_step};
use super::words::{SeverityView, count};
use crate::contract::ids::VulId;
use crate::gateway::domain::chain::{Chain, Step, StepKind};
use crate::gateway::domain::finding::FindingRow;
use crate::platform::hostile::Hostile;

/// Steps of the list; a longer chain says how many are left out.
const LISTED: usize = 500;
/// Boxes of the drawing.
const DRAWN: usize = 12;
/// Columns of a line in a box: letters of 13 px in a box of 288.
const COLUMNS: usize = 33;
/// Width of the drawing, height of a box, and the room between two.
const WIDTH: u64 = 300;
const BOX: u64 = 62;
const ROOM: u64 = 30;

/// What `partials/chain_body.html` shows.
pub(in crate::gateway) struct ChainBody {
    pub(in crate::gateway) severity: SeverityView,
    /// Name and value.
    pub(in crate::gateway) facts: Vec<(&'static str, String)>,
    pub(in crate::gateway) description: String,
    pub(in crate::gateway) steps: Vec<StepView>,
    pub(in crate::gateway) left_out: usize,
    pub(in crate::gateway) drawing: Drawing,
    pub(in crate::gateway) impact: String,
    pub(in crate::gateway) precondition: String,
    pub(in crate::gateway) fix: FixView,
    pub(in crate::gateway) findings: Vec<FindingLink>,
}

/// A finding the chain leads to.
pub(in crate::gateway) struct FindingLink {
    pub(in crate::gateway) href: String,
    pub(in crate::gateway) title: String,
    pub(in crate::gateway) severity: Option<SeverityView>,
}

/// One step of the list.
pub(in crate::gateway) struct StepView {
    pub(in crate::gateway) number: usize,
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) word: String,
    /// `GET /orders/{id}`; empty on most steps.
    pub(in crate::gateway) api: String,
    /// `org.example.Orders.find(String):42`.
    pub(in crate::gateway) place: String,
    /// File and archive.
    pub(in crate::gateway) beside: String,
    pub(in crate::gateway) description: String,
    pub(in crate::gateway) proofs: Vec<(&'static str, String)>,
    /// The finding it reaches.
    pub(in crate::gateway) finding: Option<String>,
}

/// The drawing, with all its numbers worked out.
pub(in crate::gateway) struct Drawing {
    pub(in crate::gateway) title: String,
    /// The same in one paragraph, for those who do not see it.
    pub(in crate::gateway) words: String,
    pub(in crate::gateway) width: u64,
    pub(in crate::gateway) height: u64,
    pub(in crate::gateway) nodes: Vec<Node>,
    pub(in crate::gateway) arrows: Vec<Arrow>,
    /// Said below the last box when not all are drawn; else empty.
    pub(in crate::gateway) rest: String,
    pub(in crate::gateway) rest_y: u64,
}

/// A box with three lines.
pub(in crate::gateway) struct Node {
    pub(in crate::gateway) kind: &'static str,
    pub(in crate::gateway) y: u64,
    pub(in crate::gateway) height: u64,
    pub(in crate::gateway) head: String,
    pub(in crate::gateway) head_y: u64,
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) name_y: u64,
    pub(in crate::gateway) place: String,
    pub(in crate::gateway) place_y: u64,
}

/// From one box to the next.
pub(in crate::gateway) struct Arrow {
    pub(in crate::gateway) from: u64,
    pub(in crate::gateway) to: u64,
    /// Where its head begins.
    pub(in crate::gateway) head: u64,
}

impl ChainBody {
    /// `address` gives the page of a finding; None for one the reader may not see.
    pub(in crate::gateway) fn new(chain: &Chain, findings: &[FindingRow], address: impl Fn(&VulId) -> Option<String>) -> Self {
        let facts = [("Category", chain.category.text()), ("Weakness", chain.cwe.text().to_ascii_uppercase())];
        let steps = chain.steps.iter().take(LISTED).enumerate();
        Self {
            severity: SeverityView::of(&chain.severity),
            facts: facts.into_iter().filter(|(_, value)| !value.trim().is_empty()).collect(),
            description: chain.description.code(),
            steps: steps.map(|(at, step)| StepView::new(at + 1, step, &address)).collect(),
            left_out: chain.steps.len().saturating_sub(LISTED),
            drawing: Drawing::new(&chain.steps),
            impact: chain.impact.code(),
            precondition: chain.precondition.code(),
            fix: fix_view(&chain.fix, String::new()),
            findings: links(chain, findings, address),
        }
    }
}

/// The findings that are known by name, then those that are only named by the chain.
fn links(chain: &Chain, findings: &[FindingRow], address: impl Fn(&VulId) -> Option<String>) -> Vec<FindingLink> {
    let link = |id: &VulId| {
        let row = findings.iter().find(|row| row.id == *id);
        let title = row
            .map_or_else(|| format!("Finding {}", Hostile::from(id.as_str()).short(12)), |row| super::findings::title(row, 200));
        Some(FindingLink { href: address(id)?, title, severity: row.map(|row| SeverityView::of(&row.severity)) })
    };
    chain.leads_to().take(LISTED).filter_map(link).collect()
}

/// CSS class and word.
fn kind(kind: &StepKind) -> (&'static str, String) {
    match kind {
        StepKind::Entry => ("entry", "Entry point".to_owned()),
        StepKind::Call => ("call", "Call".to_owned()),
        StepKind::Sink => ("sink", "Vulnerable code".to_owned()),
        StepKind::Other(word) => ("call", word.short(40)),
    }
}

fn api(step: &Step) -> String {
    format!("{} {}", step.api_method.text(), step.api_path.text()).trim().to_owned()
}

impl StepView {
    fn new(number: usize, step: &Step, address: &impl Fn(&VulId) -> Option<String>) -> Self {
        let (kind, word) = kind(&step.kind);
        let place = flow_step(&step.place);
        let proofs = [("Proof of concept", step.poc_script.code()), ("What the proof printed", step.poc_output.code())];
        let named = [&step.description, &step.category].into_iter().find(|text| !text.is_empty());
        Self {
            number,
            kind,
            word,
            api: api(step),
            place: place.place,
            beside: place.beside,
            description: named.map(Hostile::code).unwrap_or_default(),
            proofs: proofs.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect(),
            finding: step.finding.as_ref().and_then(address),
        }
    }
}

impl Drawing {
    fn new(steps: &[Step]) -> Self {
        let drawn = steps.len().min(DRAWN);
        let nodes: Vec<Node> = steps.iter().take(drawn).zip(0_u64..).map(|(step, at)| Node::new(step, at)).collect();
        let arrows = nodes.windows(2).filter_map(|pair| match pair {
            [above, below] => Some(Arrow { from: above.y + BOX, to: below.y, head: below.y.saturating_sub(8) }),
            _ => None,
        });
        let left_out = (steps.len() - drawn) as u64;
        let end = nodes.last().map_or(0, |node| node.y + BOX);
        let rest = if left_out == 0 { String::new() } else { format!("{} more: see the list", count(left_out, "step", "steps")) };
        let told: Vec<String> = nodes.iter().map(|node| format!("{}: {}", node.head, node.name)).collect();
        Self {
            title: format!("The chain as a drawing of {}", count(steps.len() as u64, "step", "steps")),
            words: format!("From top to bottom, each calls the next. {}. {rest}", told.join(". ")).trim().to_owned(),
            width: WIDTH,
            height: end + if left_out == 0 { 6 } else { 32 },
            arrows: arrows.collect(),
            nodes,
            rest,
            rest_y: end + 22,
        }
    }
}

impl Node {
    fn new(step: &Step, at: u64) -> Self {
        let (kind, word) = kind(&step.kind);
        let api = api(step);
        let y = 6 + at * (BOX + ROOM);
        let file = step.place.file.text();
        let line = if step.place.line > 0 { format!(":{}", step.place.line) } else { String::new() };
        let place = if file.trim().is_empty() {
            tail(&step.place.archive.text(), COLUMNS)
        } else {
            cut(&format!("{file}{line}"), COLUMNS)
        };
        let head = if api.is_empty() { format!("{}. {word}", at + 1) } else { format!("{}. {word}: {api}", at + 1) };
        Self {
            kind,
            y,
            height: BOX,
            head: cut(&head, COLUMNS),
            head_y: y + 19,
            name: cut(&name(step), COLUMNS),
            name_y: y + 37,
            place,
            place_y: y + 54,
        }
    }
}

/// `Orders.find`, without package and parameters; else what there is.
fn name(step: &Step) -> String {
    let class = step.place.class.text();
    let class = class.rsplit('.').next().unwrap_or_default();
    let method = step.place.method.text();
    let method = method.split('(').next().unwrap_or_default();
    let named: Vec<&str> = [class, method].into_iter().filter(|text| !text.trim().is_empty()).collect();
    if !named.is_empty() {
        return named.join(".");
    }
    let told = [&step.category, &step.description].into_iter().find(|text| !text.is_empty());
    told.map(Hostile::text).unwrap_or_default()
}

/// Columns a letter takes: Chinese, Japanese and Korean ones take two.
const fn columns(letter: char) -> usize {
    if matches!(letter as u32, 0x1100..=0x115F | 0x2E80..) { 2 } else { 1 }
}

/// The beginning, with an ellipsis where something is left out.
fn cut(text: &str, most: usize) -> String {
    if text.chars().map(columns).sum::<usize>() <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let kept: String = text
        .chars()
        .take_while(|letter| {
            columns(*letter) <= left && {
                left -= columns(*letter);
                true
            }
        })
        .collect();
    format!("{kept}…")
}

/// The end, which tells more of a path.
fn tail(text: &str, most: usize) -> String {
    let backwards: String = text.chars().rev().collect();
    cut(&backwards, most).chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::domain::finding::{Place, Severity};

    fn step(class: &str) -> Step {
        Step {
            kind: StepKind::Call,
            place: Place {
                class: class.into(),
                method: "run(int)".into(),
                archive: "app.war!/WEB-INF/lib/deep.jar".into(),
                ..Place::default()
            },
            finding: None,
            category: "".into(),
            severity: Severity::read("high"),
            api_method: "".into(),
            api_path: "".into(),
            description: "".into(),
            poc_script: "".into(),
            poc_output: "".into(),
        }
    }

    #[test]
    fn a_drawing_has_an_end_and_says_what_it_leaves_out() {
        let drawing = Drawing::new(&vec![step("org.example.Loop"); 3000]);
        assert_eq!((drawing.nodes.len(), drawing.arrows.len()), (DRAWN, DRAWN - 1));
        assert_eq!(drawing.rest, "2988 steps more: see the list");
        assert!(drawing.height < 1200 && drawing.rest_y < drawing.height);
        assert!(drawing.nodes.windows(2).all(|pair| pair[0].y + BOX < pair[1].y));
        let none = Drawing::new(&[]);
        assert!(none.nodes.is_empty() && none.arrows.is_empty());
    }

    #[test]
    fn names_fit_their_box_in_any_script() {
        let long = Drawing::new(&[step(&format!("org.{}", "x".repeat(20_000))), step(&format!("org.{}", "世".repeat(500)))]);
        for node in &long.nodes {
            assert!(node.name.chars().map(columns).sum::<usize>() <= COLUMNS && node.name.ends_with('…'), "{}", node.name);
            assert_eq!(node.place, "app.war!/WEB-INF/lib/deep.jar");
        }
        assert_eq!(name(&step("org.example.Orders")), "Orders.run");
        assert_eq!(tail("abcdef", 4), "…def");
    }
}
