//! The query as a type; what does not parse is told.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::gateway::web::error::WebError;

/// The query of the request.
pub(in crate::gateway) struct Query<T>(pub(in crate::gateway) T);

impl<T: DeserializeOwned> FromRequest for Query<T> {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(actix_web::web::Query::<T>::from_query(request.query_string()).map_or_else(
            |_| Err(WebError::bad_request("The address holds a filter or option that cannot be read.")),
            |query| Ok(Self(query.into_inner())),
        ))
    }
}

/// The query of a list that is only paged.
#[derive(Deserialize)]
pub(in crate::gateway) struct Paging {
    page: Option<u32>,
}

impl Paging {
    /// The page asked for, from 1.
    pub(in crate::gateway) fn number(&self) -> u32 {
        self.page.unwrap_or(1).max(1)
    }
}
