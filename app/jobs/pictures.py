"""Uploaded pictures."""

from __future__ import annotations

from app.domain.catalogue import picture_uploads
from app.ports import images
from app.work_context import work_context


def prepare(upload_id: str) -> bool:
    return picture_uploads.prepare(work_context(), images(), upload_id)
