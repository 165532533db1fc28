//! Where the objects of a PDF are, and what they say (ISO 32000-2, 7.5): tables and streams of cross-references, hybrids of both,
//! earlier versions behind them, and objects in compressed streams.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use super::Refusal;
use super::lexer::{Cursor, Dict, inner, integer, is_name, items, reference};

/// How far from its end a file may say where its cross-references begin.
const TAIL: usize = 2048;

/// Objects and versions of a file. Far more than a report has.
const MOST_OBJECTS: usize = 500_000;
const MOST_VERSIONS: usize = 256;

/// Bytes looked at and unpacked may be so many times the file's own, and these beside.
const WORK_TIMES: usize = 8;
const WORK_BESIDE: usize = 1024 * 1024;

/// The most that all compressed streams which are looked into unpack to. They stay unpacked.
const MOST_UNPACKED: usize = 32 * 1024 * 1024;

/// A stream of objects: the number of each and where it begins.
struct Unpacked {
    members: Vec<(u32, usize)>,
    data: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Place {
    Nowhere,
    At { offset: usize, generation: u16 },
    In { stream: u32, index: usize },
}

/// An open PDF.
pub(super) struct File<'a> {
    pub(super) bytes: &'a [u8],
    places: BTreeMap<u32, Place>,
    /// Of the newest version.
    pub(super) trailer: Dict<'a>,
    /// Where the cross-references of the newest version are.
    pub(super) last: usize,
    /// They are a stream, so the next ones have to be.
    pub(super) is_stream: bool,
    /// The first number that no object has.
    pub(super) next: u32,
    unpacked: BTreeMap<u32, Unpacked>,
    /// Bytes that may still be unpacked.
    room: usize,
    /// Bytes that may still be looked at.
    work: usize,
}

