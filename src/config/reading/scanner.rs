//! Reads the settings of the reference scanning service.

use config::Map;

use super::gateway::{FALLBACK, positive};
use crate::config::checks;
use crate::config::scanner::{Account, Archive, Groups, Scanner, Sessions, Shares, Upload};
use crate::config::section::Section;
use crate::platform::secret::Secret;

pub(in crate::config) fn read(section: &mut Section<'_>) -> Scanner {
    let empty_or_address = |text: &str| text.is_empty() || checks::web_address(text).is_some();
    let scanner = Scanner {
        listen: section.maybe_parsed("listen", checks::LISTEN, checks::listen).unwrap_or(FALLBACK),
        data: section.path("data"),
        workers: section.number("workers", 0..=1024),
        shutdown_seconds: section.number("shutdown_seconds", 0..=3600),
        scan_workers: section.number("scan_workers", 1..=256),
        legacy_prefix: section.flag("legacy_prefix"),
        publishable_key: section.text("publishable_key"),
        userinfo_url: section.checked("userinfo_url", checks::WEB_ADDRESS, empty_or_address),
        account_claim: section.checked("account_claim", "a dotted path such as organization", checks::claim_path),
        bearer_cache_seconds: section.number("bearer_cache_seconds", 0..=3600),
        seal_key: seal_key(section),
        upload: section.table("upload", |section| Upload {
            max_bytes: section.number("max_bytes", positive()),
            idle_seconds: section.number("idle_seconds", 1..=3600),
        }),
        archive: section.table("archive", archive),
        shares: section.table("shares", |section| Shares {
            free_tries: section.number("free_tries", 0..=1000),
            window_seconds: section.number("window_seconds", positive()),
        }),
        groups: section.table("groups", |section| Groups { max_artifacts: section.number("max_artifacts", 1..=1000) }),
        sessions: section.table("sessions", |section| Sessions {
            max_count: section.number("max_count", 0..=1000),
            max_bytes: section.number("max_bytes", 0..=4 << 20),
        }),
        accounts: section.each("accounts", &Map::new(), account),
    };
    if scanner.accounts.is_empty() && scanner.userinfo_url.is_empty() {
        let hint = "add a section [scanner.accounts.ID] with server_keys, or set scanner.userinfo_url";
        section.problem("accounts", "is empty, and there is no userinfo_url: nobody could call the service", hint);
    }
    scanner
}

fn seal_key(section: &mut Section<'_>) -> Option<Secret> {
    let key = section.optional_secret("seal_key");
    if key.as_ref().is_some_and(|key| !checks::sealing_key(key.expose())) {
        section.problem("seal_key", "is not 32 bytes in base64", "make one with: openssl rand -base64 32");
    }
    key
}

fn archive(section: &mut Section<'_>) -> Archive {
    Archive {
        depth: section.number("depth", 0..=64),
        entries: section.number("entries", positive()),
        inflated_bytes: section.number("inflated_bytes", positive()),
        nested_bytes: section.number("nested_bytes", positive()),
        ratio: section.number("ratio", 1..=100_000),
        ratio_from_bytes: section.number("ratio_from_bytes", 0..=u64::MAX),
        seconds: section.number("seconds", 1..=86_400),
    }
}

fn account(id: &str, section: &mut Section<'_>) -> Account {
    section.named(id);
    let account = Account { server_keys: section.secrets("server_keys", "server_key_files") };
    if account.server_keys.iter().any(|key| key.expose().len() < 16) {
        section.problem("server_keys", "holds a key of fewer than 16 characters", "such a key can be guessed: use a longer one");
    }
    account
}
