//! The header that makes an answer a file with a name (RFC 6266).

use std::fmt::Write as _;

use crate::platform::hostile::Hostile;

/// `attachment` with the name in ASCII, and as it is in UTF-8 (RFC 8187) for those who read that. Nothing of the name can leave it:
/// what is no letter, digit, dot, dash or underscore is replaced in the one and encoded in the other.
pub(in crate::gateway) fn attachment(name: &str) -> String {
    let shown = Hostile::from(name).short(100);
    let mut encoded = String::new();
    for byte in shown.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    format!("attachment; filename=\"{}\"; filename*=UTF-8''{encoded}", Hostile::from(name).filename())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_quotes_and_is_whole_for_those_who_read_utf_8() {
        assert_eq!(attachment("audit-acme.csv"), "attachment; filename=\"audit-acme.csv\"; filename*=UTF-8''audit-acme.csv");
        let odd = attachment("r\u{e9}sum\u{e9} \"; filename=x.exe\r\nset-cookie: a\u{202e}.csv");
        let names = "attachment; filename=\"r_sum_____filename_x.exe__set-cookie__a_.csv\"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%22%3B%20filename%3Dx.exe%20%20set-cookie%3A%20a%5BU%2B202E%5D.csv";
        assert_eq!(odd, names);
    }
}
