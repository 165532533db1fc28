//! What the demo is made of: a data folder, secrets made at the first start, settings for all three parts, and the sheet
//! that tells people and scripts how to get in. Knows no facade: `app` starts the parts with what is prepared here.

mod folder;
mod secrets;
mod settings;
mod sheet;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::config::{self, Config, Kind, Problems, Sources};

use folder::Folder;
pub use secrets::{free_key_id, new_key};
pub use settings::Addresses;

const SCANNER_FOLDER: &str = "scanner";
/// Where a demo is when nobody says otherwise.
const DEFAULT_PORT: u16 = 8080;

/// What the command line may choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where everything listens; only loopback is accepted.
    pub listen: IpAddr,
    /// Port of the portal; the next two are the scanning service's and the identity provider's. 0 looks for three free ones.
    pub port: u16,
    /// Data folder.
    pub data: PathBuf,
    /// Further redirect URIs of both tenants' clients.
    pub redirect_uris: Vec<String>,
    /// Origins that may frame both tenants' pages.
    pub frame_ancestors: Vec<String>,
}

/// Why the demo does not start, in words for the person who started it.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(
        "the demo listens on this machine only, and {0} can be reached from elsewhere: its users have well-known passwords.\nLeave --listen out, or use 127.0.0.1 or ::1. `cardea serve` is for everything else."
    )]
    NotLoopback(IpAddr),
    #[error("the demo uses three ports in a row, and {0} is too high: choose one up to 65533")]
    NoRoom(u16),
    #[error(
        "port {0} is taken by another program.\nEnd that program, or choose three free ports in a row with --port N (0 looks for some)"
    )]
    PortTaken(u16),
    #[error("cannot listen on {address}: {error}")]
    CannotListen { address: SocketAddr, error: std::io::Error },
    #[error("another demo is running on {0}.\nEnd it first, or give this one a folder of its own with --data DIR")]
    FolderBusy(PathBuf),
    #[error("no demo has run on {0} yet.\nName the folder of one with --data DIR")]
    NoDemo(PathBuf),
    #[error("the data folder {path} cannot be used: {reason}\nChoose another one with --data DIR")]
    Folder { path: PathBuf, reason: String },
    #[error(
        "{path} is damaged: {reason}\nMove it away to have new secrets made; what was sealed with the old ones cannot be read then"
    )]
    DamagedSecrets { path: PathBuf, reason: String },
    #[error("{0}")]
    Settings(#[from] Problems),
}

/// A demo that is ready to start. Holds the lock of its folder as long as it lives.
#[derive(Debug)]
pub struct Demo {
    pub config: Config,
    pub addresses: Addresses,
    folder: Folder,
}

impl Demo {
    /// Opens the data folder, makes or reads the secrets, checks addresses and settings, and writes `demo.json`.
    ///
    /// # Errors
    /// See [`DemoError`]; nothing is started then.
    pub fn prepare(options: &Options, environment: Vec<(String, String)>) -> Result<Self, DemoError> {
        if !options.listen.is_loopback() {
            return Err(DemoError::NotLoopback(options.listen));
        }
        let addresses = Addresses::new(options.listen, free_ports(options.listen, options.port)?);
        let folder = Folder::open(&options.data)?;
        let secrets = secrets::Secrets::load_or_make(&folder)?;
        let own = settings::table(options, &addresses, &folder, &secrets)?;
        let config = config::load(Kind::Demo, &Sources { file: None, own: Some(own), environment })?;
        listens_here(&config)?;
        folder.write("demo.json", &sheet::json(options, &addresses, &secrets))?;
        Ok(Self { config, addresses, folder })
    }

