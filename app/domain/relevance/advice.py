"""Advice about a search, a sentence each with the action that follows it, and about rebuilding an index. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from app.domain.catalogue.product_rules import LONGEST_TERM
from app.domain.relevance.explanation import FIRST, ProductExplanation, SearchExplanation
from app.domain.search.engine import RESULT_WINDOW, EngineFault, EngineState
from app.domain.search.text import query_words, stem, tokens
from app.domain.shared.text import numbered

MOST_WORDS = 3  # Unknown words that are advised on, a sentence each.
MANY = 5_000
WORTH_A_LOOK = 100


class Act(StrEnum):
    """The action of a piece of advice. The surfaces know its label and its address."""

    SETTINGS = "settings"
    OVERVIEW = "overview"
    RANKING = "ranking_settings"
    FIND_PRODUCT = "find_product"
    ENABLE = "enable_product"
    INDEX = "index_product"
    EDIT_PRODUCT = "edit_product"
    ADD_TERM = "add_term"
    CHOOSE_PRODUCT = "choose_product"
    ACCEPT = "accept_synonym"
    ADD_SYNONYM = "add_synonym"
    ADD_RULE = "add_rule"
    EDIT_RULE = "edit_rule"
    SYNONYMS = "synonyms"
    AGAIN = "test_again"


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence of advice and its action. `code` never changes, for programs. `words` are those that the action adds;
    `id` is the synonym or the rule concerned."""

    code: str
    message: str
    act: Act
    words: str = ""
    id: int | None = None


def advise_on_search(explanation: SearchExplanation) -> tuple[Advice, ...]:
    """Return the advice about a search, the most pressing first; empty where there is nothing to do."""
    if explanation.request.is_blank:
        return ()
    return (
        *_about_engine(explanation),
        *_about_product(explanation),
        *_about_rules(explanation),
        *_about_words(explanation),
    )


def _about_engine(explanation: SearchExplanation) -> Iterator[Advice]:
    state = explanation.engine.state
    if state is EngineState.NOT_SET_UP:
        yield Advice("not_set_up", "Search is not set up, so shoppers find nothing at all.", Act.SETTINGS)
    elif state is EngineState.UNREACHABLE:
        does = "Rebuild the index to bring search back."
        if explanation.is_rebuilding:
            does = "A rebuild is under way."
        elif explanation.engine.is_lost:
            does = "The shop rebuilds it by itself."
        if explanation.engine.fault not in (None, EngineFault.INDEX):
            does = explanation.engine.error or ""
        yield Advice("unreachable", f"Search does not answer. {does}".rstrip(), Act.OVERVIEW)
    if explanation.is_behind:
        message = "Changes of synonyms or rules are not live yet, so this answer may be out of date."
        yield Advice("not_live", message, Act.SYNONYMS)


def _about_product(explanation: SearchExplanation) -> Iterator[Advice]:
    product = explanation.product
    if product is None:
        if explanation.request.reference:
            reference = explanation.request.reference[:60]
            message = f"No product of this shop has “{reference}” as its SKU, SEO name or id."
            yield Advice("not_in_catalogue", message, Act.FIND_PRODUCT)
        return
    if not product.enabled:
        yield Advice("hidden", f"{product.name} is hidden, so no search finds it.", Act.ENABLE)
    elif product.set_aside is not None:
        message = f"{product.name} could not be indexed ({product.set_aside[:120]}). Fix it and save it again."
        yield Advice("set_aside", message, Act.EDIT_PRODUCT)
    elif product.is_waiting:
        yield Advice("waiting", "The latest change of the product reaches search within seconds.", Act.AGAIN)
    elif product.indexed is False:
        message = f"{product.name} is shown but not indexed. Index it again; if others are missing too, rebuild."
        yield Advice("not_indexed", message, Act.INDEX)
    elif product.indexed and explanation.words:
        yield from _about_rank(explanation, product)


def _about_rank(explanation: SearchExplanation, product: ProductExplanation) -> Iterator[Advice]:
    if product.rank is None and not product.is_far_down:
        if product.is_hidden_as_sold_out:
            message = f"{product.name} is sold out, and sold-out products are hidden from searches."
            yield Advice("sold_out_hidden", message, Act.RANKING)
        else:
            yield from _about_missing_words(explanation, product)
        return
    if product.why.placed == "sold_out":
        yield Advice("sold_out_last", "It stands last because it is sold out.", Act.RANKING)
    elif product.why.placed == "buried":
        rule = explanation.rule.id if explanation.rule else None
        yield Advice("buried", "A rule for these words puts it last.", Act.EDIT_RULE, id=rule)
    elif product.rank is None or product.rank > FIRST:
        place = _place_of(explanation, product)
        if product.why.missing:
            yield from _about_missing_words(explanation, product, f"{place} ")
        act, rule = (Act.EDIT_RULE, explanation.rule.id) if explanation.rule else (Act.ADD_RULE, None)
        yield Advice("far_down", f"{place} A rule can pin it higher.", act, id=rule)


