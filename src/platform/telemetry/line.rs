//! A line of the log in JSON: time, level, the members of the event, target, and the span it is in with its members. The same
//! line as the formatter of tracing-subscriber writes, in half the time: that one sorts a span's members in a tree and reads them
//! back from JSON for every line, and there is a span and a line for every request.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::span::Record;
use tracing::{Event, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// To be used with fields that are formatted as a JSON object.
pub(super) struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let about = event.metadata();
        out.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut out)?;
        write!(out, "\",\"level\":\"{}\"", about.level())?;
        let mut members = Members { out, between: ",", outcome: Ok(()) };
        event.record(&mut members);
        let mut out = members.end()?;
        out.write_str(",\"target\":")?;
        text(&mut out, about.target())?;
        if let Some(span) = event.parent().and_then(|id| context.span(id)).or_else(|| context.lookup_current()) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<N>>().map_or("{}", |fields| fields.fields.as_str());
            let open = fields.strip_suffix('}').unwrap_or("{");
            let between = if open.len() > 1 { "," } else { "" };
            write!(out, ",\"span\":{open}{between}\"name\":")?;
            text(&mut out, span.name())?;
            out.write_char('}')?;
        }
        out.write_str("}\n")
    }
}

/// The members of a span, as a JSON object.
pub(super) struct Fields;

impl<'w> FormatFields<'w> for Fields {
    fn format_fields<R: RecordFields>(&self, mut out: Writer<'w>, fields: R) -> fmt::Result {
        out.write_char('{')?;
        let mut members = Members { out, between: "", outcome: Ok(()) };
        fields.record(&mut members);
        members.end()?.write_char('}')
    }

    fn add_fields(&self, current: &'w mut FormattedFields<Self>, fields: &Record<'_>) -> fmt::Result {
        current.fields.pop();
        let between = if current.fields.len() > 1 { "," } else { "" };
        let mut members = Members { out: current.as_writer(), between, outcome: Ok(()) };
        fields.record(&mut members);
        members.end()?.write_char('}')
    }
}

/// Writes members, each after what is to stand between it and the one before.
struct Members<'w> {
    out: Writer<'w>,
    between: &'static str,
    outcome: fmt::Result,
}

impl<'w> Members<'w> {
    fn member(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        let write = || {
            self.out.write_str(self.between)?;
            text(&mut self.out, field.name())?;
            self.out.write_char(':')?;
            value(&mut self.out)
        };
        if self.outcome.is_ok() {
            self.outcome = write();
            self.between = ",";
        }
    }

    fn end(self) -> Result<Writer<'w>, fmt::Error> {
        self.outcome.map(|()| self.out)
    }
}

impl Visit for Members<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // There is no other number in JSON.
        self.member(field, |out| if value.is_finite() { write!(out, "{value}") } else { out.write_str("null") });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |out| write!(out, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |out| text(out, value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.member(field, |out| {
            out.write_char('"')?;
            write!(Escaped(out), "{value:?}")?;
            out.write_char('"')
        });
    }
}

fn text(out: &mut Writer<'_>, value: &str) -> fmt::Result {
    out.write_char('"')?;
    Escaped(out).write_str(value)?;
    out.write_char('"')
}

/// The inside of a string of JSON (RFC 8259, section 7).
struct Escaped<'e, W>(&'e mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, value: &str) -> fmt::Result {
        let mut rest = value;
        while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
            let (plain, from) = rest.split_at(at);
            self.0.write_str(plain)?;
            let mut characters = from.chars();
            match characters.next() {
                Some(mark @ ('"' | '\\')) => write!(self.0, "\\{mark}")?,
                Some(control) => write!(self.0, "\\u{:04x}", u32::from(control))?,
                None => {}
            }
            rest = characters.as_str();
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use tracing_subscriber::fmt;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines that `work` logs, without their times.
    fn lines(work: impl Fn(), is_ours: bool) -> Vec<Value> {
        let kept = Kept::default();
        let writer = {
            let kept = kept.clone();
            move || kept.clone()
        };
        let log = fmt().with_writer(writer).json();
        if is_ours {
            tracing::subscriber::with_default(log.event_format(Line).fmt_fields(Fields).finish(), work);
        } else {
            let theirs = log.flatten_event(true).with_current_span(true).with_span_list(false);
            tracing::subscriber::with_default(theirs.finish(), work);
        }
        let bytes = kept.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        let read = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            assert!(line["timestamp"].take().is_string());
            line
        };
        text.lines().map(read).collect()
    }

    #[test]
    fn a_line_is_the_one_that_the_library_writes() {
        let odd = "quote \" backslash \\ line\nbreak \u{1} \u{7f} \u{1f980}";
        let work = || {
            tracing::warn!("no span and no members");
            let span = tracing::info_span!("request", id = %odd, tenant = "acme", later = tracing::field::Empty);
            let _in = span.enter();
            tracing::info!(status = 200_u16, took = 1.5, below = -1, yes = true, odd, shown = %odd, ?odd, "an {odd} message");
            tracing::info_span!("empty").in_scope(|| tracing::error!(large = u128::MAX, small = i128::MIN, "inside"));
            span.record("later", "now \" odd");
            tracing::info!("again");
        };
        let ours = lines(work, true);
        assert_eq!(ours.len(), 4);
        assert_eq!(ours, lines(work, false));
        assert_eq!(ours[3]["span"]["later"], json!("now \" odd"));
    }
}
