//! Settings of the reference scanning service.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::platform::digits::whole;
use crate::platform::secret::Secret;

/// Everything the reference scanning service needs to start.
#[derive(Clone, Debug)]
pub struct Scanner {
    pub listen: SocketAddr,
    /// Folder of files, tasks and advisories.
    pub data: PathBuf,
    /// HTTP worker threads; 0 means one for each core.
    pub workers: usize,
    pub shutdown_seconds: u64,
    /// Scans at the same time.
    pub scan_workers: usize,
    /// Paths are also served under `/oxpecker` for older clients.
    pub legacy_prefix: bool,
    /// What publishable-key answers; empty is 404.
    pub publishable_key: String,
    /// Where a bearer that is no SK is looked up; empty: SKs only.
    pub userinfo_url: String,
    /// Claim of userinfo that names the account (dotted path).
    pub account_claim: String,
    /// How long a looked-up bearer is believed.
    pub bearer_cache_seconds: u64,
    /// Seals captured sessions: 32 bytes in base64. Without it a key is made and kept in the data folder.
    pub seal_key: Option<Secret>,
    pub upload: Upload,
    pub archive: Archive,
    pub analysis: Analysis,
    pub shares: Shares,
    /// Where browsers reach the service, without a trailing slash; empty: `http://` and `listen`.
    pub public_url: String,
    pub browser: Browser,
    pub outbound: Outbound,
    pub diagnostics: Diagnostics,
    pub ownership: Ownership,
    pub groups: Groups,
    pub sessions: Sessions,
    /// Server keys by account id.
    pub accounts: BTreeMap<String, Account>,
}

#[derive(Clone, Debug)]
pub struct Account {
    pub server_keys: Vec<Secret>,
}

#[derive(Clone, Debug)]
pub struct Upload {
    pub max_bytes: u64,
    /// An upload that moves no byte for this long is refused.
    pub idle_seconds: u64,
}

/// How an analysis is run.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Each in a process of its own; off, it runs inside the service.
    pub own_process: bool,
    /// The program of that process; none is this one.
    pub executable: Option<PathBuf>,
    /// Memory it may have.
    pub memory_bytes: u64,
    /// The largest result that is taken from it.
    pub answer_bytes: u64,
    pub isolation: Isolation,
}

/// What becomes of an analysis on a system that cannot take rights away from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// It runs all the same.
    Preferred,
    /// It does not.
    Required,
}

/// Bounds of reading an archive; what lies beyond is left out with a note.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Archive {
    /// Archives inside archives.
    pub depth: u32,
    /// Entries of all archives together.
    pub entries: u64,
    /// Inflated bytes of all entries together.
    pub inflated_bytes: u64,
    /// Inflated bytes of one nested archive.
    pub nested_bytes: u64,
    /// Inflated to packed size, looked at above `ratio_from_bytes`.
    pub ratio: u64,
    pub ratio_from_bytes: u64,
    /// Whole time of one scan.
    pub seconds: u64,
    pub sources: Sources,
    pub call_graph: CallGraph,
}

/// Bounds of following calls from entry points to vulnerable code. Where one is hit, the rest is not known and a note says so.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CallGraph {
    /// The largest class file that is read.
    pub class_bytes: u64,
    /// Classes, methods and calls of all archives together.
    pub classes: usize,
    pub methods: usize,
    pub calls: usize,
    /// Bytes of all their names, each name once.
    pub name_bytes: usize,
    /// Calls followed in the search.
    pub steps: usize,
    /// Methods that one call is taken to run, and classes looked at to find them.
    pub targets: usize,
    pub subclasses: usize,
    /// Chains of one task, and steps of a path that are shown.
    pub chains: usize,
    pub chain_steps: usize,
}

/// Bounds of reading poms and lock files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sources {
    /// The largest body of the composition operations, and all poms of one of them together.
    pub upload_bytes: u64,
    /// Composition analyses at the same time, of all and of one account; further ones wait, this many of an account.
    pub analyses: usize,
    pub analyses_per_account: usize,
    pub waiting: usize,
    /// How long one waits for its turn before it is told to come back.
    pub wait_seconds: u64,
    /// Whole time and memory of one composition analysis.
    pub seconds: u64,
    pub memory_bytes: u64,
    /// The largest pom and the largest lock file.
    pub pom_bytes: u64,
    pub lock_bytes: u64,
    /// Poms of one archive.
    pub poms: u64,
    /// How deep elements of a pom may nest.
    pub xml_depth: u64,
    /// Ancestors of a pom, and BOMs in BOMs.
    pub parents: u64,
    /// Dependencies and managed versions of all poms together.
    pub dependencies: u64,
    /// Locked packages of one scan.
    pub packages: u64,
    /// Issues of one composition answer.
    pub issues: u64,
}

