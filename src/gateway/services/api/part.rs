//! The head of one part of a form, read strictly: what two readers could take for two things is read by nobody (RFC 7578, 4).

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The one named `file`.
    File,
    Other,
}

/// Reads the header lines of a part, without the blank line. `None` when they could be read in two ways: a line that is folded
/// or has a bare line break, a space before the colon, a name that is missing, told twice, extended, escaped or encoded, and a
/// content that is encoded or a form of its own.
pub(super) fn read(head: &[u8]) -> Option<Part> {
    let mut found = None;
    let mut rest = head;
    while !rest.is_empty() {
        let end = memchr::memmem::find(rest, b"\r\n").unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.get(2..).unwrap_or_default();
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
        if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) || value.iter().any(|byte| is_control(*byte)) {
            return None;
        }
        let name = name.to_ascii_lowercase();
        match name.as_slice() {
            b"content-disposition" if found.is_some() => return None,
            b"content-disposition" => found = Some(disposition(value)?),
            b"content-transfer-encoding" if !is_plain(value) => return None,
            b"content-type" if value.trim_ascii().to_ascii_lowercase().starts_with(b"multipart/") => return None,
            _ => {}
        }
    }
    found
}

/// `form-data; name="file"; filename="shop.war"` in any order.
fn disposition(value: &[u8]) -> Option<Part> {
    let (kind, mut rest) = value.iter().position(|byte| *byte == b';').map_or((value, &b""[..]), |at| value.split_at(at));
    if !kind.trim_ascii().eq_ignore_ascii_case(b"form-data") {
        return None;
    }
    let mut found = None;
    while let Some(behind) = rest.strip_prefix(b";") {
        let behind = behind.trim_ascii_start();
        let end = behind.iter().position(|byte| !is_token(*byte)).unwrap_or(behind.len());
        let (name, behind) = behind.split_at(end);
        let (value, behind) = parameter(behind.strip_prefix(b"=")?)?;
        rest = behind.trim_ascii_start();
        let name = name.to_ascii_lowercase();
        match name.as_slice() {
            b"" | b"name*" => return None,
            b"name" if found.is_some() => return None,
            b"name" => found = Some(named(value)?),
            _ => {}
        }
    }
    // Something stands behind the last of them.
    if rest.is_empty() { found } else { None }
}

/// A value, quoted or not, and what is behind it. A quote behind a backslash ends the value for one reader and not for another.
fn parameter(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        let end = text.iter().position(|byte| !is_token(*byte)).unwrap_or(text.len());
        return (end > 0).then(|| text.split_at(end));
    };
    let end = quoted.iter().position(|byte| *byte == b'"')?;
    let (value, behind) = quoted.split_at(end);
    let escapes = value.iter().rev().take_while(|byte| **byte == b'\\').count();
    (escapes % 2 == 0).then_some((value, behind.get(1..)?))
}

/// What the part of this name is.
fn named(name: &[u8]) -> Option<Part> {
    let odd = |byte: &u8| matches!(*byte, b'\\' | b'%' | 0x80..) || is_control(*byte);
    if name.is_empty() || name.iter().any(odd) || name.trim_ascii() != name {
        return None;
    }
    // Whether capitals count is the reader's business.
    Some(if name.eq_ignore_ascii_case(b"file") { Part::File } else { Part::Other })
}

/// Whether the content stands there as it is.
fn is_plain(coding: &[u8]) -> bool {
    let coding = coding.trim_ascii();
    [&b"7bit"[..], b"8bit", b"binary"].iter().any(|plain| coding.eq_ignore_ascii_case(plain))
}

/// RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

const fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0a..=0x1f | 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_everybody_reads_alike_says_what_the_part_is() {
        for (head, part) in [
            ("Content-Disposition: form-data; name=\"file\"; filename=\"shop.war\"", Part::File),
            ("content-disposition:form-data;filename=\"a;name=x.jar\";name=file", Part::File),
            ("Content-Disposition: form-data; name=\"File\"\r\nContent-Type: application/java-archive", Part::File),
            ("Content-Disposition: form-data; name=\"file\"; filename=\"C:\\work\\shop.war\"", Part::File),
            ("Content-Disposition: form-data; name=\"file\"; filename=\"订单 é.jar\"; filename*=utf-8''x", Part::File),
            ("Content-Transfer-Encoding: binary\r\nContent-Disposition: form-data; name=\"file\"", Part::File),
            ("Content-Disposition: form-data; name=\"note\"", Part::Other),
            ("Content-Disposition: form-data; name=\"files\"; filename=\"file\"", Part::Other),
        ] {
            assert_eq!(read(head.as_bytes()), Some(part), "{head}");
        }
    }

    #[test]
    fn a_head_that_two_could_read_differently_says_nothing() {
        for head in [
            "",
            "Content-Type: text/plain",
            "Content-Disposition: attachment; name=\"file\"",
            "Content-Disposition: form-data",
            "Content-Disposition: form-data; filename=\"file\"",
            "Content-Disposition: form-data; name = \"file\"",
            "Content-Disposition: form-data; name= \"file\"",
            "Content-Disposition: form-data; name*=utf-8''file",
            "Content-Disposition: form-data; name=\"note\"; name=\"file\"",
            "Content-Disposition: form-data; name=\"fi\\le\"",
            "Content-Disposition: form-data; name=\"fi%6ce\"",
            "Content-Disposition: form-data; name=\"file \"",
            "Content-Disposition: form-data; name=\"\"",
            "Content-Disposition: form-data; name=\"note\"; filename=\"a\\\"; name=\\\"file\"",
            "Content-Disposition: form-data; name=\"note\" name=\"file\"",
            "Content-Disposition: form-data; name=\"note",
            "Content-Disposition: form-data; name=\"note\";",
            "Content-Disposition: form-data; name=fi\"le\"",
            "Content-Disposition : form-data; name=\"file\"",
            " Content-Disposition: form-data; name=\"file\"",
            "Content-Disposition: form-data;\r\n name=\"file\"",
            "Content-Disposition: form-data; name=\"note\"\r\n\tfolded: x",
            "Content-Disposition: form-data; name=\"note\"\nContent-Disposition: form-data; name=\"file\"",
            "Content-Disposition: form-data; name=\"note\"\rContent-Disposition: form-data; name=\"file\"",
            "Content-Disposition: form-data; name=\"note\"\r\nContent-Disposition: form-data; name=\"file\"",
            "Content-Disposition: form-data; name=\"file\"\r\nContent-Transfer-Encoding: base64",
            "Content-Disposition: form-data; name=\"x\"\r\nContent-Type: multipart/mixed; boundary=c",
            "Content-Disposition: form-data; name=\"file\"\r\nno header",
        ] {
            assert_eq!(read(head.as_bytes()), None, "{head}");
        }
    }
}
