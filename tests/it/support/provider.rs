//! An identity provider that does what a test tells it: plain OAuth 2.0 with refresh tokens that are used up, a whole family
//! revoked when one comes twice, and every odd answer a token endpoint can give. Whoever is sent to it is signed in at once.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use super::openid::{OpenId, now};
use super::spawn;

/// What the token endpoint does with a grant.
#[derive(Clone)]
pub(crate) enum Grant {
    /// As it should.
    Good,
    /// This status and body.
    Say(u16, &'static str, String),
}

/// The behaviour of a provider, to be changed while it runs.
pub(crate) struct State {
    /// Who is signed in when the browser comes: claims of userinfo.
    pub(crate) person: Map<String, Value>,
    /// It knows the browser: nobody is asked unless the portal wants it (`prompt=login`).
    pub(crate) remembers: bool,
    /// When the person was asked last, in seconds, as it tells (`auth_time`).
    pub(crate) asked_at: i64,
    /// Whether it tells that.
    pub(crate) tells_when: bool,
    /// How long the token endpoint thinks.
    pub(crate) latency: Duration,
    /// How long userinfo thinks.
    pub(crate) userinfo_latency: Duration,
    pub(crate) on_code: Grant,
    pub(crate) on_refresh: Grant,
    /// Seconds that an access token lives, as told; `None` tells nothing.
    pub(crate) lifetime: Option<u64>,
    /// A refresh gives a new refresh token and uses the old one up.
    pub(crate) rotates: bool,
    /// Changes an answer of the token endpoint before it is sent.
    pub(crate) edit: fn(&mut Map<String, Value>),
    /// `state` and so on are sent back with this besides.
    pub(crate) callback_extra: Vec<(String, String)>,
    /// So many requests to take a token back are answered 503 first.
    pub(crate) revocation_outage: usize,
    /// What it adds as an OpenID provider; `None` while it is none.
    pub(crate) openid: Option<OpenId>,
    seen: Seen,
    codes: BTreeSet<String>,
    families: BTreeMap<String, Family>,
    count: usize,
}

/// How often what was asked, since the start.
#[derive(Clone, Default, Debug)]
pub(crate) struct Seen {
    pub(crate) codes: usize,
    /// Refresh grants that were answered with tokens.
    pub(crate) refreshes: usize,
    /// Refresh grants that came, whatever the answer was.
    pub(crate) asked: usize,
    /// Refresh tokens that came a second time, which ends the sign-in here.
    pub(crate) reused: usize,
    pub(crate) userinfo: usize,
    pub(crate) revoked: Vec<String>,
    /// Bodies of the token endpoint's requests.
    pub(crate) forms: Vec<BTreeMap<String, String>>,
}

#[derive(Default)]
struct Family {
    access: BTreeSet<String>,
    newest_access: String,
    refresh: String,
    used: BTreeSet<String>,
    is_revoked: bool,
}

/// A running provider. It ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Provider {
    pub(crate) issuer: String,
    state: Arc<Mutex<State>>,
}

impl Provider {
    pub(crate) async fn start() -> Self {
        Self::listen("127.0.0.1:0").await
    }

