"""Stores of pictures for tests, and small pictures."""

from __future__ import annotations

from pathlib import Path

from app.adapters.picture_files import PictureFiles
from app.domain.catalogue.image_store import ImageStore


def image_store(folder: Path) -> ImageStore:
    return ImageStore(PictureFiles(folder), folder)
