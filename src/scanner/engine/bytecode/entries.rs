//! Where an application begins: main methods, servlets, filters, and handlers of Spring and JAX-RS.

use super::annotations::Annotation;
use super::graph::{Graph, MethodId};
use super::reader::{Class, Method};
use crate::scanner::engine::budget::Pace;

const SPRING: &str = "org/springframework/web/bind/annotation/";
const JAX_RS: [&str; 2] = ["javax/ws/rs/", "jakarta/ws/rs/"];
const VERBS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"];
const WEB_SERVLET: [&str; 4] = [
    "javax/servlet/annotation/WebServlet",
    "jakarta/servlet/annotation/WebServlet",
    "javax/servlet/annotation/WebFilter",
    "jakarta/servlet/annotation/WebFilter",
];
const SERVLETS: [&str; 8] = [
    "javax/servlet/http/HttpServlet",
    "jakarta/servlet/http/HttpServlet",
    "javax/servlet/GenericServlet",
    "jakarta/servlet/GenericServlet",
    "javax/servlet/Servlet",
    "jakarta/servlet/Servlet",
    "javax/servlet/Filter",
    "jakarta/servlet/Filter",
];
const SERVLET_METHODS: [(&str, &str); 8] = [
    ("doGet", "GET"),
    ("doPost", "POST"),
    ("doPut", "PUT"),
    ("doDelete", "DELETE"),
    ("doHead", "HEAD"),
    ("doOptions", "OPTIONS"),
    ("service", ""),
    ("doFilter", ""),
];

/// How an application is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scanner::engine) enum EntryKind {
    Main,
    /// A servlet or filter, if its class turns out to be one.
    Servlet,
    /// A handler that annotations name.
    Handler,
}

/// A method that is called from outside.
#[derive(Clone, Debug)]
pub(in crate::scanner::engine) struct Entry {
    pub(super) method: MethodId,
    pub(in crate::scanner::engine) kind: EntryKind,
    /// `GET`; empty when any or unknown.
    pub(in crate::scanner::engine) verb: String,
    /// The path pattern; empty when unknown.
    pub(in crate::scanner::engine) path: String,
}

/// Whether instances of this platform type are run by somebody else once they exist.
pub(super) fn is_task(class: &str) -> bool {
    class.starts_with("java/util/function/") || matches!(class, "java/lang/Runnable" | "java/util/concurrent/Callable")
}

/// What `method` begins, by its own look. Servlets of libraries are kept too, as a deployment descriptor may name them.
pub(super) fn of(class: &Class, method: &Method, is_application: bool) -> Option<Entry> {
    if !method.has_body {
        return None;
    }
    let entry = |kind, verb: &str, path: String| Some(Entry { method: 0, kind, verb: verb.to_owned(), path });
    if method.name == "main" && method.is_static && method.is_public && method.descriptor == "([Ljava/lang/String;)V" {
        return entry(EntryKind::Main, "", String::new());
    }
    if let Some((_, verb)) = SERVLET_METHODS.iter().find(|(name, _)| *name == method.name)
        && !method.is_static
        && method.descriptor.contains("/servlet/")
    {
        let declared = class.annotations.iter().find(|one| WEB_SERVLET.contains(&one.class.as_str()));
        let path = declared.and_then(|one| one.texts(&["value", "urlPatterns"]).next()).unwrap_or_default();
        return entry(EntryKind::Servlet, verb, path.to_owned());
    }
    if !is_application {
        return None;
    }
    let (verb, path) = spring(class, method).or_else(|| jax_rs(class, method))?;
    entry(EntryKind::Handler, &verb, path)
}

fn spring(class: &Class, method: &Method) -> Option<(String, String)> {
    let (mapping, name) = method.annotations.iter().find_map(|one| {
        let name = one.class.strip_prefix(SPRING)?.strip_suffix("Mapping")?;
        Some((one, name))
    })?;
    let first = |one: &Annotation| one.texts(&["value", "path"]).next().unwrap_or_default().to_owned();
    let prefix = class.annotations.iter().find(|one| one.class.strip_prefix(SPRING) == Some("RequestMapping")).map(first);
    let verb = match name {
        "Request" => mapping.texts(&["method"]).next().unwrap_or_default().to_owned(),
        name => name.to_ascii_uppercase(),
    };
    Some((verb, join(prefix.as_deref().unwrap_or_default(), &first(mapping))))
}

fn jax_rs(class: &Class, method: &Method) -> Option<(String, String)> {
    let short = |one: &Annotation| JAX_RS.iter().find_map(|prefix| one.class.strip_prefix(prefix)).unwrap_or_default().to_owned();
    let path = |of: &[Annotation]| {
        of.iter().find(|one| short(one) == "Path").and_then(|one| one.texts(&["value"]).next().map(str::to_owned))
    };
    let verb = method.annotations.iter().map(short).find(|name| VERBS.contains(&name.as_str()))?;
    Some((verb, join(&path(&class.annotations).unwrap_or_default(), &path(&method.annotations).unwrap_or_default())))
}

fn join(prefix: &str, path: &str) -> String {
    let mut all = String::new();
    for part in [prefix, path] {
        let part = part.trim_matches('/');
        if !part.is_empty() {
            all.push('/');
            all.push_str(part);
        }
    }
    if all.is_empty() { "/".to_owned() } else { all }
}

/// What begins the application, HTTP first. `mains`: the classes that manifests start (dotted); `mapped`: servlet classes
/// (dotted) and their patterns from deployment descriptors; `any_main`: whether every main of the application counts. What
/// there is no time for is left out.
pub(super) fn all(
    graph: &Graph,
    (mains, any_main): (&[String], bool),
    mapped: &[(String, String)],
    pace: &mut Pace<'_>,
) -> Vec<Entry> {
    let mut found = Vec::new();
    for entry in &graph.entries {
        if !pace.spend(mains.len() + mapped.len()) {
            break;
        }
        let Some(class) = graph.methods.get(entry.method as usize).and_then(|method| graph.classes.get(method.class as usize))
        else {
            continue;
        };
        let dotted = graph.names.text(class.name).replace('/', ".");
        match entry.kind {
            EntryKind::Handler => found.push(entry.clone()),
            EntryKind::Servlet => {
                let pattern = mapped.iter().find(|(name, _)| *name == dotted).map(|(_, pattern)| pattern.clone());
                if (class.is_application || pattern.is_some()) && graph.is_below(class.name, &SERVLETS, pace) {
                    let path = if entry.path.is_empty() { pattern.unwrap_or_default() } else { entry.path.clone() };
                    found.push(Entry { path, ..entry.clone() });
                }
            }
            EntryKind::Main => {
                if mains.contains(&dotted) || (any_main && class.is_application) {
                    found.push(entry.clone());
                }
            }
        }
    }
    found.sort_by_key(|entry| (entry.kind == EntryKind::Main, entry.method));
    found
}
