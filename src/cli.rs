//! The command line: commands, their options, and the exit code each one ends with. The only place that reads the
//! environment and the arguments.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use url::Url;

use crate::app::{self, DataOf, Environment, EventFilter, Failure, TrailList};
use crate::demo::Options;
use crate::platform::{console, telemetry};

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
    /// Try everything on this machine: portal, scanning service, identity provider, two tenants, three users
    Demo(DemoArguments),
    /// Run the gateway alone
    Serve(ConfigFile),
    /// Run the reference scanning service alone
    Scanner(ConfigFile),
    /// The scanning service's knowledge of weaknesses
    #[command(subcommand)]
    Advisories(AdvisoryCommand),
    /// What the gateway has written down: who signed in, what ended, what was refused
    #[command(subcommand)]
    Audit(AuditCommand),
    /// The people of a company: who they are, and letting somebody in again when no administrator can
    #[command(subcommand)]
    Users(UserCommand),
    /// The keys that seal sessions, tokens and server keys at rest
    #[command(subcommand)]
    Keys(KeyCommand),
    /// Analyse one archive for the scanning service, which starts this itself
    #[command(hide = true)]
    AnalyzeArchive,
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
struct DemoArguments {
    /// Port of the portal; the scanning service and the identity provider take the next two. 0 looks for free ones
    #[arg(long, value_name = "N", default_value_t = 8080)]
    port: u16,
    /// Folder for secrets and data, kept across restarts [default: $XDG_DATA_HOME/cardea or ~/.local/share/cardea]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A further address that browsers may be sent back to after sign-in; may be repeated
    #[arg(long, value_name = "URI")]
    allow_redirect: Vec<String>,
    /// An origin that may show the portal in a frame; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_frame: Vec<String>,
    /// Loopback address to listen on; no other is accepted, the demo's passwords are well known
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
}

#[derive(Subcommand)]
enum AdvisoryCommand {
    /// Load OSV records (folder, zip, JSON) or the advisory table (CSV); a running service takes them up by itself
    Import {
        /// File or folder
        path: PathBuf,
        #[command(flatten)]
        of: AdvisoriesOf,
    },
    /// Tell what is there and how old it is
    Status {
        #[command(flatten)]
        of: AdvisoriesOf,
    },
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Count what stands under which key, and tell which old key can go
    Status {
        #[command(flatten)]
        of: GatewayOf,
    },
    /// Make a new key; everything sealed with the others still opens
    Rotate {
        #[command(flatten)]
        of: GatewayOf,
        /// Where the new key goes when the settings are a file of yours; the lines to add there are printed
        #[arg(long, value_name = "PATH")]
        key_file: Option<PathBuf>,
    },
}

