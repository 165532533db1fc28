//! Takes credentials out of text of a scan before people without an account read it (WIRE reading rule 9).
//! Errs on the side of taking out too much: what stands behind a cookie or authorization word goes to the end of its line, and so do
//! the lines below that belong to it. Names are looked for in one form of the text (NFKC, without what nobody sees).

use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_normalization::UnicodeNormalization as _;

use crate::platform::hostile::Hostile;

const LEFT_OUT: &str = "[left out]";
/// Lines that are followed for one credential at most.
const LONGEST: usize = 200;
/// Lines between the two halves of a pair of name and value.
const APART: usize = 3;

/// What a value follows. A name counts with a separator behind it, a call with its bracket, an element with its name alone; the
/// groups `v` and `w` are values themselves.
const NAMED: &str = concat!(
    r#"(?:[\w.$-]*cookie[\w.$-]*|[\w.$-]*authori[sz]ation[\w.$-]*|[\w.-]*api[-_]?key|[\w.-]*token|[\w.-]*secret(?:[-_]?key)?"#,
    r#"|[\w.]*sess(?:ion)?[-_.]?id|\bsid|connect\.sid|laravel_session|aspsessionid\w*|[\w.-]*session[-_]?key|credentials?"#,
    r#"|[\w.-]*auth)(?:["'`\\\])]*\s*(?::|=>|=)|["'`]\s*[,>])"#,
    r#"|\bsession=|<[\w:-]*(?:cookie|authorization|session|token)"#,
    r#"|^\S+\t(?:true|false)\t\S*\t(?:true|false)\t\d+\t"#,
    r#"|\b(?:bearer|basic|negotiate|ntlm)\s+(?P<v>\S{8,})|(?P<w>eyJ[\w.-]{21,})"#,
);
/// Calls, in text that may be a program.
const CALLED: &str = concat!(
    r"[\w.$:]*(?:cookie|authori[sz]ation|basic_?auth|credential)[\w.$]*\s?[(\[{]",
    r"|--(?:cookie|cookie-jar|load-cookies|oauth2-bearer)\b",
);
/// Options of programs that send requests: only in their commands.
const OPTIONS: &str =
    r#"(?:^|\s)(?:-[a-z]{0,6}[bu](?:[\s=\\"'$]|$|\w)|-a\s|--(?:user|proxy-user|http-user|http-password|auth)\b)"#;
const COMMANDS: &str = r"\b(?:curl|wget|https?|xh|ffuf|wfuzz|gobuster|sqlmap|nuclei)(?:\.exe)?\s";

/// The patterns. None of them is missing: a test makes them all.
struct Patterns {
    code: Regex,
    prose: Regex,
    options: Regex,
    commands: Regex,
    login: Regex,
    pair: Regex,
    value: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let new = |pattern: &str| Regex::new(&format!("(?i){pattern}"));
    let all = || {
        Ok::<_, regex::Error>(Patterns {
            code: new(&format!("{NAMED}|{CALLED}"))?,
            prose: new(NAMED)?,
            options: new(OPTIONS)?,
            commands: new(COMMANDS)?,
            login: new(r#"([a-z][a-z0-9+.-]*://)[^/\s"'<>`]*@"#)?,
            pair: new(
                r#"\b(?:name|key|header)\w*["']?\s*[:=]\s*["']?(?:set-)?(?:cookie|(?:proxy-)?authorization|x-[\w-]*(?:key|token|auth))"#,
            )?,
            value: new(r"\bvalue")?,
        })
    };
    all().ok()
});

/// The text of a program, of a request, or of what one printed, without the values of cookies and authorization headers.
pub(in crate::gateway) fn masked(text: &Hostile) -> Hostile {
    without(text, true)
}

/// The same of sentences, which name such things more often than they hold them.
pub(in crate::gateway) fn masked_prose(text: &Hostile) -> Hostile {
    without(text, false)
}

