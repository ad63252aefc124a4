"""What an engine must do with words that no product has: correct what is certainly a slip, and leave what may be meant
as it is written."""

from __future__ import annotations

import pytest

from app.domain.search.engine import SearchEngine, SearchRequest, SearchResult
from tests.contracts.search_engine_contract import PRODUCTS, SITE, rebuild, shoe

NAMES = (
    "Touch screen monitor", "Rifle scope sighting kit", "Base station", "Base plate", "Coffee making machine",
    "Like new headphones", "Red part box", "Sliding door lamp", "Kitchen scroll saw", "Leather wallet",
    "Wireless mouse", "Wireless laser mouse", "Wireless keyboard", "USB cable", "Candle lamp", "Table clock",
)  # fmt: skip


class SpellingContract:
    @pytest.fixture
    def mixed(self, engine: SearchEngine) -> SearchEngine:
        rebuild(engine, [shoe(number, name) for number, name in enumerate(NAMES, 1)])
        return engine

    @pytest.mark.parametrize(
        ("words", "meant"),
        [
            ("wirelss", "wireless"),
            ("wierless mouse", "wireless mouse"),
            ("wireles mouse", "wireless mouse"),
            ("ireless", "wireless"),
            ("kyeboard", "keyboard"),
            ("mosue", "mouse"),
            ("omuse", "mouse"),
            ("tabke", "table"),
            ("clokc", "clock"),
            ("dorr", "door"),
            ("lapm", "lamp"),
        ],
    )
    def test_a_slip_that_can_hardly_be_another_word_is_corrected(
        self, mixed: SearchEngine, words: str, meant: str
    ) -> None:
        result = searched(mixed, words)
        assert (result.suggestion, result.corrected) == (meant, True)
        assert result.total == searched(mixed, meant).total > 0

    @pytest.mark.parametrize("words", ["couch", "bake", "hike", "sofa", "drone", "hearing"])
    def test_a_word_of_the_language_that_the_shop_lacks_finds_nothing_else(
        self, mixed: SearchEngine, words: str
    ) -> None:
        result = searched(mixed, words)
        assert (result.total, result.corrected) == (0, False)

    @pytest.mark.parametrize(
        ("words", "near"), [("making", None), ("bases", None), ("lamb", "lamp"), ("moose", "mouse")]
    )
    def test_a_word_of_the_language_is_offered_a_spelling_with_its_first_letter_alone(
        self, mixed: SearchEngine, words: str, near: str | None
    ) -> None:
        result = searched(mixed, words)
        assert (result.suggestion, result.corrected) == (near, False)

    @pytest.mark.parametrize("words", ["lighting", "baking"])
    def test_a_word_of_the_language_is_never_taken_for_one_with_another_first_letter(
        self, mixed: SearchEngine, words: str
    ) -> None:
        result = searched(mixed, words)
        assert (result.total, result.suggestion, result.corrected) == (0, None, False)

    def test_a_word_of_the_language_beside_others_is_left_out_and_not_replaced(self, mixed: SearchEngine) -> None:
        result = searched(mixed, "moose cable")
        assert (result.suggestion, result.corrected, result.relaxed) == ("mouse cable", False, True)
        assert [hit.id for hit in result.hits] == ["P14"]

    def test_a_slip_beside_a_word_of_the_language_is_corrected_alone(self, mixed: SearchEngine) -> None:
        result = searched(mixed, "moose wirelss")
        assert (result.suggestion, result.corrected) == ("moose wireless", True)
        assert {hit.id for hit in result.hits} == {"P11", "P12", "P13"}

    @pytest.mark.parametrize("words", ["uab", "xable", "scroxl7", "parx2", "rx45", "305xl"])
    def test_short_words_and_codes_are_left_as_they_are(self, mixed: SearchEngine, words: str) -> None:
        result = searched(mixed, words)
        assert (result.total, result.corrected) == (0, False)

    def test_a_short_word_is_corrected_in_the_company_of_what_some_product_has_with_it(
        self, mixed: SearchEngine
    ) -> None:
        alone, beside = searched(mixed, "uub"), searched(mixed, "uub cable")
        assert (alone.suggestion, alone.corrected) == ("usb", False)
        assert (beside.suggestion, beside.corrected, [hit.id for hit in beside.hits]) == ("usb cable", True, ["P14"])
        assert not searched(mixed, "uub keyboard").corrected

    def test_the_spelling_goes_with_the_other_words(self, engine: SearchEngine) -> None:
        lamps = [shoe(number, "Scented candle") for number in range(1, 20)]
        rebuild(engine, [*lamps, shoe(20, "Audio cable"), shoe(21, "Audio cable")])
        assert searched(engine, "scented cadle").suggestion == "scented candle"
        assert searched(engine, "audio cadle").suggestion == "audio cable"

    def test_two_words_written_as_one_are_parted_only_where_they_go_together(self, engine: SearchEngine) -> None:
        racks = [shoe(number, "Wall mounted rack") for number in range(1, 10)]
        chargers = [shoe(number, "Fast charger") for number in range(10, 20)]
        stands = [shoe(20 + number, "Fast drying rack") for number in range(4)]
        rebuild(engine, [*racks, *chargers, *stands])
        together, apart = searched(engine, "wallrack"), searched(engine, "fastrack")
        assert (together.suggestion, together.corrected, together.total) == ("wall rack", True, 9)
        assert (apart.suggestion, apart.corrected, apart.total) == ("fast rack", False, 0)

    def test_a_word_that_some_product_has_is_never_replaced(self, engine: SearchEngine) -> None:
        cables = [shoe(number, "Audio cable") for number in range(1, 61)]
        rebuild(engine, [*cables, shoe(99, "Guitar cabel")])
        result = searched(engine, "audio cabel")
        assert (result.suggestion, result.corrected, result.relaxed, result.total) == ("audio cable", False, True, 61)

    @pytest.mark.parametrize("words", ["bake plate", "baked plate"])
    def test_a_word_that_many_products_have_in_another_form_is_no_slip(self, engine: SearchEngine, words: str) -> None:
        trays, plates = [shoe(n, "Baking tray") for n in range(1, 41)], [shoe(n, "Base plate") for n in range(41, 46)]
        rebuild(engine, [*trays, *plates])
        assert searched(engine, words).suggestion is None


def searched(engine: SearchEngine, words: str) -> SearchResult:
    return engine.search(SITE, PRODUCTS, SearchRequest(words=words))
