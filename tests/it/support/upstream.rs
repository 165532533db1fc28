//! A scanning service on the bare socket: keeps the bytes of every request as they came, and answers with the bytes a test
//! gives it, at the pace the test gives it.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::{eventually, spawn};

/// How the next requests are answered.
#[derive(Clone)]
pub(crate) enum Says {
    /// These bytes, once the request is there whole.
    Bytes(Vec<u8>),
    /// These bytes as soon as the head of the request is there; what comes of the body is read and left aside.
    AtOnce(Vec<u8>),
    /// These bytes as soon as the head of the request is there; then it closes, with all that was not read.
    Abrupt(Vec<u8>),
    /// These bytes, then those that come.
    Then(Vec<u8>, Arc<tokio::sync::Mutex<mpsc::Receiver<Vec<u8>>>>),
    /// Nothing; the connection closes.
    Hangup,
    /// Nothing; the connection stays.
    Silence,
}

/// One request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Everything up to the blank line.
    pub(crate) head: String,
    /// As it was framed.
    pub(crate) body: Vec<u8>,
    pub(crate) body_bytes: usize,
    /// The other side closed the connection before it was answered to the end.
    pub(crate) is_gone: bool,
}

#[derive(Default)]
struct Desk {
    asked: Vec<Asked>,
    says: Vec<Says>,
    connections: usize,
}

/// The service. It ends with the test's runtime.
#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) base: String,
    desk: Arc<Mutex<Desk>>,
}

/// An answer of JSON.
pub(crate) fn json(status: &str, body: &str) -> Vec<u8> {
    answer(status, "content-type: application/json\r\n", body.as_bytes())
}

/// An answer with these header lines, each with its line break.
pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = Self { base: format!("http://{}", listener.local_addr().unwrap()), desk: Arc::default() };
        let serving = upstream.clone();
        spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.desk.lock().unwrap().connections += 1;
                let serving = serving.clone();
                spawn(async move {
                    let _ = serving.serve(stream).await;
                });
            }
        });
        upstream
    }

    /// What it says to the next requests, one after the other; the last stays.
    pub(crate) fn says(&self, says: impl IntoIterator<Item = Says>) {
        let mut all: Vec<Says> = says.into_iter().collect();
        all.reverse();
        self.desk.lock().unwrap().says = all;
    }

    /// The requests that came.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.desk.lock().unwrap().asked.clone()
    }

    /// Waits for so many requests.
    pub(crate) async fn asked_times(&self, count: usize) -> Vec<Asked> {
        eventually("the requests", async || Some(self.asked()).filter(|asked| asked.len() >= count)).await
    }

    /// Connections that were opened.
    pub(crate) fn connections(&self) -> usize {
        self.desk.lock().unwrap().connections
    }

    fn next(&self) -> Says {
        let mut desk = self.desk.lock().unwrap();
        if desk.says.len() > 1 { desk.says.pop() } else { desk.says.last().cloned() }
            .unwrap_or_else(|| Says::Bytes(json("200 OK", "{}")))
    }

    fn note(&self, at: usize, change: impl FnOnce(&mut Asked)) {
        change(&mut self.desk.lock().unwrap().asked[at]);
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut buffer = Vec::new();
        loop {
            let Some(end) = fill_until(&mut stream, &mut buffer, b"\r\n\r\n").await? else { return Ok(()) };
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            buffer.drain(..end);
            let at = {
                let mut desk = self.desk.lock().unwrap();
                desk.asked.push(Asked { head: head.clone(), ..Asked::default() });
                desk.asked.len() - 1
            };
            let says = self.next();
            if !matches!(says, Says::AtOnce(_) | Says::Abrupt(_)) && !self.body(&mut stream, &mut buffer, &head, at).await? {
                self.note(at, |asked| asked.is_gone = true);
                return Ok(());
            }
            match says {
                Says::Bytes(bytes) => stream.write_all(&bytes).await?,
                Says::AtOnce(bytes) => {
                    stream.write_all(&bytes).await?;
                    while stream.read(&mut [0; 4096]).await? > 0 {}
                    return Ok(());
                }
                Says::Abrupt(bytes) => {
                    // Some of the body is on its way when it ends.
                    while buffer.len() < 64 * 1024 && stream.read_buf(&mut buffer).await? > 0 {}
                    stream.write_all(&bytes).await?;
                    return Ok(());
                }
                Says::Then(bytes, more) => {
                    stream.write_all(&bytes).await?;
                    let mut more = more.lock().await;
                    loop {
                        let mut nothing = [0; 1];
                        tokio::select! {
                            piece = more.recv() => match piece {
                                Some(piece) => stream.write_all(&piece).await?,
                                None => return Ok(()),
                            },
                            read = stream.read(&mut nothing) => if matches!(read, Ok(0) | Err(_)) {
                                self.note(at, |asked| asked.is_gone = true);
                                return Ok(());
                            },
                        }
                    }
                }
                Says::Hangup => return Ok(()),
                Says::Silence => {
                    let mut nothing = [0; 1];
                    let _ = stream.read(&mut nothing).await;
                    self.note(at, |asked| asked.is_gone = true);
                    return Ok(());
                }
            }
        }
    }

    /// Reads a body; false when it was cut.
    async fn body(&self, stream: &mut TcpStream, buffer: &mut Vec<u8>, head: &str, at: usize) -> std::io::Result<bool> {
        let lower = head.to_ascii_lowercase();
        let named = |name: &str| lower.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
        if named("transfer-encoding:").is_some() {
            loop {
                let Some(end) = fill_until(stream, buffer, b"\r\n").await? else { return Ok(false) };
                let size = usize::from_str_radix(String::from_utf8_lossy(&buffer[..end]).trim(), 16).unwrap();
                buffer.drain(..end);
                if !self.take(stream, buffer, size, at).await? || !self.skip(stream, buffer, 2).await? {
                    return Ok(false);
                }
                if size == 0 {
                    return Ok(true);
                }
            }
        }
        let length = named("content-length:").map_or(0, |text| text.parse().unwrap());
        self.take(stream, buffer, length, at).await
    }

    async fn take(&self, stream: &mut TcpStream, buffer: &mut Vec<u8>, mut left: usize, at: usize) -> std::io::Result<bool> {
        while left > 0 {
            if buffer.is_empty() && stream.read_buf(buffer).await? == 0 {
                return Ok(false);
            }
            let now = left.min(buffer.len());
            self.note(at, |asked| {
                asked.body_bytes += now;
                // The beginning is enough to look at.
                let room = (1_usize << 20).saturating_sub(asked.body.len()).min(now);
                asked.body.extend_from_slice(&buffer[..room]);
            });
            buffer.drain(..now);
            left -= now;
        }
        Ok(true)
    }

    async fn skip(&self, stream: &mut TcpStream, buffer: &mut Vec<u8>, count: usize) -> std::io::Result<bool> {
        while buffer.len() < count {
            if stream.read_buf(buffer).await? == 0 {
                return Ok(false);
            }
        }
        buffer.drain(..count);
        Ok(true)
    }
}

/// Reads until `mark` is there; the place behind it, or `None` when the connection ended.
async fn fill_until(stream: &mut TcpStream, buffer: &mut Vec<u8>, mark: &[u8]) -> std::io::Result<Option<usize>> {
    loop {
        if let Some(at) = buffer.windows(mark.len()).position(|window| window == mark) {
            return Ok(Some(at + mark.len()));
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
