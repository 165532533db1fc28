//! Error answers that come compressed: what they say has to be known before a call is tried again. Nothing is changed on the way.

use std::io::Read as _;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The beginning of an error answer as it was before it was compressed, at most `most` bytes; `None` where it is compressed in a
/// way, or more than one, that is not read here, or is not what it says.
pub(super) fn plain(headers: &HeaderMap, body: &[u8], most: usize) -> Option<Vec<u8>> {
    let codings =
        headers.get_all(CONTENT_ENCODING).iter().map(|value| value.to_str().ok()).collect::<Option<Vec<_>>>()?.join(",");
    let named = |coding: &&str| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity");
    let mut codings = codings.split(',').map(str::trim).filter(named);
    let (coding, more) = (codings.next(), codings.next());
    if more.is_some() {
        return None;
    }
    let most = u64::try_from(most).ok()?;
    let mut read = Vec::new();
    let done = match coding {
        None => return Some(body.to_vec()),
        Some(coding) if is(coding, &["gzip", "x-gzip"]) => MultiGzDecoder::new(body).take(most).read_to_end(&mut read),
        Some(coding) if is(coding, &["deflate"]) => ZlibDecoder::new(body).take(most).read_to_end(&mut read),
        Some(_) => return None,
    };
    done.ok().map(|_| read)
}

fn is(coding: &str, names: &[&str]) -> bool {
    names.iter().any(|name| coding.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    fn coded(codings: &[&'static str]) -> HeaderMap {
        codings.iter().map(|coding| (CONTENT_ENCODING, coding.parse().unwrap())).collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn what_was_compressed_is_read_and_what_cannot_be_read_is_nothing() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(b"words").unwrap();
        let zlib = zlib.finish().unwrap();
        let words = Some(b"words".to_vec());
        assert_eq!(plain(&coded(&[]), b"words", 100), words);
        assert_eq!(plain(&coded(&["identity"]), b"words", 100), words);
        assert_eq!(plain(&coded(&["GZip"]), &gzip(b"words"), 100), words);
        assert_eq!(plain(&coded(&["identity", "x-gzip"]), &gzip(b"words"), 100), words);
        assert_eq!(plain(&coded(&["deflate"]), &zlib, 100), words);
        for (codings, body) in [
            (vec!["br"], b"words".to_vec()),
            (vec!["gzip, gzip"], gzip(&gzip(b"words"))),
            (vec!["gzip", "br"], gzip(b"words")),
            (vec!["gzip"], b"words".to_vec()),
            (vec!["gzip"], gzip(b"words")[..12].to_vec()),
        ] {
            assert_eq!(plain(&coded(&codings), &body, 100), None, "{codings:?}");
        }
    }

    #[test]
    fn a_body_that_unpacks_to_much_takes_as_much_as_it_may() {
        let bomb = gzip(&vec![b' '; 10_000_000]);
        assert_eq!(plain(&coded(&["gzip"]), &bomb, 1000).unwrap().len(), 1000);
    }
}
