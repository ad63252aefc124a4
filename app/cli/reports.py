"""Prints the report of an import for people."""

from __future__ import annotations

import click

from app.domain.bundles.report import BundleReport

SHOWN = 20


def print_report(report: BundleReport) -> None:
    verb = "Would change" if report.dry_run else "Imported into"
    click.echo(f"{verb} {report.host}")
    click.echo(f"{'':24}{'added':>9}{'changed':>9}{'removed':>9}{'unchanged':>11}{'refused':>9}")
    for kind, counts in report.counts.items():
        numbers = f"{counts.added:>9,}{counts.changed:>9,}{counts.removed:>9,}{counts.unchanged:>11,}"
        click.echo(f"{kind:24}{numbers}{counts.refused:>9,}")
    _print_refusals(report)
    _print_dropped(report)
    for file, reason in report.skipped:
        click.echo(f"Skipped {file}: {reason}")
    for note in report.notes:
        click.echo(note)


def _print_refusals(report: BundleReport) -> None:
    if report.refusals:
        click.echo("Left out, the gravest first:")
    for reason in report.gravest_first:
        click.echo(f"  {reason.count:,} × {reason.kind}, such as: {reason.example.reason}")
    if report.refusals:
        click.echo("One by one:")
    for refusal in report.refusals[:SHOWN]:
        place = refusal.file if refusal.line is None else f"{refusal.file}:{refusal.line}"
        click.echo(f"  {place} {refusal.field}: {refusal.reason}")
    if report.refused_in_all > SHOWN:
        click.echo(f"  … and {report.refused_in_all - SHOWN:,} more (--json lists up to 1,000)")


def _print_dropped(report: BundleReport) -> None:
    if report.dropped:
        click.echo(f"Attribute values dropped: {report.dropped_in_all:,}")
    for dropped in report.dropped.values():
        example = dropped.examples[0]
        place = f"line {example['line']}: {example['reason']}"
        click.echo(f"  {dropped.attribute_id}: {dropped.count:,} × {dropped.code} ({place})")
