//! File names of multipart forms, read as they are sent. Browsers write a quote and line breaks as `%22`, `%0D` and `%0A` and
//! leave everything else as it is, the backslash too (HTML, "multipart form data"); other clients put a backslash before a quote
//! and a backslash (RFC 9110), and some add `filename*` (RFC 8187). Opens no file: what comes out is still somebody else's text.

use percent_encoding::percent_decode_str;

/// The longest name that is kept, in characters.
const LONGEST: usize = 200;
/// A name of which nothing is left.
const NAMELESS: &str = "file";

/// The name of the file in a part with this `Content-Disposition`: without folders and control characters, never empty. `None`
/// when the part is no file or its file was not chosen.
#[must_use]
pub fn file_name(disposition: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(disposition);
    let (mut plain, mut extended) = (None, None);
    let mut rest = text.split_once(';')?.1;
    while let Some((name, value)) = rest.split_once('=') {
        let name = name.trim();
        let (value, behind) = value_of(value.trim_start());
        if name.eq_ignore_ascii_case("filename") {
            plain.get_or_insert(unescaped(&value));
        } else if name.eq_ignore_ascii_case("filename*") {
            extended = extended.or_else(|| decoded(&value));
        }
        rest = behind;
    }
    let given = extended.or(plain).filter(|name| !name.is_empty())?;
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    let name = name.trim();
    Some(if matches!(name, "" | "." | "..") { NAMELESS.to_owned() } else { name.to_owned() })
}

/// A value, quoted or not, and what comes behind it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, behind) = text.split_once(';').unwrap_or((text, ""));
        return (value.trim().to_owned(), behind);
    };
    let (mut value, mut characters) = (String::new(), quoted.char_indices().peekable());
    while let Some((at, c)) = characters.next() {
        match (c, characters.peek()) {
            ('"', _) => {
                let behind = quoted.get(at + 1..).unwrap_or_default();
                return (value, behind.split_once(';').map_or("", |(_, behind)| behind));
            }
            ('\\', Some((_, next @ ('"' | '\\')))) => {
                value.push(*next);
                characters.next();
            }
            _ => value.push(c),
        }
    }
    (value, "")
}

/// Turns back what browsers escape, and nothing else: a name may hold any other percent sign.
fn unescaped(value: &str) -> String {
    let mut out = value.to_owned();
    for (escaped, plain) in [("%22", "\""), ("%0D", "\r"), ("%0d", "\r"), ("%0A", "\n"), ("%0a", "\n")] {
        out = out.replace(escaped, plain);
    }
    out
}

/// Charset, language, percent-encoded text; other charsets than UTF-8 and Latin-1 are not known.
fn decoded(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, text) = rest.split_once('\'')?;
    let bytes: Vec<u8> = percent_decode_str(text).collect();
    if charset.eq_ignore_ascii_case("utf-8") {
        String::from_utf8(bytes).ok()
    } else if charset.eq_ignore_ascii_case("iso-8859-1") {
        Some(bytes.into_iter().map(char::from).collect())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_read_as_they_are_sent() {
        let cases: &[(&str, Option<&str>)] = &[
            (r#"form-data; name="file"; filename="shop.war""#, Some("shop.war")),
            (r"form-data; name=file; filename=shop.war", Some("shop.war")),
            (r#"form-data; filename="shop.war"; name="file""#, Some("shop.war")),
            (r#"FORM-DATA;NAME="file";FILENAME="shop.war""#, Some("shop.war")),
            // Browsers.
            (r#"form-data; name="file"; filename="a %22quoted%22.jar""#, Some("a \"quoted\".jar")),
            (r#"form-data; name="file"; filename="a%0D%0Ab.jar""#, Some("ab.jar")),
            (r#"form-data; name="file"; filename="100%25 %20 %41.jar""#, Some("100%25 %20 %41.jar")),
            (r#"form-data; name="file"; filename="订单 é.jar""#, Some("订单 é.jar")),
            (r#"form-data; name="file"; filename="C:\work\new\shop.war""#, Some("shop.war")),
            (r#"form-data; name="file"; filename="a;b=c.jar""#, Some("a;b=c.jar")),
            // Other clients.
            (r#"form-data; name="file"; filename="a \"quoted\" \\ b.jar""#, Some("b.jar")),
            (r#"form-data; name="file"; filename="say \"hi\".jar""#, Some("say \"hi\".jar")),
            (r"form-data; name=file; filename=x.jar; filename*=utf-8''%e8%ae%a2%e5%8d%95.jar", Some("订单.jar")),
            (r"form-data; name=file; filename*=UTF-8'en'a%20b.jar", Some("a b.jar")),
            (r"form-data; name=file; filename*=iso-8859-1''%e9t%e9.jar", Some("été.jar")),
            (r#"form-data; name="file"; filename*=utf-8''%ff.jar; filename="plain.jar""#, Some("plain.jar")),
            (r"form-data; name=file; filename*=utf-16''%00a; filename=plain.jar", Some("plain.jar")),
            // Folders, and names that are none.
            (r#"form-data; name="file"; filename="../../etc/passwd""#, Some("passwd")),
            (r"form-data; name=file; filename*=utf-8''..%2F..%2Fetc%2Fpasswd", Some("passwd")),
            (r#"form-data; name="file"; filename="..""#, Some("file")),
            (r#"form-data; name="file"; filename="a/""#, Some("file")),
            (r#"form-data; name="file"; filename="%0D%0A""#, Some("file")),
            (r#"form-data; name="file"; filename="""#, None),
            (r#"form-data; name="file""#, None),
            ("form-data", None),
            ("", None),
            // Cut off.
            (r#"form-data; name="file"; filename="half"#, Some("half")),
            (r"form-data; name=file; filename", None),
        ];
        for (sent, read) in cases {
            assert_eq!(file_name(sent.as_bytes()).as_deref(), *read, "{sent}");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_bytes_that_are_no_text_are_replaced() {
        let long = format!("form-data; filename=\"{}\"", "订".repeat(500));
        assert_eq!(file_name(long.as_bytes()).map(|name| name.chars().count()), Some(LONGEST));
        assert_eq!(file_name(b"form-data; filename=\"\xe9t\xe9.jar\"").as_deref(), Some("\u{fffd}t\u{fffd}.jar"));
    }
}
