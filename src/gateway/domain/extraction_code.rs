//! Extraction codes of shares: how one is made, what a person may choose, and how a typed or pasted one is read.
//! Codes made here are always kept and compared in their normal form: upper case, without blanks and dashes.

use crate::platform::secret::Secret;

/// Crockford's base 32: no I, L, O and U, so that nothing is misread.
const ALPHABET: [char; 32] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'M', 'N', 'P', 'Q', 'R',
    'S', 'T', 'V', 'W', 'X', 'Y', 'Z',
];
/// Characters of a code at least, in normal form: 40 bits when made here.
pub(in crate::gateway) const SHORTEST: usize = 8;
/// Characters of a code at most.
const LONGEST: usize = 64;
/// Characters of a code that was made elsewhere, at least and at most (interface section 4).
const ELSEWHERE: std::ops::RangeInclusive<usize> = 6..=128;
/// A code of fewer different characters is guessed too easily.
const DIFFERENT: usize = 4;
/// What stands before the code in a message, in upper case. The first group needs a separator, the second none.
const WORDS: [&str; 3] = ["CODE", "PASSWORD", "PIN"];
const MARKS: [&str; 4] = ["提取码", "提取碼", "抽出コード", "추출코드"];

/// A code in normal form.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Code(Secret);

impl Code {
    /// Eight characters from 40 random bits.
    pub(in crate::gateway) fn from_random(bits: [u8; 5]) -> Self {
        let number = bits.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let character = |place: u32| {
            let at = usize::try_from(number >> (5 * place) & 31).unwrap_or(0);
            ALPHABET.get(at).copied().unwrap_or('0')
        };
        Self(Secret::new((0..8).rev().map(character).collect::<String>()))
    }

    /// A code somebody chose.
    ///
    /// # Errors
    /// Words for that person.
    pub(in crate::gateway) fn chosen(text: &str) -> Result<Self, String> {
        let code = normal(text);
        let length = code.chars().count();
        let mut different: Vec<char> = code.chars().collect();
        different.sort_unstable();
        different.dedup();
        if length < SHORTEST {
            return Err(format!("A code needs at least {SHORTEST} characters, not counting blanks and dashes."));
        }
        if length > LONGEST || code.chars().any(char::is_control) {
            return Err(format!("A code has at most {LONGEST} characters, all of them visible."));
        }
        if different.len() < DIFFERENT {
            return Err(format!("This code is too easy to guess. Use at least {DIFFERENT} different characters."));
        }
        Ok(Self(Secret::new(code)))
    }

    /// The code as the service knows it.
    pub(in crate::gateway) const fn secret(&self) -> &Secret {
        &self.0
    }

    /// In groups of four with dashes, for the one page that shows it.
    pub(in crate::gateway) fn grouped(&self) -> String {
        let mut out = String::new();
        for (at, character) in self.0.expose().chars().enumerate() {
            if at > 0 && at % 4 == 0 {
                out.push('-');
            }
            out.push(character);
        }
        out
    }
}

/// What a recipient may have meant: the normal form, and what was typed when that differs (a share that was made
/// elsewhere may have a code in lower case or with dashes). Empty when nothing was typed that can be a code.
pub(in crate::gateway) fn readings(typed: &str) -> Vec<Secret> {
    let code = normal(typed);
    let plain = typed.trim();
    // A code as it is made here has one reading only: a mistyped one costs one try.
    let other = (plain != code && !code.is_empty() && !is_made_here(&code) && !plain.contains(char::is_whitespace))
        .then(|| plain.to_owned());
    let fits = |code: &String| ELSEWHERE.contains(&code.chars().count());
    [Some(code), other].into_iter().flatten().filter(fits).map(Secret::new).collect()
}

/// Whether a code in its normal form has the shape of those that are made here.
fn is_made_here(code: &str) -> bool {
    code.chars().count() == SHORTEST && code.chars().all(|c| ALPHABET.contains(&c))
}

/// The normal form of typed or pasted text; of a whole message only the code behind its mark.
fn normal(text: &str) -> String {
    let narrow: String = text.chars().filter(|c| !invisible(*c)).map(narrow).collect();
    // Byte positions must fit both, so only ASCII letters change their case here.
    let upper = narrow.to_ascii_uppercase();
    let mark = MARKS.iter().filter_map(|mark| upper.rfind(mark).map(|at| at + mark.len()));
    let word = WORDS.iter().filter_map(|word| behind_word(&upper, word));
    if let Some(at) = mark.chain(word).max() {
        return code_of(upper.get(at..).unwrap_or_default().trim_start_matches([':', '=', ' ', '\t']));
    }
    upper.split_whitespace().filter(|piece| !piece.contains("://")).map(tidy).collect()
}

/// Where the code begins behind `word` with a separator; the last such place.
fn behind_word(text: &str, word: &str) -> Option<usize> {
    text.rmatch_indices(word).find_map(|(at, _)| {
        let begins = text.get(..at)?.chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        let after = at + word.len();
        let rest = text.get(after..)?.trim_start_matches([' ', '\t']);
        let separated = rest.starts_with([':', '=']) || rest.starts_with("IS ");
        let skipped = rest.strip_prefix("IS ").unwrap_or_else(|| rest.trim_start_matches([':', '=']));
        let fits = begins && separated && !skipped.trim().is_empty() && !skipped.starts_with("//");
        fits.then(|| text.len() - skipped.len())
    })
}

