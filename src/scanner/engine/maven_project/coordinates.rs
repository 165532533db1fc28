//! Version texts of a pom: a plain version, a pinned one, a range, or a word that only a repository can explain.

/// What a version text, free of properties, asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One version; `[1.2]` is one too.
    Exactly(String),
    /// A range with its lowest version, when it has one.
    Range(Option<String>),
    /// `LATEST` or `RELEASE`.
    Newest,
}

/// Reads a version text.
pub(super) fn wanted(text: &str) -> Wanted {
    let text = text.trim();
    if matches!(text, "LATEST" | "RELEASE") {
        return Wanted::Newest;
    }
    if !text.starts_with(['[', '(']) {
        return Wanted::Exactly(text.to_owned());
    }
    let first = text.split([']', ')']).next().unwrap_or_default();
    let inner = first.trim_start_matches(['[', '(']);
    match inner.split_once(',') {
        // Several sets such as `[1.2],[1.4]` leave a choice.
        None if text.ends_with(']') && text.matches(['[', '(']).count() == 1 => Wanted::Exactly(inner.trim().to_owned()),
        None => Wanted::Range(lowest(inner)),
        Some((low, _)) => Wanted::Range(lowest(low)),
    }
}

fn lowest(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Wanted, wanted};

    #[test]
    fn ranges_and_pins_are_told_apart() {
        let range = |low: &str| Wanted::Range((!low.is_empty()).then(|| low.to_owned()));
        for (text, expected) in [
            ("1.2", Wanted::Exactly("1.2".to_owned())),
            ("[1.2]", Wanted::Exactly("1.2".to_owned())),
            ("[1.0,2.0)", range("1.0")),
            ("(,1.0]", range("")),
            ("(1.0,)", range("1.0")),
            ("[1.2],[1.4]", range("1.2")),
            ("(,1.1),(1.1,)", range("")),
            ("LATEST", Wanted::Newest),
            ("[", range("")),
            ("]", Wanted::Exactly("]".to_owned())),
        ] {
            assert_eq!(wanted(text), expected, "{text}");
        }
    }
}
