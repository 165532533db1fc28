//! Bytes of an XML file as text, in the encoding that its mark, its first bytes or its declaration name. Reads no XML.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// The declaration is looked for in so many bytes.
const DECLARATION: usize = 200;

/// The text; what is damaged in it is replaced. Nothing is copied when it is UTF-8.
pub(super) fn decoded(content: &[u8]) -> Cow<'_, str> {
    let (encoding, mark) = Encoding::for_bom(content).unwrap_or_else(|| (guessed(content), 0));
    encoding.decode_without_bom_handling(content.get(mark..).unwrap_or_default()).0
}

/// Without a mark: UTF-16 shows in the first bracket, all else is what the declaration says.
fn guessed(content: &[u8]) -> &'static Encoding {
    match content {
        [b'<', 0, _, 0, ..] => return UTF_16LE,
        [0, b'<', 0, _, ..] => return UTF_16BE,
        _ => {}
    }
    let named = declared(content).and_then(|label| Encoding::for_label(&label));
    // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
    named.filter(|encoding| *encoding != UTF_16LE && *encoding != UTF_16BE).unwrap_or(UTF_8)
}

/// `ISO-8859-1` of `<?xml version="1.0" encoding="ISO-8859-1"?>`.
fn declared(content: &[u8]) -> Option<Vec<u8>> {
    let start = content.get(..DECLARATION).unwrap_or(content);
    let declaration = start.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = declaration.split(|byte| *byte == b'>').next()?;
    let at = declaration.windows(8).position(|part| part == b"encoding")?;
    let value = declaration.get(at + 8..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    value.split(|byte| byte == quote).next().map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn the_encoding_is_the_one_of_mark_first_bytes_or_declaration() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><name>Jürgen 東京</name>";
        let units = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let (little, big) = (units(u16::to_le_bytes), units(u16::to_be_bytes));
        let marked = [&[0xff, 0xfe][..], &little].concat();
        for content in [&marked, &[&[0xfe, 0xff][..], &big].concat(), &little, &big] {
            assert_eq!(decoded(content), text);
        }
        assert_eq!(decoded(text.as_bytes()), text);
        assert_eq!(decoded("\u{feff}<a/>".as_bytes()), "<a/>");
        let latin = b"<?xml version='1.0' encoding = 'ISO-8859-1' ?><name>J\xfcrgen</name>";
        assert!(decoded(latin).ends_with("<name>Jürgen</name>"));
    }

    #[test]
    fn what_is_cut_damaged_or_names_no_encoding_is_text_all_the_same() {
        for content in
            [&b""[..], b"<", b"<\0", b"\xff\xfe<", b"<?xml", b"<?xml encoding", b"<?xml encoding=", b"<?xml encoding='none'?>"]
        {
            let _ = decoded(content);
        }
        assert_eq!(decoded(b"a\xffb"), "a\u{fffd}b");
    }
}
