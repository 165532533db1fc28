//! Which types an operation takes and answers, and an example of its body. One row here for each row of the route table.

use std::collections::BTreeMap;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AllOfBuilder, AnyOfBuilder, ArrayBuilder, ObjectBuilder, Ref, Schema};
use utoipa::{PartialSchema as _, ToSchema};

use super::searches;
use crate::contract::bootstrap::PublishableKey;
use crate::contract::browsers::CreatedBrowser;
use crate::contract::chains::ExploitChain;
use crate::contract::components::ComponentRow;
use crate::contract::diagnostics::{CreateDiagnostics, CreatedDiagnostics, Diagnostics};
use crate::contract::domains::{OwnershipContent, VerifyDomain};
use crate::contract::files::UploadedFile;
use crate::contract::ids::{Sha256, TaskId};
use crate::contract::results::{Stat, VulDetail, VulRow};
use crate::contract::shares::{
    CreateShare, CreatedShare, DeleteShares, ExtractShare, GeneratedShareId, PublicShare, ShareRow, UpdateShare,
};
use crate::contract::tasks::{
    CreateGroupResponse, CreateTask, CreateTaskResponse, DeleteTasks, Page, TaskDetail, TaskRow, TerminateTask,
    TerminateTasksResponse,
};

/// Named schemas of a document.
#[derive(Default)]
pub(super) struct Schemas(pub(super) BTreeMap<String, RefOr<Schema>>);

/// Adds a type to the named schemas; gives the reference to it.
pub(super) type Shape = fn(&mut Schemas) -> RefOr<Schema>;

/// What an operation takes and answers as JSON.
#[derive(Clone, Copy, Default)]
pub(super) struct Types {
    pub(super) takes: Option<Shape>,
    /// JSON that a reader can copy.
    pub(super) example: &'static str,
    pub(super) answers: Option<Shape>,
}

impl Schemas {
    pub(super) fn add(&mut self, name: &str, schema: RefOr<Schema>) -> RefOr<Schema> {
        self.0.insert(name.to_owned(), schema);
        Ref::from_schema_name(name).into()
    }

    /// Whether an empty object is not enough.
    pub(super) fn needs_something(&self, schema: &RefOr<Schema>) -> bool {
        let named = match schema {
            RefOr::Ref(reference) => reference.ref_location.rsplit('/').next().and_then(|name| self.0.get(name)),
            RefOr::T(_) => Some(schema),
        };
        !matches!(named, Some(RefOr::T(Schema::Object(object))) if object.required.is_empty())
    }
}

/// A type of the contract with all that it is made of.
pub(super) fn of<T: ToSchema>(into: &mut Schemas) -> RefOr<Schema> {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    into.0.extend(parts);
    into.add(&T::name(), T::schema())
}

/// The rows of a list, and the page of them.
fn page<R: ToSchema>(into: &mut Schemas) -> RefOr<Schema> {
    of::<R>(into);
    // The derive names a generic type without what it is of.
    into.add(&format!("{}Page", R::name()), Page::<R>::schema())
}

/// One of the two fields has to be there.
fn terminate(into: &mut Schemas) -> RefOr<Schema> {
    let (whole, id) = (of::<TerminateTask>(into), of::<TaskId>(into));
    let several = ArrayBuilder::new().items(id.clone()).min_items(Some(1));
    let named = AnyOfBuilder::new()
        .item(ObjectBuilder::new().property("taskId", id).required("taskId"))
        .item(ObjectBuilder::new().property("taskIds", several).required("taskIds"));
    into.add("TerminateTasks", Schema::from(AllOfBuilder::new().item(whole).item(Schema::from(named))).into())
}

fn both<T: ToSchema, A: ToSchema>(example: &'static str) -> Types {
    Types { takes: Some(of::<T>), example, answers: Some(of::<A>) }
}

fn takes<T: ToSchema>(example: &'static str) -> Types {
    Types { takes: Some(of::<T>), example, answers: None }
}

