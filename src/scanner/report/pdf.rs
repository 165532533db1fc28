//! The PDF report: typst as a library. The template is compiled in, the results go in as data (so hostile text is
//! printed as it is, never read as markup), and no other file, package or clock can be reached.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::Value;
use typst::diag::{FileError, FileResult, SourceDiagnostic};
use typst::foundations::{Bytes as TypstBytes, Datetime, Duration, Smart};
use typst::syntax::{FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt as _, World};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, Timestamp as PdfTimestamp};

use super::view::{View, fill};
use super::words::Words;
use super::{Content, ReportError};
use crate::contract::reports::ReportLanguage;
use crate::platform::clock::Timestamp;

const TEMPLATE: &str = include_str!("../../../templates/report/report.typ");
/// The longest run of characters without a place to break the line.
const LONGEST_RUN: usize = 16;
/// Where Linux systems keep fonts that cover Chinese, Japanese and Korean; the first two that exist are used.
const WIDE_FONTS: [&str; 10] = [
    "/usr/share/fonts/truetype/droid/DroidSansFallback.ttf",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/wenquanyi/wqy-microhei/wqy-microhei.ttc",
    "/usr/share/fonts/google-droid-sans-fonts/DroidSansFallbackFull.ttf",
];

/// Fonts and the standard library: read once, at the first report.
struct Typesetter {
    library: LazyHash<Library>,
    book: LazyHash<FontBook>,
    fonts: Vec<Font>,
}

static TYPESETTER: LazyLock<Typesetter> = LazyLock::new(|| {
    let compiled_in = typst_assets::fonts().map(TypstBytes::new);
    let wide = WIDE_FONTS.iter().filter_map(|path| std::fs::read(Path::new(path)).ok()).take(2).map(TypstBytes::new);
    let fonts: Vec<Font> =
        compiled_in.chain(wide).flat_map(Font::iter).filter(|font| !font.info().family.contains("Math")).collect();
    Typesetter { library: LazyHash::new(Library::default()), book: LazyHash::new(FontBook::from_fonts(&fonts)), fonts }
});

/// The document of `content`; the same content and fonts give the same bytes.
pub(super) fn typeset(content: &Content) -> Result<Bytes, ReportError> {
    let words = readable_words(content.language);
    let mut data =
        serde_json::to_value(View::new(content, words)).map_err(|error| ReportError::Typesetting(error.to_string()))?;
    let missing = printable(&mut data);
    if missing > 0
        && let Some(notes) = data.get_mut("notes").and_then(Value::as_array_mut)
    {
        let mut note = Value::from(fill(words.missing_glyphs, &[&missing.to_string()]));
        printable(&mut note);
        notes.push(note);
    }
    let moment = datetime(content.ended_at);
    let options = PdfOptions {
        ident: Smart::Custom(format!("{} {}", content.task_id, words.lang)),
        creator: Smart::Custom(None),
        timestamp: moment.map(PdfTimestamp::new_utc),
        ..PdfOptions::default()
    };
    let outcome = Sheet::new(&data, moment).and_then(|sheet| {
        let document = typst::compile::<PagedDocument>(&sheet).output.map_err(|errors| words_of(&errors))?;
        typst_pdf::pdf(&document, &options).map_err(|errors| words_of(&errors))
    });
    // What the typesetter remembered for this report helps no other one.
    comemo::evict(0);
    outcome.map(Bytes::from).map_err(ReportError::Typesetting)
}

fn words_of(errors: &[SourceDiagnostic]) -> String {
    errors.iter().map(|error| error.message.to_string()).collect::<Vec<_>>().join("; ")
}

/// The words of `language`, or English ones when no font here can draw them.
fn readable_words(language: ReportLanguage) -> &'static Words {
    let words = Words::of(language);
    let readable = words.title.chars().chain(words.method_text.chars()).all(can_draw);
    if readable { words } else { Words::of(ReportLanguage::English) }
}