    /// What a demo has left in its data folder, for commands that look at it while no demo runs there.
    ///
    /// # Errors
    /// [`DemoError::NoDemo`] when there is nothing, [`DemoError::FolderBusy`] while one runs.
    pub fn reopen(data: &Path, environment: Vec<(String, String)>) -> Result<Self, DemoError> {
        let folder = existing(data)?;
        let listen = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let options = Options { listen, port: 0, data: data.to_owned(), redirect_uris: Vec::new(), frame_ancestors: Vec::new() };
        let addresses = Addresses::new(listen, DEFAULT_PORT);
        let secrets = secrets::Secrets::load_or_make(&folder)?;
        let own = settings::table(&options, &addresses, &folder, &secrets)?;
        let config = config::load(Kind::Demo, &Sources { file: None, own: Some(own), environment })?;
        Ok(Self { config, addresses, folder })
    }

    /// The line for scripts: printed when all parts accept requests.
    #[must_use]
    pub fn ready(&self) -> String {
        let Addresses { portal, scanner, idp, .. } = &self.addresses;
        format!("ready portal={portal} scanner={scanner} idp={idp}")
    }

    /// How to sign in, for people.
    #[must_use]
    pub fn greeting(&self) -> String {
        sheet::greeting(&self.addresses, self.folder.path())
    }
}

/// The folder of a demo that has run.
fn existing(data: &Path) -> Result<Folder, DemoError> {
    if secrets::are_in(data) { Folder::open(data) } else { Err(DemoError::NoDemo(data.to_owned())) }
}

/// Adds a sealing key to the demo of this folder and says so. `today` becomes its id.
///
/// # Errors
/// See [`DemoError`], e.g. when the demo is running.
pub fn rotate_key(data: &Path, today: &str) -> Result<String, DemoError> {
    let folder = existing(data)?;
    let id = secrets::Secrets::add_sealing_key(&folder, today)?;
    Ok(format!(
        "The demo has a new sealing key, {id}: it seals from the next start on. What the older ones sealed still opens.\n"
    ))
}

/// Where the demo's scanning service keeps its data.
#[must_use]
pub fn scanner_folder(data: &Path) -> PathBuf {
    data.join(SCANNER_FOLDER)
}

/// The environment may set any option, yet not open the demo to others.
fn listens_here(config: &Config) -> Result<(), DemoError> {
    let gateway = config.gateway.as_ref().map(|gateway| gateway.server.listen);
    let operations = config.gateway.as_ref().and_then(|gateway| gateway.operations.listen);
    let scanner = config.scanner.as_ref().map(|scanner| scanner.listen);
    let idp = config.idp.as_ref().map(|idp| idp.listen);
    match [gateway, operations, scanner, idp].into_iter().flatten().find(|listen| !listen.ip().is_loopback()) {
        Some(listen) => Err(DemoError::NotLoopback(listen.ip())),
        None => Ok(()),
    }
}

/// Where looking for ports begins and how many are looked through. Below those that systems hand out by themselves, so that no
/// connection takes one between looking and listening.
const LOOKED_THROUGH: (u16, u16) = (10_000, 20_000);

/// The first of three ports in a row that can be listened on now. Each process looks from another place on.
fn free_ports(listen: IpAddr, wanted: u16) -> Result<u16, DemoError> {
    static TRIES: AtomicU32 = AtomicU32::new(0);
    if wanted != 0 {
        return three_from(listen, wanted).map(|()| wanted);
    }
    let (first, count) = LOOKED_THROUGH;
    let start = std::process::id().wrapping_mul(131);
    let mut last = None;
    for _ in 0..64 {
        let at = start.wrapping_add(TRIES.fetch_add(3, Ordering::Relaxed)) % u32::from(count);
        let port = first.saturating_add(u16::try_from(at).unwrap_or_default());
        match three_from(listen, port) {
            Ok(()) => return Ok(port),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or(DemoError::NoRoom(wanted)))
}

fn three_from(listen: IpAddr, first: u16) -> Result<(), DemoError> {
    let last = first.checked_add(2).ok_or(DemoError::NoRoom(first))?;
    for port in first..=last {
        let address = SocketAddr::new(listen, port);
        TcpListener::bind(address).map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => DemoError::PortTaken(port),
            _ => DemoError::CannotListen { address, error },
        })?;
    }
    Ok(())
}
