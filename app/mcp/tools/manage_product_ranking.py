"""The tool that changes search rules and landing rules."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app import ports
from app.domain.catalogue.queries import referred_product
from app.domain.merchandising.categories import category_referred_to
from app.domain.relevance.placing import Placement, PlacementKind, RuleStep, existing_rule, remove_rule, take_step
from app.domain.relevance.proposals import RuleProposal
from app.domain.relevance.rule_definition import LAST_POSITION, LONGEST_BANNER, MOST_PLACED
from app.domain.search.serving.configuration import serving_state
from app.domain.search.serving.rules import LONGEST_TERM, MATCH_HELP, Rule
from app.domain.search.serving.term_index import Match
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.rules import MOST_OVERRIDES, MOST_RULES
from app.domain.shared.problems import Invalid
from app.domain.shared.record_fields import SwitchField, fields_of
from app.mcp.arguments import Answer, Arguments, DryRun, WriteArguments
from app.mcp.landing_shapes import (
    LandingBeforeShape,
    LandingShape,
    SentRules,
    landing_before,
    landing_shape,
    moved_pages,
)
from app.mcp.record_shapes import sent_fields, takes_fields
from app.mcp.registry import UNDO, Call, tool, undo_address, writes
from app.mcp.rule_shapes import PreviewShape, RuleFieldsShape, RuleShape, preview, rule_shape
from app.mcp.tools.product_ranking import CATEGORY
from app.web.permissions import Permission

SHOWN_PAGES = 20
Action = Literal["pin", "boost", "bury", "redirect", "banner", "set", "remove", "setLanding", "inheritLanding"]
# The fields that an action may set besides: dates, the switch, then what is for the shop's staff.
BESIDES = sorted(
    (field for field in fields_of(Rule) if field.argument),
    key=lambda field: (not field.is_served, isinstance(field, SwitchField)),
)
SETTABLE = ("match", *(field.key for field in BESIDES), "revision")
LANDING = ("setLanding", "inheritLanding")
PARTS: dict[str | None, dict[str, None]] = {
    "redirect": {"redirectUrl": None},
    "banner": {"banner": None},
    "schedule": {"startsAt": None, "endsAt": None},
}


class BannerArguments(Arguments):
    text: str = Field(description=f"At most {LONGEST_BANNER} characters, in one line.")
    link_url: str | None = Field(default=None, description="A page of the shop, by its path, such as “/c/rainwear”.")


@takes_fields(BESIDES)
class RuleArguments(WriteArguments):
    """The arguments that change a rule."""

    action: Action = Field(
        description=(
            "The first seven change the rule of the term, which is made where there is none; what they do not "
            "name stays. pin (needs term and products, takes position): put products at fixed places. boost (needs "
            "term and products): put them before the others. bury (needs term and products): put them last. redirect "
            "(needs term and redirectUrl): lead the search to a page instead of results. banner (needs term and "
            "banner): show a line above the results. set (needs term): set other fields alone. remove (needs term, "
            "takes part and products): take a part of the rule away, or all of it. All of these take match and "
            f"revision, and the first six {', '.join(SETTABLE[1:-2])} and "
            f"{SETTABLE[-2]}. setLanding (needs category and rules): give the category exactly these landing rules, in "
            "the place of those it has; an empty list switches its landing pages off. inheritLanding (needs category): "
            "let it take the rules of its tree."
        )
    )
    term: str | None = Field(
        default=None,
        description=(
            "The term: as match says, the rule applies when a shopper searches exactly this, whatever the case and "
            f"spacing, or what starts with or contains it. At most {LONGEST_TERM} characters. Example: “rain coat”."
        ),
    )
    match: Literal["exact", "startsWith", "contains", "any"] = Field(
        default="exact",
        description=(
            f"{MATCH_HELP} It belongs to the name of a rule: “exactly tent” and “contains tent” are two rules, and "
            "this says which of them is changed."
        ),
    )
    products: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_PLACED,
        description=(
            "For pin, boost, bury and remove: products, each by SKU, SEO name or id. One that the rule places already "
            'leaves its place for the new one. Example: ["TENT-2", "TENT-5"].'
        ),
    )
    position: int | None = Field(
        default=None,
        description=(
            f"For pin: the place of the first of `products`, 1 to {LAST_POSITION}; the others follow it. By default "
            "each gets the first place that no other pin has. To make pins change places name them all."
        ),
    )
    redirect_url: str | None = Field(
        default=None,
        description="For redirect: a page of the shop, by its path. Examples: “/c/tents”, “/pages/returns”.",
    )
    banner: BannerArguments | None = Field(default=None, description="For banner.")
    part: Literal["products", "redirect", "banner", "schedule", "rule"] | None = Field(
        default=None,
        description=(
            "For remove: what goes. By default the `products` that are named, else the whole rule. A rule that would "
            "do nothing any more is refused: remove the rule."
        ),
    )


class ManageRankingArguments(RuleArguments):
    revision: int | None = Field(
        default=None, description="That of the rule as you read it: the change is refused where somebody changed it."
    )
    category: str | None = Field(
        default=None, min_length=1, max_length=1_000, description=f"For setLanding and inheritLanding. {CATEGORY}"
    )
    rules: Annotated[list[Any], SentRules()] | None = Field(
        default=None,
        description=(
            f"For setLanding: all the landing rules of the category, at most {MOST_RULES}, each with at most "
            f"{MOST_OVERRIDES} overrides. Read those it has with productRanking first: what is left out here is gone."
        ),
    )


class ManageRankingAnswer(Answer):
    changed: bool = Field(description="False where all was so already.")
    rule: RuleShape | None = Field(description="The rule now; with dryRun as it would be. Null once it is removed.")
    rule_before: RuleFieldsShape | None = Field(description="The rule before the call; null where there was none.")
    landing: LandingShape | None = Field(description="The category's landing rules now, and the pages that follow.")
    landing_before: LandingBeforeShape | None = Field(
        description="What the category had before the call: setLanding with these rules, or inheritLanding, undoes it."
    )
    warnings: list[str]
    preview: PreviewShape | None = Field(description="With dryRun: what shoppers would find, before and after.")
    undo: str | None = Field(description=UNDO)
    dry_run: DryRun


@tool(
    "manageProductRanking",
    "Change search rules and landing pages",
    Permission.MANAGE_SEARCH,
    {
        "pin": writes("term", "products", takes=("position", *SETTABLE)),
        "boost": writes("term", "products", takes=SETTABLE),
        "bury": writes("term", "products", takes=SETTABLE),
        "redirect": writes("term", "redirectUrl", takes=SETTABLE),
        "banner": writes("term", "banner", takes=SETTABLE),
        "set": writes("term", takes=SETTABLE),
        "remove": writes("term", takes=("part", "products", "match", "revision")),
        "setLanding": writes("category", "rules", permission=Permission.MANAGE_MERCHANDISING),
        "inheritLanding": writes("category", permission=Permission.MANAGE_MERCHANDISING),
    },
    is_destructive=True,
)
def manage_product_ranking(call: Call, sent: ManageRankingArguments) -> ManageRankingAnswer:
    """Change what shoppers see first: the rule of one search (pinned, boosted and buried products, a redirect, a
    banner), or which values of a category have landing pages. Each call changes one part and leaves the rest. A rule
    is for one search, or by match, levels and categories for many; for words that mean the same use manageSynonyms, for
    a word that one product lacks manageProductSearchTerms."""
    if sent.action in LANDING:
        return _set_landing(call, sent)
    step = _remove(call, sent) if sent.action == "remove" else _place(call, sent)
    return _rule_answer(call, step)


def _place(call: Call, sent: ManageRankingArguments) -> RuleStep:
    is_placing = sent.action in ("pin", "boost", "bury")
    kind = PlacementKind(sent.action) if is_placing else PlacementKind.NONE
    placement = Placement(kind, _skus(call, sent), sent.position)
    return take_step(call.author, sent.term or "", placement, _fields(sent), sent.revision, Match(sent.match))


def _remove(call: Call, sent: ManageRankingArguments) -> RuleStep:
    term, part = sent.term or "", sent.part or ("products" if sent.products else "rule")
    if (part == "products") != bool(sent.products):
        raise Invalid.one("products_or_part", "Name products to remove just those, or another part.", "#/products")
    if part == "rule":
        return remove_rule(call.author, term, sent.revision, Match(sent.match))
    existing_rule(call.site_id, term, Match(sent.match))
    placement = Placement(skus=_skus(call, sent) if part == "products" else ())
    return take_step(call.author, term, placement, PARTS.get(part, {}), sent.revision, Match(sent.match))


def _skus(call: Call, sent: ManageRankingArguments) -> tuple[str, ...]:
    """Return the SKUs of the sent products; what names no product stays as it is, for the rule's own check to
    refuse."""
    known = ((reference, referred_product(call.site_id, reference)) for reference in sent.products or ())
    return tuple(product.sku if product else reference.strip() for reference, product in known)


def _fields(sent: ManageRankingArguments) -> dict[str, Any]:
    """Return the sent fields of the rule, by their names in its JSON."""
    return sent_fields(sent, BESIDES, "redirect_url", "banner")


def _rule_answer(call: Call, step: RuleStep) -> ManageRankingAnswer:
    return ManageRankingAnswer(
        changed=step.is_change,
        rule=_rule_now(call, step),
        rule_before=RuleFieldsShape.model_validate(step.before.as_json()) if step.before else None,
        landing=None,
        landing_before=None,
        warnings=[],
        preview=preview(call.site_id, _proposal(step)) if call.dry_run else None,
        undo=undo_address(call, "rule", step.rule_id) if step.is_change else None,
        dry_run=call.dry_run,
    )


def _rule_now(call: Call, step: RuleStep) -> RuleShape | None:
    if step.row is None:
        return None
    shape = rule_shape(step.row, serving_state(call.site_id), ports.clock().now())
    is_tried = call.dry_run and step.before is None
    return shape.model_copy(update={"id": None}) if is_tried else shape


def _proposal(step: RuleStep) -> RuleProposal:
    rule = step.after or step.before or Rule("")
    return RuleProposal(rule, remove=step.after is None)


def _set_landing(call: Call, sent: ManageRankingArguments) -> ManageRankingAnswer:
    category_id = category_referred_to(call.site_id, sent.category or "")
    known = stored_rules.node_rules(call.site_id, category_id)
    before = landing_before(known)
    stored_rules.set_node_rules(call.author, category_id, sent.rules if sent.action == "setLanding" else None)
    after = landing_shape(call.site_id, category_id, 1, SHOWN_PAGES)[0]
    return ManageRankingAnswer(
        changed=(before.mode, before.rules) != (after.mode, after.rules),
        rule=None,
        rule_before=None,
        landing=after,
        landing_before=before,
        warnings=moved_pages(call.site_id, category_id, known.effective),
        preview=None,
        undo=None,
        dry_run=call.dry_run,
    )