impl<'a> File<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut file = Self {
            bytes,
            places: BTreeMap::new(),
            trailer: Dict::default(),
            last: 0,
            is_stream: false,
            next: 1,
            unpacked: BTreeMap::new(),
            room: MOST_UNPACKED,
            work: bytes.len().saturating_mul(WORK_TIMES).saturating_add(WORK_BESIDE),
        };
        match file.versions() {
            Some(true) => Ok(file),
            Some(false) => Err(Refusal::Encrypted),
            None => Err(Refusal::Unreadable),
        }
    }

    /// Reads all cross-references, the newest first; false where the file is encrypted.
    fn versions(&mut self) -> Option<bool> {
        self.bytes.starts_with(b"%PDF-").then_some(())?;
        let tail = self.bytes.len().saturating_sub(TAIL);
        let said = tail + memchr::memmem::rfind(self.bytes.get(tail..)?, b"startxref")?;
        let mut cursor = Cursor::new(self.bytes, said + b"startxref".len());
        self.last = integer(cursor.token()?)?;
        let mut seen = BTreeSet::new();
        let mut at = Some(self.last);
        while let Some(offset) = at {
            (seen.len() < MOST_VERSIONS && seen.insert(offset)).then_some(())?;
            let (trailer, is_stream) = self.version(offset)?;
            if trailer.get("Encrypt").is_some() {
                return Some(false);
            }
            at = trailer.get("Prev").map(|prev| integer(prev).ok_or(())).transpose().ok()?;
            if seen.len() == 1 {
                (self.trailer, self.is_stream) = (trailer, is_stream);
            }
        }
        let size: u32 = integer(self.trailer.get("Size")?)?;
        let highest = self.places.last_key_value().map_or(0, |(number, _)| *number);
        self.next = size.max(highest.checked_add(1)?);
        // Room for what is added.
        (self.next < u32::MAX / 2).then_some(true)
    }

    fn version(&mut self, at: usize) -> Option<(Dict<'a>, bool)> {
        let mut cursor = Cursor::new(self.bytes, at);
        if cursor.token()? != b"xref" {
            return Some((self.stream_of_places(at)?, true));
        }
        let mut found = Vec::new();
        loop {
            let first = cursor.token()?;
            if first == b"trailer" {
                break;
            }
            let first: u32 = integer(first)?;
            let count: u32 = integer(cursor.token()?)?;
            for number in first..first.checked_add(count)? {
                let offset = integer(cursor.token()?)?;
                let generation = integer(cursor.token()?)?;
                match cursor.token()? {
                    b"n" => found.push((number, Place::At { offset, generation })),
                    b"f" => found.push((number, Place::Nowhere)),
                    _ => return None,
                }
                (found.len() <= MOST_OBJECTS).then_some(())?;
            }
        }
        self.spend(cursor.at.saturating_sub(at))?;
        let trailer = Dict::read(cursor.value()?)?;
        // A hybrid: what its stream says stands before what its table calls free.
        if let Some(hidden) = trailer.get("XRefStm") {
            self.stream_of_places(integer(hidden)?)?;
        }
        found.into_iter().try_for_each(|(number, place)| self.place(number, place))?;
        Some((trailer, false))
    }

    fn stream_of_places(&mut self, at: usize) -> Option<Dict<'a>> {
        let (dict, data) = self.stream(at)?;
        is_name(dict.get("Type")?, "XRef").then_some(())?;
        let data = self.unpack(&dict, data)?;
        let widths: Vec<usize> = items(dict.get("W")?)?.map(integer).collect::<Option<_>>()?;
        let &[kind, second, third] = widths.as_slice() else { return None };
        let size = kind.checked_add(second)?.checked_add(third)?;
        (size > 0 && kind <= 8 && second <= 8 && third <= 8).then_some(())?;
        let ranges: Vec<u32> = match dict.get("Index") {
            Some(index) => items(index)?.map(integer).collect::<Option<_>>()?,
            None => vec![0, integer(dict.get("Size")?)?],
        };
        let mut rows = data.chunks_exact(size);
        for range in ranges.chunks_exact(2) {
            let &[first, count] = range else { return None };
            for number in first..first.checked_add(count)? {
                let row = rows.next()?;
                let (head, rest) = row.split_at_checked(kind)?;
                let (middle, tail) = rest.split_at_checked(second)?;
                let (middle, tail) = (big_endian(middle), big_endian(tail));
                let place = match if kind == 0 { 1 } else { big_endian(head) } {
                    1 => Place::At { offset: middle.try_into().ok()?, generation: tail.try_into().ok()? },
                    2 => Place::In { stream: middle.try_into().ok()?, index: tail.try_into().ok()? },
                    _ => Place::Nowhere,
                };
                self.place(number, place)?;
            }
        }
        Some(dict)
    }

    /// Newer versions come first, and stay.
    fn place(&mut self, number: u32, place: Place) -> Option<()> {
        self.places.entry(number).or_insert(place);
        (self.places.len() <= MOST_OBJECTS).then_some(())
    }

    /// The generation of an object that stands in the file itself; of one in a stream it is 0.
    pub(super) fn generation(&self, number: u32) -> u16 {
        match self.places.get(&number) {
            Some(Place::At { generation, .. }) => *generation,
            _ => 0,
        }
    }

    /// What an object says; of a stream only its dictionary. None where there is none.
    pub(super) fn object(&mut self, number: u32) -> Option<Cow<'a, [u8]>> {
        match *self.places.get(&number)? {
            Place::Nowhere => None,
            Place::At { offset, .. } => {
                let (found, mut cursor) = self.head(offset)?;
                let begin = cursor.at;
                let value = cursor.value();
                self.spend(cursor.at.saturating_sub(begin))?;
                value.filter(|_| found == number).map(Cow::Borrowed)
            }
            Place::In { stream, index } => self.member(stream, index, number).map(Cow::Owned),
        }
    }

    /// What a value says, whether it stands here or is a reference.
    pub(super) fn resolved(&mut self, value: &[u8]) -> Option<Vec<u8>> {
        match reference(value) {
            Some(number) => self.object(number).map(Cow::into_owned),
            None => Some(value.to_vec()),
        }
    }

    /// The number of the object that begins here, and the place of its value.
    fn head(&self, offset: usize) -> Option<(u32, Cursor<'a>)> {
        let mut cursor = Cursor::new(self.bytes, offset);
        let number = integer(cursor.token()?)?;
        let _: u16 = integer(cursor.token()?)?;
        (cursor.token()? == b"obj").then_some((number, cursor))
    }

    fn stream(&mut self, offset: usize) -> Option<(Dict<'a>, &'a [u8])> {
        let (_, mut cursor) = self.head(offset)?;
        let value = cursor.value()?;
        self.spend(value.len())?;
        let dict = Dict::read(value)?;
        (cursor.token()? == b"stream").then_some(())?;
        let begin = match self.bytes.get(cursor.at..)? {
            [b'\r', b'\n', ..] => cursor.at + 2,
            [b'\n', ..] => cursor.at + 1,
            _ => return None,
        };
        let length = dict.get("Length")?;
        let length: usize = match reference(length).map(|number| self.places.get(&number)) {
            None => integer(length)?,
            // One in a stream could be in this one.
            Some(Some(Place::At { offset, .. })) => integer(self.head(*offset)?.1.value()?)?,
            Some(_) => return None,
        };
        Some((dict, self.bytes.get(begin..begin.checked_add(length)?)?))
    }

    fn member(&mut self, stream: u32, index: usize, number: u32) -> Option<Vec<u8>> {
        if !self.unpacked.contains_key(&stream) {
            let Some(Place::At { offset, .. }) = self.places.get(&stream).copied() else { return None };
            let (dict, data) = self.stream(offset)?;
            is_name(dict.get("Type")?, "ObjStm").then_some(())?;
            let data = self.unpack(&dict, data)?;
            let members = members(&data, integer(dict.get("N")?)?, integer(dict.get("First")?)?)?;
            self.unpacked.insert(stream, Unpacked { members, data });
        }
        let Unpacked { members, data } = self.unpacked.get(&stream)?;
        let (_, begin) = *members.get(index).filter(|(found, _)| *found == number)?;
        let mut cursor = Cursor::new(data, begin);
        let value = cursor.value().map(<[u8]>::to_vec);
        self.spend(cursor.at.saturating_sub(begin))?;
        value
    }

    fn unpack(&mut self, dict: &Dict<'a>, data: &'a [u8]) -> Option<Vec<u8>> {
        let out = match dict.get("Filter").map(only) {
            None => data.get(..data.len().min(self.room + 1))?.to_vec(),
            Some(filter) if is_name(filter, "FlateDecode") => {
                let mut out = Vec::new();
                flate2::read::ZlibDecoder::new(data).take(self.room as u64 + 1).read_to_end(&mut out).ok()?;
                out
            }
            Some(_) => return None,
        };
        self.room = self.room.checked_sub(out.len())?;
        self.spend(out.len())?;
        match dict.get("DecodeParms").map(only).and_then(Dict::read) {
            Some(how) => unpredicted(out, &how),
            None => Some(out),
        }
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        // Nothing is free: an empty value is a look, too.
        self.work = self.work.checked_sub(bytes.saturating_add(16))?;
        Some(())
    }
}

