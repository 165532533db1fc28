//! From a create body to a task: what is asked for, whether it may be, and the record that is kept. The same for one artifact
//! and for each of a group.

use std::collections::HashSet;

use actix_web::web;
use serde_json::{Map, Value};
use url::Url;

use super::App;
use super::domains;
use super::error::Failure;
use super::logins::{self, Logins};
use crate::contract::ids::Sha256;
use crate::contract::limits::{MAX_PROJECT_NAME, MAX_SOURCES};
use crate::contract::tasks::{CreateTask, ResultsStat, TaskStatus};
use crate::platform::random;
use crate::scanner::identity::Caller;
use crate::scanner::store::files::FileRecord;
use crate::scanner::store::tasks::{NewTask, TaskRecord};

/// What the composition analysis reads: languages whose builds are Java archives, and those whose lock files it knows.
const LANGUAGES: [&str; 10] =
    ["JAVA", "KOTLIN", "SCALA", "GROOVY", "CLOJURE", "JAVASCRIPT", "TYPESCRIPT", "PYTHON", "RUST", "GO"];
/// The longest `browserBoxId` and `serviceName`, in characters.
const LONGEST_NAME: usize = 128;

/// A create body whose parts are right: what all artifacts of it share.
pub(super) struct Order {
    pub(super) body: CreateTask,
    logins: Logins,
}

/// One artifact somebody wants scanned, as it was named.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The hash as it was sent; `None` when there was none.
    pub(super) source_code: Option<String>,
    /// What the caller calls the file, for words about it.
    pub(super) file_name: Option<String>,
    pub(super) service_name: Option<String>,
    /// Address of the deployed service, when the artifact has its own.
    pub(super) target: Option<String>,
}

/// An artifact that may be scanned.
pub(super) struct Admitted {
    file: FileRecord,
    service_name: Option<String>,
    home: Option<Url>,
    target: Option<Url>,
}

/// Checks what all artifacts of a create share.
pub(super) fn order(app: &App, body: CreateTask) -> Result<Order, Failure> {
    let name = body.project_name.trim();
    if name.is_empty() || name.chars().count() > MAX_PROJECT_NAME {
        return Err(Failure::bad(format!("projectName must have 1 to {MAX_PROJECT_NAME} characters.")));
    }
    let lang = body.lang.trim();
    if lang.is_empty() {
        return Err(Failure::bad("lang is missing: name the language, such as JAVA."));
    }
    if !LANGUAGES.iter().any(|known| known.eq_ignore_ascii_case(lang)) {
        return Err(Failure::bad(format!(
            "This service scans Java archives and source archives with lock files: lang must be one of {}.",
            LANGUAGES.join(", ")
        )));
    }
    if body.browser_box_id.as_deref().is_some_and(|id| !named(id, LONGEST_NAME)) {
        return Err(Failure::bad(format!("browserBoxId must have 1 to {LONGEST_NAME} characters.")));
    }
    let logins = logins::read(body.sandbox_auth_infos.as_ref(), &app.settings.sessions)?;
    each_source_once(&body)?;
    Ok(Order { body, logins })
}

impl Order {
    /// The artifact on top of the body.
    pub(super) fn first(&self) -> Wanted {
        let text = |name: &str| self.body.other.get(name).and_then(Value::as_str).map(str::to_owned);
        Wanted {
            source_code: self.body.primary_source_code.clone().or_else(|| self.body.java_package.clone()),
            file_name: text("fileName"),
            service_name: text("serviceName"),
            target: None,
        }
    }
}

/// The one place that decides whether an artifact may be scanned against its target: the file is there and the caller's,
/// and its addresses are right. Whatever else a target has to fulfil is asked here, with the addresses at hand.
pub(super) async fn admit(app: &web::Data<App>, caller: &Caller, order: &Order, wanted: &Wanted) -> Result<Admitted, Failure> {
    let hash = wanted.source_code.as_deref().map(str::trim).filter(|hash| !hash.is_empty());
    let hash = hash.ok_or_else(|| Failure::bad("primarySourceCode is missing: upload a file and name its sha256."))?;
    let hash: Sha256 = hash.to_ascii_lowercase().parse().map_err(|error| Failure::bad(format!("primarySourceCode: {error}.")))?;
    if let Some(again) = sources(&order.body).find(|source| source.hash == hash.as_str()) {
        return Err(Failure::bad(format!("sourceCodeInfos names the artifact itself ({}). Leave it out there.", again.shown())));
    }
    let service_name = wanted.service_name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    if service_name.is_some_and(|name| !named(name, LONGEST_NAME)) {
        return Err(Failure::bad(format!("serviceName must have at most {LONGEST_NAME} characters.")));
    }
    let home = address("sandboxHomePageUrl", order.body.sandbox_home_page_url.as_deref())?;
    let own = address("sandboxTargetServiceUrl", wanted.target.as_deref())?;
    let target = own.map_or_else(
        || address("sandboxTargetServiceUrl", order.body.sandbox_target_service_url.as_deref()),
        |own| Ok(Some(own)),
    )?;
    let account = caller.account.clone();
    let file = app.store.run(move |store| store.file(&account, &hash)).await.map_err(Failure::internal)?;
    let file = file.ok_or_else(Failure::unknown_file)?;
    for address in [&target, &home].into_iter().flatten() {
        domains::require_verified(app, &caller.account, address).await?;
    }
    Ok(Admitted { file, service_name: service_name.map(str::to_owned), home, target })
}

