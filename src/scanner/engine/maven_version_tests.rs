//! The order of versions against rules written by hand and, where they are at hand, against Maven's own answers.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::MavenVersion;
use crate::scanner::engine::test_data;

/// Each line is in ascending order; `=` joins equals.
const ASCENDING: &[&[&str]] = &[
    // Numbers are numbers, of any length.
    &["1", "2", "10", "99999999999", "100000000000000000000000000000", "100000000000000000000000000001"],
    &["1.9", "1.10", "1.10.1", "1.11", "2"],
    &["007", "8"],
    // Trailing zeros and empty parts say nothing.
    &["0.9=0.9.0=0.9.0.0=00.9", "1=1.0=1.0.0=1.0-0=1-0.0=1.", "1.0.1", "1.1=1.1.0=1.1-0"],
    // Qualifiers in their order, in any case, with their short forms before a digit.
    &[
        "1-alpha1=1-a1=1.0-ALPHA-1=1-alpha-1",
        "1-alpha2=1a2",
        "1-beta=1-BETA",
        "1-beta1=1-b1",
        "1-milestone1=1-m1=1.0.M1=1.0-M1",
        "1-rc1=1-cr1=1.0.CR1",
        "1-SNAPSHOT=1.0-snapshot",
        "1=1-ga=1-final=1-release=1.0.GA=1.0.Final=1.0.0.RELEASE",
        "1-sp",
        "1-sp1",
        "1-anything",
        "1-jre",
        "1-1",
        "1.1",
    ],
    // A letter alone is no short form unless a digit follows.
    &["1-alpha", "1=1.0", "1-a", "1-b", "1-m"],
    // Before the number comes the word, before the word the list without it.
    &["2.0-rc-1", "2.0", "2.0-x", "2.0-1", "2.0.1"],
    // Words after a dot count like words after a dash.
    &["9.0.0-M1=9.0.0.M1", "9.0.0.M9=9.0.0-M9", "9.0.0.M10", "9.0.0"],
    &["32.0.0-android", "32.0.0-jre", "32.0.1-android"],
    &["9.4.12.v20180830", "9.4.16.v20190411", "9.4.35.v20201120"],
    &["1.0-20240101.120000-1", "1.0-20240102.120000-2"],
    &["4.1.0.Beta1", "4.1.0.CR1", "4.1.0.Final=4.1.0", "4.1.0.SP1", "4.1.1.Beta1"],
    &["2.0b4", "2.0-rc", "2.0", "2.0.1"],
    &["20040616", "20040902.021138"],
];

#[test]
fn every_rule_of_the_order_holds() {
    let mut wrong = String::new();
    for line in ASCENDING {
        let ranked: Vec<(usize, &str)> =
            line.iter().enumerate().flat_map(|(at, group)| group.split('=').map(move |one| (at, one))).collect();
        for (left_rank, left) in &ranked {
            for (right_rank, right) in &ranked {
                let found = MavenVersion::parse(left).cmp(&MavenVersion::parse(right));
                if found != left_rank.cmp(right_rank) {
                    let _ = writeln!(wrong, "{left} against {right}: {found:?}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_line_of_mavens_own_answers_agrees() {
    let Some(text) = test_data::shared("vectors/maven-version-vectors.txt") else { return };
    let mut lines = 0;
    let mut wrong = Vec::new();
    for line in String::from_utf8(text).unwrap().lines() {
        let [left, right, sign] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("three words: {line}") };
        let expected = sign.parse::<i32>().unwrap().cmp(&0);
        lines += 1;
        if MavenVersion::parse(left).cmp(&MavenVersion::parse(right)) != expected {
            wrong.push(line.to_owned());
        }
    }
    assert!(wrong.is_empty(), "{} of {lines} differ, the first: {:?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    assert!(lines > 10_000, "the file was cut: {lines} lines");
}

#[test]
fn a_very_long_version_is_read_without_trouble() {
    let long = "1-".repeat(100_000);
    assert_eq!(MavenVersion::parse(&long).cmp(&MavenVersion::parse(&long)), Ordering::Equal);
    assert_eq!(MavenVersion::parse("").cmp(&MavenVersion::parse("0")), Ordering::Equal);
}
