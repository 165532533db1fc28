//! What the lists of the service can be filtered and sorted by (WIRE 18 #3; the interface is silent, so the fields are ours).

/// How the content of a field compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `EQ`, `LIKE` and `IN`, in any case.
    Text,
    /// `EQ` and `IN`; sorts the most severe first.
    Severity,
    /// `EQ`, `GE`, `LE` and `BETWEEN`; RFC 3339, a date, or milliseconds.
    Time,
}

/// Names and kinds. The reference service keeps its entries in this order, so what is new goes to the end.
pub type Fields = &'static [(&'static str, Kind)];

/// The farthest time from 1970 that a filter takes, in milliseconds: what still is a time for everybody (ECMA-262, 21.4.1.1).
pub const FARTHEST: i64 = 8_640_000_000_000_000;

pub const TASKS: Fields = &[
    ("taskId", Kind::Text),
    ("projectName", Kind::Text),
    ("lang", Kind::Text),
    ("taskStatus", Kind::Text),
    ("createdBy", Kind::Text),
    ("groupId", Kind::Text),
    ("serviceName", Kind::Text),
    ("createdAt", Kind::Time),
    ("updatedAt", Kind::Time),
];

pub const RESULTS: Fields = &[
    ("vulId", Kind::Text),
    ("title", Kind::Text),
    ("category", Kind::Text),
    ("cweId", Kind::Text),
    ("cveId", Kind::Text),
    ("component", Kind::Text),
    ("severity", Kind::Severity),
];

pub const CHAINS: Fields = &[
    ("vulId", Kind::Text),
    ("title", Kind::Text),
    ("category", Kind::Text),
    ("cweId", Kind::Text),
    ("severity", Kind::Severity),
];

pub const COMPONENTS: Fields = &[
    ("name", Kind::Text),
    ("version", Kind::Text),
    ("ecosystem", Kind::Text),
    ("path", Kind::Text),
    ("severity", Kind::Severity),
];

pub const SHARES: Fields = &[
    ("shareId", Kind::Text),
    ("taskId", Kind::Text),
    ("projectName", Kind::Text),
    ("shareType", Kind::Text),
    ("createdBy", Kind::Text),
    ("createdAt", Kind::Time),
    ("expiredAt", Kind::Time),
];
