//! Network diagnostics at the service: start one, look at it again.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;

use crate::contract::diagnostics::CreateDiagnostics;
use crate::contract::paths;
use crate::gateway::domain::diagnosis::{Diagnosis, Outcome, Stage, State};
use crate::platform::hostile::Hostile;

use super::credential::Call;
use super::error::UpstreamError;
use super::reading;
use super::service::{NOTHING, ScanningService, Send, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v1/network-diagnostics`; gives the id to ask with.
    pub(crate) async fn create_diagnosis(&self, call: &Call, target: &str) -> Result<String, UpstreamError> {
        let body = CreateDiagnostics { test_url: target.to_owned() };
        let answer = self.ask(call, (Method::POST, paths::DIAGNOSTICS), Send::Json(&body), Repeat::Never).await?;
        let id = reading::text(reading::unwrapped(&answer), &["id", "diagId"]);
        needed(Some(id.raw().to_owned()).filter(|id| usable(id)))
    }

    /// `GET /api/v1/network-diagnostics/{id}/next-stage`.
    pub(crate) async fn diagnosis(&self, call: &Call, id: &str) -> Result<Diagnosis, UpstreamError> {
        if !usable(id) {
            return Err(UpstreamError::ours("this is no id of a diagnosis"));
        }
        let answer = self.ask(call, (Method::GET, &paths::diagnostics_next(id)), NOTHING, Repeat::Safe).await?;
        Ok(read(reading::unwrapped(&answer), id))
    }
}

/// Whether an id can stand in a path.
fn usable(id: &str) -> bool {
    (1..=128).contains(&id.len()) && id != "." && id != ".." && !id.chars().any(char::is_control)
}

fn read(value: &Value, id: &str) -> Diagnosis {
    let status = reading::text(value, &["status"]);
    Diagnosis {
        id: id.to_owned(),
        target: reading::text(value, &["testUrl"]),
        state: match status.raw().trim().to_ascii_uppercase().as_str() {
            "IN_PROGRESS" => State::InProgress,
            "FINISHED" => State::Finished,
            _ => State::Other(status),
        },
        stage_count: reading::unsigned(value, &["stageCount"]).unwrap_or(0),
        next_stage: reading::text(value, &["nextStage"]),
        stages: reading::objects(value, &["stages"], |stage| {
            Some(Stage {
                name: reading::text(stage, &["stageName", "name"]),
                description: reading::text(stage, &["description"]),
                outcome: outcome(&reading::text(stage, &["status"])),
                info: reading::text(stage, &["resultInfo"]),
                hint: reading::text(stage, &["hint"]),
                took: reading::unsigned(stage, &["durationMs"]).map(Duration::from_millis),
            })
        }),
        raw: value.clone(),
    }
}

fn outcome(word: &Hostile) -> Outcome {
    match word.raw().trim().to_ascii_uppercase().as_str() {
        "PASS" => Outcome::Pass,
        "FAIL" => Outcome::Fail,
        _ => Outcome::Pending,
    }
}
