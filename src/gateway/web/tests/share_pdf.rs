//! PDF reports for recipients: marked, or refused with words.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::{Either, select};

use super::bench::{Bench, Browser, End, GOOD_KEY, Pdf, Site};
use crate::gateway::domain::share_entry::{Mark, Outcome};
use crate::gateway::domain::tenant::TenantId;
use crate::gateway::store::tests::bench::until;
use crate::platform::secret::Secret;

const REPORT: &str = "/o/whole/view/report?type=pdf";

/// A PDF of one page, and as many bytes of comments.
fn pdf(comments: usize) -> Vec<u8> {
    let mut out = format!("%PDF-1.7\n%{}\n", "x".repeat(comments));
    let mut places = Vec::new();
    for value in ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] >>", "<< /Type /Page /Rotate 90 >>"] {
        places.push(out.len());
        writeln!(out, "{} 0 obj {value} endobj", places.len()).unwrap();
    }
    let begin = out.len();
    out += "xref\n0 4\n0000000000 65535 f \n";
    for place in places {
        writeln!(out, "{place:010} 00000 n ").unwrap();
    }
    write!(out, "trailer << /Size 4 /Root 1 0 R >>\nstartxref\n{begin}\n%%EOF").unwrap();
    out.into_bytes()
}

/// A bench whose share of a report somebody has opened.
async fn opened(bench: &Bench) -> (Site, Browser) {
    bench.share_with("whole", "REPORT", None, |entry| entry.maker.name = r"Ann) Tj (\".into()).await;
    let acme = TenantId::parse("acme").unwrap();
    bench.vault.add_active(&acme, "main".into(), Secret::new(GOOD_KEY), "alice".into()).await.unwrap();
    let portal = bench.portal().await;
    let mut browser = Browser::new("acme.example");
    assert_eq!(browser.post(&portal, "/o/whole", &[("wanted", "yes")]).await.status, 303);
    (portal, browser)
}

fn gives(bench: &Bench, bytes: Vec<u8>, is_chunked: bool, end: End) {
    bench.fake.lock().unwrap().pdf = Pdf { bytes, is_chunked, end, ..Pdf::default() };
}

async fn reports_noted(bench: &Bench) -> usize {
    bench.accesses("whole").await.iter().filter(|access| access.outcome == Outcome::Report).count()
}

#[actix_web::test]
async fn a_pdf_is_what_it_was_with_the_line_behind_it_and_its_length_is_told() {
    let bench = Bench::new();
    let (portal, mut browser) = opened(&bench).await;
    let short = Mark::of(&TenantId::parse("acme").unwrap(), &"whole".parse().unwrap()).short().to_owned();
    // More than one piece of what is sent at once.
    for (bytes, is_chunked) in [(pdf(0), false), (pdf(0), true), (pdf(200_000), true)] {
        gives(&bench, bytes.clone(), is_chunked, End::Whole);
        let report = browser.get(&portal, REPORT).await;
        assert_eq!(report.status, 200, "{}", report.body);
        assert!(report.body.as_bytes().starts_with(&bytes) && report.body.ends_with("%%EOF\n"));
        let line = report.body.get(bytes.len()..).unwrap();
        assert!(line.contains(&format!("through share {short}, downloaded 2026-")), "{line}");
        // Who made the share has a name that tries everything; its brackets are words.
        assert!(line.contains(r"(Given out by Ann\) Tj \(\\ through"), "{line}");
        assert_eq!(report.header("content-length"), report.body.len().to_string());
        assert_eq!(report.header("content-type"), "application/pdf");
        assert!(report.header("content-disposition").contains(&format!("_share-{short}.pdf")));
    }
    until("a line for each", async || reports_noted(&bench).await == 3).await;
}

#[actix_web::test]
async fn what_cannot_be_marked_is_refused_with_words_and_html_is_still_there() {
    let bench = Bench::with(|settings| settings.shares.pdf_bytes = 4096);
    let (portal, mut browser) = opened(&bench).await;
    let encrypted = String::from_utf8(pdf(0)).unwrap().replace("/Size 4", "/Size 4 /Encrypt 1 0 R").into_bytes();
    let cases = [
        (pdf(4096), false, "too large"),
        (pdf(4096), true, "too large"),
        (encrypted, true, "could not be put on the pages"),
        (b"%PDF-1.7 garbage".to_vec(), true, "could not be put on the pages"),
        (Vec::new(), false, "could not be put on the pages"),
        (pdf(0).split_last().unwrap().1[..200].to_vec(), true, "could not be put on the pages"),
    ];
    for (bytes, is_chunked, words) in cases {
        gives(&bench, bytes, is_chunked, End::Whole);
        let refused = browser.get(&portal, REPORT).await;
        refused.is_clean();
        assert_eq!(refused.status, 502, "{words}");
        assert!(refused.body.contains(words) && refused.body.contains("report in HTML") && !refused.body.contains("%PDF"));
    }
    assert_eq!(reports_noted(&bench).await, 0);
    let html = browser.get(&portal, "/o/whole/view/report?type=html").await;
    assert!(html.status == 200 && html.body.contains("through share "));
    gives(&bench, pdf(0), false, End::Whole);
    assert_eq!(browser.get(&portal, REPORT).await.status, 200, "a PDF of the largest size and below passes");
}

#[actix_web::test]
async fn a_pdf_that_breaks_off_is_a_page_with_words_and_no_part_of_a_file() {
    let bench = Bench::new();
    let (portal, mut browser) = opened(&bench).await;
    for is_chunked in [false, true] {
        gives(&bench, pdf(3000), is_chunked, End::Cut);
        let broken = browser.get(&portal, REPORT).await;
        broken.is_clean();
        assert!(broken.status.is_server_error() && !broken.body.contains("%PDF"), "{} {}", broken.status, broken.body);
        assert_eq!(broken.header("content-disposition"), "");
    }
}

#[actix_web::test]
async fn as_many_as_may_are_held_at_once_and_who_leaves_gives_the_place_back() {
    let bench = Bench::with(|settings| (settings.shares.pdfs_at_once, settings.shares.pdf_wait_seconds) = (1, 0));
    let (portal, mut browser) = opened(&bench).await;
    // More than lies in buffers on the way, so that whoever got it out has a place.
    let is_out = Arc::new(AtomicBool::new(false));
    bench.fake.lock().unwrap().pdf =
        Pdf { bytes: pdf(20_000_000), is_chunked: true, end: End::Held, is_out: Arc::clone(&is_out) };
    let mut first = Browser { cookies: browser.cookies.clone(), ..Browser::new("acme.example") };
    let held = Box::pin(first.get(&portal, REPORT));
    let busy = Box::pin(async {
        until("the first has a place", async || is_out.load(Ordering::Relaxed)).await;
        gives(&bench, pdf(0), true, End::Whole);
        browser.get(&portal, REPORT).await
    });
    let Either::Right((busy, held)) = select(held, busy).await else { panic!("a report that never ends was sent") };
    busy.is_clean();
    assert_eq!((busy.status.as_u16(), busy.header("retry-after").as_str()), (503, "10"));
    assert!(busy.body.contains("Many reports are being prepared"));
    // The one who waits for the rest leaves.
    drop(held);
    let again = browser.get(&portal, REPORT).await;
    assert_eq!(again.status, 200, "{}", again.body);
}
