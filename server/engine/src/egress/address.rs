//! Who can be behind an IP address: the public, the house itself, or the machinery of the host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Who an address reaches, from harmless to forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Anybody's address on the internet.
    Public,
    /// This machine, this network, or a block that is no place on the internet: for credentials with `allow_private`.
    Private,
    /// The link itself or a cloud's metadata service, which hands out the machine's own keys: for nobody.
    Forbidden,
}

/// Who this address reaches. An address that carries another one inside counts as the worse of the two.
pub(super) fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => carried(address).into_iter().map(reach_v4).fold(reach_v6(address), Ord::max),
    }
}

/// A block of IPv4 addresses: its first address, and how many leading bits belong to it.
type BlockV4 = (Ipv4Addr, u32);

/// A block of IPv6 addresses, likewise.
type BlockV6 = (Ipv6Addr, u32);

/// Link-local (RFC 3927), which holds most clouds' metadata service, and the metadata services that live elsewhere.
const FORBIDDEN_V4: [BlockV4; 4] = [
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(100, 100, 100, 200), 32), // Alibaba Cloud
    (Ipv4Addr::new(168, 63, 129, 16), 32),   // Azure
    (Ipv4Addr::new(192, 0, 0, 192), 32),     // Oracle Cloud, classic
];

/// What the IANA IPv4 Special-Purpose Address Registry does not call globally reachable, and multicast.
const PRIVATE_V4: [BlockV4; 15] = [
    (Ipv4Addr::UNSPECIFIED, 8),           // this network, RFC 791
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private, RFC 1918
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // carrier-grade NAT, RFC 6598
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback, RFC 1122
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private, RFC 1918
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments, RFC 6890
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation, RFC 5737
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays, RFC 7526
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private, RFC 1918
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarking, RFC 2544
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation, RFC 5737
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation, RFC 5737
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast, RFC 5771
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, RFC 1112
    (Ipv4Addr::BROADCAST, 32),            // RFC 919
];

/// Link-local (RFC 4291) and the metadata services that live elsewhere.
const FORBIDDEN_V6: [BlockV6; 5] = [
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0), 32), // Amazon: metadata, credentials, time, names
    (Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254), 128), // Google Cloud
    (Ipv6Addr::new(0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), 128), // Oracle Cloud
    (Ipv6Addr::new(0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x0042), 128), // Scaleway
];

