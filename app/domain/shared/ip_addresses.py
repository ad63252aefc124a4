"""IP addresses that a server is to connect to though a user chose them. A name of a host is resolved first, and the
address that is connected to is checked, so that no name gets around the rules. Pure."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

IpAddress = IPv4Address | IPv6Address
# Addresses of no host, and those of IPv6 that stand for one of IPv4.
NEVER = (ip_network("0.0.0.0/8"), ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))
_TUNNELS = (ip_network("2002::/16"), ip_network("2001::/32"))  # They end at an address of IPv4 that these contain.


def read_ip(ip: str) -> IpAddress:
    """Return an address, of IPv6 with or without its zone; the IPv4 address that one of IPv6 carries
    (::ffff:0:0/96)."""
    address = ip_address(ip.partition("%")[0])
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def is_public(ip: str) -> bool:
    """Whether an address is that of a host on the internet: not of this server, its network, or a cloud's services."""
    address = read_ip(ip)
    is_special = address.is_multicast or any(address in network for network in (*NEVER, *_TUNNELS))
    return address.is_global and not is_special
