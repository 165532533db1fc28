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
    /// Numbers that belong to the artifact (`log4j-1.2-1.2.17`) are part of no version.
    pub(super) fn readings(&self) -> Vec<(&str, &str)> {
        let digit_after = |at: usize| self.stem.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let dashes = self.stem.match_indices('-').map(|(at, _)| at).filter(|at| digit_after(*at));
        let all: Vec<(&str, &str)> = dashes
            .filter_map(|at| Some((self.stem.get(..at)?, self.stem.get(at + 1..)?)))
            .filter(|(name, _)| !name.is_empty())
            .collect();
        let mut found: Vec<(&str, &str)> = Vec::new();
        for (artifact, version) in all {
            // What the artifact is longer by than the one before: `1.2`, `1.2-api`.
            let more = found.last().and_then(|(before, _)| artifact.strip_prefix(before)).and_then(|more| more.strip_prefix('-'));
            match more.map_or(Between::Version, |more| between(more, version)) {
                Between::Version => {}
                Between::Series => {
                    // The series says nothing that the version does not say: the artifact may have it in its name or not.
                    for (_, shorter) in &mut found {
                        *shorter = version;
                    }
                }
                Between::Name => found.clear(),
            }
            found.push((artifact, version));
        }
        found.reverse();
        found
    }

    /// The reading with the shortest artifact: what a person would take it for.
    pub(super) fn usual(&self) -> Option<(&str, &str)> {
        self.readings().pop()
    }

    /// The version, when the name is that of `artifact`; empty when there is none in it.
    pub(super) fn version_of(&self, artifact: &str) -> Option<&str> {
        if let Some((_, version)) = self.readings().into_iter().find(|(name, _)| *name == artifact) {
            return Some(version);
        }
        let rest = self.stem.strip_prefix(artifact)?;
        match rest.strip_prefix('-') {
            None if rest.is_empty() => Some(""),
            Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => Some(version),
            _ => None,
        }
    }
}

/// What the part of a name between two possible versions is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// The beginning of the version, `18.0` of `18.0-13.0`.
    Version,
    /// The series of the version behind it, `1.2` of `1.2.17`.
    Series,
    /// A part of the artifact's name, `1.2-api`.
    Name,
}

/// Words that are parts of versions; numbers may follow them.
const IN_VERSIONS: [&str; 24] = [
    "alpha",
    "beta",
    "rc",
    "cr",
    "m",
    "milestone",
    "a",
    "b",
    "pre",
    "preview",
    "ea",
    "snapshot",
    "sp",
    "ga",
    "final",
    "release",
    "incubating",
    "stable",
    "build",
    "patch",
    "p",
    "r",
    "jre",
    "android",
];

fn between(part: &str, version: &str) -> Between {
    let number = version.split('-').next().unwrap_or_default();
    let (head, words) = part.split_once('-').map_or((part, None), |(head, words)| (head, Some(words)));
    // A number without a dot is a build number or a date; 20180101.123456 is the time of a snapshot.
    let is_time = number.split('.').next().is_some_and(|first| first.len() == 8);
    if !number.contains('.') || is_time {
        return Between::Version;
    }
    if let Some(words) = words {
        let word = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_ascii_lowercase();
        let of_version = |text: &str| word(text).is_empty() || IN_VERSIONS.contains(&word(text).as_str());
        return if words.split('-').any(|text| !of_version(text)) { Between::Name } else { Between::Version };
    }
    let parts = |text: &str| text.split('.').count();
    let is_plain = head.chars().all(|c| c.is_ascii_digit() || c == '.');
    if number == head || number.strip_prefix(head).is_some_and(|rest| rest.starts_with('.')) {
        Between::Series
    } else if is_plain && parts(head) < 3 && parts(number) >= 3 {
        Between::Name
    } else {
        Between::Version
    }
}

#[cfg(test)]
mod tests {
    use super::FileName;

    #[test]
    fn names_are_read_as_artifact_and_version() {
        assert_eq!(FileName::of("a.war!/WEB-INF/lib/commons-lang3-3.7.jar").usual(), Some(("commons-lang3", "3.7")));
        assert_eq!(FileName::of("guava-25.0-jre.jar").usual(), Some(("guava", "25.0-jre")));
        assert_eq!(FileName::of("log4j-1.2-api-2.17.0.jar").readings(), [("log4j-1.2-api", "2.17.0")]);
        assert_eq!(FileName::of("tabula-1.0.5-jar-with-dependencies.jar").usual(), Some(("tabula", "1.0.5")));
        assert_eq!(FileName::of("plugin.jar").usual(), None);
        assert_eq!(FileName::of("log4j-1.2-1.2.17.jar").readings(), [("log4j-1.2", "1.2.17"), ("log4j", "1.2.17")]);
        assert_eq!(FileName::of("log4j-1.2-1.2.17.jar").version_of("log4j"), Some("1.2.17"));
        assert_eq!(FileName::of("h2-1.4.200.jar").version_of("h2"), Some("1.4.200"));
        assert_eq!(FileName::of("h2-mvstore-1.4.200.jar").version_of("h2"), None);
    }

