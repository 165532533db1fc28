//! The tabs of a session and the contexts they are in: made, guarded before their page runs, watched, closed.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::address;
use super::capture::Headers;
use super::devtools::{CommandError, DevTools};
use super::message::TabInfo;

/// What a page may never be asked for in the user's name.
const PERMISSIONS: &[&str] = &[
    "background-sync",
    "camera",
    "captured-surface-control",
    "clipboard-read",
    "clipboard-write",
    "display-capture",
    "geolocation",
    "idle-detection",
    "keyboard-lock",
    "local-fonts",
    "local-network-access",
    "microphone",
    "midi",
    "nfc",
    "notifications",
    "payment-handler",
    "persistent-storage",
    "pointer-lock",
    "storage-access",
    "window-management",
];
/// Characters of a title that are kept.
const TITLE: usize = 200;
/// Origins remembered for each context, for clearing what they keep.
const ORIGINS: usize = 64;

/// An open page.
pub(super) struct Tab {
    pub(super) target: String,
    /// The attached target's session, for commands.
    pub(super) session: String,
    pub(super) context: String,
    pub(super) url: String,
    pub(super) title: String,
    pub(super) loading: bool,
    pub(super) headers: Headers,
}

/// A cookie jar with what is kept beside it.
pub(super) struct Context {
    pub(super) id: String,
    pub(super) origins: VecDeque<String>,
}

impl Tab {
    pub(super) fn info(&self) -> TabInfo {
        TabInfo {
            target_id: self.target.clone(),
            url: self.url.clone(),
            browser_context_id: self.context.clone(),
            title: self.title.clone(),
            loading: self.loading,
        }
    }

    /// Takes over what the browser tells about the page.
    pub(super) fn update(&mut self, info: &Value) {
        let text = |key: &str| info.get(key).and_then(Value::as_str);
        if let Some(url) = text("url") {
            url.clone_into(&mut self.url);
        }
        if let Some(title) = text("title") {
            self.title = title.chars().take(TITLE).collect();
        }
    }
}

impl Context {
    /// Makes a context that ends with the pipe, and takes from its pages what they must not have.
    pub(super) async fn make(devtools: &DevTools) -> Result<Self, CommandError> {
        let made = devtools.call("", "Target.createBrowserContext", json!({ "disposeOnDetach": true })).await?;
        let id = made.get("browserContextId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let denied = json!({ "behavior": "deny", "browserContextId": id });
        if let Err(error) = devtools.call("", "Browser.setDownloadBehavior", denied).await {
            dispose(devtools, &id);
            return Err(error);
        }
        for name in PERMISSIONS {
            // A name this version does not know is one it does not grant.
            let denied = json!({ "permission": { "name": name }, "setting": "denied", "browserContextId": id });
            devtools.tell("", "Browser.setPermission", denied);
        }
        Ok(Self { id, origins: VecDeque::new() })
    }

    /// Remembers where a page of this context was.
    pub(super) fn visited(&mut self, url: &str) {
        let Some(origin) = address::origin(url).filter(|origin| !self.origins.contains(origin)) else { return };
        if self.origins.len() == ORIGINS {
            self.origins.pop_front();
        }
        self.origins.push_back(origin);
    }
}

/// Ends a context with its pages and all they kept.
pub(super) fn dispose(devtools: &DevTools, context: &str) {
    devtools.forget(context);
    devtools.tell("", "Target.disposeBrowserContext", json!({ "browserContextId": context }));
}

/// Opens a page; gives its target. The session hears of it as an event of its own.
pub(super) async fn open(devtools: &DevTools, context: &str, url: &str) -> Result<String, CommandError> {
    let target = devtools.call("", "Target.createTarget", json!({ "url": url, "browserContextId": context })).await?;
    Ok(target.get("targetId").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Prepares a page that waits for it, then lets it run.
pub(super) fn take_in(devtools: &DevTools, session: &str, user_agent: &str, metrics: &Value) {
    let chooser = json!({ "enabled": true, "cancel": true });
    for (method, params) in [
        ("Page.enable", json!({})),
        ("Network.enable", json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 })),
        ("DOMStorage.enable", json!({})),
        ("Page.setInterceptFileChooserDialog", chooser),
        ("Emulation.setUserAgentOverride", json!({ "userAgent": user_agent })),
        ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        ("Emulation.setDeviceMetricsOverride", metrics.clone()),
        ("Runtime.runIfWaitingForDebugger", json!({})),
    ] {
        devtools.tell(session, method, params);
    }
}
