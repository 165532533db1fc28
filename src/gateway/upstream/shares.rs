//! Shares at the service: the owner's five operations and the recipient's five.

use reqwest::Method;
use serde_json::Value;

use crate::contract::error::codes;
use crate::contract::ids::{ShareId, VulId};
use crate::contract::paths;
use crate::contract::shares::{CreateShare, DeleteShares, ExtractShare, UpdateShare};
use crate::contract::tasks::Search;
use crate::gateway::domain::chain::Chain;
use crate::gateway::domain::finding::Finding;
use crate::gateway::domain::page::Listing;
use crate::gateway::domain::share::{CreatedShare, Opened, PublicShare, ShareRow};
use crate::platform::secret::Secret;

use super::credential::{Call, Credential};
use super::error::{Kind, UpstreamError};
use super::reading;
use super::service::{NOTHING, ScanningService, Send, needed};
use super::transport::Repeat;

impl ScanningService {
    /// `POST /api/v1/shares/generate-id`.
    pub(crate) async fn generate_share_id(&self, call: &Call) -> Result<ShareId, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::SHARES_GENERATE_ID), NOTHING, Repeat::Never).await?;
        let answer = reading::unwrapped(&answer);
        let bare = reading::plain(answer).raw().trim().parse().ok().filter(|_| answer.is_string());
        needed(reading::id(answer, &["shareId", "id", "data"]).or(bare))
    }

    /// `POST /api/v1/shares`.
    pub(crate) async fn create_share(&self, call: &Call, share: &CreateShare) -> Result<CreatedShare, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::SHARES), Send::Json(share), Repeat::Never).await?;
        Ok(reading::created_share(&answer, &share.share_id))
    }

    /// `POST /api/v1/shares/search`.
    pub(crate) async fn search_shares(&self, call: &Call, search: &Search) -> Result<Listing<ShareRow>, UpstreamError> {
        let answer = self.ask(call, (Method::POST, paths::SHARES_SEARCH), Send::Json(search), Repeat::Safe).await?;
        Ok(reading::list(&answer, &["shares"]).read(reading::share_row))
    }

    /// `PATCH /api/v1/shares/{shareId}`.
    pub(crate) async fn update_share(&self, call: &Call, id: &ShareId, change: &UpdateShare) -> Result<(), UpstreamError> {
        self.ask(call, (Method::PATCH, &paths::share(id)), Send::Json(change), Repeat::Never).await.map(drop)
    }

    /// `POST /api/v1/shares/delete`.
    pub(crate) async fn delete_shares(&self, call: &Call, ids: Vec<ShareId>) -> Result<(), UpstreamError> {
        let body = DeleteShares { share_ids: ids };
        self.ask(call, (Method::POST, paths::SHARES_DELETE), Send::Json(&body), Repeat::Never).await.map(drop)
    }

    /// `GET` (no code) or `POST` (with one) `/api/v1/shares/public/{shareId}`.
    pub(crate) async fn public_share(
        &self,
        call: &Call,
        id: &ShareId,
        code: Option<&Secret>,
    ) -> Result<Opened<PublicShare>, UpstreamError> {
        self.open_share(call, &paths::share_public(id), code).await?.read(|answer| reading::public_share(answer, id))
    }

    /// `GET` or `POST` `/api/v1/shares/public/{shareId}/vuls/{vulId}`.
    pub(crate) async fn public_finding(
        &self,
        call: &Call,
        id: &ShareId,
        vul: &VulId,
        code: Option<&Secret>,
    ) -> Result<Opened<Finding>, UpstreamError> {
        self.open_share(call, &paths::share_public_vul(id, vul), code).await?.read(reading::finding)
    }

    /// `POST /api/v1/shares/public/{shareId}/exploit-chains/{vulId}`; without a code an empty one is sent, as there is no GET.
    pub(crate) async fn public_chain(
        &self,
        call: &Call,
        id: &ShareId,
        vul: &VulId,
        code: Option<&Secret>,
    ) -> Result<Opened<Chain>, UpstreamError> {
        let none = Secret::new("");
        self.open_share(call, &paths::share_public_chain(id, vul), Some(code.unwrap_or(&none))).await?.read(reading::chain)
    }

    /// A refusal is told as what it means to a recipient; everything else stays an error. A try with a code is never repeated:
    /// the service counts them. 401 to a server key is about the key unless the service says that it is about the code.
    async fn open_share(&self, call: &Call, path: &str, code: Option<&Secret>) -> Result<Opened<Value>, UpstreamError> {
        let call = &self.public(call);
        let asked = match code {
            None => self.ask(call, (Method::GET, path), NOTHING, Repeat::Safe).await,
            Some(code) => {
                let body = ExtractShare { extraction_code: code.expose().to_owned() };
                self.ask(call, (Method::POST, path), Send::Json(&body), Repeat::Never).await
            }
        };
        match asked {
            Ok(answer) => Ok(Opened::Open(answer)),
            Err(error) if is_about_the_key(&error, &call.credential) => Err(error),
            Err(error) => match (&error.kind, code) {
                (Kind::Unauthorized | Kind::Forbidden, None) => Ok(Opened::CodeNeeded),
                (Kind::Unauthorized | Kind::Forbidden | Kind::Invalid, Some(_)) => Ok(Opened::WrongCode),
                (Kind::NotFound, _) => Ok(Opened::Gone),
                _ => Err(error),
            },
        }
    }
}

fn is_about_the_key(error: &UpstreamError, credential: &Credential) -> bool {
    let about_the_code = [codes::CODE_NEEDED, codes::CODE_WRONG].map(|code| Some(i64::from(code)));
    matches!(credential, Credential::ServerKey(_)) && error.kind == Kind::Unauthorized && !about_the_code.contains(&error.code)
}

impl Opened<Value> {
    fn read<T>(self, read: impl FnOnce(&Value) -> Option<T>) -> Result<Opened<T>, UpstreamError> {
        Ok(match self {
            Self::Open(answer) => Opened::Open(needed(read(&answer))?),
            Self::CodeNeeded => Opened::CodeNeeded,
            Self::WrongCode => Opened::WrongCode,
            Self::Gone => Opened::Gone,
        })
    }
}
