"""Uploaded pictures."""

from __future__ import annotations

from app.domain.catalogue import product_images
from app.operations.work_context import work_context
from app.ports import images


def prepare(upload_id: str) -> bool:
    return product_images.prepare_upload(work_context(), images(), upload_id)
