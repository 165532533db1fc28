//! The browser process: found, started with its debugging pipe in a group of its own, ended with everything it started.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;
use tokio::net::unix::pipe;
use tokio::process::Child;

use super::devtools::DevTools;
use super::folders::{self, Folders};
use crate::config::scanner::Browser as Settings;
use crate::platform::shutdown::Shutdown;

/// Names that are looked for where no executable is set.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Where they are looked for.
const FOLDERS: [&str; 4] = ["/usr/local/bin", "/usr/bin", "/bin", "/snap/bin"];
/// Tries to remove a profile folder: what the browser leaves behind may still write for a moment.
const REMOVALS: u32 = 20;

/// What every browser is started with beside its own folder and proxy. Nothing talks to anybody but through the proxy,
/// nothing is kept, nothing asks.
const FLAGS: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-print-preview",
    "--disable-quic",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    // Pages made before anybody asks for them would be tabs that nobody opened.
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,Prerender2",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--force-webrtc-ip-handling-policy",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    // Loopback goes through the proxy too: the dialer decides, not the browser.
    "--proxy-bypass-list=<-loopback>",
    "--window-size=1280,800",
];

/// Why there is no browser.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("its folder cannot be made: {0}")]
    Folder(std::io::Error),
    #[error("it cannot be run: {0}")]
    Run(std::io::Error),
    #[error("it ended or stayed silent at its start; its sandbox may not be allowed here")]
    Silent,
}

/// A running browser. Its whole group is killed when this is dropped; [`Chromium::end`] also removes its folder.
pub(super) struct Chromium {
    pub(super) devtools: DevTools,
    /// How it names itself to sites.
    pub(super) user_agent: String,
    child: Child,
    group: Option<Pid>,
    profile: PathBuf,
}

/// The executable of the settings, or the first known name where programs usually are. The search path of the environment
/// is not asked: settings come as values.
pub(super) fn find(settings: &Settings) -> Option<PathBuf> {
    if !settings.executable.is_empty() {
        return Some(PathBuf::from(&settings.executable)).filter(|file| file.is_file());
    }
    let places = NAMES.iter().flat_map(|name| FOLDERS.iter().map(move |folder| Path::new(folder).join(name)));
    places.into_iter().find(|file| file.is_file())
}

impl Chromium {
    /// Starts one below `folder`, sending everything through the proxy on this loopback port.
    pub(super) async fn start(
        executable: &Path,
        folder: &Path,
        proxy: u16,
        settings: &Settings,
        shutdown: &Shutdown,
    ) -> Result<Self, StartError> {
        let folders = folders::make(folder).map_err(StartError::Folder)?;
        let (reading, theirs_out) = std::io::pipe().map_err(StartError::Run)?;
        let (theirs_in, writing) = std::io::pipe().map_err(StartError::Run)?;
        let command = command(executable, &folders, proxy, settings, [theirs_in.into(), theirs_out.into()])?;
        let mut command = tokio::process::Command::from(command);
        let child = command.kill_on_drop(true).spawn().map_err(StartError::Run)?;
        // Their ends of the pipes are closed here, so that the end of the browser is the end of the pipe.
        drop(command);
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let reading = pipe::Receiver::from_owned_fd(reading.into()).map_err(StartError::Run)?;
        let writing = pipe::Sender::from_owned_fd(writing.into()).map_err(StartError::Run)?;
        let devtools = DevTools::start(reading, writing, shutdown);
        let mut this = Self { devtools, user_agent: String::new(), child, group, profile: folders.profile };
        let ready = tokio::time::timeout(Duration::from_secs(settings.start_seconds), this.prepare()).await;
        if !ready.unwrap_or(false) {
            this.end().await;
            return Err(StartError::Silent);
        }
        Ok(this)
    }

    /// The first word with it; from then on every new page waits until its session has taken it in.
    async fn prepare(&mut self) -> bool {
        let attach = json!({
            "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
            "filter": [{ "type": "page" }, { "exclude": true }],
        });
        let version = loop {
            // A browser that starts slowly answers late; one that has ended never does.
            match self.devtools.call("", "Browser.getVersion", json!({})).await {
                Ok(version) => break version,
                Err(super::devtools::CommandError::Slow(_)) => {}
                Err(_) => return false,
            }
        };
        let name = version.get("userAgent").and_then(serde_json::Value::as_str).unwrap_or_default();
        self.user_agent = name.replace("HeadlessChrome", "Chrome");
        self.devtools.call("", "Target.setDiscoverTargets", json!({ "discover": true })).await.is_ok()
            && self.devtools.call("", "Target.setAutoAttach", attach).await.is_ok()
    }

    /// Ends it with all its processes, and removes its folder.
    pub(super) async fn end(mut self) {
        self.kill();
        let _ = self.child.wait().await;
        let profile = std::mem::take(&mut self.profile);
        remove(profile).await;
    }

    fn kill(&mut self) {
        // The child has not been waited for, so its number belongs to nobody else yet.
        if let Some(group) = self.group.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Removes the folders of a browser, patiently.
async fn remove(profile: PathBuf) {
    for _ in 0..REMOVALS {
        let removed = profile.clone();
        if tokio::task::spawn_blocking(move || folders::remove(&removed)).await.is_ok_and(|removed| removed.is_ok()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tracing::warn!(folder = %profile.display(), "the folder of a browser could not be removed; the next start tries again");
}

fn command(
    executable: &Path,
    Folders { profile, short }: &Folders,
    proxy: u16,
    settings: &Settings,
    [theirs_in, theirs_out]: [OwnedFd; 2],
) -> Result<Command, StartError> {
    let mut command = Command::new(executable);
    let mut user_data = OsString::from("--user-data-dir=");
    user_data.push(profile);
    command.args(FLAGS).arg(user_data).arg(format!("--proxy-server=http://127.0.0.1:{proxy}"));
    if !settings.sandbox {
        command.arg("--no-sandbox");
    }
    // Nothing of this process's environment: it may hold secrets. Everything that is written goes into the folder.
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
    command.env("HOME", profile).env("XDG_CONFIG_HOME", profile).env("XDG_CACHE_HOME", profile).env("TMPDIR", short);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir(profile).process_group(0);
    let mappings = vec![FdMapping { parent_fd: theirs_in, child_fd: 3 }, FdMapping { parent_fd: theirs_out, child_fd: 4 }];
    command.fd_mappings(mappings).map_err(|error| StartError::Run(std::io::Error::other(error)))?;
    Ok(command)
}
