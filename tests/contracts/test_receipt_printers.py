"""What every way to a receipt printer promises, held against a real connection to a local port."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_network

import pytest

from app.adapters.receipt_printer import NetworkPrinter
from app.domain.pos.receipt_printer import (
    LARGEST_JOB,
    NoPrinter,
    PrinterAddress,
    PrinterReach,
    PrinterTimedOut,
    PrinterUnavailable,
    ReceiptPrinter,
)
from tests.fakes.receipt_printer import Printer, network_printer

HERE = PrinterReach(includes_server=True)
JOB = bytes(range(256)) * (LARGEST_JOB // 256)


@pytest.fixture
def printer() -> Iterator[Printer]:
    with network_printer() as made:
        yield made


def at(printer: Printer, host: str = "127.0.0.1") -> PrinterAddress:
    return PrinterAddress(host, printer.port)


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def test_the_largest_job_arrives_whole(printer: Printer) -> None:
    NetworkPrinter(HERE).send(at(printer), JOB)
    assert printer.next_job() == JOB


def test_one_job_follows_another(printer: Printer) -> None:
    for job in (b"one", b"two"):
        NetworkPrinter(HERE).send(at(printer, "localhost"), job)
        assert printer.next_job() == job


@pytest.mark.parametrize("adapter", [NetworkPrinter(HERE, timeout=0.5), NoPrinter()], ids=["network", "none"])
def test_a_printer_that_is_not_there_is_unavailable(adapter: ReceiptPrinter) -> None:
    for address in (PrinterAddress("127.0.0.1", free_port()), PrinterAddress("no-such-host.invalid")):
        with pytest.raises(PrinterUnavailable):
            adapter.send(address, b"job")


def test_a_printer_that_takes_nothing_is_given_up(printer: Printer) -> None:
    printer.is_stuck = True
    with pytest.raises(PrinterTimedOut):
        NetworkPrinter(HERE, timeout=0.2).send(at(printer), JOB)


def test_a_printer_that_breaks_off_is_no_success(printer: Printer) -> None:
    printer.breaks_off = True
    with pytest.raises(PrinterUnavailable):
        NetworkPrinter(HERE).send(at(printer), JOB)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_the_servers_own_services_get_nothing(printer: Printer, host: str) -> None:
    with pytest.raises(PrinterUnavailable):
        NetworkPrinter(PrinterReach(), timeout=0.5).send(at(printer, host), b"FLUSHALL\r\n")
    assert printer.connections == 0


def test_a_name_that_leads_to_the_server_gets_around_nothing() -> None:
    """By one of its addresses in the network, where the rule for addresses cannot know that it is its own."""

    class Everywhere(PrinterReach):
        def allows(self, ip: str) -> bool:
            return True

    with network_printer() as printer:
        with pytest.raises(PrinterUnavailable):
            NetworkPrinter(Everywhere()).send(at(printer), b"FLUSHALL\r\n")
        NetworkPrinter(HERE).send(at(printer), b"after it")
        assert [printer.next_job(), printer.next_job()] == [b"", b"after it"]


def test_other_networks_than_the_owners_get_nothing(printer: Printer) -> None:
    reach = PrinterReach((ip_network("192.168.1.0/24"),))
    with pytest.raises(PrinterUnavailable):
        NetworkPrinter(reach, timeout=0.2).send(PrinterAddress("192.168.2.1"), b"job")
