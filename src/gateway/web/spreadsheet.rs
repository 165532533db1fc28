//! Rows for spreadsheets: CSV (RFC 4180) that no program takes for a formula, with a byte order mark so that all read it as UTF-8.

use super::error::WebError;
use crate::platform::hostile::Hostile;

/// What the file begins with.
const MARK: &str = "\u{feff}";

/// The mark and the row of the columns' names.
pub(in crate::gateway) fn header(columns: &[&str]) -> Result<Vec<u8>, WebError> {
    let mut out = MARK.as_bytes().to_vec();
    out.extend(rows(std::iter::once(columns))?);
    Ok(out)
}

/// Rows of cells. Every cell is made harmless, whoever wrote it.
pub(in crate::gateway) fn rows<R, C>(rows: impl IntoIterator<Item = R>) -> Result<Vec<u8>, WebError>
where
    R: IntoIterator<Item = C>,
    C: AsRef<str>,
{
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).flexible(false).from_writer(Vec::new());
    for row in rows {
        let cells = row.into_iter().map(|text| cell(text.as_ref()));
        writer.write_record(cells).map_err(|error| WebError::internal(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| WebError::internal(error.to_string()))
}

/// Text that stays text: with an apostrophe before it where a program would calculate. That goes by the first character that
/// counts, since programs pass over blanks and quotes, and know the full-width forms. What cannot be seen is made visible.
fn cell(text: &str) -> String {
    let shown = Hostile::from(text).code();
    let passed = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '\u{2018}'..='\u{201f}' | '`');
    let first = shown.trim_start_matches(passed).chars().next();
    let calculates = matches!(first, Some('=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}'));
    if calculates || text.starts_with(['\t', '\r', '\n']) { format!("'{shown}") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_what_is_none_stays_as_it_is() {
        for formula in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "  =1",
            "\"=1",
            "' =1",
            "\u{a0}=1",
            "\u{ff1d}1",
            "\u{ff0b}1",
            "\u{ff0d}1",
            "\u{ff20}A1",
            " \u{201c}=1",
            "\ttext",
        ] {
            assert!(cell(formula).starts_with('\''), "{formula:?} became {:?}", cell(formula));
        }
        for plain in ["", "text", "a=b", "2026-11-28T00:00:00Z", "192.0.2.0/24", "#1", "don't"] {
            assert_eq!(cell(plain), plain);
        }
        assert_eq!(cell("a\u{202e}b"), "a[U+202E]b");
        assert_eq!(cell("\u{200b}=1"), "[U+200B]=1", "what is invisible is not passed over but shown");
    }

    #[test]
    fn rows_are_quoted_where_they_must_be_and_the_header_too() {
        let mut all = header(&["a", "=b"]).unwrap();
        all.extend(rows([["x, y", "line\none \"two\""]]).unwrap());
        assert_eq!(String::from_utf8(all).unwrap(), "\u{feff}a,'=b\r\n\"x, y\",\"line\none \"\"two\"\"\"\r\n");
    }
}
