//! What is appended to a PDF: objects that are new or changed, where they are, and where what was before is (ISO 32000-2, 7.5.6).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::file::File;

/// The most that is appended. Pages are a few hundred bytes each.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Objects that are new or changed.
pub(super) struct Update {
    objects: BTreeMap<u32, (u16, Vec<u8>)>,
    next: u32,
    bytes: usize,
}

impl Update {
    /// `next`: the first number that no object has.
    pub(super) const fn new(next: u32) -> Self {
        Self { objects: BTreeMap::new(), next, bytes: 0 }
    }

    /// Adds a new object; its number. There is room for as many as a file can have pages.
    pub(super) fn add(&mut self, value: Vec<u8>) -> u32 {
        let number = self.next;
        self.next = number.saturating_add(1);
        self.bytes += value.len();
        self.objects.insert(number, (0, value));
        number
    }

    /// Says what an object is from now on; None where that becomes too much.
    pub(super) fn set(&mut self, number: u32, generation: u16, value: Vec<u8>) -> Option<()> {
        self.bytes += value.len();
        self.objects.insert(number, (generation, value));
        (self.bytes <= MOST_BYTES).then_some(())
    }

    /// The bytes that follow the file.
    pub(super) fn appendix(self, file: &File<'_>) -> Vec<u8> {
        let begin = file.bytes.len();
        let mut out = b"\n".to_vec();
        let mut places = Vec::with_capacity(self.objects.len() + 1);
        for (number, (generation, value)) in &self.objects {
            places.push((*number, begin + out.len(), *generation));
            out.extend_from_slice(format!("{number} {generation} obj\n").as_bytes());
            out.extend_from_slice(value);
            out.extend_from_slice(b"\nendobj\n");
        }
        let last = begin + out.len();
        if file.is_stream {
            places.push((self.next, last, 0));
            out.extend_from_slice(&stream(&places, &trailer(file, self.next + 1)));
        } else {
            out.extend_from_slice(&table(&places));
            out.extend_from_slice(&[b"trailer\n<<", trailer(file, self.next).as_slice(), b" >>\n"].concat());
        }
        out.extend_from_slice(format!("startxref\n{last}\n%%EOF\n").as_bytes());
        out
    }
}

/// What the newest version says of the file, for the version that is added.
fn trailer(file: &File<'_>, size: u32) -> Vec<u8> {
    let mut out = format!(" /Size {size} /Prev {}", file.last).into_bytes();
    for name in ["Root", "Info", "ID"] {
        if let Some(value) = file.trailer.get(name) {
            out.extend_from_slice(&[b" /", name.as_bytes(), b" ", value].concat());
        }
    }
    out
}

/// Objects whose numbers follow each other.
fn runs(places: &[(u32, usize, u16)]) -> impl Iterator<Item = &[(u32, usize, u16)]> {
    places.chunk_by(|one, next| one.0 + 1 == next.0)
}

fn table(places: &[(u32, usize, u16)]) -> Vec<u8> {
    let mut out = String::from("xref\n");
    for run in runs(places) {
        let first = run.first().map_or(0, |(number, _, _)| *number);
        // Writing into a text cannot fail.
        let _ = writeln!(out, "{first} {}", run.len());
        for (_, offset, generation) in run {
            let _ = writeln!(out, "{offset:010} {generation:05} n ");
        }
    }
    out.into_bytes()
}

fn stream(places: &[(u32, usize, u16)], trailer: &[u8]) -> Vec<u8> {
    let number = places.last().map_or(0, |(number, _, _)| *number);
    let index: Vec<String> = runs(places).filter_map(|run| Some(format!("{} {}", run.first()?.0, run.len()))).collect();
    let mut rows = Vec::with_capacity(places.len() * 11);
    for (_, offset, generation) in places {
        rows.push(1);
        rows.extend_from_slice(&(*offset as u64).to_be_bytes());
        rows.extend_from_slice(&generation.to_be_bytes());
    }
    let head = format!("{number} 0 obj\n<< /Type /XRef /W [1 8 2] /Index [{}] /Length {}", index.join(" "), rows.len());
    [head.as_bytes(), trailer, b" >>\nstream\n", &rows, b"\nendstream\nendobj\n"].concat()
}
