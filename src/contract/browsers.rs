//! Embedded remote browsers (interface section 4, WIRE 9 and 18 #17).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Answer to create.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedBrowser {
    /// A page to embed in a frame. Signed and short-lived: it opens once, for this session only.
    pub url: String,
    /// May go into the create request of a task.
    pub browser_box_id: String,
}

/// What `getSession` gives, and what stands in `originRequestData` of [`super::tasks::AuthInfo`]: secrets all of it.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionInfo {
    /// Cookies as the DevTools protocol tells them, HttpOnly ones included.
    #[schema(value_type = Option<Vec<Object>>)]
    pub cookies: Vec<Value>,
    /// `{url, method, requestHeaders}`; `requestHeaders` is an object from the frame, a list of `{name, value}` in a create.
    #[schema(value_type = Option<Vec<Object>>)]
    pub headers: Vec<Value>,
    /// The local storage of the page, names and values.
    #[schema(value_type = Option<Object>)]
    pub local_storage: Value,
    /// The same of its session storage.
    #[schema(value_type = Option<Object>)]
    pub session_storage: Value,
}
