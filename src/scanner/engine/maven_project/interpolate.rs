//! Puts values in the place of `${…}`. Cycles end, and no text grows without bound.

use std::collections::BTreeMap;

/// Properties may stand for properties, this deep.
const MAX_DEPTH: usize = 32;
/// Look-ups for one text.
const MAX_STEPS: usize = 256;
/// Nothing in a pom that matters is longer, in bytes.
const MAX_LENGTH: usize = 4096;

/// What `${…}` can stand for in one project.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) group: String,
    pub(super) artifact: String,
    pub(super) version: String,
    pub(super) parent: Option<(String, String, String)>,
    pub(super) properties: BTreeMap<String, String>,
}

/// Why a text could not be completed. Ends the sentence "x …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Incomplete {
    #[error("uses ${{{0}}}, which no given pom sets")]
    Unknown(String),
    #[error("uses ${{{0}}}, which depends on the machine that builds")]
    Machine(String),
    #[error("uses ${{{0}}}, which stands for itself in the end")]
    Cycle(String),
    #[error("grows without end when its properties are filled in")]
    Endless,
}

impl Context {
    /// `text` with all its `${…}` filled in.
    pub(super) fn complete(&self, text: &str) -> Result<String, Incomplete> {
        let mut steps = 0;
        self.fill(text, &mut Vec::new(), &mut steps)
    }

    fn fill(&self, text: &str, trail: &mut Vec<String>, steps: &mut usize) -> Result<String, Incomplete> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else { break };
            out.push_str(before);
            *steps += 1;
            if trail.iter().any(|known| known == name) {
                return Err(Incomplete::Cycle(short(name)));
            }
            if trail.len() >= MAX_DEPTH || *steps > MAX_STEPS {
                return Err(Incomplete::Endless);
            }
            let value = self.value(name)?;
            trail.push(name.to_owned());
            out.push_str(&self.fill(value, trail, steps)?);
            trail.pop();
            if out.len() > MAX_LENGTH {
                return Err(Incomplete::Endless);
            }
            rest = after;
        }
        out.push_str(rest);
        if out.len() > MAX_LENGTH { Err(Incomplete::Endless) } else { Ok(out) }
    }

    fn value(&self, name: &str) -> Result<&str, Incomplete> {
        let own = name.strip_prefix("project.").or_else(|| name.strip_prefix("pom."));
        let parent = own.unwrap_or(name).strip_prefix("parent.").zip(self.parent.as_ref());
        let value = match (own, parent) {
            (_, Some(("groupId", (group, _, _)))) => Some(group),
            (_, Some(("artifactId", (_, artifact, _)))) => Some(artifact),
            (_, Some(("version", (_, _, version)))) => Some(version),
            (Some("groupId"), _) => Some(&self.group),
            (Some("artifactId"), _) => Some(&self.artifact),
            (Some("version"), _) => Some(&self.version),
            _ => self.properties.get(name).or(match name {
                "groupId" => Some(&self.group),
                "artifactId" => Some(&self.artifact),
                "version" => Some(&self.version),
                _ => None,
            }),
        };
        value.map(String::as_str).filter(|value| !value.is_empty()).ok_or_else(|| {
            let of_machine = ["env.", "settings.", "java.", "os.", "user.", "project.basedir", "project.build.", "maven."];
            if name == "basedir" || of_machine.iter().any(|start| name.starts_with(start)) {
                Incomplete::Machine(short(name))
            } else {
                Incomplete::Unknown(short(name))
            }
        })
    }
}

fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::{Context, Incomplete};

    fn context(properties: &[(&str, &str)]) -> Context {
        Context {
            group: "g".to_owned(),
            artifact: "a".to_owned(),
            version: "1".to_owned(),
            parent: Some(("pg".to_owned(), "pa".to_owned(), "0".to_owned())),
            properties: properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn values_come_from_properties_the_project_and_its_parent() {
        let context = context(&[("x", "${y}-${project.version}"), ("y", "2")]);
        for (text, expected) in [
            ("${x}", "2-1"),
            ("a${y}b${y}", "a2b2"),
            ("${project.groupId}:${pom.artifactId}:${version}", "g:a:1"),
            ("${project.parent.version}/${parent.groupId}", "0/pg"),
            ("no property", "no property"),
            ("${open", "${open"),
        ] {
            assert_eq!(context.complete(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_known_says_why() {
        let context = context(&[("a", "${b}"), ("b", "${a}"), ("self", "${self}")]);
        assert_eq!(context.complete("${nowhere}"), Err(Incomplete::Unknown("nowhere".to_owned())));
        assert_eq!(context.complete("${env.HOME}"), Err(Incomplete::Machine("env.HOME".to_owned())));
        assert_eq!(context.complete("${a}"), Err(Incomplete::Cycle("a".to_owned())));
        assert_eq!(context.complete("${self}"), Err(Incomplete::Cycle("self".to_owned())));
    }

    #[test]
    fn a_text_that_doubles_itself_ends() {
        let names: Vec<(String, String)> = (0..40).map(|at| (format!("p{at}"), format!("${{p{0}}}${{p{0}}}", at + 1))).collect();
        let mut pairs: Vec<(&str, &str)> = names.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        pairs.push(("p40", "x"));
        assert_eq!(context(&pairs).complete("${p0}"), Err(Incomplete::Endless));
    }
}
