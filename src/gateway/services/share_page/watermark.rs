//! The line in a downloaded report that names the share it came through, so that a copy that turns up somewhere leads back to
//! whom it was given. Into HTML it is put while the report streams by; into a PDF, once it is whole (`pdf.rs`).

use std::fmt::Write as _;
use std::io;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use super::html::{CLOSING, Scan};
use crate::gateway::domain::share_entry::{Entry, Mark};
use crate::platform::clock::Timestamp;

/// A body on its way.
pub(super) type Body = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The page with these words first in its body, or last where it has no tag for that; and how many bytes that adds.
pub(super) fn marked(body: Body, words: &str) -> (Body, u64) {
    let line = format!("<p>{}</p>", escaped(words));
    let added = (line.len() + CLOSING) as u64;
    let state = Some((body, Page { scan: Scan::new(), line: Some(line) }));
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
    scan: Scan,
    /// Until it is put in.
    line: Option<String>,
}

impl Page {
    fn pass(&mut self, piece: Bytes) -> Bytes {
        let Some(at) = self.line.as_ref().and_then(|_| self.scan.body_begins(&piece)) else { return piece };
        let (before, after) = piece.split_at_checked(at).unwrap_or((&piece, &[]));
        Bytes::from([before, &self.added(&[]), after].concat())
    }

    /// What is left when the page has ended.
    fn rest(mut self) -> Option<Bytes> {
        self.line.is_some().then(|| Bytes::from(self.added(&self.scan.clone().closing())))
    }

    /// The line behind `closing`. However long that is, as many bytes are added: their number is told before the page is read.
    fn added(&mut self, closing: &[u8]) -> Vec<u8> {
        let line = self.line.take().unwrap_or_default();
        [closing, line.as_bytes(), &vec![b' '; CLOSING.saturating_sub(closing.len())]].concat()
    }
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
            assert!(
                before.ends_with("<BODY class=\"a\">") && after.split_once("</p>").unwrap().1.trim_start() == "<p>x</p></body>",
                "{html}"
            );
            assert!(after.starts_with(&format!(
                "Ann &lt;b&gt; through share {}, downloaded 1970-01-01T00:00:00Z. Confidential. Note: f&#252;r Bob",
                mark.short()
            )));
            assert!(!html.contains("<script>"));
            assert_eq!(html.len() as u64, page.len() as u64 + added);
        }
    }

    #[tokio::test]
    async fn a_page_without_a_body_tag_has_the_line_at_its_end_where_it_is_seen_and_stays_whole() {
        let pages =
            [&b"<p>no tags"[..], b"", b"<bodyguard>x", b"<body", b"<!-- <body> ", b"<script>'<body>'", &vec![b'x'; 200_000]];
        let closed = ["", "", "", ">", "-->", "</script>", ""];
        for (page, closed) in pages.into_iter().zip(closed) {
            for size in [1, 7, 300_000] {
                let (html, added) = through(page.chunks(size).collect()).await;
                assert!(html.as_bytes().starts_with(page), "{} bytes by {size}", page.len());
                assert!(html[page.len()..].starts_with(&format!("{closed}<p>Given out by ")), "{html}");
                assert_eq!(html.len() as u64, page.len() as u64 + added);
            }
        }
    }

    #[tokio::test]
    async fn the_line_is_never_where_nobody_sees_it() {
        for hidden in ["<!-- <body> -->", "<script>'<body>'</script>", "<style>/*<body>*/</style>", "<title><body></title>"] {
            let page = format!("<html>{hidden}<body id=a>x</body>");
            for size in 1..page.len() {
                let (html, _) = through(page.as_bytes().chunks(size).collect()).await;
                let (before, _) = html.split_once("<p>Given out by ").unwrap();
                assert_eq!(before, format!("<html>{hidden}<body id=a>"));
            }
        }
    }
}
