//! A line of words as a PDF shows it: letters, lines, place. Set in Courier, one of the fonts that every reader has: all its letters are
//! equally wide, so that no table of widths is needed.

use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;

/// Width of a letter of Courier, in parts of its size.
const WIDTH: f64 = 0.6;
/// Sizes that are tried, and how many lines there may be: the first with which they are enough.
const SIZES: [f64; 6] = [6.5, 5.5, 4.5, 3.0, 2.0, 1.0];
const MOST_LINES: usize = 4;
/// Points between the words and the edge.
const MARGIN: f64 = 12.0;

/// What WinAnsi has between 0x80 and 0x9f.
const MIDDLE: [(char, u8); 27] = [
    ('€', 0x80),
    ('‚', 0x82),
    ('ƒ', 0x83),
    ('„', 0x84),
    ('…', 0x85),
    ('†', 0x86),
    ('‡', 0x87),
    ('ˆ', 0x88),
    ('‰', 0x89),
    ('Š', 0x8a),
    ('‹', 0x8b),
    ('Œ', 0x8c),
    ('Ž', 0x8e),
    ('‘', 0x91),
    ('’', 0x92),
    ('“', 0x93),
    ('”', 0x94),
    ('•', 0x95),
    ('–', 0x96),
    ('—', 0x97),
    ('˜', 0x98),
    ('™', 0x99),
    ('š', 0x9a),
    ('›', 0x9b),
    ('œ', 0x9c),
    ('ž', 0x9e),
    ('Ÿ', 0x9f),
];

/// Words in WinAnsi. Letters that it lacks lose their accents; what is then still missing is left out.
pub(super) fn latin(words: &str) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(words.len());
    for c in words.nfc() {
        match letter(c) {
            // Where something was left out two spaces would stand.
            Some(b' ') if out.last().is_none_or(|last| *last == b' ') => {}
            Some(byte) => out.push(byte),
            None => out.extend(std::iter::once(plain(c)).nfd().filter(char::is_ascii_alphanumeric).filter_map(letter)),
        }
    }
    out
}

/// Letters whose stroke is no accent.
const fn plain(c: char) -> char {
    match c {
        'Ł' => 'L',
        'ł' => 'l',
        'Đ' => 'D',
        'đ' => 'd',
        'ı' => 'i',
        other => other,
    }
}

fn letter(c: char) -> Option<u8> {
    match c {
        ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{ff}' => u8::try_from(u32::from(c)).ok(),
        c if c.is_whitespace() => Some(b' '),
        c => MIDDLE.iter().find(|(known, _)| *known == c).map(|(_, byte)| *byte),
    }
}

/// What is seen of a page: its edges in points, and how it is turned, in degrees clockwise.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) left: f64,
    pub(super) bottom: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) turned: i64,
}

impl Window {
    /// How wide it is to whoever looks at it.
    fn width(&self) -> f64 {
        if self.turned % 180 == 0 { self.right - self.left } else { self.top - self.bottom }
    }

    /// From places as they are seen, from the lower left corner, to places on the page.
    fn matrix(&self) -> String {
        let Self { left, bottom, right, top, turned } = *self;
        match turned {
            90 => format!("0 1 -1 0 {right:.2} {bottom:.2}"),
            180 => format!("-1 0 0 -1 {right:.2} {top:.2}"),
            270 => format!("0 -1 1 0 {left:.2} {top:.2}"),
            _ => format!("1 0 0 1 {left:.2} {bottom:.2}"),
        }
    }
}

/// The stream that shows the words at the foot of a page with a font of this name. Whatever the page did before is undone first by the
/// `Q` of the `q` that has to stand before it.
pub(super) fn shown(words: &[u8], window: &Window, font: &str) -> Vec<u8> {
    let margin = MARGIN.min(window.width() / 20.0);
    let room = window.width() - 2.0 * margin;
    let (size, lines) = SIZES
        .iter()
        .map(|size| (*size, lines(words, columns(room, *size))))
        .find(|(_, lines)| lines.len() <= MOST_LINES)
        .unwrap_or_else(|| (1.0, lines(words, columns(room, 1.0))));
    let mut head = String::from("\nQ\nq /Artifact BMC ");
    // Writing into a text cannot fail.
    let _ = write!(head, "{} cm 0.25 g BT 0 Tr 0 Tc 0 Tw 100 Tz 0 Ts /{font} {size} Tf {:.2} TL ", window.matrix(), size * 1.2);
    let above = size * 1.2 * (u32::try_from(lines.len()).map_or(1.0, f64::from) - 1.0);
    let _ = write!(head, "{margin:.2} {:.2} Td", margin + above);
    let mut out = head.into_bytes();
    for line in lines {
        out.extend_from_slice(b" (");
        for byte in line {
            if matches!(byte, b'(' | b')' | b'\\') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        out.extend_from_slice(b") Tj T*");
    }
    out.extend_from_slice(b" ET EMC Q\n");
    out
}

/// How many letters of a size fit.
fn columns(room: f64, size: f64) -> usize {
    let mut columns = 8_u32;
    while columns < 2000 && f64::from(columns + 1) * WIDTH * size <= room {
        columns += 1;
    }
    columns as usize
}

/// Words in lines of so many letters; a word that is longer is cut.
fn lines(words: &[u8], columns: usize) -> Vec<&[u8]> {
    let (mut out, mut rest) = (Vec::new(), words.trim_ascii());
    while rest.len() > columns {
        let fits = rest.get(..=columns).unwrap_or(rest);
        let at = memchr::memrchr(b' ', fits).unwrap_or(columns);
        let (line, after) = rest.split_at(at);
        out.push(line);
        rest = after.trim_ascii_start();
    }
    out.push(rest);
    out
}
