//! Every metric there is, with its labels. `src/ARCHITECTURE.md` has the same table for people; a test compares the two, the
//! page and the places that measure.

/// What a metric counts like.
pub(super) enum Kind {
    Counter,
    Gauge,
    /// Of seconds.
    Histogram,
}

/// A label and the values it may have; no values: a closed list that is known elsewhere (routes, methods, statuses).
pub(super) struct Label {
    pub(super) name: &'static str,
    pub(super) values: &'static [&'static str],
}

/// One metric.
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) labels: &'static [Label],
    pub(super) help: &'static str,
}

const fn metric(name: &'static str, kind: Kind, labels: &'static [Label], help: &'static str) -> Metric {
    Metric { name, kind, labels, help }
}

const fn label(name: &'static str, values: &'static [&'static str]) -> Label {
    Label { name, values }
}

const ROUTE: Label = label("route", &[]);
const METHOD: Label = label("method", &[]);

/// All of them, in the order of the table for people.
pub(super) const METRICS: &[Metric] = &[
    metric(
        "cardea_http_requests_total",
        Kind::Counter,
        &[ROUTE, METHOD, label("status", &[])],
        "Requests answered by the portal, by the pattern of their route; none for addresses that lead nowhere.",
    ),
    metric(
        "cardea_http_request_seconds",
        Kind::Histogram,
        &[ROUTE, METHOD],
        "Time from the head of a request to the head of its answer.",
    ),
    metric(
        "cardea_callback_total",
        Kind::Counter,
        &[label(
            "outcome",
            &[
                "signed_in",
                "again",
                "unknown_or_used",
                "wrong_issuer",
                "refused_by_provider",
                "no_fitting_role",
                "disabled",
                "provider_down",
                "not_set_up",
                "bad_id_token",
                "answer_not_believed",
                "trouble",
            ],
        )],
        "Sign-ins that came back from the identity provider, by outcome.",
    ),
    metric(
        "cardea_refresh_total",
        Kind::Counter,
        &[label("outcome", &["single", "shared", "reread", "fallback", "failed", "refused"])],
        "Tokens that were about to end, by how the request got another one, or none.",
    ),
    metric("cardea_refresh_wait_seconds", Kind::Histogram, &[], "Time requests waited for a refresh."),
    metric("cardea_lease_lost_total", Kind::Counter, &[], "Refreshes whose lease ran out while they were under way."),
    metric(
        "cardea_session_resurrect_blocked_total",
        Kind::Counter,
        &[],
        "Writes to a session that had ended meanwhile; it stayed ended.",
    ),
    metric(
        "cardea_tenant_mismatch_total",
        Kind::Counter,
        &[],
        "Cookies, records and callbacks of one tenant on the host of another, refused.",
    ),
    metric(
        "cardea_stream_closed_total",
        Kind::Counter,
        &[label(
            "reason",
            &[
                "sign_out",
                "elsewhere",
                "administrator",
                "disabled",
                "limit",
                "new_sign_in",
                "provider",
                "tokens_refused",
                "other_user",
                "ran_out",
                "api_key",
                "access_token",
            ],
        )],
        "Live pages, uploads, downloads and calls ended with their session or API key, by why that ended.",
    ),
    metric(
        "cardea_backchannel_logout_total",
        Kind::Counter,
        &[label("outcome", &["done", "refused", "replayed", "not_offered", "unavailable"])],
        "Logout tokens that identity providers sent, by outcome.",
    ),
    metric(
        "cardea_revocation_total",
        Kind::Counter,
        &[label("outcome", &["done", "not_offered", "failed"])],
        "Tokens to be taken back at the identity provider after a sign-out, by outcome.",
    ),
    metric(
        "cardea_csrf_block_total",
        Kind::Counter,
        &[label("signal", &["fetch_site", "origin", "nothing", "token", "media_type"])],
        "Changes that were not made because another place may have started them, by what showed it.",
    ),
    metric(
        "cardea_api_key_total",
        Kind::Counter,
        &[label("outcome", &["accepted", "unknown", "expired", "network", "unavailable"])],
        "API keys that came with requests, by whether they were good.",
    ),
    metric("cardea_sk_use_total", Kind::Counter, &[], "Calls to the scanning service with a tenant's server key."),
    metric(
        "cardea_api_refused_total",
        Kind::Counter,
        &[label("reason", &["network", "caller", "tenant", "breaker", "gate"])],
        "API calls that were not taken, by the limit that was reached.",
    ),
    metric(
        "cardea_breaker_state",
        Kind::Gauge,
        &[label("tenant", &[])],
        "Whether a tenant's scanning service is called: 0 it is, 1 one call tries, 2 it is left alone.",
    ),
    metric(
        "cardea_audit_lost_total",
        Kind::Counter,
        &[],
        "Audit events that are in the log only: too many waited for the store.",
    ),
    metric(
        "cardea_audit_left_out_total",
        Kind::Counter,
        &[],
        "Audit events of strangers that were counted instead of written down one by one.",
    ),
    metric("cardea_audit_waiting", Kind::Gauge, &[], "Audit events that wait for the store."),
    metric(
        "cardea_store_unavailable_seconds",
        Kind::Gauge,
        &[],
        "How long the session store has not answered; 0 while it answers.",
    ),
    metric(
        "cardea_cache_total",
        Kind::Counter,
        &[label("outcome", &["hit", "miss", "coalesced", "stale", "bypass"])],
        "Answers to API calls: kept, asked for, those of another request, kept and stale, never kept.",
    ),
    metric(
        "cardea_share_pdf_total",
        Kind::Counter,
        &[label("outcome", &["marked", "too_large", "encrypted", "unreadable", "cut", "busy"])],
        "PDF reports that recipients of shares asked for, by whether the line that names the share is in them; all others were refused.",
    ),
    metric("cardea_cache_bytes", Kind::Gauge, &[], "Memory that kept answers take."),
    metric("cardea_build_info", Kind::Gauge, &[label("version", &[])], "Always 1; the version is its label."),
    metric("process_resident_memory_bytes", Kind::Gauge, &[], "Memory of this process."),
    metric("process_open_fds", Kind::Gauge, &[], "Open files and connections of this process."),
    metric("process_start_time_seconds", Kind::Gauge, &[], "When this process started, in seconds since 1970."),
];
