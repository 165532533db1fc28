//! Lays the sources over each other: compiled-in defaults, a file, settings the command itself brings, the environment.
//! Nothing is interpreted here: text from the environment stays text, so a secret of digits keeps its zeros.

use std::path::Path;

use config::{Environment, File, FileFormat, Map, Source as _, Value};

use super::problems::Problems;

const DEFAULTS: &str = include_str!("../../config/default.toml");
const PREFIX: &str = "CARDEA";
const SEPARATOR: &str = "__";

/// Where a setting came from, for those who have to find it.
pub(super) const ENVIRONMENT: &str = "the environment";

/// Which sources there are beside the compiled-in defaults; later ones win.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// A TOML file.
    pub file: Option<&'a Path>,
    /// Settings the command brings itself (the demo does).
    pub own: Option<toml::Table>,
    /// Environment variables; those that start with `CARDEA__` count.
    pub environment: Vec<(String, String)>,
}

/// All sources as one tree.
pub(super) fn merge(sources: &Sources<'_>) -> Result<Map<String, Value>, Problems> {
    let mut layers = config::Config::builder().add_source(File::from_str(DEFAULTS, FileFormat::Toml));
    if let Some(path) = sources.file {
        layers = layers.add_source(File::from_str(&read(path)?, FileFormat::Toml));
    }
    if let Some(own) = &sources.own {
        layers = layers.add_source(File::from_str(&own.to_string(), FileFormat::Toml));
    }
    let environment = Environment::with_prefix(PREFIX)
        .prefix_separator(SEPARATOR)
        .separator(SEPARATOR)
        .try_parsing(false)
        .source(Some(sources.environment.iter().cloned().collect()));
    // The message of this error may repeat a value, so it is not shown.
    let unreadable = |_| {
        Problems::one(
            ENVIRONMENT,
            "a variable's name is not a path of options",
            "names look like CARDEA__GATEWAY__SERVER__LISTEN: words of letters, digits, _ and -, joined by two underscores",
        )
    };
    layers.add_source(environment).build().and_then(|merged| merged.collect()).map_err(unreadable)
}

/// The top-level sections that a file or the environment touch.
pub(super) fn touched(sources: &Sources<'_>) -> Result<Vec<String>, Problems> {
    let mut names: Vec<String> = match sources.file {
        Some(path) => read(path)?.parse::<toml::Table>().map(|table| table.keys().cloned().collect()).unwrap_or_default(),
        None => Vec::new(),
    };
    let prefix = format!("{PREFIX}{SEPARATOR}");
    names.extend(sources.environment.iter().filter_map(|(name, _)| {
        let name = name.strip_prefix(&prefix)?;
        Some(name.split(SEPARATOR).next()?.to_lowercase())
    }));
    Ok(names)
}

/// The environment variable that sets the option at `path`.
pub(super) fn variable(path: &str) -> String {
    format!("{PREFIX}{SEPARATOR}{}", path.replace('.', SEPARATOR).to_uppercase())
}

/// The text of a file that is TOML. A message about its grammar names the line only: the line may hold a secret.
fn read(path: &Path) -> Result<String, Problems> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problems::one(&name, format!("cannot be read: {error}"), "give the path of a TOML file with --config")
    })?;
    if let Err(error) = text.parse::<toml::Table>() {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let hint = "see config/production.example.toml for a whole example";
        return Err(Problems::one(format!("{name}, line {line}"), format!("is not TOML: {}", error.message()), hint));
    }
    Ok(text)
}