/// All of the unicast space that is given out (RFC 4291); everything outside it is special or reserved.
const UNICAST_V6: BlockV6 = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// IPv4 behind a translator (RFC 6052): as public as the address it carries.
const NAT64_V6: BlockV6 = (Ipv6Addr::new(0x0064, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Blocks within the unicast space that are no place on the internet.
const PRIVATE_V6: [BlockV6; 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments: Teredo, benchmarking, ORCHID
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32), // documentation, RFC 3849
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, RFC 7526
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation, RFC 9637
];

fn reach_v4(address: Ipv4Addr) -> Reach {
    if FORBIDDEN_V4.iter().any(|block| within_v4(address, *block)) {
        Reach::Forbidden
    } else if PRIVATE_V4.iter().any(|block| within_v4(address, *block)) {
        Reach::Private
    } else {
        Reach::Public
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if FORBIDDEN_V6.iter().any(|block| within_v6(address, *block)) {
        Reach::Forbidden
    } else if within_v6(address, NAT64_V6) {
        Reach::Public
    } else if !within_v6(address, UNICAST_V6) || PRIVATE_V6.iter().any(|block| within_v6(address, *block)) {
        Reach::Private
    } else {
        Reach::Public
    }
}

/// Every IPv4 address that this IPv6 address may carry. Where several readings are possible all are given.
fn carried(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let segments = address.segments();
    let at = |index: usize| pair(segments[index], segments[index + 1]);
    let mut carried = match segments {
        // The loopback and the unspecified address look like a compatible form of 0.0.0.0/8 and are no embedding.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => vec![],
        // Compatible and mapped (RFC 4291), translated (RFC 2765) and NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            vec![at(6)]
        }
        // Local NAT64 (RFC 8215): the operator chooses the prefix length, so the address stands in one of four places.
        [0x64, 0xff9b, 1, ..] => local_nat64(address),
        // 6to4 (RFC 3056).
        [0x2002, ..] => vec![at(1)],
        // Teredo (RFC 4380): the server in the clear, the client inverted.
        [0x2001, 0, ..] => vec![at(2), Ipv4Addr::from_bits(!at(6).to_bits())],
        _ => vec![],
    };
    // ISATAP (RFC 5214) stands below any prefix.
    if matches!(segments, [_, _, _, _, 0 | 0x0200, 0x5efe, ..]) {
        carried.push(at(6));
    }
    carried
}

/// RFC 6052, section 2.2, for the lengths 48, 56, 64 and 96; byte 8 is always skipped.
fn local_nat64(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let o = address.octets();
    vec![
        Ipv4Addr::new(o[6], o[7], o[9], o[10]),
        Ipv4Addr::new(o[7], o[9], o[10], o[11]),
        Ipv4Addr::new(o[9], o[10], o[11], o[12]),
        Ipv4Addr::new(o[12], o[13], o[14], o[15]),
    ]
}

fn pair(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

fn within_v4(address: Ipv4Addr, (first, bits): BlockV4) -> bool {
    (address.to_bits() ^ first.to_bits()).leading_zeros() >= bits
}

fn within_v6(address: Ipv6Addr, (first, bits): BlockV6) -> bool {
    (address.to_bits() ^ first.to_bits()).leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(address: &str) -> Reach {
        reach(address.parse().unwrap())
    }

    const PUBLIC: &[&str] = &[
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::",
        "2001:200::",
        "2001:4860:4860::8888",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::1",
        "2606:4700:4700::1111",
        "2a00:1450:4001:80b::200e",
        "3ffe:ffff::",
        "3fff:1000::",
        "64:ff9b::8.8.8.8",
    ];

    const PRIVATE: &[&str] = &[
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.255",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.0",
        "255.255.255.255",
        "::",
        "::1",
        "::2",
        "::8.8.8.8",
        "::127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:8.8.8.8",
        "::ffff:0:10.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.1.2.3",
        "64:ff9b::1:0:0",
        "64:ff9b:1::8.8.8.8",
        "64:ff9b:2::1",
        "100::1",
        "1fff:ffff::",
        "2001::1",
        "2001:0:7f00:1::",
        "2001:2::1",
        "2001:20::1",
        "2001:1ff:ffff::",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "2a00:1450::5efe:10.0.0.1",
        "2a00:1450::200:5efe:192.168.0.1",
        "3fff::1",
        "3fff:fff:ffff::",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec1:ffff::",
        "fd00:ec3::",
        "fdff:ffff::1",
        "fe00::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ];

    const FORBIDDEN: &[&str] = &[
        "169.254.0.0",
        "169.254.169.254",
        "169.254.170.2",
        "169.254.255.255",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "::169.254.169.254",
        "::ffff:169.254.169.254",
        "::ffff:100.100.100.200",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b::168.63.129.16",
        "64:ff9b:1::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1:0:a9:fea9:fe00::",
        "2001:0:a9fe:a9fe::",
        "2001::5601:5601",
        "2002:a9fe:a9fe::1",
        "2a00:1450::5efe:169.254.169.254",
        "2002:808:808::5efe:169.254.169.254",
        "fe80::1",
        "fe80::5efe:8.8.8.8",
        "febf:ffff::1",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "fd00:42::42",
    ];

    #[test]
    fn every_block_and_its_neighbours() {
        for (corpus, expected) in
            [(PUBLIC, Reach::Public), (PRIVATE, Reach::Private), (FORBIDDEN, Reach::Forbidden)]
        {
            for address in corpus {
                assert_eq!(of(address), expected, "{address}");
            }
        }
    }

    /// Every form that carries an IPv4 address.
    fn forms(address: Ipv4Addr) -> Vec<Ipv6Addr> {
        let [a, b, c, d] = address.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let wide = |n: u8| u16::from(n);
        vec![
            address.to_ipv6_mapped(),
            address.to_ipv6_compatible(),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, 7, 8, 9, high, low),
            Ipv6Addr::new(0x64, 0xff9b, 1, high, wide(c), wide(d) << 8, 0, 0),
            Ipv6Addr::new(0x64, 0xff9b, 1, wide(a), wide(b), low, 0, 0),
            Ipv6Addr::new(0x64, 0xff9b, 1, 0, wide(a), wide(b) << 8 | wide(c), wide(d) << 8, 0),
            Ipv6Addr::new(0x2002, high, low, 1, 2, 3, 4, 5),
            Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
            Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, !high, !low),
            Ipv6Addr::new(0x2a00, 1, 2, 3, 0, 0x5efe, high, low),
            Ipv6Addr::new(0x2a00, 1, 2, 3, 0x200, 0x5efe, high, low),
        ]
    }

    fn std_calls_it_special(address: IpAddr) -> bool {
        match address {
            IpAddr::V4(a) => {
                a.is_loopback()
                    || a.is_private()
                    || a.is_multicast()
                    || a.is_broadcast()
                    || a.is_documentation()
                    || a.is_unspecified()
                    || a.is_link_local()
            }
            IpAddr::V6(a) => {
                a.is_loopback()
                    || a.is_unique_local()
                    || a.is_multicast()
                    || a.is_unspecified()
                    || a.is_unicast_link_local()
            }
        }
    }

    proptest! {
        #[test]
        fn what_std_calls_special_is_never_public(v4: u32, v6: u128) {
            for address in [IpAddr::V4(Ipv4Addr::from_bits(v4)), IpAddr::V6(Ipv6Addr::from_bits(v6))] {
                prop_assert!(!std_calls_it_special(address) || reach(address) > Reach::Public, "{address}");
            }
        }

        #[test]
        fn link_local_is_always_forbidden(low: u16, rest in 0..1_u128 << 118) {
            let v4 = Ipv4Addr::from_bits(0xa9fe_0000 | u32::from(low));
            prop_assert_eq!(reach(v4.into()), Reach::Forbidden);
            let v6 = Ipv6Addr::from_bits(0xfe80_u128 << 112 | rest);
            prop_assert_eq!(reach(v6.into()), Reach::Forbidden);
        }

        #[test]
        fn a_carried_address_is_never_better_than_itself(v4: u32) {
            let plain = Ipv4Addr::from_bits(v4);
            for form in forms(plain).into_iter().filter(|form| *form != Ipv6Addr::LOCALHOST) {
                prop_assert!(reach(form.into()) >= reach(plain.into()), "{form} carries {plain}");
            }
        }

        #[test]
        fn outside_unicast_only_the_translator_is_public(v6: u128) {
            let address = Ipv6Addr::from_bits(v6);
            let unicast = v6 >> 125 == 1;
            prop_assert!(unicast || within_v6(address, NAT64_V6) || reach(address.into()) > Reach::Public);
        }
    }
}
