//! The line in a downloaded report that names the share it came through, so that a copy that turns up somewhere leads back to
//! whom it was given. Into HTML it is put while the report streams by; into a PDF, once it is whole (`pdf.rs`).

use std::fmt::Write as _;
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::platform::clock::Timestamp;

/// A body on its way.
pub(super) type Body = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// How much of a page is looked at for the beginning of its body; behind that the line comes last.
const HEAD: usize = 64 * 1024;

/// The page with these words in it, and how many bytes that adds.
pub(super) fn marked(body: Body, words: &str) -> (Body, u64) {
    let line = format!("<p>{}</p>", escaped(words));
    let added = line.len() as u64;
    let state = Some((body, Page { held: Vec::new(), line: Some(line) }));
    let stream = futures_util::stream::unfold(state, |state| async move {
        let (mut body, mut page) = state?;
        match body.next().await {
            Some(Ok(piece)) => Some((Ok(page.pass(piece)), Some((body, page)))),
            Some(Err(error)) => Some((Err(error), None)),
            None => page.rest().map(|rest| (Ok(rest), None)),
        }
    });
    // An empty piece would end a chunked answer.
    let full = stream.filter(|piece| std::future::ready(piece.as_ref().map_or(true, |piece| !piece.is_empty())));
    (Box::pin(full), added)
}

/// What the line says. Who made the share and their note are written by people, in any script.
pub(super) fn words(mark: &Mark, entry: &Entry, now: Timestamp) -> String {
    let whom = if entry.note.is_empty() { String::new() } else { format!(" Note: {}", entry.note.short(200)) };
    let (by, at) = (entry.maker.name.short(80), Timestamp(now.seconds() * 1000).rfc3339());
    format!("Given out by {by} through share {}, downloaded {at}. Confidential.{whom}", mark.short())
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Whatever encoding the page says it has.
            c if !c.is_ascii() => {
                // Writing into a text cannot fail.
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c => out.push(c),
        }
        out
    })
}

/// A page as it streams by.
struct Page {
    /// What came before its body began.
    held: Vec<u8>,
    /// Until it is put in.
    line: Option<String>,
}

impl Page {
    fn pass(&mut self, piece: Bytes) -> Bytes {
        if self.line.is_none() || self.held.len() > HEAD {
            return piece;
        }
        self.held.extend_from_slice(&piece);
        if let Some(at) = body_begins(&self.held) {
            let rest = self.held.split_off(at);
            let line = self.line.take().unwrap_or_default();
            return Bytes::from([std::mem::take(&mut self.held), line.into_bytes(), rest].concat());
        }
        if self.held.len() <= HEAD { Bytes::new() } else { Bytes::from(self.held.clone()) }
    }

    /// What is left when the page has ended.
    fn rest(mut self) -> Option<Bytes> {
        let held = if self.held.len() > HEAD { Vec::new() } else { std::mem::take(&mut self.held) };
        let rest = [held, self.line.take().unwrap_or_default().into_bytes()].concat();
        (!rest.is_empty()).then(|| Bytes::from(rest))
    }
}

/// Behind the tag that begins the body.
fn body_begins(html: &[u8]) -> Option<usize> {
    let lower = html.to_ascii_lowercase();
    let tag = memchr::memmem::find_iter(&lower, b"<body")
        .find(|at| lower.get(at + 5).is_some_and(|after| matches!(after, b'>' | b' ' | b'\n' | b'\r' | b'\t')))?;
    memchr::memchr(b'>', lower.get(tag..)?).map(|end| tag + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::shares::ShareType;
    use crate::gateway::domain::share_entry::Maker;
    use crate::gateway::domain::tenant::TenantId;

    fn entry() -> Entry {
        let maker = Maker { key: "k".to_owned(), name: "Ann <b>".into() };
        Entry {
            note: "für Bob </p><script>".into(),
            ..Entry::new("s".parse().unwrap(), "t".parse().unwrap(), ShareType::Report, maker, Timestamp(0), 1)
        }
    }

    async fn through(pieces: Vec<&[u8]>) -> (String, u64) {
        let mark = Mark::of(&TenantId::parse("acme").unwrap(), &"s".parse().unwrap());
        let pieces: Vec<_> = pieces.into_iter().map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let (body, added) = marked(Box::pin(futures_util::stream::iter(pieces)), &words(&mark, &entry(), Timestamp(0)));
        let pieces: Vec<_> = body.collect().await;
        assert!(pieces.iter().all(|piece| !piece.as_ref().unwrap().is_empty()));
        let all: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.unwrap().to_vec()).collect();
        (String::from_utf8(all).unwrap(), added)
    }

    #[tokio::test]
    async fn the_line_comes_first_in_the_body_however_the_page_is_cut() {
        let page = b"<!doctype html><head><title>a &lt;body&gt;</title></head><BODY class=\"a\">\n<p>x</p></body>";
        let mark = Mark::of(&TenantId::parse("acme").unwrap(), &"s".parse().unwrap());
        for size in 1..page.len() {
            let (html, added) = through(page.chunks(size).collect()).await;
            let (before, after) = html.split_once("<p>Given out by ").unwrap();
            assert!(before.ends_with("<BODY class=\"a\">") && after.ends_with("</p>\n<p>x</p></body>"), "{html}");
            assert!(after.starts_with(&format!(
                "Ann &lt;b&gt; through share {}, downloaded 1970-01-01T00:00:00Z. Confidential. Note: f&#252;r Bob",
                mark.short()
            )));
            assert!(!html.contains("<script>"));
            assert_eq!(html.len() as u64, page.len() as u64 + added);
        }
    }

    #[tokio::test]
    async fn a_page_without_a_body_tag_has_the_line_at_its_end_and_stays_whole() {
        for page in [&b"<p>no tags"[..], b"", b"<bodyguard>x", b"<body", &vec![b'x'; HEAD * 2]] {
            for size in [7, HEAD - 1, HEAD * 3] {
                let (html, added) = through(page.chunks(size).collect()).await;
                assert!(html.as_bytes().starts_with(page), "{} bytes by {size}", page.len());
                assert_eq!(html.len() as u64, page.len() as u64 + added);
            }
        }
    }
}
