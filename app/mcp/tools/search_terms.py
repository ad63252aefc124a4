"""The tool of products' search terms."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from app.domain.catalogue import terms
from app.domain.catalogue.product_rules import LONGEST_TERM, MOST_TERMS
from app.domain.catalogue.queries import product_referred_to
from app.mcp.arguments import Answer, DryRun, WriteArguments
from app.mcp.registry import Call, reads, tool, writes
from app.web.permissions import Permission

SentTerm = Annotated[Any, WithJsonSchema({"type": "string"})]  # What is no text is reported with all other problems.


class SearchTermsArguments(WriteArguments):
    action: Literal["get", "replace", "add", "clear"] = Field(
        description=(
            "get: answer the product's search terms. "
            "replace: give it exactly `terms`, which may be empty. "
            "add: put `terms` after those that it has; what it has already is skipped. "
            "clear: take all of its terms away."
        )
    )
    product: str = Field(
        description="The product: its SKU, its SEO name or its id. Example: “MUG-01”.", min_length=1, max_length=200
    )
    terms: list[SentTerm] | None = Field(
        default=None,
        description=(
            "For replace and add: the search terms, each a word or a phrase that finds this product and is not in its "
            f"name or description. Each has at most {LONGEST_TERM} characters, no comma and no line break; a product "
            f"has at most {MOST_TERMS}. Outer spaces go, and so do repetitions, whatever their case. Example: "
            '["beaker", "tea cup"].'
        ),
    )

    revision: int | None = Field(
        default=None,
        ge=0,
        description=(
            "For replace, add and clear: the product's revision that you read. The call is refused where somebody "
            "saved the product since: read it again."
        ),
    )


class SearchTermsAnswer(Answer):
    product_id: str
    sku: str
    name: str
    revision: int = Field(description="The product's, after the call.")
    before: list[str] = Field(description="The terms before the call.")
    terms: list[str] = Field(description="The terms now; with dryRun, those that the product would have.")
    changed: bool
    dry_run: DryRun


@tool(
    "manageProductSearchTerms",
    "Search terms of a product",
    Permission.MANAGE_SEARCH,
    {
        "get": reads("product"),
        "replace": writes("product", "terms", takes=("revision",)),
        "add": writes("product", "terms", takes=("revision",)),
        "clear": writes("product", takes=("revision",)),
    },
    is_destructive=True,
)
def manage_product_search_terms(call: Call, sent: SearchTermsArguments) -> SearchTermsAnswer:
    """Read and change the search terms of one product: extra words that find it in the shop's search and that shoppers
    never see, such as what else people call it. Search matches them like the name, with stemming, so one form of a word
    is enough. For words that mean the same for every product use manageSynonyms instead."""
    product = product_referred_to(call.site_id, sent.product)
    before, revision = list(product.search_terms), product.revision
    after = _change(call, sent, product.id) if sent.action != "get" else before
    return SearchTermsAnswer(
        product_id=str(product.id),
        sku=product.sku,
        name=product.name,
        revision=revision if call.dry_run else product.revision,
        before=before,
        terms=after,
        changed=after != before,
        dry_run=call.dry_run,
    )


def _change(call: Call, sent: SearchTermsArguments, product_id: int) -> list[str]:
    if sent.action == "add":
        return terms.add_terms(call.author, product_id, sent.terms or [], sent.revision)
    return terms.replace_terms(call.author, product_id, sent.terms or [], revision=sent.revision)
