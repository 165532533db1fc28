//! Reads the XML of a pom into [`Pom`], within bounds. Declared entities are never expanded: an entity of a pom's own is
//! left as it is written.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::model::{Body, Declared, Parent, Pom, Profile};
use crate::scanner::engine::xml_text::decoded;

/// Elements of one pom; the largest of the public repositories has a tenth.
const MAX_ELEMENTS: usize = 200_000;

/// Why a file is no pom. Completes the sentence "x …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::scanner) enum BadPom {
    #[error("is not XML")]
    NotXml,
    #[error("is XML, but no pom: its root is not <project>")]
    NotAPom,
    #[error("is a pom without artifactId")]
    Nameless,
    #[error("is nested deeper or has more elements than the limits allow")]
    TooMuch,
}

#[derive(Debug, Default)]
struct Element {
    name: String,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    fn all<'a>(&'a self, list: &str, item: &'a str) -> impl Iterator<Item = &'a Self> {
        self.child(list).into_iter().flat_map(move |list| list.children.iter().filter(move |child| child.name == item))
    }

    /// The trimmed text of a child; none when it is missing.
    fn text(&self, name: &str) -> Option<String> {
        self.child(name).map(|child| child.text.trim().to_owned())
    }

    fn filled(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty())
    }
}

/// Reads one pom; elements nest at most `depth` deep.
pub(in crate::scanner::engine) fn pom(content: &[u8], depth: usize) -> Result<Pom, BadPom> {
    let (root, has_entities) = tree(content, depth)?;
    if root.name != "project" {
        return Err(BadPom::NotAPom);
    }
    let artifact = root.filled("artifactId").ok_or(BadPom::Nameless)?;
    let parent = root.child("parent").map(|parent| Parent {
        group: parent.text("groupId").unwrap_or_default(),
        artifact: parent.text("artifactId").unwrap_or_default(),
        version: parent.text("version").unwrap_or_default(),
        relative_path: parent.text("relativePath"),
    });
    let profiles = root.all("profiles", "profile").map(|profile| Profile {
        id: profile.filled("id").unwrap_or_else(|| "default".to_owned()),
        is_active_by_default: profile
            .child("activation")
            .and_then(|activation| activation.text("activeByDefault"))
            .is_some_and(|flag| flag.eq_ignore_ascii_case("true")),
        body: body(profile),
    });
    Ok(Pom {
        group: root.filled("groupId"),
        artifact,
        version: root.filled("version"),
        parent,
        body: body(&root),
        profiles: profiles.collect(),
        has_entities,
    })
}

fn body(of: &Element) -> Body {
    let properties = of.child("properties").into_iter().flat_map(|list| &list.children);
    let managed = of.child("dependencyManagement");
    Body {
        properties: properties.map(|one| (one.name.clone(), one.text.trim().to_owned())).collect(),
        dependencies: of.all("dependencies", "dependency").map(declared).collect(),
        managed: managed.into_iter().flat_map(|managed| managed.all("dependencies", "dependency")).map(declared).collect(),
        modules: of.all("modules", "module").map(|one| one.text.trim().to_owned()).collect(),
    }
}

fn declared(of: &Element) -> Declared {
    let exclusion = |one: &Element| {
        let part = |name| one.filled(name).unwrap_or_else(|| "*".to_owned());
        format!("{}:{}", part("groupId"), part("artifactId"))
    };
    Declared {
        group: of.text("groupId").unwrap_or_default(),
        artifact: of.text("artifactId").unwrap_or_default(),
        version: of.filled("version"),
        kind: of.filled("type"),
        classifier: of.filled("classifier"),
        scope: of.filled("scope"),
        optional: of.filled("optional"),
        exclusions: of.all("exclusions", "exclusion").map(exclusion).collect(),
    }
}

/// The elements of a document, and whether it uses entities of its own. Broken or hostile XML ends in an error, never in more
/// work than its size.
fn tree(content: &[u8], depth: usize) -> Result<(Element, bool), BadPom> {
    let text = decoded(content);
    let mut reader = Reader::from_str(&text);
    let mut has_entities = false;
    let mut open: Vec<Element> = Vec::new();
    let mut count = 0_usize;
    loop {
        match reader.read_event().map_err(|_| BadPom::NotXml)? {
            Event::Start(start) => {
                count += 1;
                if open.len() >= depth || count > MAX_ELEMENTS {
                    return Err(BadPom::TooMuch);
                }
                open.push(Element { name: start.local_name().as_ref().to_owned(), ..Element::default() });
            }
            Event::Empty(start) => {
                count += 1;
                let Some(parent) = open.last_mut() else { return Err(BadPom::NotAPom) };
                if count > MAX_ELEMENTS {
                    return Err(BadPom::TooMuch);
                }
                parent.children.push(Element { name: start.local_name().as_ref().to_owned(), ..Element::default() });
            }
            Event::End(_) => {
                let Some(done) = open.pop() else { return Err(BadPom::NotXml) };
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => return Ok((done, has_entities)),
                }
            }
            Event::Text(text) => append(&mut open, &text),
            Event::CData(text) => append(&mut open, &text),
            Event::GeneralRef(reference) => {
                if let Ok(Some(c)) = reference.resolve_char_ref() {
                    append(&mut open, c.encode_utf8(&mut [0; 4]));
                } else {
                    let known = named(&reference);
                    has_entities |= known.is_none();
                    append(&mut open, &known.map_or_else(|| format!("&{};", &*reference), str::to_owned));
                }
            }
            Event::Eof => return Err(BadPom::NotXml),
            _ => {}
        }
    }
}

fn append(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// The five entities XML itself has.
fn named(name: &str) -> Option<&'static str> {
    match name {
        "lt" => Some("<"),
        "gt" => Some(">"),
        "amp" => Some("&"),
        "quot" => Some("\""),
        "apos" => Some("'"),
        _ => None,
    }
}
