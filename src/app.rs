//! The composition root: the only file that names more than one facade. Builds what a command needs and runs it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use crate::config::{self, Config, Kind, Problems, Sources};
use crate::demo::{self, Demo, DemoError};
pub use crate::gateway::{EventFilter, TrailList};
use crate::gateway::{Gateway, PeopleError, StartError, TrailError};
use crate::idp::Idp;
use crate::platform::clock::Clock;
use crate::platform::shutdown::Shutdown;
use crate::platform::{console, telemetry};
use crate::scanner::{self, Scanner};

/// Beyond the parts' own time to finish requests: what is left then ends with the process.
const DRAIN_SLACK: Duration = Duration::from_secs(5);
/// How long a health check may take.
const HEALTH_LIMIT: Duration = Duration::from_secs(5);
/// What to do about an embedded store that is open.
const END_FIRST: &str = "Its store is one file for one process: end it first, then ask again.";
/// What is read of its answer: the status line is in it.
const HEALTH_ANSWER: usize = 512;

/// Environment variables as the command line found them.
pub type Environment = Vec<(String, String)>;

/// Why a command did not do what it was asked for, in words.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration or the command line is wrong: exit code 2.
    #[error("{0}")]
    Settings(#[from] Problems),
    /// Something else: exit code 1.
    #[error("{0}")]
    Run(String),
}

impl From<DemoError> for Failure {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Settings(problems) => Self::Settings(problems),
            other => Self::Run(other.to_string()),
        }
    }
}

/// Runs the demo until it is asked to end: portal, scanning service and identity provider on this machine.
///
/// # Errors
/// When a part does not start; the others are ended then.
pub fn demo(options: &demo::Options, environment: Environment) -> Result<(), Failure> {
    let demo = Demo::prepare(options, environment)?;
    let config = demo.config.clone();
    let limit = start_log(&config);
    run(limit, async |clock, ends| {
        start(config, clock, ends).await?;
        console::print(&demo.ready());
        console::print(&demo.greeting());
        Ok(())
    })
}

/// Runs the gateway until it is asked to end.
///
/// # Errors
/// When its configuration is wrong or it does not start.
pub fn serve(file: Option<&Path>, environment: Environment) -> Result<(), Failure> {
    run_configured(Kind::Serve, file, environment)
}

/// Runs the reference scanning service until it is asked to end.
///
/// # Errors
/// When its configuration is wrong or it does not start.
pub fn scanner(file: Option<&Path>, environment: Environment) -> Result<(), Failure> {
    run_configured(Kind::Scanner, file, environment)
}

fn run_configured(kind: Kind, file: Option<&Path>, environment: Environment) -> Result<(), Failure> {
    let config = config::load(kind, &Sources { file, own: None, environment })?;
    let limit = start_log(&config);
    run(limit, async |clock, ends| start(config, clock, ends).await)
}

fn start_log(config: &Config) -> Duration {
    let wait = Duration::from_millis(config.telemetry.buffer_ms);
    telemetry::start(&config.telemetry.filter, config.telemetry.format, wait);
    let gateway = config.gateway.as_ref().map_or(0, |gateway| gateway.server.shutdown_seconds);
    let scanner = config.scanner.as_ref().map_or(0, |scanner| scanner.shutdown_seconds);
    Duration::from_secs(gateway.max(scanner)).saturating_add(DRAIN_SLACK)
}

/// Starts what is configured, the parts others call first. `front` ends before `behind`.
async fn start(config: Config, clock: Clock, (front, behind): (&Shutdown, &Shutdown)) -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::Run(error.to_string());
    if let Some(settings) = config.idp {
        let running = Idp::start(settings, clock.clone(), behind).await.map_err(|error| failed(&error))?;
        tracing::info!(address = %running.address(), "the identity provider accepts requests");
    }
    if let Some(settings) = config.scanner {
        let running = Scanner::start(settings, clock.clone(), behind).await.map_err(|error| failed(&error))?;
        tracing::info!(address = %running.address(), "the scanning service accepts requests");
    }
    if let Some(settings) = config.gateway {
        let running = Gateway::start(settings, clock, front).await.map_err(|error| failed(&error))?;
        tracing::info!(address = %running.address(), "the gateway accepts requests");
        if let Some(address) = running.operations() {
            tracing::info!(%address, "the gateway answers operators");
        }
    }
    Ok(())
}

