//! Embedded remote browsers at the service.

use reqwest::Method;

use crate::contract::paths;
use crate::gateway::domain::browser::BrowserSession;

use super::credential::Call;
use super::error::UpstreamError;
use super::reading;
use super::service::{NOTHING, ScanningService, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v1/browsers`, without a body. An address that is not http or https is garbage.
    pub(crate) async fn create_browser(&self, call: &Call) -> Result<BrowserSession, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::BROWSERS), NOTHING, Repeat::Never).await?;
        let answer = reading::unwrapped(&answer);
        let url = needed(reading::text(answer, &["url"]).link())?;
        let box_id = reading::text(answer, &["browserBoxId"]);
        Ok(BrowserSession { url, box_id: (!box_id.is_empty()).then_some(box_id) })
    }
}
