//! Makes of what the derives write what a reader of the document needs: words without references to our own papers and to
//! Rust, and no defaults that say nothing.

use serde_json::Value;

/// Parts in brackets that are for us.
const OURS: [&str; 4] = ["WIRE", "interface section", "our bound", "added"];

/// Goes through the whole document.
pub(super) fn tidy(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("default").is_some_and(says_nothing) {
                members.shift_remove("default");
            }
            if let Some(Value::String(words)) = members.get_mut("description") {
                *words = plain(words);
            }
            members.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}

fn says_nothing(default: &Value) -> bool {
    match default {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// One line, without what is for us.
fn plain(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, inside, after)) = bracket(rest) {
        if OURS.iter().any(|word| inside.contains(word)) {
            out.push_str(before.trim_end());
        } else {
            out.extend([before, "(", inside, ")"]);
        }
        rest = after;
    }
    out.push_str(rest);
    let out = out.replace('\n', " ");
    let mut told = String::with_capacity(out.len());
    let mut rest = out.as_str();
    // A link of rustdoc becomes the name it ends with.
    while let Some((before, link)) = rest.split_once("[`") {
        let (path, after) = link.split_once("`]").unwrap_or((link, ""));
        told.push_str(before);
        told.push_str(path.rsplit("::").next().unwrap_or_default());
        rest = after;
    }
    told.push_str(rest);
    told.trim().to_owned()
}

/// The first bracket: what stands before, in and after it.
fn bracket(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('(')?;
    let (inside, after) = rest.split_once(')')?;
    Some((before, inside, after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_for_us_go_and_words_for_readers_stay() {
        for (told, kept) in [
            ("A task: 1 to 32 characters (interface section 8).", "A task: 1 to 32 characters."),
            ("Further artifacts\nof a group (WIRE 18 #2).", "Further artifacts of a group."),
            ("JSON in a string (WIRE 6.4), see [`super::results::FixSuggestion`].", "JSON in a string, see FixSuggestion."),
            ("(added field)", ""),
            ("Name and parameters, `find(String, int)` (added field).", "Name and parameters, `find(String, int)`."),
            ("Turned (off) by (nothing", "Turned (off) by (nothing"),
        ] {
            assert_eq!(plain(told), kept);
        }
    }

    #[test]
    fn a_default_that_says_nothing_goes() {
        let mut schema = json!({"a": {"default": null}, "b": {"default": 0}, "c": [{"default": []}]});
        tidy(&mut schema);
        assert_eq!(schema, json!({"a": {}, "b": {"default": 0}, "c": [{}]}));
    }
}
