//! Calls of programs to what recipients of shares may ask: they pass the same guard as recipients at the doors.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::{Api, Ask, Sent};
use crate::contract::ids::ShareId;
use crate::contract::paths;
use crate::gateway::domain::device::Device;
use crate::gateway::domain::route_table::{Route, Verb};
use crate::gateway::domain::share::{Doorway, Spot};
use crate::gateway::services::error::Error;
use crate::gateway::services::share_page::{Passage, Place, Tried};
use crate::platform::random;
use crate::platform::secret::Secret;

/// The operations.
const OPERATIONS: [&str; 3] = [paths::SHARE_PUBLIC, paths::SHARE_PUBLIC_VUL, paths::SHARE_PUBLIC_CHAIN];

/// Whether an operation is one that recipients ask for.
pub(super) fn ask(route: &Route) -> bool {
    OPERATIONS.contains(&route.path)
}

impl Api {
    /// Lets a call pass, changed where the service is not to see what it is for. What is given back is to be told what came
    /// of it.
    pub(super) async fn at_door(&self, ask: &mut Ask<'_>, sent: Sent) -> Result<(Sent, Option<Tried>), Error> {
        let Some(Ok(share)) = ask.found.parameters.first().map(|id| id.parse::<ShareId>()) else { return Err(Error::NotFound) };
        let (sent, code) = match sent {
            Sent::Whole(Some(body)) if ask.found.route.verb == Verb::Post => {
                let code = code(&body);
                // Sent anew where it was read: no other reading of the body tries another code than the one that counts.
                (Sent::Whole(Some(code.as_ref().map_or(body, written))), code)
            }
            other => (other, None),
        };
        let place = Place {
            tenant: ask.tenant.clone(),
            spot: Spot { doorway: Doorway::Code, share },
            network: ask.network.to_owned(),
            device: Device::default(),
            request_id: ask.request_id.to_owned(),
        };
        let (passage, tried) = self.shares.pass(place, code.as_ref()).await?;
        let sent = match (&passage, sent) {
            (Passage::WithoutCode, Sent::Whole(Some(_))) => Sent::Whole(Some(written(&Secret::new("")))),
            (_, sent) => sent,
        };
        match passage {
            Passage::AsAsked | Passage::WithoutCode => {}
            Passage::AsUnknown => {
                let nobodys = random::id().map_err(|error| Error::Internal(error.to_string()))?;
                if let Some(id) = ask.found.parameters.first_mut() {
                    *id = nobodys;
                }
            }
            Passage::WrongCode => return Err(Error::WrongCode),
        }
        Ok((sent, tried))
    }

    /// Counts what came of a call that tried a code.
    pub(super) async fn left_door(&self, tried: Option<&Tried>, status: StatusCode) -> Result<(), Error> {
        match tried {
            Some(tried) => self.shares.passed(tried, status.as_u16()).await,
            None => Ok(()),
        }
    }
}

/// The code of a body, if it holds one that can be read.
fn code(body: &[u8]) -> Option<Secret> {
    let read: Value = serde_json::from_slice(body).ok()?;
    read.get("extractionCode")?.as_str().filter(|code| !code.is_empty()).map(Secret::new)
}

fn written(code: &Secret) -> Bytes {
    Bytes::from(json!({ "extractionCode": code.expose() }).to_string())
}
