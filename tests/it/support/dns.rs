//! A name server on a free port that answers as the test says.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::UdpSocket;

use super::spawn;

const A: u16 = 1;
const CNAME: u16 = 5;
const TXT: u16 = 16;
const AAAA: u16 = 28;

/// What a name leads to.
#[derive(Clone)]
pub(crate) enum Record {
    Address(IpAddr),
    Alias(&'static str, IpAddr),
    Text(String),
}

/// A running name server. It ends with the test's runtime.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl NameServer {
    /// Answers with what `zone` gives for a name in lower case and the how-many-eth look-up of addresses this is, from 0.
    /// None: there is no such name.
    pub(crate) async fn start(zone: impl Fn(&str, usize) -> Option<Vec<Record>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        spawn(async move {
            let mut packet = [0_u8; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet).await {
                let Some((name, kind, end)) = question(&packet[..length]) else { continue };
                // A look-up asks for v4 and v6; the one for v4 counts.
                let nth =
                    if kind == A { count.fetch_add(1, Ordering::SeqCst) } else { count.load(Ordering::SeqCst).saturating_sub(1) };
                let records = zone(&name, nth);
                let _ = socket.send_to(&answer(&packet[..end], kind, records.as_deref()), from).await;
            }
        });
        Self { address, asked }
    }

    /// Always the same addresses for every name.
    pub(crate) async fn leading_to(addresses: Vec<IpAddr>) -> Self {
        Self::start(move |_, _| Some(addresses.iter().copied().map(Record::Address).collect())).await
    }

    /// How many look-ups of addresses came.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Name, kind, and where the question ends.
fn question(packet: &[u8]) -> Option<(String, u16, usize)> {
    let (mut at, mut labels) = (12, Vec::new());
    loop {
        let length = usize::from(*packet.get(at)?);
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(packet.get(at + 1..=at + length)?).to_lowercase());
        at += length + 1;
    }
    let kind = u16::from_be_bytes([*packet.get(at + 1)?, *packet.get(at + 2)?]);
    Some((labels.join("."), kind, at + 5))
}

fn answer(question: &[u8], kind: u16, records: Option<&[Record]>) -> Vec<u8> {
    let records_of_kind: Vec<Vec<u8>> = records.unwrap_or_default().iter().flat_map(|record| encoded(record, kind)).collect();
    let mut out = question.to_vec();
    // A response, authoritative; "no such name" where there is none. One question, these answers, nothing else.
    out[2] = 0x84;
    out[3] = if records.is_none() { 3 } else { 0 };
    out[4..12].copy_from_slice(&[0, 1, 0, u8::try_from(records_of_kind.len()).unwrap(), 0, 0, 0, 0]);
    out.extend(records_of_kind.concat());
    out
}

/// The record for a question of this kind; an alias comes with the address behind it.
fn encoded(record: &Record, kind: u16) -> Vec<Vec<u8>> {
    // The name of the question, which starts behind the header.
    let asked = vec![0xc0, 12];
    match record {
        Record::Address(address) => encoded_address(&asked, *address, kind).into_iter().collect(),
        Record::Alias(target, address) if kind == A || kind == AAAA => {
            let target = encoded_name(target);
            let mut all = vec![resource(&asked, CNAME, &target)];
            all.extend(encoded_address(&target, *address, kind));
            all
        }
        Record::Text(text) if kind == TXT => {
            let chunks = text.as_bytes().chunks(200);
            let data: Vec<u8> = chunks.flat_map(|chunk| [&[u8::try_from(chunk.len()).unwrap()], chunk].concat()).collect();
            vec![resource(&asked, TXT, &data)]
        }
        _ => Vec::new(),
    }
}

fn encoded_address(name: &[u8], address: IpAddr, kind: u16) -> Option<Vec<u8>> {
    match (address, kind) {
        (IpAddr::V4(address), A) => Some(resource(name, A, &address.octets())),
        (IpAddr::V6(address), AAAA) => Some(resource(name, AAAA, &address.octets())),
        _ => None,
    }
}

fn encoded_name(name: &str) -> Vec<u8> {
    let mut out: Vec<u8> =
        name.split('.').flat_map(|label| [&[u8::try_from(label.len()).unwrap()], label.as_bytes()].concat()).collect();
    out.push(0);
    out
}

fn resource(name: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = name.to_vec();
    out.extend(kind.to_be_bytes());
    out.extend([0, 1, 0, 0, 0, 60]);
    out.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    out.extend(data);
    out
}