/// Runs `begin`, then waits for the end and for what is still running, at most `limit`.
fn run(limit: Duration, begin: impl AsyncFnOnce(Clock, (&Shutdown, &Shutdown)) -> Result<(), Failure>) -> Result<(), Failure> {
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let shutdown = Shutdown::default();
        shutdown.watch_signals().map_err(|error| Failure::Run(format!("signals cannot be watched: {error}")))?;
        let behind = Shutdown::default();
        let started = begin(Clock::system(), (&shutdown, &behind)).await;
        if started.is_ok() {
            shutdown.begun().await;
        }
        shutdown.begin();
        shutdown.drain(limit).await;
        // What the gateway still called while it drained ends after it.
        behind.begin();
        behind.drain(limit).await;
        started
    });
    // A blocking call that hangs does not hold the end up.
    runtime.shutdown_background();
    ended
}

/// Whose data a command is about.
pub enum DataOf {
    /// The demo's, in this data folder.
    Demo(PathBuf),
    /// Those of the service in this configuration file.
    Configured(PathBuf),
}

/// The settings of the gateway that a command is about, and the demo they are of, whose folder stays locked as long as it lives.
fn gateway_of(of: &DataOf, environment: Environment) -> Result<(config::gateway::Gateway, Option<Demo>), Failure> {
    let (config, demo) = match of {
        DataOf::Configured(file) => (config::load(Kind::Serve, &Sources { file: Some(file), own: None, environment })?, None),
        DataOf::Demo(folder) => {
            let demo = Demo::reopen(folder, environment).map_err(|error| match error {
                DemoError::FolderBusy(folder) => Failure::Run(format!("a demo is running on {}. {END_FIRST}", folder.display())),
                other => Failure::from(other),
            })?;
            (demo.config.clone(), Some(demo))
        }
    };
    let settings = config.gateway.ok_or_else(|| Failure::Run("no gateway is configured".to_owned()))?;
    Ok((settings, demo))
}

/// What stands under which sealing key.
///
/// # Errors
/// When the store cannot be looked at, e.g. an embedded one that a running gateway has open.
pub fn key_status(of: &DataOf, environment: Environment) -> Result<String, Failure> {
    let (settings, _demo) = gateway_of(of, environment)?;
    let status = runtime()?.block_on(Gateway::key_status(&settings, &Clock::system()));
    status.map_err(|error| Failure::Run(error.to_string()))
}

/// Makes a new sealing key: in the demo's folder, or in `key_file` for settings that people write. Says what comes next.
///
/// # Errors
/// When nothing was made; everything is then as it was.
pub fn rotate_keys(of: &DataOf, key_file: Option<&Path>, environment: Environment) -> Result<String, Failure> {
    // The date of RFC 3339 comes first, in ten characters.
    let today: String = Clock::system().now().rfc3339().chars().take(10).collect();
    match (of, key_file) {
        (DataOf::Demo(folder), _) => Ok(demo::rotate_key(folder, &today)?),
        (DataOf::Configured(_), None) => {
            let hint = "name the file that shall hold the new key, e.g. --key-file /etc/cardea/key";
            Err(Failure::Settings(Problems::one("--key-file", "is missing", hint)))
        }
        (DataOf::Configured(file), Some(path)) => {
            let config = config::load(Kind::Serve, &Sources { file: Some(file), own: None, environment })?;
            let known = config.gateway.map(|gateway| gateway.keys).unwrap_or_default();
            let id = demo::free_key_id(&today, |id| known.iter().any(|key| key.id == id));
            let failed = |error: &dyn std::fmt::Display| Failure::Run(format!("{}: {error}", path.display()));
            let path = std::path::absolute(path).map_err(|error| failed(&error))?;
            if path.exists() {
                return Err(failed(&"there is a file already; it is not overwritten"));
            }
            let key = demo::new_key().map_err(|error| failed(&error))?;
            crate::platform::private::write(&path, key.expose().as_bytes()).map_err(|error| failed(&error))?;
            Ok(key_advice(file, &id, &path))
        }
    }
}