/// The first words of `text` that make a whole code.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    for piece in text.lines().next().unwrap_or_default().split_whitespace() {
        code.push_str(&tidy(piece));
        if code.chars().count() >= SHORTEST {
            break;
        }
    }
    code.trim_end_matches(['.', ',', ';', ')']).to_owned()
}

fn tidy(piece: &str) -> String {
    piece.chars().filter(|c| !dash(*c)).flat_map(char::to_uppercase).collect()
}

/// Full-width forms to ASCII.
fn narrow(c: char) -> char {
    match u32::from(c) {
        0x3000 => ' ',
        wide @ 0xFF01..=0xFF5E => char::from_u32(wide - 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

const fn dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30FC}' | '\u{FE58}' | '\u{FE63}')
}

const fn invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_and_pasted_forms_mean_the_same_code() {
        for typed in [
            "ABCDEFGH",
            "abcd-efgh",
            "ABCD EFGH",
            "  abcdefgh\n",
            "ABCD\u{2013}EFGH\r\n",
            "\u{200b}ABCD\u{2011}EFGH\u{feff}",
            "ＡＢＣＤ－ＥＦＧＨ",
            "ａｂｃｄ　ｅｆｇｈ",
            "链接: https://portal.example/s/Code1 提取码: ABCDEFGH",
            "链接：https://portal.example/s/x 提取码：abcd-efgh 复制这段内容后打开",
            "提取码ABCDEFGH",
            "提取碼 ABCD EFGH",
            "Code: ABCD-EFGH",
            "code:abcdefgh",
            "Link: https://portal.example/s/abc\nCode: ABCD-EFGH\n",
            "The extraction code is abcd-efgh.",
            "https://portal.example/s/abc ABCD-EFGH",
            "password = ABCDEFGH",
        ] {
            assert_eq!(normal(typed), "ABCDEFGH", "{typed:?}");
        }
    }

    #[test]
    fn words_inside_a_code_are_part_of_it() {
        assert_eq!(normal("code1234"), "CODE1234");
        assert_eq!(normal("MYCODE:XY"), "MYCODE:XY");
        assert_eq!(normal("pin-code-7"), "PINCODE7");
        assert_eq!(normal(""), "");
        assert_eq!(normal(" - "), "");
        assert_eq!(normal("grüße-99"), "GRÜSSE99");
    }

    #[test]
    fn codes_made_here_use_the_alphabet_and_read_back() {
        for bits in [[0; 5], [255; 5], [1, 2, 3, 4, 5], [0x80, 0, 0, 0, 1], [9, 200, 77, 31, 64]] {
            let code = Code::from_random(bits);
            let text = code.secret().expose();
            assert_eq!(text.len(), 8);
            assert!(text.chars().all(|c| ALPHABET.contains(&c)), "{text}");
            assert_eq!(normal(&code.grouped()), text);
            assert_eq!(code.grouped().len(), 9);
        }
        assert_eq!(Code::from_random([0; 5]).grouped(), "0000-0000");
        assert_eq!(Code::from_random([255; 5]).grouped(), "ZZZZ-ZZZZ");
        assert_eq!(Code::from_random([0, 0, 0, 0, 33]).grouped(), "0000-0011");
        assert!(["I", "L", "O", "U"].iter().all(|letter| !ALPHABET.iter().collect::<String>().contains(letter)));
    }

    #[test]
    fn short_or_easy_codes_are_refused_and_chosen_ones_are_kept_in_normal_form() {
        for bad in ["", "1234567", "a-b-c-d-e", "aaaaaaaa", "12121212", &"xy1z".repeat(17)] {
            assert!(Code::chosen(bad).is_err(), "{bad}");
        }
        assert_eq!(Code::chosen("blue whale 7").unwrap().secret().expose(), "BLUEWHALE7");
        assert_eq!(Code::chosen("blue-whale-7").unwrap().grouped(), "BLUE-WHAL-E7");
    }

    #[test]
    fn a_code_made_elsewhere_is_also_tried_as_typed() {
        let exposed = |typed: &str| readings(typed).iter().map(|code| code.expose().to_owned()).collect::<Vec<_>>();
        assert_eq!(exposed("ABCDEFGH"), ["ABCDEFGH"]);
        assert_eq!(exposed(" k7-Yp2 "), ["k7-Yp2"]);
        assert_eq!(exposed(" k7-Yp23 "), ["K7YP23", "k7-Yp23"]);
        assert_eq!(exposed("code: abcd-efgh"), ["ABCDEFGH"]);
        for nothing in ["", " -", "1234", "https://portal.example/s/x", &"x1".repeat(70)] {
            assert!(exposed(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn any_text_can_be_read_without_failing() {
        for text in ["提取码", "code:", "CODE IS ", "ß提取码ß", "ﬀ code: ﬀﬀﬀﬀﬀﬀﬀﬀ", "İ code = x", "\0\0", "🙂 code:🙂"]
        {
            let _ = readings(text);
            let _ = Code::chosen(text);
        }
    }
}
