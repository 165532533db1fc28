//! Gateways as separate processes of the built binary: several on one Redis, or one on its embedded store; with a provider
//! and a scanning service that do what the test says. Two tenants: `acme` and `globex`, told apart by host.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;
use tokio::net::TcpStream;

use super::client::{Answer, Browser};
use super::demo::cardea;
use super::eventually;
use super::provider::Provider;
use super::redis::{RedisServer, free_port};
use super::service::Service;

/// Sealing key of all gateways, unless a test sets others.
pub(crate) const SEALING_KEY: &str = "[[gateway.keys]]\nid = \"k1\"\nkey = \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"\n";
pub(crate) const CLIENT_SECRET: &str = "client-secret-of-the-tests";

/// One gateway process.
pub(crate) struct Replica {
    pub(crate) port: u16,
    /// `http://localhost:PORT`, where tenant acme lives.
    pub(crate) url: String,
    /// The other tenant's.
    pub(crate) globex: String,
    process: Option<Child>,
    log: Arc<Mutex<String>>,
    folder: TempDir,
}

/// Gateways with what is behind them.
pub(crate) struct Replicas {
    pub(crate) provider: Provider,
    pub(crate) service: Service,
    pub(crate) redis: Option<RedisServer>,
    pub(crate) all: Vec<Replica>,
}

/// How the gateways are set up.
#[derive(Clone)]
pub(crate) struct Setup {
    /// Sections that come last in every configuration.
    pub(crate) extra: String,
    pub(crate) keys: String,
    /// Lines of `[gateway.server]` after its address.
    pub(crate) server: String,
    /// Lines of `[gateway.session]` after the cookie's name.
    pub(crate) session: String,
    /// Lines of the identity section of both tenants.
    pub(crate) identity: String,
    /// Lines of `[gateway.store]` after its address or path.
    pub(crate) store: String,
    /// A provider that is there already.
    pub(crate) provider: Option<Provider>,
    /// Another scanning service than the [`Service`].
    pub(crate) base: Option<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            extra: String::new(),
            keys: SEALING_KEY.to_owned(),
            server: String::new(),
            session: String::new(),
            identity: "scopes = [\"profile\", \"email\"]\n".to_owned(),
            store: String::new(),
            provider: None,
            base: None,
        }
    }
}

impl Replicas {
    /// Two gateways on one Redis.
    pub(crate) async fn on_redis() -> Self {
        Self::on_redis_with(2, Setup::default()).await
    }

    pub(crate) async fn on_redis_with(count: usize, setup: Setup) -> Self {
        let redis = RedisServer::start().await;
        Self::start(Some(redis), count, setup).await
    }

    /// Gateways on a Redis that is there already.
    pub(crate) async fn at_redis(redis: RedisServer, count: usize, setup: Setup) -> Self {
        Self::start(Some(redis), count, setup).await
    }

    /// One gateway on its embedded store.
    pub(crate) async fn embedded() -> Self {
        Self::embedded_with(Setup::default()).await
    }

    pub(crate) async fn embedded_with(setup: Setup) -> Self {
        Self::start(None, 1, setup).await
    }

    async fn start(redis: Option<RedisServer>, count: usize, setup: Setup) -> Self {
        let provider = match setup.provider.clone() {
            Some(provider) => provider,
            None => Provider::start().await,
        };
        let service = Service::start(&provider).await;
        let ports: Vec<u16> = (0..count).map(|_| free_port()).collect();
        let mut all = Vec::new();
        for &port in &ports {
            let store = redis.as_ref().map(RedisServer::url);
            let text = configuration(port, &ports, store.as_deref(), &provider, &service, &setup);
            all.push(Replica::start(port, &text).await);
        }
        Self { provider, service, redis, all }
    }

    /// A browser that has signed in at tenant acme through the first gateway. All gateways know it: cookies go by host.
    pub(crate) async fn signed_in(&self) -> Browser {
        let mut browser = Browser::new();
        let page = browser.sign_in_at(&self.all[0].url).await;
        assert_eq!(page.status, 200, "{}", page.text());
        browser
    }

    /// Everything all gateways have logged.
    pub(crate) fn logs(&self) -> String {
        self.all.iter().map(Replica::log).collect()
    }
}

