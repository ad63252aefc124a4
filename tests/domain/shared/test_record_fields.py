"""Records whose fields are declared: each field is in all that is derived of the declarations."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.domain.relevance.models import SearchRule, Synonym
from app.domain.relevance.synonym_definition import SynonymState
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.record_fields import DeclaredRecord, TypedForm, fields_of
from app.mcp.tools.manage_product_ranking import SETTABLE, ManageRankingArguments, RuleShape
from app.mcp.tools.manage_synonyms import SynonymArguments, SynonymShape

TOKYO = ZoneInfo("Asia/Tokyo")
RULE = Rule(
    term="rain coat",
    pins=(PinnedSku("COAT-1", 2),),
    boosts=("COAT-2",),
    buries=("COAT;3",),
    redirect_url="/c/coats",
    banner=Banner("Dry feet", "/c/boots"),
    enabled=False,
    starts_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    ends_at=datetime(2026, 4, 1, tzinfo=UTC),
    note="Spring\nand rain",
)
GROUP = SynonymGroup(SynonymType.ONE_WAY, "phone", ("mobile", "cell phone"))
STATE = SynonymState("SUGGESTED", "MINED", {"products": 12})
ROWS = ((RULE, SearchRule), (GROUP, Synonym), (STATE, Synonym))


@pytest.mark.parametrize(("record", "model"), ROWS)
def test_a_record_comes_back_from_its_json_and_its_row(record: DeclaredRecord, model: type):
    row = model()
    record.write_row(row)
    assert type(record).of_row(row) == record
    assert type(record).of_json(type(record).schema().load(record.as_json())) == record


@pytest.mark.parametrize(("record", "zone"), ((RULE, TOKYO), (GROUP, TOKYO)))
def test_what_a_form_shows_is_read_from_it_again(record: DeclaredRecord, zone: ZoneInfo):
    form = TypedForm(record.as_typed(zone), zone, stored=record)
    assert set(form.texts) == set(type(record).text_names())
    assert all(getattr(record, name) == value for name, value in type(record).read_typed(form).items())
    assert form.problems == []


def test_each_column_of_a_table_has_its_cell():
    for record in (RULE, GROUP):
        assert len(record.cells()) == len(type(record).columns())


def test_shoppers_are_served_nothing_that_is_for_the_staff_alone():
    assert (RULE.as_json()["note"], RULE.as_json(for_shoppers=True)["note"]) == ("Spring\nand rain", "")
    assert RULE.as_json(for_shoppers=True) | {"note": RULE.note} == RULE.as_json()


def test_tools_take_and_answer_each_field():
    assert {field.name for field in fields_of(Rule)} <= set(RuleShape.model_fields)
    assert set(SETTABLE) <= {field.alias for field in ManageRankingArguments.model_fields.values()}
    keys = {field.key for field in fields_of(SynonymGroup)}
    assert keys <= set(SynonymArguments.model_fields) and keys <= set(SynonymShape.model_fields)
    assert {field.key for field in fields_of(SynonymState)} <= set(SynonymShape.model_fields)
