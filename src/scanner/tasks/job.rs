//! What a task gives the engine to analyse: the artifact, and the source archives its create named. Reads no file.

use serde_json::Value;

use super::Inner;
use crate::contract::ids::Sha256;
use crate::contract::limits::MAX_SOURCES;
use crate::scanner::engine::{Job, NamedFile};
use crate::scanner::store::StoreError;
use crate::scanner::store::tasks::TaskRecord;

/// Builds the job of a task; a create names each source once and not the artifact itself, which was checked. A source that its account never uploaded stays in it: the analysis says that it is missing.
pub(super) async fn of(inner: &Inner, task: &TaskRecord) -> Result<Job, StoreError> {
    let artifact = NamedFile { path: inner.store.file_path(&task.account, &task.artifact), name: task.file_name.clone() };
    let named: Vec<(Sha256, Option<String>)> =
        task.origin.get("sourceCodeInfos").and_then(Value::as_array).into_iter().flatten().filter_map(source).collect();
    let (account, own) = (task.account.clone(), task.artifact.clone());
    let look_up = move |store: &crate::scanner::store::Store| {
        let mut sources: Vec<NamedFile> = Vec::new();
        for (sha256, given) in named.into_iter().filter(|(sha256, _)| *sha256 != own).take(MAX_SOURCES) {
            let path = store.file_path(&account, &sha256);
            if sources.iter().any(|known| known.path == path) {
                continue;
            }
            let uploaded = store.file(&account, &sha256)?.map(|file| file.name);
            let name = uploaded.or(given).unwrap_or_else(|| format!("The source {sha256}"));
            sources.push(NamedFile { path, name });
        }
        Ok(sources)
    };
    Ok(Job { artifact, sources: inner.store.run(look_up).await? })
}

/// The hash and the name of one of `sourceCodeInfos`; what names no hash is none.
fn source(info: &Value) -> Option<(Sha256, Option<String>)> {
    let sha256 = info.get("sourceCode")?.as_str()?.to_ascii_lowercase().parse().ok()?;
    Some((sha256, info.get("fileName").and_then(Value::as_str).map(str::to_owned)))
}
