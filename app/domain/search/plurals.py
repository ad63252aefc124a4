"""English plurals that no rule of endings gets right, as tables: `stem` (app/domain/search/text.py) looks here first.

Kept small: words by which shops sell things and whose plural would otherwise not get the stem of its singular, or get
that of another word.
"""

from __future__ import annotations

from collections.abc import Iterator

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
_ALIKE = "christmas news series species"


def _pairs() -> Iterator[tuple[str, str]]:
    changed = _CHANGED.split()
    yield from zip(changed[::2], changed[1::2], strict=True)
    yield from ((f"{beginning}ves", f"{beginning}f") for beginning in _IN_F.split())
    yield from ((f"{beginning}ves", f"{beginning}fe") for beginning in _IN_FE.split())
    yield from ((f"{word}es", word) for table in (_IN_S, _IN_O) for word in table.split())
    yield from ((f"{word}s", word) for table in (_IN_IE, _IN_E, _IN_U_OR_I) for word in table.split())
    yield from ((word, word) for table in (_IN_S, _ALIKE) for word in table.split())


SINGULARS = dict(_pairs())
