//! Which address is whose, in every notation somebody may write it.

use std::net::IpAddr;

use super::*;
use crate::config::scanner::Allowed;

fn dialer(allow: &[&str]) -> Dialer {
    let allow = allow.iter().map(|text| Allowed::parse(text).unwrap()).collect();
    let name_servers = vec!["127.0.0.1:9".parse().unwrap()];
    let ports = vec![80..=80, 443..=443, 8000..=9999];
    let (connect_timeout_ms, lookup_timeout_ms) = (300, 300);
    let settings = Outbound {
        allow,
        ports,
        name_servers,
        connect_timeout_ms,
        lookup_timeout_ms,
        closed_after_ms: 0,
        extra_roots_file: None,
    };
    Dialer::new(&settings).unwrap()
}

fn is_open(host: &str) -> bool {
    match literal(host) {
        Ok(Literal::Address(address)) => addresses::is_public(address),
        other => panic!("{host} is no address: {other:?}"),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_notation_of_a_closed_address_is_closed() {
    let closed = [
        // Loopback and "this host".
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "0x7f000001",
        "0X7F000001",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "0177.0.0.01",
        "127.255.255.254",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "0x0",
        "00000000",
        "0.1.2.3",
        // Private, shared, link local, cloud metadata.
        "10.0.0.1",
        "10.255.255.255",
        "012.0.0.1",
        "0xa.0.0.1",
        "167772161",
        "100.64.0.1",
        "100.127.255.255",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "0300.0250.0.1",
        "3232235521",
        // Reserved, documentation, benchmarks, multicast, broadcast.
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "4294967295",
        // v6 of its own.
        "::",
        "::1",
        "[::1]",
        "0:0:0:0:0:0:0:1",
        "fc00::1",
        "fd12:3456:789a::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "3fff::1",
        "100::1",
        "2001:2::1",
        "2001:20::1",
        // v4 inside v6: mapped, compatible, NAT64, 6to4, Teredo (server, client).
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "[::ffff:10.0.0.1]",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2002:c0a8:1::",
        "2001:0:7f00:1::f7f7:f7f7",
        "2001:0:808:808:0:0:80ff:fffe",
    ];
    for host in closed {
        assert!(!is_open(host), "{host} is open");
    }
    assert!(closed.len() > 60, "{}", closed.len());
}

#[test]
fn public_addresses_are_open_in_every_notation() {
    let open = [
        "1.1.1.1",
        "8.8.8.8",
        "134744072",
        "0x08080808",
        "010.010.010.010",
        "8.8.2056",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "169.253.255.255",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "[2001:4860:4860::8888]",
        "2a00:1450:4001::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "2001:0:808:808:0:0:f7f7:f7f7",
    ];
    for host in open {
        assert!(is_open(host), "{host} is closed");
    }
}

#[test]
fn what_is_no_host_is_told_so() {
    for host in [
        "",
        " ",
        "a b",
        "1.2.3.256",
        "0x100000000",
        "[::1",
        "fe80::1%eth0",
        "a..b",
        "x".repeat(64).as_str(),
        "host:80",
        "a/b",
        "user@host",
    ] {
        assert_eq!(literal(host), Err(DialError::Host), "{host:?}");
    }
    assert_eq!(literal("BÜCHER.example."), Ok(Literal::Name("xn--bcher-kva.example".to_owned())));
}

#[test]
fn one_closed_address_among_open_ones_closes_all() {
    let resolved = |addresses: &[&str]| Resolved {
        host: "mixed.example".to_owned(),
        addresses: addresses.iter().map(|address| address.parse::<IpAddr>().unwrap()).collect(),
        aliases: Vec::new(),
        ttl: None,
    };
    let guarded = dialer(&[]);
    assert_eq!(guarded.permit(&resolved(&["8.8.8.8", "10.0.0.1"]), 443), Err(DialError::Blocked));
    assert_eq!(guarded.permit(&resolved(&["8.8.8.8", "::1"]), 443), Err(DialError::Blocked));
    assert_eq!(guarded.permit(&resolved(&["8.8.8.8"]), 443).map(|all| all.len()), Ok(1));
    assert_eq!(guarded.permit(&resolved(&["8.8.8.8"]), 22), Err(DialError::Port(22)));
    assert_eq!(guarded.permit(&resolved(&[]), 443), Err(DialError::NoOpenAddress));
    // Whether a port is open on a closed address is not told.
    assert_eq!(guarded.permit(&resolved(&["10.0.0.1"]), 22), Err(DialError::Blocked));

    let lenient = dialer(&["10.0.0.0/8:22", "::1/128"]);
    assert!(lenient.permit(&resolved(&["8.8.8.8", "10.0.0.1"]), 443).is_err(), "the entry is for port 22");
    assert!(lenient.permit(&resolved(&["10.0.0.1"]), 22).is_ok());
    assert!(lenient.permit(&resolved(&["::1"]), 12345).is_ok(), "an entry without ports is for all of them");
}

#[tokio::test]
async fn every_closed_address_gets_the_same_answer_and_no_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let guarded = dialer(&[]);
    for host in ["127.0.0.1", "2130706433", "::ffff:127.0.0.1", "10.1.2.3", "169.254.169.254"] {
        let error = guarded.connect(host, port).await.unwrap_err();
        assert_eq!(error, DialError::Blocked, "{host}");
    }
    for host in ["localhost", "localhost."] {
        assert_eq!(guarded.connect(host, port).await.unwrap_err(), DialError::NoOpenAddress, "{host}");
    }
    assert!(listener.accept().is_err(), "somebody connected");
    let lenient = dialer(&["127.0.0.0/8", "::1/128"]);
    lenient.connect("127.1", port).await.unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = lenient.connect("127.0.0.1", closed.port()).await.unwrap_err();
    assert_eq!(refused, DialError::Unreached(vec![(closed, ConnectFault::Refused)]));
}

#[tokio::test]
async fn a_silent_name_server_is_told_from_a_missing_name() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let settings = Outbound {
        allow: Vec::new(),
        ports: vec![443..=443],
        name_servers: vec![silent.local_addr().unwrap()],
        connect_timeout_ms: 300,
        lookup_timeout_ms: 300,
        closed_after_ms: 0,
        extra_roots_file: None,
    };
    let error = Dialer::new(&settings).unwrap().find("nobody.example", 443).await.unwrap_err();
    assert_eq!(error, DialError::LookupTimedOut);
}
