"""Bundles made for a test, and the import as the surfaces call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.bundles.importer import import_bundle
from app.domain.bundles.report import BundleReport
from app.domain.catalogue.models import Product
from app.extensions import db
from app.ports import clock, images
from app.transaction import transaction

HOST = "shop.test"
LEVELS = [
    {
        "levelId": "tents",
        "name": "Tents",
        "attributes": [
            {"attributeId": "sleeps", "name": "Sleeps", "type": "NUMBER", "validation": {"mandatory": True}},
            {"attributeId": "colour", "name": "Colour", "type": "MULTI_SELECT", "allowedValues": ["Moss", "Clay"]},
        ],
        "children": [],
    }
]
SITE = {"name": "Fern & Fell", "domains": [{"host": HOST, "primary": True}]}
TAXONOMY = {"taxonomies": [{"id": "shop", "name": "Shop", "active": True, "rootLevels": LEVELS}]}


def one(sku: str = "T-1") -> Product:
    db.session.expire_all()
    return db.session.scalars(select(Product).where(Product.sku == sku)).one()


def count(model: Any) -> int:
    return db.session.scalar(select(func.count()).select_from(model)) or 0


def product(sku: str = "T-1", **more: Any) -> dict[str, Any]:
    return {"sku": sku, "name": f"Tent {sku}", "price": 12_900} | more


def write_bundle(folder: Path, **files: Any) -> Path:
    """Documents as JSON with a line for each part, lists in `products`, `collections` and `pages` as rows."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        if name in ("products", "collections", "pages", "redirects"):
            rows = (json.dumps(row, ensure_ascii=False) + "\n" for row in content)
            (folder / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8")
        else:
            (folder / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    return folder


Take = Callable[..., BundleReport]


@pytest.fixture
def take(app: Flask, context: None, tmp_path: Path) -> Take:
    """Imports the given files, or the bundle at `path`, into HOST."""

    def taken(path: Path | None = None, host: str | None = HOST, dry_run: bool = False, **files: Any) -> BundleReport:
        bundle = path or write_bundle(tmp_path / f"bundle-{len(list(tmp_path.iterdir()))}", **files)
        return import_bundle(bundle, host, clock(), images(), transaction, "a test", 8, dry_run)

    return taken


def refusals(report: BundleReport) -> list[tuple[str, int | None, str]]:
    return [(found.file, found.line, found.field) for found in report.refusals]
