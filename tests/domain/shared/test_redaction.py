"""Secrets and addresses are taken out of log lines, however long a line is."""

from __future__ import annotations

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.shared.redaction import REDACTED, SECRET_VALUES, redacted

ADDRESS = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
PIECES = (
    *("sk_live_", "whsec_", "pi_", "_secret_", "bearer ", "eyJ", "://", "argon2", "$", "a@b.co", "@", "@b.", "@b"),
    *(".", "-", "+", "_", ":", "/", " ", "\n", "a", "é", "1", "'", "#"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=300, deadline=None)
def test_the_same_is_taken_out_as_by_one_expression_of_all(text: str) -> None:
    together = re.compile(f"{SECRET_VALUES.pattern}|{ADDRESS}")
    assert redacted(text) == together.sub(REDACTED, text)


def test_a_long_run_without_an_address_takes_no_longer_than_its_length() -> None:
    began = time.process_time()
    assert redacted("a" * 64_000) == "a" * 64_000
    assert redacted("a" * 64_000 + "@" + "b" * 64_000).endswith("b")
    assert time.process_time() - began < 3