fn key_advice(file: &Path, id: &str, path: &Path) -> String {
    format!(
        "A new sealing key is in {path}, readable for its owner only. Put these lines in front of the other [[gateway.keys]]\n\
         of {file}, give every replica the same, and restart them one by one:\n\n\
         [[gateway.keys]]\nid = \"{id}\"\nkey_file = \"{path}\"\n\n\
         It seals as soon as every replica has it. `cardea keys status` says when an older one can go.\n",
        path = path.display(),
        file = file.display(),
    )
}

/// Brings advisories from a file or folder into the scanner's database; says what was taken and what was left out.
///
/// # Errors
/// When nothing was imported; the database is then as it was.
pub fn import_advisories(of: &DataOf, path: &Path, environment: Environment) -> Result<String, Failure> {
    let data = scanner_data(of, environment)?;
    crate::platform::private::folder(&data).map_err(|error| Failure::Run(format!("{}: {error}", data.display())))?;
    let report = scanner::import_advisories(&data, path, &Clock::system());
    report.map(|report| report.to_string()).map_err(|error| Failure::Run(error.to_string()))
}

/// What the scanner's advisory database holds.
///
/// # Errors
/// When it cannot be read.
pub fn advisory_status(of: &DataOf, environment: Environment) -> Result<String, Failure> {
    let status = scanner::advisory_status(&scanner_data(of, environment)?);
    status.map(|status| status.to_string()).map_err(|error| Failure::Run(error.to_string()))
}

fn scanner_data(of: &DataOf, environment: Environment) -> Result<PathBuf, Failure> {
    match of {
        DataOf::Demo(folder) => Ok(demo::scanner_folder(folder)),
        DataOf::Configured(file) => {
            let config = config::load(Kind::Scanner, &Sources { file: Some(file), own: None, environment })?;
            config.scanner.map(|scanner| scanner.data).ok_or_else(|| Failure::Run("no scanner is configured".to_owned()))
        }
    }
}

/// Checks the audit trail of one tenant, or of all: one line for each.
///
/// # Errors
/// When one is not as it was written, with the same lines; or when one cannot be read.
pub fn verify_audit(of: &DataOf, tenant: Option<&str>, environment: Environment) -> Result<String, Failure> {
    let report = with_trails(of, environment, async |settings, clock| Gateway::verify_audit(settings, clock, tenant).await)?;
    if report.is_whole() { Ok(report.to_string()) } else { Err(Failure::Run(format!("an audit trail is not whole\n{report}"))) }
}

