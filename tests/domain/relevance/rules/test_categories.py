"""Rules for categories: the searches that name one, and how rules follow the categories as these change."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.domain.merchandising import nodes, trees
from app.domain.merchandising.arrangement import Target
from app.domain.merchandising.models import Node
from app.domain.relevance import publishing, rule_import, rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import describe_searches, missing_names, overlapping
from app.domain.relevance.rule_levels import names_some, republish_names, rule_choices
from app.domain.search.engine import SearchContext
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import Banner, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_category, make_taxonomy
from tests.searching import add_site
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("context")
BANNER = {"banner": Banner("Look here")}
LEVELS = [{"levelId": "stoves", "name": "Stoves"}]


@pytest.fixture
def site(indexing: SearchContext) -> Site:
    """Camping with Tents, and Sale with Last chance, which is hidden; another tree has Gifts."""
    with transaction():
        site = add_site()
        make_taxonomy(site, LEVELS, active=True, id="kinds")
        author = author_of(indexing, site)
        shop, other = (trees.create(author, name).id for name in ("Shop", "Other"))
        camping = make_category(author, shop, "Camping").id
        make_category(author, shop, "Tents", camping)
        hidden = make_category(author, shop, "Last chance", make_category(author, shop, "Sale").id)
        nodes.show(author, hidden.id, visible=False)
        make_category(author, other, "Gifts")
    return site


def author_of(indexing: SearchContext, site: Site) -> Author:
    return Author(site.id, "Mia Moss", indexing.clock)


def save(indexing: SearchContext, site: Site, rule: Rule) -> int:
    with transaction():
        return rules.add(author_of(indexing, site), rule).id


def week(*paths: str, **more: object) -> Rule:
    return Rule("week", match=Match.ANY, categories=paths, **BANNER, **more)  # type: ignore[arg-type]


def node_id(path: str) -> int:
    return db.session.query(Node).filter_by(path=path).one().id


def applies(indexing: SearchContext, site: Site, words: str) -> bool:
    return bool(configuration.served(site.id).rules.applying(words, indexing.clock.now()))


def live_version(site: Site) -> int:
    return db.session.query(ServedConfiguration.live_version).filter_by(site_id=site.id).scalar()


def test_a_rule_applies_where_the_words_name_its_category_or_one_below(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping"))
    save(indexing, site, Rule("red", match=Match.CONTAINS, categories=("/c/camping/tents/",), **BANNER))
    named = ("camping", "tent", "Tents", "red tents", "tents red")
    assert [applies(indexing, site, words) for words in named] == [True] * 5
    assert [applies(indexing, site, words) for words in ("red", "red camping", "red stove", "stoves")] == [False] * 4


def test_a_level_and_a_category_narrow_a_rule_together(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping/tents", levels=("stoves",)))
    assert [applies(indexing, site, words) for words in ("tents", "stoves", "camping")] == [True, True, False]


def test_hidden_categories_are_named_by_no_search(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("sale"))
    assert [applies(indexing, site, words) for words in ("sale", "last chance")] == [True, False]
    with transaction():
        nodes.show(author_of(indexing, site), node_id("sale/last-chance"), visible=True)
    assert applies(indexing, site, "last chance")


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        (week("camping/boats"), ("unknown_category", "#/categories/0")),
        (week("camping", "gifts"), ("unknown_category", "#/categories/1")),
        (Rule("x", categories=("camping",), **BANNER), ("categories_of_exact", "#/categories")),
        (week(), ("required", "#/levels")),
    ],
)
def test_what_is_no_category_of_the_shop_is_refused(
    indexing: SearchContext, site: Site, rule: Rule, problem: tuple[str, str]
) -> None:
    with pytest.raises(Invalid) as refused:
        save(indexing, site, rule)
    assert [(one.code, one.pointer) for one in refused.value.problems] == [problem]


def test_a_rule_has_at_most_twenty_categories(indexing: SearchContext, site: Site) -> None:
    with pytest.raises(Invalid) as refused:
        save(indexing, site, week(*(f"none/{number}" for number in range(21))))
    assert "A rule has at most 20 categories." in [one.message for one in refused.value.problems]
    assert "The shop has no category “none/20”." in [one.message for one in refused.value.problems]


def test_a_category_that_is_renamed_is_named_otherwise(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping"))
    with transaction():
        nodes.rename(author_of(indexing, site), node_id("camping/tents"), 1, "Canvas houses")
    assert [applies(indexing, site, words) for words in ("canvas house", "tents")] == [True, False]


def test_a_rule_follows_a_category_that_moves(indexing: SearchContext, site: Site) -> None:
    rule_id = save(indexing, site, week("camping/tents", "sale"))
    with transaction():
        nodes.move(author_of(indexing, site), node_id("camping"), Target(node_id("sale")))
    row = db.session.get_one(SearchRule, rule_id)
    assert (row.categories, row.revision) == (["sale/camping/tents", "sale"], 2)
    assert applies(indexing, site, "tents") and applies(indexing, site, "camping")
    served = configuration.read_snapshot(site.id).rules.rules
    assert [rule.categories for rule in served] == [("sale/camping/tents", "sale")]


def test_a_move_that_is_taken_back_leaves_the_rule(indexing: SearchContext, site: Site) -> None:
    rule_id = save(indexing, site, week("camping/tents"))
    with pytest.raises(RuntimeError), transaction():
        nodes.move(author_of(indexing, site), node_id("camping/tents"), Target(None))
        raise RuntimeError
    assert db.session.get_one(SearchRule, rule_id).categories == ["camping/tents"]


def test_a_move_in_a_tree_that_shoppers_do_not_browse_moves_no_rule(indexing: SearchContext, site: Site) -> None:
    rule_id = save(indexing, site, week("camping"))
    with transaction():
        author = author_of(indexing, site)
        other = db.session.query(Node).filter_by(path="gifts").one()
        twin = make_category(author, other.tree_id, "Camping")
        nodes.move(author, twin.id, Target(other.id))
    assert db.session.get_one(SearchRule, rule_id).categories == ["camping"]


def test_a_category_that_goes_is_named_where_the_rule_is_shown(indexing: SearchContext, site: Site) -> None:
    rule_id = save(indexing, site, week("camping/tents", "sale", levels=("stoves",)))
    with transaction():
        nodes.delete(author_of(indexing, site), node_id("camping"))
    row, choices = db.session.get_one(SearchRule, rule_id), rule_choices(site.id)
    assert missing_names(row, choices.levels, choices.categories) == ["The shop has no category “camping/tents”."]
    assert [applies(indexing, site, words) for words in ("tents", "sale")] == [False, True]
    assert missing_names(row, (), choices.categories)[0] == "There is no level with the id “stoves”."


def test_names_are_those_of_the_tree_that_shoppers_browse_now(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping"))
    with transaction():
        other = db.session.query(Node).filter_by(path="gifts").one()
        trees.make_primary(author_of(indexing, site), other.tree_id)
    assert not applies(indexing, site, "camping")


def test_changes_that_no_rule_depends_on_publish_nothing(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping"))
    before = live_version(site)
    with transaction():
        nodes.rename(author_of(indexing, site), node_id("sale"), 1, "Bargains")
        db.session.get_one(Node, node_id("camping")).description = "Nights outside"
    assert live_version(site) == before


def test_a_change_of_a_category_reads_little_of_the_rules(app: Flask, indexing: SearchContext, site: Site) -> None:
    for number in range(5):
        save(indexing, site, Rule(f"red {number}", match=Match.CONTAINS, **BANNER))
    site_id = site.id
    with statements(app) as executed:
        republish_names(site_id)
    assert len(of_search(executed)) == 1, "no rule names a level or a category"
    save(indexing, site, week("camping"))
    loaded: list[SearchRule] = []

    def note(rule: SearchRule, _: object) -> None:
        loaded.append(rule)

    event.listen(SearchRule, "load", note)
    with statements(app) as executed, transaction():
        nodes.rename(author_of(indexing, site), node_id("sale"), 1, "Bargains")
    event.remove(SearchRule, "load", note)
    assert not loaded
    assert executed and not any("search_rules.pins" in statement for statement in executed)
    assert len(of_search(executed)) == 2, "the rules that name some, and the names that are served"


def of_search(executed: list[str]) -> list[str]:
    """The statements that read rules or what is served of them."""
    return [one for one in executed if "FROM search_rules" in one or "served_words.rules" in one]


def test_only_rules_that_name_some_are_read(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, Rule("red", match=Match.CONTAINS, **BANNER))
    save(indexing, site, Rule("dry", match=Match.CONTAINS, levels=("stoves",), **BANNER))
    save(indexing, site, week("camping"))
    named = select(SearchRule.term).order_by(SearchRule.id)
    assert db.session.scalars(named.where(names_some(SearchRule.levels))).all() == ["dry"]
    assert db.session.scalars(named.where(names_some(SearchRule.categories))).all() == ["week"]


def test_what_an_older_release_published_without_categories_is_published_anew(
    indexing: SearchContext, site: Site
) -> None:
    save(indexing, site, Rule("red", match=Match.CONTAINS, categories=("camping",), **BANNER))
    assert not publishing.lacks_conditions(site.id)
    with transaction():
        state = db.session.get_one(ServedConfiguration, site.id)
        state.rules = [{k: v for k, v in rule.items() if k != "categories"} for rule in state.rules]
    assert publishing.lacks_conditions(site.id)


def test_a_table_has_categories_by_their_paths(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping/tents", "sale"))
    names, cells = [dict(enumerate(row)) for row in rule_import.table_rows(rules.stored_rules(site.id))]
    assert {names[at]: cell for at, cell in cells.items()}["categories"] == "camping/tents;sale"
    table = "term,match,categories,bannerText\nweek,any,/c/camping,x\nred,contains,boats,x\n"
    report = rule_import.preview(site.id, table)
    assert [(line.outcome.value, line.reason) for line in report.lines] == [
        ("changed", ""),
        ("refused", "The shop has no category “boats”."),
    ]


def test_rules_for_the_same_category_overlap(indexing: SearchContext, site: Site) -> None:
    save(indexing, site, week("camping"))
    save(indexing, site, replace(week("camping/tents"), term="tent week"))
    first, second = configuration.read_snapshot(site.id).rules.rules
    known = configuration.served(site.id).rules
    assert ([one.id for one in overlapping(first, known)], [one.id for one in overlapping(second, known)]) == (
        [second.id],
        [first.id],
    )


def test_categories_are_described_by_their_labels(indexing: SearchContext, site: Site) -> None:
    labels = rule_choices(site.id).categories
    assert [*labels.items()] == [
        ("camping", "Camping"),
        ("camping/tents", "Camping › Tents"),
        ("sale", "Sale"),
        ("sale/last-chance", "Sale › Last chance"),
    ]
    rule = week("camping/tents", "gone", levels=("stoves",))
    described = describe_searches(rule, {"stoves": "Stoves"}, labels)
    assert described == "Searches that name Stoves or Camping › Tents or gone"
