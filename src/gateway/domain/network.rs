//! Networks in CIDR form, and the address of a caller behind proxies that are believed.

use std::net::{IpAddr, Ipv6Addr};

use crate::platform::digits::whole;

/// Stands for an address that is not known, as in RFC 4291, 2.5.2. It lies in no network at all, not even in `::/0`.
pub(in crate::gateway) const UNKNOWN: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// What all of unknown address have together: no address of theirs lies in it.
const NOWHERE: u128 = 1;

/// A network: an address and how many leading bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct Network {
    address: u128,
    bits: u32,
}

/// IPv4 addresses are looked at in their IPv6-mapped form, so that one comparison serves both.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn is_unknown(address: IpAddr) -> bool {
    address.to_canonical().is_unspecified()
}

/// What one caller has to itself, as far as addresses tell: an IPv4 address, or an IPv6 /64. All of [`UNKNOWN`] address share
/// one that is nobody else's.
pub(in crate::gateway) fn block(address: IpAddr) -> u128 {
    match address.to_canonical() {
        unknown if is_unknown(unknown) => NOWHERE,
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits() >> 64 << 64,
    }
}

impl Network {
    /// Reads `10.0.0.0/8`, `2001:db8::/32` or a single address.
    pub(in crate::gateway) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().ok()?;
        let (offset, longest) = if address.is_ipv4() { (96, 32) } else { (0, 128) };
        let bits = match bits {
            Some(bits) => whole(bits).filter(|bits| *bits <= longest)?,
            None => longest,
        };
        Some(Self { address: number(address), bits: offset + bits })
    }

    /// Whether `address` lies in this network; one that is not known lies in none.
    pub(in crate::gateway) fn contains(&self, address: IpAddr) -> bool {
        let shift = 128 - self.bits;
        !is_unknown(address) && (shift == 128 || number(address) >> shift == self.address >> shift)
    }
}

/// The network an address belongs to for limits and logs: IPv4 /24, IPv6 /48, or `unknown`.
pub(in crate::gateway) fn neighbourhood(address: IpAddr) -> String {
    match address.to_canonical() {
        unknown if is_unknown(unknown) => "unknown".to_owned(),
        IpAddr::V4(v4) => {
            let [a, b, c, _] = v4.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        IpAddr::V6(v6) => {
            let [a, b, c, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}::/48")
        }
    }
}

/// The caller's address: `peer` unless it is a trusted proxy; then the right-most address of `X-Forwarded-For` that is not a
/// trusted proxy itself. Whoever an entry names that cannot be read is [`UNKNOWN`], and never the proxy that named it: that
/// one may be let in where the caller is not. Lists are cut at their commas before anything of them is read, as a proxy adds
/// to the very line that a caller sent.
pub(in crate::gateway) fn client<'h>(peer: IpAddr, lines: impl Iterator<Item = &'h [u8]>, trusted: &[Network]) -> IpAddr {
    let entries: Vec<&[u8]> = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii).collect();
    let named = entries.into_iter().rev().filter(|entry| !entry.is_empty());
    walk(peer, named.map(|entry| entry_address(std::str::from_utf8(entry).ok()?)), trusted)
}

/// The same by `Forwarded` (RFC 7239). An element without an address (`unknown`, `_hidden`) is one that cannot be read; of a
/// header that does not follow the grammar nothing can be, as a quote that a caller left open could hide what a proxy has added.
pub(in crate::gateway) fn client_by_forwarded<'h>(
    peer: IpAddr,
    lines: impl Iterator<Item = &'h [u8]>,
    trusted: &[Network],
) -> IpAddr {
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let all = lines.collect::<Vec<_>>().join(b",".as_slice());
    // Bytes beyond ASCII may stand in quotes; what takes their place is neither a quote nor a comma.
    let Some(elements) = elements(&String::from_utf8_lossy(&all)) else { return UNKNOWN };
    walk(peer, elements.into_iter().rev().map(|node| entry_address(&node?)), trusted)
}

fn is_trusted(address: IpAddr, trusted: &[Network]) -> bool {
    trusted.iter().any(|network| network.contains(address))
}

