//! Reads the settings of the reference scanning service.

use config::Map;

use super::gateway::{FALLBACK, positive};
use crate::config::checks;
use crate::config::scanner::{
    Account, Allowed, Analysis, Archive, Browser, CallGraph, Diagnostics, Groups, Isolation, Outbound, Ownership, Scanner,
    Sessions, Shares, Sources, Upload, ports,
};
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
        analysis: section.table("analysis", |section| Analysis {
            own_process: section.flag("own_process"),
            executable: section.optional_path("executable"),
            memory_bytes: section.number("memory_bytes", (64 << 20)..=u64::MAX),
            answer_bytes: section.number("answer_bytes", (1 << 20)..=u64::MAX),
            isolation: section.choice("isolation", ("preferred", Isolation::Preferred), &[("required", Isolation::Required)]),
        }),
        shares: section.table("shares", |section| Shares {
            free_tries: section.number("free_tries", 0..=1000),
            window_seconds: section.number("window_seconds", positive()),
        }),
        outbound: section.table("outbound", outbound),
        diagnostics: section.table("diagnostics", |section| Diagnostics {
            per_minute: section.number("per_minute", 1..=10_000),
            at_once: section.number("at_once", 1..=1000),
            seconds: section.number("seconds", 1..=600),
            stage_seconds: section.number("stage_seconds", 1..=600),
            kept_minutes: section.number("kept_minutes", 1..=1440),
            kept: section.number("kept", 1..=100_000),
        }),
        ownership: section.table("ownership", |section| Ownership {
            required: section.flag("required"),
            content_hours: section.number("content_hours", 1..=720),
            verified_days: section.number("verified_days", 1..=3650),
            checks_per_minute: section.number("checks_per_minute", 1..=10_000),
            check_seconds: section.number("check_seconds", 1..=300),
        }),
        groups: section.table("groups", |section| Groups { max_artifacts: section.number("max_artifacts", 1..=1000) }),
        sessions: section.table("sessions", |section| Sessions {
            max_count: section.number("max_count", 0..=1000),
            max_bytes: section.number("max_bytes", 0..=4 << 20),
        }),
        public_url: section.checked("public_url", checks::WEB_ADDRESS, empty_or_address),
        browser: section.table("browser", browser),
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
        sources: section.table("sources", sources),
        call_graph: section.table("call_graph", call_graph),
    }
}

fn call_graph(section: &mut Section<'_>) -> CallGraph {
    // Places in the graph are numbers of 32 bits.
    let many = || 1..=u64::from(u32::MAX);
    CallGraph {
        class_bytes: section.number("class_bytes", positive()),
        classes: section.number("classes", many()),
        methods: section.number("methods", many()),
        calls: section.number("calls", many()),
        name_bytes: section.number("name_bytes", many()),
        steps: section.number("steps", positive()),
        targets: section.number("targets", 1..=10_000),
        subclasses: section.number("subclasses", 1..=1_000_000),
        chains: section.number("chains", 0..=1_000_000),
        chain_steps: section.number("chain_steps", 2..=10_000),
    }
}

fn sources(section: &mut Section<'_>) -> Sources {
    Sources {
        upload_bytes: section.number("upload_bytes", positive()),
        analyses: section.number("analyses", 1..=256),
        analyses_per_account: section.number("analyses_per_account", 1..=256),
        waiting: section.number("waiting", 0..=10_000),
        wait_seconds: section.number("wait_seconds", 0..=600),
        seconds: section.number("seconds", 1..=3600),
        memory_bytes: section.number("memory_bytes", (64 << 20)..=u64::MAX),
        pom_bytes: section.number("pom_bytes", positive()),
        lock_bytes: section.number("lock_bytes", positive()),
        poms: section.number("poms", positive()),
        xml_depth: section.number("xml_depth", 4..=256),
        parents: section.number("parents", 1..=64),
        dependencies: section.number("dependencies", positive()),
        packages: section.number("packages", positive()),
        issues: section.number("issues", positive()),
    }
}

fn outbound(section: &mut Section<'_>) -> Outbound {
    let allow = section.list("allow");
    section
        .every("allow", &allow, "a network with ports such as 10.0.0.0/8:443 or ::1/128", |text| Allowed::parse(text).is_some());
    let open = section.list("ports");
    section.every("ports", &open, "a port or a range such as 8000-9999", |text| ports(text).is_some());
    let servers = section.list("name_servers");
    section.every("name_servers", &servers, checks::LISTEN, |text| checks::listen(text).is_some());
    Outbound {
        allow: allow.iter().filter_map(|text| Allowed::parse(text)).collect(),
        ports: open.iter().filter_map(|text| ports(text)).collect(),
        name_servers: servers.iter().filter_map(|text| checks::listen(text)).collect(),
        connect_timeout_ms: section.number("connect_timeout_ms", 1..=60_000),
        lookup_timeout_ms: section.number("lookup_timeout_ms", 1..=60_000),
        closed_after_ms: section.number("closed_after_ms", 0..=10_000),
        extra_roots_file: section.optional_path("extra_roots_file"),
    }
}

fn browser(section: &mut Section<'_>) -> Browser {
    let browser = Browser {
        executable: section.text("executable"),
        sandbox: section.flag("sandbox"),
        parents: section.list("parents"),
        per_account: section.number("per_account", 1..=100),
        per_host: section.number("per_host", 1..=100),
        queue: section.number("queue", 0..=1000),
        queue_seconds: section.number("queue_seconds", 0..=120),
        open_seconds: section.number("open_seconds", 1..=3600),
        idle_seconds: section.number("idle_seconds", 1..=86_400),
        life_seconds: section.number("life_seconds", 1..=86_400),
        absent_seconds: section.number("absent_seconds", 1..=3600),
        linger_seconds: section.number("linger_seconds", 0..=3600),
        start_seconds: section.number("start_seconds", 1..=300),
        tabs: section.number("tabs", 1..=100),
        contexts: section.number("contexts", 1..=50),
        connections: section.number("connections", 8..=10_000),
        max_width: section.number("max_width", 320..=7680),
        max_height: section.number("max_height", 240..=4320),
        quality_min: section.number("quality_min", 1..=100),
        quality_max: section.number("quality_max", 1..=100),
    };
    if let Some(bad) = browser.parents.iter().find(|parent| checks::origin(parent).is_none()) {
        let hint = "expected origins such as https://portal.example.com, nothing after host and port";
        section.problem("parents", format!("holds {bad:?}"), hint);
    }
    if browser.quality_min > browser.quality_max {
        section.problem("quality_min", "is above quality_max", "set it to at most quality_max");
    }
    browser
}

fn account(id: &str, section: &mut Section<'_>) -> Account {
    section.named(id);
    let account = Account { server_keys: section.secrets("server_keys", "server_key_files") };
    if account.server_keys.iter().any(|key| key.expose().len() < 16) {
        section.problem("server_keys", "holds a key of fewer than 16 characters", "such a key can be guessed: use a longer one");
    }
    account
}
