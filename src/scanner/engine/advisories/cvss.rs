//! The base score of a CVSS 3 vector, as its specification computes it. Records of some sources carry nothing else to tell
//! how bad a flaw is.

use crate::contract::results::Severity;

/// A longer one is none.
const LONGEST: usize = 200;

/// The text when it is a vector of CVSS 3.0 or 3.1.
pub(super) fn vector(text: &str) -> Option<String> {
    let text = text.trim();
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'/' | b'.'));
    (text.len() <= LONGEST && plain && (text.starts_with("CVSS:3.0/") || text.starts_with("CVSS:3.1/"))).then(|| text.to_owned())
}

/// 0 to 10 in steps of a tenth; `None` when a base metric is missing or unknown.
pub(in crate::scanner::engine) fn score(vector: &str) -> Option<f64> {
    let metric = |name: &str| vector.split('/').find_map(|part| part.strip_prefix(name)?.strip_prefix(':'));
    let is_changed = match metric("S")? {
        "C" => true,
        "U" => false,
        _ => return None,
    };
    let privileges = match (metric("PR")?, is_changed) {
        ("N", _) => 0.85,
        ("L", false) => 0.62,
        ("L", true) => 0.68,
        ("H", false) => 0.27,
        ("H", true) => 0.5,
        _ => return None,
    };
    let way = pick(metric("AV")?, &[("N", 0.85), ("A", 0.62), ("L", 0.55), ("P", 0.2)])?;
    let complexity = pick(metric("AC")?, &[("L", 0.77), ("H", 0.44)])?;
    let interaction = pick(metric("UI")?, &[("N", 0.85), ("R", 0.62)])?;
    let loss = |name: &str| pick(metric(name)?, &[("H", 0.56), ("L", 0.22), ("N", 0.0)]);
    let base: f64 = 1.0 - (1.0 - loss("C")?) * (1.0 - loss("I")?) * (1.0 - loss("A")?);
    let impact = if is_changed { 7.52 * (base - 0.029) - 3.25 * (base - 0.02).powi(15) } else { 6.42 * base };
    if impact <= 0.0 {
        return Some(0.0);
    }
    let sum = impact + 8.22 * way * complexity * privileges * interaction;
    Some(round_up(if is_changed { (1.08 * sum).min(10.0) } else { sum.min(10.0) }))
}

fn pick(value: &str, known: &[(&str, f64)]) -> Option<f64> {
    known.iter().find(|(name, _)| *name == value).map(|(_, weight)| *weight)
}

/// Up to the next tenth, without the noise of binary fractions (specification, appendix A).
fn round_up(value: f64) -> f64 {
    let scaled = (value * 100_000.0).round();
    (scaled / 10_000.0).ceil() / 10.0
}

/// The band a score lies in; none for 0.
pub(super) fn band(score: f64) -> Option<Severity> {
    match score {
        score if score >= 9.0 => Some(Severity::Critical),
        score if score >= 7.0 => Some(Severity::High),
        score if score >= 4.0 => Some(Severity::Medium),
        score if score > 0.0 => Some(Severity::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{band, score, vector};
    use crate::contract::results::Severity;

    #[test]
    fn vectors_of_known_flaws_have_their_published_scores() {
        for (text, expected) in [
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 10.0),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", 7.5),
            ("CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:H/I:N/A:N", 5.3),
            ("CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1),
            ("CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:N/I:N/A:N", 0.0),
        ] {
            let found = score(&vector(text).unwrap()).unwrap();
            assert!((found - expected).abs() < 0.001, "{text}: {found}");
        }
        assert_eq!(
            [band(9.8), band(7.0), band(6.9), band(0.1), band(0.0)],
            [Some(Severity::Critical), Some(Severity::High), Some(Severity::Medium), Some(Severity::Low), None]
        );
    }

    #[test]
    fn what_is_no_vector_has_no_score() {
        assert_eq!(vector("CVSS:4.0/AV:N"), None);
        assert_eq!(vector("CVSS:3.1/<script>"), None);
        assert_eq!(score("CVSS:3.1/AV:N/AC:L"), None);
        assert_eq!(score("CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"), None);
    }
}