/// From the nearest entry on, as long as trusted proxies name it.
fn walk(peer: IpAddr, entries: impl Iterator<Item = Option<IpAddr>>, trusted: &[Network]) -> IpAddr {
    let mut seen = peer;
    for entry in entries {
        if !is_trusted(seen, trusted) {
            break;
        }
        seen = entry.unwrap_or(UNKNOWN);
    }
    seen
}

/// `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:443`.
fn entry_address(entry: &str) -> Option<IpAddr> {
    if let Ok(address) = entry.parse() {
        return Some(address);
    }
    if let Ok(socket) = entry.parse::<std::net::SocketAddr>() {
        return Some(socket.ip());
    }
    entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

/// The `for` of each element, in order; `None` for text that does not follow the grammar.
fn elements(text: &str) -> Option<Vec<Option<String>>> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        // Lists may have empty elements (RFC 9110, 5.6.1).
        if let Some(behind) = rest.strip_prefix(',') {
            rest = behind.trim_start();
            continue;
        }
        let (node, behind) = element(rest)?;
        all.push(node);
        rest = behind;
    }
    Some(all)
}

/// One element and what is behind its comma.
fn element(text: &str) -> Option<(Option<String>, &str)> {
    let (mut node, mut rest) = (None, text);
    loop {
        let (name, behind) = rest.split_once('=')?;
        if name.is_empty() || !name.bytes().all(is_token) {
            return None;
        }
        let (value, behind) = value(behind)?;
        if name.eq_ignore_ascii_case("for") {
            // Each parameter stands once.
            if node.replace(value).is_some() {
                return None;
            }
        }
        let behind = behind.trim_start();
        match behind.chars().next() {
            None => return Some((node, "")),
            Some(',') => return Some((node, behind.get(1..)?.trim_start())),
            Some(';') => rest = behind.get(1..)?.trim_start(),
            Some(_) => return None,
        }
    }
}

