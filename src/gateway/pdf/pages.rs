//! The pages of a PDF, each with the words at its foot (ISO 32000-2, 7.7.3): what they inherit, what they show, what they use.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::file::File;
use super::lexer::{Dict, inner, is_name, items, number, reference};
use super::text::{Window, shown};
use super::update::Update;

/// The font of the words in the resources of a page. A name that no other program uses.
const FONT: &str = "CardeaShareLine";
const COURIER: &[u8] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>";

/// How deep the tree of pages may be.
const DEEPEST: usize = 64;

/// US Letter, where a file does not say how large its pages are.
const LETTER: [f64; 4] = [0.0, 0.0, 612.0, 792.0];

/// What pages have from those above them.
#[derive(Clone, Default)]
struct Inherited {
    media_box: Option<Vec<u8>>,
    crop_box: Option<Vec<u8>>,
    rotate: Option<Vec<u8>>,
    resources: Option<Vec<u8>>,
}

impl Inherited {
    fn with(&self, dict: &Dict<'_>) -> Self {
        let own = |name, above: &Option<Vec<u8>>| dict.get(name).map(<[u8]>::to_vec).or_else(|| above.clone());
        Self {
            media_box: own("MediaBox", &self.media_box),
            crop_box: own("CropBox", &self.crop_box),
            rotate: own("Rotate", &self.rotate),
            resources: own("Resources", &self.resources),
        }
    }
}

struct Marker<'a, 'f> {
    file: &'f mut File<'a>,
    words: &'f [u8],
    update: Update,
    font: u32,
    /// Keeps what the page does from what comes after it.
    before: u32,
    /// What shows the words, by what it says: pages of one size share it.
    lines: BTreeMap<Vec<u8>, u32>,
    /// Resources of their own number that have the font.
    fonts: BTreeSet<u32>,
}

/// What has to be added to the file; None where it has no pages, or not all of them can be read.
pub(super) fn with_line(file: &mut File<'_>, words: &[u8]) -> Option<Update> {
    let root = reference(file.trailer.get("Root")?)?;
    let catalog = file.object(root)?;
    let top = reference(Dict::read(&catalog)?.get("Pages")?)?;
    let mut update = Update::new(file.next);
    let font = update.add(COURIER.to_vec());
    let before = update.add(stream(b"q\n"));
    let mut marker = Marker { file, words, update, font, before, lines: BTreeMap::new(), fonts: BTreeSet::new() };
    let pages = marker.tree(top)?;
    (pages > 0).then_some(marker.update)
}

fn stream(content: &[u8]) -> Vec<u8> {
    [format!("<< /Length {} >>\nstream\n", content.len()).as_bytes(), content, b"\nendstream"].concat()
}

impl Marker<'_, '_> {
    /// Every page below a node once, however often the tree leads to it.
    fn tree(&mut self, top: u32) -> Option<usize> {
        let mut pages = 0;
        let mut seen = BTreeSet::from([top]);
        let mut open = vec![(top, Rc::new(Inherited::default()), 0)];
        while let Some((number, above, depth)) = open.pop() {
            let node = self.file.object(number)?;
            let dict = Dict::read(&node)?;
            let own = above.with(&dict);
            let Some(kids) = dict.get("Kids") else {
                self.page(number, &dict, &own)?;
                pages += 1;
                continue;
            };
            let is_page = dict.get("Type").is_some_and(|kind| is_name(kind, "Page"));
            (depth < DEEPEST && !is_page).then_some(())?;
            let (kids, own) = (self.file.resolved(kids)?, Rc::new(own));
            for kid in items(&kids)? {
                let kid = reference(kid)?;
                if seen.insert(kid) {
                    open.push((kid, Rc::clone(&own), depth + 1));
                }
            }
        }
        Some(pages)
    }

