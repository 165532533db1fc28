//! Findings at the service: stat, search, one, and exploit chains.

use reqwest::Method;

use crate::contract::ids::{TaskId, VulId};
use crate::contract::paths;
use crate::contract::tasks::Search;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::{Finding, FindingRow};
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::task::Statistics;

use super::credential::Call;
use super::error::UpstreamError;
use super::reading;
use super::service::{NOTHING, ScanningService, Send, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v1/tasks/{taskId}/results/stat`.
    pub(crate) async fn results_stat(&self, call: &Call, id: &TaskId) -> Result<Statistics, UpstreamError> {
        let answer = self.ask(call, (Method::POST, &paths::results_stat(id)), NOTHING, Repeat::Safe).await?;
        Ok(reading::statistics(&answer))
    }

    /// `POST /api/v1/tasks/{taskId}/results/search`.
    pub(crate) async fn search_results(
        &self,
        call: &Call,
        id: &TaskId,
        search: &Search,
    ) -> Result<Listing<FindingRow>, UpstreamError> {
        let answer = self.ask(call, (Method::POST, &paths::results_search(id)), Send::Json(search), Repeat::Safe).await?;
        Ok(reading::list(&answer, &["vuls", "results"]).read(reading::finding_row))
    }

    /// `GET /api/v1/tasks/{taskId}/results/{vulId}`.
    pub(crate) async fn result(&self, call: &Call, id: &TaskId, vul: &VulId) -> Result<Finding, UpstreamError> {
        let answer = self.ask(call, (Method::GET, &paths::result(id, vul)), NOTHING, Repeat::Safe).await?;
        needed(reading::finding(&answer))
    }

    /// `POST /api/v1/tasks/{taskId}/exploit-chains/search`.
    pub(crate) async fn search_chains(&self, call: &Call, id: &TaskId, search: &Search) -> Result<Listing<Chain>, UpstreamError> {
        let answer = self.ask(call, (Method::POST, &paths::chains_search(id)), Send::Json(search), Repeat::Safe).await?;
        Ok(reading::list(&answer, &["exploitChains", "chains"]).read(reading::chain))
    }
}
