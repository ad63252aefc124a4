"""Sales, and whatever may go wrong with them, at random: after each one the ledger has what the app showed as paid, and
the processor has charged what the ledger has. The seed repeats a walk, as far as the machine is as quick."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.till.books import Books
from tests.e2e.till.conftest import PHONE, sign_in_to_till
from tests.e2e.till.selling import installed
from tests.e2e.till.unreliable_network import Network, network_before
from tests.e2e.till.walking import Seller
from tests.processes import RunningShop

STEPS = 40
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.torture) for seed in range(2, 12))]


@pytest.fixture
def network(shop: RunningShop) -> Iterator[Network]:
    with network_before(shop.port) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, network: Network) -> Iterator[Page]:
    context = browser.new_context(base_url=network.address, viewport=PHONE, has_touch=True, is_mobile=True)
    context.set_default_timeout(20_000)
    yield installed(sign_in_to_till(context.new_page()))
    context.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_books_agree_after_every_sale(page: Page, network: Network, shop: RunningShop, seed: int) -> None:
    seller = Seller(page, network, Books(shop), random.Random(seed))
    try:
        while len(seller.said) < STEPS:
            seller.sell()
    finally:
        print(f"seed {seed}", *seller.said, sep="\n")
