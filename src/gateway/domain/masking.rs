//! Takes credentials out of text of a scan before people without an account read it (WIRE reading rule 9).
//! Errs on the side of taking out too much: what stands behind a cookie or authorization word goes to the end of its line, and so do
//! the lines below that belong to it. Names are looked for in one form of the text (NFKC, without what nobody sees).

use regex::Captures;
use unicode_normalization::UnicodeNormalization as _;

use super::masking_patterns::{PATTERNS, Patterns};
use crate::platform::hostile::Hostile;

/// What stands for a credential.
pub(in crate::gateway) const LEFT_OUT: &str = "[left out]";
/// Lines that are followed for one credential at most.
const LONGEST: usize = 200;
/// Lines between the two halves of a pair of name and value.
const APART: usize = 8;

/// A line of so many characters may have been broken for its length.
const WRAPPED: usize = 60;

/// The text of a program, of a request, or of what one printed, without the values of cookies and authorization headers.
pub(in crate::gateway) fn masked(text: &Hostile) -> Hostile {
    without(text, true)
}

/// The same of sentences, which name such things more often than they hold them.
pub(in crate::gateway) fn masked_prose(text: &Hostile) -> Hostile {
    without(text, false)
}

/// The same of a place in a program: a line's number behind the name of a file is no credential.
pub(in crate::gateway) fn masked_place(text: &Hostile) -> Hostile {
    let is_place = |patterns: &Patterns| patterns.place.is_match(text.raw()) && !text.raw().contains("eyJ");
    if PATTERNS.as_ref().is_some_and(is_place) { text.clone() } else { without(text, false) }
}