#[derive(Clone, Debug)]
pub struct Shares {
    /// Wrong codes for one share before each further try has to wait.
    pub free_tries: u64,
    /// How long wrong codes are remembered.
    pub window_seconds: u64,
}

/// Where the service may connect to on behalf of a caller.
#[derive(Clone, Debug)]
pub struct Outbound {
    /// Addresses that are open although they are not public.
    pub allow: Vec<Allowed>,
    /// Ports of public addresses.
    pub ports: Vec<RangeInclusive<u16>>,
    /// Empty: the system's.
    pub name_servers: Vec<SocketAddr>,
    /// For one address.
    pub connect_timeout_ms: u64,
    /// For one name.
    pub lookup_timeout_ms: u64,
    /// The earliest answer about a name that leads nowhere open.
    pub closed_after_ms: u64,
    /// PEM file of certificates that are trusted beside the public ones.
    pub extra_roots_file: Option<PathBuf>,
}

/// Bounds of network diagnostics.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// Runs an account may start in a minute.
    pub per_minute: u32,
    /// Runs of an account at the same time.
    pub at_once: usize,
    /// Whole time of a run.
    pub seconds: u64,
    /// Time of one stage.
    pub stage_seconds: u64,
    /// How long a run that has ended can be asked for.
    pub kept_minutes: u64,
    /// Runs of all accounts that are kept.
    pub kept: usize,
}

/// Proofs that a target belongs to the account.
#[derive(Clone, Debug)]
pub struct Ownership {
    /// Whether a task with a target address needs a proof.
    pub required: bool,
    /// How long a random content can be used.
    pub content_hours: u64,
    /// How long a proof holds.
    pub verified_days: u64,
    /// Checks an account may ask for in a minute.
    pub checks_per_minute: u32,
    /// Whole time of a check.
    pub check_seconds: u64,
}

/// A network that is open on some ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    network: IpNet,
    ports: RangeInclusive<u16>,
}

impl Allowed {
    /// Reads `10.0.0.0/8`, `10.0.0.0/8:443` and `::1/128:8000-8999`; without ports it is all of them.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, rest) = text.split_once('/')?;
        let (bits, range) = rest.split_once(':').map_or((rest, None), |(bits, range)| (bits, Some(range)));
        let network = format!("{address}/{bits}").parse().ok()?;
        Some(Self { network, ports: range.map_or(Some(0..=u16::MAX), ports)? })
    }

    /// Whether it opens `port` of `address`.
    #[must_use]
    pub fn covers(&self, address: IpAddr, port: u16) -> bool {
        self.network.contains(&address) && self.ports.contains(&port)
    }

    /// Whether it opens `port` of any address.
    #[must_use]
    pub fn opens(&self, port: u16) -> bool {
        self.ports.contains(&port)
    }
}

/// Reads `443` or `8000-9999`.
#[must_use]
pub fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (whole(first)?, whole(last)?);
    (first <= last).then_some(first..=last)
}

/// Bounds of a group of tasks.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Artifacts of one create-group, the first included.
    pub max_artifacts: usize,
}

/// Bounds of the captured sessions of one task.
#[derive(Clone, Debug)]
pub struct Sessions {
    pub max_count: usize,
    /// Bytes of all of them together, as JSON.
    pub max_bytes: usize,
}

/// Remote browsers.
#[derive(Clone, Debug)]
pub struct Browser {
    /// Path of Chromium; empty: looked for under its usual names.
    pub executable: String,
    /// Chromium's own sandbox.
    pub sandbox: bool,
    /// Origins whose pages may embed a browser and speak with it.
    pub parents: Vec<String>,
    /// Browsers at the same time.
    pub per_account: usize,
    pub per_host: usize,
    /// How many may wait for a place, and how long.
    pub queue: usize,
    pub queue_seconds: u64,
    /// How long the address of a new browser can be opened.
    pub open_seconds: u64,
    /// A browser ends without use, and in any case.
    pub idle_seconds: u64,
    pub life_seconds: u64,
    /// A browser whose page is gone ends after this.
    pub absent_seconds: u64,
    /// The process ends this long after its last browser.
    pub linger_seconds: u64,
    /// How long the process may take to start.
    pub start_seconds: u64,
    /// Tabs and cookie jars of one browser.
    pub tabs: usize,
    pub contexts: usize,
    /// Connections of all browsers together.
    pub connections: usize,
    /// The largest picture, in CSS pixels, and the bounds of its JPEG quality.
    pub max_width: u32,
    pub max_height: u32,
    pub quality_min: u8,
    pub quality_max: u8,
}
