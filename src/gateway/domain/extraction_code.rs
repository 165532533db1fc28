//! Extraction codes of shares: how one is made, what a person may choose, and how a typed or pasted one is read.
//! A code that is set here is kept and compared in one normal form: the letters and digits of the text in their compatible form
//! (NFKC), in upper case. Blanks, dashes and every other sign do not count, neither when it is set nor when it is read.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

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
/// Parts of one text that are read as a code, at most; with the whole of it a try is worth two guesses more.
const PARTS: usize = 3;
/// What an address has and no code.
const ADDRESS: &str = "://";
/// Words for a code that a door would not find among the words around it.
const UNREADABLE: &str = "This code would not open everywhere it is typed or pasted with words around it. Leave out colons, equals \
signs, words such as “code” and “password”, line breaks, and blanks at either end.";
/// What stands before the code in a message, in upper case. The first group needs a separator, the second none.
const WORDS: [&str; 8] = ["CODE", "PASSWORD", "PIN", "KENNWORT", "PASSWORT", "CLAVE", "КОД", "ПАРОЛЬ"];
const MARKS: [&str; 9] = ["提取码", "提取碼", "密码", "密碼", "抽出コード", "コード", "パスワード", "추출코드", "비밀번호"];

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
    /// Words for that person: everything that is wrong with it.
    pub(in crate::gateway) fn chosen(text: &str) -> Result<Self, String> {
        let code = Self(Secret::new(strong(text)?));
        let grouped = code.grouped();
        // Rare signs that join what stands beside them change when they are written in groups.
        if normal(&grouped) != *code.0.expose() {
            return Err("This code cannot be written down safely. Use other letters or digits.".to_owned());
        }
        let typed = code.as_typed(text).unwrap_or_else(|| grouped.clone());
        if opens(code.0.expose(), &[text, &typed, &one_word(&typed), &grouped]) { Ok(code) } else { Err(UNREADABLE.to_owned()) }
    }

    /// A code a program chose. The service compares what it was sent, so that is what a door has to give it, however a recipient
    /// types it: see [`Spelling`].
    ///
    /// # Errors
    /// Words for whoever wrote the program.
    pub(in crate::gateway) fn sent(text: &str) -> Result<Secret, String> {
        let code = strong(text)?;
        let is_spelled = Spelling::of(text).is_some();
        if is_spelled && opens(&code, &[text, &one_word(text)]) { Ok(Secret::new(text)) } else { Err(UNREADABLE.to_owned()) }
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

    /// The code as it was typed: people know it again by that. None where that is not the code alone, for instance where it came
    /// with a message around it, or in signs that do not look like what they are.
    pub(in crate::gateway) fn as_typed(&self, typed: &str) -> Option<String> {
        let shown = typed.split_whitespace().collect::<Vec<&str>>().join(" ");
        let is_plain = shown.chars().all(|c| c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ');
        let bare =
            |counts: fn(char) -> bool| shown.chars().filter(|c| counts(*c)).flat_map(char::to_uppercase).collect::<String>();
        let is_it = [bare(|c| c != ' ' && c != '-'), bare(char::is_alphanumeric)].iter().any(|bare| self.0.matches(bare));
        (is_plain && is_it).then_some(shown)
    }
}

/// How a code is written, beside its normal form: with it the one is made of the other. Letters and digits are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Spelling(String);

impl Spelling {
    const AS_IT_IS: char = '\u{1}';
    const LOWER: char = '\u{2}';

    /// Of `text`, with its normal form; `None` where its letters have several forms, or where something is not written at all.
    pub(in crate::gateway) fn of(text: &str) -> Option<(String, Self)> {
        let normal = normal(text);
        let (mut left, mut how) = (normal.chars().peekable(), String::with_capacity(text.len()));
        for c in text.chars() {
            let counted = match left.peek() {
                _ if c.is_control() => return None,
                Some(next) if *next == c => Some(Self::AS_IT_IS),
                Some(next) if lower(*next) == Some(c) => Some(Self::LOWER),
                _ => None,
            };
            if counted.is_some() {
                left.next();
            } else if !letters(&folded(&visible(c.encode_utf8(&mut [0; 4])))).is_empty() {
                return None;
            }
            how.push(counted.unwrap_or(c));
        }
        left.peek().is_none().then_some((normal, Self(how)))
    }

    /// The text whose normal form `normal` is.
    pub(in crate::gateway) fn spell(&self, normal: &Secret) -> Secret {
        let mut letters = normal.expose().chars();
        let text = self.0.chars().filter_map(|how| match how {
            Self::AS_IT_IS => letters.next(),
            Self::LOWER => letters.next().and_then(lower),
            sign => Some(sign),
        });
        Secret::new(text.collect::<String>())
    }
}

/// The one lower-case letter of an upper-case one.
fn lower(c: char) -> Option<char> {
    let mut all = c.to_lowercase();
    all.next().filter(|_| all.len() == 0)
}

/// What a program may mean by a code: its normal form, and what it sent.
pub(in crate::gateway) fn meant(sent: &Secret) -> Vec<Secret> {
    let normal = normal(sent.expose());
    let is_other = !normal.is_empty() && !sent.matches(&normal);
    is_other.then(|| Secret::new(normal)).into_iter().chain([sent.clone()]).collect()
}

/// A code as messages hold it: one word, so that whoever pastes a whole message is let in by it.
pub(in crate::gateway) fn one_word(code: &str) -> String {
    code.replace(' ', "-")
}

/// The message that holds the code alone.
pub(in crate::gateway) fn code_message(code: &str) -> String {
    format!("Hello,\n\nhere is the code for the link I sent you:\n\n{code}\n")
}

/// The message that holds the link and the code.
pub(in crate::gateway) fn whole_message(address: &str, code: &str) -> String {
    format!("{address}\nCode: {code}\n")
}

/// The normal form of a code that is hard enough to guess.
fn strong(text: &str) -> Result<String, String> {
    let code = normal(text);
    let length = code.chars().count();
    let mut different: Vec<char> = code.chars().collect();
    different.sort_unstable();
    different.dedup();
    let mut problems = Vec::new();
    if length < SHORTEST {
        problems
            .push(format!("A code needs at least {SHORTEST} letters and digits. Blanks, dashes and other signs do not count."));
    }
    if length > LONGEST {
        problems.push(format!("A code has at most {LONGEST} letters and digits."));
    }
    if !code.is_empty() && different.len() < DIFFERENT {
        problems.push(format!("This code is too easy to guess. Use at least {DIFFERENT} different letters or digits."));
    }
    if visible(text).contains(ADDRESS) {
        problems.push(format!("A code holds no address. Leave out “{ADDRESS}”."));
    }
    if problems.is_empty() { Ok(code) } else { Err(problems.join(" ")) }
}

/// Whether a door reads `code` however it comes: each of `forms` alone, behind a word for it, and in the messages that the page of a
/// new share offers, also in one line, as a field makes of what is pasted.
fn opens(code: &str, forms: &[&str]) -> bool {
    let pasted = |form: &&str| {
        let whole = whole_message("https://portal.example/s/share", form);
        [(*form).to_owned(), format!("Code: {form}"), code_message(form), whole]
    };
    let all = forms.iter().flat_map(pasted).flat_map(|text| [text.replace('\n', " "), text]);
    all.into_iter().all(|text| readings(&text).iter().any(|reading| reading.matches(code)))
}

/// What a recipient may have meant, the likeliest first: what has the form of codes made here, what stands behind a word for it or
/// behind a colon, all of it; and last what was typed, letter by letter, for a share that was made elsewhere. Few, because every
/// reading is a guess. Empty when nothing was typed that can be a code.
pub(in crate::gateway) fn readings(typed: &str) -> Vec<Secret> {
    let text = without_addresses(&visible(typed));
    let upper = folded(&text);
    let fits = |code: &String| (*ELSEWHERE.start()..=LONGEST).contains(&code.chars().count());
    let mut all: Vec<String> = Vec::new();
    for code in made_in(&text).into_iter().chain(behind(&upper)).filter(fits) {
        if all.len() < PARTS && !all.contains(&code) {
            all.push(code);
        }
    }
    let whole = Some(letters(&upper)).filter(|code| fits(code) && !all.contains(code));
    all.extend(whole);
    let plain = as_written(typed);
    let can_be = ELSEWHERE.contains(&plain.chars().count()) && !plain.contains(ADDRESS) && !plain.contains(char::is_control);
    if can_be && plain.chars().any(char::is_alphanumeric) && !all.iter().any(|code| code == plain) {
        all.push(plain.to_owned());
    }
    all.into_iter().map(Secret::new).collect()
}

/// The normal form.
fn normal(text: &str) -> String {
    letters(&folded(&visible(text)))
}

/// In compatible form (full-width letters are letters), without what nobody sees.
fn visible(text: &str) -> String {
    text.nfkc().filter(|c| !invisible(*c)).collect()
}

/// In upper case. A capital I with a dot is one without: lower-case letters do not tell them apart.
fn folded(text: &str) -> String {
    let upper: String = text.chars().flat_map(char::to_uppercase).collect();
    upper.nfkc().map(|c| if c == 'İ' { 'I' } else { c }).collect()
}

/// The sound mark of Japanese is what their keyboards give for a dash.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric() && !dash(*c)).nfkc().collect()
}

