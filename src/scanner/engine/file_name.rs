//! What the name of an archive tells: artifact, version, classifier. A name is a hint, never a proof.

/// Archives with these classifiers hold no code that runs: `true` when they hold no class files in the first place.
const NOT_RUN: [(&str, bool); 5] =
    [("javadoc", true), ("test-sources", true), ("sources", true), ("tests", false), ("test-javadoc", true)];

/// Endings that say how an archive was packed, not what it is.
const PACKINGS: [&str; 12] = [
    "jar-with-dependencies",
    "with-dependencies",
    "standalone",
    "shaded",
    "uber",
    "fat",
    "all",
    "exec",
    "bin",
    "jdk15",
    "linux-x86_64",
    "osx-x86_64",
];

/// A file name without folders and ending.
#[derive(Clone, Debug)]
pub(super) struct FileName {
    pub(super) stem: String,
    /// Holds documentation, sources or tests.
    pub(super) classifier: Option<&'static str>,
    /// Whether an archive of that classifier has no classes when it is what it says.
    pub(super) without_classes: bool,
}

impl FileName {
    /// Takes the last part of `a.war!/lib/x-1.0.jar`.
    pub(super) fn of(path: &str) -> Self {
        let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let ends_with = |ending: &str| stem.strip_suffix(ending).is_some_and(|before| before.ends_with('-'));
        let classifier = NOT_RUN.into_iter().find(|(ending, _)| ends_with(ending));
        let packing = PACKINGS.into_iter().find(|ending| ends_with(ending));
        let stem = packing.and_then(|ending| stem.strip_suffix(ending)).map_or(stem, |stem| stem.trim_end_matches('-'));
        Self {
            stem: stem.to_owned(),
            classifier: classifier.map(|(ending, _)| ending),
            without_classes: classifier.is_some_and(|(_, without)| without),
        }
    }

    /// Every way to read it as artifact and version, the longest artifact first: a version begins with a digit after a dash.
    pub(super) fn readings(&self) -> Vec<(&str, &str)> {
        let digit_after = |at: usize| self.stem.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let dashes = self.stem.match_indices('-').map(|(at, _)| at).filter(|at| digit_after(*at));
        let mut found: Vec<(&str, &str)> = dashes
            .filter_map(|at| Some((self.stem.get(..at)?, self.stem.get(at + 1..)?)))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        found.reverse();
        found
    }

    /// The reading with the shortest artifact: what a person would take it for.
    pub(super) fn usual(&self) -> Option<(&str, &str)> {
        self.readings().pop()
    }

    /// The version, when the name is that of `artifact`; empty when there is none in it.
    pub(super) fn version_of(&self, artifact: &str) -> Option<&str> {
        let rest = self.stem.strip_prefix(artifact)?;
        match rest.strip_prefix('-') {
            None if rest.is_empty() => Some(""),
            Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => Some(version),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FileName;

    #[test]
    fn names_are_read_as_artifact_and_version() {
        assert_eq!(FileName::of("a.war!/WEB-INF/lib/commons-lang3-3.7.jar").usual(), Some(("commons-lang3", "3.7")));
        assert_eq!(FileName::of("guava-25.0-jre.jar").usual(), Some(("guava", "25.0-jre")));
        assert_eq!(
            FileName::of("log4j-1.2-api-2.17.0.jar").readings(),
            [("log4j-1.2-api", "2.17.0"), ("log4j", "1.2-api-2.17.0")]
        );
        assert_eq!(FileName::of("tabula-1.0.5-jar-with-dependencies.jar").usual(), Some(("tabula", "1.0.5")));
        assert_eq!(FileName::of("plugin.jar").usual(), None);
        assert_eq!(FileName::of("h2-1.4.200.jar").version_of("h2"), Some("1.4.200"));
        assert_eq!(FileName::of("h2-mvstore-1.4.200.jar").version_of("h2"), None);
    }

    #[test]
    fn documentation_sources_and_tests_are_told_apart() {
        assert_eq!(FileName::of("snowflake-jdbc-3.9.2-javadoc.jar").classifier, Some("javadoc"));
        assert_eq!(FileName::of("x-1.0-test-sources.jar").classifier, Some("test-sources"));
        assert!(!FileName::of("x-1.0-tests.jar").without_classes);
        assert_eq!(FileName::of("resources.jar").classifier, None);
    }
}
