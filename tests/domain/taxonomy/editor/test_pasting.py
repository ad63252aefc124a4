"""Many values pasted at once."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.taxonomy.editor.attribute_edits import read_pasted_values


def test_each_line_becomes_a_value_trimmed_and_in_its_order() -> None:
    assert read_pasted_values("  Red \nDark   blue\nGreen\n").values == ("Red", "Dark blue", "Green")


def test_what_is_known_or_told_twice_is_left_out_whatever_its_case() -> None:
    pasted = read_pasted_values("red\nBlue\nBLUE", ["Red"])
    assert pasted.values == ("Blue",)
    assert pasted.known == ("red", "BLUE")
    assert pasted.sentences() == ["Added 1 value.", "2 values left out, in the list already: “red”, “BLUE”."]


def test_blank_lines_are_counted_and_left_out() -> None:
    pasted = read_pasted_values("Red\n\n  \nBlue")
    assert (pasted.values, pasted.blank) == (("Red", "Blue"), 2)
    assert "2 blank lines left out." in pasted.sentences()


def test_a_line_with_a_comma_waits_to_be_mended() -> None:
    pasted = read_pasted_values("Red\nGreen, blue")
    assert pasted.values == ("Red",)
    assert (pasted.rest, pasted.has_commas) == ("Green, blue", True)
    assert pasted.sentences()[-1] == "“Green, blue” contains a comma, which no value may."


def test_lines_can_be_split_at_their_commas() -> None:
    assert read_pasted_values("Red, Green,blue", split_at_commas=True).values == ("Red", "Green", "blue")


def test_a_value_that_is_too_long_is_refused() -> None:
    pasted = read_pasted_values("x" * 20_001)
    assert pasted.values == () and pasted.refused


@given(st.text(), st.lists(st.text(min_size=1)))
def test_what_becomes_a_value_fits_and_is_new(text: str, existing: list[str]) -> None:
    pasted = read_pasted_values(text, existing)
    folded = [value.casefold() for value in pasted.values]
    assert len(set(folded)) == len(folded)
    assert not set(folded) & {" ".join(value.split()).casefold() for value in existing}
    assert all(value and "," not in value and value == value.strip() for value in pasted.values)
    assert read_pasted_values("\n".join(pasted.values)).values == pasted.values
