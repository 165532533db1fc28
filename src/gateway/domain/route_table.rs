//! Every operation that the gateway serves at the scanning service's own paths, one row each. The table is closed: what is
//! not in it is not forwarded. Routing, proxying, caching, limits, the scopes of API keys and the description at
//! `/openapi.json` all read it; nothing else knows which operations there are.

use std::fmt;

use crate::contract::paths;

/// One operation (interface section 4).
#[derive(Debug)]
pub(in crate::gateway) struct Route {
    /// `operationId` of the description, scope of API keys, label of metrics.
    pub(in crate::gateway) name: &'static str,
    pub(in crate::gateway) verb: Verb,
    /// Pattern of [`paths`], without the prefix.
    pub(in crate::gateway) path: &'static str,
    pub(in crate::gateway) under: Under,
    /// Parameters of the query that the operation knows; others are passed on as they are.
    pub(in crate::gateway) query: &'static [&'static str],
    pub(in crate::gateway) body: Body,
    pub(in crate::gateway) answer: Answer,
    pub(in crate::gateway) open_to: OpenTo,
    pub(in crate::gateway) keep: Keep,
    /// What answers that were kept before are worth nothing after it.
    pub(in crate::gateway) ends: &'static [Subject],
    pub(in crate::gateway) repeat: Repeat,
    /// Asked again and again by pages and programs that wait: does not keep a session alive.
    pub(in crate::gateway) polls: bool,
    /// Not in the interface's tables: served only where a tenant's settings say so.
    pub(in crate::gateway) is_addition: bool,
    /// One line for the description.
    pub(in crate::gateway) about: &'static str,
}

/// Method of an operation. `HEAD` is served wherever `GET` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gateway) enum Verb {
    Get,
    Post,
    Patch,
}

/// Where the path stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Under {
    /// Below `/scanner`, or whatever prefix the tenant's service has.
    Prefix,
    /// At the service's base (front-end bootstrap).
    Base,
}

/// What a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Body {
    /// Nothing; what comes all the same is not passed on.
    Nothing,
    /// `application/json`, read whole, at most `api.json_bytes`.
    Json,
    /// `multipart/form-data`, streamed, at most `limits.upload_bytes`.
    Multipart,
}

/// What a success carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Answer {
    Json,
    Nothing,
    /// Streamed, of any length and type.
    Stream,
}

/// Who may call, and with whose credential the service is then asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum OpenTo {
    /// Signed-in people with their own token, API keys with the tenant's server key.
    Members,
    /// Anybody: without a credential, or with the server key where the tenant's settings say so; never with a person's token.
    Everybody,
}

/// How long an answer may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Keep {
    Never,
    /// One task: long once it has ended, else for a moment.
    Task,
    /// What a task has found: long once the task has ended, else for a moment.
    OfTask,
    /// A list that others change: for a moment.
    List,
    /// The state of something that runs: for a moment.
    Poll,
    /// The same for everybody and for long.
    Constant,
}

/// What kept answers are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gateway) enum Subject {
    /// Lists of tasks.
    TaskLists,
    /// Single tasks and what they found.
    Tasks,
    Shares,
}

/// Whether a request may be sent a second time after a connect error or 502, 503, 504.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Repeat {
    /// A read: sending it twice is sending it once.
    Safe,
    Never,
}

