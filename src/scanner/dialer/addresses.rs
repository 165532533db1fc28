//! Which addresses are anybody's: everything that is reserved, private, local, or leads to such through a tunnel is not.
//! Source: the special-purpose address registries of IANA (RFC 6890 and its updates).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// v4 networks that are not the public internet: first address and prefix length.
const CLOSED_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(192, 175, 48, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// v6 networks inside 2000::/3 that are not the public internet.
const CLOSED_V6: &[(Ipv6Addr, u32)] = &[
    // Protocol assignments; Teredo, which lies inside, is judged by what it carries.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Whether an address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !CLOSED_V4.iter().any(|(network, bits)| (address.to_bits() ^ network.to_bits()).leading_zeros() >= *bits)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    match carried(address) {
        Some(inside) => inside.iter().all(|inside| is_public_v4(*inside)),
        // Only 2000::/3 is given out; loopback, unique local, link local and multicast lie outside of it.
        None => {
            address.to_bits() >> 125 == 1
                && !CLOSED_V6.iter().any(|(network, bits)| (address.to_bits() ^ network.to_bits()).leading_zeros() >= *bits)
        }
    }
}

/// The v4 addresses a v6 address leads to: through NAT64 (RFC 6052), 6to4 (RFC 3056) or Teredo (RFC 4380: the server, and
/// the client with its bits turned round).
fn carried(address: Ipv6Addr) -> Option<Vec<Ipv4Addr>> {
    let bits = address.to_bits();
    let v4 = |shift: u32| Ipv4Addr::from_bits(u32::try_from((bits >> shift) & 0xffff_ffff).unwrap_or(0));
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(vec![v4(0)]),
        [0x2002, ..] => Some(vec![v4(80)]),
        [0x2001, 0, ..] => Some(vec![v4(64), Ipv4Addr::from_bits(!v4(0).to_bits())]),
        _ => None,
    }
}
