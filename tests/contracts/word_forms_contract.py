"""What an engine must do with the other forms of words: each finds the others, and itself first."""

from __future__ import annotations

import pytest

from app.domain.search.engine import (
    Alternatives,
    Delete,
    IndexDocument,
    ScorePart,
    SearchEngine,
    SearchRequest,
    Upsert,
)
from app.domain.search.ranking.scoring import KIND
from app.domain.search.text import stem
from tests.contracts.search_engine_contract import PRODUCTS, SITE, apply, found, rebuild, shoe
from tests.inflections import INFLECTIONS

EXACTLY = {"prefix_last": False, "correct": False}
FORMS = tuple(form for row in INFLECTIONS for form in row)


def product(form: str, field: str) -> IndexDocument:
    """A product that has the form of a word in one field."""
    given: dict[str, object] = {"name": "Thing"} | {field: (form,) if field == "terms" else form}
    return shoe(FORMS.index(form), str(given.pop("name")), **given)


class WordFormsContract:
    @pytest.mark.parametrize("field", ["name", "description", "attributes", "terms"])
    def test_every_form_of_a_word_finds_every_other_and_itself_first(self, engine: SearchEngine, field: str) -> None:
        rebuild(engine, [product(form, field) for form in FORMS])
        requests = [SearchRequest(words=form, per_page=20, **EXACTLY) for form in FORMS]  # type: ignore[arg-type]
        results = engine.search_many(SITE, PRODUCTS, requests)
        for request, result in zip(requests, results, strict=True):
            (row,) = (row for row in INFLECTIONS if request.words in row)
            answers = [FORMS[int(hit.id[1:])] for hit in result.hits]
            assert set(answers) == set(row), request.words
            same = [form for form in row if stem(form) == stem(request.words)]
            assert set(answers[: len(same)]) == set(same), request.words

    def test_an_exact_form_comes_first_however_rare_the_other_is(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, "Hike boot") for n in range(1, 9)] + [shoe(9, "Hiking boot")])
        assert found(engine, "hike")[-1] == "P9"
        assert found(engine, "hiking")[0] == "P9"
        hiked = engine.search(SITE, PRODUCTS, SearchRequest(words="hiked", **EXACTLY))  # type: ignore[arg-type]
        assert len({round(hit.score, 4) for hit in hiked.hits}) == 1  # All forms but the typed one count as one word.

    def test_all_words_of_a_search_may_be_other_forms(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(n, name) for n, name in enumerate(("Hiking poles folded", "Hiking boots", "Folding"), 1)])
        assert found(engine, "hike folds", **EXACTLY)[0] == "P1"

    def test_a_word_with_a_form_in_the_shop_is_not_corrected(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Hiking boots"), *(shoe(n, "I like mugs") for n in range(2, 30))])
        result = engine.search(SITE, PRODUCTS, SearchRequest(words="hike"))
        assert ([hit.id for hit in result.hits], result.corrected, result.suggestion) == (["P1"], False, None)

    def test_a_word_in_quotes_finds_itself_alone(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Hiking boot"), shoe(2, "Hike boot"), shoe(3, "Hiked")])
        assert found(engine, '"hike" boots', **EXACTLY)[0] == "P2"
        assert found(engine, '"hike"', **EXACTLY) == ["P2"]
        assert set(found(engine, "hike", **EXACTLY)) == {"P1", "P2", "P3"}

    def test_codes_and_short_words_have_no_other_forms(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Using it", codes=("RX45ED", "hiking")), shoe(2, "Use it", codes=("RX45", "hiked"))])
        assert found(engine, "use", **EXACTLY) == ["P2"]
        assert found(engine, "rx45", **EXACTLY) == ["P2"]
        assert found(engine, "hike", **EXACTLY) == []
        assert set(found(engine, "used", **EXACTLY)) == {"P1"}

    def test_words_that_only_look_alike_do_not_find_one_another(self, engine: SearchEngine) -> None:
        rebuild(
            engine, [shoe(1, "Game controller"), shoe(2, "Remote control"), shoe(3, "Silicone"), shoe(4, "Silicon")]
        )
        assert found(engine, "control", **EXACTLY) == ["P2"]
        assert found(engine, "silicon", **EXACTLY) == ["P4"]

    def test_an_alternative_of_several_words_is_found_in_other_forms(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Hiking boots"), shoe(2, "Hiking poles"), shoe(3, "Trekkers")])
        trek = Alternatives(0, 1, (("hike", "boot"),))
        assert found(engine, "trekker", alternatives=(trek,), **EXACTLY) == ["P3", "P1"]

    def test_a_change_brings_forms_and_takes_them_away(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Hike boot"), shoe(2, "Mug")])
        apply(engine, Upsert(shoe(3, "Hiking boot")), Upsert(shoe(2, "Hiked mug")))
        assert set(found(engine, "hiking", fresh=True, **EXACTLY)) == {"P1", "P2", "P3"}
        assert found(engine, "hikes", fresh=True, **EXACTLY)[0] == "P1"
        apply(engine, Delete("P3"), Upsert(shoe(2, "Mug")))
        assert found(engine, "hiking", fresh=True, **EXACTLY) == ["P1"]

    def test_a_name_of_a_level_counts_as_it_is_written(self, engine: SearchEngine) -> None:
        level = {"kind_names": ("Hike",), "values": {KIND: ("hike",)}}
        rebuild(engine, [shoe(1, "Hiking boot"), shoe(2, "Hike boot", **level), shoe(3, "Hiking pole", **level)])
        named = {part.kind for part in _parts(engine, "hike", "P3")}
        assert "level_name" in named and "level_name" not in {part.kind for part in _parts(engine, "hiking", "P3")}

    def test_the_explanation_names_the_form_that_counted(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Hiking pole", description="For hikers who hiked"), shoe(2, "Hike pole")])
        parts = [(part.kind, part.field, part.words) for part in _parts(engine, "hikes", "P1")]
        assert parts == [("form", "name", ("hiking",)), ("form", "description", ("hiked",))]
        assert [(part.kind, part.words) for part in _parts(engine, "hikes", "P2")] == [("word", ("hike",))]
        why = engine.explain(SITE, PRODUCTS, SearchRequest(words="hikes mug"), "P1")
        assert why.missing_words == ("mug",)
        assert {match.field for match in why.matches} == {"name", "description"}

    def test_parts_of_forms_sum_up_to_the_score(self, engine: SearchEngine) -> None:
        rebuild(engine, [shoe(1, "Hiking and hiked", description="Hike"), shoe(2, "Folding hike"), shoe(3, "Fold")])
        result = engine.search(SITE, PRODUCTS, SearchRequest(words="hike folded", explain=True))
        assert result.hits
        for hit in result.hits:
            assert hit.explanation is not None
            assert sum(part.worth for part in hit.explanation.parts) == pytest.approx(hit.score, rel=1e-4)


def _parts(engine: SearchEngine, words: str, document_id: str) -> tuple[ScorePart, ...]:
    return engine.explain(SITE, PRODUCTS, SearchRequest(words=words, prefix_last=False), document_id).parts
