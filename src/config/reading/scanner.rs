//! Reads the settings of the reference scanning service.

use config::Map;

use super::gateway::{FALLBACK, positive};
use crate::config::checks;
use crate::config::scanner::{Account, Archive, Scanner, Shares, Sources, Upload};
use crate::config::section::Section;

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
        upload: section.table("upload", |section| Upload {
            max_bytes: section.number("max_bytes", positive()),
            idle_seconds: section.number("idle_seconds", 1..=3600),
        }),
        archive: section.table("archive", archive),
        shares: section.table("shares", |section| Shares {
            free_tries: section.number("free_tries", 0..=1000),
            window_seconds: section.number("window_seconds", positive()),
        }),
        accounts: section.each("accounts", &Map::new(), account),
    };
    if scanner.accounts.is_empty() && scanner.userinfo_url.is_empty() {
        let hint = "add a section [scanner.accounts.ID] with server_keys, or set scanner.userinfo_url";
        section.problem("accounts", "is empty, and there is no userinfo_url: nobody could call the service", hint);
    }
    scanner
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
        sources: section.table("sources", sources),
    }
}

fn sources(section: &mut Section<'_>) -> Sources {
    Sources {
        upload_bytes: section.number("upload_bytes", positive()),
        analyses: section.number("analyses", 1..=256),
        wait_seconds: section.number("wait_seconds", 0..=600),
        pom_bytes: section.number("pom_bytes", positive()),
        lock_bytes: section.number("lock_bytes", positive()),
        poms: section.number("poms", positive()),
        xml_depth: section.number("xml_depth", 4..=256),
        parents: section.number("parents", 1..=64),
        dependencies: section.number("dependencies", positive()),
        packages: section.number("packages", positive()),
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
