"""Use cases of search rules, and the list of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, insert, inspect, select

from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import MOST_RULES
from app.domain.relevance.rules import RuleOrder, RuleQuery, StateFilter
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_rule, make_site
from tests.fakes.clock import StoppedClock

MIA = "Mia Moss"
DRAFT = Rule(term="Rain Coat", pins=(PinnedSku("A-1", 1),), banner=Banner("Dry feet"))


@pytest.fixture
def site(context: None) -> Iterator[Site]:
    with transaction():
        site = make_site()
        for sku in ("A-1", "A-2"):
            make_product(site, sku)
    return site


def add(clock: StoppedClock, site: Site, draft: Rule = DRAFT) -> SearchRule:
    with transaction():
        return rules.add(Author(site.id, MIA, clock), draft)


def entries() -> list[AuditEntry]:
    return list(db.session.scalars(select(AuditEntry).order_by(AuditEntry.id)))


def test_a_rule_that_is_added_is_live_at_once_and_noted_whole(site: Site, clock: StoppedClock):
    rule = add(clock, site)
    assert configuration.served(site.id).rules.find("  rain   COAT", clock.now()).id == rule.id
    assert configuration.is_live(rule, configuration.serving_state(site.id)) and rule.live_since == clock.now()
    (entry,) = entries()
    assert (entry.action, entry.subject_type, entry.subject_id) == ("rule.add", "rule", str(rule.id))
    assert (entry.before, entry.after) == (None, rule.value.as_json())
    assert entry.summary == "Added a rule for “Rain Coat”: 1 pinned, banner"


def test_one_term_has_one_rule_whatever_its_case_and_spacing(site: Site, clock: StoppedClock):
    add(clock, site)
    with pytest.raises(Invalid) as refused:
        add(clock, site, replace(DRAFT, term=" RAIN  coat"))
    assert [(problem.code, problem.pointer) for problem in refused.value.problems] == [("duplicate_term", "#/term")]
    assert len(entries()) == 1


def test_a_product_of_another_site_is_unknown(site: Site, clock: StoppedClock):
    with transaction():
        make_product(make_site("other.test"), "THEIRS")
    with pytest.raises(Invalid, match="“THEIRS”"):
        add(clock, site, replace(DRAFT, boosts=("THEIRS",)))


def test_a_change_is_served_and_one_that_changes_nothing_is_no_change(site: Site, clock: StoppedClock):
    rule = add(clock, site)
    with transaction():
        _, changed = rules.change(Author(site.id, "Theo", clock), rule.id, 1, replace(DRAFT, boosts=("A-2",)))
    assert changed == ("boosts",) and rule.revision == 2
    assert configuration.served(site.id).rules.find("rain coat", clock.now()).boosts == ("A-2",)
    version = configuration.serving_state(site.id).saved_version
    with transaction():
        _, changed = rules.change(Author(site.id, "Theo", clock), rule.id, 2, rule.value)
    assert (changed, rule.revision, configuration.serving_state(site.id).saved_version) == ((), 2, version)
    assert [entry.action for entry in entries()] == ["rule.add", "rule.change"]


def test_who_saved_in_between_is_named_and_nothing_is_written(site: Site, clock: StoppedClock):
    rule = add(clock, site)
    with transaction():
        rules.pause(Author(site.id, "Theo", clock), rule.id)
    with pytest.raises(StaleRevision, match="Theo saved this rule"), transaction():
        rules.change(Author(site.id, MIA, clock), rule.id, 1, replace(DRAFT, note="mine"))
    with pytest.raises(StaleRevision), transaction():
        rules.delete(Author(site.id, MIA, clock), rule.id, 1)
    assert rules.rule_of(site.id, rule.id).note == ""


def test_a_paused_rule_applies_no_more_until_it_is_resumed(site: Site, clock: StoppedClock):
    rule = add(clock, site)
    for act, applies in ((rules.pause, False), (rules.pause, False), (rules.resume, True)):
        with transaction():
            act(Author(site.id, MIA, clock), rule.id)
        assert (configuration.served(site.id).rules.find("rain coat", clock.now()) is not None) == applies
    assert [entry.action for entry in entries()] == ["rule.add", "rule.pause", "rule.resume"]


def test_pausing_asks_nothing_of_products_that_are_gone(site: Site, clock: StoppedClock):
    with transaction():
        rule = make_rule(site, "old", pins=[{"sku": "GONE", "position": 1}])
    with transaction():
        rules.pause(Author(site.id, MIA, clock), rule.id)
    assert not rule.enabled


def test_a_deleted_rule_is_gone_from_search_and_can_be_put_back_as_it_was(site: Site, clock: StoppedClock):
    rule_id = add(clock, site).id
    with transaction():
        assert rules.delete(Author(site.id, MIA, clock), rule_id, 1) == "rule for “Rain Coat”"
    assert configuration.served(site.id).rules.find("rain coat", clock.now()) is None
    before = entries()[-1].before
    with transaction():
        rules.revert(Author(site.id, MIA, clock), rule_id, before)
    assert rules.rule_of(site.id, rule_id).value.as_json() == before
    assert configuration.served(site.id).rules.find("rain coat", clock.now()).id == rule_id
    with transaction():
        rules.revert(Author(site.id, MIA, clock), rule_id, None)
    with pytest.raises(NotFound):
        rules.rule_of(site.id, rule_id)
    assert [entry.action for entry in entries()][-2:] == ["rule.undo", "rule.undo"]


def test_a_rule_is_not_put_back_over_another_for_its_term(site: Site, clock: StoppedClock):
    rule_id = add(clock, site).id
    with transaction():
        rules.delete(Author(site.id, MIA, clock), rule_id, 1)
    before = entries()[-1].before
    with transaction():
        make_rule(site, "umbrella")  # SQLite gives the id of the last record again.
        other = make_rule(site, "rain coat")
    with pytest.raises(Invalid, match="already"), transaction():
        rules.revert(Author(site.id, MIA, clock), other.id + 1, before)


def test_another_sites_rule_is_not_found(site: Site, clock: StoppedClock):
    with transaction():
        theirs = make_rule(make_site("other.test"))
    for act in (
        lambda: rules.rule_of(site.id, theirs.id),
        lambda: rules.change(Author(site.id, MIA, clock), theirs.id, 1, DRAFT),
        lambda: rules.delete(Author(site.id, MIA, clock), theirs.id, 1),
        lambda: rules.pause(Author(site.id, MIA, clock), theirs.id),
    ):
        with pytest.raises(NotFound):
            act()


def test_a_shop_has_an_end_of_rules(site: Site, clock: StoppedClock):
    with transaction():
        first = make_rule(site, "term")
        fields = {each.key: getattr(first, each.key) for each in inspect(SearchRule).column_attrs if each.key != "id"}
        more = ({**fields, "term": f"term {n}", "normalized_term": f"term {n}"} for n in range(1, MOST_RULES))
        db.session.execute(insert(SearchRule), list(more))
    with pytest.raises(Invalid, match="at most 10,000 rules"):
        add(clock, site)


def listed(clock: StoppedClock, site: Site, **request: object) -> list[str]:
    return [
        row.rule.term for row in rules.find_rules(site.id, RuleQuery(**request), clock.now(), {"coat": 3}).page.items
    ]


def test_the_list_is_narrowed_by_words_and_state(site: Site, clock: StoppedClock):
    now = clock.now()
    with transaction():
        make_rule(site, "coat", note="Autumn sale")
        make_rule(site, "boots", enabled=False, boosts=["A-2"], redirect_url=None)
        make_rule(site, "hat", starts_at=datetime(2027, 1, 1, tzinfo=UTC))
        make_rule(site, "scarf", ends_at=now, redirect_url="/c/scarves")
    assert listed(clock, site) == ["boots", "coat", "hat", "scarf"]
    assert listed(clock, site, narrowed=StateFilter.LIVE) == ["coat"]
    assert listed(clock, site, narrowed=StateFilter.PAUSED) == ["boots"]
    assert listed(clock, site, narrowed=StateFilter.SCHEDULED) == ["hat"]
    assert listed(clock, site, narrowed=StateFilter.ENDED) == ["scarf"]
    assert listed(clock, site, words="AUTUMN") == ["coat"]
    assert listed(clock, site, words="a-2") == ["boots"]
    assert listed(clock, site, words="/c/sca") == ["scarf"]
    assert listed(clock, site, order=RuleOrder.APPLIED)[0] == "coat"
    assert listed(clock, site, page=2, page_size=3) == ["scarf"]


def test_what_search_has_not_yet_is_marked(site: Site, clock: StoppedClock):
    with transaction():
        make_rule(site, "coat", words_version=1)
    assert listed(clock, site, narrowed=StateFilter.UNSYNCED) == ["coat"]


def test_the_list_costs_two_statements_however_long(site: Site, clock: StoppedClock):
    with transaction():
        for number in range(60):
            make_rule(site, f"term {number}")
    site_id, statements = site.id, []
    db.session.rollback()

    def counted(_connection, _cursor, statement, *_rest) -> None:
        statements.append(statement)

    event.listen(db.engine, "before_cursor_execute", counted)
    try:
        found = rules.find_rules(site_id, RuleQuery(), clock.now())
    finally:
        event.remove(db.engine, "before_cursor_execute", counted)
    assert (len(found.page.items), found.total) == (50, 60)
    assert len([statement for statement in statements if statement.startswith("SELECT")]) == 2


def live_since_after(clock: StoppedClock, site: Site, first: Rule, **changes: object) -> bool:
    """Whether a change an hour later leaves since when the rule is live as it was."""
    rule, began = add(clock, site, first), clock.now()
    clock.move(hours=1)
    with transaction():
        rules.change(Author(site.id, MIA, clock), rule.id, 1, replace(first, **changes))
    assert rule.live_since in (began, clock.now())
    return rule.live_since == began


@pytest.mark.parametrize(
    ("changes", "stays"),
    [
        ({"note": "For the rain"}, True),
        ({"ends_at": datetime(2030, 1, 1, tzinfo=UTC)}, True),
        ({"pins": (PinnedSku("A-2", 1),)}, False),
        ({"boosts": ("A-2",)}, False),
        ({"buries": ("A-2",)}, False),
        ({"banner": Banner("Wet feet")}, False),
        ({"redirect_url": "/search?q=coats", "pins": (), "banner": None}, False),
        ({"term": "coat"}, False),
        ({"starts_at": datetime(2020, 1, 1, tzinfo=UTC)}, False),
    ],
)
def test_a_rule_that_does_something_else_is_live_since_then(
    site: Site, clock: StoppedClock, changes: dict[str, object], stays: bool
):
    assert live_since_after(clock, site, DRAFT, **changes) is stays


def test_a_rule_that_had_ended_and_goes_on_is_live_since_then(site: Site, clock: StoppedClock):
    ended = replace(DRAFT, ends_at=clock.now() + timedelta(minutes=5))
    assert not live_since_after(clock, site, ended, ends_at=None)


def test_a_paused_rule_is_not_live_and_a_resumed_one_since_it_was_resumed(site: Site, clock: StoppedClock):
    rule = add(clock, site)
    with transaction():
        rules.pause(Author(site.id, MIA, clock), rule.id)
    assert rule.live_since is None
    clock.move(days=3)
    with transaction():
        rules.resume(Author(site.id, MIA, clock), rule.id)
    assert rule.live_since == clock.now()
