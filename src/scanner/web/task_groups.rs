//! create-group: one task for each of several artifacts, made together (WIRE 18 #2). An artifact that cannot be taken is told
//! and keeps no other from being scanned; when none can be taken nothing is made.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use actix_web::{HttpResponse, web};
use serde_json::{Map, Value, json};

use super::App;
use super::admission::{self, Admitted, Order, Wanted};
use super::error::Failure;
use super::extract::Body;
use crate::contract::tasks::{CreateGroupResponse, CreateTaskResponse, GroupFailure};
use crate::platform::random;
use crate::scanner::identity::Caller;
use crate::scanner::store::tasks::NewTask;

/// Where the further artifacts stand in the body.
const FURTHER: &str = "primarySourceCodes";
/// The longest file name that is repeated in words, in characters.
const LONGEST_FILE_NAME: usize = 200;

/// `POST /tasks/create-group` (v2).
pub(super) async fn create(
    app: web::Data<App>,
    caller: Caller,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<HttpResponse, Failure> {
    let further = further(body.remove(FURTHER), app.settings.groups.max_artifacts)?;
    let order: Order = admission::order(&app, read(body)?)?;
    let artifacts: Vec<Wanted> = std::iter::once(order.first()).chain(further).collect();
    let (admitted, failures) = sort_out(&app, &caller, &order, &artifacts).await?;
    if admitted.is_empty() {
        return Err(none(&failures));
    }
    let asked = (&order.body, artifacts.iter().map(as_asked).collect::<Vec<_>>(), &failures);
    let request = admission::request_hash(&app, &caller, "create-group", &asked)?;
    let group_id = random::hex_id().map_err(Failure::internal)?;
    let new = |artifact| admission::new_task(&app, &caller, &order, artifact, Some(&group_id));
    let tasks = admitted.into_iter().map(new).collect::<Result<Vec<NewTask>, _>>()?;
    let group = (caller.account.clone(), group_id.clone());
    let made = app.tasks.create_group(request, group, (tasks, failures)).await.map_err(Failure::internal)?;
    let first = made.tasks.into_iter().next().ok_or_else(|| Failure::internal("a group without a task"))?;
    Ok(HttpResponse::Ok().json(CreateGroupResponse {
        first: CreateTaskResponse { created_at: first.created_at.rfc3339(), task_id: first.id, status: first.status },
        group_id: made.group_id,
        task_ids: made.group.task_ids,
        failures: made.group.failures,
    }))
}

/// The body as that of a create. Captured sessions are no typed field here, so that no refusal of serde repeats them.
fn read(body: Map<String, Value>) -> Result<crate::contract::tasks::CreateTask, Failure> {
    serde_json::from_value(Value::Object(body)).map_err(|error| Failure::bad(format!("The JSON body is not right: {error}.")))
}

/// The artifacts behind the first. What is wrong with one of them is its own affair; a list that is none is the body's.
fn further(list: Option<Value>, most: usize) -> Result<Vec<Wanted>, Failure> {
    let list = match list {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Failure::bad(format!("{FURTHER} must be a list of artifacts."))),
    };
    if list.len() >= most {
        return Err(Failure::bad(format!("A group takes at most {most} artifacts, the first included. Send it in parts.")));
    }
    Ok(list.iter().map(wanted).collect())
}

fn wanted(artifact: &Value) -> Wanted {
    let text = |name: &str| artifact.get(name).and_then(Value::as_str).map(str::to_owned);
    Wanted {
        source_code: text("sourceCode"),
        file_name: text("fileName"),
        service_name: text("serviceName"),
        target: text("sandboxTargetServiceUrl"),
    }
}

fn as_asked(artifact: &Wanted) -> Value {
    json!([artifact.source_code, artifact.file_name, artifact.service_name, artifact.target])
}

/// Which artifacts are scanned, and why the others are not. Trouble of the service itself ends the whole request.
async fn sort_out(
    app: &web::Data<App>,
    caller: &Caller,
    order: &Order,
    artifacts: &[Wanted],
) -> Result<(Vec<Admitted>, Vec<GroupFailure>), Failure> {
    let (mut admitted, mut failures, mut seen) = (Vec::new(), Vec::new(), HashMap::new());
    for (artifact, index) in artifacts.iter().zip(0_u32..) {
        let outcome = match admission::admit(app, caller, order, artifact).await {
            Ok(artifact) => match seen.entry(artifact.key()) {
                Entry::Vacant(place) => {
                    place.insert(index + 1);
                    Ok(artifact)
                }
                Entry::Occupied(place) => {
                    let words = format!("This artifact stands in the group already, as artifact {}.", place.get());
                    Err((Failure::bad(words), artifact.file_name().to_owned()))
                }
            },
            Err(failure) if failure.is_internal() => return Err(failure),
            Err(failure) => Err((failure, String::new())),
        };
        match outcome {
            Ok(artifact) => admitted.push(artifact),
            Err((failure, known)) => failures.push(told(index, artifact, &failure, &known)),
        }
    }
    Ok((admitted, failures))
}

fn told(index: u32, artifact: &Wanted, failure: &Failure, known: &str) -> GroupFailure {
    let named = artifact.file_name.as_deref().unwrap_or(known).chars().take(LONGEST_FILE_NAME).collect();
    GroupFailure { index, file_name: named, err_code: failure.code(), err_detail: failure.to_string() }
}

/// 400: nothing of the group could be taken; one sentence for each artifact.
fn none(failures: &[GroupFailure]) -> Failure {
    let reason = |failure: &GroupFailure| {
        let number = failure.index + 1;
        if failure.file_name.is_empty() {
            format!("Artifact {number}: {}", failure.err_detail)
        } else {
            format!("Artifact {number} ({}): {}", failure.file_name, failure.err_detail)
        }
    };
    let reasons: Vec<String> = failures.iter().map(reason).collect();
    let codes: HashSet<u32> = failures.iter().map(|failure| failure.err_code).collect();
    let words = format!("No task was made. {}", reasons.join(" "));
    match (codes.len(), codes.into_iter().next()) {
        (1, Some(code)) => Failure::bad_because(code, words),
        _ => Failure::bad(words),
    }
}
