//! Every name once: classes, methods and descriptors as small numbers.

use std::collections::HashMap;
use std::rc::Rc;

/// A name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::scanner::engine) struct Name(u32);

/// All names.
#[derive(Debug, Default)]
pub(super) struct Names {
    list: Vec<Rc<str>>,
    known: HashMap<Rc<str>, u32>,
    bytes: usize,
}

impl Names {
    /// The number of `text`, a new one when it was not seen before.
    pub(super) fn name(&mut self, text: &str) -> Name {
        if let Some(at) = self.known.get(text) {
            return Name(*at);
        }
        let at = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_add(text.len());
        let text: Rc<str> = Rc::from(text);
        self.list.push(Rc::clone(&text));
        self.known.insert(text, at);
        Name(at)
    }

    /// Bytes of all of them.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of `text`, when it has one.
    pub(super) fn find(&self, text: &str) -> Option<Name> {
        self.known.get(text).copied().map(Name)
    }

    pub(super) fn text(&self, name: Name) -> &str {
        self.list.get(name.0 as usize).map_or("", AsRef::as_ref)
    }
}
