//! What stands above a step that is shown once more: what happened, where what was typed is, how to save it.

use super::drafts::title;
use crate::gateway::domain::draft::Step;

/// Shown by `drafts/frame.html`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::gateway) struct Notice {
    pub(in crate::gateway) title: String,
    pub(in crate::gateway) words: String,
    pub(in crate::gateway) hint: String,
    /// What the draft has now in place of what was typed: name and value.
    pub(in crate::gateway) kept: Vec<(&'static str, String)>,
    is_stale: bool,
}

/// What was sent with a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Entered {
    /// A button was pressed.
    Nothing,
    /// Everything is in the fields again.
    Fields,
    /// That, but not the file: a browser keeps none.
    File,
}

impl Notice {
    /// Fields are marked.
    pub(in crate::gateway) fn fields() -> Self {
        Self {
            title: "Nothing was saved.".to_owned(),
            words: "Please look at what is marked; what you typed is still in the fields.".to_owned(),
            ..Self::default()
        }
    }

    /// The service did not do its part.
    pub(in crate::gateway) fn trouble(words: &str) -> Self {
        Self { words: words.to_owned(), hint: "Load this step again in a moment.".to_owned(), ..Self::default() }
    }

    /// Nothing was started.
    pub(in crate::gateway) fn not_started(words: String) -> Self {
        Self { title: "Nothing was started.".to_owned(), words, ..Self::default() }
    }

    /// The form was of an older page. `changed` may be empty: then it is not known what.
    pub(in crate::gateway) fn stale(step: Step, changed: &[Step], entered: Entered) -> Self {
        let parts: Vec<&str> = changed.iter().map(|step| part(*step)).collect();
        let what = match parts.as_slice() {
            [] => "The draft was".to_owned(),
            [one] if matches!(changed, [Step::Target | Step::Ownership | Step::Source]) => format!("{} was", capital(one)),
            [one] => format!("{} were", capital(one)),
            [all @ .., last] => format!("{} and {last} were", capital(&all.join(", "))),
        };
        let again = button(step);
        let hint = match (step, entered) {
            (Step::Check, _) => {
                "The summary below is of the draft as it is now. Look through it, then start the scan once more.".to_owned()
            }
            (_, Entered::Nothing) => "This page shows the draft as it is now. If you still want to, do it once more.".to_owned(),
            (_, Entered::File) => format!(
                "What you typed is still in the fields, and the rest of this page is the draft as it is now. The file was not \
sent: choose it again, then press “{again}”."
            ),
            (_, Entered::Fields) => format!(
                "What you typed is still in the fields, and the rest of this page is the draft as it is now. To save your entry \
as well, press “{again}” once more."
            ),
        };
        Self {
            title: if step == Step::Check { "Nothing was started." } else { "Not saved yet." }.to_owned(),
            words: format!("{what} changed in another tab or window after you opened this page."),
            hint,
            kept: Vec::new(),
            is_stale: true,
        }
    }

    /// Shows what the draft has now, where that may not be what was typed. Empty values are told as such.
    pub(in crate::gateway) fn beside(mut self, kept: Vec<(&'static str, String)>) -> Self {
        if self.is_stale {
            let told = |value: String| if value.is_empty() { "nothing".to_owned() } else { value };
            self.kept = kept.into_iter().map(|(name, value)| (name, told(value))).collect();
        }
        self
    }

    /// Another reason.
    pub(in crate::gateway) fn refused(words: String, step: Step, entered: Entered) -> Self {
        let hint = match (step, entered) {
            (_, Entered::File) => "What you typed is still in the fields. The file was not kept: choose it again.",
            (Step::Check, _) | (_, Entered::Nothing) => "The draft is as it was.",
            (_, Entered::Fields) => "What you typed is still in the fields.",
        };
        let title = if step == Step::Check { "Nothing was started." } else { "Nothing was saved." };
        Self { title: title.to_owned(), words, hint: hint.to_owned(), ..Self::default() }
    }
}

/// What of a draft a step is about.
const fn part(step: Step) -> &'static str {
    match step {
        Step::Artifact => "the files to scan",
        Step::Target => "the target",
        Step::Ownership => "the step Ownership",
        Step::Source => "the source code",
        Step::Accounts => "the accounts",
        Step::Options => "the names",
        Step::Check => "the scans that were started",
    }
}

/// The button that saves a step.
fn button(step: Step) -> &'static str {
    match step {
        Step::Artifact | Step::Source => "Upload the file",
        Step::Target => "Save and check the connection",
        Step::Accounts => "Save the account",
        Step::Options => "Save and continue",
        Step::Ownership | Step::Check => title(step),
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_form_is_told_what_changed_where_its_entry_is_and_how_to_save_it() {
        let words = |changed: &[Step]| Notice::stale(Step::Target, changed, Entered::Fields).words;
        let end = "changed in another tab or window after you opened this page.";
        assert_eq!(words(&[]), format!("The draft was {end}"));
        assert_eq!(words(&[Step::Target]), format!("The target was {end}"));
        assert_eq!(words(&[Step::Accounts]), format!("The accounts were {end}"));
        assert_eq!(words(&[Step::Artifact, Step::Target]), format!("The files to scan and the target were {end}"));
        let three = words(&[Step::Artifact, Step::Target, Step::Options]);
        assert_eq!(three, format!("The files to scan, the target and the names were {end}"));
        assert!(Notice::stale(Step::Target, &[], Entered::Fields).hint.contains("“Save and check the connection” once more"));
        assert!(Notice::stale(Step::Source, &[], Entered::File).hint.contains("choose it again"));
        assert_eq!(Notice::stale(Step::Check, &[], Entered::Fields).title, "Nothing was started.");
    }
}
