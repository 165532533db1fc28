//! Templates: nothing inline that a strict content security policy would refuse, nothing unescaped.

use super::{files_below, none, read};

/// Calls `broken` for each line of each template with its text in lower case.
fn lines_that(broken: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for file in files_below("templates") {
        for (number, line) in read(&file).lines().enumerate().filter(|(_, line)| broken(&line.to_lowercase())) {
            found.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
        }
    }
    found
}

#[test]
fn nothing_is_marked_as_safe_in_a_template() {
    let marked = |line: &str| line.replace(' ', "").contains("|safe");
    none("Templates that switch escaping off:", &lines_that(marked));
}

#[test]
fn no_template_has_inline_style_or_script() {
    let inline = |line: &str| {
        let script =
            line.match_indices("<script").any(|(at, _)| !line[at..].split('>').next().unwrap_or_default().contains("src="));
        // Styles of a report that is a file of its own stand in `templates/report`, outside the portal's policy.
        script || line.contains("<style") || line.contains(" style=") || line.contains("javascript:") || handler_attribute(line)
    };
    let portal = lines_that(inline).into_iter().filter(|found| !found.starts_with("templates/report")).collect::<Vec<_>>();
    none("Inline style, script or event handlers:", &portal);
}

/// ` onclick=` and its kin.
fn handler_attribute(line: &str) -> bool {
    line.match_indices(" on").any(|(at, _)| {
        let rest = &line[at + 3..];
        let name = rest.chars().take_while(char::is_ascii_lowercase).count();
        name > 2 && rest[name..].starts_with('=')
    })
}

#[test]
fn an_event_handler_attribute_is_recognised() {
    assert!(handler_attribute("<a onclick=\"x\">"));
    assert!(!handler_attribute("<a data-on=\"x\"> based on x = y"));
}
