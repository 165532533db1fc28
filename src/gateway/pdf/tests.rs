//! PDFs as makers write them, and as nobody should. What the line looks like to a reader is proved over sockets with the reports of the
//! reference service (`tests/it/gateway/share_door.rs`).

use std::fmt::Write as _;
use std::io::Write as _;

use super::file::File;
use super::lexer::{Cursor, Dict, reference};
use super::{Refusal, at_foot};

const WORDS: &str = "Given out by Ann through share 0a1b2c3d.";

/// Writes a PDF piece by piece and knows where each object is.
struct Maker {
    bytes: Vec<u8>,
    places: Vec<(u32, usize)>,
}

impl Maker {
    fn new() -> Self {
        Self { bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(), places: Vec::new() }
    }

    fn object(&mut self, number: u32, value: &str) {
        self.places.push((number, self.bytes.len()));
        self.bytes.extend_from_slice(format!("{number} 0 obj\n{value}\nendobj\n").as_bytes());
    }

    fn stream(&mut self, number: u32, entries: &str, data: &[u8]) {
        self.places.push((number, self.bytes.len()));
        let head = format!("{number} 0 obj\n<< {entries} /Length {} >>\nstream\n", data.len());
        self.bytes.extend_from_slice(&[head.as_bytes(), data, b"\nendstream\nendobj\n"].concat());
    }

    /// Ends the version with a table.
    fn table(mut self, trailer: &str) -> Vec<u8> {
        let begin = self.bytes.len();
        let mut table = String::from("xref\n0 1\n0000000000 65535 f \n");
        for (number, offset) in &self.places {
            write!(table, "{number} 1\n{offset:010} 00000 n \n").unwrap();
        }
        write!(table, "trailer\n<< {trailer} >>\nstartxref\n{begin}\n%%EOF\n").unwrap();
        self.bytes.extend_from_slice(table.as_bytes());
        self.bytes
    }

    /// Ends it with a stream of this number; these objects are in the stream of objects of that number.
    fn places(mut self, number: u32, inside: &[u32], container: u32, trailer: &str) -> Vec<u8> {
        let begin = self.bytes.len();
        self.places.push((number, begin));
        let mut rows: Vec<(u32, [u8; 6])> = Vec::new();
        for (number, offset) in &self.places {
            let [.., b, c, d] = u32::try_from(*offset).unwrap().to_be_bytes();
            rows.push((*number, [1, 0, b, c, d, 0]));
        }
        for (index, number) in inside.iter().enumerate() {
            let [.., c, d] = container.to_be_bytes();
            rows.push((*number, [2, 0, 0, c, d, u8::try_from(index).unwrap()]));
        }
        rows.sort_unstable();
        let index = rows.iter().map(|(number, _)| format!("{number} 1 ")).collect::<Vec<_>>().concat();
        // As most makers write it: each row as what changed since the one above.
        let (mut data, mut above) = (Vec::new(), [0; 6]);
        for (_, row) in rows {
            data.push(2);
            data.extend(row.iter().zip(above).map(|(byte, up)| byte.wrapping_sub(up)));
            above = row;
        }
        let how = "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 6 >>";
        self.stream(number, &format!("/Type /XRef /W [1 4 1] /Index [{index}] {how} {trailer}"), &packed(&data));
        self.bytes.extend_from_slice(format!("startxref\n{begin}\n%%EOF").as_bytes());
        self.bytes
    }
}

fn packed(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    out.write_all(data).unwrap();
    out.finish().unwrap()
}

