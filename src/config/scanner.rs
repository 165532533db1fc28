//! Settings of the reference scanning service.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
    pub upload: Upload,
    pub archive: Archive,
    pub shares: Shares,
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

/// Bounds of reading an archive; what lies beyond is left out with a note.
#[derive(Clone, Debug)]
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
}

/// Bounds of reading poms and lock files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sources {
    /// The largest body of the composition operations, and all poms of one of them together.
    pub upload_bytes: u64,
    /// Composition analyses at the same time; further ones wait.
    pub analyses: usize,
    /// How long one waits for its turn before it is told to come back.
    pub wait_seconds: u64,
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
}

#[derive(Clone, Debug)]
pub struct Shares {
    /// Wrong codes for one share before each further try has to wait.
    pub free_tries: u64,
    /// How long wrong codes are remembered.
    pub window_seconds: u64,
}
