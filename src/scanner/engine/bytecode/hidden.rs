//! Looks at the constant pool before the parser does: renames attributes nobody needs, so that the parser passes them over
//! (annotations and records nest without bound there, and a nested one could use up the stack), overwrites long texts it would copy, and keeps the texts for our own reader.

/// Attributes that the parser need not see. The first letter is changed.
const HIDE: [&[u8]; 11] = [
    b"RuntimeVisibleAnnotations",
    b"RuntimeInvisibleAnnotations",
    b"RuntimeVisibleParameterAnnotations",
    b"RuntimeInvisibleParameterAnnotations",
    b"RuntimeVisibleTypeAnnotations",
    b"RuntimeInvisibleTypeAnnotations",
    b"AnnotationDefault",
    b"StackMapTable",
    b"LocalVariableTable",
    b"LocalVariableTypeTable",
    b"Record",
];

/// Longer texts that are no UTF-8 (zeros, surrogates: tables of generated parsers) are overwritten: nobody needs them, and the
/// parser would copy one for each instruction that names it.
const LONGEST: usize = 256;

/// What `RuntimeVisibleAnnotations` is called afterwards.
pub(super) const VISIBLE: &str = "xuntimeVisibleAnnotations";

/// Where the texts of the pool are, by index, and where the pool ends.
#[derive(Debug, Default)]
pub(super) struct Texts {
    places: Vec<(usize, usize)>,
    end: usize,
}

impl Texts {
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    pub(super) fn get<'a>(&self, class: &'a [u8], index: u16) -> Option<&'a str> {
        let (start, end) = *self.places.get(usize::from(index))?;
        class.get(start..end).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

/// Changes `class` in place; `None` when the pool is cut or unknown, and then nothing can be read of it.
pub(super) fn hide(class: &mut [u8]) -> Option<Texts> {
    if class.get(..4)? != [0xca, 0xfe, 0xba, 0xbe] {
        return None;
    }
    let count = u16_at(class, 8)?;
    let (mut at, mut index, mut texts) = (10, 1, vec![(0, 0)]);
    while index < count {
        let size = match *class.get(at)? {
            1 => {
                let length = usize::from(u16_at(class, at + 1)?);
                let text = class.get_mut(at + 3..at + 3 + length)?;
                if HIDE.contains(&&*text)
                    && let Some(first) = text.first_mut()
                {
                    *first = b'x';
                }
                if length > LONGEST && std::str::from_utf8(text).is_err() {
                    text.fill(b'x');
                }
                texts.push((at + 3, at + 3 + length));
                at += 3 + length;
                index += 1;
                continue;
            }
            3 | 4 | 9..=12 | 17 | 18 => 5,
            5 | 6 => {
                texts.push((0, 0));
                index += 1;
                9
            }
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            _ => return None,
        };
        texts.push((0, 0));
        at += size;
        index += 1;
    }
    Some(Texts { places: texts, end: at })
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}
