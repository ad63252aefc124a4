"""Addresses of printers, and where a server may connect to."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from app.domain.pos.receipt_printer import PrinterReach, address_problems, read_address, sample_page


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("192.168.1.50", "192.168.1.50:9100"),
        (" Printer.Example.:515 ", "printer.example:515"),
        ("printer", "printer:9100"),
        ("[fd00::5]", "[fd00::5]:9100"),
        ("[FD00::5]:65535", "[fd00::5]:65535"),
        ("a-1.b-2:1", "a-1.b-2:1"),
    ],
)
def test_an_address_has_one_form(typed: str, stored: str) -> None:
    assert str(read_address(typed)) == stored == str(read_address(stored))
    assert address_problems(typed) == []


@pytest.mark.parametrize(
    "typed",
    [
        "printer:0", "printer:65536", "printer:", "printer:x", ":9100", "fd00::5", "[fd00::5", "[printer]",
        "2130706433", "1.2.3", "1.2.3.4.5", "999.1.1.1", "0x7f.1", "-a", "a-", "a..b", "a b", "http://printer",
        "user@printer", "printer/9100", "drücker", "x" * 64, ".".join(["x" * 63] * 4) + ".x", "[fe80::1%eth0]",
        "[::1.2]",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(typed: str) -> None:
    [problem] = address_problems(typed)
    assert (problem.code, problem.pointer) == ("invalid_printer_address", "#/printerAddress")


def test_no_address_is_no_problem() -> None:
    assert address_problems("  ") == [] and read_address("") is None


@pytest.mark.parametrize(
    "ip", ["10.0.0.5", "192.168.1.50", "172.16.3.4", "100.64.0.1", "81.2.3.4", "fd00::5", "2a00::1"]
)
def test_printers_are_reached_in_every_network(ip: str) -> None:
    assert PrinterReach().allows(ip)


@pytest.mark.parametrize(
    "ip",
    [
        "169.254.169.254", "fe80::1", "fe80::1%eth0", "0.0.0.0", "0.1.2.3", "::", "224.0.0.1", "ff02::1",
        "255.255.255.255", "240.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
    ],
)  # fmt: skip
def test_special_addresses_are_never_reached(ip: str) -> None:
    assert not PrinterReach(includes_server=True).allows(ip)
    assert not PrinterReach((ip_network("0.0.0.0/0"), ip_network("::/0")), includes_server=True).allows(ip)


@pytest.mark.parametrize("ip", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_the_server_itself_is_reached_only_where_that_is_wanted(ip: str) -> None:
    assert not PrinterReach().allows(ip) and PrinterReach(includes_server=True).allows(ip)


def test_an_owner_names_the_networks() -> None:
    reach = PrinterReach((ip_network("192.168.1.0/24"), ip_network("fd00::/8")))
    assert [reach.allows(ip) for ip in ("192.168.1.9", "fd00::5", "192.168.2.9", "81.2.3.4")] == [
        True,
        True,
        False,
        False,
    ]
    assert not PrinterReach(()).allows("192.168.1.9")


def test_a_test_page_names_the_shop_and_is_cut_off() -> None:
    page = sample_page("Café 東京", "Fair")
    assert page.startswith(b"\x1b@") and b"Caf\x82 ??\nFair\n" in page and page.endswith(b"\x1dVB\x00")