fn without(text: &Hostile, is_code: bool) -> Hostile {
    if text.is_empty() {
        return text.clone();
    }
    let Some(patterns) = PATTERNS.as_ref() else { return Hostile::from(LEFT_OUT) };
    let plain: String = text.raw().nfkc().filter(|c| !invisible(*c)).collect();
    let named = patterns
        .login
        .replace_all(&plain, |found: &Captures<'_>| format!("{}{LEFT_OUT}@", found.get(1).map_or("", |scheme| scheme.as_str())));
    let lines: Vec<&str> = named.split('\n').collect();
    let mut out = Masking { patterns, is_code, lines: &lines, out: Vec::with_capacity(lines.len()), is_changed: named != plain };
    out.all();
    if out.is_changed { Hostile::new(out.out.join("\n")) } else { text.clone() }
}

/// A text on its way.
struct Masking<'t> {
    patterns: &'t Patterns,
    is_code: bool,
    lines: &'t [&'t str],
    out: Vec<String>,
    is_changed: bool,
}

impl Masking<'_> {
    fn line(&self, at: usize) -> Option<&str> {
        self.lines.get(at).copied()
    }

    fn all(&mut self) {
        let mut at = 0;
        let mut in_command = false;
        while let Some(line) = self.lines.get(at).copied() {
            in_command = self.is_code && (self.patterns.commands.is_match(line) || in_command && self.is_continued(at));
            let Some(value) = self.value_in(line, in_command || self.is_code && self.is_continued(at)) else {
                self.out.push(line.to_owned());
                at += 1;
                continue;
            };
            self.is_changed = true;
            let kept = if self.patterns.pair.is_match(line) {
                self.look_back();
                ""
            } else {
                line.get(..value).unwrap_or_default()
            };
            let kept = kept.trim_end();
            self.out.push(if kept.is_empty() { LEFT_OUT.to_owned() } else { format!("{kept} {LEFT_OUT}") });
            let end = self.end_of(at, line.get(value..).unwrap_or_default());
            if end > at + 1 {
                self.out.push(LEFT_OUT.to_owned());
            }
            at = end;
        }
    }

    /// Whether the line before goes on in this one.
    fn is_continued(&self, at: usize) -> bool {
        at.checked_sub(1).and_then(|before| self.line(before)).is_some_and(|before| before.trim_end().ends_with(['\\', '^', '`']))
    }

    /// Where in `line` the value of a credential begins.
    fn value_in(&self, line: &str, in_command: bool) -> Option<usize> {
        let pattern = if self.is_code { &self.patterns.code } else { &self.patterns.prose };
        let named = pattern.captures_iter(line).find_map(|found| {
            let Some(word) = found.name("v") else {
                return found
                    .name("w")
                    .or_else(|| found.get(0))
                    .map(|whole| if found.name("w").is_some() { whole.start() } else { whole.end() });
            };
            (self.is_code || is_like_a_key(word.as_str())).then(|| word.start())
        });
        let option = in_command.then(|| self.patterns.options.find(line)).flatten();
        let option = option.map(|found| line.get(..found.start() + 3).map_or(found.start(), str::len));
        [named, option].into_iter().flatten().min()
    }

    /// Values stand before the name as well in pairs over several lines.
    fn look_back(&mut self) {
        let value = &self.patterns.value;
        for line in self.out.iter_mut().rev().take(APART).take_while(|line| !line.trim_start().starts_with(['{', '}'])) {
            if value.is_match(line) {
                LEFT_OUT.clone_into(line);
            }
        }
    }

    /// The first line behind a value that begins in line `at` with `rest`: behind its brackets, its quotes, its element, what is
    /// further in, and what it is joined with.
    fn end_of(&self, at: usize, rest: &str) -> usize {
        let line = self.line(at).unwrap_or_default();
        let opened = line.get(..line.len() - rest.len()).is_some_and(|kept| kept.ends_with(['(', '[', '{']));
        let mut depth = i64::from(opened) + open_at_end(rest).0;
        let mut end = at + 1;
        while depth > 0 && end < at + LONGEST {
            let Some(next) = self.line(end) else { break };
            depth += open_at_end(next).0;
            end += 1;
        }
        end = end.max(self.end_of_quote(at, rest)).max(self.end_of_element(at, line, rest)).max(self.end_of_pair(at, line));
        let mut before = if end == at + 1 { rest } else { "," };
        while let Some(next) = self.line(end).filter(|_| end < at + LONGEST) {
            let further_in = !next.trim().is_empty() && indent(next) > indent(line);
            let joined = is_joined(before, next) || before.trim().is_empty() && end == at + 1;
            if !further_in && !joined {
                break;
            }
            // Where the value begins on a line of its own, its brackets are followed from there.
            if joined && open_at_end(next).0 > 0 {
                return self.end_of(end, next).max(end + 1);
            }
            before = next;
            end += 1;
        }
        end
    }

    /// A quote that is open at the end of the line is closed further down, if anywhere.
    fn end_of_quote(&self, at: usize, rest: &str) -> usize {
        let Some(quote) = open_at_end(rest).1 else { return at + 1 };
        let below = self.lines.iter().skip(at + 1).take(LONGEST);
        below.zip(at + 2..).find(|(line, _)| line.contains(quote)).map_or(at + 1, |(_, end)| end)
    }

    /// An element that is not closed in its line.
    fn end_of_element(&self, at: usize, line: &str, rest: &str) -> usize {
        if !line.contains('<') || rest.contains("</") || rest.contains("/>") {
            return at + 1;
        }
        let below = self.lines.iter().skip(at + 1).take(LONGEST);
        below.zip(at + 2..).find(|(line, _)| line.contains("</") || line.contains("/>")).map_or(at + 1, |(_, end)| end)
    }

    /// The value of a pair whose name is in this line.
    fn end_of_pair(&self, at: usize, line: &str) -> usize {
        if !self.patterns.pair.is_match(line) {
            return at + 1;
        }
        let below = self.lines.iter().skip(at + 1).take(APART);
        below.zip(at + 2..).find(|(line, _)| self.patterns.value.is_match(line)).map_or(at + 1, |(_, end)| end)
    }
}