/// The newest events of the audit trail of one tenant, or of all, that pass the filter.
///
/// # Errors
/// When one cannot be read.
pub fn list_audit(
    of: &DataOf,
    tenant: Option<&str>,
    (filter, last): (EventFilter<'_>, usize),
    environment: Environment,
) -> Result<TrailList, Failure> {
    with_trails(of, environment, async |settings, clock| Gateway::list_audit(settings, clock, tenant, (filter, last)).await)
}

/// The people of one tenant, or of all: one JSON object on each line.
///
/// # Errors
/// When they cannot be read.
pub fn list_users(of: &DataOf, tenant: Option<&str>, environment: Environment) -> Result<String, Failure> {
    let (settings, _demo) = gateway_of(of, environment)?;
    let listed = runtime()?.block_on(Gateway::list_users(&settings, &Clock::system(), tenant));
    listed.map_err(|error| people_failure(error, &settings))
}

/// Lets somebody of a tenant in again, by mark or e-mail address; says what came of it.
///
/// # Errors
/// When there is nobody like that, or it could not be done.
pub fn enable_user(of: &DataOf, (tenant, who): (&str, &str), environment: Environment) -> Result<String, Failure> {
    let (settings, _demo) = gateway_of(of, environment)?;
    let enabled = runtime()?.block_on(Gateway::enable_user(&settings, &Clock::system(), tenant, who));
    enabled.map_err(|error| people_failure(error, &settings))
}

fn people_failure(error: PeopleError, settings: &config::gateway::Gateway) -> Failure {
    match error {
        PeopleError::Opened(error) => trail_failure(error, settings),
        other => Failure::Run(other.to_string()),
    }
}

fn with_trails<T>(
    of: &DataOf,
    environment: Environment,
    look: impl AsyncFnOnce(&config::gateway::Gateway, &Clock) -> Result<T, TrailError>,
) -> Result<T, Failure> {
    let (settings, _demo) = gateway_of(of, environment)?;
    let looked = runtime()?.block_on(look(&settings, &Clock::system()));
    looked.map_err(|error| trail_failure(error, &settings))
}

fn trail_failure(error: TrailError, settings: &config::gateway::Gateway) -> Failure {
    match error {
        TrailError::Start(StartError::StoreInUse(_)) => {
            Failure::Run(format!("a gateway is running on {}. {END_FIRST}", settings.store.path.display()))
        }
        unknown @ TrailError::UnknownTenant(..) => Failure::Settings(Problems::one("--tenant", unknown.to_string(), "")),
        unknown @ TrailError::UnknownDeed(..) => Failure::Settings(Problems::one("--deed", unknown.to_string(), "")),
        other => Failure::Run(other.to_string()),
    }
}

/// Serves one analysis to the scanning service that started this process, over standard input and output.
#[must_use]
pub fn analyze_archive() -> ExitCode {
    scanner::serve_analysis()
}

/// The configuration in force, as TOML with secrets blotted out.
///
/// # Errors
/// Everything that is wrong with it.
pub fn check_config(file: Option<&Path>, environment: Environment) -> Result<String, Failure> {
    Ok(config::load(Kind::Check, &Sources { file, own: None, environment })?.shown)
}

/// Asks a running process whether it is well: `GET /healthz` of `url`, or of the address the configuration listens on.
///
/// # Errors
/// When it does not answer 200 in time.
pub fn healthcheck(url: Option<&Url>, file: Option<&Path>, environment: Environment) -> Result<(), Failure> {
    let (address, host) = match url {
        Some(url) => url_address(url)?,
        None => configured_address(file, environment)?,
    };
    let said = runtime()?.block_on(async { tokio::time::timeout(HEALTH_LIMIT, status_line(&address, &host)).await });
    match said {
        Ok(Ok(line)) if line.split(' ').nth(1) == Some("200") => Ok(()),
        Ok(Ok(line)) => Err(Failure::Run(format!("{address} answers, but not well: {}", line.escape_debug()))),
        Ok(Err(error)) => Err(Failure::Run(format!("{address} does not answer: {error}"))),
        Err(_) => Err(Failure::Run(format!("{address} did not answer within {} seconds", HEALTH_LIMIT.as_secs()))),
    }
}

fn url_address(url: &Url) -> Result<(String, String), Failure> {
    let (Some(host), Some(port), "http") = (url.host_str(), url.port_or_known_default(), url.scheme()) else {
        return Err(Failure::Settings(Problems::one("--url", "does not fit", "expected http://HOST:PORT")));
    };
    Ok((format!("{host}:{port}"), format!("{host}:{port}")))
}

/// Where the configured process listens, and a host it answers to.
fn configured_address(file: Option<&Path>, environment: Environment) -> Result<(String, String), Failure> {
    let config = config::load(Kind::Check, &Sources { file, own: None, environment })?;
    let tenant_host = config.gateway.as_ref().and_then(|gateway| gateway.tenants.values().next()?.hosts.first().cloned());
    let listens = [
        config.gateway.map(|gateway| gateway.server.listen),
        config.scanner.map(|scanner| scanner.listen),
        config.idp.map(|idp| idp.listen),
    ];
    let listen = listens.into_iter().flatten().next();
    let listen = listen.ok_or_else(|| Failure::Run("the configuration listens nowhere".to_owned()))?;
    // "All addresses" is where to listen, not where to call.
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let address = SocketAddr::new(ip, listen.port()).to_string();
    Ok((address.clone(), tenant_host.unwrap_or(address)))
}

async fn status_line(address: &str, host: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = Vec::with_capacity(HEALTH_ANSWER);
    let mut limited = stream.take(HEALTH_ANSWER as u64);
    while !answer.contains(&b'\n') && limited.read_buf(&mut answer).await? > 0 {}
    Ok(String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned())
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Failure::Run(format!("the system gives no threads: {error}")))
}
