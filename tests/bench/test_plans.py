"""What the benchmark reads in a plan of PostgreSQL."""

from __future__ import annotations

from bench.scale.plans import Scan, scans_in


def scan(kind: str, table: str, rows: int, **more: object) -> dict[str, object]:
    return {"Node Type": kind, "Relation Name": table, "Plan Rows": 7, "Actual Rows": rows, "Actual Loops": 1} | more


def test_rows_that_a_filter_throws_away_were_read_all_the_same() -> None:
    plan = {"Node Type": "Limit", "Plans": [scan("Seq Scan", "products", 3, **{"Rows Removed by Filter": 997})]}
    assert list(scans_in(plan)) == [Scan("products", "Seq Scan", 1_000)]


def test_a_scan_that_is_repeated_reads_its_rows_each_time() -> None:
    plan = {"Node Type": "Nested Loop", "Plans": [scan("Index Scan", "variants", 2, **{"Actual Loops": 50})]}
    assert list(scans_in(plan)) == [Scan("variants", "Index Scan", 100)]


def test_what_changes_a_table_is_no_scan_of_it() -> None:
    plan = {"Node Type": "ModifyTable", "Relation Name": "orders", "Plan Rows": 0, "Plans": []}
    assert list(scans_in(plan)) == []


def test_a_plan_that_was_not_carried_out_has_the_rows_that_are_expected() -> None:
    plan = {"Node Type": "Seq Scan", "Relation Name": "products", "Plan Rows": 12}
    assert list(scans_in(plan)) == [Scan("products", "Seq Scan", 12)]
