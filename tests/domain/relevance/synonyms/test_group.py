"""What a synonym may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.relevance.synonym_definition import TakenWords, check_synonym, fingerprint
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType, split_words
from app.domain.shared.problems import Invalid

BOTH, ONE = SynonymType.EQUIVALENT, SynonymType.ONE_WAY
WORDS = st.lists(st.sampled_from(["phone", "mobile", "cell phone", "handset", "blower", "dog and bone"]), unique=True)


def refused(*group: object, others: object = ()) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        check_synonym(SynonymGroup(*group), others)  # type: ignore[arg-type]
    return {problem.pointer: problem.code for problem in caught.value.problems}


def test_a_group_comes_out_tidied() -> None:
    assert check_synonym(SynonymGroup(ONE, "  phone ", tuple([" cell   phone", "mobile"])), []) == SynonymGroup(
        ONE, "phone", ("cell phone", "mobile")
    )


@pytest.mark.parametrize(
    ("group", "problems"),
    [
        ((BOTH, None, ["phone"]), {"#/synonyms": "too_few_words"}),
        ((BOTH, "phone", ["mobile", "handset"]), {"#/root": "root_not_used"}),
        ((ONE, " ", []), {"#/root": "required", "#/synonyms": "too_few_words"}),
        ((ONE, "phone", ["--"]), {"#/synonyms/0": "no_word"}),
        ((BOTH, None, ["phone", "one two three four five six"]), {"#/synonyms/1": "too_many_tokens"}),
        ((BOTH, None, ["phone", "cell, phone"]), {"#/synonyms/1": "separator_in_word"}),
        ((BOTH, None, ["phone", "mo\x00bile"]), {"#/synonyms/1": "unprintable"}),
        ((BOTH, None, ["phone", "x" * 201]), {"#/synonyms/1": "too_long"}),
        ((BOTH, None, ["Phone", "phones"]), {"#/synonyms/1": "repeated_word"}),
        ((ONE, "phone", ["Phones", "mobile"]), {"#/synonyms/0": "repeated_word"}),
        ((BOTH, None, [f"word{n}" for n in range(21)]), {"#/synonyms": "too_many_words"}),
    ],
)
def test_each_rule_is_told_at_its_place(group: tuple[object, ...], problems: dict[str, str]) -> None:
    assert refused(*group) == problems


def test_twenty_words_of_five_tokens_and_a_root_are_the_limit() -> None:
    assert len(check_synonym(SynonymGroup(ONE, "root", tuple([f"a b c d word{n}" for n in range(20)])), []).words) == 20


def test_a_word_of_two_groups_is_refused_with_the_other_named() -> None:
    other = SynonymGroup(BOTH, None, ("mobile", "cell phone"), 7)
    with pytest.raises(Invalid) as caught:
        check_synonym(SynonymGroup(BOTH, None, tuple(["telephone", "Cell Phones"])), [other])
    assert caught.value.message == "“Cell Phones” is in another synonym already: mobile = cell phone."


def test_a_root_has_one_synonym() -> None:
    other = SynonymGroup(ONE, "phone", ("mobile",), 7)
    assert refused(ONE, "Phones", ["handset"], others=[other]) == {"#/root": "root_taken"}
    assert check_synonym(SynonymGroup(BOTH, None, tuple(["phone", "mobile"])), [other]).words == ("phone", "mobile")


@given(words=WORDS, other=st.permutations(["a", "b", "c"]))
def test_the_fingerprint_knows_a_group_however_it_is_written(words: list[str], other: list[str]) -> None:
    group = SynonymGroup(BOTH, None, (*words, *other))
    shouted = SynonymGroup(BOTH, None, tuple(f"{word.upper()}S" if word == "phone" else word for word in words[::-1]))
    assert fingerprint(group) == fingerprint(SynonymGroup(BOTH, None, (*sorted(words), "a", "b", "c"), 9))
    assert fingerprint(shouted) == fingerprint(SynonymGroup(BOTH, None, tuple(words)))
    assert fingerprint(group) != fingerprint(SynonymGroup(ONE, "a", (*words, *other)))


@given(st.lists(WORDS.filter(lambda words: len(words) > 1), max_size=6))
def test_groups_that_were_taken_one_by_one_never_share_a_word(groups: list[list[str]]) -> None:
    taken, kept = TakenWords(), []
    for words in groups:
        try:
            group = check_synonym(SynonymGroup(BOTH, None, tuple(words)), taken)
        except Invalid:
            continue
        taken.add(group)
        kept += group.words
    assert len(kept) == len(set(kept))


def test_a_box_of_words_takes_commas_semicolons_and_lines() -> None:
    assert split_words(" phone, mobile;cell  phone\r\n,\nhandset") == ["phone", "mobile", "cell phone", "handset"]


def test_groups_are_told_as_people_write_them() -> None:
    assert str(SynonymGroup(ONE, "phone", ("mobile", "handset"))) == "phone → mobile, handset"
    assert str(SynonymGroup(BOTH, None, ("mobile", "phone"))) == "mobile = phone"