fn without_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        for piece in line.split_whitespace().filter(|piece| !piece.contains(ADDRESS)) {
            out.push_str(piece);
            out.push(' ');
        }
        out.push('\n');
    }
    out
}

/// Codes in the form of those made here: `ABCD-EFGH`, or eight of their characters. Many words have that form too, so only those
/// count that look most like a code: with a dash and in capitals or with a digit, then without the dash, then words. A single one
/// is also read with 0 and 1 for the letters that look like them.
fn made_in(text: &str) -> Vec<String> {
    let mut best: (u8, Vec<String>) = (u8::MAX, Vec::new());
    for token in text.split(|c| !word(c)).map(|token| token.trim_matches(dash)) {
        let Some((doubt, code)) = made(token) else { continue };
        if doubt < best.0 {
            best = (doubt, Vec::new());
        }
        if doubt == best.0 && !best.1.contains(&code) {
            best.1.push(code);
        }
    }
    let mut found = best.1;
    if let [only] = found.as_slice() {
        let clear: String = only.chars().map(clear).collect();
        found.push(clear);
    }
    found.truncate(2);
    found
}

/// Scripts without blanks between words end a word, so a code may stand right behind one of theirs.
fn word(c: char) -> bool {
    dash(c) || (c.is_alphanumeric() && c < '\u{590}')
}