#[derive(Args)]
struct GatewayOf {
    /// Data folder of the demo [default: the demo's own]
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    data: Option<PathBuf>,
    /// Settings of a gateway
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Args)]
struct AdvisoriesOf {
    /// Data folder of the demo [default: the demo's own]
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    data: Option<PathBuf>,
    /// Settings of a scanning service
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum AuditCommand {
    /// Check that nothing was changed, removed or put in between; exit code 1 when something was, or when that cannot be told
    Verify {
        #[command(flatten)]
        of: TrailsOf,
    },
    /// Print the newest events, oldest first, one JSON object on each line; exit code 1 when some are missing among them
    List {
        /// Also those that anybody can cause: refused sign-ins, other sites' attempts, and their counts
        #[arg(long)]
        all: bool,
        /// Only events of this name, e.g. sign_in; may be repeated
        #[arg(long, value_name = "NAME", conflicts_with = "all")]
        deed: Vec<String>,
        /// How many of each tenant
        #[arg(long, value_name = "N", default_value_t = 100)]
        last: usize,
        #[command(flatten)]
        of: TrailsOf,
    },
}

#[derive(Subcommand)]
enum UserCommand {
    /// Print everybody who has signed in, one JSON object on each line
    List {
        #[command(flatten)]
        of: TrailsOf,
    },
    /// Let somebody in again whom an administrator has disabled; the audit trail tells that it was done from here
    Enable {
        /// Mark or e-mail address, as `users list` shows them
        #[arg(value_name = "WHO")]
        who: String,
        /// Whose administrator or member it is
        #[arg(long, value_name = "ID")]
        tenant: String,
        #[command(flatten)]
        of: GatewayOf,
    },
}

#[derive(Args)]
struct TrailsOf {
    /// Only this tenant
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    #[command(flatten)]
    of: GatewayOf,
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
    let command = Cli::parse().command;
    if matches!(command, Command::AnalyzeArchive) {
        return app::analyze_archive();
    }
    let outcome = execute(command);
    telemetry::flush();
    match outcome {
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
        Command::Demo(arguments) => {
            let options = Options {
                listen: arguments.listen,
                port: arguments.port,
                data: arguments.data.map_or_else(data_folder, Ok)?,
                redirect_uris: arguments.allow_redirect,
                frame_ancestors: arguments.allow_frame,
            };
            app::demo(&options, environment())
        }
        Command::Serve(file) => app::serve(file.config.as_deref(), environment()),
        Command::Scanner(file) => app::scanner(file.config.as_deref(), environment()),
        Command::Advisories(AdvisoryCommand::Import { path, of }) => {
            console::print(&app::import_advisories(&data_of(of.config, of.data)?, &path, environment())?);
            Ok(())
        }
        Command::Advisories(AdvisoryCommand::Status { of }) => {
            console::print(&app::advisory_status(&data_of(of.config, of.data)?, environment())?);
            Ok(())
        }
        Command::Audit(AuditCommand::Verify { of: TrailsOf { tenant, of } }) => {
            console::print(&app::verify_audit(&data_of(of.config, of.data)?, tenant.as_deref(), environment())?);
            Ok(())
        }
        Command::Audit(AuditCommand::List { all, deed, last, of: TrailsOf { tenant, of } }) => {
            let filter = match (all, deed.as_slice()) {
                (true, _) => EventFilter::All,
                (false, []) => EventFilter::NoStrangers,
                (false, names) => EventFilter::Named(names),
            };
            let of = data_of(of.config, of.data)?;
            show(&app::list_audit(&of, tenant.as_deref(), (filter, last), environment())?)
        }
        Command::Users(command) => users(command),
        Command::Keys(KeyCommand::Status { of }) => {
            console::print(&app::key_status(&data_of(of.config, of.data)?, environment())?);
            Ok(())
        }
        Command::Keys(KeyCommand::Rotate { of, key_file }) => {
            console::print(&app::rotate_keys(&data_of(of.config, of.data)?, key_file.as_deref(), environment())?);
            Ok(())
        }
        // It has exit codes of its own.
        Command::AnalyzeArchive => Ok(()),
        Command::CheckConfig(file) => {
            console::print(&app::check_config(file.config.as_deref(), environment())?);
            Ok(())
        }
        Command::Healthcheck { url, file } => app::healthcheck(url.as_ref(), file.config.as_deref(), environment()),
    }
}

fn users(command: UserCommand) -> Result<(), Failure> {
    let told = match command {
        UserCommand::List { of: TrailsOf { tenant, of } } => {
            app::list_users(&data_of(of.config, of.data)?, tenant.as_deref(), environment())?
        }
        UserCommand::Enable { who, tenant, of } => {
            app::enable_user(&data_of(of.config, of.data)?, (&tenant, &who), environment())?
        }
    };
    if !told.is_empty() {
        console::print(&told);
    }
    Ok(())
}

/// Events go to standard output, what there is to say about them to standard error.
fn show(list: &TrailList) -> Result<(), Failure> {
    if !list.lines.is_empty() {
        console::print(&list.lines);
    }
    for remark in &list.remarks {
        console::complain(remark);
    }
    let missing = || Failure::Run("events are missing or do not open; audit verify tells more".to_owned());
    if list.is_whole { Ok(()) } else { Err(missing()) }
}

fn data_of(config: Option<PathBuf>, data: Option<PathBuf>) -> Result<DataOf, Failure> {
    match (config, data) {
        (Some(file), _) => Ok(DataOf::Configured(file)),
        (None, Some(folder)) => Ok(DataOf::Demo(folder)),
        (None, None) => data_folder().map(DataOf::Demo),
    }
}

/// Where the demo keeps its data unless told otherwise (XDG Base Directory: a relative path is no path).
fn data_folder() -> Result<PathBuf, Failure> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    base.map(|base| base.join("cardea"))
        .ok_or_else(|| Failure::Run("there is no home folder: choose one with --data DIR".to_owned()))
}

/// The environment as text. A variable that is not text is no setting of ours.
fn environment() -> Environment {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}