impl Browser {
    /// Signs in as whoever the [`Provider`] has at its door; gives the page that comes after.
    pub(crate) async fn sign_in_at(&mut self, portal: &str) -> Answer {
        self.open(&format!("{portal}/auth/login?return_to=%2Ftasks")).await
    }
}

/// Settings of a gateway on `port`, one of `ports`.
fn configuration(port: u16, ports: &[u16], redis: Option<&str>, provider: &Provider, service: &Service, setup: &Setup) -> String {
    let Setup { extra, keys, server, session, identity, store, base, .. } = setup;
    let store = match redis {
        Some(url) => format!("backend = \"redis\"\nredis_url = \"{url}\"\n{store}"),
        None => format!("path = \"gateway.redb\"\n{store}"),
    };
    let tenant = |id: &str, host: &str| {
        let hosts: Vec<String> = ports.iter().map(|port| format!("\"{host}:{port}\"")).collect();
        format!(
            r#"
[gateway.tenants.{id}]
name = "{id}"
hosts = [{hosts}]
public_url = "http://{host}:{port}"
[gateway.tenants.{id}.identity]
auth_url = "{issuer}"
client_id = "portal"
client_secret = "{CLIENT_SECRET}"
revocation_url = "{issuer}/oauth/revoke"
{identity}
[gateway.tenants.{id}.service]
base_url = "{base}"
"#,
            hosts = hosts.join(", "),
            issuer = provider.issuer,
            base = base.as_ref().unwrap_or(&service.base),
        )
    };
    let (acme, globex) = (tenant("acme", "localhost"), tenant("globex", "globex.localhost"));
    format!(
        r#"
[gateway.server]
listen = "127.0.0.1:{port}"
workers = 2
{server}
[gateway.session]
cookie_name = "cardea"
{session}
[gateway.store]
{store}
{keys}
{acme}{globex}
{extra}"#
    )
}

impl Replica {
    async fn start(port: u16, configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cardea.toml"), configuration).unwrap();
        let (url, globex) = (format!("http://localhost:{port}"), format!("http://globex.localhost:{port}"));
        let mut replica = Self { port, url, globex, process: None, log: Arc::default(), folder };
        replica.resume().await;
        replica
    }

    /// Starts the process again, with the same settings and data.
    pub(crate) async fn resume(&mut self) {
        let mut command = cardea();
        command.args(["serve", "--config", "cardea.toml"]).current_dir(self.folder.path());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        collect(process.stderr.take().unwrap(), &self.log);
        collect(process.stdout.take().unwrap(), &self.log);
        self.process = Some(process);
        let port = self.port;
        eventually("the gateway", async || {
            assert!(self.process.as_mut().unwrap().try_wait().unwrap().is_none(), "it ended: {}", self.log());
            TcpStream::connect(("127.0.0.1", port)).await.ok()
        })
        .await;
    }

    /// Ends the process as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// The most memory it has had since [`Replica::forget_peak`], in KiB.
    pub(crate) fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse().unwrap()
    }

    pub(crate) fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.id()), "5").unwrap();
    }

    /// What its open files are.
    pub(crate) fn open_files(&self) -> Vec<String> {
        let entries = fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap();
        let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        targets.map(|target| target.to_string_lossy().into_owned()).collect()
    }

    fn id(&self) -> u32 {
        self.process.as_ref().unwrap().id()
    }

    /// Asks the process to end, as a supervisor does.
    pub(crate) fn terminate(&self) {
        let id = self.process.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    /// Asks the process to end and waits until it has.
    pub(crate) async fn finish(&mut self) {
        self.terminate();
        self.ended().await;
    }

    /// Waits until the process, which was asked to, has ended well.
    pub(crate) async fn ended(&mut self) {
        let mut process = self.process.take().unwrap();
        let status = eventually("the end of the gateway", async || process.try_wait().unwrap()).await;
        assert!(status.success(), "{status}: {}", self.log());
    }

    /// Everything it has printed until now.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The folder with its settings (`cardea.toml`) and, on the embedded store, `gateway.redb`.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.kill();
    }
}

fn collect(stream: impl std::io::Read + Send + 'static, log: &Arc<Mutex<String>>) {
    let log = Arc::clone(log);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
}
