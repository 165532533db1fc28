//! A gateway in the test's own process, in front of any service, that takes access tokens as bearers.

use cardea::config::{self, Kind, Sources};
use cardea::gateway::Gateway;
use cardea::platform::clock::Clock;
use cardea::platform::shutdown::Shutdown;
use tempfile::TempDir;

use super::redis::free_port;

/// The gateway. It ends with the test.
pub(crate) struct Front {
    pub(crate) base: String,
    pub(crate) shutdown: Shutdown,
    _folder: TempDir,
}

impl Drop for Front {
    fn drop(&mut self) {
        self.shutdown.begin();
    }
}

impl Front {
    /// In front of `service`.
    pub(crate) async fn new(service: &str) -> Self {
        Self::with(service, "").await
    }

    /// With further sections of the settings.
    pub(crate) async fn with(service: &str, extra: &str) -> Self {
        Self::at(Clock::system(), (service, "http://127.0.0.1:9"), extra).await
    }

    /// At a time that the test says, with an identity provider.
    pub(crate) async fn at(clock: Clock, (service, provider): (&str, &str), extra: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let text = format!(
            r#"
[gateway.server]
listen = "127.0.0.1:{port}"
workers = 1
[gateway.session]
cookie_name = "cardea"
[gateway.store]
path = "{path}"
[[gateway.keys]]
id = "k1"
key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
[gateway.tenants.acme]
name = "Acme"
hosts = ["127.0.0.1:{port}"]
public_url = "http://127.0.0.1:{port}"
[gateway.tenants.acme.identity]
auth_url = "{provider}"
scopes = ["profile", "email"]
client_id = "portal"
client_secret = "secret"
[gateway.tenants.acme.service]
base_url = "{service}"
[gateway.tenants.acme.api]
additions = true
access_tokens = true
{extra}"#,
            path = folder.path().join("gateway.redb").display()
        );
        let sources = Sources { own: Some(toml::from_str(&text).unwrap()), ..Sources::default() };
        let settings = config::load(Kind::Serve, &sources).unwrap().gateway.unwrap();
        let shutdown = Shutdown::default();
        let running = Gateway::start(settings, clock, &shutdown).await.unwrap();
        Self { base: format!("http://{}", running.address()), shutdown, _folder: folder }
    }
}
