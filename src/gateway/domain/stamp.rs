//! What a page of a draft was made from: the version of its record and a short mark of each step. A form sends it back, so
//! that one of an older page can be told what changed meanwhile. A mark is 32 bits of a hash; nothing captured goes into it.

use std::fmt::Write as _;

use serde::Serialize;

use super::account::Account;
use super::draft::{Draft, Step};
use crate::platform::digest::sha256;

/// Version and marks, as a form field holds them.
pub(crate) fn stamp(version: u64, draft: &Draft) -> String {
    let mut text = format!("{version:016x}");
    for step in Step::ALL {
        let _ = write!(text, ".{}", mark(draft, step));
    }
    text
}

/// The steps of `draft` that are not as the page with this stamp showed them; none when the stamp cannot be read.
pub(crate) fn changed(stamp: &str, draft: &Draft) -> Vec<Step> {
    let marks: Vec<&str> = stamp.split('.').skip(1).collect();
    if marks.len() != Step::ALL.len() {
        return Vec::new();
    }
    Step::ALL.into_iter().zip(marks).filter(|(step, old)| mark(draft, *step) != **old).map(|(step, _)| step).collect()
}

fn mark(draft: &Draft, step: Step) -> String {
    let account = |one: &Account| (one.role.raw().to_owned(), one.url.clone(), one.at, one.holds);
    let with_names = draft.artifacts.iter().filter(|one| !one.service.is_empty() || one.target.is_some());
    let skipped = draft.skipped.contains(&step);
    match step {
        Step::Artifact => {
            let files: Vec<_> =
                draft.artifacts.iter().map(|one| (&one.sha256, one.file_name.raw(), one.refused.is_some())).collect();
            short(&(files, skipped))
        }
        Step::Target => short(&(&draft.target, skipped)),
        Step::Ownership => short(&skipped),
        Step::Source => short(&(&draft.sources, skipped)),
        Step::Accounts => short(&(draft.accounts.iter().map(account).collect::<Vec<_>>(), skipped)),
        Step::Options => {
            let names: Vec<_> = with_names.map(|one| (&one.sha256, one.service.raw(), &one.target)).collect();
            short(&(draft.project.raw(), draft.options_seen, names, skipped))
        }
        Step::Check => short(&draft.started),
    }
}

/// Eight hexadecimal characters.
fn short(part: &impl Serialize) -> String {
    let written = serde_json::to_vec(part).unwrap_or_default();
    let mut text = String::new();
    for byte in sha256(&written).into_iter().take(4) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::domain::draft::{Artifact, DraftId, Target};
    use crate::platform::clock::Timestamp;
    use crate::platform::hostile::Hostile;

    #[test]
    fn a_stamp_tells_which_steps_changed_since() {
        let id = DraftId::try_from("a".repeat(22)).unwrap();
        let mut draft = Draft::new(id, Hostile::default(), Timestamp(0), Timestamp(1));
        let old = stamp(7, &draft);
        assert!(old.starts_with("0000000000000007.") && changed(&old, &draft).is_empty(), "{old}");
        let sha256 = "0".repeat(64).parse().unwrap();
        draft.artifacts.push(Artifact { sha256, file_name: "a.jar".into(), service: "".into(), target: None, refused: None });
        assert_eq!(changed(&old, &draft), [Step::Artifact]);
        draft.target = Some(Target { url: "https://a.example/".to_owned(), login_url: None });
        draft.artifacts[0].service = "web".into();
        draft.skipped.insert(Step::Ownership);
        assert_eq!(changed(&old, &draft), [Step::Artifact, Step::Target, Step::Ownership, Step::Options]);
        for odd in ["", "0", "x.y", &format!("{old}.1")] {
            assert!(changed(odd, &draft).is_empty(), "{odd}");
        }
    }
}
