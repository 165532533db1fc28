//! JSON in one form: texts that say the same become the same bytes, texts that say different things never do. Only for keys of
//! the cache; nothing reads it back.
//!
//! Members of an object are in order of their names (repeated names keep their order), strings are decoded, white space is
//! gone. Numbers stay as they are written: `1` and `1.0` are two questions, which costs a call at worst, while a number that
//! went through a float could make one question of two.

use serde::de::IgnoredAny;

/// Deeper text is not brought into form: the walk is recursive.
const DEEPEST: usize = 64;

/// The form of `text`; `None` when it is no JSON, nests too deep, or has a string that cannot be decoded.
pub(super) fn canonical(text: &[u8]) -> Option<Vec<u8>> {
    // Grammar is the library's business; what follows walks over text that is known to be JSON.
    serde_json::from_slice::<IgnoredAny>(text).ok()?;
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut walk = Walk { rest: text };
    walk.value(&mut out, DEEPEST)?;
    Some(out)
}

/// Appends `bytes` with what they are and how many, so that no two rows of parts read the same.
pub(super) fn part(out: &mut Vec<u8>, what: u8, bytes: &[u8]) {
    out.push(what);
    out.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    out.extend_from_slice(bytes);
}

struct Walk<'t> {
    rest: &'t [u8],
}

impl Walk<'_> {
    fn value(&mut self, out: &mut Vec<u8>, deeper: usize) -> Option<()> {
        match self.peek()? {
            b'{' => self.object(out, deeper.checked_sub(1)?),
            b'[' => self.list(out, deeper.checked_sub(1)?),
            b'"' => {
                let text = self.string()?;
                part(out, b's', &text);
                Some(())
            }
            letter @ (b't' | b'f' | b'n') => {
                out.push(letter);
                self.skip(if letter == b'f' { 5 } else { 4 })
            }
            _ => {
                let digits = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let length = self.rest.iter().take_while(|byte| digits(byte)).count();
                let (number, rest) = self.rest.split_at_checked(length).filter(|_| length > 0)?;
                self.rest = rest;
                part(out, b'n', number);
                Some(())
            }
        }
    }

    fn object(&mut self, out: &mut Vec<u8>, deeper: usize) -> Option<()> {
        let mut members = Vec::new();
        self.skip(1)?;
        loop {
            match self.peek()? {
                b'}' => break,
                b',' => self.skip(1)?,
                _ => {
                    let name = self.string()?;
                    (self.peek()? == b':').then_some(())?;
                    self.skip(1)?;
                    let mut value = Vec::new();
                    self.value(&mut value, deeper)?;
                    members.push((name, value));
                }
            }
        }
        self.skip(1)?;
        // Stable: which of two members of one name counts is the reader's business.
        members.sort_by(|left, right| left.0.cmp(&right.0));
        out.push(b'{');
        for (name, value) in members {
            part(out, b's', &name);
            out.extend_from_slice(&value);
        }
        out.push(b'}');
        Some(())
    }

    fn list(&mut self, out: &mut Vec<u8>, deeper: usize) -> Option<()> {
        self.skip(1)?;
        out.push(b'[');
        loop {
            match self.peek()? {
                b']' => break,
                b',' => self.skip(1)?,
                _ => self.value(out, deeper)?,
            }
        }
        out.push(b']');
        self.skip(1)
    }

    /// The string that comes next, decoded.
    fn string(&mut self) -> Option<Vec<u8>> {
        (self.peek()? == b'"').then_some(())?;
        let mut escaped = false;
        let mut plain = true;
        let end = self.rest.iter().skip(1).position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            plain = plain && !escaped;
            ends
        })?;
        let (token, rest) = self.rest.split_at_checked(end + 2)?;
        self.rest = rest;
        if plain {
            return token.get(1..=end).map(<[u8]>::to_vec);
        }
        serde_json::from_slice::<String>(token).ok().map(String::into_bytes)
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn form(text: &str) -> Option<Vec<u8>> {
        canonical(text.as_bytes())
    }

    #[test]
    fn texts_that_say_the_same_are_one_form() {
        let same = form(r#"{"b":[1,{"y":null,"x":"a"}],"a":"\u00e4/"}"#);
        assert!(same.is_some());
        assert_eq!(same, form("{ \"a\" : \"ä\\/\" ,\n\"b\":[ 1 , {\"x\":\"\\u0061\",\"y\":null} ] }\r\n"));
    }

    #[test]
    fn texts_that_say_different_things_are_different_forms() {
        let all = [
            "1",
            "1.0",
            "1e0",
            "10",
            "-1",
            "-0",
            "0",
            "12345678901234567890123",
            "12345678901234567890124",
            "1e400",
            "1e401",
            "0.1",
            "0.10000000000000000001",
            "\"1\"",
            "\"\"",
            "null",
            "true",
            "false",
            "\"null\"",
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "[1,2]",
            "[2,1]",
            "[12]",
            "[[1],2]",
            "[1,[2]]",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a":2,"a":1}"#,
            r#"{"a":{"b":1}}"#,
            r#"[{"a":1},{"b":2}]"#,
            r#"[{"a":1,"b":2}]"#,
            r#"{"":null}"#,
            r#"["a,b"]"#,
            r#"["a","b"]"#,
            r#"["a\"",""]"#,
            r#"["a\\\"",""]"#,
        ];
        for (at, left) in all.iter().enumerate() {
            assert!(form(left).is_some(), "{left}");
            for right in all.iter().skip(at + 1) {
                assert_ne!(form(left), form(right), "{left} and {right}");
            }
        }
    }

    #[test]
    fn what_is_no_json_or_too_deep_has_no_form() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for bad in ["", " ", "{", "[1,]", "{\"a\"}", "{a:1}", "01", "1 2", "nul", "\"\\ud800\"", "'a'", &deep(65), &deep(100_000)]
        {
            assert_eq!(form(bad), None, "{}", bad.chars().take(20).collect::<String>());
        }
        assert!(form(&deep(64)).is_some());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((".{0,3}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The same value with the members of every object in the opposite order.
    fn turned(value: &Value) -> Value {
        match value {
            Value::Array(list) => list.iter().map(turned).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().rev().map(|(name, value)| (name.clone(), turned(value))).collect())
            }
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn order_and_white_space_change_nothing(value in any_value()) {
            let plain = canonical(&serde_json::to_vec(&value).unwrap());
            prop_assert!(plain.is_some());
            prop_assert_eq!(&plain, &canonical(&serde_json::to_vec_pretty(&turned(&value)).unwrap()));
        }

        #[test]
        fn different_values_have_different_forms(left in any_value(), right in any_value()) {
            let form = |value: &Value| canonical(&serde_json::to_vec(value).unwrap());
            prop_assume!(left != right);
            prop_assert_ne!(form(&left), form(&right));
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let valid = serde_json::from_slice::<Value>(&bytes).is_ok();
            prop_assert!(!valid || canonical(&bytes).is_some());
        }
    }
}