/// Brackets that `text` opens outside of quotes, less those it closes, and the quote that is open at its end.
fn open_at_end(text: &str) -> (i64, Option<char>) {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    for c in text.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            _ => {}
        }
    }
    (depth, quote)
}

/// Whether `next` goes on with the value that ends in `before`.
fn is_joined(before: &str, next: &str) -> bool {
    let before = before.trim_end().trim_end_matches(['\\', '^', '`']).trim_end();
    let (ends, next) = (before.chars().next_back(), next.trim_start());
    let begins = next.chars().next();
    match ends {
        None => !next.is_empty(),
        Some('+' | '=' | ':' | '&' | '%' | '.') => true,
        Some(',' | ';') => false,
        Some(_) => begins.is_some_and(|c| matches!(c, '+' | '.' | '"' | '\'' | '`' | '%')),
    }
}

/// A word of a sentence is no key.
fn is_like_a_key(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit()) || word.chars().skip(1).any(char::is_uppercase) || word.len() > 30
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).count()
}

const fn invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{masked, masked_prose};
    use crate::platform::hostile::Hostile;

    /// Proofs as tools and people write them. `SECRET42` is what nobody without an account may read.
    const FORMS: &[&str] = &[
        "GET / HTTP/1.1\nCookie: sid=SECRET42\nHost: a",
        "GET / HTTP/1.1\r\nCookie: a=1;\r\n sid=SECRET42\r\nHost: a",
        "Authorization: Bearer\n\tSECRET42\nHost: a",
        "cookie:SECRET42",
        "Set-Cookie: sid=SECRET42; HttpOnly",
        "X-Auth-Token: SECRET42",
        "X-Api-Key: SECRET42",
        "Private-Token: SECRET42",
        "Proxy-Authorization: Basic SECRET42",
        "curl -H 'Authorization: Bearer SECRET42' https://a",
        "curl -b sid=SECRET42 https://a",
        "curl -bsid=SECRET42 https://a",
        "curl -sb 'sid=SECRET42' https://a",
        "curl --cookie sid=SECRET42 https://a",
        "curl --cookie \\\n  'sid=SECRET42' \\\n  https://a",
        "curl --cookie \\\nsid=SECRET42 https://a",
        "curl -u admin:SECRET42 https://a",
        "curl -uadmin:SECRET42 https://a",
        "curl --user admin:SECRET42 https://a",
        "curl 'https://a/' \\\n  -H 'accept: */*' \\\n  -b 'sid=SECRET42; b=SECRET42' \\\n  -H 'x: y'",
        "curl 'https://a/' ^\n  -b 'sid=SECRET42' ^\n  -H 'x: y'",
        "curl 'https://a/' \\\n  -b 'sid=SECRET42;\nb=SECRET42' \\\n  -H 'x: y'",
        "wget --header 'Cookie: sid=SECRET42' https://a",
        "wget --http-user=a --http-password=SECRET42 https://a",
        "http -a admin:SECRET42 https://a",
        "http https://a Cookie:sid=SECRET42",
        "sqlmap -u https://a --cookie='sid=SECRET42'",
        "headers = {\"Authorization\": \"Basic SECRET42\"}",
        "headers['Cookie'] = 'SECRET42'",
        "headers = {\n  'Cookie':\n  'SECRET42',\n}",
        "headers = {\n  'Authorization':\n    'SECRET42',\n}",
        "headers = {\n  'Cookie': 'a=1; '\n  'sid=SECRET42',\n  'Host': 'a'\n}",
        "h = 'Cookie: a=1; ' +\n'sid=SECRET42'",
        "cookies = {\n  \"sid\": \"SECRET42\",\n  \"b\": \"SECRET42\"\n}\nprint(1)",
        "cookies={'a':'b',\n'sid':'SECRET42'}",
        "cookies={'a':'}',\n'sid':'SECRET42'}",
        "cookies = dict(a='1',\nsid='SECRET42')",
        "requests.get(u, cookies={'sid': 'SECRET42'})",
        "requests.get(u, cookies=dict(a='1',\n  sid='SECRET42'))",
        "cookies[\"sid\"] = \"SECRET42\"",
        "s.cookies.set(\"sid\", \"SECRET42\")",
        "s.cookies.set(\n  \"sid\",\n  \"SECRET42\",\n)",
        "session.cookies.update({\n'sid': 'SECRET42'})",
        "requests.get(u, auth=(\"admin\", \"SECRET42\"))",
        "requests.get(u, auth=HTTPBasicAuth('admin', 'SECRET42'))",
        "req.SetBasicAuth(\"admin\", \"SECRET42\")",
        "new UsernamePasswordCredentials(\"admin\", \"SECRET42\")",
        "xhr.setRequestHeader('Authorization', 'SECRET42')",
        "con.setRequestProperty(\"Cookie\",\n    \"sid=SECRET42\");",
        "document.cookie = 'sid=SECRET42'",
        "new Cookie(\"sid\", \"SECRET42\")",
        "new BasicClientCookie(\"sid\", \"SECRET42\")",
        "req.AddCookie(&http.Cookie{Name: \"sid\", Value: \"SECRET42\"})",
        "c := http.Cookie{\n\tName: \"sid\",\n\tValue: \"SECRET42\",\n}",
        "await context.addCookies([{\n  name: 'sid',\n  value: 'SECRET42',\n  url: 'https://a'\n}])",
        "$s.Cookies.Add((New-Object System.Net.Cookie(\"sid\", \"SECRET42\", \"/\", \"a\")))",
        "-Headers @{Cookie=\"sid=SECRET42\"}",
        "{\"name\": \"Cookie\", \"value\": \"sid=SECRET42\"}",
        "{\"value\": \"sid=SECRET42\", \"name\": \"Cookie\"}",
        "{\n  \"name\": \"Cookie\",\n  \"value\": \"sid=SECRET42\"\n}",
        "{\n  \"value\": \"sid=SECRET42\",\n  \"name\": \"Authorization\"\n}",
        "\"cookies\": [\n{\n\"name\": \"sid\",\n\"value\": \"SECRET42\"\n}\n]",
        "<cookie>SECRET42</cookie>",
        "<cookie>\nSECRET42\n</cookie>",
        "<cookie name=\"sid\" value=\"SECRET42\"/>",
        "<header name=\"Cookie\">SECRET42</header>",
        "git clone https://admin:SECRET42@host/x",
        "u = 'http://SECRET42@host/'",
        "GET /a;jsessionid=SECRET42?x HTTP/1.1",
        "JSESSIONID=SECRET42",
        "PHPSESSID: SECRET42",
        "?access_token=SECRET42&x=1",
        "session=SECRET42",
        "a.example\tFALSE\t/\tTRUE\t0\tsid\tSECRET42",
        "use Bearer SECRET42 here",
        "t = 'eyJhbGciOiJIUzI1NiJ9.SECRET42SECRET42SECRET42'",
        "Ｃｏｏｋｉｅ： sid=SECRET42",
        "Coo\u{200b}kie: sid=SECRET42",
        "C\u{ad}ookie\u{2060}: sid=SECRET42",
        "cookie = \"\"\"\nSECRET42\n\"\"\"",
        "COOKIE='a=1\nsid=SECRET42'",
        "headers.put(\"Cookie\", \"sid=SECRET42\")",
        "send(\"GET / HTTP/1.1\\r\\nCookie: sid=SECRET42\\r\\n\")",
    ];

    #[test]
    fn credentials_in_every_usual_form_are_taken_out() {
        for text in FORMS {
            let out = masked(&Hostile::from(*text));
            assert!(!out.raw().contains("SECRET42"), "{text}\n-- gave --\n{}", out.raw());
            assert!(out.raw().contains("[left out]"), "{text}");
        }
    }

    #[test]
    fn sentences_lose_what_they_quote_and_keep_what_they_say() {
        for text in [
            "Sent with Cookie: sid=SECRET42.",
            "The header Authorization: Basic SECRET42 was accepted.",
            "See https://admin:SECRET42@host/ for it.",
            "It answered JSESSIONID=SECRET42.",
        ] {
            let out = masked_prose(&Hostile::from(text));
            assert!(!out.raw().contains("SECRET42"), "{text} gave {}", out.raw());
        }
        for text in [
            "The session cookie (RFC 6265) has no Secure flag, so Basic authentication is read by others.",
            "Tokens are compared in variable time. An authorization bypass follows.",
            "Upgrade to 2.17.1 or later.",
        ] {
            assert_eq!(masked_prose(&Hostile::from(text)).raw(), text);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            "",
            "GET /?q=1 HTTP/1.1\nHost: a\n",
            "the cookie jar",
            "basic rules",
            "é\u{202e}ü\n\tx",
            "import cookies",
            "curl -X POST -H 'Accept: text/html' --data 'x=${jndi:ldap://a/b}' https://a/",
            "for i in range(3):\n    print(i)\nauthor: Bob",
        ] {
            assert_eq!(masked(&Hostile::from(text)).raw(), text);
        }
        for text in
            ["cookies = {\n'a': 'b'\n}\nprint(1)", "Cookie: a\nHost: b\nprint(1)", "curl -b a \\\n  -d 'x' https://a\nprint(1)"]
        {
            let out = masked(&Hostile::from(text));
            assert!(out.raw().ends_with("print(1)"), "{}", out.raw());
        }
    }

    proptest! {
        #[test]
        fn a_known_secret_never_survives(
            form in proptest::sample::select(FORMS),
            secret in "[A-Z][a-z0-9]{3,12}[0-9][A-Za-z0-9]{4,20}",
            before in "[ -~]{0,40}",
            indent in "[ \t]{0,8}",
            windows in any::<bool>(),
        ) {
            let proof = form.replace("SECRET42", &secret);
            let proof: Vec<String> = proof.split('\n').map(|line| format!("{indent}{line}")).collect();
            // A record of a cookie file begins its line.
            let proof = if form.contains("\tFALSE\t") { form.replace("SECRET42", &secret) } else { proof.join("\n") };
            let mut text = format!("# {before}\n\n{proof}\n\nprint(1)");
            if windows {
                text = text.replace('\n', "\r\n");
            }
            let out = masked(&Hostile::from(text.as_str()));
            prop_assert!(!out.raw().contains(&secret), "{text}\n-- gave --\n{}", out.raw());
        }

        #[test]
        fn any_text_is_masked_without_failing(text in "(\\PC|\n|[cC]ookie[:=({]|['\"\\[\\]{}()<>]){0,120}") {
            let _ = masked(&Hostile::from(text.as_str()));
            let _ = masked_prose(&Hostile::from(text.as_str()));
        }
    }
}
