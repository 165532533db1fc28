//! What credentials look like in text of a scan (`masking`). In linear time, whatever the text.

use std::sync::LazyLock;

use regex::Regex;

/// Quotes, brackets and emphasis behind a name, and the blanks behind them; of texts in addresses and in HTML, too.
const BEHIND: &str = r#"(?:["'`\\\])*]|&quot;|&#3[49];|%2[27])*(?:\s|%20|\+)*"#;
/// What stands between a name and its value, written out or encoded.
const BETWEEN: &str = r"(?::|=>|=|%(?:25)*3[ad]|\\?u003[ad]|\\?x3[ad]|&#(?:58|61|x3a|x3d);)";
/// Names. A name counts with something between it and its value.
const NAMES: &str = concat!(
    r"[\w.$-]*cookie[\w.$-]*|[\w.$-]*authori[sz]ation[\w.$-]*|[\w.-]*api[-_]?key|[\w.-]*token|[\w.-]*secret(?:[-_]?key)?",
    r"|[\w.]*sess(?:ion)?[-_.]?id|\bsid|connect\.sid|laravel_session|aspsessionid\w*|[\w.-]*session[-_]?key|credentials?",
    r"|[\w.-]*auth(?:[-_]?(?:header|key))?|[\w-]*subscription-key",
);
/// What else a value follows: options of libcurl in any language, an element with its name alone. What is captured is the value
/// itself, the `v` of it a word that may be one of a sentence.
const OTHERS: &str = concat!(
    r#"\b(?:curlopt_\w*?|(?:py)?c(?:url)?\.)(?:cookie|userpwd|user(?:name)?\b|passw|proxyuser|bearer)\w*["'\s)\]]*(?:,|=>|=)"#,
    r"|\bsession=|<[\w:-]*(?:cookie|authorization|session|token)",
    r"|^\S+\t(?:true|false)\t\S*\t(?:true|false)\t\d+\t",
    r"|\b(?:bearer|basic|negotiate|ntlm)\s+(?P<v>\S{8,})|(eyJ[\w.-]{21,})",
);
/// Calls, options and names that are for nothing else, in text that may be a program. Calls go without brackets in some languages.
const CALLED: &str = concat!(
    r"[\w.$:]*(?:cookie|authori[sz]ation|(?:basic|bearer|digest|ntlm)_?auth|credential)[\w.$]*\s?[(\[{]",
    r#"|(?:cookie|authori[sz]ation|(?:basic|bearer|digest|ntlm)_?auth)\w*\s+(["'`])"#,
    r#"|[\w-]*session["'\])]*\s*[:=]+\s*["'`]|[\w-]+[-_]session\s*[:=]|\bauthentication\s*:"#,
    r"|\bwordpress_\w+=|\bremember[-_]?me\w*\s*[:=]|\bjwt\s*[:=]|x-amz-(?:signature|credential)",
    r#"|\.(?:basic|ntlm|oauth2?)\s?\(|\.auth\s?(?:\(\s*$|(\(\s*[^)\s]))|\.digest\s?(\(\s*["'][^"']*["']\s*,)"#,
    r"|--(?:cookie|cookie-jar|load-cookies|oauth2-bearer)\b|--(?:[a-z]+-)?passw(?:or)?d\b|--(?:http|proxy|ftp|auth)-user\b",
    r"|--auth-cred\b|--user[\s=]+(\S+:\S)",
);
/// Headers whose value may stand in the next column, cell, element or line.
const HEADERS: &str = r"(?:set-)?cookies?2?|(?:proxy-)?authorization|(?:x-)?[\w-]*(?:api-?key|auth-key|-token)|document\.cookie";
/// What a program calls these headers: in code a value follows such a name with whatever stands between them.
const WORDS: &str = r"[\w.$-]*(?:cookie|authori[sz]ation)[\w$]*";
/// Cookies of well-known servers, and words for them.
const COOKIES: &str =
    r"[\w.-]*sess(?:ion)?[-_.]?id|(?:[\w.-]*[-_.])?sid|[\w.-]*session|laravel_session|aspsessionid\w*|remember[-_]?me\w*";
/// Options of programs that send requests: only in their commands.
const OPTIONS: &str =
    r#"(?:^|\s)(?:-[a-z]{0,6}[bu](?:[\s=\\"'$]|$|\w)|-[ac]\s|-id\s|--(?:user|proxy-user|http-user|http-password|auth)\b)"#;
const COMMANDS: &str =
    r#"\b(?:curl|wget|https?|xh|ffuf|wfuzz|gobuster|sqlmap|nuclei|ab|hey|siege|nikto|hydra)(?:\.exe)?["'}]?\s"#;
/// A file, class or method with its line, and nothing else.
const PLACE: &str =
    concat!(r"^[\w$-]*(?:[./\\]|::)(?:::|[\w./\\$!@+~#<>-])*(?:\([\w$.,\x20<>\[\]]*\))?", r"(?::\d{1,6}(?:-\d{1,6})?){0,2}$",);

/// The patterns. None of them is missing: a test makes them all.
pub(super) struct Patterns {
    pub(super) code: Regex,
    pub(super) prose: Regex,
    pub(super) words: Regex,
    pub(super) beside: Regex,
    pub(super) above: Regex,
    pub(super) options: Regex,
    pub(super) commands: Regex,
    pub(super) login: Regex,
    pub(super) pair: Regex,
    pub(super) value: Regex,
    pub(super) place: Regex,
    pub(super) name: Regex,
}

pub(super) static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let new = |pattern: &str| Regex::new(&format!("(?i){pattern}"));
    let named = format!("(?:{NAMES})(?:{BEHIND}{BETWEEN}|[\"'`]\\s*[,>])|{OTHERS}");
    let all = || {
        Ok::<_, regex::Error>(Patterns {
            code: new(&format!("{named}|{CALLED}"))?,
            prose: new(&named)?,
            words: new(WORDS)?,
            beside: new(&format!(
                r#"(?:^|[|│])\s*[*_`]*(?:{HEADERS})[*_`]*\s*[|│]|(?:^|[^\w-])(?:{HEADERS})(?:["'`]*\t|[*`]*</\w+>)"#
            ))?,
            above: new(&format!(r#"^\s*(?:[>*•]|[\w$. ]+[:=]+)?\s*["'`*]*(?:{HEADERS})["'`*]*[;,]?\s*$"#))?,
            options: new(OPTIONS)?,
            commands: new(COMMANDS)?,
            login: new(r#"([a-z][a-z0-9+.-]*://)[^/\s"'<>`]*@"#)?,
            pair: new(&format!(
                r#"\b(?:name|key|header)\w*["']?\s*[:=]\s*["']?(?:(?:set-)?(?:cookie|(?:proxy-)?authorization|x-[\w-]*(?:key|token|auth))|(?:{COOKIES})["'])"#
            ))?,
            value: new(r"\bvalue")?,
            place: new(PLACE)?,
            name: new(&format!(r"^\s*(?:{HEADERS}|{COOKIES}|cookies?|(?:user)?passw(?:or)?d|credentials?)\s*$"))?,
        })
    };
    all().ok()
});