/// A token or quoted string, and what is behind it.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.bytes().position(|byte| !is_token(byte) && !matches!(byte, b':' | b'[' | b']')).unwrap_or(text.len());
        let (value, behind) = text.split_at_checked(end)?;
        return (end > 0).then(|| (value.to_owned(), behind));
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, character) in quoted.char_indices() {
        match character {
            _ if escaped => {
                value.push(character);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((value, quoted.get(at + 1..)?)),
            _ => value.push(character),
        }
    }
    None
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_own_addresses_only() {
        let ten = Network::parse("10.0.0.0/8").unwrap();
        assert!(ten.contains("10.9.8.7".parse().unwrap()));
        assert!(ten.contains("::ffff:10.9.8.7".parse().unwrap()));
        assert!(!ten.contains("11.0.0.1".parse().unwrap()));
        let v6 = Network::parse("2001:db8::/32").unwrap();
        assert!(v6.contains("2001:db8:1::1".parse().unwrap()));
        assert!(!v6.contains("2001:db9::1".parse().unwrap()));
        assert!(Network::parse("::/0").unwrap().contains("1.2.3.4".parse().unwrap()));
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "x", "10.0.0.0/+8", "10.0.0.0/ 8", " 10.0.0.0/8"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_block_is_an_ipv4_address_or_an_ipv6_64() {
        let of = |text: &str| block(text.parse().unwrap());
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:ffff:ffff:ffff"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
    }

    #[test]
    fn forwarded_addresses_count_only_behind_a_trusted_proxy() {
        let trusted = [Network::parse("10.0.0.0/8").unwrap()];
        let from =
            |peer: &str, header: &str| client(peer.parse().unwrap(), [header.as_bytes()].into_iter(), &trusted).to_string();
        assert_eq!(from("192.0.2.9", "203.0.113.7"), "192.0.2.9");
        assert_eq!(from("10.0.0.1", "203.0.113.7"), "203.0.113.7");
        assert_eq!(from("10.0.0.1", "6.6.6.6, 203.0.113.7, 10.0.0.2"), "203.0.113.7");
        assert_eq!(from("10.0.0.1", "[2001:db8::1]:443"), "2001:db8::1");
        assert_eq!(from("10.0.0.1", "203.0.113.7, , "), "203.0.113.7");
        assert_eq!(from("10.0.0.1", "junk, 203.0.113.7"), "203.0.113.7", "what is behind the caller is not read");
        assert_eq!(from("10.0.0.1", ""), "10.0.0.1");
    }

    #[test]
    fn an_entry_that_cannot_be_read_makes_nobody_a_proxy() {
        let trusted = [Network::parse("10.0.0.0/8").unwrap()];
        let from = |lines: &[&[u8]]| client("10.0.0.1".parse().unwrap(), lines.iter().copied(), &trusted);
        let unreadable: [&[&[u8]]; 7] = [
            &[b"203.0.113.7, junk"],
            &[b"203.0.113.7, junk, 10.0.0.3"],
            &[b"203.0.113.7, \xff"],
            &[b"203.0.113.7", b"\xff"],
            &[b"unknown"],
            &[b"::"],
            &[b"0.0.0.0"],
        ];
        for lines in unreadable {
            let who = from(lines);
            assert!(is_unknown(who), "{lines:?}: {who}");
            assert_eq!(neighbourhood(who), "unknown");
            for network in ["0.0.0.0/0", "::/0", "10.0.0.0/8", "::", "0.0.0.0"] {
                assert!(!Network::parse(network).unwrap().contains(who), "{network}");
            }
            for other in ["::1", "0.0.0.1", "10.0.0.1", "::ffff:0:0:1"] {
                assert_ne!(block(who), block(other.parse().unwrap()), "{other}");
            }
        }
        let named: IpAddr = "203.0.113.9".parse().unwrap();
        for lines in
            [&[b"\xff, 203.0.113.9".as_slice()][..], &[b"\xff", b"203.0.113.9"], &[b"6.6.6.6\x00\xfe,203.0.113.9,10.0.0.2"]]
        {
            assert_eq!(from(lines), named, "{lines:?}");
        }
    }

    #[test]
    fn the_forwarded_header_is_read_from_its_end_and_only_when_it_follows_the_grammar() {
        let trusted = [Network::parse("10.0.0.0/8").unwrap(), Network::parse("fd00::/8").unwrap()];
        let from = |peer: &str, header: &str| {
            client_by_forwarded(peer.parse().unwrap(), [header.as_bytes()].into_iter(), &trusted).to_string()
        };
        let (proxy, unknown) = ("10.0.0.1", "::");
        assert_eq!(from("192.0.2.9", "for=203.0.113.7"), "192.0.2.9", "from a stranger");
        for (header, expected) in [
            ("for=203.0.113.7", "203.0.113.7"),
            ("For=203.0.113.7;proto=https;by=10.0.0.1;host=a.example", "203.0.113.7"),
            ("proto=https; for=\"203.0.113.7:4711\"", "203.0.113.7"),
            ("for=\"[2001:db8::2]\"", "2001:db8::2"),
            ("for=\"[2001:db8::2]:4711\"", "2001:db8::2"),
            ("for=[2001:db8::2]", "2001:db8::2"),
            ("for=6.6.6.6, for=203.0.113.7, for=10.0.0.2", "203.0.113.7"),
            ("for=6.6.6.6,for=203.0.113.7 , for=\"[fd00::1]\"", "203.0.113.7"),
            ("for=6.6.6.6,, for=203.0.113.7,", "203.0.113.7"),
            ("for=\"\\203.0.113.7\"", "203.0.113.7"),
            ("for=6.6.6.6;x=\"é\", for=203.0.113.7", "203.0.113.7"),
            ("é, for=203.0.113.7", unknown),
            // Nobody is named there.
            ("for=6.6.6.6, for=unknown", unknown),
            ("for=6.6.6.6, for=_hidden, for=10.0.0.2", unknown),
            ("for=6.6.6.6, proto=https", unknown),
            ("", proxy),
            // No grammar, no word: what a caller left open must not hide what a proxy added.
            ("for=\"6.6.6.6, for=203.0.113.7", unknown),
            ("for=\"a, for=203.0.113.7;by=\"b\"", unknown),
            ("for=6.6.6.6;for=7.7.7.7", unknown),
            ("for=6.6.6.6 7.7.7.7", unknown),
            ("6.6.6.6", unknown),
            ("=6.6.6.6", unknown),
            ("for=", unknown),
            ("for=6.6.6.6;", unknown),
        ] {
            assert_eq!(from(proxy, header), expected, "{header}");
        }
    }
}
