//! Embedded remote browsers (WIRE 9, 18 #17).

use crate::platform::hostile::Hostile;

/// A browser session at the service.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrowserSession {
    /// An http or https address, checked; still to be compared with the tenant's allowed frames before it is embedded.
    pub url: String,
    /// Goes into the create request when the service gave one.
    pub box_id: Option<Hostile>,
}
