//! Takes credentials out of proof-of-concept text before people without an account read it (WIRE reading rule 9).
//! Errs on the side of taking out too much: what stands behind a cookie or authorization word goes to the end of its line.

use crate::platform::hostile::Hostile;

const LEFT_OUT: &str = "[left out]";
/// Words whose value is a credential, in lower case.
const NAMES: [&str; 6] = ["authorization", "cookie", "x-api-key", "x-auth-token", "bearer ", "basic "];
/// A list of cookies over several lines is followed for at most this many.
const LONGEST_LIST: usize = 50;

/// The text without the values of cookies and authorization headers.
pub(in crate::gateway) fn masked(text: &Hostile) -> Hostile {
    let mut out: Vec<String> = Vec::new();
    let mut inside: Option<usize> = None;
    for line in text.raw().split('\n') {
        if let Some(lines) = inside {
            let ends = line.contains(['}', ')', ']']) || lines >= LONGEST_LIST;
            inside = (!ends).then_some(lines + 1);
            if ends {
                out.push(LEFT_OUT.to_owned());
            }
            continue;
        }
        match credential_at(line) {
            Some(at) => {
                let (kept, value) = line.split_at_checked(at).unwrap_or((LEFT_OUT, ""));
                out.push(format!("{kept} {LEFT_OUT}"));
                let opens = value.trim_end().ends_with(['{', '(', '[']);
                inside = opens.then_some(0);
            }
            None => out.push(line.to_owned()),
        }
    }
    Hostile::new(out.join("\n"))
}

/// Where in `line` the value of a credential begins.
fn credential_at(line: &str) -> Option<usize> {
    let lower = line.to_ascii_lowercase();
    let named = NAMES.iter().filter_map(|name| {
        let mut from = 0;
        while let Some(found) = lower.get(from..).and_then(|rest| rest.find(name)) {
            let after = from + found + name.len();
            if let Some(at) = value_at(&lower, after, name.ends_with(' ')) {
                return Some(at);
            }
            from = after;
        }
        None
    });
    let option = lower.contains("curl").then(|| lower.find(" -b ").map(|at| at + 3)).flatten();
    let token = lower.find("eyj").filter(|at| lower.get(*at..).is_some_and(is_token));
    named.chain(option).chain(token).min()
}

/// The name counts when a value follows: behind a separator, a quote or, for an option, a blank.
fn value_at(line: &str, after: usize, bare: bool) -> Option<usize> {
    let rest = line.get(after..)?;
    if bare {
        return rest.split_whitespace().next().is_some_and(|word| word.len() >= 8).then_some(after);
    }
    let skipped: usize =
        rest.chars().take_while(|c| matches!(c, 's' | '\'' | '"' | '`' | '\\' | ' ' | '\t' | ']')).map(char::len_utf8).sum();
    let next = rest.get(skipped..)?.chars().next()?;
    let option = line.get(..after).is_some_and(|before| before.contains("--cookie")) && skipped > 0;
    if matches!(next, ':' | '=' | ',') {
        return Some(after + skipped + 1);
    }
    option.then_some(after)
}

/// A JSON web token begins with an encoded `{"`.
fn is_token(text: &str) -> bool {
    text.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).count() >= 24
}

#[cfg(test)]
mod tests {
    use super::masked;
    use crate::platform::hostile::Hostile;

    #[test]
    fn credentials_in_every_usual_form_are_taken_out() {
        for text in [
            "GET / HTTP/1.1\nCookie: sid=SECRET42\nHost: a",
            "cookie:SECRET42",
            "Set-Cookie: sid=SECRET42; HttpOnly",
            "curl -H 'Authorization: Bearer SECRET42' https://a",
            "curl -b sid=SECRET42 https://a",
            "curl --cookie sid=SECRET42 https://a",
            "headers = {\"Authorization\": \"Basic SECRET42\"}",
            "headers['Cookie'] = 'SECRET42'",
            "cookies = {\n  \"sid\": \"SECRET42\",\n  \"b\": \"SECRET42\"\n}\nprint(1)",
            "requests.get(u, cookies={'sid': 'SECRET42'})",
            "xhr.setRequestHeader('Authorization', 'SECRET42')",
            "X-Api-Key: SECRET42",
            "use Bearer SECRET42 here",
            "t = 'eyJhbGciOiJIUzI1NiJ9.SECRET42SECRET42SECRET42'",
        ] {
            let out = masked(&Hostile::from(text));
            assert!(!out.raw().contains("SECRET42"), "{text} gave {}", out.raw());
            assert!(out.raw().contains("[left out]"), "{text}");
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in ["", "GET /?q=1 HTTP/1.1\nHost: a\n", "the cookie jar", "basic rules", "é\u{202e}ü\n\tx", "import cookies"]
        {
            assert_eq!(masked(&Hostile::from(text)).raw(), text);
        }
        let text = "cookies = {\n'a': 'b'\n}\nprint(1)";
        assert!(masked(&Hostile::from(text)).raw().ends_with("print(1)"));
    }
}