/// The value, or the only one in an array of it.
fn only(value: &[u8]) -> &[u8] {
    inner(value).map_or(value, <[u8]>::trim_ascii)
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn members(data: &[u8], count: usize, first: usize) -> Option<Vec<(u32, usize)>> {
    let mut cursor = Cursor::new(data.get(..first)?, 0);
    let mut members = Vec::new();
    while members.len() < count {
        members.push((integer(cursor.token()?)?, first.checked_add(integer(cursor.token()?)?)?));
    }
    Some(members)
}

/// Takes the differences out that cross-reference streams are written as (the PNG predictors).
fn unpredicted(data: Vec<u8>, how: &Dict<'_>) -> Option<Vec<u8>> {
    let number = |name, usual| how.get(name).map_or(Some(usual), integer::<usize>);
    if number("Predictor", 1)? == 1 {
        return Some(data);
    }
    let columns = number("Columns", 1)?;
    let is_plain = number("Colors", 1)? == 1 && number("BitsPerComponent", 8)? == 8;
    (number("Predictor", 1)? >= 10 && is_plain && (1..=64).contains(&columns)).then_some(())?;
    let (mut above, mut out) = (vec![0; columns], Vec::with_capacity(data.len()));
    for row in data.chunks_exact(columns + 1) {
        let (how, row) = row.split_first()?;
        let (mut left, mut corner) = (0_u8, 0_u8);
        let mut line = Vec::with_capacity(columns);
        for (&raw, &up) in row.iter().zip(&above) {
            let guess = match how {
                0 => 0,
                1 => left,
                2 => up,
                3 => u8::midpoint(left, up),
                4 => paeth(left, up, corner),
                _ => return None,
            };
            (left, corner) = (raw.wrapping_add(guess), up);
            line.push(left);
        }
        out.extend_from_slice(&line);
        above = line;
    }
    Some(out)
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let guess = i16::from(left) + i16::from(up) - i16::from(corner);
    let far = |from: u8| (guess - i16::from(from)).abs();
    if far(left) <= far(up) && far(left) <= far(corner) {
        left
    } else if far(up) <= far(corner) {
        up
    } else {
        corner
    }
}
