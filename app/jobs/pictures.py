"""Uploaded pictures."""

from __future__ import annotations

from app.domain.catalogue import product_images
from app.ports import images
from app.work_context import work_context


def prepare(upload_id: str) -> bool:
    return product_images.prepare_upload(work_context(), images(), upload_id)
