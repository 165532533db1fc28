//! Mouse, touch, keys and text of the page as commands of the browser. Nothing waits for an answer: a page that hangs holds
//! nobody up.

use serde_json::json;

use super::devtools::DevTools;
use super::message::{FromPage, Key, Mouse, Press, Touch};

/// The longest text taken at once, in bytes.
const LONGEST_TEXT: usize = 64 << 10;
/// Bits of `modifiers`, as the protocol counts them.
const CONTROL: u8 = 2;
const META: u8 = 4;
const SHIFT: u8 = 8;

/// Sends input to the tab behind `session`. Other messages are no input: gives them back.
pub(super) fn send(devtools: &DevTools, session: &str, message: FromPage) -> Option<FromPage> {
    match message {
        FromPage::Mouse(mouse) => send_mouse(devtools, session, &mouse),
        FromPage::Wheel { x, y, dx, dy, modifiers } => {
            let wheel = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": dx, "deltaY": dy, "modifiers": modifiers});
            devtools.tell(session, "Input.dispatchMouseEvent", wheel);
        }
        FromPage::Touch { kind, points, modifiers } => {
            let kind = match kind {
                Touch::Start => "touchStart",
                Touch::Move => "touchMove",
                Touch::End => "touchEnd",
                Touch::Cancel => "touchCancel",
            };
            let touch = json!({"type": kind, "touchPoints": points, "modifiers": modifiers});
            devtools.tell(session, "Input.dispatchTouchEvent", touch);
        }
        FromPage::Key(key) => send_key(devtools, session, &key),
        FromPage::Text { text } if text.len() <= LONGEST_TEXT => {
            devtools.tell(session, "Input.insertText", json!({ "text": text }));
        }
        FromPage::Compose { text } if text.len() <= LONGEST_TEXT => {
            let end = text.encode_utf16().count();
            let composition = json!({"text": text, "selectionStart": end, "selectionEnd": end});
            devtools.tell(session, "Input.imeSetComposition", composition);
        }
        FromPage::Text { .. } | FromPage::Compose { .. } => {}
        other => return Some(other),
    }
    None
}

fn send_mouse(devtools: &DevTools, session: &str, mouse: &Mouse) {
    let kind = match mouse.kind {
        Press::Move => "mouseMoved",
        Press::Down => "mousePressed",
        Press::Up => "mouseReleased",
    };
    let event = json!({
        "type": kind, "x": mouse.x, "y": mouse.y, "button": mouse.button, "buttons": mouse.buttons,
        "clickCount": mouse.clicks.min(3), "modifiers": mouse.modifiers,
    });
    devtools.tell(session, "Input.dispatchMouseEvent", event);
}

fn send_key(devtools: &DevTools, session: &str, key: &Key) {
    if uses_clipboard(key) {
        return;
    }
    let text = typed_text(key);
    let kind = match (key.down, text.is_some()) {
        (true, true) => "keyDown",
        (true, false) => "rawKeyDown",
        (false, _) => "keyUp",
    };
    let event = json!({
        "type": kind, "key": key.name, "code": key.code, "windowsVirtualKeyCode": key.number,
        "nativeVirtualKeyCode": key.number, "location": key.location, "autoRepeat": key.repeat,
        "isKeypad": key.location == 3, "modifiers": key.modifiers, "text": text, "unmodifiedText": text,
    });
    let mut event = event;
    if text.is_none()
        && let Some(fields) = event.as_object_mut()
    {
        fields.remove("text");
        fields.remove("unmodifiedText");
    }
    devtools.tell(session, "Input.dispatchKeyEvent", event);
}

/// The browser has one clipboard for all accounts, so no key reaches it: copies and pastes go over the page.
fn uses_clipboard(key: &Key) -> bool {
    let command = key.modifiers & (CONTROL | META) != 0;
    let letter = matches!(key.number, 0x43 | 0x56 | 0x58) || matches!(key.name.as_str(), "c" | "C" | "v" | "V" | "x" | "X");
    let named = matches!(key.name.as_str(), "Copy" | "Cut" | "Paste");
    (command && letter) || ((command || key.modifiers & SHIFT != 0) && key.name == "Insert") || named
}

/// What a pressed key writes.
fn typed_text(key: &Key) -> Option<&str> {
    if !key.down || key.modifiers & (CONTROL | META) != 0 {
        return None;
    }
    if key.name == "Enter" {
        return Some("\r");
    }
    let mut characters = key.name.chars();
    (characters.next().is_some() && characters.next().is_none()).then_some(key.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, number: u32, modifiers: u8) -> Key {
        Key { down: true, name: name.to_owned(), code: String::new(), number, location: 0, repeat: false, modifiers }
    }

    #[test]
    fn no_key_reaches_the_clipboard_all_accounts_share() {
        for (name, code, modifiers) in
            [("c", 67, 2), ("V", 86, 10), ("x", 88, 4), ("м", 86, 2), ("Insert", 45, 8), ("Insert", 45, 2), ("Paste", 0, 0)]
        {
            assert!(uses_clipboard(&key(name, code, modifiers)), "{name}");
        }
        for (name, code, modifiers) in [("c", 67, 0), ("C", 67, 8), ("a", 65, 2), ("Insert", 45, 0)] {
            assert!(!uses_clipboard(&key(name, code, modifiers)), "{name}");
        }
    }

    #[test]
    fn keys_write_one_character_or_nothing() {
        assert_eq!(typed_text(&key("é", 0, 0)), Some("é"));
        assert_eq!(typed_text(&key("Enter", 13, 0)), Some("\r"));
        assert_eq!(typed_text(&key("ArrowLeft", 37, 0)), None);
        assert_eq!(typed_text(&key("a", 65, 2)), None);
    }
}
