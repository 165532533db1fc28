//! A stand-in for the identity provider's userinfo, with the ways it can fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What it answers, by the bearer it is asked about: `alice` and `carol` are users of acme and globex, `nobody` belongs
/// to no account, `slow` never gets an answer, `broken` a 500, `garbage` something that is no JSON, `huge` too much of it,
/// and everything else is refused.
pub(crate) struct Userinfo {
    pub(crate) url: String,
    asked: Arc<AtomicUsize>,
}

impl Userinfo {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/oauth/userinfo", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                spawn(answer(connection, Arc::clone(&count)));
            }
        });
        Self { url, asked }
    }

    /// How many look-ups came.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

async fn answer(mut connection: TcpStream, asked: Arc<AtomicUsize>) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if connection.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    asked.fetch_add(1, Ordering::SeqCst);
    let request = String::from_utf8_lossy(&request).to_ascii_lowercase();
    let bearer = request.split("authorization: bearer ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
    let (status, body) = match bearer {
        "alice" => (200, user("Alice", "acme")),
        "carol" => (200, user("Carol", "globex")),
        "nobody" => (200, r#"{"sub":"7","name":"Nobody"}"#.to_owned()),
        "slow" => return std::future::pending().await,
        "broken" => (500, "{}".to_owned()),
        "garbage" => (200, "<html>hello</html>".to_owned()),
        "huge" => (200, format!(r#"{{"organization":"acme","name":"{}"}}"#, "x".repeat(1 << 20))),
        _ => (401, r#"{"error":"invalid_token"}"#.to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = connection.write_all(head.as_bytes()).await;
    let _ = connection.write_all(body.as_bytes()).await;
}

fn user(name: &str, organization: &str) -> String {
    format!(
        r#"{{"sub":"1","user_id":"1","name":"{name}","email":"{name}@example.org","organization":"{organization}","roles":["member"]}}"#
    )
}
