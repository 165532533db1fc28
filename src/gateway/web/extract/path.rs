//! Path segments as types; what does not parse is not found.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use serde::de::DeserializeOwned;

use crate::gateway::web::error::WebError;

/// The parameters of a path pattern, e.g. `Path<TaskId>` or `Path<(TaskId, VulId)>`.
pub(in crate::gateway) struct Path<T>(pub(in crate::gateway) T);

impl<T: DeserializeOwned> FromRequest for Path<T> {
    type Error = WebError;
    type Future = Ready<Result<Self, WebError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(
            actix_web::web::Path::<T>::extract(request)
                .into_inner()
                .map_or_else(|_| Err(WebError::not_found()), |path| Ok(Self(path.into_inner()))),
        )
    }
}