def _place_of(explanation: SearchExplanation, product: ProductExplanation) -> str:
    if product.rank is None:
        return f"It stands behind the first {RESULT_WINDOW:,} results, on no page."
    page = -(-product.rank // explanation.page_size)
    return f"It stands at {product.rank:,}, on page {page:,} of the results."


def _about_missing_words(
    explanation: SearchExplanation, product: ProductExplanation, place: str = ""
) -> Iterator[Advice]:
    missing = list(product.why.missing)
    searched = query_words(explanation.corrected or explanation.words)
    if missing and len(searched) != len(explanation.tokens):  # The corrected spelling joins or splits words.
        missing = as_typed(explanation.words, explanation.tokens)
    elif missing:
        typed = dict(zip(searched, explanation.tokens, strict=True))
        missing = as_typed(explanation.words, tuple(typed.get(word, word) for word in missing))
    if not missing:
        message = "It has the words, but the search needs them otherwise, side by side or in quotes for example."
        yield Advice("not_found", message, Act.EDIT_PRODUCT)
        return
    quoted = " and ".join(f"“{word}”" for word in missing[:4])
    term = " ".join(missing)
    if len(term) <= LONGEST_TERM:
        message = f"{place}It has {quoted} nowhere. If shoppers mean this product, add that as a search term."
        yield Advice("missing_words", message, Act.ADD_TERM, words=term)
    message = f"Write {quoted} into its name or description, if it is true of the product."
    yield Advice("write_words", message, Act.EDIT_PRODUCT)


def _about_rules(explanation: SearchExplanation) -> Iterator[Advice]:
    rule = explanation.rule or explanation.inactive_rule
    if rule is None:
        return
    if explanation.redirect:
        message = f"A rule sends this search to {explanation.redirect}. Shoppers do not see the results below."
        yield Advice("redirected", message, Act.EDIT_RULE, id=rule.id)
    elif explanation.inactive_rule is not None:
        yield Advice(
            "rule_sleeps",
            f"There is a rule for these words, but it {inactive_reason(explanation)}.",
            Act.EDIT_RULE,
            id=rule.id,
        )


def inactive_reason(explanation: SearchExplanation) -> str:
    """Say why a rule does not apply at the requested moment: "is paused", "begins 1 March", "ended 24 December"; with
    the year where it is not the moment's."""
    rule, moment = explanation.inactive_rule, explanation.request.at or explanation.now
    if rule is None or not rule.enabled:
        return "is paused"
    if rule.starts_at is not None and moment < rule.starts_at:
        return f"begins {_day(explanation, rule.starts_at, moment)}"
    return f"ended {_day(explanation, rule.ends_at, moment)}" if rule.ends_at is not None else "is over"


def _day(explanation: SearchExplanation, day: datetime, seen_from: datetime) -> str:
    zone = ZoneInfo(explanation.zone)
    local = day.astimezone(zone)
    year = "" if local.year == seen_from.astimezone(zone).year else f" {local.year}"
    return f"{local.day} {local:%B}{year}"


def _about_words(explanation: SearchExplanation) -> Iterator[Advice]:
    for one in explanation.suggested:
        products = "1 product" if one.finds == 1 else f"{one.finds:,} products" if one.finds is not None else ""
        finds = f" This search would then find {products}." if products else ""
        message = f"A suggested synonym would apply: {one.group}.{finds}"
        yield Advice("synonym_suggested", message, Act.ACCEPT, id=one.id)
    if explanation.found is None or explanation.is_answered_by_content:
        return
    if explanation.product is not None and explanation.found:
        return
    if not explanation.full:
        searched = query_words(explanation.corrected) if explanation.corrected else explanation.tokens
        # Without corrected spellings, and without words that are understood otherwise, such as the number of a price.
        left = query_words(explanation.meaning.searched) if explanation.meaning else searched
        unknown = tuple(word for word in explanation.unknown if word in searched and word in left)
        for word in as_typed(explanation.words, unknown)[:MOST_WORDS]:
            message = f"No product has the word “{word}”. A synonym can lead it to words that products have."
            yield Advice("unknown_word", message, Act.ADD_SYNONYM, words=word)
    if not explanation.found and explanation.product is None and not explanation.redirect:
        message = "If shoppers mean one product by this, add it to that product as a search term."
        yield Advice("found_nothing", message, Act.CHOOSE_PRODUCT, words=explanation.words)
        yield Advice("answer_with_page", "If a page answers it, a rule can send shoppers there.", Act.ADD_RULE)


def as_typed(words: str, indexed: tuple[str, ...]) -> list[str]:
    """Return indexed words in the form in which they were typed."""
    written = {stem(token): token for token in reversed(tokens(words))}
    return [written.get(word, word) for word in indexed]


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs that an index needs a rebuild. `products_built` and `content_built`: there is a live index of them, or
    none is wanted. `rebuild_needed`: the taxonomy changed after the last rebuild began, which the shop makes good by
    itself.
    `last_failed`: the latest run failed. `drift` counts the differences of the latest reconciliation, `waiting` and
    `set_aside` changes that the index lacks."""

    products_built: bool = True
    content_built: bool = True
    rebuild_needed: bool = False
    last_failed: bool = False
    drift: int = 0
    waiting: int = 0
    set_aside: int = 0


def advise_on_index(signs: Signs) -> tuple[str, ...]:
    """Return a sentence of advice for each sign that calls for action; empty when all is well."""
    if not signs.products_built:
        return ("There is no product index yet. Rebuild everything to make the shop searchable.",)
    sentences = (
        (not signs.content_built, "Pages and collections are not in search yet. Rebuild the content."),
        (signs.last_failed, "The last rebuild failed. When its reason is fixed, rebuild again."),
        (
            signs.rebuild_needed and not signs.last_failed,
            "The taxonomy changed after the last rebuild. The shop rebuilds the products by itself in a few seconds.",
        ),
        (
            signs.waiting >= MANY,
            f"{signs.waiting:,} changes wait for the index, after a big import perhaps. A rebuild is the quickest way.",
        ),
        (
            signs.set_aside > 0,
            f"{numbered(signs.set_aside, 'record')} could not be indexed. Save them again when they are fixed.",
        ),
        (
            signs.drift >= WORTH_A_LOOK,
            f"The last nightly check found {signs.drift:,} differences and repaired them. If that happens again, "
            "look at the worker's log.",
        ),
    )
    return tuple(sentence for applies, sentence in sentences if applies)
