//! Settings as plain data. Defaults come from `config/default.toml`, then a file, then the environment
//! (`CARDEA__SECTION__KEY`). Every problem is reported at once with its path. Pure: nothing here is kept or global.

pub mod administration;
pub mod cache;
mod checks;
pub mod gateway;
pub mod idp;
mod layers;
mod pace;
mod problems;
mod reading;
pub mod scanner;
mod section;
mod shares;
pub mod telemetry;

pub use layers::Sources;
pub use problems::{Problem, Problems};

use section::Section;

/// Which parts have to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The gateway alone.
    Serve,
    /// The reference scanning service alone.
    Scanner,
    /// All parts.
    Demo,
    /// The log alone: commands that need nothing else.
    Basic,
    /// What the file and the environment touch; the gateway when they touch nothing.
    Check,
}

/// Checked settings of the parts that were asked for.
#[derive(Clone, Debug)]
pub struct Config {
    pub telemetry: telemetry::Telemetry,
    pub gateway: Option<gateway::Gateway>,
    pub scanner: Option<scanner::Scanner>,
    pub idp: Option<idp::Idp>,
    /// What is in force, as TOML with secrets blotted out.
    pub shown: String,
}

/// Merges the sources and checks what `kind` needs.
///
/// # Errors
/// Everything that is wrong.
pub fn load(kind: Kind, sources: &Sources<'_>) -> Result<Config, Problems> {
    let given = layers::touched(sources)?;
    let names = |name: &str| given.iter().any(|given| given == name);
    let wants = |name: &str| match kind {
        Kind::Serve => name == "gateway",
        Kind::Scanner => name == "scanner",
        Kind::Demo => true,
        Kind::Basic => false,
        Kind::Check => names(name) || (name == "gateway" && !names("scanner") && !names("idp")),
    };
    let mut problems = Problems::default();
    let mut root = Section::root(layers::merge(sources)?, &mut problems);
    let telemetry = root.table("telemetry", reading::telemetry::read);
    let gateway = part(&mut root, "gateway", wants("gateway"), reading::gateway::read);
    let scanner = part(&mut root, "scanner", wants("scanner"), reading::scanner::read);
    let idp = part(&mut root, "idp", wants("idp"), reading::idp::read);
    let shown = root.finish().to_string();
    if problems.is_empty() { Ok(Config { telemetry, gateway, scanner, idp, shown }) } else { Err(problems) }
}

fn part<T>(root: &mut Section<'_>, name: &str, wanted: bool, read: impl FnOnce(&mut Section<'_>) -> T) -> Option<T> {
    if wanted {
        return Some(root.table(name, read));
    }
    root.skip(name);
    None
}
