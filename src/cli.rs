//! The command line: commands, their options, and the exit code each one ends with. The only place that reads the
//! environment and the arguments.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use url::Url;

use crate::app::{self, Environment, Failure};
use crate::platform::console;

/// A company portal in front of a security scanning service.
#[derive(Parser)]
#[command(name = "cardea", version, arg_required_else_help = true, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "Settings: compiled-in defaults, then --config FILE (TOML), then the environment (CARDEA__SECTION__KEY).\n\
Exit codes: 0 done, 1 could not be done, 2 the command line or the configuration is wrong.";

#[derive(Subcommand)]
enum Command {
    /// Print the configuration in force with secrets blotted out, or everything that is wrong with it
    CheckConfig(ConfigFile),
    /// Ask a running process whether it is well; for containers
    Healthcheck {
        /// Ask this address instead of the configured one, e.g. http://127.0.0.1:8080
        #[arg(long, conflicts_with = "config")]
        url: Option<Url>,
        #[command(flatten)]
        file: ConfigFile,
    },
}

#[derive(Args)]
struct ConfigFile {
    /// Settings in TOML; options set as CARDEA__SECTION__KEY in the environment win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Reads the arguments and runs the command.
#[must_use]
pub fn run() -> ExitCode {
    match execute(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::complain(&format!("cardea: {failure}"));
            ExitCode::from(match failure {
                Failure::Settings(_) => 2,
                Failure::Run(_) => 1,
            })
        }
    }
}

fn execute(command: Command) -> Result<(), Failure> {
    match command {
        Command::CheckConfig(file) => {
            console::print(&app::check_config(file.config.as_deref(), environment())?);
            Ok(())
        }
        Command::Healthcheck { url, file } => app::healthcheck(url.as_ref(), file.config.as_deref(), environment()),
    }
}

/// The environment as text. A variable that is not text is no setting of ours.
fn environment() -> Environment {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}
