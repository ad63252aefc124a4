"""The form that adds a search term to a product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.domain.catalogue import term_list, terms
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.catalogue.product_reference import referred_product
from app.domain.catalogue.search_terms import clean_terms
from app.domain.catalogue.term_list import TermRow
from app.domain.relevance.proposals import TermsProposal
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem


@dataclass(frozen=True, slots=True)
class AddedTerm:
    """A search term that was added. `is_new` is False where the product had the term already."""

    term: str
    row: TermRow
    is_new: bool

    @property
    def message(self) -> str:
        if not self.is_new:
            return f"{self.row.name} has “{self.term}” already."
        follows = "Search follows in a few seconds." if self.row.enabled else "It is hidden, so shoppers do not see it."
        return f"“{self.term}” now finds {self.row.name}. {follows}"


@dataclass(frozen=True, slots=True)
class NewTerm:
    """The form as typed. `product` is a SKU, an SEO name, an id, or words of a name that only one product has; `chosen`
    is the SKU of the one chosen where several had them."""

    term: str = ""
    product: str = ""
    chosen: str = ""

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> NewTerm:
        return cls(*(sent.get(name, "").replace("\0", "")[:LONGEST_WORDS] for name in ("term", "product", "chosen")))

    def choices(self, site_id: int) -> list[TermRow]:
        """Return the products among which to choose; none where the product is clear."""
        if referred_product(site_id, self._named) is not None:
            return []
        found = term_list.find_with_terms(site_id, self._named)
        return found if len(found) > 1 else []

    def add(self, author: Author) -> AddedTerm:
        """Add the term. Raises Invalid with every problem of both fields."""
        row = self._checked(author.site_id)
        had = [term.casefold() for term in row.terms]
        terms.add_terms(author, row.id, [self.term])
        added = term_list.product_with_terms(author.site_id, row.id)
        return AddedTerm(self.term.strip(), added, self.term.strip().casefold() not in had)

    def proposal(self, site_id: int) -> TermsProposal:
        """Return the proposal to preview. Raises Invalid with every problem of both fields."""
        return TermsProposal(self._checked(site_id).id, (self.term.strip(),), add=True)

    @property
    def _named(self) -> str:
        return self.chosen or self.product

    def _checked(self, site_id: int) -> TermRow:
        problems: list[Problem] = []
        if not self.term.strip():
            problems.append(Problem("required", "Enter the word that shoppers use.", "#/term"))
        try:
            clean_terms([self.term])
        except Invalid as invalid:
            problems += [replace(problem, pointer="#/term") for problem in invalid.problems]
        row = self._row(site_id, problems)
        if problems or row is None:
            raise Invalid(problems)
        return row

    def _row(self, site_id: int, problems: list[Problem]) -> TermRow | None:
        """Return the product; an unknown or ambiguous one is added to the problems."""
        product = referred_product(site_id, self._named)
        if product is not None:
            return term_list.product_with_terms(site_id, product.id)
        words = self._named.strip()
        found = term_list.find_with_terms(site_id, self._named)
        if len(found) == 1:
            return found[0]
        message = f"More than one product has “{words[:60]}”: choose one of these, or enter a SKU."
        if not found:
            message = f"No product has “{words[:60]}” in its name, SKU or SEO name."
        if not words:
            message = "Find the product by its name or SKU."
        problems.append(Problem("unknown_product", message, "#/product"))
        return None