    /// At a certain address.
    pub(crate) async fn listen(at: &str) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            person: person("7", "Dora", "administrator"),
            remembers: false,
            asked_at: 0,
            tells_when: true,
            latency: Duration::ZERO,
            userinfo_latency: Duration::ZERO,
            on_code: Grant::Good,
            on_refresh: Grant::Good,
            lifetime: Some(3600),
            rotates: true,
            edit: |_| {},
            callback_extra: Vec::new(),
            revocation_outage: 0,
            openid: None,
            seen: Seen::default(),
            codes: BTreeSet::new(),
            families: BTreeMap::new(),
            count: 0,
        };
        let provider = Self { issuer, state: Arc::new(Mutex::new(state)) };
        let serving = provider.clone();
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let provider = serving.clone();
                spawn(async move {
                    let answer = service_fn(move |request| {
                        let provider = provider.clone();
                        async move { Ok::<_, Infallible>(provider.answer(request).await) }
                    });
                    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        provider
    }

    /// The behaviour, to look at or to change. Not held over a wait.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn seen(&self) -> Seen {
        self.state().seen.clone()
    }

    /// Whether this access token is the newest of a living sign-in.
    pub(crate) fn is_newest(&self, access: &str) -> bool {
        self.state().families.values().any(|family| !family.is_revoked && family.newest_access == access)
    }

    /// Whether the scanning service should believe this access token.
    pub(crate) fn believes(&self, access: &str) -> bool {
        self.state().families.values().any(|family| !family.is_revoked && family.access.contains(access))
    }

    /// From now on no earlier access token is believed, as when a service restarts with new keys.
    pub(crate) fn forget_access_tokens(&self) {
        for family in self.state().families.values_mut() {
            family.access.clear();
        }
    }

    /// Every token it gave out, for looking for them where they must not be.
    pub(crate) fn all_tokens(&self) -> Vec<String> {
        let state = self.state();
        let of =
            |family: &Family| family.used.iter().chain([&family.refresh, &family.newest_access]).cloned().collect::<Vec<_>>();
        state.families.values().flat_map(of).collect()
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let query = form(head.uri.query().unwrap_or_default());
        let bearer = head.headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        if head.uri.path().starts_with("/.well-known/") && self.state().openid.as_ref().is_some_and(|openid| openid.is_silent) {
            return std::future::pending().await;
        }
        match head.uri.path() {
            "/oauth/authorize" => self.authorize(&query),
            "/oauth/token" => self.token(form(&String::from_utf8_lossy(&body))).await,
            "/oauth/userinfo" => {
                let latency = self.state().userinfo_latency;
                tokio::time::sleep(latency).await;
                self.userinfo(bearer.trim_start_matches("Bearer "))
            }
            "/oauth/revoke" => {
                let token = form(&String::from_utf8_lossy(&body)).remove("token").unwrap_or_default();
                let mut state = self.state();
                if state.revocation_outage > 0 {
                    state.revocation_outage -= 1;
                    return json_answer(503, &json!({}));
                }
                for family in state.families.values_mut().filter(|family| family.refresh == token) {
                    family.is_revoked = true;
                }
                state.seen.revoked.push(token);
                json_answer(200, &json!({}))
            }
            path => self
                .state()
                .openid
                .as_mut()
                .and_then(|openid| openid.answer(path, &query))
                .unwrap_or_else(|| json_answer(404, &json!({ "error": "not_found" }))),
        }
    }

    fn authorize(&self, query: &BTreeMap<String, String>) -> Response<Full<Bytes>> {
        let mut state = self.state();
        if !state.remembers || query.get("prompt").is_some_and(|prompt| prompt == "login") {
            state.asked_at = now();
        }
        state.count += 1;
        let code = format!("code-{}-{}", state.count, "c".repeat(24));
        if let Some(openid) = &mut state.openid {
            openid.asked(&code, query.get("nonce"));
        }
        state.codes.insert(code.clone());
        let mut back = url::Url::parse(&query["redirect_uri"]).unwrap();
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &query["state"]);
        back.query_pairs_mut().extend_pairs(&state.callback_extra);
        Response::builder().status(302).header("location", back.as_str()).body(Full::default()).unwrap()
    }

    async fn token(&self, form: BTreeMap<String, String>) -> Response<Full<Bytes>> {
        let (latency, grant) = {
            let mut state = self.state();
            state.seen.forms.push(form.clone());
            let refresh = form.get("grant_type").is_some_and(|grant| grant == "refresh_token");
            state.seen.asked += usize::from(refresh);
            (state.latency, if refresh { state.on_refresh.clone() } else { state.on_code.clone() })
        };
        tokio::time::sleep(latency).await;
        match grant {
            Grant::Good => self.give(&form),
            Grant::Say(status, kind, body) => {
                Response::builder().status(status).header("content-type", kind).body(Full::from(body)).unwrap()
            }
        }
    }

    fn give(&self, form: &BTreeMap<String, String>) -> Response<Full<Bytes>> {
        let refused = || json_answer(400, &json!({ "error": "invalid_grant" }));
        let mut state = self.state();
        state.count += 1;
        let count = state.count;
        let (access, fresh) = (format!("access-{count}-{}", "a".repeat(30)), format!("refresh-{count}-{}", "r".repeat(30)));
        let name = if form.get("grant_type").is_some_and(|grant| grant == "refresh_token") {
            let sent = form.get("refresh_token").cloned().unwrap_or_default();
            let known = state.families.iter_mut().find(|(_, family)| family.refresh == sent || family.used.contains(&sent));
            let Some((name, family)) = known else { return refused() };
            let name = name.clone();
            if family.is_revoked {
                return refused();
            }
            if family.used.contains(&sent) {
                family.is_revoked = true;
                state.seen.reused += 1;
                return refused();
            }
            state.seen.refreshes += 1;
            name
        } else {
            if form.get("code").is_none_or(|code| !state.codes.remove(code)) {
                return refused();
            }
            state.seen.codes += 1;
            let name = format!("family-{count}");
            state.families.insert(name.clone(), Family { refresh: fresh.clone(), ..Family::default() });
            name
        };
        let (rotates, lifetime, edit) = (state.rotates, state.lifetime, state.edit);
        let family = state.families.get_mut(&name).unwrap();
        if rotates && family.refresh != fresh {
            let old = std::mem::replace(&mut family.refresh, fresh);
            family.used.insert(old);
        }
        family.access.insert(access.clone());
        family.newest_access.clone_from(&access);
        let mut answer = json!({ "access_token": access, "refresh_token": family.refresh, "token_type": "Bearer" });
        let fields = answer.as_object_mut().unwrap();
        if let Some(seconds) = lifetime {
            fields.insert("expires_in".to_owned(), json!(seconds));
        }
        if let Some(openid) = &state.openid {
            fields.insert("id_token".to_owned(), json!(openid.id_token(&state.person["sub"], form.get("code"))));
        }
        edit(fields);
        json_answer(200, &answer)
    }

    fn userinfo(&self, access: &str) -> Response<Full<Bytes>> {
        let mut state = self.state();
        state.seen.userinfo += 1;
        let known = state.families.values().any(|family| !family.is_revoked && family.access.contains(access));
        let mut claims = state.person.clone();
        if state.tells_when {
            claims.insert("auth_time".to_owned(), state.asked_at.into());
        }
        if known { json_answer(200, &Value::Object(claims)) } else { json_answer(401, &json!({})) }
    }
}

/// Claims of a person.
pub(crate) fn person(subject: &str, name: &str, role: &str) -> Map<String, Value> {
    let claims =
        json!({ "sub": subject, "name": name, "email": format!("{}@acme.example", name.to_lowercase()), "roles": [role] });
    claims.as_object().unwrap().clone()
}

fn form(text: &str) -> BTreeMap<String, String> {
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

pub(super) fn json_answer(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let builder = Response::builder().status(status).header("content-type", "application/json");
    builder.body(Full::from(body.to_string())).unwrap()
}
