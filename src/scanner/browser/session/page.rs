//! What the page of a session asks: links and their ends, commands, input, the frame's own buttons.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Link, Session};
use crate::platform::hostile::Hostile;
use crate::scanner::browser::devtools::CommandError;
use crate::scanner::browser::message::{FromPage, Incoming, Move, Told};
use crate::scanner::browser::{address, commands, input};

/// How long a page may take to say what is selected.
const SELECTED: Duration = Duration::from_secs(1);
/// Characters of a page's own box that are shown.
const DIALOG: usize = 500;
/// What is selected: in a field (never a password) or on the page.
const SELECTION: &str = "(() => { const field = document.activeElement; \
    const text = field && typeof field.value === 'string' && field.type !== 'password' && field.selectionStart != null \
    ? field.value.slice(field.selectionStart, field.selectionEnd) : String(getSelection()); return text.slice(0, 65536); })()";

const ELSEWHERE: &str = "This browser is now shown in another place.";

impl Session {
    /// Boxes are shown as words and answered at once: nothing a page asks for holds it up.
    pub(super) fn dialog(&mut self, session: &str, params: &Value) {
        let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
        let leaving = text("type") == "beforeunload";
        self.devtools.tell(session, "Page.handleJavaScriptDialog", json!({ "accept": leaving }));
        if !leaving {
            let host = url::Url::parse(text("url")).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
            self.tell(&Told::Dialog { host, words: Hostile::new(text("message")).short(DIALOG) });
        }
    }

    pub(super) async fn came(&mut self, message: Incoming) {
        match message {
            Incoming::Link { number, out } => {
                self.tell(&Told::Ended { words: ELSEWHERE });
                self.link = Some(Link { number, out });
                self.limits.absent = None;
                self.limits.was_linked = true;
                self.limits.told = (0, 0);
                self.told = None;
                self.stop_casting();
            }
            Incoming::Unlinked { number } if self.is_linked(number) => self.unlink(),
            Incoming::Text { number, text } if self.is_linked(number) => {
                // A message that cannot be read is not from our page: commands come in a form of ours.
                if let Ok(message) = serde_json::from_str(&text) {
                    self.message(message).await;
                }
            }
            Incoming::Unlinked { .. } | Incoming::Text { .. } => {}
        }
    }

    async fn message(&mut self, message: FromPage) {
        match message {
            FromPage::Painted { frame } => {
                if let Some((token, next)) = self.screen.painted(frame, Instant::now()) {
                    self.done(Some(token));
                    self.show(next);
                }
                return;
            }
            FromPage::Resize { width, height, scale } => return self.resize(width, height, scale),
            FromPage::Command { number, kind, data } => {
                if commands::is_use(&kind) {
                    self.limits.used = self.clock.now();
                }
                let (data, error) = match commands::answer(self, &kind, &data).await {
                    Ok(data) => (data, None),
                    Err(error) => (None, Some(error)),
                };
                return self.tell(&Told::Answer { number, success: error.is_none(), data, error });
            }
            _ => {}
        }
        self.limits.used = self.clock.now();
        let session = self.active_tab().map(|tab| tab.session.clone());
        let rest = match &session {
            Some(session) => input::send(&self.devtools, session, message),
            None => Some(message),
        };
        if let Some(message) = rest
            && let Err(error) = self.steer(message, session.as_deref()).await
        {
            self.say(&error);
        }
    }

    /// What the frame's own buttons do.
    async fn steer(&mut self, message: FromPage, session: Option<&str>) -> Result<(), String> {
        match (message, session) {
            (FromPage::Go { address }, _) => {
                let url = address::typed(&address).map_err(|refused| refused.to_string())?;
                self.go(url).await?;
            }
            (FromPage::New, _) => {
                let context = self.active_tab().map_or_else(|| self.home(), |tab| tab.context.clone());
                self.open(&context, address::BLANK).await.map_err(commands::failed)?;
            }
            (FromPage::Show { target_id }, _) if self.tab(&target_id).is_some() => self.active = Some(target_id),
            (FromPage::Close { target_id }, _) if self.tab(&target_id).is_some() => self.close(&target_id),
            (FromPage::Move { to }, Some(session)) => self.turn(session, to).await.map_err(commands::failed)?,
            (FromPage::Copy, Some(session)) => {
                let asked = json!({ "expression": SELECTION, "returnByValue": true });
                let selected = timeout(SELECTED, self.devtools.call(session, "Runtime.evaluate", asked)).await;
                let text = selected.ok().and_then(Result::ok);
                let text =
                    text.as_ref().and_then(|text| text.pointer("/result/value")).and_then(Value::as_str).unwrap_or_default();
                self.tell(&Told::Copied { text: text.to_owned() });
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends the open tab to an address that has been checked; opens one when there is none.
    pub(in crate::scanner::browser) async fn go(&mut self, url: String) -> Result<(), String> {
        let Some(session) = self.active_tab().map(|tab| tab.session.clone()) else {
            let home = self.home();
            return self.open(&home, &url).await.map_err(commands::failed);
        };
        self.devtools.tell(&session, "Page.navigate", json!({ "url": url }));
        Ok(())
    }

    async fn turn(&self, session: &str, to: Move) -> Result<(), CommandError> {
        let step = match to {
            Move::Reload => {
                self.devtools.tell(session, "Page.reload", json!({}));
                return Ok(());
            }
            Move::Stop => {
                self.devtools.tell(session, "Page.stopLoading", json!({}));
                return Ok(());
            }
            Move::Back => -1,
            Move::Forward => 1,
        };
        let history = self.devtools.call(session, "Page.getNavigationHistory", json!({})).await?;
        let at = history.get("currentIndex").and_then(Value::as_i64).unwrap_or_default().saturating_add(step);
        let entry = usize::try_from(at).ok().and_then(|at| history.get("entries")?.get(at)?.get("id").cloned());
        if let Some(entry) = entry {
            self.devtools.tell(session, "Page.navigateToHistoryEntry", json!({ "entryId": entry }));
        }
        Ok(())
    }
}
