//! The nine commands of the embedding page (WIRE 9). Each gets its answer, also one that is not known or not well formed.

use serde_json::{Value, json};

use super::session::Session;
use super::tabs::{self, Context};
use super::{address, capture};

/// What a command says when the browser did not do it. The reason is logged; it never holds what was sent.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err calls")]
pub(super) fn failed(error: super::devtools::CommandError) -> String {
    tracing::debug!(%error, "a command of a remote browser was not done");
    "The browser did not do this. Please try again.".to_owned()
}

/// Whether somebody used the browser: asking what is open is no use.
pub(super) fn is_use(kind: &str) -> bool {
    !matches!(kind, "getTabs" | "initCopyPaste")
}

/// Does a command; gives the data of its answer, or words for its error.
pub(super) async fn answer(session: &mut Session, kind: &str, data: &Value) -> Result<Option<Value>, String> {
    match kind {
        // Pasted and copied text goes over the frame's own page, which is always ready for it.
        "initCopyPaste" => Ok(None),
        "getTabs" => Ok(Some(list(session))),
        "clearTabs" => {
            for target in session.tabs.iter().map(|tab| tab.target.clone()).collect::<Vec<_>>() {
                session.close(&target);
            }
            Ok(None)
        }
        "newTab" => {
            let url = url(data)?;
            let home = session.home();
            room(session)?;
            session.open(&home, &url).await.map_err(failed)?;
            Ok(None)
        }
        "newContextTab" => {
            new_context_tab(session, &url(data)?).await?;
            Ok(None)
        }
        "go" => {
            session.go(url(data)?).await?;
            Ok(None)
        }
        "closeTab" => {
            let target = target(session, data)?;
            session.close(&target);
            Ok(None)
        }
        "clearSession" => {
            clear(session, &target(session, data)?);
            Ok(None)
        }
        "getSession" => {
            let target = target(session, data)?;
            let tab = session.tab(&target).ok_or(NO_TAB)?;
            let info = capture::session(&session.devtools, tab).await.map_err(failed)?;
            Ok(Some(json!({ "sessionInfo": info })))
        }
        _ => Err("This browser does not know this command.".to_owned()),
    }
}

const NO_TAB: &str = "There is no such tab.";

fn list(session: &Session) -> Value {
    let tab = |tab: &tabs::Tab| json!({"targetId": tab.target, "url": tab.url, "browserContextId": tab.context});
    session.tabs.iter().map(tab).collect()
}

fn url(data: &Value) -> Result<String, String> {
    let url = data.get("url").and_then(Value::as_str).ok_or("This command needs data with a url.")?;
    address::given(url).map_err(|refused| refused.to_string())
}

fn target(session: &Session, data: &Value) -> Result<String, String> {
    let target = data.get("targetId").and_then(Value::as_str).ok_or("This command needs data with a targetId.")?;
    session.tab(target).map(|tab| tab.target.clone()).ok_or_else(|| NO_TAB.to_owned())
}

fn room(session: &Session) -> Result<(), String> {
    let full = session.tabs.len() >= session.settings.tabs;
    if full { Err("There are too many tabs. Close one first.".to_owned()) } else { Ok(()) }
}

/// A cookie jar of its own, for a further account.
async fn new_context_tab(session: &mut Session, url: &str) -> Result<(), String> {
    room(session)?;
    if session.contexts.len() >= session.settings.contexts {
        return Err("There are too many accounts in this browser. Close one first.".to_owned());
    }
    let context = Context::make(&session.devtools).await.map_err(failed)?;
    session.devtools.listen_beside(&session.home(), &context.id);
    let id = context.id.clone();
    session.contexts.push(context);
    if let Err(error) = session.open(&id, url).await {
        session.contexts.retain(|context| context.id != id);
        tabs::dispose(&session.devtools, &id);
        return Err(failed(error));
    }
    Ok(())
}

fn clear(session: &mut Session, target: &str) {
    let Some(tab) = session.tab(target) else { return };
    if let Some(context) = session.contexts.iter().find(|context| context.id == tab.context) {
        capture::clear(&session.devtools, tab, &context.origins);
    }
    let context = tab.context.clone();
    for tab in session.tabs.iter_mut().filter(|tab| tab.context == context) {
        tab.headers.clear();
    }
}