fn can_draw(c: char) -> bool {
    c.is_whitespace() || TYPESETTER.fonts.iter().any(|font| font.info().coverage.contains(u32::from(c)))
}

/// Turns every text into a list of pieces between which a line may break, and characters no font can draw into their
/// code. Gives the number of such characters, each counted once.
fn printable(data: &mut Value) -> usize {
    let mut missing = HashSet::new();
    split_texts(data, &mut missing);
    missing.len()
}

fn split_texts(data: &mut Value, missing: &mut HashSet<char>) {
    match data {
        Value::String(text) => *data = Value::Array(pieces(text, missing).into_iter().map(Value::String).collect()),
        Value::Array(list) => list.iter_mut().for_each(|one| split_texts(one, missing)),
        Value::Object(map) => map.values_mut().for_each(|one| split_texts(one, missing)),
        _ => {}
    }
}

/// Words stay together up to [`LONGEST_RUN`]. A longer word with hyphens is cut before each of them, and the template keeps such
/// pieces whole: a line that ends in a hyphen would lose it in every reader that joins hyphenated words.
fn pieces(text: &str, missing: &mut HashSet<char>) -> Vec<String> {
    let mut all = Vec::new();
    let mut piece = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let hyphens = word.contains('-');
        if hyphens {
            cut(&mut piece, &mut all);
        }
        let long = word.chars().count() > LONGEST_RUN;
        let mut run = 0;
        for c in word.chars() {
            if (long && c == '-' && run > 0) || (hyphens && c.is_whitespace()) || run >= LONGEST_RUN {
                cut(&mut piece, &mut all);
                run = 0;
            }
            draw(c, &mut piece, missing);
            run += 1;
            if long && run > 4 && matches!(c, '.' | '/' | ':' | '_' | '!' | '@' | '?' | '&' | '=') {
                cut(&mut piece, &mut all);
                run = 0;
            }
        }
    }
    cut(&mut piece, &mut all);
    all
}

fn cut(piece: &mut String, all: &mut Vec<String>) {
    if !piece.is_empty() {
        all.push(std::mem::take(piece));
    }
}

fn draw(c: char, piece: &mut String, missing: &mut HashSet<char>) {
    if can_draw(c) {
        piece.push(c);
    } else {
        missing.insert(c);
        let _ = write!(piece, "[U+{:04X}]", u32::from(c));
    }
}

fn datetime(at: Timestamp) -> Option<Datetime> {
    let utc = at.utc();
    Datetime::from_ymd_hms(utc.year(), u8::from(utc.month()), utc.day(), utc.hour(), utc.minute(), utc.second())
}

/// All the world the template can see: itself and its data.
struct Sheet {
    template: Source,
    data_id: FileId,
    data: TypstBytes,
    moment: Option<Datetime>,
}

impl Sheet {
    fn new(data: &Value, moment: Option<Datetime>) -> Result<Self, String> {
        let text = serde_json::to_vec(data).map_err(|error| error.to_string())?;
        Ok(Self {
            template: Source::new(file_id("report.typ")?, TEMPLATE.to_owned()),
            data_id: file_id("data.json")?,
            data: TypstBytes::new(text),
            moment,
        })
    }
}

fn file_id(name: &str) -> Result<FileId, String> {
    let path = VirtualPath::new(name).map_err(|error| error.to_string())?;
    Ok(RootedPath::new(VirtualRoot::Project, path).intern())
}

impl World for Sheet {
    fn library(&self) -> &LazyHash<Library> {
        &TYPESETTER.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &TYPESETTER.book
    }

    fn main(&self) -> FileId {
        self.template.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.template.id() { Ok(self.template.clone()) } else { Err(FileError::AccessDenied) }
    }

    fn file(&self, id: FileId) -> FileResult<TypstBytes> {
        if id == self.data_id { Ok(self.data.clone()) } else { Err(FileError::AccessDenied) }
    }

    fn font(&self, index: usize) -> Option<Font> {
        TYPESETTER.fonts.get(index).cloned()
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        self.moment
    }
}
