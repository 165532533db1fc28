//! The audit log as a file for spreadsheets or programs, made piece by piece.

use serde_json::{Value, json};

use crate::gateway::domain::audit::{Deed, Written};
use crate::gateway::domain::audit_filter::AuditFilter;
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::services::audit::{Form, Line, Lines};
use crate::gateway::web::error::WebError;
use crate::gateway::web::spreadsheet;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;

/// Columns of the spreadsheet, fixed for good: programs rely on their order.
const COLUMNS: [&str; 11] =
    ["number", "time", "actor", "actor_name", "session", "act", "detail", "object", "result", "network", "request_id"];

/// The log as a file.
pub(in crate::gateway) struct File {
    form: Form,
    tenant: String,
    query: String,
    range: (Timestamp, Timestamp),
    now: Timestamp,
    /// Deeds that are not in the file because anybody can cause them, by name: the numbers have gaps there.
    left_out: Vec<&'static str>,
}

impl File {
    pub(in crate::gateway) fn new(form: Form, tenant: &TenantId, filter: &AuditFilter, now: Timestamp) -> Self {
        Self {
            form,
            tenant: tenant.to_string(),
            query: filter.query(None),
            range: filter.range(now),
            now,
            left_out: filter.hidden().map(Deed::name).collect(),
        }
    }

    /// `audit-acme-2026-11-28.csv`.
    pub(in crate::gateway) fn name(&self) -> String {
        let time = self.now.rfc3339();
        let (day, ending) = (time.split('T').next().unwrap_or_default(), if self.form == Form::Csv { "csv" } else { "json" });
        format!("audit-{}-{day}.{ending}", self.tenant)
    }

    pub(in crate::gateway) const fn media_type(&self) -> &'static str {
        match self.form {
            Form::Csv => "text/csv; charset=utf-8; header=present",
            Form::Json => "application/json",
        }
    }

    /// What comes before the events.
    pub(in crate::gateway) fn start(&self) -> Result<Vec<u8>, WebError> {
        if self.form == Form::Csv {
            return spreadsheet::header(&COLUMNS);
        }
        let until = self.range.1.min(self.now).rfc3339();
        let head = json!({
            "tenant": self.tenant, "exported_at": self.now.rfc3339(), "filter": self.query,
            "from": self.range.0.rfc3339(), "until": until, "left_out": self.left_out,
        });
        let head = head.to_string();
        Ok(format!("{},\"events\":[", head.strip_suffix('}').unwrap_or(&head)).into_bytes())
    }

    /// Some events. `is_first` until one was written.
    pub(in crate::gateway) fn piece(form: Form, lines: &Lines, is_first: &mut bool) -> Result<Vec<u8>, WebError> {
        let cells = lines.iter().map(|(line, name)| cells(line, name.as_ref()));
        if form == Form::Csv {
            return spreadsheet::rows(cells);
        }
        let mut out = String::new();
        for cells in cells {
            let pairs = COLUMNS.into_iter().zip(cells).filter(|(_, value)| !value.is_empty());
            let event: serde_json::Map<String, Value> = pairs.map(|(name, value)| (name.to_owned(), value.into())).collect();
            out.push_str(if std::mem::take(is_first) { "\n" } else { ",\n" });
            out.push_str(&Value::Object(event).to_string());
        }
        Ok(out.into_bytes())
    }

    /// What comes after them.
    pub(in crate::gateway) fn end(&self) -> Vec<u8> {
        if self.form == Form::Csv { Vec::new() } else { b"\n]}\n".to_vec() }
    }
}

/// A line in the order of the columns.
fn cells(line: &Line, name: Option<&Hostile>) -> [String; 11] {
    let text = |known: &Option<String>| known.clone().unwrap_or_default();
    let empty = String::new;
    match line {
        Line::Missing { first, last, how } => {
            let number = if first == last { first.to_string() } else { format!("{first} to {last}") };
            let (act, how) = ("missing".to_owned(), (*how).to_owned());
            [number, empty(), empty(), empty(), empty(), act, how, empty(), empty(), empty(), empty()]
        }
        Line::Event(Written { number, at, event }) => [
            number.to_string(),
            at.rfc3339_millis(),
            text(&event.user),
            name.map(|name| name.short(200)).unwrap_or_default(),
            text(&event.session),
            event.deed.name().to_owned(),
            event.what().to_owned(),
            event.object().unwrap_or_default().to_owned(),
            event.outcome().name().to_owned(),
            text(&event.network),
            text(&event.request_id),
        ],
    }
}
