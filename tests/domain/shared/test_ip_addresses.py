"""Addresses that a server may connect to for a user."""

from __future__ import annotations

import pytest

from app.domain.shared.ip_addresses import is_public


@pytest.mark.parametrize("ip", ["8.8.8.8", "81.2.3.4", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_hosts_on_the_internet_are_public(ip: str) -> None:
    assert is_public(ip)


@pytest.mark.parametrize(
    "ip",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.50", "100.64.0.1", "169.254.169.254", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "::", "::1", "::7f00:1", "fe80::1%eth0", "fd00::5", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:1::1",
    ],
)  # fmt: skip
def test_those_of_the_server_its_networks_and_what_stands_for_them_are_not(ip: str) -> None:
    assert not is_public(ip)