impl Admitted {
    /// What makes two artifacts of one group the same: file, service, target.
    pub(super) fn key(&self) -> (String, Option<String>, Option<String>) {
        let service = self.service_name.as_ref().map(|name| name.to_lowercase());
        (self.file.sha256.as_str().to_owned(), service, self.target.as_ref().map(Url::to_string))
    }

    pub(super) fn file_name(&self) -> &str {
        &self.file.name
    }
}

/// The task to keep.
pub(super) fn new_task(
    app: &App,
    caller: &Caller,
    order: &Order,
    admitted: Admitted,
    group_id: Option<&str>,
) -> Result<NewTask, Failure> {
    let now = app.clock.now();
    let record = TaskRecord {
        id: random::hex_id().map_err(Failure::internal)?.parse().map_err(Failure::internal)?,
        account: caller.account.clone(),
        project_name: order.body.project_name.trim().to_owned(),
        lang: order.body.lang.trim().to_owned(),
        origin: origin(&order.body, &admitted),
        artifact: admitted.file.sha256,
        file_name: admitted.file.name,
        status: TaskStatus::Created,
        progress: 0,
        created_by: caller.name.clone(),
        created_at: now,
        updated_at: now,
        executed_at: None,
        ended_at: None,
        err_code: None,
        err_detail: None,
        stat: ResultsStat::default(),
        group_id: group_id.map(str::to_owned),
        service_name: admitted.service_name,
        accounts: order.logins.accounts.clone(),
    };
    Ok(NewTask { record, sessions: order.logins.sessions.clone() })
}

/// Who asked and for what, as a keyed hash. The advisories in use are part of it: the same scan with newer ones is another.
pub(super) fn request_hash(
    app: &App,
    caller: &Caller,
    operation: &str,
    asked: &impl serde::Serialize,
) -> Result<String, Failure> {
    let request = (operation, &caller.account, &caller.name, app.tasks.advisories_identity(), asked);
    let request =
        zeroize::Zeroizing::new(serde_json::to_vec(&request).map_err(|_| Failure::internal("a create body is no JSON"))?);
    Ok(app.store.request_hash(&request))
}

/// What of a create body is kept and echoed. A closed list, so that captured sessions and whatever else a client adds
/// never reach the disk in the open; user information is taken out of addresses.
fn origin(body: &CreateTask, admitted: &Admitted) -> Map<String, Value> {
    let address = |url: &Option<Url>| url.as_ref().map(|url| Value::from(url.as_str()));
    let sources = body.source_code_infos.as_ref().and_then(Value::as_array).map(|list| list.iter().map(source).collect());
    let hash = || Value::from(admitted.file.sha256.as_str());
    let fields = [
        ("projectName", Some(Value::from(body.project_name.trim()))),
        ("lang", Some(Value::from(body.lang.trim()))),
        ("primarySourceCode", Some(hash())),
        ("primarySourceCodeFileName", Some(Value::from(admitted.file.name.as_str()))),
        ("javaPackage", body.java_package.as_ref().map(|_| hash())),
        ("sandboxHomePageUrl", address(&admitted.home)),
        ("sandboxTargetServiceUrl", address(&admitted.target)),
        ("sourceCodeInfos", sources.map(Value::Array)),
        ("browserBoxId", body.browser_box_id.as_deref().map(Value::from)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// A source archive as a create names it.
struct NamedSource<'a> {
    /// In lower case.
    hash: String,
    name: &'a str,
}

impl NamedSource<'_> {
    /// What its sender calls it, else its hash.
    fn shown(&self) -> String {
        let name: String = self.name.trim().chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
        if name.is_empty() { self.hash.clone() } else { name }
    }
}

/// The source archives of a body, in its order; what names no hash is none.
fn sources(body: &CreateTask) -> impl Iterator<Item = NamedSource<'_>> {
    let all = body.source_code_infos.as_ref().and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|info| {
        let hash: Sha256 = info.get("sourceCode")?.as_str()?.to_ascii_lowercase().parse().ok()?;
        let name = info.get("fileName").and_then(Value::as_str).unwrap_or_default();
        Some(NamedSource { hash: hash.as_str().to_owned(), name })
    })
}

/// The answer of a create has no place for a source that is left out, so it is refused.
fn each_source_once(body: &CreateTask) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for source in sources(body) {
        if !seen.insert(source.hash.clone()) {
            return Err(Failure::bad(format!("sourceCodeInfos names {} more than once. Name it once.", source.shown())));
        }
    }
    if seen.len() > MAX_SOURCES {
        return Err(Failure::bad(format!("sourceCodeInfos takes at most {MAX_SOURCES} source archives.")));
    }
    Ok(())
}

fn source(info: &Value) -> Value {
    let kept = ["type", "sourceCode", "fileName"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), info.get(name)?.as_str()?.into())));
    Value::Object(kept.collect())
}

/// An address of `field`, which may be left out.
fn address(field: &str, text: Option<&str>) -> Result<Option<Url>, Failure> {
    match text.map(str::trim).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => {
            web_address(text).map(Some).ok_or_else(|| Failure::bad(format!("{field} must be an http or https address.")))
        }
    }
}

/// An http or https address, without user information.
pub(super) fn web_address(text: &str) -> Option<Url> {
    let mut url = Url::parse(text.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

/// Whether a text can stand as a name: some characters, not too many, nothing invisible that steers a terminal.
pub(super) fn named(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.trim().chars().count()) && !text.chars().any(char::is_control)
}