    /// Names of archives of the central repository and of Debian's `/usr/share/java`.
    const REAL: [(&str, &str, &str); 30] = [
        ("log4j-1.2-1.2.17.jar", "log4j", "1.2.17"),
        ("log4j-1.2-api-2.17.0.jar", "log4j-1.2-api", "2.17.0"),
        ("jsp-2.1-6.1.14.jar", "jsp-2.1", "6.1.14"),
        ("servlet-api-2.5-6.1.14.jar", "servlet-api-2.5", "6.1.14"),
        ("servlet-api-2.5-20081211.jar", "servlet-api", "2.5-20081211"),
        ("jsp-api-2.1-glassfish-2.1.v20091210.jar", "jsp-api-2.1-glassfish", "2.1.v20091210"),
        ("flink-shaded-guava-18.0-13.0.jar", "flink-shaded-guava", "18.0-13.0"),
        ("flink-shaded-hadoop-2-uber-2.8.3-10.0.jar", "flink-shaded-hadoop-2-uber", "2.8.3-10.0"),
        ("akka-actor_2.11-2.3.4.jar", "akka-actor_2.11", "2.3.4"),
        ("kafka_2.12-0.10.2.1.jar", "kafka_2.12", "0.10.2.1"),
        ("geronimo-jta_1.1_spec-1.1.1.jar", "geronimo-jta_1.1_spec", "1.1.1"),
        ("jboss-servlet-api_3.1_spec-1.0.0.Final.jar", "jboss-servlet-api_3.1_spec", "1.0.0.Final"),
        ("bcprov-jdk15on-1.60.jar", "bcprov-jdk15on", "1.60"),
        ("commons-lang3-3.7.jar", "commons-lang3", "3.7"),
        ("commons-collections4-4.4.jar", "commons-collections4", "4.4"),
        ("h2-1.4.200.jar", "h2", "1.4.200"),
        ("guava-25.0-jre.jar", "guava", "25.0-jre"),
        ("guava-32.0.0-android.jar", "guava", "32.0.0-android"),
        ("jetty-http-9.4.11.v20180605.jar", "jetty-http", "9.4.11.v20180605"),
        ("jetty9-server-9.4.15.jar", "jetty9-server", "9.4.15"),
        ("json-20090211.jar", "json", "20090211"),
        ("xml-apis-1.0.b2.jar", "xml-apis", "1.0.b2"),
        ("plexus-container-default-1.0-alpha-9-stable-1.jar", "plexus-container-default", "1.0-alpha-9-stable-1"),
        ("wicket-1.0-rc-2.1.jar", "wicket", "1.0-rc-2.1"),
        ("hsqldb-1.8.0.10.jar", "hsqldb", "1.8.0.10"),
        ("snapshot-1.0-20180101.123456-7.jar", "snapshot", "1.0-20180101.123456-7"),
        ("activemq-core-5.1.0-SNAPSHOT.jar", "activemq-core", "5.1.0-SNAPSHOT"),
        ("stax2-api-4.2.jar", "stax2-api", "4.2"),
        ("tomcat9-coyote-9.0.31.jar", "tomcat9-coyote", "9.0.31"),
        ("javax.servlet-api-3.1.0.jar", "javax.servlet-api", "3.1.0"),
    ];

    #[test]
    fn real_names_are_read_as_people_read_them() {
        for (name, artifact, version) in REAL {
            assert_eq!(FileName::of(name).usual(), Some((artifact, version)), "{name}");
        }
    }

    #[test]
    fn documentation_sources_and_tests_are_told_apart() {
        assert_eq!(FileName::of("snowflake-jdbc-3.9.2-javadoc.jar").classifier, Some("javadoc"));
        assert_eq!(FileName::of("x-1.0-test-sources.jar").classifier, Some("test-sources"));
        assert!(!FileName::of("x-1.0-tests.jar").without_classes);
        assert_eq!(FileName::of("resources.jar").classifier, None);
    }
}