/// Whether a text is the name of a header, a cookie or a field that holds a credential, and nothing else.
pub(in crate::gateway) fn names_a_credential(name: &str) -> bool {
    let plain: String = name.nfkc().filter(|c| !invisible(*c)).collect();
    PATTERNS.as_ref().is_none_or(|patterns| patterns.name.is_match(&plain))
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
            let value = self.value_in(line, in_command || self.is_code && self.is_continued(at));
            let below = || (self.is_below(at, line) || self.is_half(at, line)).then_some(line.len());
            let Some(value) = value.or_else(below) else {
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
            if found.name("v").is_some_and(|word| !self.is_code && !is_like_a_key(word.as_str())) {
                return None;
            }
            let value = found.iter().skip(1).flatten().next().map(|value| value.start());
            value.or_else(|| found.get(0).map(|whole| whole.end()))
        });
        let word = self.is_code.then(|| self.word_in(line)).flatten();
        let beside = self.patterns.beside.find(line).map(|found| found.end());
        let beside = beside.filter(|end| self.is_code || line.get(*end..).is_some_and(holds_a_value));
        let option = in_command.then(|| self.patterns.options.find(line)).flatten();
        // Letters of one word may be options, and the last of them the value as well.
        let option = option.map(|found| {
            let is_long = found.as_str().trim_start().starts_with("--");
            if is_long { found.end() } else { line.get(..found.start() + 3).map_or(found.start(), str::len) }
        });
        [named, word, beside, option, self.pair_in(line)].into_iter().flatten().min()
    }

    /// Where a name of these headers ends that is followed by anything like a value.
    fn word_in(&self, line: &str) -> Option<usize> {
        // What stands right behind a name is a matter of the names themselves.
        let behind = |end: usize| line.get(end..).unwrap_or_default().trim_start_matches(['"', '\'', '`', ']', ')', ' ']);
        let mut ends = self.patterns.words.find_iter(line).map(|found| found.end());
        let end = ends.find(|end| !behind(*end).starts_with([':', '=']))?;
        // Behind a later name is no more than behind this one.
        let rest = behind(end);
        let is_valued = rest.contains(['"', '\'', '`', '=']) || rest.trim_end().ends_with(':') || holds_a_value(rest);
        is_valued.then_some(end)
    }

    /// The beginning of a line that has the name of a pair and its value, in whatever order.
    fn pair_in(&self, line: &str) -> Option<usize> {
        let is_whole = self.is_code && self.patterns.pair.is_match(line) && self.patterns.value.is_match(line);
        is_whole.then_some(0)
    }

    /// Whether the value of a name in `line`, which is line `at`, is in the next one, with what stands between them or without.
    fn is_below(&self, at: usize, line: &str) -> bool {
        let Some(next) = self.line(at + 1).filter(|next| !next.trim().is_empty()) else { return false };
        if self.patterns.above.is_match(line) {
            return next.trim_start().starts_with([':', '=']) || holds_a_value(next);
        }
        let pattern = if self.is_code { &self.patterns.code } else { &self.patterns.prose };
        let line = line.trim_end();
        let over = |found: regex::Match<'_>| found.start() < line.len() && found.end() > line.len();
        next.trim_start().starts_with(['=', ':', ',', '>', '('])
            && pattern.find_iter(&format!("{line}\n{}", next.trim_start())).any(over)
    }

    /// Whether `line` has the name of a pair whose value is in a line near it.
    fn is_half(&self, at: usize, line: &str) -> bool {
        let is_value = |line: &&str| self.patterns.value.is_match(line);
        let before = || self.lines.get(..at).unwrap_or_default().iter().rev().take(APART).take_while(|line| !is_bracket(line));
        let behind = || self.lines.iter().skip(at + 1).take(APART).take_while(|line| !is_bracket(line));
        self.is_code && self.patterns.pair.is_match(line) && (before().any(&is_value) || behind().any(is_value))
    }

    /// Values stand before the name as well in pairs over several lines.
    fn look_back(&mut self) {
        let value = &self.patterns.value;
        for line in self.out.iter_mut().rev().take(APART).take_while(|line| !is_bracket(line)) {
            if value.is_match(line) {
                LEFT_OUT.clone_into(line);
            }
        }
    }

    /// The first line behind a value that begins in line `at` with `rest`: behind its brackets, its quotes, its element, what is
    /// further in, and what it is joined with.
    fn end_of(&self, at: usize, rest: &str) -> usize {
        let line = self.line(at).unwrap_or_default();
        let opened = line.get(..line.len() - rest.len()).is_some_and(|kept| kept.trim_end().ends_with(['(', '[', '{']));
        let mut depth = i64::from(opened) + open_at_end(rest).0;
        let mut end = at + 1;
        while depth > 0 && end < at + LONGEST {
            let Some(next) = self.line(end) else { break };
            depth += open_at_end(next).0;
            end += 1;
        }
        end = end.max(self.end_of_quote(at, rest)).max(self.end_of_element(at, line, rest)).max(self.end_of_pair(at, line));
        let mut before = if end == at + 1 { rest } else { "," };
        let is_listed = self.is_listed(at, line, rest);
        let is_folded = line.get(..line.len() - rest.len()).is_some_and(|kept| kept.trim_end().ends_with(':'));
        let is_folded = is_folded && open_at_end(rest).0 >= 0;
        while let Some(next) = self.line(end).filter(|_| end < at + LONGEST) {
            let is_item = |text: &str| is_listed && indent(text) == indent(line) && text.trim_start().starts_with('-');
            let is_further_in = |text: &str| !text.trim().is_empty() && indent(text) > indent(line) || is_item(text);
            let further_in = is_further_in(next) || next.trim().is_empty() && self.line(end + 1).is_some_and(is_further_in);
            let joined = is_joined(before, next)
                || before.trim().is_empty() && end == at + 1
                || is_folded && (is_scheme(bare(before)) || bare(before).ends_with([',', ';']) && is_parameter(next))
                || is_folded && before.trim_end().len() >= WRAPPED && is_one_word(next);
            if !further_in && !joined {
                break;
            }
            // Where the value begins on a line of its own, its brackets are followed from there.
            if joined && open_at_end(next).0 > 0 {
                end = self.end_of(end, next).max(end + 1);
                before = ",";
                continue;
            }
            before = next;
            end += 1;
        }
        end
    }

    /// Whether the value is a list whose items, in the lines below, are no further in than its name, as YAML has it.
    fn is_listed(&self, at: usize, line: &str, rest: &str) -> bool {
        let items = self.lines.iter().skip(at + 1).take(LONGEST).take_while(|item| indent(item) >= indent(line));
        let mut items = items.filter(|item| !item.trim().is_empty());
        let is_list = |first: &&str| indent(first) == indent(line) && first.trim_start().starts_with('-');
        let is_open = rest.trim().is_empty() || rest.trim_start().starts_with(['#', '&', '!']);
        is_open
            && items.next().is_some_and(|first| {
                is_list(first) && (self.is_code || holds_a_value(first) || items.any(|item| holds_a_value(item)))
            })
    }

    /// A quote that is open at the end of the line is closed further down, if anywhere.
    fn end_of_quote(&self, at: usize, rest: &str) -> usize {
        let Some(quote) = open_at_end(rest).1.or_else(|| self.quoted_before(at, rest)) else { return at + 1 };
        let below = self.lines.iter().skip(at + 1).take(LONGEST);
        below.zip(at + 2..).find(|(line, _)| line.contains(quote)).map_or(at + 1, |(_, end)| end)
    }

    /// The quote that stands right before the name of a value and is not closed behind it.
    fn quoted_before(&self, at: usize, rest: &str) -> Option<char> {
        let line = self.line(at).unwrap_or_default();
        let kept = line.get(..line.len() - rest.len())?.trim_end_matches([':', '=', ' ']);
        let quote = kept.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_')).chars().next_back()?;
        (matches!(quote, '"' | '\'' | '`') && self.is_code && !rest.contains(quote)).then_some(quote)
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
        let below = self.lines.iter().skip(at + 1).take(APART).take_while(|line| !is_bracket(line));
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
    let before = bare(before);
    let (ends, next) = (before.chars().next_back(), next.trim_start());
    let begins = next.chars().next();
    match ends {
        None => !next.is_empty(),
        Some('+' | '=' | ':' | '&' | '%' | '.') => true,
        Some(',' | ';') => false,
        Some(_) => begins.is_some_and(|c| matches!(c, '+' | '.' | '"' | '\'' | '`' | '%')),
    }
}

