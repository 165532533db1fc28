//! The `Host` of a request decides whose portal answers: by its exact text, without a default, whatever else a request says.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::replicas::Replicas;

/// Sends these bytes and gives the status and the whole answer.
async fn sent(port: u16, request: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    // The server may cut a connection whose request it cannot read.
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default();
    (status, answer)
}

/// A request for a page that every tenant has, with these header lines.
fn request(target: &str, lines: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\n{lines}accept: text/html\r\nconnection: close\r\n\r\n").into_bytes()
}

const PAGE: &str = "/auth/signed-out";

#[tokio::test]
async fn a_host_is_known_by_its_exact_text_and_nobody_is_the_default() {
    let replicas = Replicas::embedded().await;
    let port = replicas.all[0].port;
    let ours = [
        (format!("Host: localhost:{port}\r\n"), "acme"),
        (format!("Host: LocalHost:{port}\r\n"), "acme"),
        (format!("host: globex.localhost:{port}\r\n"), "globex"),
        (format!("Host: localhost:{port}\r\nX-Forwarded-Host: globex.localhost:{port}\r\n"), "acme"),
        (format!("Host: localhost:{port}\r\nForwarded: host=globex.localhost:{port}\r\n"), "acme"),
    ];
    for (lines, tenant) in ours {
        let (status, answer) = sent(port, &request(PAGE, &lines)).await;
        let other = if tenant == "acme" { "globex" } else { "acme" };
        assert_eq!(status, 200, "{lines}{answer}");
        assert!(answer.contains(tenant) && !answer.contains(other), "{lines}{answer}");
    }
    let foreign = [
        "Host: localhost\r\n".to_owned(),
        "Host: localhost:1\r\n".to_owned(),
        format!("Host: localhost.:{port}\r\n"),
        format!("Host: nobody.localhost:{port}\r\n"),
        format!("Host: acme:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\n"),
        format!("Host: [::1]:{port}\r\n"),
        format!("Host: [::ffff:127.0.0.1]:{port}\r\n"),
        format!("Host: 2130706433:{port}\r\n"),
        format!("Host: evil.example, localhost:{port}\r\n"),
        format!("Host: localhost:{port}@evil.example\r\n"),
        format!("Host: evil.example#localhost:{port}\r\n"),
        format!("Host: localhost:0{port}\r\n"),
        format!("Host: evil.example\r\nX-Forwarded-Host: localhost:{port}\r\n"),
        format!("Host: evil.example\r\nForwarded: host=localhost:{port}\r\n"),
        format!("Host: evil.example\r\nX-Host: localhost:{port}\r\n"),
        "Host: \r\n".to_owned(),
    ];
    for lines in foreign {
        let (status, answer) = sent(port, &request(PAGE, &lines)).await;
        assert_eq!(status, 421, "{lines}{answer}");
        assert!(!answer.contains("acme") && !answer.contains("globex"), "{lines}{answer}");
    }
}

#[tokio::test]
async fn a_request_with_no_host_or_two_is_no_request() {
    let replicas = Replicas::embedded().await;
    let port = replicas.all[0].port;
    let own = format!("Host: localhost:{port}\r\n");
    let unclear = [
        request(PAGE, ""),
        request(PAGE, &format!("{own}{own}")),
        request(PAGE, &format!("{own}Host: globex.localhost:{port}\r\n")),
        request(PAGE, &format!("Host: evil.example\r\n{own}")),
        request(&format!("http://globex.localhost:{port}{PAGE}"), &own),
        request(&format!("http://evil.example{PAGE}"), &own),
        format!("GET {PAGE} HTTP/1.0\r\n\r\n").into_bytes(),
        [b"GET /auth/signed-out HTTP/1.1\r\nHost: localhost\xff\r\nconnection: close\r\n\r\n".as_slice()].concat(),
    ];
    for bytes in unclear {
        let (status, answer) = sent(port, &bytes).await;
        let told = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(status, 400, "{told}{answer}");
        assert!(!answer.contains("acme") && !answer.contains("globex"), "{told}{answer}");
    }
    let (status, answer) = sent(port, &request(&format!("http://localhost:{port}{PAGE}"), &own)).await;
    assert_eq!(status, 200, "the same host twice over is one host: {answer}");
}