    fn page(&mut self, number: u32, dict: &Dict<'_>, own: &Inherited) -> Option<()> {
        let line = shown(self.words, &self.window(own)?, FONT);
        let line = if let Some(known) = self.lines.get(&line) {
            *known
        } else {
            let added = self.update.add(stream(&line));
            self.lines.insert(line, added);
            added
        };
        let mut page = dict.without(&["Contents", "Resources"]);
        page.extend_from_slice(format!(" /Contents [{} 0 R ", self.before).as_bytes());
        page.extend_from_slice(&self.contents(dict)?);
        page.extend_from_slice(format!(" {line} 0 R] /Resources ").as_bytes());
        page.extend_from_slice(&self.resources(own)?);
        page.extend_from_slice(b" >>");
        self.update.set(number, self.file.generation(number), page)
    }

    /// The references to what the page shows now.
    fn contents(&mut self, dict: &Dict<'_>) -> Option<Vec<u8>> {
        let Some(contents) = dict.get("Contents") else { return Some(Vec::new()) };
        let Some(number) = reference(contents) else { return inner(contents).map(<[u8]>::to_vec) };
        Some(match self.file.object(number) {
            Some(list) if list.starts_with(b"[") => inner(&list)?.to_vec(),
            _ => contents.to_vec(),
        })
    }

    /// The resources of a page, with the font.
    fn resources(&mut self, own: &Inherited) -> Option<Vec<u8>> {
        let Some(resources) = &own.resources else { return self.with_font(b"<< >>") };
        let Some(number) = reference(resources) else { return self.with_font(resources) };
        if !self.fonts.contains(&number) {
            let old = self.file.object(number)?;
            let new = self.with_font(&old)?;
            self.update.set(number, self.file.generation(number), new)?;
            self.fonts.insert(number);
        }
        Some(resources.clone())
    }

    fn with_font(&mut self, resources: &[u8]) -> Option<Vec<u8>> {
        let resources = Dict::read(resources)?;
        let fonts = match resources.get("Font") {
            Some(fonts) => Cow::Owned(self.file.resolved(fonts)?),
            None => Cow::Borrowed(&b"<< >>"[..]),
        };
        let mut out = resources.without(&["Font"]);
        out.extend_from_slice(b" /Font ");
        out.extend_from_slice(&Dict::read(&fonts)?.without(&[FONT]));
        out.extend_from_slice(format!(" /{FONT} {} 0 R >> >>", self.font).as_bytes());
        Some(out)
    }

    /// What is seen of a page.
    fn window(&mut self, own: &Inherited) -> Option<Window> {
        let media = self.edges(own.media_box.as_deref()).unwrap_or(LETTER);
        let crop = self.edges(own.crop_box.as_deref()).unwrap_or(media);
        let both = [media[0].max(crop[0]), media[1].max(crop[1]), media[2].min(crop[2]), media[3].min(crop[3])];
        let [left, bottom, right, top] = if is_area(&both) { both } else { media };
        let turned = match &own.rotate {
            Some(rotate) => number(&self.file.resolved(rotate)?)?,
            None => 0.0,
        };
        let turned = [90, 180, 270].into_iter().find(|quarter| (turned.rem_euclid(360.0) - f64::from(*quarter)).abs() < 0.5);
        Some(Window { left, bottom, right, top, turned: i64::from(turned.unwrap_or(0)) })
    }

    /// Left, bottom, right, top; None where the value is no area.
    fn edges(&mut self, value: Option<&[u8]>) -> Option<[f64; 4]> {
        let value = self.file.resolved(value?)?;
        let mut edges = Vec::new();
        for item in items(&value)?.take(5) {
            edges.push(number(&self.file.resolved(item)?)?);
        }
        let &[a, b, c, d] = edges.as_slice() else { return None };
        let edges = [a.min(c), b.min(d), a.max(c), b.max(d)];
        is_area(&edges).then_some(edges)
    }
}

fn is_area([left, bottom, right, top]: &[f64; 4]) -> bool {
    right - left >= 1.0 && top - bottom >= 1.0
}
