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
from tests.e2e.till.walking import SEEN, Seller
from tests.e2e.till.web_server import MortalShop, mortal_shop
from tests.processes import RunningShop

STEPS = 40  # What was pressed and what went wrong.
SEEDS = range(1, 12)


@pytest.fixture
def mortal(shop: RunningShop) -> Iterator[MortalShop]:
    with mortal_shop(shop) as made:
        yield made


@pytest.fixture
def page(browser: Browser, mortal: MortalShop) -> Iterator[Page]:
    context = browser.new_context(base_url=mortal.network.address, viewport=PHONE, has_touch=True, is_mobile=True)
    context.set_default_timeout(20_000)
    yield installed(sign_in_to_till(context.new_page()))
    context.close()


@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_books_agree_after_every_sale(page: Page, mortal: MortalShop, shop: RunningShop, seed: int) -> None:
    seller = Seller(page, mortal, Books(shop), random.Random(seed))
    try:
        while len(seller.said) < STEPS:
            seller.sell()
    finally:
        print(f"seed {seed}", *seller.said, seller.page.evaluate(SEEN)["text"], sep="\n")