/// A line without the sign that it goes on in the next one.
fn bare(line: &str) -> &str {
    line.trim_end().trim_end_matches(['\\', '^', '`']).trim_end()
}

/// A word of a sentence is no key.
fn is_like_a_key(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit()) || word.chars().skip(1).any(char::is_uppercase) || word.len() > 30
}

/// Whether one of the words is a pair of name and value, or like a key.
fn holds_a_value(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || matches!(c, '|' | '│' | '<' | '>'))
        .any(|word| word.split_once('=').is_some_and(|(name, _)| !name.is_empty()) || word.len() >= 8 && is_like_a_key(word))
}

/// Whether a line ends a group of names and values, or begins one.
fn is_bracket(line: &str) -> bool {
    line.trim_start().starts_with(['{', '}'])
}

/// What a value may go on with in the line below it, where somebody broke it at a width.
fn is_one_word(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim().contains([' ', ':'])
}

/// Whether a header's value goes on behind its first word.
fn is_scheme(text: &str) -> bool {
    ["bearer", "basic", "digest", "negotiate", "ntlm", "token"].iter().any(|scheme| text.trim().eq_ignore_ascii_case(scheme))
}

/// `response="…"`, as values of headers have it.
fn is_parameter(line: &str) -> bool {
    let name = line.split_once('=').map(|(name, _)| name.trim());
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
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

    use super::{masked, masked_place, masked_prose};
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
        "curl_setopt($ch, CURLOPT_COOKIE, 'foo=SECRET42');",
        "curl_setopt($ch, CURLOPT_USERPWD, \"admin:SECRET42\");",
        "curl_setopt($ch,\nCURLOPT_PROXYUSERPWD,\n'admin:SECRET42'\n);",
        "curl_setopt($ch, CURLOPT_XOAUTH2_BEARER, 'SECRET42');",
        "curl_setopt($ch, CURLOPT_COOKIELIST, 'foo=SECRET42');",
        "curl_setopt($ch, CURLOPT_COOKIEFILE, '/tmp/SECRET42');",
        "curl_easy_setopt(curl, CURLOPT_USERNAME, \"SECRET42\");",
        "curl_easy_setopt(curl, CURLOPT_PROXYPASSWORD, \"SECRET42\");",
        "curl_setopt_array($ch, [\n  CURLOPT_PASSWORD => 'SECRET42',\n]);",
        "c.setopt(pycurl.USERPWD, 'admin:SECRET42')",
        "c.setopt(c.COOKIE, 'foo=SECRET42')",
        "req.basic_auth 'admin', 'SECRET42'",
        "req.basic_auth \"admin\", \"SECRET42\"",
        "req.basic_auth('admin', 'SECRET42')",
        "given().auth().preemptive().basic(\"admin\",\"SECRET42\").get(\"/\")",
        "given().auth().basic(\"admin\", \"SECRET42\").get(\"/\")",
        "given()\n.auth()\n.preemptive()\n.basic(\"admin\", \"SECRET42\")\n.get(\"/\")",
        "given().auth().oauth2(\"SECRET42\").get(\"/\")",
        "given().auth().digest(\"admin\", \"SECRET42\").get(\"/\")",
        "request(app).get('/').auth('admin', 'SECRET42')",
        "request(app).get('/').auth(\n'admin',\n'SECRET42'\n)",
        "--http-password SECRET42",
        "--http-user SECRET42",
        "--http-user=a --http-password=SECRET42",
        "--proxy-user admin:SECRET42",
        "--proxy-password SECRET42 https://a",
        "--user admin:SECRET42",
        "--auth-cred admin:SECRET42",
        "cookies:\n- name: a\n  value: SECRET42\n- name: b\n  value: SECRET42",
        "cookies: # of the browser\n- name: a\n  value: X\n\n- name: b\n  value: SECRET42",
        "Cookie:\n- a=SECRET42\n- b=SECRET42",
        "request:\n  cookies:\n  - a=X\n  - b=SECRET42\n  url: https://a",
        "cookie\tfoo=SECRET42",
        "cookie\nfoo=SECRET42",
        "authorization\nBearer SECRET42\nhost\na",
        "| Cookie | foo=SECRET42 |",
        "| Header | Value |\n|---|---|\n| **Authorization** | SECRET42 |",
        "Cookie | foo=SECRET42",
        "<tr><td>Cookie</td><td>foo=SECRET42</td></tr>",
        "**Cookie**: foo=SECRET42",
        "Cookie%3A%20foo%3DSECRET42",
        "Cookie%253A%2520foo%253DSECRET42",
        "%0d%0aAuthorization%3a+Basic+SECRET42",
        "{&quot;Cookie&quot;: &quot;foo=SECRET42&quot;}",
        "Cookie\\u003a foo=SECRET42",
        "document.cookie\n= 'foo=SECRET42'",
        "headers[\"Cookie\"]\n= 'foo=SECRET42'",
        "setCookie\n('foo', 'SECRET42')",
        "Authorization: Digest username=\"u\",\nresponse=\"SECRET42\"",
        "Authorization: Digest username=\"u\",\nrealm=\"a\",\nresponse=\"SECRET42\"\nHost: a",
        "Authorization: AWS4-HMAC-SHA256 Credential=a,\nSignature=SECRET42",
        "Authorization: Bearer\nSECRET42\nHost: a",
        "Cookie: a=1;\nfoo=SECRET42",
        "curl -H 'Cookie: a=b; \\\nfoo=SECRET42; \\\nbar=SECRET42' \\\n  http://x/",
        "curl -H \"Authorization: Bearer \\\nSECRET42\" http://x/",
        "curl http://x/ \\\n  -H \"Cookie: a=b; \\\nfoo=SECRET42\"",
        "Authorization: Digest username=\"a\", \\\nresponse=\"SECRET42\"",
        "Authorization: Bearer \\\nSECRET42",
        "Cookie: a=b; \\\nc=SECRET42",
        "auth_header = \"SECRET42\"",
        "authHeader: 'SECRET42'",
        "x-auth-key: SECRET42",
        "Ocp-Apim-Subscription-Key: SECRET42",
        ".header(HttpHeaders.COOKIE, \"remember=SECRET42\")",
        ".header(HttpHeaders.AUTHORIZATION, \"SECRET42\")",
        "request.Headers.Add(HttpRequestHeader.Cookie, \"a=SECRET42\")",
        "client.DefaultRequestHeaders.Add(HeaderNames.Authorization, \"SECRET42\")",
        "client.get(u).header(COOKIE, \"a=SECRET42\")",
        "client.get(u).bearer_auth(\"SECRET42\")",
        "headers.setBearerAuth(\"SECRET42\")",
        "requests.get(u, auth=HTTPDigestAuth('admin', 'SECRET42'))",
        "HTTPDigestAuth('admin', 'SECRET42')",
        "Map(\"Cookie\" -> \"a=SECRET42\")",
        "mapOf(\"Cookie\" to \"a=SECRET42\")",
        "{:headers {\"Cookie\" \"a=SECRET42\"}}",
        "<header name=\"Cookie\" value=\"a=SECRET42\"/>",
        "{\"domain\":\"victim\",\"value\":\"SECRET42\",\"name\":\"JSESSIONID\"}",
        "{\n\"name\": \"JSESSIONID\",\n\"path\": \"/\",\n\"value\": \"SECRET42\"\n}",
        "{\n\"value\": \"SECRET42\",\n\"path\": \"/\",\n\"name\": \"JSESSIONID\"\n}",
        "{\n\"name\": \"Cookie\",\n\"a\":1,\n\"b\":2,\n\"c\":3,\n\"value\": \"SECRET42\"\n}",
        "curl v \\\n  --user \\\n  admin:SECRET42",
        "\"$CURL\" -b \"a=SECRET42\" http://v/",
        "ab -C a=SECRET42 http://v/",
        "ab -A admin:SECRET42 http://v/",
        "hey -a admin:SECRET42 http://v/",
        "nikto -id admin:SECRET42",
        "Authentication: SECRET42",
        "Authorization SECRET42",
        "set COOKIE a=SECRET42",
        "setenv COOKIE a=SECRET42",
        "h = \"Cookie\"\nv = \"a=SECRET42\"",
        "Cookie: a=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nSECRET42yyy",
        "Cookies used:\n\n  a   SECRET42",
        "X-Session: SECRET42",
        "session = \"SECRET42\"",
        "_app_session=SECRET42",
        "wordpress_logged_in_x=SECRET42",
        "rememberMe=SECRET42",
        "JWT=SECRET42",
        "?X-Amz-Signature=SECRET42",
        "nuxt-session: SECRET42",
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
    fn a_long_line_full_of_names_takes_no_longer_than_it_is_long() {
        for text in ["cookie ".repeat(150_000), "cookie: ".repeat(60_000), "authorization".repeat(60_000)] {
            let _ = masked(&Hostile::from(text.as_str()));
        }
    }

    #[test]
    fn sentences_lose_what_they_quote_and_keep_what_they_say() {
        for text in [
            "Sent with Cookie: sid=SECRET42.",
            "The header Authorization: Basic SECRET42 was accepted.",
            "See https://admin:SECRET42@host/ for it.",
            "It answered JSESSIONID=SECRET42.",
            "| Header | Value |\n|---|---|\n| Cookie | foo=SECRET42 |",
            "It was sent with\nCookie\nfoo=SECRET42",
            "The address holds Cookie%3A%20foo%3DSECRET42 at its end.",
            "Set by CURLOPT_COOKIE, 'foo=SECRET42'.",
            "It sends Cookie:\n- a=SECRET42\n- b=SECRET42",
        ] {
            let out = masked_prose(&Hostile::from(text));
            assert!(!out.raw().contains("SECRET42"), "{text} gave {}", out.raw());
        }
        for text in [
            "The session cookie (RFC 6265) has no Secure flag, so Basic authentication is read by others.",
            "Tokens are compared in variable time. An authorization bypass follows.",
            "Upgrade to 2.17.1 or later.",
            "Ask for basic_auth 'before' anything else, and leave --password out of commands.",
            "| Cookie | Why it is unsafe |\n|---|---|\n| Session | No Secure flag |",
            "Cookie\nThe flag Secure is missing on all of them.",
            "Authorization\n\nEvery caller may read every order.",
            "Calls of .auth() and of .basic(...) are found in the <b>Cookie</b> class.",
            "The cookie\n(of a session) is readable by scripts, (see there).",
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
            "given().auth().none().get('/')\nmd.digest(text)",
            "class CookieJar\n{\n  int size;\n}",
            "docker run --user 1000 a\ncat cookies | sort",
            "cookie\n\nfoo",
            "session = requests.Session()\nsession.get(u)",
            "{\n\"name\": \"size\",\n\"value\": 3\n}",
        ] {
            assert_eq!(masked(&Hostile::from(text)).raw(), text);
        }
        for text in [
            "cookies = {\n'a': 'b'\n}\nprint(1)",
            "Cookie: a\nHost: b\nprint(1)",
            "curl -b a \\\n  -d 'x' https://a\nprint(1)",
            "req.basic_auth 'a', 'b'\nreq.path = 'x'\nprint(1)",
            "get(u, headers={'Cookie': c},\nparams=p)\nprint(1)",
            "cookies:\n- a=1\n- b=2\nprint(1)",
            "Authorization: Digest a=1,\nb=2\nprint(1)",
        ] {
            let out = masked(&Hostile::from(text));
            assert!(out.raw().ends_with("print(1)"), "{}", out.raw());
        }
    }

    #[test]
    fn places_keep_the_numbers_of_their_lines_and_lose_credentials() {
        for text in ["src/CookieAuth.java:12", "a/b.jar!/org/Token.class:7-9", "Auth::login(String, int):3", "C:\\x y\\a.cs", ""]
        {
            assert_eq!(masked_place(&Hostile::from(text)).raw(), text);
        }
        for text in ["/a;jsessionid=SECRET42", "a.txt Cookie: sid=SECRET42", "Cookie:SECRET42", "a/eyJhbGciOiJIUzI1NiJ9.SECRET42"]
        {
            let out = masked_place(&Hostile::from(text));
            assert!(!out.raw().contains("SECRET42"), "{text} gave {}", out.raw());
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
