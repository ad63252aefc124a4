"""Synonyms as tables, out and in."""

from __future__ import annotations

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from app.blueprints.admin.spreadsheet import lines
from app.domain.relevance import synonym_import, synonyms
from app.domain.relevance.synonym_definition import check_synonym, fingerprint
from app.domain.relevance.synonym_import import plan_import, read_table, table_rows
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from tests.factories import make_site, make_synonym
from tests.fakes.clock import StoppedClock

MIA = "Mia Moss"
STORED = [
    SynonymGroup(SynonymType.EQUIVALENT, None, ("mobile", "phone"), 1),
    SynonymGroup(SynonymType.EQUIVALENT, None, ("tv", "television"), 2),
    SynonymGroup(SynonymType.ONE_WAY, "bike", ("bicycle",), 3),
]


def outcomes(*typed: str) -> list[tuple[int, str, str]]:
    report = plan_import(STORED, read_table("\n".join(typed)))
    return [(line.number, line.outcome.value, line.reason) for line in report.lines]


def test_each_line_is_told_what_it_does() -> None:
    results = outcomes(
        "type,root,words",
        "EQUIVALENT,,Phones;mobiles",
        "",
        "one way,bike,bicycle;cycle",
        "EQUIVALENT,,sofa;settee",
        "EQUIVALENT,,couch;Sofas",
        "EQUIVALENT,,couch;sofa;settee",
        "EQUIVALENT,,settee;sofa",
        "EQUIVALENT,,mobile;tv",
        "ONE_WAY,bikes,velo",
        "SAME,,a;b",
        "EQUIVALENT,a",
        "EQUIVALENT,,alone",
    )
    assert [(number, outcome) for number, outcome, _ in results] == [
        (2, "same"), (4, "changed"), (5, "added"), (6, "refused"), (7, "refused"), (8, "refused"),
        (9, "refused"), (10, "refused"), (11, "refused"), (12, "refused"), (13, "refused"),
    ]  # fmt: skip
    reasons = [reason for _, outcome, reason in results if outcome == "refused"]
    assert reasons[0] == reasons[1] == "Line 5 has one of these words already: sofa = settee."
    assert reasons[2] == "Line 5 says the same."
    assert reasons[3] == "Line 2 has one of these words already: mobile = phone."
    assert reasons[4] == "Line 4 has one of these words already: bike → bicycle, cycle."
    assert "write EQUIVALENT (“both ways”) or ONE_WAY (“one way”)" in reasons[5]
    assert "this has 2" in reasons[6]
    assert reasons[7] == "Give at least two words."


@pytest.mark.parametrize(
    "line",
    ["one-way,hoover,vacuum", "One Way,hoover,vacuum", "ONE_WAY,hoover,vacuum", "hoover -> vacuum", "hoover → vacuum"],
)
def test_one_way_is_read_as_people_write_it(line: str) -> None:
    (read,) = read_table(line)
    assert read.group == SynonymGroup(SynonymType.ONE_WAY, "hoover", ("vacuum",))


@pytest.mark.parametrize("line", ["both ways,,a;b;c", "Both-Ways,,a;b;c", "equivalent,,a;b;c", "a = b = c", "a=b=c"])
def test_both_ways_is_read_as_people_write_it(line: str) -> None:
    (read,) = read_table(line)
    assert read.group == SynonymGroup(SynonymType.EQUIVALENT, None, ("a", "b", "c"))


def test_an_arrow_may_lead_to_several_words_and_to_none() -> None:
    (several,) = read_table("hoover -> vacuum, dust sucker")
    assert several.group == SynonymGroup(SynonymType.ONE_WAY, "hoover", ("vacuum", "dust sucker"))
    assert [outcome for _, outcome, _ in outcomes("hoover ->", "a =", "a, b = c")] == ["refused"] * 3


def test_a_line_between_two_synonyms_is_refused_with_both_named() -> None:
    ((_, outcome, reason),) = outcomes("EQUIVALENT,,mobile;tv")
    assert outcome == "refused"
    assert reason == "Its words are in 2 synonyms: mobile = phone; tv = television. Delete all but one first."


@pytest.mark.parametrize("text", ["", "type,root,words\n", 'EQUIVALENT,,"a;b', "x" * 600_000, "a,b;c\n" * 1_001])
def test_what_is_no_table_is_refused_whole(text: str) -> None:
    with pytest.raises(Invalid):
        read_table(text)


WORD = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters=",;"), min_size=1)
WORD_LISTS = st.lists(WORD, min_size=2, max_size=5)


@given(root=WORD | st.none(), words=WORD_LISTS)
def test_what_is_exported_comes_back_the_same(root: str | None, words: list[str]) -> None:
    kind = SynonymType.ONE_WAY if root else SynonymType.EQUIVALENT
    try:
        group = check_synonym(SynonymGroup(kind, root, tuple(words)), [])
    except Invalid:
        reject()
    (line,) = read_table(lines(table_rows([group])))
    assert line.group is not None
    again = check_synonym(line.group, [])
    assert fingerprint(again) == fingerprint(group)


@pytest.mark.usefixtures("context")
def test_an_import_does_what_its_preview_said(clock: StoppedClock) -> None:
    text = "type,root,words\nEQUIVALENT,,mobile;cell phone\nONE_WAY,telly,television\nnonsense\n"
    with transaction():
        site = make_site()
        make_synonym(site, "mobile", "phone")
        site_id = site.id
    seen = synonym_import.preview(site_id, text)
    assert [seen.count(one) for one in ("added", "changed", "same", "refused")] == [1, 1, 0, 1]
    with transaction():
        synonym_import.apply(Author(site_id, MIA, clock), text, seen.digest)
    groups = {(group.root, group.words) for group in synonyms.live_groups(site_id)}
    assert groups == {(None, ("mobile", "cell phone")), ("telly", ("television",))}
    assert synonym_import.preview(site_id, text).changes == 0
    with pytest.raises(Conflict), transaction():
        synonym_import.apply(Author(site_id, MIA, clock), text, seen.digest)


@pytest.mark.usefixtures("context")
def test_a_thousand_lines_come_in_at_once(clock: StoppedClock) -> None:
    text = "".join(f"EQUIVALENT,,left{n};right{n}\n" for n in range(1_000))
    with transaction():
        site_id = make_site().id
    with transaction():
        report = synonym_import.apply(Author(site_id, MIA, clock), text, synonym_import.preview(site_id, text).digest)
    assert report.count("added") == len(synonyms.live_groups(site_id)) == 1_000