/// How doubtful it is that `token` is a code, and the code; `None` when it has not the form of one.
fn made(token: &str) -> Option<(u8, String)> {
    let code: String = token.chars().filter(|c| !dash(*c)).map(|c| c.to_ascii_uppercase()).collect();
    let dashed = token.chars().nth(4).is_some_and(dash) && token.chars().filter(|c| dash(*c)).count() == 1;
    let has_form = code.chars().count() == SHORTEST && code.chars().map(clear).all(|c| ALPHABET.contains(&c));
    if !has_form || !(dashed || token.chars().count() == SHORTEST) || WORDS.contains(&code.as_str()) {
        return None;
    }
    let like_code = token.chars().any(|c| c.is_ascii_digit()) || !token.chars().any(char::is_lowercase);
    let doubt = match (like_code, dashed) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    };
    Some((doubt, code))
}

/// What a letter that no code made here has was read from.
const fn clear(c: char) -> char {
    match c {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    }
}

/// What stands behind the last word for a code and behind the first, and behind the last colon before a blank; the rest of the line
/// behind the first of each, for codes of several words; and what stands behind the last colon of all.
fn behind(upper: &str) -> Vec<String> {
    let rest = |at: &usize| upper.get(*at..).unwrap_or_default();
    let marks = MARKS.iter().flat_map(|mark| upper.match_indices(mark).map(|(at, mark)| at + mark.len()));
    let words = WORDS.iter().flat_map(|word| upper.match_indices(word).filter_map(|(at, word)| behind_word(upper, at, word)));
    let mut named: Vec<usize> = marks.chain(words).collect();
    named.sort_unstable();
    let colons = upper.match_indices([':', '=']).map(|(at, sign)| at + sign.len());
    let colons: Vec<usize> = colons.filter(|at| rest(at).contains(char::is_alphanumeric)).collect();
    // One inside a word is of the code rather than of the words around it.
    let apart: Vec<usize> = colons.iter().copied().filter(|at| rest(at).starts_with(char::is_whitespace)).collect();
    let first_words = [named.last(), named.first(), apart.last()].into_iter().flatten().map(|at| code_of(rest(at)));
    let lines = [apart.first(), named.first()].into_iter().flatten().map(|at| line_of(rest(at)));
    first_words.chain(lines).chain(colons.last().map(|at| code_of(rest(at)))).collect()
}

