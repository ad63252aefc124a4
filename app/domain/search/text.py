"""Analysis of text into words, the same for the texts of the index and for what people type.

Typed text is data: it is capped, folded and cut into words here and never reaches a query parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from app.domain.shared.text import fold

# English plurals that no rule of endings gets right; `stem` looks here first. Kept small: words by which shops sell
# things and whose plural would otherwise not get the stem of its singular, or get that of another word.
#
# The plural and the singular, one after the other.
_CHANGED = """
    axes axe   children child   feet foot   geese goose   grandchildren grandchild   lice louse   men man   mice mouse
    oxen ox   people person   quizzes quiz   teeth tooth   topazes topaz   women woman
"""
# The beginnings of words in -f and in -fe: knives and shelves.
_IN_F = "bookshel cal dwar el hal hoo lea loa scar shel thie werewol wol"
_IN_FE = "housewi kni li midwi wi"
# Words in -s, which have a plural in -ses: buses and lenses.
_IN_S = """
    abacus alias apparatus atlas bias bonus bus cactus campus canvas census chorus circus citrus crocus eucalyptus focus
    gas genius hibiscus ibis iris lens lotus minibus minus nexus octopus omnibus papyrus platypus plus rhinoceros status
    stylus surplus thermos trellis virus walrus
"""
# Words in -o, which have a plural in -oes: potatoes.
_IN_O = """
    avocado buffalo cargo domino echo embargo halo hero mango mosquito motto potato tomato tornado torpedo tuxedo veto
    volcano zero
"""
# Words in -ie, whose plural looks like that of a word in -y: cookies.
_IN_IE = """
    auntie aussie barbie beanie birdie bogie bootie brownie budgie calorie collie cookie cutie eyrie foodie freebie
    genie goalie hippie homie hoodie indie junkie magpie menagerie movie necktie newbie nightie onesie pinkie pixie
    prairie rookie rotisserie selfie smoothie sortie sweetie talkie townie veggie walkie zombie
"""
# Words in -che and -sse, whose plural looks like that of a word without the -e: headaches.
_IN_E = """
    ache apache attache avalanche backache brioche cache cartouche cliche creche douche earache finesse headache
    heartache impasse microfiche mousse moustache mustache niche panache porsche quiche stomachache toothache
"""
# Words in -u and -i, whose plural looks like a word in -us or -is: menus and taxis.
_IN_U_OR_I = """
    apu bayou bureau caribou chateau cpu dpu emu gateau gnu gpu guru haiku menu npu plateau psu sku snafu tutu
    alibi bikini chili corgi deli emoji graffiti khaki kiwi martini maxi midi mini panini rabbi safari salami sari ski
    taxi tsunami wiki yeti yogi zucchini
"""
# Words in -s that have no other form.
_UNCHANGED = "christmas news series species"
MAX_CHARACTERS = 200
MAX_WORDS = 16
MAX_WORD_LENGTH = 64
# Words that people type between the words that matter. They add to a score but need not match.
LINKING_WORDS = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
# A bar code has as many digits, and as many as it has without leading zeros once it went through a table: UPC-A 12,
# EAN-13, GTIN-14. GTIN-8 is another kind, whose zeros count.
_LONG_GTIN = range(12, 15)
_GTIN_8 = 8
_WORD = re.compile(r"[^\W_]+")
# Directly after a digit the mark means inches: it opens no quote.
_QUOTED = re.compile(r'(?<!\d)"[^"]*"|“[^”]*”')
_PART = re.compile(r"\d+|\D+")
_SIBILANT_PLURALS = ("ches", "shes", "sses", "xes", "tzes", "zzes")
_NOT_PLURAL = ("ss", "us", "is")


def _irregular_plurals() -> Iterator[tuple[str, str]]:
    changed = _CHANGED.split()
    yield from zip(changed[::2], changed[1::2], strict=True)
    yield from ((f"{beginning}ves", f"{beginning}f") for beginning in _IN_F.split())
    yield from ((f"{beginning}ves", f"{beginning}fe") for beginning in _IN_FE.split())
    yield from ((f"{word}es", word) for table in (_IN_S, _IN_O) for word in table.split())
    yield from ((f"{word}s", word) for table in (_IN_IE, _IN_E, _IN_U_OR_I) for word in table.split())
    yield from ((word, word) for table in (_IN_S, _UNCHANGED) for word in table.split())


SINGULARS = dict(_irregular_plurals())


def tokens(text: str) -> list[str]:
    """The words of a text in their order, folded; single letters and digits count as words."""
    return _WORD.findall(fold(text))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the singular of a folded plural, and any other word as it is, so that different words stay different. Both
    are cut at MAX_WORD_LENGTH. Bar codes lose their leading zeros."""
    word = without_leading_zeros(word[:MAX_WORD_LENGTH])
    singular = SINGULARS.get(word) or _without_ending(word)
    return SINGULARS.get(singular, singular)  # "men's" is folded to "mens", whose singular is the plural "men".


def _without_ending(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word.endswith(_NOT_PLURAL) or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(_SIBILANT_PLURALS):
        return word[:-2]
    return word[:-1]


def without_leading_zeros(word: str) -> str:
    """Return a bar code (UPC-A, EAN-13, GTIN-14) without leading zeros, so that all its forms are one word; a GTIN-8
    keeps its eight digits. Any other word stays."""
    if word[:1] == "0" and len(word) in _LONG_GTIN and word.isdecimal():
        return word.lstrip("0").zfill(_GTIN_8)
    return word


def words(text: str) -> list[str]:
    """The words of a text as they are indexed."""
    return [stem(token) for token in tokens(text)]


def request_words(values: Iterable[str]) -> str:
    """Return the query of a page of results, given every value of its parameter in the address: the first that is not
    blank, with single spaces, cut at MAX_CHARACTERS."""
    first = next((value for value in values if value.strip()), "")
    return " ".join(first.split())[:MAX_CHARACTERS].rstrip()


def query_words(text: str) -> tuple[str, ...]:
    """Return the words of a shopper's query: at most 16 different words out of the first 200 characters."""
    return tuple(dict.fromkeys(words(text[:MAX_CHARACTERS])))[:MAX_WORDS]


def quoted_words(text: str) -> frozenset[str]:
    """Return the words of a query that stand in double quotes. A quote that is not closed quotes nothing, nor
    does the mark of inches, as in 27"."""
    if '"' not in text and "“" not in text:
        return frozenset()
    return frozenset(word for part in _QUOTED.findall(text[:MAX_CHARACTERS]) for word in words(part))


def parts(word: str) -> tuple[str, ...]:
    """The runs of digits and of letters in a word that has both: `rj45` gives `rj` and `45`."""
    found = tuple(_PART.findall(word))
    return found if len(found) > 1 else ()


def joined(pieces: Iterable[str]) -> str:
    """Return words written as one, the form in which spellings of a code or compound match: `rj 45` and `RJ-45` are
    `rj45`, and a bar code is one however it is spaced."""
    return without_leading_zeros("".join(pieces))


def code(text: str) -> str:
    """A code as one word, whatever hyphens, spaces and case it was written with."""
    return joined(tokens(text))[:MAX_WORD_LENGTH]


def neighbours(sequence: Sequence[str]) -> list[str]:
    """Return each pair of adjacent words, written as one."""
    return [first + second for first, second in pairwise(sequence)]
