//! A small browser without script: cookies per host, no redirect by itself, forms read from pages, `*.localhost` on loopback.

use std::collections::BTreeMap;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, multipart};
use url::Url;

/// A user agent. Cloning it copies its cookies, as somebody who steals them would.
#[derive(Clone)]
pub(crate) struct Browser {
    http: Client,
    /// What it says of itself; nothing when empty.
    pub(crate) agent: &'static str,
    /// By host without port, then by path and name.
    cookies: BTreeMap<String, BTreeMap<(String, String), String>>,
}

/// What came back, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

/// How a request differs from what a page of the same origin would send; `None` leaves the header out.
#[derive(Clone, Default)]
pub(crate) struct Manners {
    pub(crate) fetch_site: Option<&'static str>,
    pub(crate) origin: Option<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// A client for tests: no proxy, no redirects, names below localhost on loopback as browsers do.
#[expect(clippy::disallowed_methods, reason = "tests are clients")]
pub(crate) fn http() -> Client {
    let mut builder = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    for host in ["localhost", "acme.localhost", "globex.localhost", "nobody.localhost"] {
        builder = builder.resolve(host, ([127, 0, 0, 1], 0).into());
    }
    builder.build().unwrap()
}

impl Browser {
    pub(crate) fn new() -> Self {
        Self { http: http(), agent: "", cookies: BTreeMap::new() }
    }

    /// What a person does who types or clicks an address.
    pub(crate) async fn get(&mut self, url: &str) -> Answer {
        let navigation = vec![("accept", "text/html".to_owned()), ("sec-fetch-mode", "navigate".to_owned())];
        self.send(Method::GET, url, &Manners { headers: navigation, ..Manners::default() }, |request| request).await
    }

    /// Follows redirects of GETs until a page comes.
    pub(crate) async fn open(&mut self, url: &str) -> Answer {
        let answer = self.get(url).await;
        self.follow(answer).await
    }

    pub(crate) async fn follow(&mut self, mut answer: Answer) -> Answer {
        let mut hops = 0;
        while let Some(next) = answer.location() {
            hops += 1;
            assert!(hops < 10, "redirects without end, at {}", answer.url);
            answer = self.get(next.as_str()).await;
        }
        answer
    }

    /// Sends a form as a page of the same origin does; does not follow.
    pub(crate) async fn post(&mut self, url: &str, fields: &[(&str, &str)]) -> Answer {
        let manners = Self::own_manners(url);
        self.post_as(url, fields, &manners).await
    }

    /// Sends a form with other manners.
    pub(crate) async fn post_as(&mut self, url: &str, fields: &[(&str, &str)], manners: &Manners) -> Answer {
        self.send(Method::POST, url, manners, |request| request.form(fields)).await
    }

    /// Sends a form with a file as a page of the same origin does; does not follow.
    pub(crate) async fn post_file(&mut self, url: &str, form: multipart::Form) -> Answer {
        let manners = Self::own_manners(url);
        self.send(Method::POST, url, &manners, |request| request.multipart(form)).await
    }

    /// What a page of the same origin sends along.
    pub(crate) fn own_manners(url: &str) -> Manners {
        let origin = Url::parse(url).unwrap().origin().ascii_serialization();
        let navigation = vec![("accept", "text/html".to_owned()), ("sec-fetch-mode", "navigate".to_owned())];
        Manners { fetch_site: Some("same-origin"), origin: Some(origin), headers: navigation }
    }

    /// Sends any request with the cookies of its host and keeps those of the answer.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        url: &str,
        manners: &Manners,
        change: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder,
    ) -> Answer {
        let url = Url::parse(url).unwrap();
        let mut request = self.http.request(method, url.clone());
        if let Some(site) = manners.fetch_site {
            request = request.header("sec-fetch-site", site);
        }
        if let Some(origin) = &manners.origin {
            request = request.header("origin", origin);
        }
        if !self.agent.is_empty() {
            request = request.header("user-agent", self.agent);
        }
        let own: HeaderMap = manners
            .headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .collect();
        let cookies = self.cookies_for(&url);
        if !cookies.is_empty() {
            request = request.header("cookie", cookies);
        }
        let response = change(request.headers(own)).send().await.unwrap();
        self.keep(&url, &response);
        Answer {
            url,
            status: response.status(),
            headers: response.headers().clone(),
            bytes: response.bytes().await.unwrap().to_vec(),
        }
    }

