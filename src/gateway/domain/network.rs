//! Networks in CIDR form, and the address of a caller behind proxies that are believed.

use std::net::IpAddr;

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

impl Network {
    /// Reads `10.0.0.0/8`, `2001:db8::/32` or a single address.
    pub(in crate::gateway) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.trim().parse().ok()?;
        let (offset, longest) = if address.is_ipv4() { (96, 32) } else { (0, 128) };
        let bits = match bits {
            Some(bits) => bits.trim().parse::<u32>().ok().filter(|bits| *bits <= longest)?,
            None => longest,
        };
        Some(Self { address: number(address), bits: offset + bits })
    }

    /// Whether `address` lies in this network.
    pub(in crate::gateway) fn contains(&self, address: IpAddr) -> bool {
        let shift = 128 - self.bits;
        shift == 128 || number(address) >> shift == self.address >> shift
    }
}

/// The network an address belongs to for limits and logs: IPv4 /24, IPv6 /48.
pub(in crate::gateway) fn neighbourhood(address: IpAddr) -> String {
    match address.to_canonical() {
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

/// The caller's address: `peer` unless it is a trusted proxy; then the right-most address of `X-Forwarded-For` that is
/// not a trusted proxy itself. An entry that cannot be read ends the walk at the last good address.
pub(in crate::gateway) fn client(peer: IpAddr, forwarded_for: &str, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    if !is_trusted(peer) {
        return peer;
    }
    let mut seen = peer;
    for entry in forwarded_for.rsplit(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let Some(address) = entry_address(entry) else { break };
        seen = address;
        if !is_trusted(address) {
            break;
        }
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
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "x"] {
            assert_eq!(Network::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn forwarded_addresses_count_only_behind_a_trusted_proxy() {
        let trusted = [Network::parse("10.0.0.0/8").unwrap()];
        let from = |peer: &str, header: &str| client(peer.parse().unwrap(), header, &trusted).to_string();
        assert_eq!(from("192.0.2.9", "203.0.113.7"), "192.0.2.9");
        assert_eq!(from("10.0.0.1", "203.0.113.7"), "203.0.113.7");
        assert_eq!(from("10.0.0.1", "6.6.6.6, 203.0.113.7, 10.0.0.2"), "203.0.113.7");
        assert_eq!(from("10.0.0.1", "203.0.113.7, junk"), "10.0.0.1");
        assert_eq!(from("10.0.0.1", "[2001:db8::1]:443"), "2001:db8::1");
        assert_eq!(from("10.0.0.1", ""), "10.0.0.1");
    }
}
