//! Reads annotations from the bytes of their attribute: types, and the texts of their elements. Bounded in depth.

use super::hidden::{Texts, u16_at};
use super::room::Room;

/// Annotations inside annotations.
const DEEPEST: u8 = 16;

/// One annotation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Annotation {
    /// `org.springframework.web.bind.annotation.GetMapping` with slashes.
    pub(super) class: String,
    /// Element and a text or the name of an enum constant in it.
    pub(super) values: Vec<(String, String)>,
}

impl Annotation {
    /// All texts of the elements with one of these names.
    pub(super) fn texts<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        self.values.iter().filter(|(name, _)| names.contains(&name.as_str())).map(|(_, text)| text.as_str())
    }
}

struct Reader<'a> {
    class: &'a [u8],
    texts: &'a Texts,
    bytes: &'a [u8],
    at: usize,
    room: &'a mut Room,
}

/// The annotations of an attribute; what cannot be read ends the list.
pub(super) fn read(class: &[u8], texts: &Texts, bytes: &[u8], room: &mut Room) -> Vec<Annotation> {
    let mut reader = Reader { class, texts, bytes, at: 0, room };
    let mut all = Vec::new();
    for _ in 0..reader.u16().unwrap_or(0) {
        let mut one = Annotation::default();
        if reader.annotation(&mut one, 0).is_none() {
            break;
        }
        all.push(one);
    }
    all
}

impl<'a> Reader<'a> {
    fn u16(&mut self) -> Option<u16> {
        let value = u16_at(self.bytes, self.at)?;
        self.at += 2;
        Some(value)
    }

    fn text(&mut self) -> Option<&'a str> {
        let index = self.u16()?;
        self.texts.get(self.class, index)
    }

    fn annotation(&mut self, into: &mut Annotation, depth: u8) -> Option<()> {
        let class = self.text()?;
        if depth == 0 {
            self.room.take(&[class])?;
            into.class = class.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(class).to_owned();
        }
        for _ in 0..self.u16()? {
            let name = self.text()?;
            self.value(into, name, depth)?;
        }
        Some(())
    }

    /// Takes a text in as a value of the element `name`.
    fn keep(&mut self, into: &mut Annotation, name: &str) -> Option<()> {
        let text = self.text()?;
        self.room.take(&[name, text])?;
        into.values.push((name.to_owned(), text.to_owned()));
        Some(())
    }

    fn value(&mut self, into: &mut Annotation, name: &str, depth: u8) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let tag = *self.bytes.get(self.at)?;
        self.at += 1;
        match tag {
            b's' => {
                self.keep(into, name)?;
            }
            b'e' => {
                self.u16()?;
                self.keep(into, name)?;
            }
            // What lies deeper keeps the outer element's name: WebInitParam and the like are not looked at.
            b'@' => self.annotation(&mut Annotation::default(), depth + 1)?,
            b'[' => {
                for _ in 0..self.u16()? {
                    self.value(into, name, depth + 1)?;
                }
            }
            _ => {
                self.u16()?;
            }
        }
        Some(())
    }
}
