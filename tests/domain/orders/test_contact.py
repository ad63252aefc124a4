from __future__ import annotations

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from app.domain.orders.basket import Contact, clean_contact
from app.domain.shared.problems import Invalid


def wrong(contact: Contact) -> list[str]:
    with pytest.raises(Invalid) as refused:
        clean_contact(contact)
    return [problem.pointer for problem in refused.value.problems]


def test_a_contact_is_trimmed() -> None:
    typed = Contact("  Mia   Moss ", " mia@home.test ", " 020  7946 0000 ", " Please\r\nring twice. \r\n")
    assert clean_contact(typed) == Contact("Mia Moss", "mia@home.test", "020 7946 0000", "Please\nring twice.")


@pytest.mark.parametrize("way", [{"email": "mia@home.test"}, {"phone": "+44 (20) 7946-0000"}, {"email": "ä@ö.example"}])
def test_one_way_to_reach_somebody_is_enough(way: dict[str, str]) -> None:
    assert clean_contact(Contact("Mia", **way)).name == "Mia"


def test_a_name_and_one_way_are_needed_and_told_at_once() -> None:
    assert wrong(Contact(" ", "", "")) == ["#/name", "#/email"]


@pytest.mark.parametrize("email", ["mia", "mia@home", "mia@@home.test", "m@a.b c", "a@b.test,c@d.test", "@home.test"])
def test_what_is_plainly_no_address_is_refused(email: str) -> None:
    assert wrong(Contact("Mia", email)) == ["#/email"]


@pytest.mark.parametrize("phone", ["123", "call me", "1234567890123456", "+", "12-34-5"])
def test_what_is_plainly_no_phone_number_is_refused(phone: str) -> None:
    assert wrong(Contact("Mia", phone=phone)) == ["#/phone"]


def test_what_no_database_can_hold_is_refused() -> None:
    assert wrong(Contact("M\0ia", "m@home.test", "", "x" * 501)) == ["#/name", "#/note"]


@given(
    st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=60),
    st.just("m@home.test") | st.emails(),
    st.just("") | st.from_regex(r" *[0-9]{6,9}[ /.-][0-9]{0,6} *", fullmatch=True),
    st.text(st.characters(exclude_categories=("C",)) | st.sampled_from("\r\n\t"), max_size=500),
)
def test_a_clean_contact_stays_as_it_is(name: str, email: str, phone: str, note: str) -> None:
    try:
        clean = clean_contact(Contact(name, email, phone, note))
    except Invalid:
        reject()
    assert clean_contact(clean) == clean


@pytest.mark.parametrize(
    "typed",
    [
        "4111111111111111",
        "card 4111 1111 1111 1111 12/28 123",
        "4111-1111-1111-1111",
        "5500_0000_0000_0004",
        "2024 4111 1111 1111 1111",
        "41111111111111115500000000000004",
        "４１１１ 1111 1111 1111",
        "4111\u31641111\u31641111\u31641111",
    ],
)
def test_the_number_of_a_card_is_not_kept_in_a_name_or_a_note(typed: str) -> None:
    pointers = ["#/name", "#/note"]
    with pytest.raises(Invalid) as refused:
        clean_contact(Contact(typed, "mia@home.test", note=typed))
    assert [(problem.code, problem.pointer) for problem in refused.value.problems] == [
        ("card_number", pointer) for pointer in pointers
    ]
    assert refused.value.problems[0].message.startswith("Please leave card numbers out")


@pytest.mark.parametrize(
    "note",
    [
        "Call 020 7946 0000, 18:00 to 20:30, on 21.11.2026",
        "+44 7700 900123 or +44 7700 900124",
        "Order 1234 of 2026-11-21, 5 pieces at 12.99",
        "Item 4006381333931, please",
    ],
)
def test_other_numbers_in_a_note_are_kept(note: str) -> None:
    assert clean_contact(Contact("Mia", "mia@home.test", note=note)).note == note


@pytest.mark.parametrize("name", ["\u200b", "\U000e0041", "\u3164", "\u2800 \ufe0f", "\u200e\u00ad"])
def test_a_name_that_nobody_can_see_is_missing(name: str) -> None:
    assert wrong(Contact(name, "mia@home.test")) == ["#/name"]
