//! A real `redis-server` on loopback, for gateways that share a store. It goes away with the test.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::eventually;

/// A port of loopback that nobody listens on and nobody else in this process is given. Below those that systems hand out by
/// themselves, so that no connection takes it before whoever asked listens there.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(131);
    loop {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::SeqCst));
        let port = u16::try_from(10_000 + number % 20_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A Redis that keeps nothing by itself.
pub(crate) struct RedisServer {
    pub(crate) port: u16,
    folder: TempDir,
    options: Vec<String>,
    /// When it is not the plain one on its port.
    address: Option<String>,
    /// Its options say everything.
    alone: bool,
    process: Option<Child>,
}

impl RedisServer {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts one with further options of its command line.
    pub(crate) async fn start_with(options: &[&str]) -> Self {
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self { port: free_port(), folder, options, address: None, alone: false, process: None };
        server.resume().await;
        server
    }

    /// One that somebody else started, by its address.
    pub(crate) fn elsewhere(url: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { port: 0, folder, options: Vec::new(), address: Some(url), alone: true, process: None }
    }

    pub(crate) fn url(&self) -> String {
        self.address.clone().unwrap_or_else(|| format!("redis://127.0.0.1:{}", self.port))
    }

    /// Starts it again on the same port, with what it saved.
    pub(crate) async fn resume(&mut self) {
        let mut command = Command::new("redis-server");
        if !self.alone {
            command
                .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--appendonly", "no", "--rdbcompression", "no"])
                .args(["--save", "", "--dir"])
                .arg(self.folder.path());
        }
        let process =
            command.args(&self.options).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("redis-server is installed");
        self.process = Some(process);
        let port = self.port;
        eventually("redis-server", async || TcpStream::connect(("127.0.0.1", port)).await.ok()).await;
    }

    /// Ends it as a crash would. What was not saved is lost.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Stops it from answering while its connections stay open; [`RedisServer::thaw`] lets it go on.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, name: &str) {
        let id = self.process.as_ref().expect("it runs").id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Sends a command and gives the raw answer.
    pub(crate) async fn command(&self, words: &[&str]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            write!(request, "${}\r\n{word}\r\n", word.len()).unwrap();
        }
        // The server closes after QUIT, which says where the answer ends.
        request.push_str("*1\r\n$4\r\nQUIT\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).trim_end_matches("+OK\r\n").to_owned()
    }

    /// Everything it holds, as its own file of it: for looking for what must not be there.
    pub(crate) async fn dump(&self) -> Vec<u8> {
        let answer = self.command(&["SAVE"]).await;
        assert!(answer.is_empty() || answer.starts_with("+OK"), "{answer}");
        let file: PathBuf = self.folder.path().join("dump.rdb");
        fs::read(file).unwrap()
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