/// Where the code begins behind a word with a separator.
fn behind_word(text: &str, at: usize, word: &str) -> Option<usize> {
    let begins = text.get(..at)?.chars().next_back().is_none_or(|before| !before.is_alphanumeric());
    let rest = text.get(at + word.len()..)?.trim_start_matches([' ', '\t']);
    let skipped = rest.strip_prefix("IS ").or_else(|| rest.strip_prefix([':', '=']))?;
    (begins && skipped.contains(char::is_alphanumeric)).then(|| text.len() - skipped.len())
}

/// The first words of `text` that make a whole code.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    for piece in text.split_whitespace() {
        code.push_str(&letters(piece));
        if code.chars().count() >= SHORTEST {
            break;
        }
    }
    code
}

/// The first line of `text` that holds anything.
fn line_of(text: &str) -> String {
    text.lines().map(letters).find(|line| !line.is_empty()).unwrap_or_default()
}

/// What was typed, without the words of a message before it: they end with a colon and a blank.
fn as_written(typed: &str) -> &str {
    let text = typed.trim();
    let mut colons = text.rmatch_indices([':', '=', '：', '＝']);
    let behind = colons.find_map(|(at, sign)| text.get(at + sign.len()..).filter(|rest| rest.starts_with(char::is_whitespace)));
    behind.unwrap_or(text).trim_start()
}

const fn dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30FC}' | '\u{FE58}' | '\u{FE63}')
}

