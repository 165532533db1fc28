//! Components of a task at the service. An addition to the interface: services without it answer 404.

use reqwest::Method;

use crate::contract::ids::TaskId;
use crate::contract::paths;
use crate::contract::tasks::Search;
use crate::gateway::domain::component::ComponentRow;
use crate::gateway::domain::page::Listing;

use super::credential::Call;
use super::error::UpstreamError;
use super::reading;
use super::service::{ScanningService, Send};
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v1/tasks/{taskId}/components/search`.
    pub(crate) async fn search_components(
        &self,
        call: &Call,
        id: &TaskId,
        search: &Search,
    ) -> Result<Listing<ComponentRow>, UpstreamError> {
        let answer = self.ask(call, (Method::POST, &paths::components_search(id)), Send::Json(search), Repeat::Safe).await?;
        Ok(reading::list(&answer, &["components"]).read(reading::component_row))
    }
}