    /// The `Cookie` header for an address.
    pub(crate) fn cookies_for(&self, url: &Url) -> String {
        let Some(kept) = self.cookies.get(url.host_str().unwrap_or_default()) else { return String::new() };
        let fits = |path: &str| {
            let rest = url.path().strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || path.ends_with('/'))
        };
        let pairs = kept.iter().filter(|((path, _), _)| fits(path)).map(|((_, name), value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// The value of a cookie of a host.
    pub(crate) fn cookie(&self, host: &str, name: &str) -> Option<String> {
        self.cookies.get(host)?.iter().find(|((_, known), _)| known == name).map(|(_, value)| value.clone())
    }

    /// Name and value of the one grant of a share a host gave.
    pub(crate) fn share_cookie(&self, host: &str) -> (String, String) {
        let kept = self.cookies[host].iter().find(|((_, name), _)| name.contains("share"));
        kept.map(|((_, name), value)| (name.clone(), value.clone())).unwrap()
    }

    /// Puts a cookie where it does not belong.
    pub(crate) fn plant(&mut self, host: &str, name: &str, value: &str) {
        self.cookies.entry(host.to_owned()).or_default().insert(("/".to_owned(), name.to_owned()), value.to_owned());
    }

    fn keep(&mut self, url: &Url, response: &Response) {
        let kept = self.cookies.entry(url.host_str().unwrap_or_default().to_owned()).or_default();
        for line in response.headers().get_all("set-cookie") {
            let mut parts = line.to_str().unwrap().split(';').map(str::trim);
            let (name, value) = parts.next().and_then(|pair| pair.split_once('=')).unwrap();
            let (mut path, mut gone) = ("/".to_owned(), value.is_empty());
            for attribute in parts {
                let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
                match key.to_ascii_lowercase().as_str() {
                    "path" => value.clone_into(&mut path),
                    "max-age" => gone |= value == "0",
                    _ => {}
                }
            }
            if gone {
                kept.remove(&(path, name.to_owned()));
            } else {
                kept.insert((path, name.to_owned()), value.to_owned());
            }
        }
    }
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// One header, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Where it redirects to.
    pub(crate) fn location(&self) -> Option<Url> {
        self.status.is_redirection().then(|| self.url.join(self.header("location")).unwrap())
    }

    /// An address relative to this page.
    pub(crate) fn resolve(&self, href: &str) -> String {
        self.url.join(&unescape(href)).unwrap().into()
    }

    /// The value of a hidden field.
    #[track_caller]
    pub(crate) fn hidden(&self, name: &str) -> String {
        let page = self.text();
        let marker = format!("name=\"{name}\" value=\"");
        let found = page.split(&marker).nth(1);
        assert!(found.is_some(), "{} ({}) has no field {name}: {page}", self.url, self.status);
        unescape(found.unwrap().split('"').next().unwrap())
    }

    /// All addresses in `attribute` (`href`, `action`) that contain `part`, in the order of the page.
    pub(crate) fn links(&self, attribute: &str, part: &str) -> Vec<String> {
        let page = self.text();
        let marker = format!(" {attribute}=\"");
        let values = page.split(&marker).skip(1).filter_map(|rest| rest.split('"').next());
        values.map(unescape).filter(|value| value.contains(part)).map(|value| self.resolve(&value)).collect()
    }

    /// The first of them.
    #[track_caller]
    pub(crate) fn link(&self, attribute: &str, part: &str) -> String {
        let found = self.links(attribute, part).into_iter().next();
        assert!(found.is_some(), "{} ({}) has no {attribute} with {part}: {}", self.url, self.status, self.text());
        found.unwrap()
    }

    /// The text of the element with an id, up to its first tag.
    #[track_caller]
    pub(crate) fn by_id(&self, id: &str) -> String {
        let page = self.text();
        let rest = page.split(&format!("id=\"{id}\"")).nth(1);
        assert!(rest.is_some(), "{} has no #{id}: {page}", self.url);
        unescape(rest.unwrap().split_once('>').unwrap().1.split('<').next().unwrap().trim())
    }
}

/// Undoes the escapes pages are written with.
pub(crate) fn unescape(text: &str) -> String {
    let mut text = text.to_owned();
    for (escaped, plain) in [("&#38;", "&"), ("&amp;", "&"), ("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'")] {
        text = text.replace(escaped, plain);
    }
    text
}