const fn invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exposed(typed: &str) -> Vec<String> {
        readings(typed).iter().map(|code| code.expose().to_owned()).collect()
    }

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
            "ＡＢＣＤーＥＦＧＨ",
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
            "ABCD-EFGH.",
            "\"ABCD-EFGH\"",
            "(abcd-efgh)",
            "**ABCD-EFGH**",
            "「ABCD-EFGH」",
            "_ABCDEFGH_",
        ] {
            assert!(exposed(typed).iter().any(|code| code == "ABCDEFGH"), "{typed:?} gave {:?}", exposed(typed));
        }
    }

    #[test]
    fn a_code_inside_a_sentence_of_any_language_is_found() {
        for code in ["7KQM-3XYZ", "ABCD-EFGH", "7KQM3XYZ"] {
            for sentence in [
                "The code is: CODE",
                "Extraction code CODE",
                "Code for shop: CODE",
                "Here is the code CODE for you",
                "Hi, use CODE to open it",
                "Der Code lautet CODE",
                "Voici le code : CODE. Bonne lecture !",
                "密码：CODE",
                "密码：CODE，请勿转发",
                "コード：CODE",
                "コードはCODEです",
                "Код доступа CODE",
                "비밀번호는 CODE 입니다",
                "Link: https://portal.example/s/aaaabbbbccccddddeeeeff Code: CODE Do not share this code: it is secret",
                "Code:\nCODE",
                "Code:\r\n\r\nCODE\r\n",
                "Cardea report of PAYMENTS\nPassword: CODE",
                "Hello,\n\nhere is the code for the link I sent you:\n\nCODE\n",
                "> CODE <",
                "CODE!",
            ] {
                let pasted = sentence.replace("CODE", code);
                let found = exposed(&pasted);
                assert!(found.contains(&code.replace('-', "")), "{pasted:?} gave {found:?}");
            }
        }
    }

    #[test]
    fn letters_that_look_like_digits_are_read_as_them_too() {
        for (typed, meant) in [("7KQM-3XYO", "7KQM3XY0"), ("7kqm-3xyl", "7KQM3XY1"), ("IKQM3XYZ", "1KQM3XYZ")] {
            assert!(exposed(typed).iter().any(|code| code == meant), "{typed}");
        }
        assert!(exposed("bloodhol").iter().any(|code| code == "BLOODHOL"), "an own code is what was chosen");
    }

    #[test]
    fn what_a_person_chose_opens_as_they_typed_it_and_as_it_was_shown() {
        for chosen in [
            "secret12.",
            "Abc;defgh1;",
            "hunter(22)",
            "cafe\u{301} secret1",
            "İstanbul12",
            "ıstanbul12",
            "grüße-99",
            "blue whale 7",
            "code: open sesame",
            "my pin is 1234567",
            "пароль-1234",
            "ＡＢＣ１２３４５６",
            "한국어비밀번호12",
            "\u{1112}\u{1161}\u{11ab}비밀번호ABC1",
        ] {
            let code = Code::chosen(chosen).unwrap();
            let shown = code.grouped();
            for typed in [
                chosen.to_owned(),
                chosen.to_lowercase(),
                chosen.to_uppercase(),
                chosen.nfd().collect(),
                chosen.nfkc().collect(),
                shown.clone(),
                shown.to_lowercase(),
                shown.nfd().collect(),
                format!("https://portal.example/s/aaaabbbbccccddddeeeeff\nCode: {shown}\n"),
                format!("Hello,\n\nhere is the code for the link I sent you:\n\n{shown}\n"),
            ] {
                let found = exposed(&typed);
                assert!(found.iter().any(|one| one == code.secret().expose()), "{typed:?} gave {found:?}");
            }
        }
        assert_eq!(normal("İstanbul12"), normal("i\u{307}stanbul12"));
    }

    /// Everything people make of a code that was shown to them: it alone, and the messages in the words of the page, whole and in
    /// one line.
    fn pasted(shown: &str) -> Vec<String> {
        let link = "https://portal.example/s/aaaabbbbccccddddeeeeff";
        let all = [
            shown.to_owned(),
            format!("Code: {shown}"),
            format!("Hello,\n\nhere is the code for the link I sent you:\n\n{shown}\n"),
            format!("{link}\nCode: {shown}\n"),
        ];
        all.into_iter().flat_map(|text| [text.replace('\n', " "), text]).collect()
    }

    fn opens_everywhere(chosen: &str) -> Result<(), TestCaseError> {
        if let Ok(code) = Code::chosen(chosen) {
            let typed = code.as_typed(chosen).unwrap_or_else(|| code.grouped());
            for form in [chosen.to_owned(), one_word(&typed), typed, code.grouped()] {
                for text in pasted(&form) {
                    let found = exposed(&text);
                    prop_assert!(found.iter().any(|one| one == code.secret().expose()), "{:?} gave {:?}", text, found);
                }
            }
            let shown = code.grouped();
            for text in [shown.nfd().collect(), format!(" \"{shown}\". "), chosen.to_lowercase(), chosen.to_uppercase()] {
                let found = exposed(&text);
                prop_assert!(found.iter().any(|one| one == code.secret().expose()), "{:?} gave {:?}", text, found);
            }
        }
        if let Ok(code) = Code::sent(chosen) {
            prop_assert_eq!(code.expose(), chosen);
            let (normal, spelling) = Spelling::of(chosen).unwrap();
            let spelled = spelling.spell(&Secret::new(normal.clone()));
            prop_assert_eq!(spelled.expose(), chosen);
            for text in [pasted(chosen), vec![chosen.to_lowercase(), chosen.to_uppercase(), one_word(chosen)]].concat() {
                let found = exposed(&text);
                prop_assert!(found.contains(&normal), "{:?} gave {:?}", text, found);
            }
        }
        Ok(())
    }

    #[test]
    fn what_is_taken_opens_in_every_message_and_what_is_not_says_what_to_leave_out() {
        for taken in [
            "key=4711abcd",
            "Pass:word:2024",
            "key: 4711abcd",
            "my pin=1234:5678",
            "code: open sesame",
            "my pin is 1234567",
            "blue whale 7",
            "blue-whale 4711ABCD",
            "a:b:c:d:e:f:g:h",
            "http:secret99",
            "hunter(22)!",
            "한국어비밀번호12",
        ] {
            assert!(Code::chosen(taken).is_ok(), "{taken}: {:?}", Code::chosen(taken));
            opens_everywhere(taken).unwrap();
        }
        for address in
            ["http://secret99", "abc://defgh12", "AbCdEfG1 - https://x.y/z", "abcd：／／efgh1", "abc:\u{200b}//defgh12"]
        {
            for refused in [Code::chosen(address).map(drop), Code::sent(address).map(drop)] {
                assert_eq!(refused.unwrap_err(), "A code holds no address. Leave out “://”.", "{address}");
            }
        }
        assert_eq!(Code::sent("tab\tin-a-code-9").unwrap_err(), UNREADABLE);
        assert_eq!(Code::sent("ma\u{df}e-code-9").unwrap_err(), UNREADABLE, "a letter of two in upper case");
        for taken in [
            "abcdefgh",
            " padded-code-9",
            "code: abcdefgh",
            "ABCD-EFGH",
            "two words 77",
            "secret12.",
            "key=4711abcd",
            "ü-secret-12",
        ] {
            assert!(Code::sent(taken).is_ok(), "{taken}");
            opens_everywhere(taken).unwrap();
        }
    }

    #[test]
    fn everything_that_is_wrong_with_a_code_is_told_at_once() {
        let told = Code::chosen("aa://a").unwrap_err();
        for words in ["at least 8 letters", "too easy to guess", "Leave out “://”"] {
            assert!(told.contains(words), "{told}");
        }
        assert!(!Code::chosen("").unwrap_err().contains("easy"));
    }

    proptest! {
        #[test]
        fn whatever_may_be_chosen_opens_however_it_is_written(chosen in "\\PC{8,70}") {
            opens_everywhere(&chosen)?;
        }

        #[test]
        fn whatever_may_be_chosen_opens_though_it_looks_like_a_message(
            chosen in "((code|pin|password|http|密码|is|[a-zO0]{1,8}|[0-9]{1,8})(://|: |:|=| = | |-|/|\\.|)){2,8}"
        ) {
            opens_everywhere(&chosen)?;
            prop_assert!(readings(&chosen).len() <= PARTS + 2);
        }

        #[test]
        fn any_text_is_read_without_failing_and_is_few_guesses(text in "\\PC{0,300}") {
            prop_assert!(readings(&text).len() <= PARTS + 2);
        }
    }

    #[test]
    fn only_letters_and_digits_count() {
        assert_eq!(normal("code1234"), "CODE1234");
        assert_eq!(normal("pin-code-7"), "PINCODE7");
        assert_eq!(normal(""), "");
        assert_eq!(normal(" - "), "");
        assert_eq!(normal("grüße-99"), "GRÜSSE99");
        assert_eq!(normal("ａｂ!c\u{200b}d"), "ABCD");
    }

    #[test]
    fn codes_made_here_use_the_alphabet_and_read_back() {
        for bits in [[0; 5], [255; 5], [1, 2, 3, 4, 5], [0x80, 0, 0, 0, 1], [9, 200, 77, 31, 64]] {
            let code = Code::from_random(bits);
            let text = code.secret().expose();
            assert_eq!(text.len(), 8);
            assert!(text.chars().all(|c| ALPHABET.contains(&c)), "{text}");
            assert_eq!(normal(&code.grouped()), text);
            assert_eq!(exposed(&code.grouped())[0], text);
            assert_eq!(code.grouped().len(), 9);
        }
        assert_eq!(Code::from_random([0; 5]).grouped(), "0000-0000");
        assert_eq!(Code::from_random([255; 5]).grouped(), "ZZZZ-ZZZZ");
        assert_eq!(Code::from_random([0, 0, 0, 0, 33]).grouped(), "0000-0011");
        assert!(["I", "L", "O", "U"].iter().all(|letter| !ALPHABET.iter().collect::<String>().contains(letter)));
    }

    #[test]
    fn short_or_easy_codes_are_refused_and_chosen_ones_are_kept_in_normal_form() {
        for bad in ["", "1234567", "a-b-c-d-e", "aaaaaaaa", "12121212", "!!!???###$$$", &"xy1z".repeat(17)] {
            assert!(Code::chosen(bad).is_err(), "{bad}");
        }
        assert_eq!(Code::chosen("blue whale 7").unwrap().secret().expose(), "BLUEWHALE7");
        assert_eq!(Code::chosen("blue-whale-7").unwrap().grouped(), "BLUE-WHAL-E7");
    }

    #[test]
    fn a_code_made_elsewhere_is_also_tried_as_typed() {
        assert_eq!(exposed("ABCDEFGH"), ["ABCDEFGH"]);
        for typed in ["k7-Yp2", "k7-Yp23", "abcdefgh", "ABCD-EFGH", "3f9a02bc", "two words", "x.y.z.1"] {
            assert_eq!(exposed(&format!(" {typed} ")).last().unwrap(), typed);
        }
        for nothing in ["", " -", "1234", "...,,,;;;", "https://portal.example/s/x", &"x1".repeat(70)] {
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
