//! What goes over the link between the page and its session: JSON texts both ways, frames as bytes to the page.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// From the page. Coordinates are CSS pixels of the open tab.
#[derive(Deserialize)]
#[serde(tag = "t", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum FromPage {
    /// A frame has been painted.
    Painted {
        frame: u32,
    },
    /// A command of the embedding page; `number` is the page's own and comes back with the answer.
    Command {
        number: u64,
        kind: String,
        data: Value,
    },
    Mouse(Mouse),
    Wheel {
        x: f64,
        y: f64,
        dx: f64,
        dy: f64,
        modifiers: u8,
    },
    Touch {
        kind: Touch,
        points: Vec<Point>,
        modifiers: u8,
    },
    Key(Key),
    /// Text that no key made: an input method, a paste.
    Text {
        text: String,
    },
    /// Text an input method has not settled yet.
    Compose {
        text: String,
    },
    Resize {
        width: u32,
        height: u32,
        scale: f64,
    },
    Go {
        address: String,
    },
    Move {
        to: Move,
    },
    Show {
        target_id: String,
    },
    New,
    Close {
        target_id: String,
    },
    /// What is selected in the open tab, please.
    Copy,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mouse {
    pub(super) kind: Press,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) button: Button,
    pub(super) buttons: u8,
    pub(super) clicks: u8,
    pub(super) modifiers: u8,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Press {
    Move,
    Down,
    Up,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Button {
    None,
    Left,
    Middle,
    Right,
    Back,
    Forward,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Touch {
    Start,
    Move,
    End,
    Cancel,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Point {
    x: f64,
    y: f64,
    id: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Key {
    pub(super) down: bool,
    #[serde(rename = "key")]
    pub(super) name: String,
    pub(super) code: String,
    #[serde(rename = "keyCode")]
    pub(super) number: u32,
    pub(super) location: u8,
    pub(super) repeat: bool,
    pub(super) modifiers: u8,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Move {
    Back,
    Forward,
    Reload,
    Stop,
}

/// To the page.
#[derive(Serialize)]
#[serde(tag = "t", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Told {
    Tabs {
        tabs: Vec<TabInfo>,
        active: Option<String>,
    },
    Answer {
        number: u64,
        success: bool,
        data: Option<Value>,
        error: Option<String>,
    },
    /// Whole seconds until the session ends without use, and in any case.
    Time {
        idle: u64,
        life: u64,
    },
    /// Words of the service, for the status line.
    Status {
        words: String,
    },
    /// Words a page wanted to show in a box of its own.
    Dialog {
        host: String,
        words: String,
    },
    Copied {
        text: String,
    },
    Ended {
        words: &'static str,
    },
}

/// A tab as commands and events name it, with what the strip shows.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TabInfo {
    pub(super) target_id: String,
    pub(super) url: String,
    pub(super) browser_context_id: String,
    pub(super) title: String,
    pub(super) loading: bool,
}

/// What a link carries to the page.
#[derive(Debug)]
pub(in crate::scanner) enum ToPage {
    Text(String),
    Frame(Bytes),
}

/// What reaches a session from outside.
pub(super) enum Incoming {
    /// A page has connected; an earlier one is let go.
    Link {
        number: u64,
        out: tokio::sync::mpsc::Sender<ToPage>,
    },
    Unlinked {
        number: u64,
    },
    Text {
        number: u64,
        text: String,
    },
}