fn answers<A: ToSchema>() -> Types {
    Types { answers: Some(of::<A>), ..Types::default() }
}

fn finds<R: ToSchema>(search: Shape, example: &'static str) -> Types {
    Types { takes: Some(search), example, answers: Some(page::<R>) }
}

const CODE: &str = r#"{"extractionCode": "the code you were given"}"#;
const MOST_SEVERE_FIRST: &str = r#"{"page": 0, "size": 50, "sorts": ["severity"]}"#;
const CREATE: &str = r#"{"projectName": "Shop", "lang": "JAVA", "primarySourceCode": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}"#;
const GROUP: &str = r#"{"projectName": "Shop", "lang": "JAVA", "primarySourceCode": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "primarySourceCodes": [{"sourceCode": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752", "fileName": "orders.jar", "serviceName": "orders"}]}"#;
const RUNNING: &str =
    r#"{"filters": [{"field": "taskStatus", "operator": "IN", "value": ["CREATED", "RUNNING"]}], "sorts": ["-createdAt"]}"#;
const SHARE: &str = r#"{"shareId": "an id of generate-id, 22 characters", "taskId": "your task", "shareType": "REPORT", "extractionCode": "CORRECT-HORSE-7"}"#;

/// The types of the row of this name; none for a name that is not known.
pub(super) fn of_route(name: &str) -> Option<Types> {
    Some(match name {
        "createTask" => both::<CreateTask, CreateTaskResponse>(CREATE),
        "createTaskGroup" => both::<CreateTask, CreateGroupResponse>(GROUP),
        "searchTasks" => finds::<TaskRow>(searches::tasks, RUNNING),
        "terminateTasks" => {
            let example = r#"{"taskId": "your task"}"#;
            Types { takes: Some(terminate), ..both::<TerminateTask, TerminateTasksResponse>(example) }
        }
        "deleteTasks" => takes::<DeleteTasks>(r#"{"taskIds": ["your task"]}"#),
        "getTask" => answers::<TaskDetail>(),
        "statResults" => answers::<Stat>(),
        "searchResults" => finds::<VulRow>(searches::results, MOST_SEVERE_FIRST),
        "getResult" | "getSharedResult" => answers::<VulDetail>(),
        "searchExploitChains" => finds::<ExploitChain>(searches::chains, MOST_SEVERE_FIRST),
        "searchComponents" => finds::<ComponentRow>(searches::components, r#"{"sorts": ["name"]}"#),
        "uploadFile" => answers::<UploadedFile>(),
        "checkFile" => answers::<Sha256>(),
        "createDiagnostics" => both::<CreateDiagnostics, CreatedDiagnostics>(r#"{"testUrl": "https://shop.example/"}"#),
        "nextDiagnosticsStage" => answers::<Diagnostics>(),
        "getOwnershipContent" => answers::<OwnershipContent>(),
        "verifyOwnership" => takes::<VerifyDomain>(r#"{"url": "https://shop.example/", "content": "what was published"}"#),
        "createBrowser" => answers::<CreatedBrowser>(),
        "createShare" => both::<CreateShare, CreatedShare>(SHARE),
        "searchShares" => finds::<ShareRow>(searches::shares, r#"{"sorts": ["-createdAt"]}"#),
        "generateShareId" => answers::<GeneratedShareId>(),
        "deleteShares" => takes::<DeleteShares>(r#"{"shareIds": ["your share"]}"#),
        "updateShare" => takes::<UpdateShare>(r#"{"expiredAt": null}"#),
        "getSharedContent" => answers::<PublicShare>(),
        "extractSharedContent" => both::<ExtractShare, PublicShare>(CODE),
        "extractSharedResult" => both::<ExtractShare, VulDetail>(CODE),
        "extractSharedExploitChain" => both::<ExtractShare, ExploitChain>(CODE),
        "getPublishableKey" => answers::<PublishableKey>(),
        "getReport" | "analyzePom" | "analyzePoms" => Types::default(),
        _ => return None,
    })
}
