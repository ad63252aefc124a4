"""Ten thousand mutations of a journal, each of which is found at its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

from app.domain.pos.journal_chain import Break, ChainedEntry, Fault, StoredEntry
from tests.domain.pos.journal.chains import SALE, chained, first_break, head_of, sealed

MUTATIONS = 10_000
Chain = list[StoredEntry]
NAMES = ("type", "at", "session_id", "transaction_id", "order_number", "amount", "tender_type", "late")


def entry(random: Random) -> ChainedEntry:
    second = random.randrange(60)
    return replace(
        SALE,
        type=random.choice(["SALE", "REFUND", "VOID", "PAY_IN", "PAY_OUT", "DROP", "Z_REPORT"]),
        at=f"2026-11-20T21:04:{second:02}Z",
        session_id=f"s-{random.randrange(9)}",
        transaction_id=f"t-{random.randrange(10**9)}",
        order_number=random.choice([None, str(random.randrange(10**6))]),
        amount=random.choice([None, random.randrange(-9_999, 9_999)]),
        tender_type=random.choice([None, "CARD", "CASH"]),
        late=random.random() < 0.2,
    )


def change(chain: Chain, random: Random) -> None:
    place, name = random.randrange(len(chain)), random.choice(NAMES)
    chain[place] = replace(chain[place], entry=replace(chain[place].entry, **{name: getattr(entry(random), name)}))


def change_and_hash_anew(chain: Chain, random: Random) -> None:
    change(chain, random)
    chain[:] = [sealed(stored.entry) for stored in chain]


def change_a_hash(chain: Chain, random: Random) -> None:
    place, digit = random.randrange(len(chain)), random.randrange(64)
    hash_ = chain[place].hash
    chain[place] = replace(chain[place], hash=hash_[:digit] + random.choice("0123456789abcdef") + hash_[digit + 1 :])


def remove(chain: Chain, random: Random) -> None:
    del chain[random.randrange(len(chain))]


def remove_and_number_anew(chain: Chain, random: Random) -> None:
    remove(chain, random)
    number(chain)


def remove_the_tail(chain: Chain, random: Random) -> None:
    del chain[random.randrange(len(chain)) :]


def swap(chain: Chain, random: Random) -> None:
    one, other = random.sample(range(len(chain)), 2)
    chain[one], chain[other] = chain[other], chain[one]


def swap_and_number_anew(chain: Chain, random: Random) -> None:
    swap(chain, random)
    number(chain)


def insert(chain: Chain, random: Random) -> None:
    place = random.randrange(len(chain) + 1)
    before = chain[place - 1].hash if place else "0" * 64
    chain.insert(place, sealed(replace(entry(random), sequence=place + 1, previous_hash=before)))


def insert_and_number_anew(chain: Chain, random: Random) -> None:
    insert(chain, random)
    number(chain)


def duplicate(chain: Chain, random: Random) -> None:
    chain.insert(random.randrange(len(chain) + 1), random.choice(chain))


def duplicate_and_number_anew(chain: Chain, random: Random) -> None:
    duplicate(chain, random)
    number(chain)


def rewrite_from(chain: Chain, random: Random) -> None:
    """Change an entry, and chain it and all that follow anew: only the head shows it."""
    change(chain, random)
    chain[:] = chained([stored.entry for stored in chain])


def number(chain: Chain) -> None:
    chain[:] = [
        replace(stored, entry=replace(stored.entry, sequence=sequence)) for sequence, stored in enumerate(chain, 1)
    ]


KINDS: tuple[Callable[[Chain, Random], None], ...] = (
    change,
    change_and_hash_anew,
    change_a_hash,
    remove,
    remove_and_number_anew,
    remove_the_tail,
    swap,
    swap_and_number_anew,
    insert,
    insert_and_number_anew,
    duplicate,
    duplicate_and_number_anew,
    rewrite_from,
)


def is_named(broken: Break, chain: Chain, mutated: Chain) -> bool:
    """Whether a break is where the two begin to differ, or at the entry after that: of what was hashed anew only the
    one that follows shows it, or the head where all were."""
    alike = 0
    while alike < min(len(chain), len(mutated)) and chain[alike] == mutated[alike]:
        alike += 1
    if broken.fault is Fault.SURPLUS:
        return broken.sequence == mutated[alike].entry.sequence
    return broken.fault is Fault.HEAD_DIFFERS or broken.sequence in (alike, alike + 1, alike + 2)


def test_every_mutation_is_found_at_its_place() -> None:
    random = Random(20261128)
    chain = chained([entry(random) for _ in range(24)])
    head, found = head_of(chain), Counter[str]()
    while found.total() < MUTATIONS:
        mutate, mutated = random.choice(KINDS), list(chain)
        mutate(mutated, random)
        if mutated == chain:
            continue
        broken = first_break(mutated, head)
        assert broken is not None, f"{mutate.__name__} was not found"
        assert is_named(broken, chain, mutated), (mutate.__name__, broken)
        found[mutate.__name__] += 1
    assert min(found[kind.__name__] for kind in KINDS) > 500
