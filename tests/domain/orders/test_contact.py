from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.orders.contact import Contact, clean_contact
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


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=60), st.text(max_size=600))
def test_a_clean_contact_stays_as_it_is(name: str, email: str, phone: str, note: str) -> None:
    try:
        clean = clean_contact(Contact(name, email, phone, note))
    except Invalid:
        return
    assert clean_contact(clean) == clean
