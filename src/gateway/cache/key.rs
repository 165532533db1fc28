//! What a question is, for the cache: everything that the answer may depend on. No two of these can run together, because each
//! stands with its kind and length; no token, key or cookie is among them.

use http::{HeaderMap, HeaderName};

use super::canonical::{canonical, part};
use crate::gateway::domain::role::Role;
use crate::gateway::domain::route_table::{Body, Keep, Route, Subject};
use crate::gateway::domain::tenant::TenantId;
use crate::platform::digest::sha256;

/// Whose answer it is. What is kept for one is never given to another.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) enum Whose<'a> {
    /// A person, by `Principal::key`, with the role and the authorization generation that they have now.
    User { key: &'a str, role: Role, generation: u64 },
    /// Everybody who asks with this server key of the tenant, by its id in the vault.
    ServerKey { id: &'a str },
    /// Whoever holds an access token: a keyed hash of it. Nobody here knows when it ends or whether it was taken back, so what
    /// a task that has ended found is kept for it for a moment only.
    Token { fingerprint: &'a [u8; 32] },
    /// Asked without a credential.
    Public,
}

/// A request for the service, as its caller made it.
#[derive(Clone, Copy, Debug)]
pub(in crate::gateway) struct Asked<'a> {
    pub(in crate::gateway) tenant: &'a TenantId,
    pub(in crate::gateway) whose: Whose<'a>,
    pub(in crate::gateway) route: &'static Route,
    /// Decoded, in the order of the path.
    pub(in crate::gateway) parameters: &'a [String],
    /// As it came; `None` without a question mark.
    pub(in crate::gateway) query: Option<&'a str>,
    /// As it came; counts where the operation has a body.
    pub(in crate::gateway) body: &'a [u8],
    /// The caller's headers, and the names of those that the service hears: all their values count, byte by byte.
    pub(in crate::gateway) headers: (&'a HeaderMap, &'a [HeaderName]),
}

/// A question. Made once for each request; equal questions have equal digests.
#[derive(Clone, Debug)]
pub(in crate::gateway) struct Question {
    pub(super) tenant: TenantId,
    pub(super) keep: Keep,
    pub(super) digest: [u8; 32],
    /// Only the service knows whether whoever asks still may: it is asked again soon.
    pub(super) is_brief: bool,
    /// The parts, of which those up to `about` say whose task it is.
    parts: Vec<u8>,
    about: usize,
}

impl Question {
    /// Brings the body into form and takes the digest. Reads nothing of a request whose answer is never kept.
    pub(in crate::gateway) fn new(asked: &Asked<'_>) -> Self {
        let Asked { tenant, route, .. } = *asked;
        let keep = route.keep;
        let is_brief = matches!(asked.whose, Whose::Token { .. });
        if keep == Keep::Never {
            return Self { tenant: tenant.clone(), keep, digest: [0; 32], is_brief, parts: Vec::new(), about: 0 };
        }
        let mut parts = Vec::with_capacity(256 + asked.body.len());
        part(&mut parts, b't', tenant.as_str().as_bytes());
        whose(&mut parts, asked.whose);
        let mut about = 0;
        if matches!(keep, Keep::Task | Keep::OfTask)
            && let Some(at) = route.parameters().position(|name| name == "taskId")
        {
            part(&mut parts, b'k', asked.parameters.get(at).map_or(b"", |task| task.as_bytes()));
            about = parts.len();
        }
        part(&mut parts, b'o', route.name.as_bytes());
        for parameter in asked.parameters {
            part(&mut parts, b'p', parameter.as_bytes());
        }
        if let Some(query) = asked.query {
            part(&mut parts, b'q', query.as_bytes());
        }
        if route.body == Body::Json {
            match canonical(asked.body) {
                Some(form) => part(&mut parts, b'j', &form),
                None => part(&mut parts, b'b', asked.body),
            }
        }
        let (headers, heard) = asked.headers;
        for name in heard {
            for value in headers.get_all(name) {
                part(&mut parts, b'h', name.as_str().as_bytes());
                part(&mut parts, b'l', value.as_bytes());
            }
        }
        Self { tenant: tenant.clone(), keep, digest: sha256(&parts), is_brief, parts, about }
    }

    /// What the answer is about, where a change can end it.
    pub(super) const fn subject(&self) -> Option<Subject> {
        self.keep.subject()
    }

    /// Stands for one task of one asker; `None` where the question is not about a task.
    pub(super) fn task(&self) -> Option<[u8; 32]> {
        self.parts.get(..self.about).filter(|parts| !parts.is_empty()).map(sha256)
    }
}

fn whose(parts: &mut Vec<u8>, whose: Whose<'_>) {
    match whose {
        Whose::User { key, role, generation } => {
            part(parts, b'u', key.as_bytes());
            part(parts, b'r', if role == Role::Administrator { b"administrator" } else { b"member" });
            part(parts, b'g', &generation.to_be_bytes());
        }
        Whose::ServerKey { id } => part(parts, b'v', id.as_bytes()),
        Whose::Token { fingerprint } => part(parts, b'f', fingerprint),
        Whose::Public => part(parts, b'e', b""),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use http::HeaderValue;
    use http::header::{ACCEPT_LANGUAGE, CONTENT_LANGUAGE};
    use proptest::prelude::*;

    use super::*;
    use crate::gateway::domain::route_table::{TABLE, named};

    /// Everything a question is made of, owned.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Parts {
        tenant: String,
        whose: Owner,
        route: &'static str,
        parameters: Vec<String>,
        query: Option<String>,
        body: String,
        language: HeaderMap,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Owner {
        User(String, bool, u64),
        ServerKey(String),
        Token([u8; 32]),
        Public,
    }

    impl Parts {
        fn question(&self) -> Question {
            let whose = match &self.whose {
                Owner::User(key, administrator, generation) => {
                    let role = if *administrator { Role::Administrator } else { Role::Member };
                    Whose::User { key, role, generation: *generation }
                }
                Owner::ServerKey(id) => Whose::ServerKey { id },
                Owner::Token(fingerprint) => Whose::Token { fingerprint },
                Owner::Public => Whose::Public,
            };
            Question::new(&Asked {
                tenant: &TenantId::parse(&self.tenant).unwrap(),
                whose,
                route: named(self.route).unwrap(),
                parameters: &self.parameters,
                query: self.query.as_deref(),
                body: self.body.as_bytes(),
                headers: (&self.language, &[ACCEPT_LANGUAGE, CONTENT_LANGUAGE]),
            })
        }
    }

    fn kept_routes() -> Vec<&'static str> {
        TABLE.iter().filter(|route| route.keep != Keep::Never).map(|route| route.name).collect()
    }

    fn headers(lines: Vec<(bool, String)>) -> HeaderMap {
        let name = |first: bool| if first { ACCEPT_LANGUAGE } else { CONTENT_LANGUAGE };
        lines.into_iter().map(|(first, word)| (name(first), HeaderValue::try_from(word).unwrap())).fold(
            HeaderMap::new(),
            |mut all, (name, value)| {
                all.append(name, value);
                all
            },
        )
    }

    fn any_parts() -> impl Strategy<Value = Parts> {
        // Few and short words, so that parts often agree and boundaries are all that tells them apart.
        let word = || "[ab:;0]{0,3}";
        let whose = prop_oneof![
            (word(), any::<bool>(), 0..3_u64).prop_map(|(key, role, generation)| Owner::User(key, role, generation)),
            word().prop_map(Owner::ServerKey),
            (0..3_u8).prop_map(|byte| Owner::Token([byte; 32])),
            Just(Owner::Public),
        ];
        (
            prop_oneof![Just("acme".to_owned()), Just("acm".to_owned()), Just("globex".to_owned())],
            whose,
            proptest::sample::select(kept_routes()),
            proptest::collection::vec(word(), 0..3),
            proptest::option::of(word()),
            word(),
            proptest::collection::vec((any::<bool>(), word()), 0..3).prop_map(headers),
        )
            .prop_map(|(tenant, whose, route, parameters, query, body, language)| Parts {
                tenant,
                whose,
                route,
                parameters,
                query,
                body,
                language,
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn different_questions_have_different_keys_and_equal_ones_the_same(left in any_parts(), right in any_parts()) {
            let same_body = left.body == right.body
                || named(left.route).unwrap().body != Body::Json
                || canonical(left.body.as_bytes()).is_some_and(|form| Some(form) == canonical(right.body.as_bytes()));
            let same = Parts { body: right.body.clone(), ..left.clone() } == right && same_body;
            prop_assert_eq!(left.question().digest == right.question().digest, same);
            prop_assert_eq!(left.question().digest, left.clone().question().digest);
        }
    }

    #[test]
    fn no_two_askers_share_a_key() {
        let parts = Parts {
            tenant: "acme".to_owned(),
            whose: Owner::Public,
            route: "getTask",
            parameters: vec!["1".to_owned()],
            query: None,
            body: String::new(),
            language: HeaderMap::new(),
        };
        let owners = [
            Owner::User("alice".to_owned(), false, 0),
            Owner::User("bob".to_owned(), false, 0),
            Owner::User("alice".to_owned(), true, 0),
            Owner::User("alice".to_owned(), false, 1),
            Owner::ServerKey("alice".to_owned()),
            Owner::Token(*b"alicealicealicealicealicealiceal"),
            Owner::Public,
        ];
        let mut seen = BTreeMap::new();
        for tenant in ["acme", "globex"] {
            for whose in &owners {
                let question = Parts { tenant: tenant.to_owned(), whose: whose.clone(), ..parts.clone() }.question();
                assert_eq!(seen.insert(question.digest, (tenant, whose)), None);
                assert_eq!(seen.insert(question.task().unwrap(), (tenant, whose)), None);
            }
        }
    }

    #[test]
    fn findings_of_a_task_know_the_task_and_what_is_never_kept_is_not_looked_at() {
        let of = |route, parameters: &[&str], body: &str| {
            let parameters = parameters.iter().map(|text| (*text).to_owned()).collect();
            let whose = Owner::ServerKey("k".to_owned());
            let tenant = "acme".to_owned();
            Parts { tenant, whose, route, parameters, query: None, body: body.to_owned(), language: HeaderMap::new() }.question()
        };
        let task = of("getTask", &["1"], "");
        assert_eq!(of("getResult", &["1", "2"], "").task(), task.task());
        assert_eq!(of("searchResults", &["1"], "{}").task(), task.task());
        assert_ne!(of("statResults", &["2"], "").task(), task.task());
        assert_eq!(of("searchTasks", &[], "{}").task(), None);
        let (one, other) = (of("createTask", &[], "{\"a\":1}"), of("createTask", &[], "{}"));
        assert_eq!((one.digest, one.keep), (other.digest, Keep::Never));
    }
}
