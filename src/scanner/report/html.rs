//! The HTML report: one self-contained page without script, written in chunks while it is sent.

use std::fmt;
use std::io;
use std::sync::LazyLock;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::{Stream, stream};
use tokio::sync::mpsc;

use super::Content;
use super::view::View;
use super::words::Words;
use crate::platform::digest;

/// The style sheet, compiled in.
const STYLE: &str = include_str!("../../../templates/report/report.css");
/// Bytes of a chunk, about.
const CHUNK: usize = 32 << 10;
/// Chunks between the writer and the connection; beyond it the writer waits.
const CHUNKS_ON_THE_WAY: usize = 4;

static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(digest::sha256(STYLE.trim_end_matches('\n').as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
});

/// What the page may load: nothing, but the style it carries. Also inside the page, for copies on a disk.
pub(super) fn policy() -> &'static str {
    &POLICY
}

#[derive(Template)]
#[template(path = "report/report.html")]
struct Page {
    view: View,
    policy: &'static str,
}

/// The page of `content` in chunks.
pub(super) fn stream(content: Content) -> impl Stream<Item = Result<Bytes, io::Error>> {
    let (chunks, waiting) = mpsc::channel(CHUNKS_ON_THE_WAY);
    tokio::task::spawn_blocking(move || {
        let view = View::new(&content, Words::of(content.language));
        let page = Page { view, policy: policy() };
        let mut out = Chunks { filling: BytesMut::with_capacity(CHUNK), chunks };
        if page.render_into(&mut out).is_ok() {
            // Fails when the reader has gone, and then nobody misses it.
            let _ = out.flush();
        }
    });
    stream::unfold(waiting, |mut waiting| async move { waiting.recv().await.map(|chunk| (Ok(chunk), waiting)) })
}

struct Chunks {
    filling: BytesMut,
    chunks: mpsc::Sender<Bytes>,
}

impl Chunks {
    fn flush(&mut self) -> fmt::Result {
        self.chunks.blocking_send(self.filling.split().freeze()).map_err(|_| fmt::Error)
    }
}

impl fmt::Write for Chunks {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.filling.put_slice(text.as_bytes());
        if self.filling.len() >= CHUNK { self.flush() } else { Ok(()) }
    }
}
