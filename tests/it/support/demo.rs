//! The built binary's demo as a process, and what people do with it: sign in, scan, share.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use reqwest::multipart;
use serde_json::Value;
use tempfile::TempDir;

use super::client::{Answer, Browser};
use super::eventually;

/// A running demo. It is ended with the test.
pub(crate) struct Demo {
    process: Child,
    log: Arc<Mutex<String>>,
    folder: Option<TempDir>,
    pub(crate) portal: String,
    pub(crate) globex: String,
}

/// A temporary data folder.
pub(crate) fn data_folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The built binary with nothing of this process's environment.
pub(crate) fn cardea() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardea"));
    command.env_clear();
    command
}

impl Demo {
    pub(crate) fn start() -> Self {
        Self::start_in(data_folder(), 0, &[])
    }

    /// Starts it on a data folder and a port (0 for any) with settings from the environment.
    pub(crate) fn start_in(folder: TempDir, port: u16, environment: &[(&str, &str)]) -> Self {
        let mut process = cardea()
            .args(["demo", "--port", &port.to_string(), "--data"])
            .arg(folder.path())
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        collect(process.stderr.take().unwrap(), &log);
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut ready = String::new();
        out.read_line(&mut ready).unwrap();
        let portal = ready.strip_prefix("ready ").and_then(|rest| rest.split(' ').find_map(|word| word.strip_prefix("portal=")));
        assert!(portal.is_some(), "not ready: {ready} {}", log.lock().unwrap());
        let portal = portal.unwrap().to_owned();
        collect(out, &log);
        let globex = portal.replace("localhost", "globex.localhost");
        Self { process, log, folder: Some(folder), portal, globex }
    }

    pub(crate) fn data(&self) -> &Path {
        self.folder.as_ref().unwrap().path()
    }

    pub(crate) fn port(&self) -> u16 {
        self.portal.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Everything it has printed until now.
    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// `demo.json`.
    pub(crate) fn sheet(&self) -> Value {
        serde_json::from_slice(&fs::read(self.data().join("demo.json")).unwrap()).unwrap()
    }

    /// From now on the peak of memory counts anew.
    pub(crate) fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5").unwrap();
    }

    /// The most memory the process had resident since then, in KiB.
    pub(crate) fn peak_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Asks the process to end, as a supervisor does.
    pub(crate) fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end of the process; gives how it ended and the data it left.
    pub(crate) async fn ended(mut self) -> (ExitStatus, TempDir) {
        let process = &mut self.process;
        let status = eventually("the end of the demo", async || process.try_wait().unwrap()).await;
        (status, self.folder.take().unwrap())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn collect(stream: impl Read + Send + 'static, log: &Arc<Mutex<String>>) {
    let log = Arc::clone(log);
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
}

impl Browser {
    /// Signs a user of the demo in at a portal; gives the page that comes after.
    pub(crate) async fn sign_in(&mut self, portal: &str, name: &str) -> Answer {
        self.sign_in_to(&format!("{portal}/"), name).await
    }

    /// Signs in on the way to a page of a portal.
    pub(crate) async fn sign_in_to(&mut self, page: &str, name: &str) -> Answer {
        let page = url::Url::parse(page).unwrap();
        let mut login = page.join("/auth/login").unwrap();
        login.query_pairs_mut().append_pair("return_to", &page[url::Position::BeforePath..]);
        let form = self.open(login.as_str()).await;
        let action = form.link("action", "/oauth/authorize");
        let token = form.hidden("token");
        let sent = self.post(&action, &[("token", &token), ("username", name), ("password", name)]).await;
        let after = self.follow(sent).await;
        assert_eq!(after.status, 200, "{name} at {page}: {}", after.text());
        after
    }

    /// Begins a draft of a scan; gives the page of its first step.
    pub(crate) async fn draft(&mut self, portal: &str, project: &str) -> Answer {
        let new = format!("{portal}/tasks/new");
        let csrf = self.get(&new).await.hidden("csrf");
        let begun = self.post(&new, &[("csrf", &csrf), ("project", project), ("lang", "JAVA")]).await;
        let page = self.follow(begun).await;
        assert_eq!(page.status, 200, "{}", page.text());
        page
    }

    /// Goes the way of a new scan with one file and without script; gives the answer of its last step, unfollowed.
    pub(crate) async fn upload(&mut self, portal: &str, project: &str, file: &str, bytes: Vec<u8>) -> Answer {
        let page = self.draft(portal, project).await;
        let form = multipart::Form::new()
            .text("csrf", page.hidden("csrf"))
            .text("v", page.hidden("v"))
            .text("sha256", "")
            .text("file_name", "")
            .part("file", multipart::Part::bytes(bytes).file_name(file.to_owned()));
        let added = self.post_file(page.url.as_str(), form).await;
        if added.status != 303 {
            return added;
        }
        let check = self.get(&page.resolve("check")).await;
        let (csrf, version) = (check.hidden("csrf"), check.hidden("v"));
        self.post(check.url.as_str(), &[("csrf", &csrf), ("v", &version)]).await
    }

    /// Scans a file to the end; gives the page of the task.
    pub(crate) async fn scan(&mut self, portal: &str, project: &str, file: &str, bytes: Vec<u8>) -> Answer {
        let started = self.upload(portal, project, file, bytes).await;
        assert_eq!(started.status, 303, "{}", started.text());
        let task = started.location().unwrap();
        eventually("the end of the scan", async || {
            let page = self.get(task.as_str()).await;
            assert_eq!(page.status, 200, "{}", page.text());
            (!page.text().contains("Refresh the status")).then_some(page)
        })
        .await
    }

    /// Fills in the form of a new share at this address; gives its link and its code.
    pub(crate) async fn share(&mut self, new: &str) -> (String, String) {
        let form = self.get(new).await;
        let what = if form.text().contains("id=\"what-findings\"") { "findings" } else { "report" };
        let page = form.text();
        let last_day = page.split("name=\"last_day\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let (csrf, once, task) = (form.hidden("csrf"), form.hidden("once"), form.hidden("task"));
        let mut fields =
            vec![("csrf", &*csrf), ("once", &once), ("task", &task), ("what", what), ("code", "made"), ("last_day", last_day)];
        let vul = if what == "findings" { form.hidden("vul") } else { String::new() };
        if !vul.is_empty() {
            fields.push(("vul", &vul));
        }
        let created = self.post(&form.resolve("/shares"), &fields).await;
        assert_eq!(created.status, 200, "{}", created.text());
        (created.by_id("share-link"), created.by_id("share-code"))
    }
}

/// The folder of the tests' packages from npm.
pub(crate) fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node_modules").join(path)
}