impl Verb {
    pub(in crate::gateway) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Keep {
    /// What its answers are about, where something ends them.
    pub(in crate::gateway) const fn subject(self) -> Option<Subject> {
        match self {
            Self::Task | Self::OfTask => Some(Subject::Tasks),
            Self::List => Some(Subject::TaskLists),
            Self::Never | Self::Poll | Self::Constant => None,
        }
    }
}

impl Route {
    /// The names of the path's parameters, in order.
    pub(in crate::gateway) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// The path as callers see it.
    pub(in crate::gateway) fn public_path(&self) -> String {
        match self.under {
            Under::Prefix => format!("{}{}", paths::PREFIX, self.path),
            Under::Base => self.path.to_owned(),
        }
    }
}

/// A read by `GET`, the most careful in everything else.
const GET: Route = Route {
    name: "",
    verb: Verb::Get,
    path: "",
    under: Under::Prefix,
    query: &[],
    body: Body::Nothing,
    answer: Answer::Json,
    open_to: OpenTo::Members,
    keep: Keep::Never,
    ends: &[],
    repeat: Repeat::Safe,
    polls: false,
    is_addition: false,
    about: "",
};
/// A change by `POST` of JSON.
const POST: Route = Route { verb: Verb::Post, body: Body::Json, repeat: Repeat::Never, ..GET };
/// A read by `POST` of JSON.
const SEARCH: Route = Route { verb: Verb::Post, body: Body::Json, ..GET };
/// A change that answers nothing.
const CHANGE: Route = Route { answer: Answer::Nothing, ..POST };
/// A read of a public share.
const SHARED: Route = Route { open_to: OpenTo::Everybody, ..GET };
/// The same with an extraction code: tried codes are counted, so it is not sent twice.
const EXTRACT: Route = Route { verb: Verb::Post, body: Body::Json, repeat: Repeat::Never, ..SHARED };

/// All operations. A fixed segment stands before a parameter that would match it.
pub(in crate::gateway) const TABLE: &[Route] = &[
    // Tasks.
    Route { name: "createTask", path: paths::TASKS_CREATE, ends: &[Subject::TaskLists], about: "Start a scan", ..POST },
    Route {
        name: "createTaskGroup",
        path: paths::TASKS_CREATE_GROUP,
        ends: &[Subject::TaskLists],
        about: "Start scans of several artifacts that belong together",
        ..POST
    },
    Route { name: "searchTasks", path: paths::TASKS_SEARCH, keep: Keep::List, about: "List tasks", ..SEARCH },
    Route {
        name: "terminateTasks",
        path: paths::TASKS_TERMINATE,
        ends: &[Subject::TaskLists, Subject::Tasks],
        about: "End running tasks",
        ..CHANGE
    },
    Route {
        name: "deleteTasks",
        path: paths::TASKS_DELETE,
        ends: &[Subject::TaskLists, Subject::Tasks, Subject::Shares],
        about: "Delete tasks with all they found",
        ..CHANGE
    },
    Route { name: "getTask", path: paths::TASK, keep: Keep::Task, polls: true, about: "One task", ..GET },
    Route {
        name: "statResults",
        path: paths::RESULTS_STAT,
        body: Body::Nothing,
        keep: Keep::OfTask,
        about: "Counts of a task's findings",
        ..SEARCH
    },
    Route { name: "searchResults", path: paths::RESULTS_SEARCH, keep: Keep::OfTask, about: "Findings of a task", ..SEARCH },
    Route { name: "getResult", path: paths::RESULT, keep: Keep::OfTask, about: "One finding", ..GET },
    Route {
        name: "searchExploitChains",
        path: paths::CHAINS_SEARCH,
        keep: Keep::OfTask,
        about: "Exploit chains of a task",
        ..SEARCH
    },
    Route {
        name: "searchComponents",
        path: paths::COMPONENTS_SEARCH,
        keep: Keep::OfTask,
        is_addition: true,
        about: "Components of a task",
        ..SEARCH
    },
    Route {
        name: "getReport",
        path: paths::REPORT,
        query: &["type"],
        answer: Answer::Stream,
        about: "The report of a task as a file",
        ..GET
    },
    // Files.
    Route {
        name: "uploadFile",
        path: paths::FILES_UPLOAD,
        query: &["sha256", "forceUpload"],
        body: Body::Multipart,
        about: "Upload an artifact",
        ..POST
    },
    Route { name: "checkFile", path: paths::FILES_CHECK_EXIST, body: Body::Nothing, about: "Whether a file is there", ..SEARCH },
    // Before a scan.
    Route { name: "createDiagnostics", path: paths::DIAGNOSTICS, about: "Check whether a target can be reached", ..POST },
    Route {
        name: "nextDiagnosticsStage",
        path: paths::DIAGNOSTICS_NEXT,
        keep: Keep::Poll,
        polls: true,
        about: "How far a check is",
        ..GET
    },
    Route { name: "getOwnershipContent", path: paths::DOMAIN_CONTENT, about: "What to publish on a domain", ..GET },
    Route { name: "verifyOwnership", path: paths::DOMAIN_VERIFY, about: "Prove that a domain is yours", ..CHANGE },
    Route { name: "createBrowser", path: paths::BROWSERS, body: Body::Nothing, about: "Open a remote browser", ..POST },
    // Shares.
    Route { name: "createShare", path: paths::SHARES, ends: &[Subject::Shares], about: "Share findings or a report", ..POST },
    Route { name: "searchShares", path: paths::SHARES_SEARCH, about: "List shares", ..SEARCH },
    Route {
        name: "generateShareId",
        path: paths::SHARES_GENERATE_ID,
        body: Body::Nothing,
        about: "An id for a new share",
        ..POST
    },
    Route { name: "deleteShares", path: paths::SHARES_DELETE, ends: &[Subject::Shares], about: "End shares", ..CHANGE },
    Route {
        name: "updateShare",
        verb: Verb::Patch,
        path: paths::SHARE,
        ends: &[Subject::Shares],
        about: "Change a share's end or code",
        ..CHANGE
    },
    Route { name: "getSharedContent", path: paths::SHARE_PUBLIC, about: "What a share without a code shows", ..SHARED },
    Route { name: "extractSharedContent", path: paths::SHARE_PUBLIC, about: "What a share shows to its code", ..EXTRACT },
    Route { name: "getSharedResult", path: paths::SHARE_PUBLIC_VUL, about: "A finding of a share without a code", ..SHARED },
    Route { name: "extractSharedResult", path: paths::SHARE_PUBLIC_VUL, about: "A shared finding, with the code", ..EXTRACT },
    Route {
        name: "extractSharedExploitChain",
        path: paths::SHARE_PUBLIC_CHAIN,
        about: "A shared exploit chain, with the code",
        ..EXTRACT
    },
    // Front-end bootstrap.
    Route {
        name: "getPublishableKey",
        path: paths::PUBLISHABLE_KEY,
        under: Under::Base,
        keep: Keep::Constant,
        about: "The key of the front-end authentication kit",
        ..SHARED
    },
    // Composition analysis without a task (not in the interface's tables).
    Route {
        name: "analyzePom",
        path: paths::SCA_MAVEN,
        body: Body::Multipart,
        answer: Answer::Stream,
        is_addition: true,
        about: "Composition of one Maven project",
        ..POST
    },
    Route {
        name: "analyzePoms",
        path: paths::SCA_MAVEN_ZIP,
        body: Body::Multipart,
        answer: Answer::Stream,
        is_addition: true,
        about: "Composition of a zip of Maven projects",
        ..POST
    },
];

/// The row of this name.
pub(in crate::gateway) fn named(name: &str) -> Option<&'static Route> {
    TABLE.iter().find(|route| route.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_has_a_name_of_its_own_and_no_two_rows_answer_the_same_request() {
        let names: BTreeSet<_> = TABLE.iter().map(|route| route.name).collect();
        assert_eq!(names.len(), TABLE.len());
        let requests: BTreeSet<_> = TABLE.iter().map(|route| (route.verb.as_str(), route.path)).collect();
        assert_eq!(requests.len(), TABLE.len());
        assert!(TABLE.iter().all(|route| !route.about.is_empty() && !route.name.is_empty()));
    }

    #[test]
    fn the_operations_of_the_interface_are_all_there() {
        // 25 of its table, with the two share paths that answer GET and POST, and the four of its workflow.
        assert_eq!(TABLE.iter().filter(|route| !route.is_addition).count(), 29);
        assert_eq!(TABLE.iter().filter(|route| route.is_addition).count(), 3);
    }

    #[test]
    fn only_reads_are_sent_twice_or_kept_and_only_changes_end_what_is_kept() {
        for route in TABLE {
            let reads = route.repeat == Repeat::Safe;
            assert!(reads || route.keep == Keep::Never, "{}", route.name);
            assert!(!reads || route.ends.is_empty(), "{}", route.name);
            assert!(route.verb != Verb::Get || reads, "{}", route.name);
            assert!(route.open_to == OpenTo::Members || matches!(route.keep, Keep::Never | Keep::Constant), "{}", route.name);
        }
    }
}