/// A catalog, a tree of one node with `node` in it, and pages with these entries, numbered from 10.
fn simple(node: &str, pages: &[&str]) -> Vec<u8> {
    let mut maker = Maker::new();
    maker.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    let kids = (0..pages.len()).map(|at| format!("{} 0 R ", 10 + at)).collect::<Vec<_>>().concat();
    maker.object(2, &format!("<< /Type /Pages /Count {} /Kids [{kids}] {node} >>", pages.len()));
    maker.stream(3, "", b"BT /F1 9 Tf (what was there) Tj ET");
    maker.object(4, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
    maker.object(5, "<< /Font << /F1 4 0 R >> /ProcSet [/PDF] >>");
    maker.object(6, "<< /F1 4 0 R >>");
    maker.object(7, "[3 0 R]");
    for (at, page) in pages.iter().enumerate() {
        maker.object(u32::try_from(10 + at).unwrap(), &format!("<< /Type /Page /Parent 2 0 R {page} >>"));
    }
    maker.table("/Size 40 /Root 1 0 R /ID [<00> (\\)\u{e9})]")
}

/// The file with what follows it.
fn marked(pdf: &[u8]) -> Vec<u8> {
    let out = [pdf, &at_foot(pdf, WORDS).unwrap()].concat();
    assert!(out.starts_with(pdf), "what was there is there as it was");
    out
}

/// What object `number` says now.
fn says(pdf: &[u8], number: u32) -> String {
    String::from_utf8_lossy(&File::open(pdf).unwrap().object(number).unwrap()).into_owned()
}

/// The content that shows the line on a page: what its last reference leads to.
fn line_of(pdf: &[u8], page: u32) -> String {
    let page = says(pdf, page);
    let contents = Dict::read(page.as_bytes()).unwrap().get("Contents").unwrap();
    let contents = std::str::from_utf8(contents).unwrap().trim_end_matches(']').to_owned();
    let words: Vec<&str> = contents.split_whitespace().collect();
    let number = reference(words[words.len() - 3..].join(" ").as_bytes()).unwrap();
    let begin = format!("\n{number} 0 obj");
    let at = memchr::memmem::rfind(pdf, begin.as_bytes()).unwrap();
    let end = memchr::memmem::find(&pdf[at..], b"endobj").unwrap();
    String::from_utf8_lossy(&pdf[at..at + end]).into_owned()
}

#[test]
fn a_page_shows_what_it_showed_and_then_the_line_however_it_says_what_it_shows() {
    let own = "/Resources 5 0 R /MediaBox [0 0 595 842]";
    let shows = ["", "/Contents 3 0 R", "/Contents [3 0 R 3 0 R]", "/Contents 7 0 R", "/Cont#65nts 3 0 R"];
    let pages: Vec<String> = shows.iter().map(|shows| format!("{own} {shows}")).collect();
    let pdf = marked(&simple("", &pages.iter().map(String::as_str).collect::<Vec<_>>()));
    for (at, then) in ["", "3 0 R", "3 0 R 3 0 R", "3 0 R", "3 0 R"].into_iter().enumerate() {
        let page = says(&pdf, u32::try_from(10 + at).unwrap());
        let spaced = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = format!("/Contents [41 0 R {then} 42 0 R]").replace("  ", " ");
        assert!(spaced.contains(&wanted) && !page.contains("#65"), "{page}");
        assert!(line_of(&pdf, 10).contains(WORDS));
    }
    // The trailer says what it said, bytes that are no text included.
    assert_eq!(File::open(&pdf).unwrap().trailer.get("ID").unwrap(), "[<00> (\\)\u{e9})]".as_bytes());
}

#[test]
fn resources_are_kept_wherever_they_stand_and_shared_ones_change_once() {
    let pages = ["/Resources << /Font << /F1 4 0 R >> /XObject << >> >>", "/Resources << /Font 6 0 R >>", "/Resources 5 0 R", ""];
    for node in ["/Resources 5 0 R", "/Resources << /Font << /F1 4 0 R >> /ProcSet [/PDF] >>"] {
        let pdf = marked(&simple(node, &pages));
        for page in 10..14 {
            let page = says(&pdf, page);
            let resources = Dict::read(page.as_bytes()).unwrap().get("Resources").unwrap();
            let resources = File::open(&pdf).unwrap().resolved(resources).unwrap();
            let fonts = Dict::read(&resources).unwrap().get("Font").unwrap().to_vec();
            let fonts = Dict::read(&fonts).unwrap();
            assert_eq!(fonts.get("F1").unwrap(), b"4 0 R", "{page}");
            assert_eq!(fonts.get("CardeaShareLine").unwrap(), b"40 0 R");
        }
        let shared = memchr::memmem::find_iter(&pdf, b"\n5 0 obj").count();
        assert_eq!(shared, 2, "once as it was, and once with the font");
    }
    let pdf = marked(&simple("", &[""]));
    assert!(says(&pdf, 10).contains("/Resources << /Font << /CardeaShareLine 40 0 R >> >>"), "and where there were none");
}

#[test]
fn the_line_is_at_the_foot_as_the_page_is_seen() {
    let matrix = |node: &str, page: &str| {
        let line = line_of(&marked(&simple(node, &[page])), 10);
        line.split("/Artifact BMC ").nth(1).unwrap().split(" cm").next().unwrap().to_owned()
    };
    let sheet = "/MediaBox [0 0 600 800]";
    assert_eq!(matrix("", sheet), "1 0 0 1 0.00 0.00");
    assert_eq!(matrix(sheet, "/Rotate 90"), "0 1 -1 0 600.00 0.00");
    assert_eq!(matrix("/Rotate 180", sheet), "-1 0 0 -1 600.00 800.00");
    assert_eq!(matrix("/Rotate 90", &format!("{sheet} /Rotate -90")), "0 -1 1 0 0.00 800.00");
    assert_eq!(matrix(sheet, "/CropBox [50 60.5 300 400]"), "1 0 0 1 50.00 60.50");
    assert_eq!(matrix("/CropBox [-9 -9 9999 9999]", "/MediaBox [600 800 -10 -20]"), "1 0 0 1 -9.00 -9.00");
    // No area, no numbers: as if nothing were said.
    for odd in
        ["/MediaBox [0 0 0 0]", "/MediaBox [1 2]", "/MediaBox (x)", "/MediaBox [nan 0 inf 5]", "/CropBox [900 900 901 901]"]
    {
        assert_eq!(matrix("", odd), "1 0 0 1 0.00 0.00", "{odd}");
    }
    // On a page that is small the words are small, and all there.
    let small = line_of(&marked(&simple("", &["/MediaBox [0 0 40 60]"])), 10);
    let shown: Vec<&str> = small.split(") Tj").filter_map(|part| part.split(" (").nth(1)).collect();
    assert_eq!(shown.join(" "), WORDS);
    assert!(small.contains("/CardeaShareLine 4.5 Tf") && shown.len() <= 4, "{small}");
}

#[test]
fn trees_are_walked_whole_and_once() {
    let mut maker = Maker::new();
    maker.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    maker.object(2, "<< /Type /Pages /Kids 9 0 R /MediaBox [0 0 400 400] /Rotate 8 0 R >>");
    maker.object(3, "<< /Type /Pages /Kids [5 0 R 2 0 R 3 0 R] >>");
    maker.object(4, "<< /Type /Page >>");
    maker.object(5, "<< >>");
    maker.object(8, "270");
    maker.object(9, "[3 0 R 4 0 R 4 0 R]");
    let pdf = marked(&maker.table("/Size 10 /Root 1 0 R"));
    for page in [4, 5] {
        assert!(line_of(&pdf, page).contains("0 -1 1 0 0.00 400.00 cm"));
    }
    // And a line on a line.
    let twice = marked(&pdf);
    assert!(line_of(&twice, 4).contains(WORDS) && says(&twice, 4).matches("0 R").count() >= 5);
}

#[test]
fn compressed_objects_and_streams_of_places_are_read_and_written() {
    let inside =
        ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [4 0 R 5 0 R] >>", "<< /Type /Page /Contents 3 0 R >>"];
    let (mut heads, mut values) = (String::new(), String::new());
    for (number, value) in [1, 2, 4].into_iter().zip(inside) {
        write!(heads, "{number} {} ", values.len()).unwrap();
        write!(values, "{value} ").unwrap();
    }
    let mut maker = Maker::new();
    maker.stream(3, "", b"BT ET");
    maker.object(5, "<< /Type /Page >>");
    maker.stream(
        7,
        &format!("/Type /ObjStm /N 3 /First {} /Filter [/FlateDecode]", heads.len()),
        &packed((heads + &values).as_bytes()),
    );
    let pdf = maker.places(8, &[1, 2, 4], 7, "/Size 9 /Root 1 0 R");
    let marked = marked(&pdf);
    assert!(line_of(&marked, 4).contains(WORDS) && line_of(&marked, 5).contains(WORDS));
    let (pages, again) = (says(&marked, 2), File::open(&marked).unwrap());
    assert!(pages.contains("[4 0 R 5 0 R]") && again.is_stream);
    assert_eq!(again.trailer.get("Root").unwrap(), b"1 0 R");
}

#[test]
fn earlier_versions_count_less_and_hybrids_are_understood() {
    let mut maker = Maker::new();
    maker.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    maker.object(2, "<< /Type /Pages /Kids [4 0 R] >>");
    maker.object(4, "<< /Type /Page /Rotate 180 >>");
    let first = maker.table("/Size 5 /Root 1 0 R");
    let prev = memchr::memmem::rfind(&first, b"xref\n0").unwrap();
    // The second version turns the page, and hides it in a stream that only newer readers look into.
    let mut maker = Maker { bytes: first, places: Vec::new() };
    maker.stream(6, "/Type /ObjStm /N 1 /First 4", b"4 0 << /Type /Page /Rotate 90 >>");
    let hidden = maker.bytes.len();
    maker.stream(7, "/Type /XRef /W [1 2 1] /Index [4 1] /Size 8", &[2, 0, 6, 0]);
    let pdf = marked(&maker.table(&format!("/Size 8 /Root 1 0 R /Prev {prev} /XRefStm {hidden}")));
    assert!(line_of(&pdf, 4).contains("0 1 -1 0 612.00 0.00 cm"));
}

#[test]
fn what_is_no_whole_pdf_is_refused() {
    let whole = simple("", &["/Contents 3 0 R"]);
    for cut in 0..whole.len() - 30 {
        assert_eq!(at_foot(&whole[..cut], WORDS), Err(Refusal::Unreadable), "{cut} bytes");
    }
    let replaced = |from: &str, to: &str| {
        let at = memchr::memmem::rfind(&whole, from.as_bytes()).unwrap();
        assert_eq!(from.len(), to.len());
        [&whole[..at], to.as_bytes(), &whole[at + from.len()..]].concat()
    };
    for (from, to) in [
        ("%PDF-", "%PDX-"),
        ("[10 0 R ]", "[77 0 R ]"),
        ("[10 0 R ]", "[10 0 X ]"),
        ("/Kids [10 0 R ]", "/Kids [       ]"),
        ("10 0 obj", "11 0 obj"),
        ("/Root 1 0 R", "/Root 3 0 R"),
        ("/Pages 2 0 R", "/Pages 9 0 R"),
        ("/Size 40", "/Size -1"),
        ("xref\n0 1", "xref\n0 9"),
    ] {
        assert_eq!(at_foot(&replaced(from, to), WORDS), Err(Refusal::Unreadable), "{from} -> {to}");
    }
    for garbage in
        [&b""[..], b"%PDF-", b"%PDF-1.7\nstartxref\n9\n%%EOF", b"%PDF-1.7 startxref 99999999999999999999", &[0xff; 5000]]
    {
        assert_eq!(at_foot(garbage, WORDS), Err(Refusal::Unreadable));
    }
    let secret = simple("", &[""]);
    let at = memchr::memmem::rfind(&secret, b"/Size 40").unwrap();
    let secret = [&secret[..at], b"/Encrypt << /Filter /Standard >> ", &secret[at..]].concat();
    assert_eq!(at_foot(&secret, WORDS), Err(Refusal::Encrypted));
}

#[test]
fn bombs_cost_little_and_are_refused() {
    let refused = |pdf: Vec<u8>| assert_eq!(at_foot(&pdf, WORDS), Err(Refusal::Unreadable));
    // Streams that unpack to gigabytes: of objects, and of places.
    let zeros = packed(&vec![b' '; 64 * 1024 * 1024]);
    let mut maker = Maker::new();
    maker.stream(7, "/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &zeros);
    refused(maker.places(8, &[1], 7, "/Size 9 /Root 1 0 R"));
    let mut maker = Maker::new();
    let begin = maker.bytes.len();
    maker.stream(8, "/Type /XRef /W [1 1 1] /Size 2000000000 /Root 1 0 R /Filter /FlateDecode", &zeros);
    maker.bytes.extend_from_slice(format!("startxref\n{begin}\n%%EOF").as_bytes());
    refused(maker.bytes);
    // Values in values, pages in pages, versions in a circle.
    let deep = format!("/X {}{}", "[".repeat(100_000), "]".repeat(100_000));
    refused(simple("", &[&deep]));
    let mut maker = Maker::new();
    maker.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    for number in 2..500 {
        maker.object(number, &format!("<< /Type /Pages /Kids [{} 0 R] >>", number + 1));
    }
    maker.object(500, "<< /Type /Page >>");
    refused(maker.table("/Size 501 /Root 1 0 R"));
    let mut maker = Maker::new();
    maker.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    let begin = maker.bytes.len();
    refused(maker.table(&format!("/Size 9 /Root 1 0 R /Prev {begin}")));
    // A length that leads to itself.
    let mut maker = Maker::new();
    maker.object(7, "<< /Type /ObjStm /N 1 /First 4 /Length 7 0 R >> stream\n1 0 << >>\nendstream");
    refused(maker.places(8, &[1], 7, "/Size 9 /Root 1 0 R"));
    // Ten thousand pages that each seem to be the whole rest of the file.
    let mut maker = Maker::new();
    maker.object(1, "<< /Type /Catalog /Pages 2 0 R >>");
    let kids = (10..10_010).map(|number| format!("{number} 0 R ")).collect::<Vec<_>>().concat();
    maker.object(2, &format!("<< /Type /Pages /Kids [{kids}] >>"));
    for number in 10..10_010 {
        maker.places.push((number, maker.bytes.len()));
        maker.bytes.extend_from_slice(format!("{number} 0 obj << /X (").as_bytes());
    }
    maker.bytes.extend_from_slice(&b") >> ".repeat(10_010));
    refused(maker.table("/Size 20000 /Root 1 0 R"));
}

#[test]
fn words_of_any_script_stay_inside_their_brackets() {
    let show = |words: &str| {
        let pdf = simple("", &[""]);
        let out = [pdf.as_slice(), &at_foot(&pdf, words).unwrap()].concat();
        let begin = memchr::memmem::rfind(&out, b" Td (").unwrap() + 4;
        let end = begin + memchr::memmem::find(&out[begin..], b" ET").unwrap();
        out[begin..end].to_vec()
    };
    assert_eq!(show(r"a) Tj (b\"), br"(a\) Tj \(b\\) Tj T*");
    assert_eq!(show("Łukasz Nguyễn, 张伟, Ann\u{202e}\u{0}\n– €5"), b"(Lukasz Nguyen, , Ann \x96 \x805) Tj T*");
    assert_eq!(show("u\u{308} \u{fc}"), b"(\xfc \xfc) Tj T*");
    let long = "x".repeat(5000);
    let shown = show(&long);
    assert_eq!(shown.split(|byte| *byte == b'x').count() - 1, 5000);
}

#[test]
fn values_are_read_as_the_standard_says() {
    let read = |text: &'static str| {
        let mut cursor = Cursor::new(text.as_bytes(), 0);
        std::iter::from_fn(move || cursor.value()).map(|value| String::from_utf8_lossy(value).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(read("12 0 R 12 0 % 5 R\n-3.5/A/B#20 true"), ["12 0 R", "12", "0", "-3.5", "/A", "/B#20", "true"]);
    assert_eq!(read(r"(a\)(b)) <0a> [1 [2 0 R]] << /A << >> >>"), [r"(a\)(b))", "<0a>", "[1 [2 0 R]]", "<< /A << >> >>"]);
    for broken in ["(a", "<0", "[1", "<< /A", "[ >>", "]", ">>", ")"] {
        assert!(read(broken).is_empty(), "{broken}");
    }
}
