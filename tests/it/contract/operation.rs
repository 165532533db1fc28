//! A row of the contract's table, and how it is asked.

use reqwest::{Method, RequestBuilder, multipart};
use serde_json::Value;

use crate::support::scanner::{TestScanner, form};

/// What a request carries.
#[derive(Clone)]
pub(super) enum Sends {
    /// Neither a body nor a content type.
    Nothing,
    Json(Value),
    /// Bytes that are no JSON object.
    Text(&'static str),
    /// A form with the part `file`.
    File(&'static str, Vec<u8>),
    /// A form without it.
    OtherForm,
}

/// One request.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// Below `/scanner`, or from the root for the bootstrap.
    pub(super) path: String,
    pub(super) sends: Sends,
}

impl Ask {
    pub(super) fn new(method: Method, path: impl Into<String>, sends: Sends) -> Self {
        Self { method, path: path.into(), sends }
    }

    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Sends::Nothing)
    }

    pub(super) fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new(Method::POST, path, Sends::Json(body))
    }

    pub(super) fn post_nothing(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path, Sends::Nothing)
    }

    pub(super) fn request(&self, scanner: &TestScanner, bearer: Option<&str>) -> RequestBuilder {
        let mut request = if self.path.starts_with("/biz/") {
            scanner.get_bare(&self.path)
        } else {
            scanner.request(self.method.clone(), &self.path)
        };
        if let Some(bearer) = bearer {
            request = scanner.as_bearer(request, bearer);
        }
        match &self.sends {
            Sends::Nothing => request,
            Sends::Json(body) => request.json(body),
            Sends::Text(text) => request.body(*text),
            Sends::File(name, bytes) => request.multipart(form(name, bytes.clone())),
            Sends::OtherForm => request.multipart(multipart::Form::new().text("other", "x")),
        }
    }
}

/// What a success is.
#[derive(Clone, Copy)]
pub(super) enum Gives {
    /// 200 without a body.
    Empty,
    /// A JSON object with at least these fields.
    Object(&'static [&'static str]),
    /// `{data, total}`; rows, if there are any, have at least these fields.
    List(&'static [&'static str]),
    /// A JSON string.
    Text,
    /// Bytes that begin like this.
    Bytes(&'static [u8]),
}

/// How an error is caused.
pub(super) enum Cause {
    /// This request as this bearer (none: without a credential) gives this code.
    Asked(Option<&'static str>, Ask, u32),
    /// It cannot be caused from outside, and why.
    Never(&'static str),
}

/// What somebody of another account gets for the same request.
pub(super) enum Foreign {
    Refused(u16, u32),
    EmptyList,
    /// The request names nothing of an account.
    Nothing,
}

/// An operation of the interface.
pub(super) struct Operation {
    /// The constant of `contract::paths`.
    pub(super) name: &'static str,
    pub(super) ask: Ask,
    pub(super) gives: Gives,
    pub(super) errors: Vec<(u16, Cause)>,
    pub(super) foreign: Foreign,
    /// Asked without an account.
    pub(super) public: bool,
}
