//! The header of a file that is saved and never shown (RFC 6266): an ASCII name for everybody, the whole one beside it.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::platform::hostile::Hostile;

/// Everything but what RFC 8187 allows unencoded.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b'\'')
    .add(b'(')
    .add(b')')
    .add(b'*')
    .add(b',')
    .add(b'/')
    .add(b':')
    .add(b';')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'{')
    .add(b'|')
    .add(b'}');
/// Characters of a name, at most.
const LONGEST: usize = 100;

/// `Content-Disposition` of a file whose name is `start`, a text from outside and `ending`; both of ours.
pub(in crate::gateway) fn disposition(start: &str, name: &Hostile, ending: &str) -> String {
    let plain = format!("attachment; filename=\"{start}{}{ending}\"", name.filename());
    let whole: String = name.text().chars().map(safe).take(LONGEST).collect();
    let whole = whole.trim_matches(['.', '_', ' ']);
    if whole.is_empty() || whole.is_ascii() {
        return plain;
    }
    format!("{plain}; filename*=UTF-8''{}", utf8_percent_encode(&format!("{start}{whole}{ending}"), ENCODED))
}

/// Folders and what some systems take for something else are left out; hidden characters are written out by then.
fn safe(c: char) -> char {
    if matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '[' | ']') || c.is_control() { '_' } else { c }
}

#[cfg(test)]
mod tests {
    use super::disposition;

    #[test]
    fn a_name_is_plain_for_everybody_and_whole_where_it_is_understood() {
        let of = |name: &str| disposition("report_", &name.into(), "_x.pdf");
        assert_eq!(of("shop 1.0"), "attachment; filename=\"report_shop_1.0_x.pdf\"");
        assert_eq!(of("订单"), "attachment; filename=\"report_file_x.pdf\"; filename*=UTF-8''report_%E8%AE%A2%E5%8D%95_x.pdf");
        assert_eq!(
            of("é\"; a=b\r\n/.."),
            "attachment; filename=\"report_a_b_x.pdf\"; filename*=UTF-8''report_%C3%A9_%3B%20a%3Db_x.pdf"
        );
        assert!(!of("a\u{202e}é").contains("%E2%80%AE"));
        assert_eq!(of(""), "attachment; filename=\"report_file_x.pdf\"");
    }
}
