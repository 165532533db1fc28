//! Whole numbers as they are written: digits and nothing else.

use std::str::FromStr;

/// The number whose digits `text` is. Without a sign, which the library's own reading takes: a text is to have one meaning here and
/// wherever else it is read.
#[must_use]
pub fn whole<T: FromStr>(text: &str) -> Option<T> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_and_nothing_else_is() {
        assert_eq!(whole::<u32>("7"), Some(7));
        assert_eq!(whole::<u16>("0443"), Some(443));
        for bad in ["", "+7", "-7", " 7", "7 ", "7.0", "1e3", "70000", "٧"] {
            assert_eq!(whole::<u16>(bad), None, "{bad}");
        }
    }
}
