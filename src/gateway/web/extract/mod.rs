//! From a request to a typed argument, or to the error page. Authority is an argument: a handler that takes none of
//! `SignedIn`, `Admin` or a share visitor is public by visible choice.

mod admin;
mod body;
mod form;
mod operator;
mod path;
mod query;
mod recent_admin;
mod share_visitor;
mod signed_in;
mod upload;

pub(in crate::gateway) use admin::Admin;
pub(in crate::gateway) use body::JsonBody;
pub(in crate::gateway) use form::{Form, Nothing, OpenForm};
pub(in crate::gateway) use operator::Operator;
pub(in crate::gateway) use path::Path;
pub(in crate::gateway) use query::{Paging, Query};
pub(in crate::gateway) use recent_admin::RecentAdmin;
pub(in crate::gateway) use share_visitor::{AtDoor, ShareVisitor, grant_cookie};
pub(in crate::gateway) use signed_in::{CsrfHeader, SignedIn, Watching};
pub(in crate::gateway) use upload::{Fields, UploadFile, UploadForm};
